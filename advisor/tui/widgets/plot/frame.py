"""Where the parts of the picture go: legend, titles, axes and the rectangle for the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len

from advisor.tui.widgets.plot.scale import LogScale, format_days, ticks
from advisor.tui.widgets.safe_text import shorten

MIN_WIDTH = 24
MIN_HEIGHT = 6
GUTTER = 6
"""The narrowest left margin: room for a highlighted value such as ``13.5 d``."""
LEGEND_NAME_WIDTH = 24
ROWS_PER_Y_TICK = 3
COLUMNS_PER_X_TICK = 8


class LegendItem(NamedTuple):
    """A glyph and what it means; ``series`` is None for the marks that are no GPU type."""

    glyph: str
    text: str
    series: int | None = None
    colour: int | None = None

    @property
    def width(self) -> int:
        return cell_len(self.glyph) + 1 + cell_len(self.text)


class Frame(NamedTuple):
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
    y_ticks: tuple[float, ...]

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
        return self.top + self.rows - (0 if self.has_axis_row else 1)

    @property
    def value_row(self) -> int:
        """Row of the horizontal axis's values."""
        return self.axis_row + 1

    @classmethod
    def of(cls, width: int, height: int, y: LogScale, y_title: str, legend_width: int) -> Frame:
        """Divide this many cells; ``legend_width`` is what the whole legend would take."""
        title = fit_title(y_title, width // 2 if legend_width else width)
        spare = width - cell_len(title) - 3
        legend_rows = 1
        # A picture that is high enough gives the legend rows of its own before it is cut short.
        if legend_width > spare and height >= 16:
            legend_rows += min(-(-(legend_width - spare) // (width - 2)), height // 10)
        has_axis_row = height >= 10
        has_x_title = height >= 14
        rows = height - legend_rows - has_axis_row - 1 - has_x_title
        y_ticks = tuple(ticks(y, max(2, rows // ROWS_PER_Y_TICK)))
        gutter = max(GUTTER, *(cell_len(format_days(v)) for v in (*y_ticks, 1.0)))
        return cls(
            width=width,
            height=height,
            left=gutter,
            top=legend_rows,
            columns=width - gutter - 1,
            rows=rows,
            has_axis_row=has_axis_row,
            has_x_title=has_x_title,
            y_title=title,
            y_ticks=y_ticks,
        )


def fit_title(title: str, width: int) -> str:
    """The longest form of an axis title that fits: whole, without its brackets, its first part."""
    plain = title.partition(" (")[0]
    for form in (title, plain, plain.partition(",")[0]):
        if cell_len(form) <= width:
            return form
    return shorten(plain, width)


def fit_legend(
    items: Sequence[LegendItem], widths: Sequence[int], first: int | None
) -> list[list[LegendItem]]:
    """The items by row; what does not fit is counted in a last item, ``first`` always shown."""
    order = sorted(range(len(items)), key=lambda i: first is not None and items[i].series != first)
    # No item is narrower than a glyph, a space and a letter, and two cells lie between items.
    most = sum(width // 5 + 1 for width in widths)
    for shown in range(min(len(items), most), 0, -1):
        # Kept in the usual order, so that a selection does not shuffle the legend.
        chosen = [items[i] for i in sorted(order[:shown])]
        if shown < len(items):
            chosen.append(LegendItem(glyph="", text=f"+{len(items) - shown} more"))
        rows = _fill(chosen, widths)
        if rows is not None:
            return rows
    # No room to count what is left out: what was asked for alone, or nothing.
    return (_fill([items[order[0]]], widths) if first is not None else None) or []


def _fill(items: Sequence[LegendItem], widths: Sequence[int]) -> list[list[LegendItem]] | None:
    rows: list[list[LegendItem]] = [[] for _ in widths]
    row = used = 0
    for item in items:
        while row < len(widths) and used + item.width > widths[row]:
            row, used = row + 1, 0
        if row == len(widths):
            return None
        rows[row].append(item)
        used += item.width + 2
    return rows
