"""Where everything stands in the picture: the parts, the view, and each point's cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log10
from typing import Literal, NamedTuple

from rich.cells import cell_len

from advisor.tui.widgets.plot.canvas import Cell
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.scale import LogScale, fit_scale, ticks
from advisor.tui.widgets.plot.style import SeriesMark
from advisor.tui.widgets.safe_text import safe_text, shorten

MIN_WIDTH, MIN_HEIGHT = 24, 6
GUTTER = 6
"""The narrowest left margin: room for a highlighted value such as ``13.5 d``."""
LEGEND_NAME_WIDTH = 24
ROWS_PER_Y_TICK = 3
CELL_HEIGHT = 2.0
"""A character cell is about twice as high as it is wide."""
SIDEWAYS = 2.0
"""How much dearer a step across the asked direction is than one along it."""
REACH_COLUMNS, REACH_ROWS = 3, 1
"""How far from a point the mouse may be, so that its label belongs to it too."""

Direction = Literal["left", "right", "up", "down"]


class View(NamedTuple):
    """What part of both axes is looked at."""

    x: LogScale
    y: LogScale

    @property
    def middle(self) -> tuple[float, float]:
        """The place in the middle, on either axis."""
        return (self.x.low_log + self.x.high_log) / 2, (self.y.low_log + self.y.high_log) / 2

    def zoomed(self, factor: float, x_log: float, y_log: float) -> View:
        """Closer or from further away, around this place."""
        return View(self.x.zoomed(factor, x_log), self.y.zoomed(factor, y_log))

    def panned(self, right: float, up: float) -> View:
        """Moved by shares of its width and height."""
        return View(self.x.panned(right), self.y.panned(up))

    def reaching(self, x_log: float, y_log: float) -> View:
        """Moved as little as it takes to show this place."""
        return View(self.x.reaching(x_log), self.y.reaching(y_log))

    def covers(self, x_log: float, y_log: float) -> bool:
        """Whether this place is in view."""
        return self.x.covers(x_log) and self.y.covers(y_log)


class Limits(NamedTuple):
    """The two limits of the question, in view where they are close by."""

    budget_usd: float | None = None
    max_time: float | None = None


def start_view(data: PlotData, limits: Limits, *, selected: int | None, every: bool) -> View:
    """Around what is named; around everything where every point has its name."""
    named = data.flagged(PointFlag.NAMED)
    if every or not named:
        return view_around(data, range(len(data)), limits, with_intervals=False)
    view = view_around(data, named, limits)
    # What is in view already moves nothing: a second click must find what the first one did.
    if selected is None or view.covers(data.x_log[selected], data.y_log[selected]):
        return view
    return view_around(data, [*named, selected], limits)


def view_around(
    data: PlotData, shown: Sequence[int], limits: Limits, *, with_intervals: bool = True
) -> View:
    """These points with their intervals, and the limits where they are close by."""
    y_log = [data.y_log[i] for i in shown]
    if with_intervals:
        y_log += [log10(end) for i in shown for end in data.interval(i) if end is not None]
    return View(
        fit_scale((data.x_log[i] for i in shown), limits.budget_usd),
        fit_scale(y_log, limits.max_time),
    )


class LegendItem(NamedTuple):
    """A glyph and what it means; ``series`` is None for the marks that are no GPU type."""

    glyph: str
    text: str
    series: int | None = None
    colour: int | None = None

    @property
    def width(self) -> int:
        return cell_len(self.glyph) + 1 + cell_len(self.text)


def legend_of(data: PlotData, marks: Sequence[SeriesMark], *, every: bool) -> list[LegendItem]:
    """What the signs mean; before them the GPU types, where every point is drawn as its type."""
    letters = bool(marks) and marks[0].hollow.isalpha()
    types = [
        LegendItem(
            marks[series].filled,
            shorten(safe_text(data.series_names[series]), LEGEND_NAME_WIDTH),
            series,
            marks[series].colour,
        )
        for series in sorted(_listed(data, every=every, letters=letters))
    ]
    signs = (
        (PointFlag.FRONT, "─┐", "Pareto front"),
        # A letter alone would read as the article.
        (
            PointFlag.PREDICTED,
            "a-z" if letters else "○◇□",
            "estimate" if letters else "hollow: estimate",
        ),
        (PointFlag.DOUBTFUL, "?", "doubtful"),
        (PointFlag.EXCLUDED, "( )", "left out"),
        (PointFlag.UNSOLD, "†", "no seller known"),
    )
    present = set(data.flags)
    return types + [
        LegendItem(glyph, text) for flag, glyph, text in signs if any(b & flag for b in present)
    ]


def _listed(data: PlotData, *, every: bool, letters: bool) -> set[int]:
    """The GPU types that the legend lists: all that are drawn, or those behind letters."""
    if every:
        return set(data.series)
    return {data.series[index] for index in data.named()} if letters else set()


def fit_legend(
    items: Sequence[LegendItem], widths: Sequence[int], first: int | None = None
) -> list[list[LegendItem]]:
    """The items by row; what does not fit is counted in a last item, the type ``first`` is always
    shown."""
    order = sorted(range(len(items)), key=lambda i: first is not None and items[i].series != first)
    for shown in range(len(items), 0, -1):
        # Kept in the usual order, so that a selection does not shuffle the legend.
        chosen = [items[i] for i in sorted(order[:shown])]
        if shown < len(items):
            chosen.append(LegendItem("", f"+{len(items) - shown} more"))
        rows: list[list[LegendItem]] = [[] for _ in widths]
        row = used = 0
        for item in chosen:
            while row < len(widths) and used + item.width > widths[row]:
                row, used = row + 1, 0
            if row == len(widths):
                break
            rows[row].append(item)
            used += item.width + 2
        else:
            return rows
    # No room to count what is left out: what was asked for alone, or nothing.
    alone = bool(items) and first is not None and items[order[0]].width <= widths[0]
    return [[items[order[0]]]] if alone else []


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
    legend: list[LegendItem]
    view: View
    cells: list[Cell | None]
    """Each point's; None out of view."""
    winners: Mapping[Cell, int]
    """The point to draw in each cell."""
    named: list[int]
    """The points with a name and in view, the most important first."""
    every: bool
    """Whether the others have one too, and not only a dot."""

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

    def logs_at(self, cell: Cell) -> tuple[float, float]:
        """Logarithms of the cost and the time in the middle of a cell."""
        x, y = self.view
        right = (cell[0] - self.left - 0.5) / self.columns
        up = 1 - (cell[1] - self.top + 0.5) / self.rows
        return x.low_log + right * x.span, y.low_log + up * y.span

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


def lay_out(
    data: PlotData,
    marks: Sequence[SeriesMark],
    view: View,
    size: tuple[int, int],
    *,
    every: bool,
) -> Layout:
    """Divide so many cells among legend, axes and points, and find each point's cell."""
    width, height = size
    named = data.named()
    every = every or not named
    legend = legend_of(data, marks, every=every)
    legend_width = sum(item.width + 2 for item in legend)
    title = fit_title(data.y_title, width // 2 if legend else width)
    spare = width - cell_len(title) - 3
    top = 1
    # A picture that is high enough gives the legend rows of its own before it is cut short.
    if legend_width > spare and height >= 16:
        top += min(-(-(legend_width - spare) // (width - 2)), height // 10)
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
        named=[index for index in named if cells[index] is not None],
        every=every,
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
