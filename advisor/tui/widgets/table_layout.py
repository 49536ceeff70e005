"""Columns and rows of a table, and how the columns fit its width."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from advisor.tui.widgets.safe_text import fit, safe_text

MARGIN = 1
"""Cells before the first column and after the last."""
LEAST_CUT = 4
"""A cell that the table's edge cuts is shown only with at least this many."""
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
    """How many stay in view when it scrolls sideways."""

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
        """Cells of the columns that stay; none where they leave no room for others in ``width``."""
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

    def in_window(self, strip: Strip, x: int, width: int, style: Style) -> Strip:
        """What of a whole line is in view: the fixed columns, then the scrolled ones."""
        fixed = self.fixed_width(width)
        strip = self._without_half(strip, x + width, style)
        if not fixed or not x:
            return strip.crop_extend(x, x + width, style)
        scrolled = strip.crop_extend(x + fixed, x + width, style)
        return Strip.join([strip.crop(0, fixed), scrolled])

    def _without_half(self, strip: Strip, edge: int, style: Style) -> Strip:
        """A cell that the table's edge cuts ends in an ellipsis; half a number is not shown."""
        for column, start, width in zip(self.columns, self.starts, self.widths, strict=True):
            if not start < edge < start + width:
                continue
            whole = strip.crop(start, start + width).text.rstrip()
            if column.align == "left" and cell_len(whole) <= edge - start:
                break
            shown = edge - start if column.align == "left" and edge - start > LEAST_CUT else 0
            end = f"{'…':>{edge - start - shown + 1}}" if shown else " " * (edge - start)
            return Strip([*strip.crop(0, start + max(shown - 1, 0)), Segment(end, style)])
        return strip

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


RowStyle = Literal["dimmed", "doubtful", "owned", "front"]
"""How a row looks as a whole; each is the component class ``rank-table--NAME``."""

WIDEST = 40
"""A column without a width of its own is at most this wide, in cells."""
SAMPLED_FIRST, SAMPLED_SPREAD = 40, 16
"""Which rows decide on its width: from the top, and spread over the rest."""
SORT_ARROW_WIDTH = 2


class Column(NamedTuple):
    """One column of a table."""

    key: str
    title: str
    width: int | None = None
    """In cells; None takes it from the title and a bounded sample of the rows."""
    align: Literal["left", "right"] = "left"
    sort_key: str | None = None
    """What the rows are sorted by when the header is clicked; None for not at all."""
    least: int | None = None
    """How narrow a table may make it, in cells, so that more columns are in view; None for not
    at all."""


class RowSource(Protocol):
    """Rows by index. Must not change in place: hand the table a new source instead."""

    def __len__(self) -> int: ...

    def cells(self, index: int) -> Sequence[str | Text]:
        """One text a column; strings are data, never markup."""
        ...


@runtime_checkable
class StyledRows(Protocol):
    """A source that makes some rows look different."""

    def row_style(self, index: int) -> RowStyle | None: ...


@runtime_checkable
class IdentifiedRows(Protocol):
    """A source whose rows the cursor can follow from one source to the next."""

    def row_id(self, index: int) -> Hashable: ...


@runtime_checkable
class IndexedRows(Protocol):
    """A source that finds a row faster than by asking every one for its id."""

    def index_of(self, row_id: Hashable) -> int | None: ...


class NoRows:
    """The source of a table that has not been given one."""

    def __len__(self) -> int:
        return 0

    def cells(self, index: int) -> Sequence[str | Text]:
        raise IndexError(index)


def find_row(source: RowSource, row_id: Hashable) -> int | None:
    """Where the row with this id is, or None."""
    if isinstance(source, IndexedRows):
        return source.index_of(row_id)
    if isinstance(source, IdentifiedRows):
        id_at = source.row_id
        return next((i for i in range(len(source)) if id_at(i) == row_id), None)
    return None


def column_widths(columns: Sequence[Column], source: RowSource) -> list[int]:
    """Every column's width in cells, at a cost that does not grow with the number of rows."""
    fixed = [column.width for column in columns if column.width is not None]
    if len(fixed) == len(columns):
        return fixed
    widths = [
        cell_len(safe_text(column.title)) + (SORT_ARROW_WIDTH if column.sort_key else 0)
        for column in columns
    ]
    count = len(source)
    stride = max(1, (count - SAMPLED_FIRST) // SAMPLED_SPREAD)
    # From the last row backwards, where the largest numbers often are.
    spread = range(count - 1, SAMPLED_FIRST - 1, -stride)[:SAMPLED_SPREAD]
    for index in chain(range(min(count, SAMPLED_FIRST)), spread):
        for at, cell in enumerate(source.cells(index)[: len(widths)]):
            plain = cell if isinstance(cell, str) else cell.plain
            widths[at] = max(widths[at], cell_len(safe_text(plain)))
    return [
        min(width, WIDEST) if column.width is None else column.width
        for column, width in zip(columns, widths, strict=True)
    ]


def fitted(columns: Sequence[Column], widths: Sequence[int], room: int, gap: int) -> list[int]:
    """The widths for ``room`` cells: as many columns as fit at their least are in view, and those
    of them that may be narrower share what room that leaves: each cell goes to the one that has
    the least of the width that it would like."""
    if sum(widths) + gap * (len(widths) - 1) <= room:
        return list(widths)
    least = [
        width if column.least is None else min(width, column.least)
        for column, width in zip(columns, widths, strict=True)
    ]
    spare, shown = room, 0
    for width in least:
        taken = width + (gap if shown else 0)
        if taken > spare:
            break
        spare, shown = spare - taken, shown + 1
    found = list(widths)
    found[:shown] = least[:shown]
    narrow = [at for at in range(shown) if found[at] < widths[at]]
    while narrow and spare > 0:
        at = min(narrow, key=lambda each: found[each] / widths[each])
        found[at] += 1
        spare -= 1
        if found[at] == widths[at]:
            narrow.remove(at)
    return found


def rows_words(count: int) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{count:,} row{'' if count == 1 else 's'}"
