"""Whether more GPUs are said to be more than so many times as fast as fewer of them.

Twice the GPUs do half of the work each, and talk. Where they are faster than that, the fewer have
to save memory in ways that the more need not; a reader has to know.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.ranking.rank import RankedRow

Key = tuple[str, int, float | None]
"""GPU, number of GPUs, power limit."""
_SAME = 0.999
"""Closer than that, two numbers of GPUs are equally fast for each GPU."""


def key_of(row: RankedRow) -> Key:
    """What a time is of."""
    build = row.build
    limit = build.limit
    return build.gpu.gpu_id, build.gpu_count, None if limit is None else limit.watts


def faster_than_linear(rows: Iterable[RankedRow]) -> dict[Key, int]:
    """Of those builds that are: the number of the same GPU, among the ``rows``, that is slowest for
    each GPU."""
    each: dict[Key, float] = {}
    for row in rows:
        if row.build.machines == 1:
            key = key_of(row)
            spent = row.training_days * key[1]
            each[key] = min(spent, each.get(key, spent))
    found = {}
    for (gpu_id, count, limit), spent in each.items():
        fewer = {
            other: days
            for (gpu, other, same), days in each.items()
            if gpu == gpu_id and same == limit and other < count and spent < days * _SAME
        }
        if fewer:
            found[gpu_id, count, limit] = max(fewer, key=fewer.__getitem__)
    return found


def faster_words(count: int, fewer: int) -> str:
    """The same in words, with the reason."""
    if fewer == 1:
        return f"more than {count} times as fast as one of them, which needs other settings"
    return f"more than {count}/{fewer} times as fast as {fewer} of them, which need other settings"
