"""An interval drawn in one line of text, ``41 ├────●─────┤ 61  │``, with the limit in it (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from advisor.answers.wording import DAY, TimeUnit, short_time
from advisor.costs.amount_words import days_rounded

LABEL = 6
"""Columns kept free on either side for the figures at the ends."""
NEAR_LIMIT = 1.6
"""A limit this many times the longest interval's end is not drawn: the bars would shrink."""

LEAST_SPAN = 2.0
"""An axis ends at least at this many times what it begins with: small doubts look small."""
WORTH_SAYING = 1.05
"""An interval too narrow to be drawn has its ends written where they are so far apart."""


class Axis(NamedTuple):
    """Which days stand in which column; logarithmic, for an interval is a factor either way."""

    low: float
    high: float
    width: int
    """Columns, those of the figures included."""
    limit: float | None
    """The limit of days where it is drawn."""
    unit: TimeUnit
    """What the ends are written in."""

    def column(self, days: float) -> int:
        """Where this many days stand; 0 is the first column."""
        inner = self.width - 2 * LABEL - 1
        share = math.log(max(days, self.low) / self.low) / math.log(self.high / self.low)
        return LABEL + round(min(1.0, share) * inner)


def axis_for(
    intervals: Iterable[tuple[float, float]], limit: float | None, width: int, unit: TimeUnit = DAY
) -> Axis | None:
    """The axis on which all of these (low, high) days fit; None where there are none."""
    ends = [end for interval in intervals for end in interval if end > 0]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    drawn = limit if limit is not None and 0 < limit <= high * NEAR_LIMIT else None
    if drawn is not None:
        low, high = min(low, drawn), max(high, drawn)
    short = max(1.0, math.sqrt(LEAST_SPAN * low / high))
    return Axis(low=low / short, high=high * short, width=width, limit=drawn, unit=unit)


def interval_bar(axis: Axis, days: float, low: float, high: float) -> str:
    """The interval as a bar with its ends written beside it; exactly the axis' width.

    Of an interval too narrow to be drawn only its dot is, between its ends where they matter.
    """
    left, at, right = axis.column(low), axis.column(days), axis.column(high)
    cells = [" "] * axis.width
    if axis.limit is not None:
        cells[axis.column(axis.limit)] = "│"
    if right - left > 1:
        for place in range(left, right + 1):
            cells[place] = "┼" if cells[place] == "│" else "─"
        cells[left], cells[right] = "├", "┤"
    else:
        left = right = at
    words = [days_rounded(end * axis.unit.a_day) for end in (low, high)]
    if right - left > 1 or high > WORTH_SAYING * low:
        _write(cells, left - 1 - len(words[0]), words[0])
        _write(cells, right + 2, words[1])
    cells[at] = "●"
    return "".join(cells)


INSIDE = "9 in 10 runs"
"""What an interval holds."""


def bars_heading(axis: Axis) -> str:
    """What stands above the bars: what they hold, and the limit over its line."""
    cells, limit, room = [" "] * axis.width, axis.limit, axis.width - len(INSIDE)
    if limit is not None:
        words, at = short_time(limit), axis.column(limit)
        cells[at] = "│"
        _write(cells, at + 1 if at + 1 + len(words) <= axis.width else at - len(words), words)
    heading = "".join(cells)
    # Where there is room beside the limit; in the middle, where there is none.
    for place in (room // 2, 0, room):
        if place >= 0 and not f" {heading} "[place : place + len(INSIDE) + 2].strip():
            return heading[:place] + INSIDE + heading[place + len(INSIDE) :]
    return heading


def _write(cells: list[str], at: int, text: str) -> None:
    for place, letter in enumerate(text, start=at):
        if 0 <= place < len(cells):
            cells[place] = letter
