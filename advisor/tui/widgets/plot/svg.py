"""The picture of cost against training time as a standalone SVG file, for papers and reports."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any
from xml.etree import ElementTree as ET

from rich.cells import cell_len

from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.frame import LegendItem, fit_legend
from advisor.tui.widgets.plot.grid import LogPoints, PlotGrid, fit_scales
from advisor.tui.widgets.plot.scale import LogScale, drawable, format_days, format_usd, ticks
from advisor.tui.widgets.plot.style import FILLED, palette
from advisor.tui.widgets.plot.view import Limits, view_around
from advisor.tui.widgets.safe_text import safe_text, shorten

BACKGROUND = "#ffffff"
INK, GRID, LIMIT, FAINT = "#222222", "#dddddd", "#b3261e", "#555555"
FONT_SIZE = 13
CHARACTER_WIDTH = 0.62 * FONT_SIZE
"""Wide enough for the digits and capitals of common sans-serif fonts."""
LINE = 20
HEADING_SIZE, HEADING_CHARACTER = 16, 0.6
"""Of the heading's letters, and their width in its size: wide enough for bold ones."""
RADIUS = 5.0
CELL = 4
"""Points closer than this many pixels are drawn once, which bounds the file's size."""
LABELLED = 200
"""With more points than this only the front's carry a label, and none has an interval."""
DIMMED = "0.55"

_SHAPES = {
    "●": "M-1 0A1 1 0 1 0 1 0A1 1 0 1 0 -1 0Z",
    "■": "M-.9-.9H.9V.9H-.9Z",
    "▲": "M0-1.1L1.1.9H-1.1Z",
    "◆": "M0-1.25L1.1 0L0 1.25L-1.1 0Z",
    "▼": "M0 1.1L1.1-.9H-1.1Z",
    "▮": "M-.55-1.1H.55V1.1H-.55Z",
    "►": "M1.1 0L-.9 1.1V-1.1Z",
    "◄": "M-1.1 0L.9 1.1V-1.1Z",
}
"""Each glyph as a path around its centre, to be scaled by the radius."""
_NOT_XML = dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd")


def plot_svg(
    data: PlotData,
    width: int = 960,
    height: int = 600,
    *,
    budget_usd: float | None = None,
    max_days: float | None = None,
    selected: int | None = None,
) -> str:
    """The whole picture as the text of an SVG file, ``width`` by ``height`` pixels.

    ValueError for fewer than 320 x 240 pixels, or for a point that has no place on the axes.
    """
    if width < 320 or height < 240:
        raise ValueError(f"the picture is {width} x {height} pixels: make it at least 320 x 240")
    figure = _Figure(data, width, height, drawable(budget_usd), drawable(max_days), selected)
    figure.draw()
    ET.indent(figure.root, " ")
    return ET.tostring(figure.root, encoding="unicode") + "\n"


class _Figure:
    """One SVG in the making, drawn from the back to the front."""

    def __init__(
        self,
        data: PlotData,
        width: int,
        height: int,
        budget_usd: float | None,
        max_days: float | None,
        selected: int | None,
    ) -> None:
        self.data = data
        self.budget_usd = budget_usd
        self.max_days = max_days
        self.selected = selected if selected is not None and 0 <= selected < len(data) else None
        self.colours = palette(BACKGROUND, 3.0)
        self.text_colours = palette(BACKGROUND, 4.5)
        self.taken: list[tuple[float, float, float, float]] = []
        self.root = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "width": str(width),
                "height": str(height),
                "viewBox": f"0 0 {width} {height}",
                "role": "img",
                "font-family": "Helvetica, Arial, sans-serif",
                "font-size": str(FONT_SIZE),
                "fill": INK,
            },
        )
        self.named: list[int] = data.named()
        self.every = not self.named
        """Whether every point has its glyph and name; with none to be named, all do."""
        if self.selected is not None and self.selected not in self.named:
            self.named.insert(0, self.selected)
        self.labels = data.labels(self.named, budget_usd, max_days)
        self.legend_rows = self._legend_rows(width - 2 * LINE, max(2, height // (4 * LINE)))
        letters = max(20, int((width - 2 * LINE) / (HEADING_SIZE * HEADING_CHARACTER)))
        self.heading = wrap(data.heading, letters)
        self.head = (0.4 + 1.2 * len(self.heading)) * LINE if data.heading else 0.0
        self.left, self.right = 5.2 * FONT_SIZE, float(width - LINE)
        self.top = self.head + (len(self.legend_rows) + 2.7) * LINE
        self.bottom = float(height - (4.0 if data.remark else 2.6) * LINE)
        self.points = LogPoints.of(data)
        if self.points is not None:
            x, y = self.scales(self.points)
            self.grid = PlotGrid.of(
                self.points,
                x,
                y,
                max(1, int(self.right - self.left) // CELL),
                max(1, int(self.bottom - self.top) // CELL),
            )
            self.x, self.y = x, y

    def scales(self, points: LogPoints) -> tuple[LogScale, LogScale]:
        """Around what is named, with its intervals, and the limits where they are close by."""
        if self.every:
            return fit_scales(points, (self.budget_usd,), (self.max_days,))
        return view_around(self.data, points, self.named, Limits(self.budget_usd, self.max_days))

    # Pieces

    def add(self, tag: str, text: str | None = None, **attributes: Any) -> ET.Element:
        """One element; an attribute's underscore stands for a hyphen."""
        named = {name.replace("_", "-"): _written(value) for name, value in attributes.items()}
        element = ET.SubElement(self.root, tag, named)
        if text is not None:
            element.text = safe_text(text).translate(_NOT_XML)
        return element

    def line(self, x1: float, y1: float, x2: float, y2: float, **attributes: Any) -> None:
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, **{"stroke": INK, **attributes})

    def at(self, index: int) -> tuple[float, float]:
        return self.x_of(self.data.x_usd[index]), self.y_of(self.data.y_days[index])

    def x_of(self, value: float) -> float:
        return self.left + self.x.position(value) * (self.right - self.left)

    def y_of(self, value: float) -> float:
        return self.bottom - self.y.position(value) * (self.bottom - self.top)

    def mark(self, x: float, y: float, series: int, *, hollow: bool) -> ET.Element:
        slot = self.data.series_slots[series] if self.data.series_slots else series
        colour = self.colours[slot % len(self.colours)]
        return self.add(
            "path",
            d=_SHAPES[FILLED[slot % len(FILLED)]],
            transform=f"translate({x:.1f} {y:.1f}) scale({RADIUS:g})",
            fill=BACKGROUND if hollow else colour,
            stroke=colour,
            stroke_width=0.3,
        )

    # The picture

    def draw(self) -> None:
        data = self.data
        self.add("title", data.heading or f"{data.y_title} against {data.x_title}")
        self.add("rect", width="100%", height="100%", fill=BACKGROUND)
        for row, words in enumerate(self.heading):
            y = (1 + 1.2 * row) * LINE + 6
            self.add("text", words, x=LINE, y=y, font_weight="bold", font_size=HEADING_SIZE)
        if data.remark:
            y = self.bottom + 3.5 * LINE
            self.add("text", data.remark, x=LINE, y=y, font_size=FONT_SIZE - 2, fill=FAINT)
        self.add("text", data.y_title, x=LINE, y=self.head + LINE + 4, font_weight="bold")
        middle = (self.left + self.right) / 2
        bold: dict[str, Any] = {"font_weight": "bold", "text_anchor": "middle", "x": middle}
        self.add("text", data.x_title, **bold, y=self.bottom + 2.1 * LINE)
        self.legend()
        if self.points is None:
            self.add("text", "no points", **bold, y=(self.top + self.bottom) / 2)
            return
        self.axes()
        self.front()
        self.limits()
        if self.selected is not None:
            self.crosshair(self.selected)
        self.builds()

    def axes(self) -> None:
        for value in ticks(self.x, int((self.right - self.left) / 70)):
            x = self.x_of(value)
            self.line(x, self.top, x, self.bottom, stroke=GRID)
            self.line(x, self.bottom, x, self.bottom + 5)
            self.add("text", format_usd(value), x=x, y=self.bottom + LINE, text_anchor="middle")
        for value in ticks(self.y, int((self.bottom - self.top) / 45)):
            y = self.y_of(value)
            self.line(self.left, y, self.right, y, stroke=GRID)
            self.line(self.left - 5, y, self.left, y)
            self.add("text", format_days(value), x=self.left - 8, y=y + 4, text_anchor="end")
        self.line(self.left, self.top, self.left, self.bottom)
        self.line(self.left, self.bottom, self.right, self.bottom)

    def front(self) -> None:
        steps = sorted(map(self.at, self.data.flagged(PointFlag.FRONT)))
        if steps:
            path = f"M{steps[0][0]:.1f} {steps[0][1]:.1f}"
            path += "".join(f"H{x:.1f}V{y:.1f}" for x, y in steps[1:]) + f"H{self.right:.1f}"
            self.add("path", d=path, fill="none", stroke=INK, stroke_width=1.5)

    def limits(self) -> None:
        """Both limits, where they are in view."""
        dashes: dict[str, Any] = {"stroke": LIMIT, "stroke_width": 2, "stroke_dasharray": "7 4"}
        budget_x: float | None = None
        if self.budget_usd is not None and _in_view(self.x, self.budget_usd):
            x = budget_x = self.x_of(self.budget_usd)
            self.line(x, self.top - 6, x, self.bottom, **dashes)
            name = f"budget {format_usd(self.budget_usd)}"
            self.name_limit(name, min(x, self.right - len(name) * 4), self.top - 10, "middle")
        if self.max_days is not None and _in_view(self.y, self.max_days):
            y = self.y_of(self.max_days)
            self.line(self.left, y, self.right, y, **dashes)
            name = f"limit {format_days(self.max_days)}"
            ends_at = self.right
            if budget_x is not None and budget_x > self.right - len(name) * 8:
                ends_at = budget_x - 6  # beside the budget's line, not across it
            self.name_limit(name, ends_at, y - 5, "end")

    def name_limit(self, text: str, x: float, y: float, anchor: str) -> None:
        self.add("text", text, x=x, y=y, text_anchor=anchor, fill=LIMIT)
        width = _width(text)
        start = x - width / 2 if anchor == "middle" else x - width
        self.taken.append((start, y - FONT_SIZE, start + width, y + 4))

    def crosshair(self, index: int) -> None:
        x, y = self.at(index)
        self.line(self.left, y, x, y, stroke_dasharray="3 3")
        self.line(x, y, x, self.bottom, stroke_dasharray="3 3")

    def builds(self) -> None:
        data = self.data
        winners = self.grid.winners(data).values()
        if self.every:
            named = sorted(winners, reverse=True)
            if self.selected is not None:
                named = [i for i in named if i != self.selected] + [self.selected]
        else:
            named = [i for i in reversed(self.named) if self.grid.shows(i)]
            for index in sorted({*winners} - {*named}):
                self.dot(index)
        few = len(named) <= LABELLED
        for index in named:
            x, y = self.at(index)
            self.taken.append((x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS))
            if few:
                self.interval(index)
        for index in named:
            self.build(index)
        for name, days in data.on_axis:
            if _in_view(self.y, days):
                y = self.y_of(days) + 4
                self.add("text", f"◂ {name}", x=self.left + 3, y=y, font_weight="bold")
                self.taken.append((self.left, y - LINE, self.left + _width(name) + LINE, y))
        # The last one drawn is the first to be named: the selected point, then the best ranked.
        for index in reversed(named):
            if few or index == self.selected or data.has(index, PointFlag.NAMED):
                self.label(index)

    def dot(self, index: int) -> None:
        """What is not named: small and faint, its name where a reader points at it."""
        x, y = self.at(index)
        self.taken.append((x - 2, y - 2, x + 2, y + 2))
        mark = self.add("circle", cx=x, cy=y, r=2, fill=INK, opacity="0.3")
        self.title(mark, index)

    def title(self, mark: ET.Element, index: int) -> None:
        """What a reader sees who points at a mark."""
        values = f"{format_usd(self.data.x_usd[index])}, {format_days(self.data.y_days[index])}"
        name = f"{self.label_of(index)}: {values}"
        ET.SubElement(mark, "title").text = safe_text(name).translate(_NOT_XML)

    def label_of(self, index: int) -> str:
        return self.labels.get(index) or self.data.label(index, self.budget_usd, self.max_days)

    def opacity(self, index: int) -> str:
        return DIMMED if self.data.is_out(index, self.budget_usd, self.max_days) else "1"

    def interval(self, index: int) -> None:
        low, high = self.data.interval(index)
        if low is not None and high is not None:
            x, _ = self.at(index)
            colour = self.colours[self.data.slot(index) % len(self.colours)]
            ends = sorted(max(self.top, min(self.y_of(v), self.bottom)) for v in (low, high))
            self.line(x, ends[0], x, ends[1], stroke=colour, opacity=self.opacity(index))

    def build(self, index: int) -> None:
        data = self.data
        x, y = self.at(index)
        hollow = data.has(index, PointFlag.PREDICTED)
        mark = self.mark(x, y, data.series[index], hollow=hollow)
        mark.set("opacity", self.opacity(index))
        self.title(mark, index)
        if index == self.selected:
            self.add("circle", cx=x, cy=y, r=RADIUS + 4, fill="none", stroke=INK, stroke_width=1.5)

    def label(self, index: int) -> None:
        """The count beside the point where it covers nothing; the selected one's in any case."""
        x, y = self.at(index)
        text, chosen = self.label_of(index), index == self.selected
        text = shorten(text, 40)
        width, gap = _width(text), RADIUS + (6 if chosen else 3)
        # Above or below the point's middle, so that the front's line does not strike it through.
        places = [
            (start, middle - FONT_SIZE / 2, start + width, middle + FONT_SIZE / 2)
            for middle in (y - 7, y + 9, y - 20, y + 22)
            for start in (x + gap, x - gap - width)
        ]
        inside = [p for p in places if self.left < p[0] and p[2] < self.right + LINE]
        free = [p for p in inside if not any(_overlap(p, other) for other in self.taken)]
        if not free and not chosen:
            return
        box = (free or inside or places)[0]
        self.taken.append(box)
        if chosen:
            behind = self.add("rect", x=box[0], y=box[1], fill=BACKGROUND, opacity="0.8")
            behind.set("width", _written(width))
            behind.set("height", _written(box[3] - box[1]))
        on_right = box[0] > x
        bold = chosen or self.data.has(index, PointFlag.FRONT)
        self.add(
            "text",
            text,
            x=box[0] if on_right else box[2],
            y=box[3] - 3,
            text_anchor="start" if on_right else "end",
            fill=self.text_colours[self.data.slot(index) % len(self.text_colours)],
            font_weight="bold" if bold else "normal",
            opacity="1" if chosen else self.opacity(index),
        )

    # The legend

    def _legend_rows(self, width: float, most: int) -> list[list[LegendItem]]:
        """Names by row, at most so many rows; what does not fit is counted."""
        data = self.data
        items = [
            LegendItem(glyph="●", text=shorten(safe_text(data.series_names[s]), 32), series=s)
            for s in sorted(
                {data.series[i] for i in self.named} if not self.every else {*data.series}
            )
        ]
        present = set(data.flags)
        for flag, text in (
            (PointFlag.FRONT, "— Pareto front"),
            (PointFlag.PREDICTED, "hollow: estimate, not measured"),
            (PointFlag.DOUBTFUL, "? doubtful"),
            (PointFlag.EXCLUDED, "( ) left out"),
            (PointFlag.UNSOLD, "† no seller known"),
        ):
            if any(byte & flag for byte in present):
                items.append(LegendItem(glyph="", text=text))
        first = data.series[self.selected] if self.selected is not None else None
        return [
            row for row in fit_legend(items, [int(width / CHARACTER_WIDTH)] * most, first) if row
        ]

    def legend(self) -> None:
        for number, row in enumerate(self.legend_rows):
            x, y = float(LINE), self.head + LINE * (number + 2.2)
            for item in row:
                colour = INK
                if item.series is not None:
                    self.mark(x + RADIUS, y - 4, item.series, hollow=False)
                    slots = self.data.series_slots
                    slot = slots[item.series] if slots else item.series
                    colour = self.text_colours[slot % len(self.text_colours)]
                    x += 3 * RADIUS
                self.add("text", item.text, x=x, y=y, fill=colour)
                x += _width(item.text) + 2 * CHARACTER_WIDTH


def _written(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def _width(text: str) -> float:
    return cell_len(text) * CHARACTER_WIDTH


def _in_view(scale: LogScale, value: float) -> bool:
    return 0 <= scale.position(value) <= 1


def _overlap(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
