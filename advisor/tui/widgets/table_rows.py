"""What a table shows: columns, and a source of rows that is asked for visible ones only."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from rich.cells import cell_len
from rich.text import Text

from advisor.tui.widgets.safe_text import safe_text

RowStyle = Literal["dimmed", "doubtful", "owned", "front"]
"""How a row looks as a whole; each is the component class ``rank-table--NAME``."""

WIDEST = 40
"""A column without a width of its own is at most this wide, in cells."""
SAMPLED_FIRST, SAMPLED_SPREAD = 40, 16
"""Which rows decide on its width: so many from the top, and so many spread over the rest."""
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
        return fixed  # no row is asked for: a source may have to fetch it first
    widths = [
        cell_len(safe_text(column.title)) + (SORT_ARROW_WIDTH if column.sort_key else 0)
        for column in columns
    ]
    count = len(source)
    stride = max(1, (count - SAMPLED_FIRST) // SAMPLED_SPREAD)
    # From the last row backwards, as the largest numbers often stand there.
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
    """The widths for so many cells: as many columns as fit at their least are in view, and those
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
