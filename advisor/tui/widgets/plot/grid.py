"""Which point is drawn in which cell: the only work that grows with the number of points.

Kept apart from painting so that a new budget, selection or hover does not repeat it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import NamedTuple

from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.scale import LogScale, fit_scale

OUTSIDE = -1.0
"""The key of a point that is out of view."""
_ROUND_TO_1 = 1.5 * 2.0**52
"""Adding this to a small float rounds it to a whole number: the sum has no bits for less."""


class LogPoints(NamedTuple):
    """The points' logarithms (base 10) and their bounds."""

    x_usd: Sequence[float]
    y_days: Sequence[float]
    x_log: list[float]
    y_log: list[float]
    x_bounds: tuple[float, float]
    y_bounds: tuple[float, float]

    @classmethod
    def of(cls, data: PlotData) -> LogPoints | None:
        """The logarithms, or None without points; ValueError for what has no place on the axes."""
        if not len(data):
            return None
        x_log, x_bounds = _logs("x_usd", data.x_usd)
        y_log, y_bounds = _logs("y_days", data.y_days)
        return cls(
            x_usd=data.x_usd,
            y_days=data.y_days,
            x_log=x_log,
            y_log=y_log,
            x_bounds=x_bounds,
            y_bounds=y_bounds,
        )

    def belongs_to(self, data: PlotData) -> bool:
        """Whether these are the logarithms of this data's very columns."""
        return self.x_usd is data.x_usd and self.y_days is data.y_days


def _logs(name: str, values: Sequence[float]) -> tuple[list[float], tuple[float, float]]:
    try:
        logs = list(map(math.log10, values))
        bounds = min(logs), max(logs)
        # A NaN may hide from min and max, but not from a sum.
        if math.isfinite(sum(logs)):
            return logs, bounds
    except (ValueError, TypeError):
        pass
    wrong = next(
        i for i, v in enumerate(values) if not isinstance(v, int | float) or not 0 < v < math.inf
    )
    raise ValueError(
        f"PlotData.{name}[{wrong}] is {values[wrong]!r}, which has no place on a logarithmic "
        "axis: leave out points without a finite value above zero"
    )


class PlotGrid(NamedTuple):
    """Points by cell, row 0 on top, and the scales that say which values a cell covers."""

    points: LogPoints
    columns: int
    rows: int
    asked: tuple[LogScale, LogScale]
    """The scales this was made for."""
    x: LogScale
    """The scales as they are, moved by up to half a cell."""
    y: LogScale
    keys: list[float]
    """Each point's cell as one number, ``row * stride + column + 1``."""
    stride: int

    @classmethod
    def of(cls, points: LogPoints, x: LogScale, y: LogScale, columns: int, rows: int) -> PlotGrid:
        """Every point's cell, in one pass."""
        stride = 1 << (columns + 2).bit_length()
        x_per_log = columns / x.span
        y_per_log = -rows / y.span  # row 0 is on top
        asked = x, y
        # The scales move by up to half a cell, so that both offsets below are whole numbers:
        # then rounding needs no further arithmetic per point.
        x_offset = round(-x.low_log * x_per_log - 0.5)
        y_offset = round(-y.high_log * y_per_log - 0.5)
        low = -(x_offset + 0.5) / x_per_log
        high = -(y_offset + 0.5) / y_per_log
        x = LogScale(low_log=low, high_log=low + x.span)
        y = LogScale(low_log=high - y.span, high_log=high)
        round_to_stride = _ROUND_TO_1 * stride
        # One column is kept free on either side: in few cells a point may be moved out of view.
        x_add = _ROUND_TO_1 + x_offset + 1
        y_per_log *= stride
        y_add = round_to_stride + y_offset * stride
        both = round_to_stride + _ROUND_TO_1
        keys = [
            (ly * y_per_log + y_add - both) + (lx * x_per_log + x_add)
            for lx, ly in zip(points.x_log, points.y_log, strict=True)
        ]
        if not (asked[0].covers(*points.x_bounds) and asked[1].covers(*points.y_bounds)):
            (left, right), (bottom, top) = asked
            keys = [
                key if left <= lx <= right and bottom <= ly <= top else OUTSIDE
                for key, lx, ly in zip(keys, points.x_log, points.y_log, strict=True)
            ]
        return cls(
            points=points,
            columns=columns,
            rows=rows,
            asked=asked,
            x=x,
            y=y,
            stride=stride,
            keys=keys,
        )

    def covers(self, points: LogPoints, x: LogScale, y: LogScale, columns: int, rows: int) -> bool:
        """Whether ``of`` would give this very grid again."""
        return (
            self.points is points
            and self.asked == (x, y)
            and (self.columns, self.rows) == (columns, rows)
        )

    def shows(self, index: int) -> bool:
        """Whether a point is in view."""
        return self.keys[index] != OUTSIDE

    def cell_of(self, index: int) -> tuple[int, int]:
        """Column and row of one point."""
        return self._cell(self.keys[index])

    def _cell(self, key: float) -> tuple[int, int]:
        row, column = divmod(int(key), self.stride)
        return max(0, min(column - 1, self.columns - 1)), max(0, min(row, self.rows - 1))

    def sharing(self, index: int) -> list[int]:
        """All points in this point's cell, itself among them, in order."""
        key = self.keys[index]
        return [i for i, other in enumerate(self.keys) if other == key]

    def winners(self, data: PlotData) -> dict[tuple[int, int], int]:
        """The point to draw in each cell: front, then own, then ranked; the first of equals."""
        keys = self.keys
        count = len(keys)
        # A later entry replaces an earlier one, so the dict is filled from the back.
        found = dict(zip(reversed(keys), range(count - 1, -1, -1), strict=True))
        if data.flags:
            kept = data.flags.translate(_RANKED)
            if 0 in kept:
                backwards = kept[::-1]
                found.update(
                    zip(
                        compress(reversed(keys), backwards),
                        compress(range(count - 1, -1, -1), backwards),
                        strict=True,
                    )
                )
            notable = data.flagged(PointFlag.NAMED)[::-1]
            for index in sorted(notable, key=lambda i: _NOTABLE.index(data.flags[i] & _MARKED)):
                found[keys[index]] = index
        found.pop(OUTSIDE, None)
        return {self._cell(key): index for key, index in found.items()}


_MARKED = PointFlag.FRONT | PointFlag.OWNED
_NOTABLE = (0, PointFlag.OWNED, PointFlag.FRONT, _MARKED)
_RANKED = bytes(int(not byte & PointFlag.EXCLUDED) for byte in range(256))


def fit_scales(
    points: LogPoints, x_limits: Iterable[float | None], y_limits: Iterable[float | None]
) -> tuple[LogScale, LogScale]:
    """Both axes around the points, with limits that are close by in view."""
    return fit_scale(*points.x_bounds, x_limits), fit_scale(*points.y_bounds, y_limits)
