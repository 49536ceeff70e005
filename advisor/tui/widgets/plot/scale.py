"""Logarithmic axes: the part in view, its round values, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

MIN_SPAN_DECADES = 0.12
"""An axis never shows less than this, so that equal values do not divide by zero."""
PADDING = 0.06
"""Share of the span that is left free at either end."""
EXTEND_DECADES = 0.5
"""A limit (the budget) that lies at most this far outside the points is brought into view."""
WANTED_TICKS, LEAST_TICKS = 3, 2
WIDEN_DECADES = 0.2
"""An axis with fewer round values than wanted is widened by at most this to show one more."""


class LogScale(NamedTuple):
    """A stretch of a logarithmic axis; positions run from 0 at ``low`` to 1 at ``high``."""

    low_log: float
    """log10 of the left or lower end."""
    high_log: float

    @property
    def span(self) -> float:
        """Decades from end to end, above zero."""
        return self.high_log - self.low_log

    def position(self, value: float) -> float:
        """Where a value above zero lies; outside 0..1 when it is out of view."""
        return (math.log10(value) - self.low_log) / self.span

    def cell(self, value: float, cells: int) -> int:
        """Which of this many equal cells holds the value; negative or too large out of view."""
        return math.floor(self.position(value) * cells)

    def covers(self, at_log: float) -> bool:
        return self.low_log <= at_log <= self.high_log


def drawable(value: float | None) -> float | None:
    """The value if a logarithmic axis has a place for it, else None."""
    return value if value is not None and 0 < value < math.inf else None


def fit_scale(logs: Iterable[float], limit: float | None) -> LogScale:
    """The scale that shows these log10 values with some air, and a limit that is close by; wider
    where it would hold fewer than two 1-2-5 values, or nearly holds a third."""
    shown = list(logs)
    low, high = min(shown), max(shown)
    if limit is not None:
        at = math.log10(limit)
        if low - EXTEND_DECADES <= at <= high + EXTEND_DECADES:
            low, high = min(low, at), max(high, at)
    air = max((high - low) * PADDING, (MIN_SPAN_DECADES - (high - low)) / 2)
    low, high = low - air, high + air
    decades = range(math.floor(low) - 1, math.ceil(high) + 1)
    marks = [decade + log for decade in decades for log in map(math.log10, (1, 2, 5))]
    while (seen := sum(low <= mark <= high for mark in marks)) < WANTED_TICKS:
        away, nearest = min((max(low - m, m - high), m) for m in marks if not low <= m <= high)
        if seen >= LEAST_TICKS and away > WIDEN_DECADES:
            break
        low, high = min(low, nearest - 0.02), max(high, nearest + 0.02)
    return LogScale(low, high)


def ticks(scale: LogScale, most: int) -> list[float]:
    """Round values in view, ascending, at most this many: 1-2-5, or whole decades."""
    decades = range(math.floor(scale.low_log), math.ceil(scale.high_log) + 1)

    def in_view(mantissas: Iterable[int], stride: int = 1) -> list[float]:
        # Through text, so that 0.2 is the 0.2 that one types.
        values = [float(f"{m}e{d}") for d in decades if d % stride == 0 for m in mantissas]
        return [value for value in values if 0 <= scale.position(value) <= 1]

    found = in_view((1, 2, 5))
    sparser = (in_view((1,), stride) for stride in range(1, len(decades) + 1))
    choices = (found, in_view((1, 5)), *sparser)
    return next((choice for choice in choices if 2 <= len(choice) <= most), found[:most])


def compact(value: float, digits: int = 3) -> str:
    """A number in at most about six characters: 950, 41k, 1.25M, 0.04."""
    rounded = float(f"{value:.{digits}g}")
    for size, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(rounded) >= size:
            return _plain(rounded / size, digits) + suffix
    return _plain(rounded, digits)


def _plain(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    # The g format writes what is very large or small with an exponent.
    return f"{value:.15f}".rstrip("0").rstrip(".") if "e" in text else text


def format_usd(value: float) -> str:
    """A cost for an axis, e.g. ``$74k``."""
    return "$" + compact(value)
