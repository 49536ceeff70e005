"""Providers of rented GPUs: one name for each, and which of our GPUs their instances have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from price_catalog.csv_table import one_of, read_records
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import Gpu

if TYPE_CHECKING:
    from price_catalog.model import Rental, RentalKind


_AGGREGATORS = {"compute-screener": "", "gpu-pricing-tracker": "https://getdeploying.com/"}
"""Sources that show prices of others, with what the address of such a row begins with."""
_ENDINGS = frozenset(
    {
        *("ag", "bv", "co", "corp", "corporation", "gmbh", "inc", "limited", "llc", "ltd", "sa"),
        *("ai", "cloud", "clouds", "com", "compute", "computing", "gpu", "gpus", "infrastructure"),
        *("io", "labs", "marketplace", "net", "network", "platform", "sas", "services"),
    }
)
"""What is often put behind the name of a provider: left out where a known name remains."""


class _Provider(NamedTuple):
    """A row of providers.csv."""

    name: str
    written: str | None
    """As it writes itself, where that differs."""
    spellings: tuple[str, ...]
    peer: bool
    """Whether the machines belong to strangers and the provider is only their marketplace."""


@cache
def _known() -> dict[str, _Provider]:
    """The providers by every spelling, without anything between its words."""
    path = Path(__file__).with_name("providers.csv")
    return {
        spelling.replace("-", ""): provider
        for provider in read_records(path, _Provider)
        for spelling in (provider.name, *provider.spellings)
    }


@lru_cache(maxsize=4096)
def provider_name(spelling: str) -> str:
    """The one name of a provider, however it is spelled: ``Lambda Labs, Inc.`` is ``lambda``.

    Case and what stands between words tell nothing; ``Inc.``, ``Cloud`` and the like do only where
    no known name remains without them.
    """
    words = re.findall(r"[^\W_]+", spelling.casefold())
    for count in range(len(words), 0, -1):
        known = _known().get("".join(words[:count]))
        if known is not None:
            return known.name
        if words[count - 1] not in _ENDINGS:
            break
    return "-".join(words) or spelling


def written_provider(name: str) -> str:
    """A provider as it writes itself, for texts that leave the program."""
    known = _known().get(name.replace("-", ""))
    return name if known is None else known.written or known.name


def rental_kind(provider: str, kind: RentalKind) -> RentalKind:
    """The kind of a rental: whatever a feed calls them, a stranger's machine is ``peer``."""
    known = _known().get(provider_name(provider).replace("-", ""))
    return "peer" if known is not None and known.peer else kind


def is_aggregated(rental: Rental) -> bool:
    """Whether not the provider itself states the price but a site that compares providers."""
    begins = _AGGREGATORS.get(rental.source_id)
    return begins is not None and (rental.url or "").startswith(begins)


class _Family(NamedTuple):
    """What one family of instances holds."""

    provider: str
    instance: str
    """A pattern as file names have it."""
    gpu_name: str
    memory_gib: float | None
    gpu_id: str


class CloudNames:
    """Finds the GPU of an offer, or admits that the offer does not say which form it has."""

    def __init__(self, gpus: Iterable[Gpu]) -> None:
        gpus = tuple(gpus)
        self._index = index_gpus(gpus)
        self._families = read_records(
            Path(__file__).with_name("cloud_names.csv"),
            _Family,
            {"gpu_id": one_of([gpu.gpu_id for gpu in gpus])},
        )
        self._in_several_forms = {family.gpu_name for family in self._families} | {"RTXPRO6000"}

    def gpu_id(
        self, provider: str, instance: str, gpu_name: str, memory_gib: float | None
    ) -> str | None:
        """The GPU's id; None where the form cannot be told or no GPU of ours is meant."""
        for family in self._families:
            if (
                (family.provider, family.gpu_name) == (provider, gpu_name)
                and family.memory_gib in (None, memory_gib)
                and fnmatchcase(instance, family.instance)
            ):
                return family.gpu_id
        if gpu_name in self._in_several_forms:
            return None
        found = self._index.get(normalise(gpu_name))
        if found is None or (memory_gib is not None and abs(found.memory_gib - memory_gib) > 1):
            return None
        return found.gpu_id
