"""A table with a filter above it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
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


class Query(NamedTuple):
    """What a person wants to see of a list."""

    words: tuple[str, ...]
    """In lower case; a row must have all of them."""
    sort: str | None
    descending: bool


class Listed(RowSource):
    """What was found of a list, in an order."""

    def __init__(self, rows: Rows, records: Sequence[Any], total: int) -> None:
        """``total`` is how many there are without a filter."""
        self.rows = rows
        self.records = records
        self.total = total

    def __len__(self) -> int:
        return len(self.records)

    def cells(self, index: int) -> Sequence[str | Text]:
        return [column.cell(self.records[index]) for column in self.rows.columns]

    def row_style(self, index: int) -> RowStyle | None:
        return self.rows.row_style(self.records[index])

    def row_id(self, index: int) -> Hashable:
        return self.rows.row_id(self.records[index])


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """A list that can be filtered and sorted."""

    columns: Sequence[Column]
    lines: Callable[[Any, int], list[Line]]
    """A whole record, for a width in cells."""
    remark: Callable[[Any], str]
    """What is said of the highlighted row below the table."""
    records: Sequence[Any] = ()
    text: Callable[[Any], str] = str
    """What the filter looks at."""
    search: Callable[[Query], tuple[Sequence[Any], int]] | None = None
    """In place of records: finds them in a thread, and how many there are in all."""
    row_style: Callable[[Any], RowStyle | None] = lambda record: None
    row_id: Callable[[Any], Hashable] = id
    """What the cursor follows where the list is found again."""

    @cached_property
    def _texts(self) -> list[str]:
        return [self.text(record).lower() for record in self.records]

    def find(self, query: Query) -> Listed:
        """The rows that have all the words, in order; what is not known comes last."""
        if self.search is not None:
            return Listed(self, *self.search(query))
        found = list(self.records)
        if query.words:
            texts = zip(found, self._texts, strict=True)
            found = [each for each, text in texts if all(word in text for word in query.words)]
        value = next((c.sorts for c in self.columns if c.key == query.sort), None)
        if callable(value):
            known = [each for each in found if value(each) is not None]
            unknown = [each for each in found if value(each) is None]
            found = sorted(known, key=value, reverse=query.descending) + unknown
        return Listed(self, found, len(self.records))


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

    def __init__(self, rows: Rows | None = None, *, empty: str, enter_opens: bool = False) -> None:
        """``enter_opens``: Enter in the filter opens the first row, and does not only go there."""
        super().__init__()
        self._enter_opens = enter_opens
        self.rows = rows
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
        listed, at = self.listed, self.table.cursor
        return listed.records[at] if listed is not None and at < len(listed) else None

    def show(self, rows: Rows) -> None:
        """Show another list, with the same filter where it is the same list again."""
        table = self.table
        if [column.key for column in table.columns] != [column.key for column in rows.columns]:
            table.sorted_by, table.sort_descending = None, False
            if rows.search is not None:
                # Until they are found: the rows of another list are none of this one.
                table.source = RowSource()
                table.empty_message = "Reading …"
        table.columns = tuple(rows.columns)
        self.rows = rows
        self.find()

    def query_of(self) -> Query:
        words = tuple(self.filter.value.lower().split())
        return Query(words, self.table.sorted_by, self.table.sort_descending)

    def find(self) -> None:
        """Filter and sort, in a thread where that takes long."""
        if self.rows is None:
            return
        rows, query = self.rows, self.query_of()

        def found(listed: Listed) -> None:
            if rows is self.rows and query == self.query_of():
                self._show(listed, " ".join(query.words))

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

    def _show(self, listed: Listed, filtered: str) -> None:
        self.table.empty_message = (
            f"No row has '{filtered}': press / and change the filter, or Esc to clear it."
            if filtered
            else self._empty
        )
        self.table.source = listed
        count = self.query_one(".count", Static)
        count.remove_class("-error")
        total = rows_words(listed.total)
        count.update(f"{len(listed):,} of {total}" if len(listed) != listed.total else total)
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
        if self._enter_opens and isinstance(event, Input.Submitted):
            self.open_record()
        else:
            self.table.focus()

    @on(RankTable.HeaderClicked)
    def _header_clicked(self, event: RankTable.HeaderClicked) -> None:
        """By that column; clicked again, the other way; the third time as the list came."""
        event.stop()
        table = self.table
        again = event.key == table.sorted_by
        table.sorted_by = None if again and table.sort_descending else event.key
        table.sort_descending = again and not table.sort_descending
        self.find()

    def sort_next(self) -> None:
        table = self.table
        keys = [column.key for column in table.columns if column.sorts]
        if keys:
            at = keys.index(table.sorted_by) if table.sorted_by in keys else -1
            table.sorted_by, table.sort_descending = keys[(at + 1) % len(keys)], False
            self.find()

    def sort_reverse(self) -> None:
        """Largest or smallest first."""
        self.table.sort_descending = not self.table.sort_descending
        self.find()

    @on(RankTable.RowOpened)
    def open_record(self, event: RankTable.RowOpened | None = None) -> None:
        """Ask for the page of the highlighted row."""
        if event is not None:
            event.stop()
        record, rows = self.record, self.rows
        if rows is not None and record is not None:
            self.post_message(self.RecordWanted(lambda width: rows.lines(record, width)))
