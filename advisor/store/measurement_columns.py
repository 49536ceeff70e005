"""What the columns of a measurement are called: as the fields of the records, settings one by one.

A new one is a field of `Measurement`, where it is shown of `ranking.times.TrainingTime` too, and a
migration that adds it to the table and makes the views of times anew.
"""

from __future__ import annotations

from dataclasses import fields

from advisor.ranking.times import TrainingTime
from bench_runner.records.measurement import Measurement, Settings

SETTINGS = tuple(field.name for field in fields(Settings))
"""NULL, all of them, where the settings are not known."""


def _columns(record: type[Measurement] | type[TrainingTime]) -> tuple[str, ...]:
    names = [field.name for field in fields(record)]
    at = names.index("settings")
    return (*names[:at], *SETTINGS, *names[at + 1 :])


RECORDED = _columns(Measurement)
"""Of the table measurement: what was recorded."""
AUDITED = ("gpu_id", "implied_mfu", "implied_mfu_printed", "verdict", "verdict_reason")
"""Of the same table: what follows from the catalogue (`rows.Auditor`); never handed on."""
TIME = tuple(name for name in _columns(TrainingTime) if name != "measured_otherwise_days")
"""Of the views measured_time and predicted_time, in this order."""


def settings_in(columns: dict[str, object]) -> Settings | None:
    """Take the settings out of the columns of one row."""
    values = {name: columns.pop(name) for name in SETTINGS}
    return None if values["free_lunch"] is None else Settings(**values)  # type: ignore[arg-type]
