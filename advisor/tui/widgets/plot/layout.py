"""Where everything stands in the picture, kept while budget, selection and hover change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from textual.geometry import Offset

from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.frame import Frame
from advisor.tui.widgets.plot.grid import LogPoints, PlotGrid
from advisor.tui.widgets.plot.view import View


class Layout(NamedTuple):
    """What depends on the points and the size alone."""

    frame: Frame
    grid: PlotGrid
    flags: bytes
    winners: Mapping[tuple[int, int], int]
    front: list[int]
    named: list[int]

    def cell_under(self, offset: Offset) -> tuple[int, int]:
        """Column and row of the points' cells, from where the mouse is on the widget."""
        return offset.x - self.frame.left - 1, offset.y - self.frame.top

    def logs_under(self, offset: Offset) -> tuple[float, float]:
        """Logarithms of the cost and the time in the middle of that cell."""
        (column, row), frame, grid = self.cell_under(offset), self.frame, self.grid
        right = (column + 0.5) / frame.columns
        up = 1 - (row + 0.5) / frame.rows
        return grid.x.low_log + right * grid.x.span, grid.y.low_log + up * grid.y.span


class KeptLayout:
    """The present points and their layout, computed anew only for others of either."""

    def __init__(self) -> None:
        self.points: LogPoints | None = None
        """The logarithms of the present data; None without points."""
        self._layout: Layout | None = None
        self._before: tuple[LogPoints | None, Layout | None] = (None, None)
        """The same for the data before this: one key goes between two kinds of cost."""

    def take(self, data: PlotData) -> None:
        """Take the logarithms, or raise a ValueError while the old points still stand."""
        if self.points is None or not self.points.belongs_to(data):
            points, layout = self._before
            if points is None or not points.belongs_to(data):
                points, layout = LogPoints.of(data), None
            self._before = (self.points, self._layout)
            self.points, self._layout = points, layout

    def arrange(self, data: PlotData, points: LogPoints, view: View, frame: Frame) -> Layout:
        """The points by cell, computed anew only for other points, flags, sizes or scales."""
        old, (x, y) = self._layout, view
        if old is not None and old.grid.covers(points, x, y, frame.columns, frame.rows):
            if old.flags is data.flags and old.frame == frame:
                return old
            grid = old.grid
        else:
            grid = PlotGrid.of(points, x, y, frame.columns, frame.rows)
        self._layout = Layout(
            frame=frame,
            grid=grid,
            flags=data.flags,
            winners=grid.winners(data),
            front=sorted(data.flagged(PointFlag.FRONT), key=points.x_log.__getitem__),
            named=data.named(),
        )
        return self._layout
