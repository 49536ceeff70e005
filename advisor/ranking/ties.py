"""Which builds cannot be told apart, and which single measurement would tell them apart (pure)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

NORMAL_90 = 1.645
"""Standard deviations from the middle to either end of a 90 % interval."""
_UPPER = (1.8339, 1.2816, 0.9674, 0.7279, 0.5244, 0.3407, 0.1679)
DEVIATIONS = (*(-z for z in _UPPER), 0.0, *reversed(_UPPER))
"""A normal distribution in 15 equally likely parts, the middle of each in standard deviations."""
SAME_GPU_FACTOR = 1.24
"""How far off nine of ten ratios of two numbers of one GPU are at most, with that GPU left out of
the fit (docs/prediction.md, "Two machines compared": 451 pairs of other measurements, 23.9 %)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """What one build of a ranking is ranked by (less is better), and how sure that is."""

    value: float
    """Days, or what grows with them; in one unit for all."""
    low: float
    high: float
    """The ends of the interval; of a time printed in whole days those of its rounding."""
    factor: float | None = None
    """Of a prediction: how far off it may be beside another prediction for the same model."""
    gpu: str | None = None
    """Of a prediction: the GPU, with its power limit. Between two numbers of one GPU nearly all
    doubt is shared."""

    @property
    def near(self) -> tuple[float, float]:
        """The ends of the interval beside another prediction; of the interval where it is none."""
        if self.factor is None:
            return self.low, self.high
        return self.value / self.factor, self.value * self.factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender(Doubt):
    """One build of a ranking that may be measured."""

    settled: bool
    """Whether it was measured already, as well as it can be."""
    effort: float
    """What a measurement costs, in any unit."""


class Contest(NamedTuple):
    """How sure first place is."""

    tied: tuple[int, ...]
    """Contenders that cannot be told from the first; empty where first place is sure."""
    measure: int | None
    """The one to measure; None where nothing need or can be measured."""
    left: float
    """How many will still not be told from the first once that is measured, on average over what
    it may find."""


def chance_within(limit: float, value: float, low: float, high: float) -> float:
    """How likely a value stays within a limit, 0 to 1.

    ``low`` and ``high`` are the ends of its 90 % interval; its logarithm is normal on either side
    of ``value``, the median.
    """
    end = high if limit >= value else low
    if limit <= 0 or end <= 0 or end == value:
        return 1.0 if limit >= value else 0.0
    sd = abs(math.log(end / value)) / NORMAL_90
    return 0.5 * (1 + math.erf(math.log(limit / value) / sd / math.sqrt(2)))


def alike(one: Doubt, other: Doubt) -> bool:
    """Whether two builds cannot be told apart: the 90 % interval of the ratio of their values
    holds 1.

    The doubts of the two are independent, so that of the ratio is the root of the sum of their
    squares (of logarithms). Two predictions share part of it, the software above all, which
    cancels; those for two numbers of one GPU share what is not known of that GPU, too. Times
    printed as 22 and 23 days are told apart.
    """
    near = one.factor is not None and other.factor is not None
    if near and one.gpu is not None and one.gpu == other.gpu:
        less, more = sorted((one.value, other.value))
        if more >= less * SAME_GPU_FACTOR:
            return False
    return one.value == other.value or _reaches(one, other, near=near)


def _reaches(one: Doubt, other: Doubt, *, near: bool) -> bool:
    less, more = (one, other) if one.value <= other.value else (other, one)
    low = more.near[0] if near else more.low
    high = less.near[1] if near else less.high
    if low <= 0 or low >= high:  # the doubt of a ratio is never more than both doubts together
        return low <= 0
    down, up = math.log(more.value / low), math.log(high / less.value)
    return math.log(more.value / less.value) < math.hypot(down, up)


def settle(contenders: Sequence[Contender]) -> Contest:
    """Find the builds that may be the first instead, and what to measure.

    Best is the measurement that leaves the fewest builds not told from the first, on average over
    what it may find; of those that leave about as few (half a build more), the cheapest. It tells
    how fast the user's own software is, too, so from then on predictions are compared with it as
    with each other.
    """
    if not contenders:
        return Contest(tied=(), measure=None, left=0.0)
    first = min(range(len(contenders)), key=lambda i: contenders[i].value)
    tied = tuple(i for i, c in enumerate(contenders) if i != first and alike(c, contenders[first]))
    group = (first, *tied)
    open_ = [i for i in group if not contenders[i].settled]
    if not tied or not open_:
        return Contest(tied=tied, measure=None, left=float(len(tied)))
    # Of equal values the surer one is first.
    best, second = sorted(group, key=lambda i: (contenders[i].value, contenders[i].high))[:2]
    lows = sorted(contenders[i].near[0] for i in group)
    around = {
        i: sum(_reaches(contenders[i], contenders[j], near=True) for j in group if j != i)
        for i in (best, second)
    }
    left = {}
    for i in open_:
        rival = second if i == best else best
        left[i] = _left(contenders[i], contenders[rival], lows, around[rival])
    fewest = min(left.values())
    good = [i for i in open_ if left[i] <= fewest + 0.5]
    chosen = min(good, key=lambda i: (contenders[i].effort, left[i], i))
    return Contest(tied=tied, measure=chosen, left=left[chosen])


def _left(asked: Contender, rival: Contender, lows: Sequence[float], around: int) -> float:
    """How many builds are not told from the first once ``asked`` is measured, on average.

    ``rival`` is the first of the others; ``lows`` are the ordered low ends of all, ``around`` is
    how many of all cannot be told from the rival.
    """
    low, high = asked.near if rival.factor is not None else (asked.low, asked.high)
    sd = math.log(high / low) / (2 * NORMAL_90) if low > 0 else 0.0
    of_others = around - _reaches(asked, rival, near=True)
    total = 0
    for deviations in DEVIATIONS:
        found = asked.value * math.exp(sd * deviations)
        if found <= rival.value:
            # Of the others those that may be as fast as it was found to be.
            total += bisect_left(lows, found) - (asked.near[0] < found)
        else:
            total += of_others + (found < rival.near[1])
    return total / len(DEVIATIONS)
