"""What the screens share that show lists under tabs, with a filter."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from textual import on
from textual.screen import Screen

from advisor.tui.pages.bars import Tabs
from advisor.tui.pages.screens import RecordScreen, SizedScreen
from advisor.tui.program.program import StoreChanged
from advisor.tui.widgets.filter_table import FilterTable
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
        """The highlighted record; None where there is none."""
        return self.list.record

    @on(FilterTable.RecordWanted)
    def _wanted(self, event: FilterTable.RecordWanted) -> None:
        self.open_page(event)

    def open_page(self, event: FilterTable.RecordWanted) -> None:
        """Show a row in full."""
        self.app.push_screen(RecordScreen(self.RECORD, event.page))

    def action_focus_filter(self) -> None:
        """Go to the filter."""
        self.list.filter.focus()

    def action_next_sort(self) -> None:
        """Sort by the next column."""
        self.list.sort_next()

    def action_reverse_sort(self) -> None:
        """Turn the sorting round."""
        self.list.sort_reverse()

    def action_open_record(self) -> None:
        """Open the highlighted row in full."""
        self.list.open_record()

    def action_leave_field(self) -> None:
        """Go from the filter to the table."""
        self.list.table.focus()


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
        """Show the rows that have these words."""
        self.call_after_refresh(self._put_filter, words)

    def _put_filter(self, words: str) -> None:
        for field in self.query(FilterInput):  # none where the page is closing, or was closed
            field.value = words

    @abstractmethod
    def read_store(self) -> object:
        """Read what is listed in a thread, and show it."""

    @property
    def tab(self) -> str:
        """Which list is shown."""
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
