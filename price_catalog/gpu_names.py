"""Finds a GPU by any of its spellings, the driver's and people's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from price_catalog.csv_table import nearest, read_rows
from price_catalog.model import Gpu

MOST_VERSIONS = 4
"""So many GPUs whose names begin alike are named where only their beginning was typed."""
LISTED_BY = "advisor data gpus"
"""The command that shows every name."""
_MAKERS = ("nvidia", "geforce", "tesla", "amd")


def normalise(spelling: str) -> str:
    """The same for all spellings that differ in case, spaces, hyphens or the maker's name."""
    folded = "".join(character for character in spelling.casefold() if character.isalnum())
    while maker := next((m for m in _MAKERS if folded.startswith(m) and folded != m), None):
        folded = folded.removeprefix(maker)
    return folded


def index_gpus(gpus: Iterable[Gpu]) -> dict[str, Gpu]:
    """Every normalised spelling of every GPU; the catalogue's reader refuses one on two GPUs."""
    return {
        normalise(spelling): gpu
        for gpu in gpus
        for spelling in (gpu.gpu_id, gpu.name, *gpu.aliases)
    }


def _not_catalogued() -> dict[str, str]:
    """What is missing of GPUs that people ask for, by their normalised names."""
    path = Path(__file__).with_name("not_catalogued.csv")
    return {
        normalise(row.text("name")): row.text("missing")
        for row in read_rows(path, ("name", "missing"))
    }


def _beginnings(name: str) -> set[str]:
    """The first word of a name, the first two and so on: H20 is no beginning of H200."""
    words = name.split()
    return {normalise(" ".join(words[: count + 1])) for count in range(len(words))}


def find_gpu(spelling: str, index: Mapping[str, Gpu]) -> Gpu:
    """The GPU of that name, id or alias; else a ValueError that offers the nearest names."""
    found = index.get(normalise(spelling))
    if found is None:
        names = {gpu.name for gpu in index.values()}
        word = normalise(spelling)
        if missing := _not_catalogued().get(word):
            raise ValueError(f"GPU '{spelling}' is not in the catalogue: {missing}")
        versions = sorted(name for name in names if word in _beginnings(name))
        if 1 < len(versions) <= MOST_VERSIONS:
            told = " or ".join(f"'{name}'" for name in versions)
            raise ValueError(f"GPU '{spelling}' could be several: write {told}")
        spellings = names | {alias for gpu in index.values() for alias in gpu.aliases}
        near = nearest(spelling, spellings, LISTED_BY)
        raise ValueError(f"GPU '{spelling}' is not known; {near}")
    return found


INSTRUCTION_SETS = Path(__file__).with_name("instruction_sets.csv")
"""What a GPU with a processor of its own asks of programs."""


@cache
def _sets() -> dict[str, str]:
    columns = ("gpu_id", "instruction_set", "source")
    return {
        row.text("gpu_id"): row.text("instruction_set")
        for row in read_rows(INSTRUCTION_SETS, columns)
    }


def instruction_set(gpu_id: str) -> str | None:
    """``Arm``; None for GPUs that any computer takes."""
    return _sets().get(gpu_id)
