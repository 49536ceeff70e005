"""Where a table's cells stand on a line, and what of a whole line is in view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from advisor.tui.widgets.safe_text import ascii_text, fit, safe_text
from advisor.tui.widgets.table_rows import Column, RowSource, column_widths, fitted

MARGIN = 1
"""Cells before the first column and after the last."""
LEAST_CUT = 4
"""A cell that the table's edge cuts is shown from so many of its cells on."""
TAIL = 5
"""Cells of the end of a name that stay where it is too long."""


class TableLayout(NamedTuple):
    """The columns of a table, in cells from its left."""

    columns: tuple[Column, ...] = ()
    widths: Sequence[int] = ()
    starts: Sequence[int] = ()
    gap: int = 0
    """Cells between two columns."""
    fixed_columns: int = 0
    """So many stay in view when it scrolls sideways."""

    @classmethod
    def of(
        cls,
        columns: tuple[Column, ...],
        source: RowSource,
        *,
        gap: int,
        fixed_columns: int,
        room: int | None,
    ) -> TableLayout:
        """The columns side by side, as wide as these rows want and ``room`` allows."""
        widths = column_widths(columns, source)
        if room is not None:
            widths = fitted(columns, widths, room - 2 * MARGIN, gap)
        starts, at = [], MARGIN
        for width in widths:
            starts.append(at)
            at += width + gap
        return cls(columns, widths, starts, gap, fixed_columns)

    @property
    def total(self) -> int:
        """Cells of a whole line."""
        return self.starts[-1] + self.widths[-1] + MARGIN if self.widths else 0

    def fixed_width(self, width: int) -> int:
        """Of so many cells those of the columns that stay; none where they would leave no room for
        others."""
        if not 0 < self.fixed_columns < len(self.starts):
            return 0
        fixed = self.starts[self.fixed_columns]
        return fixed if fixed <= width // 2 else 0

    def column_at(self, x: int) -> Column | None:
        """The column of a cell of a whole line, the gap after it included."""
        for column, start, width in zip(self.columns, self.starts, self.widths, strict=True):
            if start <= x < start + width + self.gap:
                return column
        return None

    def stop_beside(self, x: int, columns: int, width: int) -> int:
        """From where on a line is in view once it is scrolled from ``x`` by a column."""
        fixed = self.fixed_width(width)
        stops = sorted({max(0, start - MARGIN - fixed) for start in self.starts} | {0})
        if columns > 0:
            return next((stop for stop in stops if stop > x), x)
        return next((stop for stop in reversed(stops) if stop < x), 0)

    def in_window(self, strip: Strip, x: int, width: int, style: Style, ellipsis: str) -> Strip:
        """What of a whole line is in view: the fixed columns, then the scrolled ones."""
        fixed = self.fixed_width(width)
        strip = self._without_half(strip, x + width, style, ellipsis)
        if not fixed or not x:
            return strip.crop_extend(x, x + width, style)
        scrolled = strip.crop_extend(x + fixed, x + width, style)
        return Strip.join([strip.crop(0, fixed), scrolled])

    def _without_half(self, strip: Strip, edge: int, style: Style, ellipsis: str) -> Strip:
        """A cell that the table's edge cuts ends in an ellipsis; half a number is not shown."""
        for column, start, width in zip(self.columns, self.starts, self.widths, strict=True):
            if not start < edge < start + width:
                continue
            whole = strip.crop(start, start + width).text.rstrip()
            if column.align == "left" and cell_len(whole) <= edge - start:
                break
            shown = edge - start if column.align == "left" and edge - start > LEAST_CUT else 0
            end = f"{ellipsis:>{edge - start - shown + 1}}" if shown else " " * (edge - start)
            return Strip([*strip.crop(0, start + max(shown - 1, 0)), Segment(end, style)])
        return strip

    def header(
        self, arrows: dict[str, str], style: Style, sorted_style: Style, *, ascii_only: bool
    ) -> Strip:
        """The titles; the column that the rows are sorted by has an arrow."""
        segments = [Segment(" " * MARGIN, style)]
        for column, width in zip(self.columns, self.widths, strict=True):
            arrow = arrows.get(column.key, "")
            title = fit(column.title, width - len(arrow), ascii_only=ascii_only) + arrow
            blank = Segment(" " * (width - cell_len(title)), style)
            cell = Segment(title, sorted_style if arrow else style)
            segments += [blank, cell] if column.align == "right" else [cell, blank]
            segments.append(Segment(" " * self.gap, style))
        return Strip([s for s in segments if s.text])

    def row(
        self, cells: Sequence[str | Text], style: Style, console: Console, *, ascii_only: bool
    ) -> Iterator[Segment]:
        """One segment for all that looks the same: terminals and Textual are slow with many."""
        plain = " " * MARGIN
        for at, (column, width) in enumerate(zip(self.columns, self.widths, strict=True)):
            content = cells[at] if at < len(cells) else ""
            plain += " " * self.gap if at else ""
            if isinstance(content, str):
                text = fit(content, width, ascii_only=ascii_only)
                blank = " " * (width - cell_len(text))
                plain += blank + text if column.align == "right" else text + blank
                continue
            styled = _styled(content, width, style, console, ascii_only=ascii_only)
            blank = " " * (width - styled.cell_length)
            yield Segment(plain + blank if column.align == "right" else plain, style)
            yield from styled
            plain = "" if column.align == "right" else blank
        yield Segment(plain, style)


def _styled(content: Text, width: int, row: Style, console: Console, *, ascii_only: bool) -> Strip:
    """A text with styles of its own, with an ellipsis near its end where it is too long."""
    # Without spans, Text.render leaves out the style of the text as a whole.
    whole = console.get_style(content.style, default=Style.null())
    strip = Strip(
        Segment(
            ascii_text(segment.text) if ascii_only else safe_text(segment.text),
            row + _own(whole + (segment.style or Style.null()), row),
        )
        for segment in content.render(console)
    )
    if strip.cell_length <= width:
        return strip
    if not width:
        return Strip([])
    # Long names differ at their ends, as "Blackwell" and "Blackwell Max-Q" do.
    tail = TAIL if width >= 3 * TAIL else 0
    ellipsis = Segment("~" if ascii_only else "…", row)
    end = strip.crop(strip.cell_length - tail)
    return Strip([*strip.crop(0, width - 1 - tail), ellipsis, *end])


def _own(style: Style, row: Style) -> Style:
    """The cursor is one bar: of a cell's style it keeps bold or italic, not the colours."""
    return style.without_color if row.reverse else style
