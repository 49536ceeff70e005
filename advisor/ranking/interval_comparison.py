"""How a value with an interval compares with another or with a limit (pure)."""

from __future__ import annotations

import math
from typing import NamedTuple

from bench_runner.typed_numbers import NORMAL_90

SAME_GPU_FACTOR = 1.24
"""How far off nine of ten ratios of two numbers of one GPU are at most, with that GPU left out of
the fit (docs/prediction.md, "Two machines compared": 451 pairs of other measurements, 23.9 %)."""


class Doubt(NamedTuple):
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
    return one.value == other.value or reaches(one, other, near=near)


def reaches(one: Doubt, other: Doubt, *, near: bool) -> bool:
    """The same of independent doubts; ``near`` takes both as predictions for one model."""
    less, more = (one, other) if one.value <= other.value else (other, one)
    low = more.near[0] if near else more.low
    high = less.near[1] if near else less.high
    if low <= 0 or low >= high:  # the doubt of a ratio is never more than both doubts together
        return low <= 0
    down, up = math.log(more.value / low), math.log(high / less.value)
    return math.log(more.value / less.value) < math.hypot(down, up)
