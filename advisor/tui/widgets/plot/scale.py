"""Logarithmic axes: the part in view, its round values, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

MIN_SPAN_DECADES, MAX_SPAN_DECADES = 0.12, 12.0
"""An axis never shows less than this, so that equal values do not divide by zero; nor more."""
PADDING = 0.06
"""Share of the span that is left free at either end."""
EXTEND_DECADES = 0.5
"""A limit (the budget) that lies at most this far outside the points is brought into view."""
WANTED_TICKS, LEAST_TICKS = 3, 2
FINE_TICKS = 6
"""At most this many on an axis that is zoomed between two 1-2-5 values."""
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

    def zoomed(self, factor: float, centre_log: float) -> LogScale:
        """The same axis over ``factor`` of its span; the centre keeps its place where it can."""
        span = min(max(self.span * factor, MIN_SPAN_DECADES), MAX_SPAN_DECADES)
        share = min(1.0, max(0.0, (centre_log - self.low_log) / self.span))
        low = centre_log - share * span
        return LogScale(low, low + span)

    def panned(self, share: float) -> LogScale:
        """The same axis, moved by this share of its span."""
        by = share * self.span
        return LogScale(self.low_log + by, self.high_log + by)

    def reaching(self, at_log: float) -> LogScale:
        """The same axis, moved as little as it takes to show this with some air."""
        air = PADDING * self.span
        by = min(0.0, at_log - air - self.low_log) + max(0.0, at_log + air - self.high_log)
        return self if self.covers(at_log) else self.panned(by / self.span)

    def covers(self, at_log: float) -> bool:
        """Whether this is in view."""
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
    """Round values in view, ascending, at most this many: 1-2-5, whole decades, or fine steps."""
    decades = range(math.floor(scale.low_log), math.ceil(scale.high_log) + 1)

    def in_view(mantissas: Iterable[int], stride: int = 1) -> list[float]:
        # Through text, so that 0.2 is the 0.2 that one types.
        values = [float(f"{m}e{d}") for d in decades if d % stride == 0 for m in mantissas]
        return [value for value in values if 0 <= scale.position(value) <= 1]

    found = in_view((1, 2, 5))
    if len(found) < 2:
        return _fine_ticks(scale, min(most, FINE_TICKS)) or found[:most]
    sparser = (in_view((1,), stride) for stride in range(1, len(decades) + 1))
    choices = (found, in_view((1, 5)), *sparser)
    return next((choice for choice in choices if 2 <= len(choice) <= most), found[:most])


def _fine_ticks(scale: LogScale, most: int) -> list[float]:
    """Evenly stepped round values, for an axis that spans less than a decade."""
    low, high = 10.0**scale.low_log, 10.0**scale.high_log
    exponent = math.floor(math.log10((high - low) / most))
    for step in (float(f"{m}e{e}") for e in range(exponent, exponent + 3) for m in (1, 2, 5)):
        start, stop = math.ceil(low / step), math.floor(high / step)
        if stop - start < most:
            digits = max(0, -math.floor(math.log10(step)))
            return [round(n * step, digits) for n in range(start, stop + 1)]
    return []


def compact(value: float, digits: int = 3) -> str:
    """A number in at most about six characters: 950, 41k, 1.25M, 0.04."""
    rounded = float(f"{value:.{digits}g}")
    for size, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(rounded) >= size:
            return _plain(rounded / size, digits) + suffix
    return _plain(rounded, digits)


def _plain(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    # The g format writes powers of ten from 1000 on and below 0.0001.
    if "e+" in text:
        return f"{value:.0f}"
    if "e-" in text:
        return f"{value:.{digits - 1 - math.floor(math.log10(abs(value)))}f}"
    return text


def format_usd(value: float) -> str:
    """A cost for an axis, e.g. ``$74k``."""
    return "$" + compact(value)
