"""Records as a search of made-up machines leaves them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings import batch_and_sharding


def tried(settings: Settings, gpus: int, **changes: Any) -> Measurement:
    """A trial that failed, unless changed."""
    failed = Measurement(
        measurement_id="m",
        recipe_id="r",
        recipe_hash=None,
        gpu="g",
        gpu_count=gpus,
        method=batch_and_sharding.method_name(settings),
        settings=settings,
        status="failed",
        reason=None,
        training_days=None,
        training_days_low=None,
        training_days_high=None,
        timing="synchronised",
        source_id="s",
        measured_on=date(2026, 11, 21),
    )
    return replace(failed, **changes)
