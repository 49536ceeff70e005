"""Campus rates, condo shares, national programmes and cloud credits that somebody has read of.

They are facts to copy into a grant's [[allocations]], each with its source and date; none is
planned with by itself.
"""

from __future__ import annotations

import csv
from pathlib import Path

FACTS = Path(__file__).with_name("known_allocations.csv")
COLUMNS = (
    "provider",
    "kind",
    "gpu",
    "usd_per_gpu_hour",
    "free",
    "units",
    "max_walltime_h",
    "max_gpus_per_job",
    "who",
    "award",
    "wait",
    "overhead",
    "date",
    "source",
    "note",
)


def known_allocations(word: str = "") -> list[dict[str, str]]:
    """Every fact in which a word is found, whatever its case; all of them without one."""
    with FACTS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if word.lower() in " ".join(row.values()).lower()]
