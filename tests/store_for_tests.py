"""Records to put into stores, and programs to run against them."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from advisor.store import Store, shipped_rows
from advisor.store.digest import files_mark
from advisor.store.storage.reject_untrusted_store import remember
from bench_runner.records.measurement import Measurement, Settings

# The text is the same for every store that a test makes: making rows of it is most of a rebuild.
shipped_rows.text_tables = cache(shipped_rows.text_tables)

REPOSITORY = Path(__file__).parents[1]

TUNED = Settings(
    free_lunch=True,
    activation_checkpointing=False,
    sharding="zero-1",
    offloading=False,
    micro_batch_size=8,
    gradient_accumulation_steps=32,
)
NAIVE = Settings(
    free_lunch=False,
    activation_checkpointing=False,
    sharding=None,
    offloading=False,
    micro_batch_size=None,
    gradient_accumulation_steps=None,
)


def record(measurement_id: str, **changes: Any) -> Measurement:
    """A plausible measurement of a user's own: Pythia-1B on 4 x RTX 3090."""
    values: dict[str, Any] = {
        "measurement_id": measurement_id,
        "recipe_id": "pythia-1b",
        "recipe_hash": None,
        "gpu": "NVIDIA GeForce RTX 3090",
        "gpu_count": 4,
        "method": "optimal",
        "settings": TUNED,
        "status": "ok",
        "reason": None,
        "training_days": 130.0,
        "training_days_low": 129.0,
        "training_days_high": 131.0,
        "timing": "synchronised",
        "source_id": "own",
        "measured_on": date(2026, 11, 20),
        "pass_s": (0.5, 0.51, 0.49),
        "sync_pass_s": (0.6,),
        "update_s": (0.1, 0.1000000000000001),
        "step_s": 2.2,
        "environment": {"driver": "580.1", "clocks_mhz": [1695, 1700], "note": 'Büro 3, "left"'},
    } | changes
    if values["method"] == "naive" and "settings" not in changes:
        values["settings"] = NAIVE
    if values["status"] != "ok":
        values |= {"training_days": None, "training_days_low": None, "training_days_high": None}
    return Measurement(**values)


def taken_as_it_is(path: Path) -> None:
    """Know a store that a test has changed, so that its shipped rows stay as the test made them."""
    remember(files_mark(), path)


def program(code: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    """A Python program of its own, started in the repository."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def answer(running: subprocess.Popen[str], timeout_s: float = 120) -> str:
    """What a program printed, once it has ended well."""
    out, err = running.communicate(timeout=timeout_s)
    assert running.returncode == 0, err
    return out


class look:
    """One question of a `Reader`, with an opening of its own: ``look(store).models()``."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        def answer(*arguments: Any, **filters: Any) -> Any:
            with self._store.reading() as reader:
                return getattr(reader, name)(*arguments, **filters)

        return answer
