"""Draws the picture of cost against training time into character cells; knows no theme."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from rich.cells import cell_len

from advisor.tables.plain_values import cut_words
from advisor.tui.widgets.plot.canvas import Canvas, Cell, Ink
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.layout import SIGNS, TALL, Layout
from advisor.tui.widgets.plot.scale import format_usd, ticks
from advisor.tui.widgets.plot.style import series_marks
from advisor.tui.widgets.safe_text import shorten

COLUMNS_PER_X_TICK = 8
ROW_APART = 5
"""Cells between a name above or below its point and another point in the name's own row."""
NAME_WIDTH, LEAST_NAME_WIDTH = 34, 23
"""A name is at most this long, and at most two fifths of the picture; but as long as
"1 × RTX PRO 6000, $29k" where that is half of it."""
_NAMES = frozenset({"point", "label"})
_MARKS = frozenset({*_NAMES, "limit-name"})
"""What no name covers."""
_BARRED = frozenset({*_MARKS, "budget"})
"""Nor the line of the budget, but for a name that must be there."""
_BUSY = frozenset({*_BARRED, "dot", "interval", "front", "crosshair"})
"""What it keeps clear of while there is another place beside its point."""


def paint(data: PlotData, layout: Layout, selected: int | None = None) -> Canvas:
    """Draw it all, from the back to the front."""
    painter = _Painter(data, layout, selected)
    painter.paint()
    return painter.canvas


class _Painter:
    """The order matters: what comes later covers what came before."""

    def __init__(self, data: PlotData, layout: Layout, selected: int | None) -> None:
        self.data, self.layout = data, layout
        self.canvas = Canvas(layout.width, layout.height)
        self.marks = series_marks(data.series_slots)
        in_view = selected is not None and layout.cells[selected] is not None
        self.selected = selected if in_view else None
        least = LEAST_NAME_WIDTH if layout.columns >= 2 * LEAST_NAME_WIDTH else 12
        self.name_width = min(NAME_WIDTH, max(least, layout.columns * 2 // 5))
        chosen = () if self.selected is None else (self.selected,)
        labels = data.labels(dict.fromkeys((*layout.named, *chosen)))
        cut = cut_words([*labels.values()], self.name_width)
        self.names = dict(zip(labels, cut, strict=True))
        """Of each labelled and of the selected point, the most important first."""
        self.markers = {self.at(i) for i in labels}

    def paint(self) -> None:
        selected, names = self.selected, self.names
        self.axes()
        for index in reversed(self.layout.named):
            if index != selected:
                self.interval(index, self.ink("interval", index)._replace(bold=False))
        self.front()
        self.limit_lines()
        if selected is not None:
            self.crosshair(selected)
        self.points()
        self.limit_names()
        if selected is not None:
            text = f" {names[selected]} "
            ink = self.ink("label", selected)._replace(reverse=True, bold=True, dim=False)
            self.write_name(selected, text, ink, must=True)
            self.canvas.put(*self.at(selected), self.glyph(selected), ink)
        self.on_axis()
        for index, text in names.items():
            if index != selected:
                must = self.data.has(index, PointFlag.FIRST)
                self.write_name(index, text, self.ink("label", index), must=must)
        self.titles()

    def at(self, index: int) -> Cell:
        cell = self.layout.cells[index]
        assert cell is not None  # only what is in view is drawn
        return cell

    # Axes and lines

    def axes(self) -> None:
        """Both axes with their values, those of the selected point in reverse."""
        layout, canvas, data, selected = self.layout, self.canvas, self.data, self.selected
        axis, grid, value = Ink("axis"), Ink("grid"), Ink("value")
        x_ticks = ticks(layout.x, max(2, layout.columns // COLUMNS_PER_X_TICK))
        for days in layout.y_ticks:
            canvas.horizontal(layout.left + 1, layout.right, layout.y_of(days), "┈", grid)
        for usd in x_ticks:
            canvas.vertical(layout.x_of(usd), layout.top, layout.bottom, "┊", grid)
        canvas.vertical(layout.left, layout.top, layout.bottom, "│", axis)
        canvas.put(layout.left, layout.bottom, "└", axis)
        canvas.horizontal(layout.left + 1, layout.right, layout.bottom, "─", axis)
        for days in layout.y_ticks:
            y, text = layout.y_of(days), data.time(days)
            canvas.put(layout.left, y, "┤", axis)
            canvas.write(layout.left - cell_len(text), y, text, value)
        chosen = [] if selected is None else [(self.at(selected)[0], data.x_usd[selected])]
        taken: list[tuple[int, int]] = []
        for x, usd in (*chosen, *((layout.x_of(usd), usd) for usd in x_ticks)):
            text = format_usd(usd)
            start = min(x - len(text) // 2, layout.width - len(text))
            if (x, usd) not in chosen:
                canvas.put(x, layout.bottom, "┴", axis)
            if all(start > end or start + len(text) < begin for begin, end in taken):
                taken.append((start, start + len(text)))
                ink = value._replace(reverse=(x, usd) in chosen)
                canvas.write(start, layout.bottom + 1, text, ink)
        if selected is not None:
            forms = [data.time(data.y_times[selected], digits) for digits in (3, 2, 1)]
            days_text = next((form for form in forms if len(form) <= layout.left), forms[-1])
            ink = value._replace(reverse=True)
            canvas.write(0, self.at(selected)[1], days_text.rjust(layout.left), ink)

    def titles(self) -> None:
        """Of both axes, and what the signs mean that are in the picture; the last ones give way."""
        layout, canvas, present = self.layout, self.canvas, set(self.data.flags)
        title = shorten(self.data.y_title, layout.width)
        room = layout.width - canvas.write(0, 0, title, Ink("title")) - 2
        if layout.top > 1:
            room = layout.width
        signs = [text for flag, text in SIGNS if any(byte & flag for byte in present)]
        while cell_len(text := "  ".join(signs)) > room:
            signs.pop()
        canvas.write(layout.width - cell_len(text), layout.top - 1, text, Ink("legend"))
        if layout.height >= TALL:
            title = shorten(self.data.x_title, layout.columns)
            middle = layout.left + 1 + (layout.columns - cell_len(title)) // 2
            canvas.write(middle, layout.bottom + 2, title, Ink("title"))

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
        layout, data, ink = self.layout, self.data, Ink("budget")
        if data.max_time is not None:
            y = layout.y_of(data.max_time)
            if layout.top <= y < layout.bottom:
                self.canvas.horizontal(layout.left + 1, layout.right, y, "━", ink)
        if data.budget_usd is not None:
            x = layout.x_of(data.budget_usd)
            if layout.left < x < layout.right:
                self.canvas.vertical(x, layout.top, layout.bottom, "┃", ink)

    def limit_names(self) -> None:
        """What the two lines are, beside them and where no point is; an arrow if out of view."""
        layout, data = self.layout, self.data
        if data.max_time is not None:
            y = layout.y_of(data.max_time)
            arrow = "▴" if y < layout.top else "▾" if y >= layout.bottom else ""
            y = max(layout.top, min(y, layout.bottom - 1))
            name = f"{arrow} limit {data.time(data.max_time)} "
            end = layout.right - 1 - cell_len(name)
            self.write_free([(x, y) for x in range(end, layout.left, -4)], name)
        if data.budget_usd is not None:
            x, name = layout.x_of(data.budget_usd), f" budget {format_usd(data.budget_usd)} "
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
            text, place = f"◂{shorten(name, self.name_width)}", (layout.left + 1, layout.y_of(days))
            if self.is_free(place, cell_len(text), _MARKS):
                self.canvas.write(*place, text, Ink("label", bold=True))

    # Points and their names

    def glyph(self, index: int) -> str:
        mark = self.marks[self.data.series[index]]
        return mark.hollow if self.data.has(index, PointFlag.PREDICTED) else mark.filled

    def ink(self, role: str, index: int) -> Ink:
        colour, dim = self.marks[self.data.series[index]].colour, self.data.is_out(index)
        return Ink(role, colour, bold=self.data.has(index, PointFlag.FRONT), dim=dim)

    def points(self) -> None:
        for cell in self.layout.winners:
            self.canvas.put(*cell, "·", Ink("dot"))
        for index in reversed(self.names):  # over whatever shares its place
            self.canvas.put(*self.at(index), self.glyph(index), self.ink("point", index))

    def write_name(self, index: int, text: str, ink: Ink, *, must: bool) -> None:
        """A name where it is read with its point and covers nothing that counts; one that ``must``
        be there may be further away, and is left out where the picture has no room at all."""
        width, own = cell_len(text), self.at(index)
        for place, barred, clear, nearest in self.places(own, width, must=must):
            near = not nearest or self.is_nearest(own, place, width)
            if near and self.is_free(place, width, barred, clear=clear, but=own):
                self.canvas.write(*place, text, ink)
                return

    def places(
        self, own: Cell, width: int, *, must: bool
    ) -> Iterator[tuple[Cell, frozenset[str], int, bool]]:
        """Where a name may begin, the best place first: in its point's own row, above or below,
        anywhere. With each what it may not cover, how many cells it keeps away from that, and
        whether its own point must be the nearest."""
        layout, (x, y) = self.layout, own
        beside = [(x + 2, y), (x - 1 - width, y)]
        starts = (x + 1, x - width, x - width // 2)
        for group in (beside, [(start, y + row) for row in (-1, 1) for start in starts]):
            for barred, place in product((_BUSY, _BARRED), group):
                yield place, barred, 1, True
        if must:
            columns = range(layout.left + 1, layout.right - width + 1)
            anywhere = sorted(
                (place for place in product(columns, range(layout.top, layout.bottom))),
                key=lambda at: (abs(at[0] + width / 2 - x) / 2 + 2 * abs(at[1] - y), at),
            )
            for clear, nearest in ((1, True), (3, False), (0, False)):
                for place in anywhere:
                    if place[1] != y or not place[0] <= x < place[0] + width:
                        yield place, _NAMES, clear, nearest

    def is_nearest(self, own: Cell, place: Cell, width: int) -> bool:
        """Whether a name here is read with its own point: in its row nearer than any other that has
        a name; above or below it nearer too, and with no other one close by in the name's row."""
        start, row = place

        def away(cell: Cell) -> int:
            return max(start - cell[0], cell[0] - start - width + 1, 0) + 2 * abs(row - cell[1])

        others = self.markers - {own}
        if own[1] == row:
            return all(away(cell) > away(own) for cell in others if cell[1] == row)
        return all(away(cell) > (ROW_APART if cell[1] == row else away(own)) for cell in others)

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
