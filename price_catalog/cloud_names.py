"""Which of our GPUs a cloud's instance has: clouds name the A100, not its form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from price_catalog.csv_table import read_rows
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import Gpu

_COLUMNS = ("provider", "instance", "gpu_name", "memory_gib", "gpu_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudName:
    """What one family of instances holds."""

    provider: str
    instance: str
    """A pattern as file names have it."""
    gpu_name: str
    memory_gib: float | None
    gpu_id: str


class CloudNames:
    """Finds the GPU of an offer, or admits that the offer does not say which form it has."""

    def __init__(self, gpus: Iterable[Gpu], path: Path | None = None) -> None:
        gpus = tuple(gpus)
        self._index = index_gpus(gpus)
        path = path or Path(__file__).with_name("cloud_names.csv")
        self._names = [
            CloudName(
                provider=row.text("provider"),
                instance=row.text("instance"),
                gpu_name=row.text("gpu_name"),
                memory_gib=row.optional_number("memory_gib"),
                gpu_id=row.choice("gpu_id", [gpu.gpu_id for gpu in gpus]),
            )
            for row in read_rows(path, _COLUMNS)
        ]
        self._in_several_forms = {name.gpu_name for name in self._names} | {"RTXPRO6000"}

    def gpu_id(
        self, provider: str, instance: str, gpu_name: str, memory_gib: float | None
    ) -> str | None:
        """The GPU's id; None where the form cannot be told or no GPU of ours is meant."""
        for name in self._names:
            if (
                name.provider == provider
                and name.gpu_name == gpu_name
                and name.memory_gib in (None, memory_gib)
                and fnmatchcase(instance, name.instance)
            ):
                return name.gpu_id
        if gpu_name in self._in_several_forms:
            return None
        found = self._index.get(normalise(gpu_name))
        if found is None or (memory_gib is not None and abs(found.memory_gib - memory_gib) > 1):
            return None
        return found.gpu_id
