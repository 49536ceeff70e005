"""A training time as the store answers with it; light to load, as a screen takes over times that
another process has read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from advisor.ranking.times import TrainingTime
from bench_runner.records.measurement import Measurement, Settings

SETTINGS = tuple(field.name for field in fields(Settings))
"""Columns of a measurement; NULL, all of them, where the settings are not known."""


def columns_of(record: type[Measurement] | type[TrainingTime]) -> tuple[str, ...]:
    """The columns of a record that has settings."""
    names = [field.name for field in fields(record)]
    at = names.index("settings")
    return (*names[:at], *SETTINGS, *names[at + 1 :])


TIME = tuple(name for name in columns_of(TrainingTime) if name != "measured_otherwise_days")
"""Of the views measured_time and predicted_time, in this order."""
_ROW = "_row"
_FIRST_SETTING = TIME.index(SETTINGS[0])
_SETTINGS = slice(_FIRST_SETTING, _FIRST_SETTING + len(SETTINGS))


class StoredTime(TrainingTime):
    """A training time over a row as it was read: the columns of TIME, and any behind these.

    Of the 40,000 that a large store answers with, a screen looks at forty: filling all fields of
    all of them would take longer than the query.
    """

    __slots__ = (_ROW,)
    _row: Sequence[Any]

    def __init__(self, row: Sequence[Any]) -> None:
        object.__setattr__(self, _ROW, row)

    @property
    def use(self) -> Any:
        """The last column: what the row is for; in ``predicted_with_host`` the GiB."""
        return self._row[-1]

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredTime, (tuple(self._row),)


def _settings(time: StoredTime) -> Settings | None:
    values = time._row[_SETTINGS]
    return None if values[0] is None else Settings(**dict(zip(SETTINGS, values, strict=True)))


def _field(position: int) -> property:
    return property(lambda time: time._row[position])


for _position, _name in enumerate(TIME):
    if _name not in SETTINGS:
        setattr(StoredTime, _name, _field(_position))
StoredTime.settings = property(_settings)  # type: ignore[assignment]
StoredTime.measured_otherwise_days = None  # which only `one_clock` says
