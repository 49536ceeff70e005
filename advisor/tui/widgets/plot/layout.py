"""Where everything stands in the picture: the parts, the view, and each point's cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import Literal, NamedTuple

from rich.cells import cell_len

from advisor.tui.widgets.plot.canvas import Cell
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.scale import LogScale, fit_scale, ticks

MIN_WIDTH, MIN_HEIGHT = 24, 6
TALL = 14
"""From this height on the legend has a row of its own, and the horizontal axis a title."""
GUTTER = 6
"""The narrowest left margin: room for a highlighted value such as ``13.5 d``."""
ROWS_PER_Y_TICK = 3
CELL_HEIGHT = 2.0
"""A character cell is about twice as high as it is wide."""
SIDEWAYS = 2.0
"""How much dearer a step across the asked direction is than one along it."""
REACH_COLUMNS, REACH_ROWS = 3, 1
"""How far from a point the mouse may be, so that its label belongs to it too."""
SIGNS = (
    (PointFlag.FRONT, "─┐ front"),
    (PointFlag.PREDICTED, "○ estimate"),
    (PointFlag.UNSOLD, "† no seller"),
    (PointFlag.DOUBTFUL, "? doubtful"),
    (PointFlag.EXCLUDED, "( ) left out"),
)
"""What the legend explains, of what is in the picture."""

Direction = Literal["left", "right", "up", "down"]


def scales(data: PlotData, selected: int | None) -> tuple[LogScale, LogScale]:
    """Both axes around what is named, with its intervals and the limits that are close by, and
    around the selected point."""
    shown = data.flagged(PointFlag.NAMED) or list(range(len(data)))
    x, y = _around(data, shown)
    # What is in view already moves nothing: a second click must find what the first one did.
    if selected is None or (x.covers(data.x_log[selected]) and y.covers(data.y_log[selected])):
        return x, y
    return _around(data, [*shown, selected])


def _around(data: PlotData, shown: Sequence[int]) -> tuple[LogScale, LogScale]:
    y_log = [data.y_log[i] for i in shown]
    y_log += [log10(end) for i in shown for end in data.interval(i) if end is not None]
    return (
        fit_scale((data.x_log[i] for i in shown), data.budget_usd),
        fit_scale(y_log, data.max_time),
    )


class Layout(NamedTuple):
    """The parts' places; rows and columns count from the widget's upper left."""

    width: int
    height: int
    left: int
    """Column of the vertical axis; the points' cells begin right of it."""
    top: int
    columns: int
    rows: int
    y_ticks: list[float]
    x: LogScale
    y: LogScale
    cells: list[Cell | None]
    """Each point's; None out of view."""
    winners: Mapping[Cell, int]
    """The point to draw in each cell."""
    named: list[int]
    """The points with a name and in view, the most important first."""

    @property
    def right(self) -> int:
        """The first column that is no longer of the points' cells."""
        return self.left + 1 + self.columns

    @property
    def bottom(self) -> int:
        """The first row that is no longer of the points' cells: that of the horizontal axis."""
        return self.top + self.rows

    def x_of(self, usd: float) -> int:
        """The column of a cost, also out of view."""
        return self.left + 1 + self.x.cell(usd, self.columns)

    def y_of(self, days: float) -> int:
        """The row of a time, also out of view."""
        return self.bottom - 1 - self.y.cell(days, self.rows)

    def point_at(self, at: Cell) -> int | None:
        """The drawn point nearest to this cell, within reach; a point's own cell always wins."""
        near = [
            (abs(x - at[0]) + CELL_HEIGHT * abs(y - at[1]), x > at[0], index)
            for (x, y), index in self.winners.items()
            if abs(x - at[0]) <= REACH_COLUMNS and abs(y - at[1]) <= REACH_ROWS
        ]
        return min(near)[2] if near else None

    def neighbour(self, data: PlotData, start: int, direction: Direction) -> int | None:
        """The nearest point in that direction on the screen, or None at the edge; points in the
        very same place follow one another in the order of their rows."""
        horizontal, forward = direction in ("left", "right"), direction in ("right", "up")
        per_x, per_y = self.columns / self.x.span, CELL_HEIGHT * self.rows / self.y.span
        sign = 1.0 if forward else -1.0
        found: list[tuple[float, int, int]] = []
        for index, (x_log, y_log) in enumerate(zip(data.x_log, data.y_log, strict=True)):
            dx = (x_log - data.x_log[start]) * per_x * sign
            dy = (y_log - data.y_log[start]) * per_y * sign
            ahead, aside = (dx, dy) if horizontal else (dy, dx)
            same = ahead == 0 == aside and index != start and (index > start) == forward
            if ahead > 0 or same:
                found.append((ahead + SIDEWAYS * abs(aside), abs(index - start), index))
        return min(found)[2] if found else None


def lay_out(data: PlotData, size: tuple[int, int], selected: int | None = None) -> Layout:
    """Divide so many cells among legend, axes and points, and find each point's cell."""
    width, height = size
    x, y = scales(data, selected)
    # Above the points title and legend, below them the axis, its values and its title.
    top, rows = (2, height - 5) if height >= TALL else (1, height - 3)
    y_ticks = ticks(y, max(2, rows // ROWS_PER_Y_TICK))
    left = max([GUTTER, *(cell_len(data.time(value)) for value in y_ticks)])
    columns = width - left - 1
    per_x, per_y = columns / x.span, rows / y.span
    cells = [
        (
            left + 1 + min(int((x_log - x.low_log) * per_x), columns - 1),
            top + min(int((y.high_log - y_log) * per_y), rows - 1),
        )
        if x.covers(x_log) and y.covers(y_log)
        else None
        for x_log, y_log in zip(data.x_log, data.y_log, strict=True)
    ]
    return Layout(
        width=width,
        height=height,
        left=left,
        top=top,
        columns=columns,
        rows=rows,
        y_ticks=y_ticks,
        x=x,
        y=y,
        cells=cells,
        winners=_winners(data, cells),
        named=[index for index in data.named() if cells[index] is not None],
    )


def _winners(data: PlotData, cells: Sequence[Cell | None]) -> dict[Cell, int]:
    """The point to draw in each cell: named, then ranked; the first of equals."""
    found: dict[Cell, int] = {}
    every = range(len(cells))
    ranked = [index for index in every if not data.has(index, PointFlag.EXCLUDED)]
    marked = map(data.flagged, (PointFlag.NAMED, PointFlag.OWNED, PointFlag.FRONT))
    # A later entry replaces an earlier one, so each kind is filled in from the back.
    for indices in (every, ranked, *marked):
        for index in reversed(indices):
            if (cell := cells[index]) is not None:
                found[cell] = index
    return found
