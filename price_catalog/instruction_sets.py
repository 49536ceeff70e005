"""GPUs that are sold with a processor of their own which is no x86-64 (instruction_sets.csv)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from price_catalog.csv_table import read_rows

PATH = Path(__file__).with_name("instruction_sets.csv")


@cache
def _sets() -> dict[str, str]:
    columns = ("gpu_id", "instruction_set", "source")
    return {row.text("gpu_id"): row.text("instruction_set") for row in read_rows(PATH, columns)}


def instruction_set(gpu_id: str) -> str | None:
    """``Arm``; None for GPUs that any computer takes."""
    return _sets().get(gpu_id)
