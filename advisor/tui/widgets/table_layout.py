"""Columns and rows of a table, and how the columns fit its width."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from advisor.tui.widgets.safe_text import fit, safe_text

MARGIN = 1
"""Cells before the first column and after the last."""
TAIL = 5
"""Cells of the end of a name that stay where it is too long."""
RowStyle = Literal["dimmed", "doubtful", "owned", "front"]
"""How a row looks as a whole; each is the component class ``rank-table--NAME``."""


class Column(NamedTuple):
    """One column of a table."""

    key: str
    title: str
    width: int
    """In cells."""
    align: Literal["left", "right"] = "left"
    sorts: bool | Callable[[Any], Any] = False
    """Whether a click on the header sorts by it; in a list, what is compared of a record."""
    cell: Callable[[Any], str | Text] = str
    """In a list, what it says of a record."""
    least: int | None = None
    """How narrow a table may make it, in cells, so that more columns are in view; None for not
    at all."""


class RowSource:
    """Rows by index; none, where no class below it has any. Must not change in place: hand the
    table a new source instead."""

    def __len__(self) -> int:
        return 0

    def cells(self, index: int) -> Sequence[str | Text]:
        """One text a column; strings are data, never markup."""
        raise IndexError(index)

    def row_style(self, index: int) -> RowStyle | None:
        return None

    def row_id(self, index: int) -> Hashable:
        """What the cursor follows from one source to the next; None for nothing."""
        return None

    def index_of(self, row_id: Hashable) -> int | None:
        """Where the row with this id is, or None."""
        return next((i for i in range(len(self)) if self.row_id(i) == row_id), None)


class TableLayout(NamedTuple):
    """The columns of a table that are shown, in cells from its left."""

    columns: Sequence[Column] = ()
    widths: Sequence[int] = ()
    gap: int = 0
    """Cells between two columns."""

    @classmethod
    def of(cls, columns: Sequence[Column], gap: int, room: int | None) -> TableLayout:
        """The first columns, as many as ``room`` has cells for; None for all."""
        widths = [column.width for column in columns]
        if room is not None:
            widths = fitted(columns, room - 2 * MARGIN, gap)
        return cls(columns[: len(widths)], widths, gap)

    @property
    def starts(self) -> list[int]:
        ends = (sum(self.widths[:at]) + at * self.gap for at in range(len(self.widths)))
        return [MARGIN + end for end in ends]

    @property
    def total(self) -> int:
        """Cells of a whole line."""
        return 2 * MARGIN + sum(self.widths) + self.gap * max(0, len(self.widths) - 1)

    def column_at(self, x: int) -> Column | None:
        """The column of a cell of a line, the gap after it included."""
        for column, start, width in zip(self.columns, self.starts, self.widths, strict=True):
            if start <= x < start + width + self.gap:
                return column
        return None

    def header(self, arrows: dict[str, str], style: Style, sorted_style: Style) -> Strip:
        """The titles; the column that the rows are sorted by has an arrow."""
        segments = [Segment(" " * MARGIN, style)]
        for column, width in zip(self.columns, self.widths, strict=True):
            arrow = arrows.get(column.key, "")
            title = fit(column.title, width - len(arrow)) + arrow
            blank = Segment(" " * (width - cell_len(title)), style)
            cell = Segment(title, sorted_style if arrow else style)
            segments += [blank, cell] if column.align == "right" else [cell, blank]
            segments.append(Segment(" " * self.gap, style))
        return Strip([s for s in segments if s.text])

    def row(self, cells: Sequence[str | Text], style: Style, console: Console) -> Iterator[Segment]:
        """One segment for all that looks the same: terminals and Textual are slow with many."""
        plain = " " * MARGIN
        for at, (column, width) in enumerate(zip(self.columns, self.widths, strict=True)):
            content = cells[at] if at < len(cells) else ""
            plain += " " * self.gap if at else ""
            if isinstance(content, str):
                text = fit(content, width)
                blank = " " * (width - cell_len(text))
                plain += blank + text if column.align == "right" else text + blank
                continue
            styled = _styled(content, width, style, console)
            blank = " " * (width - styled.cell_length)
            yield Segment(plain + blank if column.align == "right" else plain, style)
            yield from styled
            plain = "" if column.align == "right" else blank
        yield Segment(plain, style)


def _styled(content: Text, width: int, row: Style, console: Console) -> Strip:
    """A text with styles of its own, with an ellipsis near its end where it is too long."""
    # Without spans, Text.render leaves out the style of the text as a whole.
    whole = console.get_style(content.style, default=Style.null())
    strip = Strip(
        Segment(
            safe_text(segment.text),
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
    ellipsis = Segment("…", row)
    end = strip.crop(strip.cell_length - tail)
    return Strip([*strip.crop(0, width - 1 - tail), ellipsis, *end])


def _own(style: Style, row: Style) -> Style:
    """The cursor is one bar: of a cell's style it keeps bold or italic, not the colours."""
    return style.without_color if row.reverse else style


def fitted(columns: Sequence[Column], room: int, gap: int) -> list[int]:
    """The widths of the first columns in ``room`` cells: as many as fit at their least, of which
    those that may be narrower share what room that leaves: each cell goes to the one that has the
    least of the width that it would like."""
    found: list[int] = []
    spare = room
    for column in columns:
        least = min(column.width, column.least or column.width)
        taken = least + (gap if found else 0)
        if found and taken > spare:
            break
        found.append(max(min(least, room), 0))
        spare -= taken
    narrow = [at for at in range(len(found)) if found[at] < columns[at].width]
    while narrow and spare > 0:
        at = min(narrow, key=lambda each: found[each] / columns[each].width)
        found[at] += 1
        spare -= 1
        if found[at] == columns[at].width:
            narrow.remove(at)
    return found


def rows_words(count: int) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{count:,} row{'' if count == 1 else 's'}"
