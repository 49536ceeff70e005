"""Rows of the measurement table as records of a training time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from advisor.ranking.times import TrainingTime
from bench_runner.records import Settings

Row = Sequence[Any]

COLUMNS = (
    "measurement_id",
    "recipe_id",
    "gpu_id",
    "gpu_count",
    "method",
    "free_lunch",
    "activation_checkpointing",
    "sharding",
    "offloading",
    "micro_batch_size",
    "gradient_accumulation_steps",
    "status",
    "reason",
    "training_days",
    "training_days_low",
    "training_days_high",
    "timing",
    "implied_mfu",
    "implied_mfu_printed",
    "verdict",
    "verdict_reason",
    "peak_memory_gib",
    "source_id",
    "measured_on",
    "origin",
)
"""What the queries for times select, in this order; a query may add columns behind these."""

_ROW = "_row"
_FREE_LUNCH = COLUMNS.index("free_lunch")
_SETTINGS = slice(_FREE_LUNCH, COLUMNS.index("status"))


class StoredTime(TrainingTime):
    """A training time over a row as it was read.

    Of the 40,000 that a large store answers with, a screen looks at forty: filling all fields of
    all of them would take longer than the query. `dataclasses.replace` gives a plain TrainingTime.
    """

    __slots__ = (_ROW,)
    _row: Row

    def __new__(cls, row: Row = (), **fields: Any) -> Any:
        return TrainingTime(**fields) if fields else object.__new__(cls)

    def __init__(self, row: Row) -> None:
        object.__setattr__(self, _ROW, row)

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredTime, (tuple(self._row),)


def _settings(time: StoredTime) -> Settings | None:
    row = time._row
    return None if row[_FREE_LUNCH] is None else Settings(**_named(row[_SETTINGS]))


def _named(values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(COLUMNS[_SETTINGS], values, strict=True))


def _field(position: int) -> property:
    return property(lambda time: time._row[position])


for _name in TrainingTime.__dataclass_fields__:
    if _name in COLUMNS:
        setattr(StoredTime, _name, _field(COLUMNS.index(_name)))
StoredTime.settings = property(_settings)  # type: ignore[assignment]
StoredTime.basis = property(lambda time: "measured")  # type: ignore[assignment]
StoredTime.comparison_factor = property(lambda time: None)  # type: ignore[assignment]


PREDICTED = (
    "gpu_id",
    "gpu_count",
    "status",
    "reason",
    *COLUMNS[_SETTINGS],
    "training_days",
    "training_days_low",
    "training_days_high",
    "implied_mfu",
    "verdict",
    "verdict_reason",
    "source_id",
    "origin",
    "comparison_factor",
)
"""What queries/predictions.sql selects, in this order."""


def predicted_time(recipe_id: str, row: Row) -> TrainingTime:
    """A row of queries/predictions.sql as a time that nobody measured."""
    found = dict(zip(PREDICTED, row, strict=True))
    settings = {name: found.pop(name) for name in COLUMNS[_SETTINGS]}
    return TrainingTime(
        measurement_id=f"prediction:{recipe_id}:{found['gpu_id']}:{found['gpu_count']}",
        recipe_id=recipe_id,
        method="optimal",
        settings=None if settings["free_lunch"] is None else Settings(**settings),
        basis="predicted",
        timing="none",
        implied_mfu_printed=found["implied_mfu"],
        peak_memory_gib=None,
        measured_on=None,
        **found,
    )
