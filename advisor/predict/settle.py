"""Which builds cannot be told apart, and which single measurement would tell them apart (pure)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

NORMAL_90 = 1.645
QUANTILES = tuple((i + 0.5) / 15 for i in range(15))


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One build of a ranking, with the interval of its time."""

    label: str
    """The machine in words, as ``2 x RTX 4090``."""
    days: float
    low_days: float
    high_days: float
    measured: bool
    effort: float
    """What a measurement costs, in any unit: the price of the machine, or GPU-minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """How sure first place is."""

    tied: tuple[int, ...]
    """Contenders whose interval overlaps the first one's; empty where first place is sure."""
    measure: int | None
    """The one to measure; None where nothing need or can be measured."""


def overlap(one: Contender, other: Contender) -> bool:
    """Whether two builds are not distinguishable."""
    return one.low_days <= other.high_days and other.low_days <= one.high_days


def settle(contenders: Sequence[Contender]) -> Contest:
    """Find the builds that may be the fastest instead, and what to measure.

    Best is the measurement that leaves the fewest builds overlapping the fastest, on average over
    what it may find; of those that leave about as few (half a build more), the cheapest.
    """
    if not contenders:
        return Contest(tied=(), measure=None)
    first = min(range(len(contenders)), key=lambda i: contenders[i].days)
    tied = tuple(
        i for i, c in enumerate(contenders) if i != first and overlap(c, contenders[first])
    )
    if not tied:
        return Contest(tied=(), measure=None)
    field = (first, *tied)
    open_ = [i for i in field if not contenders[i].measured]
    if not open_:
        return Contest(tied=tied, measure=None)
    left = {i: _left(contenders, field, i) for i in open_}
    fewest = min(left.values())
    good = [i for i in open_ if left[i] <= fewest + 0.5]
    return Contest(tied=tied, measure=min(good, key=lambda i: (contenders[i].effort, left[i], i)))


def _left(contenders: Sequence[Contender], field: Sequence[int], measured: int) -> float:
    """How many builds overlap the fastest once one is measured, on average."""
    asked = contenders[measured]
    sd = math.log(asked.high_days / asked.low_days) / (2 * NORMAL_90)
    total = 0
    for quantile in QUANTILES:
        found = asked.days * math.exp(sd * NormalDist().inv_cdf(quantile))
        intervals = [
            (found, found, found)
            if i == measured
            else (contenders[i].days, contenders[i].low_days, contenders[i].high_days)
            for i in field
        ]
        best = min(intervals)
        total += sum(low <= best[2] and best[1] <= high for _, low, high in intervals) - 1
    return total / len(QUANTILES)
