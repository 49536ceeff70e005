"""Which builds cannot be told apart, and which single measurement would tell them apart (pure)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

NORMAL_90 = 1.645
"""Standard deviations from the middle to either end of a 90 % interval."""
_UPPER = (1.8339, 1.2816, 0.9674, 0.7279, 0.5244, 0.3407, 0.1679)
DEVIATIONS = (*(-z for z in _UPPER), 0.0, *reversed(_UPPER))
"""A normal distribution in 15 equally likely parts, the middle of each in standard deviations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One build of a ranking, with the interval of what it is ranked by (less is better)."""

    value: float
    """Days, or what grows with them; in one unit for all."""
    low: float
    high: float
    settled: bool
    """Whether it was measured already, as well as it can be."""
    effort: float
    """What a measurement costs, in any unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """How sure first place is."""

    tied: tuple[int, ...]
    """Contenders whose interval overlaps the first one's; empty where first place is sure."""
    measure: int | None
    """The one to measure; None where nothing need or can be measured."""
    left: float
    """How many will overlap the first once that is measured, on average over what it may find."""


def overlap(one: Contender, other: Contender) -> bool:
    """Whether two builds are not distinguishable.

    Intervals that only touch, as those of times printed as 22 and 23 days, do not overlap.
    """
    return one.value == other.value or (one.low < other.high and other.low < one.high)


def settle(contenders: Sequence[Contender]) -> Contest:
    """Find the builds that may be the first instead, and what to measure.

    Best is the measurement that leaves the fewest builds overlapping the first, on average over
    what it may find; of those that leave about as few (half a build more), the cheapest.
    """
    if not contenders:
        return Contest(tied=(), measure=None, left=0.0)
    first = min(range(len(contenders)), key=lambda i: contenders[i].value)
    tied = tuple(
        i for i, c in enumerate(contenders) if i != first and overlap(c, contenders[first])
    )
    field = (first, *tied)
    open_ = [i for i in field if not contenders[i].settled]
    if not tied or not open_:
        return Contest(tied=tied, measure=None, left=float(len(tied)))
    lows = sorted(contenders[i].low for i in field)
    # Of equal values the surer one is first.
    best, second = sorted(field, key=lambda i: (contenders[i].value, contenders[i].high))[:2]
    left = {i: _left(contenders[i], contenders[second if i == best else best], lows) for i in open_}
    fewest = min(left.values())
    good = [i for i in open_ if left[i] <= fewest + 0.5]
    chosen = min(good, key=lambda i: (contenders[i].effort, left[i], i))
    return Contest(tied=tied, measure=chosen, left=left[chosen])


def _left(asked: Contender, rival: Contender, lows: Sequence[float]) -> float:
    """How many builds overlap the first once ``asked`` is measured, on average.

    ``rival`` is the first of the others, ``lows`` the ordered low ends of all of them and its own.
    """
    sd = math.log(asked.high / asked.low) / (2 * NORMAL_90) if asked.low > 0 else 0.0
    total = 0
    for deviations in DEVIATIONS:
        found = asked.value * math.exp(sd * deviations)
        high = min(found, rival.high) if found <= rival.value else rival.high
        # Of the others those whose low end is below the first one's high end.
        others = bisect_left(lows, high) - (asked.low < high)
        if found > rival.value:
            others += (found < high) - (rival.low < high)
        total += others
    return total / len(DEVIATIONS)
