"""Draws the picture of cost against training time into character cells; knows no theme."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from rich.cells import cell_len

from advisor.tables.plain_values import cut_words
from advisor.tui.widgets.plot.canvas import BLANK, Canvas, Cell, Ink
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.layout import Layout, Limits, fit_title
from advisor.tui.widgets.plot.scale import format_usd, ticks
from advisor.tui.widgets.plot.style import SeriesMark
from advisor.tui.widgets.safe_text import shorten

COLUMNS_PER_X_TICK = 8
ROW_APART = 5
"""Cells between a name above or below its point and another point in the name's own row."""
NAME_WIDTH, LEAST_NAME_WIDTH = 34, 23
"""A name is at most this long, and at most two fifths of the picture; but as long as
"1 × RTX PRO 6000, $29k" where that is half of it."""
_MARKS = frozenset({"point", "label", "limit-name"})
"""What no name covers."""
_NAMES = frozenset({"point", "label"})
_BARRED = frozenset({*_MARKS, "budget"})
"""Nor the line of the budget, but for a name that must be there."""
_BUSY = frozenset({*_BARRED, "dot", "interval", "front", "crosshair"})
"""What it keeps clear of while there is another place beside its point."""


class Scene(NamedTuple):
    """Everything that one picture shows."""

    data: PlotData
    layout: Layout
    marks: Sequence[SeriesMark]
    limits: Limits
    selected: int | None = None


def paint(scene: Scene) -> Canvas:
    """Draw it all, from the back to the front."""
    canvas = Canvas(scene.layout.width, scene.layout.height)
    _Painter(scene, canvas).paint()
    return canvas


class _Painter:
    """The order matters: what comes later covers what came before."""

    def __init__(self, scene: Scene, canvas: Canvas) -> None:
        self.data, self.layout, self.marks, self.limits, selected = scene
        self.canvas = canvas
        in_view = selected is not None and self.layout.cells[selected] is not None
        self.selected = selected if in_view else None
        columns = self.layout.columns
        least = LEAST_NAME_WIDTH if columns >= 2 * LEAST_NAME_WIDTH else 12
        self.name_width = min(NAME_WIDTH, max(least, columns * 2 // 5))

    def paint(self) -> None:
        self.axes()
        for index in reversed(self.layout.named):
            if index != self.selected:
                self.interval(index, self.ink("interval", index)._replace(bold=False))
        self.front()
        self.limit_lines()
        if self.selected is not None:
            self.crosshair(self.selected)
        self.points()
        self.limit_names()
        names = self.names()
        if self.selected is not None:
            self.selection(self.selected, names.pop(self.selected))
        self.on_axis()
        self.labels(names)
        self.legend()

    def at(self, index: int) -> Cell:
        cell = self.layout.cells[index]
        assert cell is not None  # only what is in view is drawn
        return cell

    # Axes and lines

    def axes(self) -> None:
        layout, canvas = self.layout, self.canvas
        axis, grid, value = Ink("axis"), Ink("grid"), Ink("value")
        x_ticks = ticks(layout.view.x, max(2, layout.columns // COLUMNS_PER_X_TICK))
        for days in layout.y_ticks:
            canvas.horizontal(layout.left + 1, layout.right, layout.y_of(days), "┈", grid)
        for usd in x_ticks:
            canvas.vertical(layout.x_of(usd), layout.top, layout.bottom, "┊", grid)
        canvas.vertical(layout.left, layout.top, layout.bottom, "│", axis)
        if layout.has_axis_row:
            canvas.put(layout.left, layout.axis_row, "└", axis)
            canvas.horizontal(layout.left + 1, layout.right, layout.axis_row, "─", axis)
        for days in layout.y_ticks:
            y, text = layout.y_of(days), self.data.time(days)
            canvas.put(layout.left, y, "┤", axis)
            canvas.write(layout.left - cell_len(text), y, text, value)
        free_from = 0
        for usd in x_ticks:
            x, text = layout.x_of(usd), format_usd(usd)
            if layout.has_axis_row:
                canvas.put(x, layout.axis_row, "┴", axis)
            start = min(x - len(text) // 2, layout.width - len(text))
            if start >= free_from:
                canvas.write(start, layout.axis_row + 1, text, value)
                free_from = start + len(text) + 1
        if layout.has_x_title:
            title = fit_title(self.data.x_title, layout.columns)
            middle = layout.left + 1 + (layout.columns - cell_len(title)) // 2
            canvas.write(middle, layout.axis_row + 2, title, Ink("title"))

    def front(self) -> None:
        """The best time for every cost: steps from one point of the front to the next."""
        canvas, layout, ink = self.canvas, self.layout, Ink("front")
        front = [(self.data.x_log[i], i) for i in self.data.flagged(PointFlag.FRONT)]
        places = [layout.cells[i] for _, i in sorted(front)]
        steps = [cell for cell in places if cell is not None]
        for (x, y), (next_x, next_y) in zip(steps, [*steps[1:], (layout.right, -1)], strict=False):
            canvas.horizontal(x, min(next_x, layout.right), y, "─", ink)
            if next_y > y:
                canvas.put(next_x, y, "┐", ink)
                canvas.vertical(next_x, y + 1, next_y, "│", ink)

    def limit_lines(self) -> None:
        """The budget as a vertical line, the time limit as a horizontal one."""
        layout, (budget_usd, max_time), ink = self.layout, self.limits, Ink("budget")
        if max_time is not None and layout.top <= (y := layout.y_of(max_time)) < layout.bottom:
            self.canvas.horizontal(layout.left + 1, layout.right, y, "━", ink)
        if budget_usd is not None and layout.left < (x := layout.x_of(budget_usd)) < layout.right:
            self.canvas.vertical(x, layout.top, layout.bottom, "┃", ink)

    def limit_names(self) -> None:
        """What the two lines are, beside them and where no point is; an arrow if out of view."""
        layout, (budget_usd, max_time) = self.layout, self.limits
        if max_time is not None:
            y = layout.y_of(max_time)
            arrow = "▴" if y < layout.top else "▾" if y >= layout.bottom else ""
            y = max(layout.top, min(y, layout.bottom - 1))
            name = f"{arrow} limit {self.data.time(max_time)} "
            end = layout.right - 1 - cell_len(name)
            self.write_free([(x, y) for x in range(end, layout.left, -4)], name)
        if budget_usd is not None:
            x, name = layout.x_of(budget_usd), f" budget {format_usd(budget_usd)} "
            starts = [x - cell_len(name), x + 1]
            if x <= layout.left:
                name, starts = f"◂{name[1:]}", [layout.left + 1]
            elif x >= layout.right:
                name, starts = f"{name[:-1]}▸", [layout.right - cell_len(name)]
            rows = range(layout.top, layout.bottom)
            self.write_free([(start, y) for y in rows for start in starts], name)

    def write_free(self, places: Sequence[Cell], text: str) -> None:
        """Write a limit's name at the first of these places that covers no point."""
        for place in places:
            if self.is_free(place, cell_len(text), _MARKS | {"dot"}):
                self.canvas.write(*place, text, Ink("limit-name"))
                return

    def crosshair(self, index: int) -> None:
        """Lines to both axes, and the interval."""
        x, y = self.at(index)
        ink = Ink("crosshair")
        self.canvas.horizontal(self.layout.left + 1, x, y, "╌", ink)
        self.canvas.vertical(x, y + 1, self.layout.bottom, "╎", ink)
        self.interval(index, ink)

    def interval(self, index: int, ink: Ink) -> None:
        """How far the time may be off."""
        x, y = self.at(index)
        low, high = self.data.interval(index)
        for limit, step, cap in ((high, -1, "┬"), (low, 1, "┴")):
            if limit is not None:
                at = self.layout.y_of(limit)
                end = max(self.layout.top, min(at, self.layout.bottom - 1))
                for row in range(y + step, end + step, step):
                    self.canvas.put(x, row, cap if row == at else "│", ink)

    def on_axis(self) -> None:
        """What costs nothing stands at the vertical axis, by name."""
        layout = self.layout
        for name, days in self.data.on_axis:
            y, text = layout.y_of(days), f"◂{shorten(name, self.name_width)}"
            place = (layout.left + 1, y)
            if layout.top <= y < layout.bottom and self.is_free(place, cell_len(text), _MARKS):
                self.canvas.write(*place, text, Ink("label", bold=True))

    # Points

    def is_dim(self, index: int) -> bool:
        return self.data.is_out(index, *self.limits)

    def glyph(self, index: int) -> str:
        mark = self.marks[self.data.series[index]]
        return mark.hollow if self.data.has(index, PointFlag.PREDICTED) else mark.filled

    def ink(self, role: str, index: int) -> Ink:
        return Ink(
            role,
            colour=self.marks[self.data.series[index]].colour,
            bold=self.data.has(index, PointFlag.FRONT),
            dim=self.is_dim(index),
        )

    def points(self) -> None:
        dot = Ink("dot")
        for cell, index in self.layout.winners.items():
            if index != self.selected:
                self.canvas.put(*cell, "·", dot)
        for index in reversed(self.layout.named):  # over whatever shares its place
            self.canvas.put(*self.at(index), self.glyph(index), self.ink("point", index))
        if self.selected is not None:
            ink = self.ink("point", self.selected)
            self.canvas.put(*self.at(self.selected), self.glyph(self.selected), ink)

    def names(self) -> dict[int, str]:
        """The name of each labelled and of the selected point, the most important first; no two
        look the same."""
        chosen = () if self.selected is None else (self.selected,)
        labels = self.data.labels(dict.fromkeys((*self.layout.named, *chosen)), *self.limits)
        return dict(zip(labels, cut_words([*labels.values()], self.name_width), strict=True))

    def labels(self, names: dict[int, str]) -> None:
        """Names beside the points, where they cover nothing; that of first place in any case."""
        for index, text in names.items():
            must = self.data.has(index, PointFlag.FIRST)
            place = self.place_for(index, cell_len(text), must=must)
            if place is not None:
                self.canvas.write(*place, text, self.ink("label", index))

    def place_for(self, index: int, width: int, *, must: bool) -> Cell | None:
        """Where a name of a width in cells is read with its point and covers nothing that counts:
        in the point's own row if possible. One that ``must`` be there may stand further away."""
        layout, (x, y) = self.layout, self.at(index)
        beside = [(x + 2, y), (x - 1 - width, y)]
        below = [
            (start, y + rows) for rows in (-1, 1) for start in (x + 1, x - width, x - width // 2)
        ]
        for places in (beside, below):
            for barred in (_BUSY, _BARRED):
                for place in places:
                    near = self.is_nearest(index, place, width)
                    if near and self.is_free(place, width, barred, clear=1, but=(x, y)):
                        return place
        if not must:
            return None
        anywhere = sorted(
            (
                (start, row)
                for row in range(layout.top, layout.bottom)
                for start in range(layout.left + 1, layout.right - width + 1)
                if row != y or not start <= x < start + width
            ),
            key=lambda at: (abs(at[0] + width / 2 - x) / 2 + 2 * abs(at[1] - y), at),
        )
        for nearest, clear in ((True, 1), (False, 3), (False, 0)):
            for place in anywhere:
                near = not nearest or self.is_nearest(index, place, width)
                if near and self.is_free(place, width, _NAMES, clear=clear, but=(x, y)):
                    return place
        return None

    def is_nearest(self, index: int, place: Cell, width: int) -> bool:
        """Whether a name here is read with its own point: in its row nearer than any other that has
        a name; above or below it nearer too, and with no other one close by in the name's row."""
        start, row = place

        def away(cell: Cell) -> int:
            return max(start - cell[0], cell[0] - start - width + 1, 0) + 2 * abs(row - cell[1])

        own = self.at(index)
        others = [cell for cell in self.markers if cell != own]
        if own[1] == row:
            return all(away(cell) > away(own) for cell in others if cell[1] == row)
        return all(away(cell) > (ROW_APART if cell[1] == row else away(own)) for cell in others)

    @cached_property
    def markers(self) -> set[Cell]:
        """The cells of the points that have a name."""
        return {self.at(i) for i in (*self.layout.named, self.selected) if i is not None}

    def is_free(
        self,
        place: Cell,
        width: int,
        barred: frozenset[str],
        *,
        clear: int = 0,
        but: Cell | None = None,
    ) -> bool:
        """Whether so many cells from here on lie in the picture, ``clear`` cells away from anything
        of this kind; the cell ``but`` does not count."""
        (start, row), layout = place, self.layout
        if not (layout.left < start and start + width <= layout.right):
            return False
        if not layout.top <= row < layout.bottom:
            return False
        cells = ((column, row) for column in range(start - clear, start + width + clear))
        return not any(self.canvas.role(*cell) in barred for cell in cells if cell != but)

    def selection(self, index: int, name: str) -> None:
        """The selected point in reverse, with its values on both axes; other labels give way."""
        canvas, layout, data = self.canvas, self.layout, self.data
        x, y = self.at(index)
        ink = self.ink("label", index)._replace(reverse=True, bold=True, dim=False)
        value = Ink("value", reverse=True)
        forms = [data.time(data.y_times[index], digits) for digits in (3, 2, 1)]
        days = next((form for form in forms if len(form) <= layout.left), forms[-1])
        canvas.write(0, y, days.rjust(layout.left), value)
        usd, row = format_usd(data.x_usd[index]), layout.axis_row + 1
        start = max(layout.left, min(x - len(usd) // 2, layout.width - len(usd)))
        self.clear_values(start - 1, start + len(usd) + 1, row)
        canvas.write(start, row, usd, value)
        for text in (f" {name} ", name, shorten(name, NAME_WIDTH // 2)):
            place = self.place_for(index, cell_len(text), must=False)
            if place is not None:
                break
        else:
            place = self.place_for(index, cell_len(text), must=True)
        if place is not None:  # else the line below the picture has the name
            canvas.write(*place, text, ink)
        canvas.put(x, y, self.glyph(index), ink)

    def clear_values(self, start: int, stop: int, row: int) -> None:
        """Remove the values of the horizontal axis that reach into these cells, whole."""
        canvas = self.canvas
        while canvas.role(start, row) == canvas.role(start - 1, row) == "value":
            start -= 1
        while canvas.role(stop - 1, row) == canvas.role(stop, row) == "value":
            stop += 1
        canvas.horizontal(start, stop, row, " ", BLANK)

    def legend(self) -> None:
        """Right-aligned above the points, beside the vertical axis's title."""
        layout, canvas = self.layout, self.canvas
        canvas.write(0, 0, layout.y_title, Ink("title"))
        for row, texts in enumerate(layout.legend):
            text = "  ".join(texts)
            canvas.write(layout.width - cell_len(text), row, text, Ink("legend"))
