"""Draws the picture of cost against training time into character cells; knows no theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from advisor.tui.widgets.plot.canvas import Canvas, Ink
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.frame import (
    COLUMNS_PER_X_TICK,
    Frame,
    LegendItem,
    fit_legend,
    fit_title,
)
from advisor.tui.widgets.plot.grid import PlotGrid
from advisor.tui.widgets.plot.line_characters import ASCII, UNICODE
from advisor.tui.widgets.plot.name_places import NAME_WIDTH, NamePlaces
from advisor.tui.widgets.plot.scale import format_days, format_usd, ticks
from advisor.tui.widgets.plot.style import SeriesMark
from advisor.tui.widgets.safe_text import shorten, shorten_apart

CROWDED_CELLS = 400
"""With more occupied cells than this, labels of ordinary points would only be noise."""


class Scene(NamedTuple):
    """Everything that one picture shows."""

    data: PlotData
    frame: Frame
    grid: PlotGrid
    winners: Mapping[tuple[int, int], int]
    front: Sequence[int]
    """The points on the Pareto front, by ascending cost."""
    marks: Sequence[SeriesMark]
    legend: Sequence[LegendItem]
    budget_usd: float | None = None
    max_days: float | None = None
    selected: int | None = None
    hovered: int | None = None
    ascii_only: bool = False
    named: Sequence[int] = ()
    """The points with a glyph and a name, the most important first."""
    every: bool = False
    """Whether the others have one too, and not only a dot."""


def paint(scene: Scene) -> Canvas:
    """Draw it all, from the back to the front."""
    frame = scene.frame
    canvas = Canvas(frame.width, frame.height, ascii_only=scene.ascii_only)
    Painter(scene, canvas).paint()
    return canvas


class Painter:
    """The order matters: what comes later covers what came before."""

    def __init__(self, scene: Scene, canvas: Canvas) -> None:
        self.scene = scene
        self.canvas = canvas
        self.lines = ASCII if scene.ascii_only else UNICODE
        self.frame = scene.frame
        self.right = scene.frame.right
        self.bottom = scene.frame.bottom
        self.places = NamePlaces(canvas, scene.frame)

    def paint(self) -> None:
        self.axes()
        self.intervals()
        self.front()
        self.limits()
        selected = self.scene.selected
        if selected is not None and not self.scene.grid.shows(selected):
            selected = None
        if selected is not None:
            self.crosshair(selected)
            self.interval(selected, Ink("crosshair"))
        self.points()
        self.limit_names()
        if selected is not None:
            self.selection(selected)
        self.on_axis()
        self.labels()
        self.legend()
        if self.scene.hovered is not None and self.scene.hovered != self.scene.selected:
            self.hover(self.scene.hovered)

    # Places

    def at(self, index: int) -> tuple[int, int]:
        column, row = self.scene.grid.cell_of(index)
        return self.frame.left + 1 + column, self.frame.top + row

    def x_of(self, value: float) -> int:
        return self.frame.left + 1 + self.scene.grid.x.cell(value, self.frame.columns)

    def y_of(self, value: float) -> int:
        rows = self.frame.rows
        return self.frame.top + rows - 1 - self.scene.grid.y.cell(value, rows)

    # Axes and lines

    def axes(self) -> None:
        frame, canvas, lines = self.frame, self.canvas, self.lines
        axis, grid, value = Ink("axis"), Ink("grid"), Ink("value")
        x_ticks = ticks(self.scene.grid.x, max(2, frame.columns // COLUMNS_PER_X_TICK))
        y_ticks = [(self.y_of(v), format_days(v)) for v in frame.y_ticks]
        for y, _ in y_ticks:
            canvas.horizontal(frame.left + 1, self.right, y, lines.grid_x, grid)
        for v in x_ticks:
            canvas.vertical(self.x_of(v), frame.top, self.bottom, lines.grid_y, grid)
        canvas.vertical(frame.left, frame.top, self.bottom, lines.axis_y, axis)
        if frame.has_axis_row:
            canvas.put(frame.left, frame.axis_row, lines.corner, axis)
            canvas.horizontal(frame.left + 1, self.right, frame.axis_row, lines.axis_x, axis)
        for y, text in y_ticks:
            canvas.put(frame.left, y, lines.tick_y, axis)
            canvas.write(frame.left - cell_len(text), y, text, value)
        free_from = 0
        for v in x_ticks:
            x, text = self.x_of(v), format_usd(v)
            if frame.has_axis_row:
                canvas.put(x, frame.axis_row, lines.tick_x, axis)
            start = min(x - len(text) // 2, frame.width - len(text))
            if start >= free_from:
                canvas.write(start, frame.value_row, text, value)
                free_from = start + len(text) + 1
        if frame.has_x_title:
            title = fit_title(self.scene.data.x_title, frame.columns)
            middle = frame.left + 1 + (frame.columns - cell_len(title)) // 2
            canvas.write(middle, frame.value_row + 1, title, Ink("title"))

    def front(self) -> None:
        """The best time for every cost: steps from one point of the front to the next."""
        if not self.scene.front:
            return
        canvas, lines, ink = self.canvas, self.lines, Ink("front")
        steps = [self.at(i) for i in self.scene.front]
        for (x, y), (next_x, next_y) in zip(steps, [*steps[1:], (self.right, None)], strict=True):
            canvas.horizontal(x, min(next_x, self.right), y, lines.front_x, ink)
            if next_y is not None and next_y > y:
                canvas.put(next_x, y, lines.front_corner, ink)
                canvas.vertical(next_x, y + 1, next_y, lines.front_y, ink)

    def limits(self) -> None:
        """The budget as a vertical line, the time limit as a horizontal one."""
        canvas, lines, frame, ink = self.canvas, self.lines, self.frame, Ink("budget")
        if self.scene.max_days is not None:
            y = self.y_of(self.scene.max_days)
            if frame.top <= y < self.bottom:
                canvas.horizontal(frame.left + 1, self.right, y, lines.max_days, ink)
        if self.scene.budget_usd is not None:
            x = self.x_of(self.scene.budget_usd)
            if frame.left < x < self.right:
                canvas.vertical(x, frame.top, self.bottom, lines.budget, ink)

    def limit_names(self) -> None:
        """What the two lines are, beside them and where no point is; an arrow if out of view."""
        lines, frame, budget = self.lines, self.frame, self.scene.budget_usd
        if self.scene.max_days is not None:
            y = self.y_of(self.scene.max_days)
            name = f" limit {format_days(self.scene.max_days)} "
            arrow = lines.above if y < frame.top else lines.below if y >= self.bottom else ""
            y = max(frame.top, min(y, self.bottom - 1))
            end = self.right - 1 - cell_len(arrow + name)
            self.write_free([(x, y) for x in range(end, frame.left, -4)], f"{arrow}{name}")
        if budget is not None:
            x, name = self.x_of(budget), f"budget {format_usd(budget)}"
            rows = range(frame.top, self.bottom)
            if x <= frame.left:
                places, name = [(frame.left + 1, y) for y in rows], f"{lines.before}{name} "
            elif x >= self.right:
                name = f" {name}{lines.beyond}"
                places = [(self.right - cell_len(name), y) for y in rows]
            else:
                name = f" {name} "
                places = [(at, y) for y in rows for at in (x - cell_len(name), x + 1)]
            self.write_free(places, name)

    def write_free(self, places: Sequence[tuple[int, int]], text: str) -> None:
        """Write a limit's name at the first of these places that covers no point."""
        for x, y in places:
            if self.places.covers_no_mark(x, y, cell_len(text)):
                self.canvas.write(x, y, text, Ink("limit-name"))
                return

    def crosshair(self, index: int) -> None:
        """Lines to both axes."""
        canvas, lines = self.canvas, self.lines
        x, y = self.at(index)
        ink = Ink("crosshair")
        canvas.horizontal(self.frame.left + 1, x, y, lines.crosshair_x, ink)
        canvas.vertical(x, y + 1, self.bottom, lines.crosshair_y, ink)

    def intervals(self) -> None:
        """How far the times may be off, for what has a name."""
        shown = [i for i in self.drawn_with_name() if i != self.scene.selected]
        for index in reversed(shown):
            self.interval(index, self.ink("interval", index)._replace(bold=False))

    def drawn_with_name(self) -> list[int]:
        """What is labelled and in view, the most important first."""
        return [i for i in self.scene.named if self.scene.grid.shows(i)]

    def interval(self, index: int, ink: Ink) -> None:
        canvas, lines = self.canvas, self.lines
        x, y = self.at(index)
        low, high = self.scene.data.interval(index)
        for limit, step, cap in ((high, -1, lines.interval_top), (low, 1, lines.interval_bottom)):
            if limit is None:
                continue
            at = self.y_of(limit)
            end = max(self.frame.top, min(at, self.bottom - 1))
            for row in range(y + step, end + step, step):
                canvas.put(x, row, cap if row == at else lines.interval, ink)

    def on_axis(self) -> None:
        """What costs nothing stands at the vertical axis, by name."""
        frame, canvas = self.frame, self.canvas
        for name, days in self.scene.data.on_axis:
            y = self.y_of(days)
            text = f"{self.lines.on_axis}{shorten(name, self.places.name_width)}"
            in_view = frame.top <= y < self.bottom
            if in_view and self.places.covers_no_mark(frame.left + 1, y, cell_len(text)):
                canvas.write(frame.left + 1, y, text, Ink("label", bold=True))

    # Points

    def is_dim(self, index: int) -> bool:
        return self.scene.data.is_out(index, self.scene.budget_usd, self.scene.max_days)

    def glyph(self, index: int) -> str:
        mark = self.scene.marks[self.scene.data.series[index]]
        return mark.hollow if self.scene.data.has(index, PointFlag.PREDICTED) else mark.filled

    def ink(self, role: str, index: int) -> Ink:
        data = self.scene.data
        return Ink(
            role,
            colour=self.scene.marks[data.series[index]].colour,
            bold=data.has(index, PointFlag.FRONT),
            dim=self.is_dim(index),
        )

    def label(self, index: int) -> str:
        return self.scene.data.label(index, self.scene.budget_usd, self.scene.max_days)

    def names(self, indices: Sequence[int]) -> dict[int, str]:
        """What is written at each of these and at the selected point: no two look the same."""
        scene, chosen = self.scene, self.scene.selected
        if chosen is not None and scene.grid.shows(chosen) and chosen not in indices:
            indices = [*indices, chosen]
        labels = scene.data.labels(indices, scene.budget_usd, scene.max_days)
        short = shorten_apart(labels.values(), self.places.name_width)
        return {index: short[label] for index, label in labels.items()}

    def points(self) -> None:
        left, top = self.frame.left + 1, self.frame.top
        glyphs = {*self.scene.named, self.scene.selected, self.scene.hovered}
        every, dot = self.scene.every, Ink("dot")
        for (column, row), index in self.scene.winners.items():
            if every or index in glyphs:
                ink = self.ink("point", index)
                self.canvas.put(left + column, top + row, self.glyph(index), ink)
            else:
                self.canvas.put(left + column, top + row, self.lines.dot, dot)
        for index in self.drawn_with_name():  # over whatever shares its place
            self.canvas.put(*self.at(index), self.glyph(index), self.ink("point", index))

    def labels(self) -> None:
        """Names beside the points, where they cover nothing; the most important come first."""
        order = self.drawn_with_name()
        if self.scene.every and len(self.scene.winners) <= CROWDED_CELLS:
            known = set(order)
            others = (i for i in self.scene.winners.values() if i not in known)
            order += sorted(others, key=lambda i: (self.is_dim(i), i))
        names, selected = self.names(order), self.scene.selected
        for index in order:
            if index != selected:
                text = names[index]
                place = self.places.beside(self.at(index), cell_len(text))
                if place is None and self.scene.data.has(index, PointFlag.FIRST):
                    place = self.places.sure(self.at(index), cell_len(text))
                if place is not None:
                    self.canvas.write(*place, text, self.ink("label", index))
                    self.part(index, *place, cell_len(text))

    def part(self, index: int, start: int, row: int, width: int) -> None:
        """A letter in a point's place would be read with its name: no line joins the two."""
        x, y = self.at(index)
        if row == y and self.glyph(index).isalpha():
            self.canvas.put(start - 1 if start > x else start + width, y, " ", Ink("blank"))

    def selection(self, index: int) -> None:
        """The selected point in reverse, with its values on both axes; other labels give way."""
        canvas, frame, data = self.canvas, self.frame, self.scene.data
        x, y = self.at(index)
        ink = self.ink("label", index)._replace(reverse=True, bold=True, dim=False)
        value = Ink("value", reverse=True)
        days = next(
            (t for d in (3, 2, 1) if len(t := format_days(data.y_days[index], d)) <= frame.left),
            format_days(data.y_days[index], 1),
        )
        canvas.write(0, y, days.rjust(frame.left), value)
        usd = format_usd(data.x_usd[index])
        start = max(frame.left, min(x - len(usd) // 2, frame.width - len(usd)))
        self.clear_values(start - 1, start + len(usd) + 1)
        canvas.write(start, frame.value_row, usd, value)
        name = self.names(self.drawn_with_name())[index]
        names = (f" {name} ", name, shorten(name, NAME_WIDTH // 2))
        for text in names:
            place = self.places.beside(self.at(index), cell_len(text))
            if place is not None:
                break
        else:
            text = names[-1]
            place = self.places.sure(self.at(index), cell_len(text))
        if place is not None:  # else the line below the picture has the name
            canvas.write(*place, text, ink)
        canvas.put(x, y, self.glyph(index), ink)

    def clear_values(self, start: int, stop: int) -> None:
        """Remove the values of the horizontal axis that reach into these cells, whole."""
        row, canvas = self.frame.value_row, self.canvas
        while canvas.role(start, row) == canvas.role(start - 1, row) == "value":
            start -= 1
        while canvas.role(stop - 1, row) == canvas.role(stop, row) == "value":
            stop += 1
        canvas.horizontal(start, stop, row, " ", Ink("blank"))

    def hover(self, index: int) -> None:
        """Name and values of the point under the mouse, beside it and over everything."""
        data, frame = self.scene.data, self.frame
        x, y = self.at(index)
        usd, days = format_usd(data.x_usd[index]), format_days(data.y_days[index])
        text = shorten(f" {self.label(index)} · {usd} · {days} ", frame.columns)
        start = x + 1 if x + 1 + cell_len(text) <= self.right else x - cell_len(text)
        if start <= frame.left:  # too wide for either side
            start = max(frame.left + 1, min(x, self.right - cell_len(text)))
            y += 1 if y + 1 < self.bottom else -1
        self.canvas.write(start, y, text, Ink("hover"))
        x, y = self.at(index)
        self.canvas.put(x, y, self.glyph(index), self.ink("point", index)._replace(reverse=True))

    def legend(self) -> None:
        """Right-aligned above the points, beside the vertical axis's title."""
        frame, canvas, data = self.frame, self.canvas, self.scene.data
        canvas.write(0, 0, frame.y_title, Ink("title"))
        picked = self.scene.hovered if self.scene.hovered is not None else self.scene.selected
        series = data.series[picked] if picked is not None and self.scene.every else None
        widths = [frame.width - cell_len(frame.y_title) - 3, *[frame.width] * (frame.top - 1)]
        for row, items in enumerate(fit_legend(self.scene.legend, widths, series)):
            x = frame.width - sum(item.width + 2 for item in items) + 2
            for item in items:
                chosen = item.series is not None and item.series == series
                ink = Ink("legend", colour=item.colour, reverse=chosen)
                x += canvas.write(x, row, f"{item.glyph} {item.text}".strip(), ink) + 2
