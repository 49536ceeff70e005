"""Where everything stands in the picture: the parts, the view, and each point's cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log10
from typing import Literal, NamedTuple

from rich.cells import cell_len

from advisor.tui.widgets.plot.canvas import Cell
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.scale import LogScale, fit_scale, ticks
from advisor.tui.widgets.safe_text import shorten

MIN_WIDTH, MIN_HEIGHT = 24, 6
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


class View(NamedTuple):
    """What part of both axes is looked at."""

    x: LogScale
    y: LogScale


class Limits(NamedTuple):
    """The two limits of the question, in view where they are close by."""

    budget_usd: float | None = None
    max_time: float | None = None


def view_of(data: PlotData, limits: Limits, *, selected: int | None, fitting: bool) -> View:
    """Around what is named and selected, or around what is ranked alone."""
    shown = [i for i in range(len(data)) if not data.has(i, PointFlag.EXCLUDED)] if fitting else []
    shown = shown or data.flagged(PointFlag.NAMED) or list(range(len(data)))
    view = _around(data, shown, limits)
    # What is in view already moves nothing: a second click must find what the first one did.
    if selected is None or (
        view.x.covers(data.x_log[selected]) and view.y.covers(data.y_log[selected])
    ):
        return view
    return _around(data, [*shown, selected], limits)


def _around(data: PlotData, shown: Sequence[int], limits: Limits) -> View:
    """These points with their intervals, and the limits where they are close by."""
    y_log = [data.y_log[i] for i in shown]
    y_log += [log10(end) for i in shown for end in data.interval(i) if end is not None]
    return View(
        fit_scale((data.x_log[i] for i in shown), limits.budget_usd),
        fit_scale(y_log, limits.max_time),
    )


def fit_legend(data: PlotData, widths: Sequence[int]) -> list[list[str]]:
    """What the signs in the picture mean, by row; the last ones give way."""
    present = set(data.flags)
    rows: list[list[str]] = [[] for _ in widths]
    row = used = 0
    for flag, text in SIGNS:
        if not any(byte & flag for byte in present):
            continue
        while row < len(widths) and used + len(text) > widths[row]:
            row, used = row + 1, 0
        if row == len(widths):
            break
        rows[row].append(text)
        used += len(text) + 2
    return [row for row in rows if row]


def fit_title(title: str, width: int) -> str:
    """The longest form of an axis title that fits: whole, without its brackets, its first part."""
    plain = title.partition(" (")[0]
    for form in (title, plain, plain.partition(",")[0]):
        if cell_len(form) <= width:
            return form
    return shorten(plain, width)


class Layout(NamedTuple):
    """The parts' places; rows and columns count from the widget's upper left."""

    width: int
    height: int
    left: int
    """Column of the vertical axis; the points' cells begin right of it."""
    top: int
    columns: int
    rows: int
    has_axis_row: bool
    has_x_title: bool
    y_title: str
    y_ticks: list[float]
    legend: list[list[str]]
    view: View
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
        """The first row that is no longer of the points' cells."""
        return self.top + self.rows

    @property
    def axis_row(self) -> int:
        """Row of the horizontal axis; without one of its own, the last row of points."""
        return self.bottom - (0 if self.has_axis_row else 1)

    def x_of(self, usd: float) -> int:
        """The column of a cost, also out of view."""
        return self.left + 1 + self.view.x.cell(usd, self.columns)

    def y_of(self, days: float) -> int:
        """The row of a time, also out of view."""
        return self.bottom - 1 - self.view.y.cell(days, self.rows)

    def point_at(self, cell: Cell) -> int | None:
        """The drawn point nearest to this cell, within reach; a point's own cell always wins."""
        near = [
            (abs(dx) + CELL_HEIGHT * abs(dy), dx > 0, self.winners[cell[0] + dx, cell[1] + dy])
            for dy in range(-REACH_ROWS, REACH_ROWS + 1)
            for dx in range(-REACH_COLUMNS, REACH_COLUMNS + 1)
            if (cell[0] + dx, cell[1] + dy) in self.winners
        ]
        return min(near)[2] if near else None

    def neighbour(self, data: PlotData, start: int, direction: Direction) -> int | None:
        """The nearest point in that direction on the screen, or None at the edge; points in the
        very same place follow one another in the order of their rows."""
        per_x = self.columns / self.view.x.span
        per_y = CELL_HEIGHT * self.rows / self.view.y.span
        horizontal, forward = direction in ("left", "right"), direction in ("right", "up")
        sign = 1.0 if forward else -1.0
        found: tuple[float, int, int] | None = None
        for index, (x_log, y_log) in enumerate(zip(data.x_log, data.y_log, strict=True)):
            dx = (x_log - data.x_log[start]) * per_x * sign
            dy = (y_log - data.y_log[start]) * per_y * sign
            ahead, aside = (dx, dy) if horizontal else (dy, dx)
            if ahead > 0:
                cost = ahead + SIDEWAYS * abs(aside)
            elif ahead == 0 == aside and index != start and (index > start) == forward:
                cost = 0.0
            else:
                continue
            candidate = (cost, abs(index - start), index)
            found = candidate if found is None else min(found, candidate)
        return None if found is None else found[2]


def lay_out(data: PlotData, view: View, size: tuple[int, int]) -> Layout:
    """Divide so many cells among legend, axes and points, and find each point's cell."""
    width, height = size
    title = fit_title(data.y_title, width // 2)
    # A picture that is high enough gives the legend a row of its own before it is cut short.
    legend = fit_legend(data, [width - cell_len(title) - 3, *([width] if height >= 16 else [])])
    top = max(1, len(legend))
    has_axis_row, has_x_title = height >= 10, height >= 14
    rows = height - top - has_axis_row - 1 - has_x_title
    y_ticks = ticks(view.y, max(2, rows // ROWS_PER_Y_TICK))
    left = max([GUTTER, *(cell_len(data.time(value)) for value in y_ticks)])
    columns = width - left - 1
    (x_low, x_high), (y_low, y_high) = view
    per_x, per_y = columns / (x_high - x_low), rows / (y_high - y_low)
    cells = [
        (
            left + 1 + min(int((x - x_low) * per_x), columns - 1),
            top + min(int((y_high - y) * per_y), rows - 1),
        )
        if x_low <= x <= x_high and y_low <= y <= y_high
        else None
        for x, y in zip(data.x_log, data.y_log, strict=True)
    ]
    return Layout(
        width=width,
        height=height,
        left=left,
        top=top,
        columns=columns,
        rows=rows,
        has_axis_row=has_axis_row,
        has_x_title=has_x_title,
        y_title=title,
        y_ticks=y_ticks,
        legend=legend,
        view=view,
        cells=cells,
        winners=_winners(data, cells),
        named=[index for index in data.named() if cells[index] is not None],
    )


def _winners(data: PlotData, cells: Sequence[Cell | None]) -> dict[Cell, int]:
    """The point to draw in each cell: named, then ranked; the first of equals."""
    found: dict[Cell, int] = {}

    def draw(indices: Iterable[int]) -> None:
        for index in indices:
            if (cell := cells[index]) is not None:
                found[cell] = index

    # A later entry replaces an earlier one, so each kind is filled in from the back.
    draw(range(len(cells) - 1, -1, -1))
    ranked = data.flags.translate(_RANKED)
    if 0 in ranked:
        draw(index for index in range(len(cells) - 1, -1, -1) if ranked[index])
    for mark in (PointFlag.NAMED, PointFlag.OWNED, PointFlag.FRONT):
        draw(reversed(data.flagged(mark)))
    return found


_RANKED = bytes(int(not byte & PointFlag.EXCLUDED) for byte in range(256))
