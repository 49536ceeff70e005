"""Logarithmic axes: bounds, 1-2-5 ticks, and how their values are written."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

MIN_SPAN_DECADES = 0.12
"""An axis never shows less than this, so that equal values do not divide by zero."""
MAX_SPAN_DECADES = 12.0
"""Nor more, however far somebody zooms out."""
PADDING = 0.06
"""Share of the span that is left free at either end."""
EXTEND_DECADES = 0.5
"""A limit (the budget) that lies at most this far outside the points is brought into view."""
WANTED_TICKS, LEAST_TICKS = 3, 2
FINE_TICKS = 6
"""At most so many where an axis is zoomed between two 1-2-5 values, in steps of 1, 2 or 5."""
WIDEN_DECADES = 0.2
"""An axis with fewer round values than wanted is widened by at most this to show one more; to have
the least of them it is widened as far as it takes."""

_LARGEST = math.log10(sys.float_info.max)


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

    def value(self, position: float) -> float:
        """The value at a position: the inverse of ``position``."""
        exponent = self.low_log + position * self.span
        return float(10.0**exponent) if exponent < _LARGEST else sys.float_info.max

    def cell(self, value: float, cells: int) -> int:
        """Which of this many equal cells holds the value; negative or too large out of view."""
        return math.floor(self.position(value) * cells)

    def zoomed(self, factor: float, centre_log: float) -> LogScale:
        """The same axis over ``factor`` of its span; the centre keeps its place where it can."""
        span = min(max(self.span * factor, MIN_SPAN_DECADES), MAX_SPAN_DECADES)
        share = min(1.0, max(0.0, (centre_log - self.low_log) / self.span))
        low = centre_log - share * span
        return LogScale(low_log=low, high_log=low + span)

    def panned(self, share: float) -> LogScale:
        """The same axis, moved by this share of its span."""
        by = share * self.span
        return LogScale(low_log=self.low_log + by, high_log=self.high_log + by)

    def reaching(self, at_log: float) -> LogScale:
        """The same axis, moved as little as it takes to show this with some air."""
        air = PADDING * self.span
        by = min(0.0, at_log - air - self.low_log) + max(0.0, at_log + air - self.high_log)
        return self if self.covers(at_log, at_log) else self.panned(by / self.span)

    def covers(self, low_log: float, high_log: float) -> bool:
        """Whether everything between these lies in view."""
        return self.low_log <= low_log and high_log <= self.high_log


def drawable(value: float | None) -> float | None:
    """The value if a logarithmic axis has a place for it, else None."""
    return value if value is not None and 0 < value < math.inf else None


def fit_scale(low_log: float, high_log: float, limits: Iterable[float | None] = ()) -> LogScale:
    """The scale that shows these log10 bounds with some air, and limits that are close by."""
    low, high = low_log, high_log
    for limit in limits:
        shown = drawable(limit)
        if shown is not None:
            at = math.log10(shown)
            if low_log - EXTEND_DECADES <= at <= high_log + EXTEND_DECADES:
                low, high = min(low, at), max(high, at)
    air = max((high - low) * PADDING, (MIN_SPAN_DECADES - (high - low)) / 2)
    return LogScale(low_log=low - air, high_log=high + air)


def with_round_values(scale: LogScale) -> LogScale:
    """The scale, wider where it holds fewer than two 1-2-5 values, or nearly holds a third."""
    low, high = math.floor(scale.low_log) - 1, math.ceil(scale.high_log) + 1
    marks = [d + log for d in range(low, high) for log in (0.0, math.log10(2), math.log10(5))]
    while True:
        seen = sum(scale.covers(mark, mark) for mark in marks)
        if seen >= WANTED_TICKS:
            return scale
        outside = (m for m in marks if not scale.covers(m, m))
        nearest = min(outside, key=lambda m: max(scale.low_log - m, m - scale.high_log))
        away = max(scale.low_log - nearest, nearest - scale.high_log)
        if seen >= LEAST_TICKS and away > WIDEN_DECADES:
            return scale
        air = WIDEN_DECADES / 10
        scale = LogScale(
            low_log=min(scale.low_log, nearest - air), high_log=max(scale.high_log, nearest + air)
        )


def ticks(scale: LogScale, most: int) -> list[float]:
    """Round values in view, ascending, at most this many: 1-2-5, whole decades, or fine steps."""
    if most < 1:
        return []
    decades = range(math.floor(scale.low_log), math.ceil(scale.high_log) + 1)
    found = _in_view(scale, _decimal((1, 2, 5), decades))
    if len(found) < min(2, most):
        return _fine_ticks(scale, min(most, FINE_TICKS)) or found[:most]
    if len(found) <= most:
        return found
    for stride in range(max(1, len(decades) // (most + 2)), len(decades) + 1):
        sparse = _in_view(scale, _decimal((1,), (d for d in decades if d % stride == 0)))
        if stride == 1 and len(sparse) < 3:
            # Halving each decade reads better than one or two lonely values.
            halves = _in_view(scale, _decimal((1, 5), decades))
            sparse = halves if len(halves) <= most else sparse
        if len(sparse) <= most:
            break
    return sparse or found[:most]


def _fine_ticks(scale: LogScale, most: int) -> list[float]:
    """Evenly stepped round values, for an axis that spans less than a decade."""
    low, high = scale.value(0), scale.value(1)
    if high - low <= 0:
        return []  # at the very end of what a float can hold
    exponent = math.floor(math.log10((high - low) / most))
    for step in _decimal((1, 2, 5), (exponent, exponent + 1, exponent + 2)):
        start, stop = math.ceil(low / step), math.floor(high / step)
        if 0 <= stop - start < most:
            digits = max(0, -math.floor(math.log10(step)))
            return _in_view(scale, (round(n * step, digits) for n in range(start, stop + 1)))
    return []


def _decimal(mantissas: Iterable[int], exponents: Iterable[int]) -> list[float]:
    """Powers of ten times each mantissa, through text so that 0.2 is the 0.2 that one types."""
    return [float(f"{m}e{e}") for e in exponents for m in mantissas]


def _in_view(scale: LogScale, values: Iterable[float]) -> list[float]:
    return [v for v in values if 0 < v < math.inf and 0 <= scale.position(v) <= 1]


def compact(value: float, digits: int = 3) -> str:
    """A number in at most about six characters: 950, 41k, 1.25M, 0.04."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "?"
    if value and not 1e-3 <= abs(value) < 1e15:
        return f"{Decimal(f'{value:.0e}'):f}" if abs(value) < 1 else f"{value / 1e12:,.0f}T"
    rounded = float(f"{value:.{digits}g}")
    for size, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(rounded) >= size and (suffix != "k" or abs(rounded) >= 1000):
            return _plain(rounded / size, digits) + suffix
    return _plain(rounded, digits)


def _plain(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    # At and above 1000 the g format turns to powers of ten, which nobody reads as dollars.
    return f"{value:.0f}" if "e" in text else text


def format_usd(value: float) -> str:
    """A cost for an axis, e.g. ``$74k``."""
    return "$" + compact(value)


def format_days(value: float, digits: int = 3) -> str:
    """A training time for an axis, e.g. ``41 d``."""
    return compact(value, digits) + " d"
