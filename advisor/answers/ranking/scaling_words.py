"""Whether more GPUs are said to be more than so many times as fast as fewer of them.

Twice the GPUs do half of the work each, and talk. Where they are faster than that, the fewer have
to save memory in ways that the more need not; a reader has to know.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.costs.amounts import are

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
    ratio = f"{count / fewer:g}" if 2 * count % fewer == 0 else f"{count}/{fewer}"
    return f"more than {ratio} times as fast as {fewer} of them, which need other settings"


MOST_NOTES = 2
"""How many are told beneath a table."""
LOOKED_AT = 200
"""Among so many of the first rows."""


def faster_notes(rows: Iterable[RankedRow], shown: Iterable[RankedRow]) -> list[str]:
    """Of the builds that are shown, those that are faster than their number of GPUs says beside
    one of the ``rows``, a sentence each."""
    from advisor.answers.build_words import short_gpus_words

    faster = faster_than_linear(rows)
    told = {
        key_of(row): f"{short_gpus_words(row.build)} {are(2 if row.build.gpu_count > 1 else 1)} "
        f"{faster_words(row.build.gpu_count, faster[key_of(row)])}."
        for row in shown
        if row.build.machines == 1 and key_of(row) in faster
    }
    return list(told.values())[:MOST_NOTES]
