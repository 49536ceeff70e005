"""What the picture of cost against training time shows: columns of numbers, no objects a point."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Final

from advisor.tui.widgets.plot.scale import compact, drawable, format_usd


class PointFlag:
    """What else is known of a point; one byte of ``PlotData.flags`` holds any of these, or-ed.

    Plain integers: an ``enum.IntFlag`` makes each ``&`` some twenty times slower.
    """

    FRONT: Final[int] = 1
    """Nothing else is both cheaper and faster."""
    PREDICTED: Final[int] = 2
    """An estimate, not measured: drawn hollow."""
    DOUBTFUL: Final[int] = 4
    """The evidence is hard to believe: marked with a question mark."""
    EXCLUDED: Final[int] = 8
    """Left out of the ranking: drawn dim, and in brackets unless a limit's line says why."""
    OWNED: Final[int] = 16
    """The user's own machine, or an upgrade of it."""
    TIED: Final[int] = 32
    """Too close to first place to call."""
    UNSOLD: Final[int] = 64
    """Cheaper or faster than the front, but without a known seller: marked with a dagger."""
    FIRST: Final[int] = 128
    """What the answer says to buy: always named."""
    NAMED: Final[int] = FRONT | OWNED | TIED | UNSOLD | FIRST
    """What has a name; the rest are dots."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlotData:
    """Parallel columns, one entry a build; the first rows win where many share one cell."""

    x_usd: Sequence[float] = ()
    """Cost in USD, above zero: overall, or of one experiment."""
    y_times: Sequence[float] = ()
    """Training time, above zero."""
    series: Sequence[int] = ()
    """Which GPU type: an index into ``series_names``."""
    gpu_count: Sequence[int] = ()
    flags: bytes = b""
    """A ``PointFlag`` combination a point."""
    series_names: Sequence[str] = ()
    series_slots: Sequence[int] = ()
    """Which glyph and colour each type has: its place in the catalogue."""
    on_axis: Sequence[tuple[str, float]] = ()
    """Names and training times of what costs nothing, and so has no place on a logarithmic axis:
    written beside the vertical one."""
    y_low: Sequence[float | None] = ()
    y_high: Sequence[float | None] = ()
    budget_usd: float | None = None
    """Where to draw the budget; None draws none."""
    max_time: float | None = None
    x_title: str = "overall cost, USD (log)"
    y_unit: str = "d"
    """What stands after a time."""
    y_title: str = "training time, days (log)"

    def __len__(self) -> int:
        return len(self.x_usd)

    @cached_property
    def x_log(self) -> list[float]:
        """Logarithms (base 10) of the costs."""
        return list(map(math.log10, self.x_usd))

    @cached_property
    def y_log(self) -> list[float]:
        """Logarithms (base 10) of the times."""
        return list(map(math.log10, self.y_times))

    def time(self, value: float, digits: int = 3) -> str:
        """A training time for an axis, e.g. ``41 d``."""
        return f"{compact(value, digits)} {self.y_unit}"

    def has(self, index: int, flags: int) -> bool:
        """Whether this point carries any of these flags."""
        return bool(self.flags[index] & flags)

    def flagged(self, flags: int) -> list[int]:
        """The points that carry any of these flags, in order, found without a loop in Python."""
        marks = self.flags.translate(bytes(int(bool(byte & flags)) for byte in range(256)))
        return list(compress(range(len(marks)), marks))

    def label(self, index: int) -> str:
        """The name, with what a reader without colours must know: ``8 × A40``, ``(8 × A40?)``."""
        text = f"{self.gpu_count[index]} × {self.series_names[self.series[index]]}"
        for flag, mark in (
            (PointFlag.DOUBTFUL, "?"),
            (PointFlag.UNSOLD, " †"),
            (PointFlag.OWNED, " own"),
        ):
            text += mark if self.has(index, flag) else ""
        excluded = self.has(index, PointFlag.EXCLUDED) and not self._is_beyond(index)
        return f"({text})" if excluded else text

    def labels(self, indices: Iterable[int]) -> dict[int, str]:
        """The labels of these points; those that would read alike say their cost too."""
        plain = {index: self.label(index) for index in indices}
        often = Counter(plain.values())
        return {
            index: text if often[text] == 1 else f"{text}, {format_usd(self.x_usd[index])}"
            for index, text in plain.items()
        }

    def slot(self, index: int) -> int:
        """Which glyph and colour a point has."""
        return self.series_slots[self.series[index]]

    def named(self) -> list[int]:
        """The points to be labelled: of several machines with the same GPUs the first of each
        kind of mark, as one name says enough."""
        seen: set[tuple[int, int]] = set()
        found = dict.fromkeys(self.flagged(PointFlag.FIRST))
        for mark in (PointFlag.FRONT, PointFlag.OWNED, PointFlag.TIED, PointFlag.UNSOLD):
            for index in self.flagged(mark):
                name = (self.series[index], self.gpu_count[index])
                if name not in seen:
                    seen.add(name)
                    found[index] = None
        return list(found)

    def is_out(self, index: int) -> bool:
        """Whether the point is left out of the ranking or lies beyond a limit: drawn dim."""
        return self.has(index, PointFlag.EXCLUDED) or self._is_beyond(index)

    def _is_beyond(self, index: int) -> bool:
        return (self.budget_usd is not None and self.x_usd[index] > self.budget_usd) or (
            self.max_time is not None and self.y_times[index] > self.max_time
        )

    def interval(self, index: int) -> tuple[float | None, float | None]:
        """Between which times the true one lies, as far as that is known and can be drawn."""
        if not self.y_low or not self.y_high:
            return None, None
        return drawable(self.y_low[index]), drawable(self.y_high[index])
