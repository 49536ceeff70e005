"""What the screens share that show lists under tabs, with a filter."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from textual import on
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from advisor.tui.pages.screens import Dialog, RecordScreen, SizedScreen
from advisor.tui.pages.title_and_key_bars import Tabs
from advisor.tui.program.program import StoreChanged
from advisor.tui.widgets.filter_table import FilterTable, Rows
from advisor.tui.widgets.text_input import FilterInput

if TYPE_CHECKING:
    from price_catalog.builds import Build


class ListActions(Screen[Any]):
    """The keys of a filterable list, on a screen or on a page over one."""

    RECORD = "Record"
    """The title of a row's page."""

    @property
    def list(self) -> FilterTable:
        return self.query_one(FilterTable)

    @property
    def record(self) -> Any:
        return self.list.record

    @on(FilterTable.RecordWanted)
    def _wanted(self, event: FilterTable.RecordWanted) -> None:
        self.open_page(event)

    def open_page(self, event: FilterTable.RecordWanted) -> None:
        self.app.push_screen(RecordScreen(self.RECORD, event.page))

    def action_focus_filter(self) -> None:
        self.list.filter.focus()

    def action_next_sort(self) -> None:
        self.list.sort_next()

    def action_reverse_sort(self) -> None:
        self.list.sort_reverse()

    def action_open_record(self) -> None:
        self.list.open_record()

    def action_leave_field(self) -> None:
        self.list.table.focus()


class ListPage(ListActions, Dialog[Any]):
    """A list over a screen."""

    AUTO_FOCUS = "RankTable"

    def __init__(self, title: str, rows: Rows, *, empty: str = "", lead: str = "") -> None:
        super().__init__(title)
        self._rows, self._empty, self._lead = rows, empty, lead

    def body(self) -> Iterable[Widget]:
        if self._lead:
            yield Static(self._lead, markup=False, classes="counts")
        takes = isinstance(self, TakingPage)
        yield FilterTable(self._rows, empty=self._empty, enter_opens=takes)


class TakingPage(ListPage):
    """Closes with the row that is taken: Enter in the filter takes the first."""

    def action_take(self) -> None:
        if self.record is not None:
            self.dismiss(self.record)

    def open_page(self, event: FilterTable.RecordWanted) -> None:
        self.action_take()


class ListScreen(ListActions, SizedScreen):
    """Tabs, and one filterable list."""

    AUTO_FOCUS = "RankTable"

    def on_mount(self) -> None:
        self.read_store()
        session = self.app.session
        build = session.selected_build
        if session.has_chosen and build is not None:
            # The lists are about the build that the person chose; Esc in the filter shows all.
            self.filter_by(self.words_for(build))

    def words_for(self, build: Build) -> str:
        """What to filter by for one build."""
        return build.gpu.name

    def filter_by(self, words: str) -> None:
        self.call_after_refresh(self._put_filter, words)

    def _put_filter(self, words: str) -> None:
        for field in self.query(FilterInput):  # none where the page is closing, or was closed
            field.value = words

    @abstractmethod
    def read_store(self) -> object:
        """Read what is listed in a thread, and show it."""

    @property
    def tab(self) -> str:
        return self.query_one(Tabs).here

    @on(StoreChanged)
    def _store_changed(self) -> None:
        self.read_store()

    def record_text(self) -> str:
        """The highlighted row in full; empty where there is none."""
        record, rows = self.record, self.list.rows
        if rows is None or record is None:
            return ""
        return "\n".join(text for text, _ in rows.lines(record, 10_000))
