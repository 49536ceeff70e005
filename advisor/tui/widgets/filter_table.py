"""A table with a filter above it, and the line that filters another table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from advisor.tui.widgets.in_thread import in_thread
from advisor.tui.widgets.lines import Line
from advisor.tui.widgets.rank_table import RankTable
from advisor.tui.widgets.table_layout import Column, RowSource, RowStyle, rows_words
from advisor.tui.widgets.text_input import FilterInput

Cells = Sequence["str | Text"]


class Query(NamedTuple):
    """What a person wants to see of a list."""

    words: tuple[str, ...]
    """In lower case; a row must have all of them."""
    sort: str | None
    descending: bool


class Listed(RowSource):
    """What was found of a list, in an order."""

    def __init__(
        self, rows: Rows, records: Sequence[Any], order: Sequence[int] | None = None
    ) -> None:
        """``order`` are places among the records; None for all as they stand."""
        self.rows = rows
        self._records = records
        self._order = range(len(records)) if order is None else order

    def __len__(self) -> int:
        return len(self._order)

    def record(self, index: int) -> Any:
        """The record of a row."""
        return self._records[self._order[index]]

    def every(self) -> list[Any]:
        """The records as they are listed."""
        return [self._records[at] for at in self._order]

    def cells(self, index: int) -> Cells:
        return self.rows.cells(self.record(index))

    def row_style(self, index: int) -> RowStyle | None:
        return self.rows.row_style(self.record(index))

    def row_id(self, index: int) -> Hashable:
        return self.rows.row_id(self.record(index), self._order[index])


class Rows:
    """A list that can be filtered and sorted."""

    def __init__(
        self,
        columns: tuple[Column, ...],
        records: Sequence[Any] = (),
        *,
        cells: Callable[[Any], Cells],
        lines: Callable[[Any, int], list[Line]],
        remark: Callable[[Any], str],
        text: Callable[[Any], str] = str,
        keys: Mapping[str, Callable[[Any], Any]] | None = None,
        search: Callable[[Query], tuple[Sequence[Any], int]] | None = None,
        row_style: Callable[[Any], RowStyle | None] = lambda record: None,
        row_id: Callable[[Any, int], Hashable] = lambda record, number: number,
    ) -> None:
        """``text`` is what the filter looks at, ``keys`` what each sort key compares; in place of
        both, ``search`` finds, in a thread, what is asked for, and how many there are in all.

        ``lines`` makes a whole record for a width, ``remark`` what is said of the highlighted row
        below the table, ``row_id`` what the cursor follows where the list is found again.
        """
        self.columns = columns
        self.records = records
        self.total = len(records)
        """How many rows there are without a filter."""
        self.cells = cells
        self.lines = lines
        self.remark = remark
        self.row_style = row_style
        self.row_id = row_id
        self.search = search
        self._text = text
        self._texts: list[str] | None = None
        self._keys = keys or {}

    def find(self, query: Query) -> Listed:
        """The rows that have all the words, in order."""
        if self.search is not None:
            found, self.total = self.search(query)
            return Listed(self, found)
        order: Sequence[int] = range(len(self.records))
        if query.words:
            if self._texts is None:  # most lists are only looked at
                self._texts = [self._text(record).lower() for record in self.records]
            texts = self._texts
            order = [i for i in order if all(word in texts[i] for word in query.words)]
        key = self._keys.get(query.sort or "")
        if key is not None:
            known = [i for i in order if key(self.records[i]) is not None]
            known.sort(key=lambda i: key(self.records[i]), reverse=query.descending)
            # What is not known comes last, whichever way the rest is sorted.
            order = known + [i for i in order if key(self.records[i]) is None]
        return Listed(self, self.records, order)


class FilterTable(Vertical):
    """A filter, a count of what it shows, and the table."""

    DEFAULT_CSS = """
    FilterTable { height: 1fr; }
    FilterTable Horizontal { height: 1; padding: 0 1; }
    FilterTable .label { width: 9; color: $foreground 75%; }
    FilterTable FilterInput { width: 1fr; max-width: 44; }
    FilterTable .count { width: 24; padding: 0 2; text-style: bold; }
    FilterTable .count.-error { width: 3fr; }
    FilterTable .remark { height: 2; padding: 0 1; background: $surface; }
    FilterTable .-error { color: $text-error; }
    FilterTable RankTable { scrollbar-size: 1 1; }
    """

    @dataclass
    class RecordWanted(Message):
        """The person wants to see a whole record."""

        page: Callable[[int], list[Line]]

    def __init__(self, rows: Rows | None = None, *, empty: str) -> None:
        super().__init__()
        self.rows = rows
        self._sort: str | None = None
        self._descending = False
        self._empty = empty

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static("/ filter", classes="label")
            yield FilterInput(placeholder="all", max_length=100)
            yield Static("", classes="count", markup=False)
        yield RankTable(self.rows.columns if self.rows else ())
        yield Static("", classes="remark", markup=False)

    def on_mount(self) -> None:
        self.table.empty_message = "Reading …"
        if self.rows is not None:
            self.find()

    @property
    def table(self) -> RankTable:
        return self.query_one(RankTable)

    @property
    def filter(self) -> FilterInput:
        return self.query_one(FilterInput)

    @property
    def listed(self) -> Listed | None:
        """What is listed; None before anything was found."""
        return source if isinstance(source := self.table.source, Listed) else None

    @property
    def record(self) -> Any:
        """The highlighted record; None where there is none."""
        listed, at = self.listed, self.table.cursor
        return listed.record(at) if listed is not None and at < len(listed) else None

    def show(self, rows: Rows) -> None:
        """Show another list, with the same filter where it is the same list anew."""
        if self.rows is None or self.rows.columns != rows.columns:
            self._sort, self._descending = None, False
            self.table.columns = rows.columns
            if rows.search is not None:
                # Until they are found: the rows of another list are none of this one.
                self.table.source = RowSource()
                self.table.empty_message = "Reading …"
        self.rows = rows
        self.find()

    def query_of(self) -> Query:
        """What is asked for now."""
        words = tuple(self.filter.value.lower().split())
        return Query(words, self._sort, self._descending)

    def find(self) -> None:
        """Filter and sort, in a thread where that takes long."""
        if self.rows is None:
            return
        rows, query = self.rows, self.query_of()

        def found(source: Listed) -> None:
            if rows is self.rows and query == self.query_of():
                self._show(rows, query, source)

        if rows.search is not None:
            in_thread(self, "find", lambda: rows.find(query), found, self.say_trouble)
        else:
            found(rows.find(query))

    def say_trouble(self, text: str) -> None:
        """Say why the rows are missing or old."""
        count = self.query_one(".count", Static)
        count.add_class("-error")
        count.update(f"⚠ {text}")
        if not len(self.table.source):
            self.table.empty_message = text

    def _show(self, rows: Rows, query: Query, source: Listed) -> None:
        table = self.table
        filtered = " ".join(query.words)
        table.empty_message = (
            f"No row has '{filtered}': press / and change the filter, or Esc to clear it."
            if filtered
            else self._empty
        )
        sorted_columns = (c.key for c in rows.columns if query.sort and c.sort_key == query.sort)
        table.sorted_by = next(sorted_columns, None)
        table.sort_descending = query.descending
        table.source = source
        count = self.query_one(".count", Static)
        count.remove_class("-error")
        total = rows_words(rows.total)
        count.update(f"{len(source):,} of {total}" if len(source) != rows.total else total)
        self._show_remark()

    @on(RankTable.RowHighlighted)
    def _highlighted(self, event: RankTable.RowHighlighted) -> None:
        event.stop()
        self._show_remark()

    def _show_remark(self) -> None:
        record, rows = self.record, self.rows
        text = "" if rows is None or record is None else rows.remark(record)
        self.query_one(".remark", Static).update(text)

    # Keys and mouse

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.find()

    @on(FilterInput.Left)
    @on(Input.Submitted)
    def _leave(self, event: Message) -> None:
        event.stop()
        self.table.focus()

    @on(RankTable.HeaderClicked)
    def _header_clicked(self, event: RankTable.HeaderClicked) -> None:
        """By that column; clicked again, the other way; the third time as the list came."""
        event.stop()
        again = event.sort_key == self._sort
        self._sort = None if again and self._descending else event.sort_key
        self._descending = again and not self._descending
        self.find()

    def sort_next(self) -> None:
        """Sort by the next column that can be sorted by."""
        keys = [c.sort_key for c in self.table.columns if c.sort_key is not None]
        if keys:
            at = keys.index(self._sort) if self._sort in keys else -1
            self._sort, self._descending = keys[(at + 1) % len(keys)], False
            self.find()

    def sort_reverse(self) -> None:
        """Turn the sorting round."""
        self._descending = not self._descending
        self.find()

    @on(RankTable.RowOpened)
    def open_record(self, event: RankTable.RowOpened | None = None) -> None:
        """Ask for the page of the highlighted row."""
        if event is not None:
            event.stop()
        record, rows = self.record, self.rows
        if rows is not None and record is not None:
            self.post_message(self.RecordWanted(lambda width: rows.lines(record, width)))
