"""A table with a filter above it, and the line that filters another table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from advisor.tui.widgets.fetch_error import FetchError
from advisor.tui.widgets.lines import Line
from advisor.tui.widgets.rank_table import RankTable
from advisor.tui.widgets.table_layout import Column, FetchedRows, NoRows, RowSource, rows_words
from advisor.tui.widgets.text_input import FilterInput

Cells = Sequence["str | Text"]


class Query(NamedTuple):
    """What a person wants to see of a list."""

    words: tuple[str, ...]
    """In lower case; a row must have all of them."""
    sort: str | None
    descending: bool


class Rows(Protocol):
    """A list that can be filtered and sorted."""

    columns: tuple[Column, ...]
    in_thread: bool
    """Whether `find` is slow enough to need a thread."""
    total: int
    """How many rows there are without a filter; -1 before anybody counted."""

    def find(self, query: Query) -> RowSource: ...

    def remark(self, source: RowSource, index: int) -> str:
        """What to say of the highlighted row below the table; may be nothing."""
        ...

    def lines(self, source: RowSource, index: int, width: int) -> list[Line]:
        """The whole record of a row, for a width."""
        ...


class MemorySource:
    """Some of the records of a list, in an order."""

    def __init__(self, rows: MemoryRows, order: Sequence[int]) -> None:
        self.rows = rows
        self.order = order

    def __len__(self) -> int:
        return len(self.order)

    def record(self, index: int) -> Any:
        """The record of a row."""
        return self.rows.records[self.order[index]]

    def cells(self, index: int) -> Cells:
        return self.rows.make_cells(self.record(index))

    def row_id(self, index: int) -> Hashable:
        return self.order[index]


class MemoryRows:
    """A list that is small enough to be filtered at every key press."""

    in_thread = False

    def __init__(
        self,
        columns: tuple[Column, ...],
        records: Sequence[Any],
        *,
        cells: Callable[[Any], Cells],
        text: Callable[[Any], str],
        keys: dict[str, Callable[[Any], Any]],
        lines: Callable[[Any, int], list[Line]],
        remark: Callable[[Any], str],
    ) -> None:
        """``text`` is what the filter looks at, ``keys`` what each sort key compares."""
        self.columns = columns
        self.records = records
        self.make_cells = cells
        self.total = len(records)
        self._text = text
        self._texts: list[str] | None = None
        self._keys = keys
        self._lines = lines
        self._remark = remark

    def find(self, query: Query) -> MemorySource:
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
        return MemorySource(self, order)

    def lines(self, source: RowSource, index: int, width: int) -> list[Line]:
        assert isinstance(source, MemorySource)
        return self._lines(source.record(index), width)

    def remark(self, source: RowSource, index: int) -> str:
        assert isinstance(source, MemorySource)
        return self._remark(source.record(index))


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

    @dataclass
    class Sorted(Message):
        """The person sorted the rows another way."""

        by: str | None
        descending: bool

    @dataclass
    class _Found(Message):
        rows: Rows
        query: Query
        source: RowSource

    @dataclass
    class _Failed(Message):
        text: str

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
        yield RankTable(self.rows.columns if self.rows else (), fixed_columns=1)
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

    def show(self, rows: Rows, *, sort: str | None = None, descending: bool = False) -> None:
        """Show another list, with the same filter where it is the same list anew."""
        if (
            self.rows is None
            or type(self.rows) is not type(rows)
            or self.rows.columns != rows.columns
        ):
            known = any(column.sort_key == sort for column in rows.columns)
            self._sort, self._descending = (sort, descending) if known else (None, False)
            self.table.columns = rows.columns
            if rows.in_thread and not isinstance(rows, type(self.rows)):
                # Until they are found: the rows of another list are none of this one.
                self.table.source = NoRows()
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
        if self.rows.in_thread:
            self._find_in_thread(self.rows, self.query_of())
        else:
            query = self.query_of()
            self._show(self.rows, query, self.rows.find(query))

    @work(thread=True, exclusive=True, group="find", exit_on_error=False)
    def _find_in_thread(self, rows: Rows, query: Query) -> None:
        try:
            source = rows.find(query)
        except FetchError as error:
            self.post_message(self._Failed(str(error)))
        else:
            self.post_message(self._Found(rows, query, source))

    @on(_Found)
    def _found(self, event: _Found) -> None:
        if event.rows is self.rows and event.query == self.query_of():
            self._show(event.rows, event.query, event.source)

    @on(_Failed)
    def _failed(self, event: _Failed) -> None:
        self.say_trouble(event.text)

    def say_trouble(self, text: str) -> None:
        """Say why the rows are missing or old."""
        count = self.query_one(".count", Static)
        count.add_class("-error")
        count.update(f"⚠ {text}")
        if not len(self.table.source):
            self.table.empty_message = text

    def _show(self, rows: Rows, query: Query, source: RowSource) -> None:
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
        if isinstance(source, FetchedRows):
            source.ask = lambda fetch: self._fetch(fetch, source)
        table.source = source
        count = self.query_one(".count", Static)
        count.remove_class("-error")
        total = rows_words(rows.total)
        count.update(f"{len(source):,} of {total}" if filtered else total)
        self._show_remark()

    @on(RankTable.RowHighlighted)
    def _highlighted(self, event: RankTable.RowHighlighted) -> None:
        event.stop()
        self._show_remark()

    def _show_remark(self) -> None:
        table, rows = self.table, self.rows
        text = ""
        if rows is not None and table.cursor < len(table.source):
            text = rows.remark(table.source, table.cursor)
        self.query_one(".remark", Static).update(text)

    # Pages of rows that are not in memory

    def _fetch(self, fetch: Callable[[], None], source: RowSource) -> None:
        # Asked while drawing: start the thread when that is over.
        self.call_later(self._fetch_in_thread, fetch, source)

    @work(thread=True, group="page", exit_on_error=False)
    def _fetch_in_thread(self, fetch: Callable[[], None], source: RowSource) -> None:
        try:
            fetch()
        except FetchError as error:
            self.post_message(self._Failed(str(error)))
        else:
            self.post_message(self._Fetched(source))

    @dataclass
    class _Fetched(Message):
        source: RowSource

    @on(_Fetched)
    def _fetched(self, event: _Fetched) -> None:
        if self.table.source is event.source:
            self.table.source = event.source
            self._show_remark()

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
        event.stop()
        self._descending = not self._descending if event.sort_key == self._sort else False
        self._sort = event.sort_key
        self._find_sorted()

    def sort_next(self) -> None:
        """Sort by the next column that can be sorted by."""
        keys = [c.sort_key for c in self.table.columns if c.sort_key is not None]
        if keys:
            at = keys.index(self._sort) if self._sort in keys else -1
            self._sort, self._descending = keys[(at + 1) % len(keys)], False
            self._find_sorted()

    def sort_reverse(self) -> None:
        """Turn the sorting round."""
        self._descending = not self._descending
        self._find_sorted()

    def _find_sorted(self) -> None:
        self.find()
        self.post_message(self.Sorted(self._sort, self._descending))

    @on(RankTable.RowOpened)
    def open_record(self, event: RankTable.RowOpened | None = None) -> None:
        """Ask for the page of the highlighted row."""
        if event is not None:
            event.stop()
        source, index, rows = self.table.source, self.table.cursor, self.rows
        if rows is not None and index < len(source):
            self.post_message(self.RecordWanted(lambda width: rows.lines(source, index, width)))
