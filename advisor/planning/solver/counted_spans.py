"""From which day to which a machine's time is counted: from every release to every due day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

MOST_INTERVALS = 1600
"""For one group; with more of them, some are left out."""
SOME_MOMENTS = 12
"""Releases, and due days, that intervals go from and to then."""


@dataclass(frozen=True, slots=True)
class Load:
    """A column of runs in a group, or of days that they run in one year."""

    column: int
    days: float
    """For one of the column."""
    low: float
    due: int


def moments(jobs: Sequence[Load]) -> list[tuple[float, float]]:
    """From which day to which the jobs are counted: from every release to every due day.

    Where there are very many, from some to some: each interval asks what must hold, and fewer of
    them leave the bound valid; whether the runs pack is seen when they are placed.
    """
    lows = sorted({each.low for each in jobs})
    dues = sorted({float(each.due) for each in jobs})
    if len(lows) * len(dues) > MOST_INTERVALS:
        lows, dues = _some(lows), _some(dues[::-1])[::-1]
    return list(product(reversed(lows), dues))


def within_moments(jobs: Sequence[Load]) -> Iterator[tuple[float, float, list[int]]]:
    """The same, with the numbers of the jobs that must lie between, where there are any."""
    import numpy as np

    lows, dues = np.array([each.low for each in jobs]), np.array([each.due for each in jobs])
    for low, due in moments(jobs):
        if due > low:
            inside = ((lows >= low) & (dues <= due)).nonzero()[0].tolist()
            if inside:
                yield low, due, inside


def _some(moments: Sequence[float]) -> list[float]:
    """The first of them, and others at even steps."""
    step = max(len(moments) / SOME_MOMENTS, 1.0)
    return [moments[int(n * step)] for n in range(min(SOME_MOMENTS, len(moments)))]
