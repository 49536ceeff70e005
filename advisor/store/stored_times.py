"""Rows of the views of times as records of a training time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from advisor.ranking.times import TrainingTime
from advisor.store.measurement_columns import SETTINGS, TIME

if TYPE_CHECKING:
    from bench_runner.records.measurement import Settings

Row = Sequence[Any]

_ROW = "_row"
_FIRST_SETTING = TIME.index(SETTINGS[0])
_SETTINGS = slice(_FIRST_SETTING, _FIRST_SETTING + len(SETTINGS))


class StoredTime(TrainingTime):
    """A training time over a row as it was read: the columns of TIME, and any behind these.

    Of the 40,000 that a large store answers with, a screen looks at forty: filling all fields of
    all of them would take longer than the query.
    """

    __slots__ = (_ROW,)
    _row: Row

    def __init__(self, row: Row) -> None:
        object.__setattr__(self, _ROW, row)

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredTime, (tuple(self._row),)


def _settings(time: StoredTime) -> Settings | None:
    from bench_runner.records.measurement import Settings  # late: a ranking says nothing of them

    values = time._row[_SETTINGS]
    return None if values[0] is None else Settings(**dict(zip(SETTINGS, values, strict=True)))


def _field(position: int) -> property:
    return property(lambda time: time._row[position])


for _position, _name in enumerate(TIME):
    if _name not in SETTINGS:
        setattr(StoredTime, _name, _field(_position))
StoredTime.settings = property(_settings)  # type: ignore[assignment]
StoredTime.measured_otherwise_days = None  # which only `one_clock` says
