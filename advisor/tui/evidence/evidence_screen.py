"""The evidence itself: every time with its verdict, every source, what peers have."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Input, Static

from advisor.answers.paper.peers import Peer
from advisor.tui.evidence.evidence_rows import (
    TIMES_COLUMNS,
    Times,
    TimesSource,
    peer_rows,
    record_rows,
    source_rows,
    times_rows,
)
from advisor.tui.pages.bars import KeyBar, Tabs, TitleBar
from advisor.tui.pages.list_page import ListScreen
from advisor.tui.program.keys import EVIDENCE
from advisor.tui.program.program import StoreRead, StoreTrouble
from advisor.tui.widgets.fetch_error import FetchError
from advisor.tui.widgets.filter_table import FilterTable, MemorySource, Query, Rows
from price_catalog.model import Source

if TYPE_CHECKING:
    from advisor.ranking.snapshot import Snapshot

TABS = {
    "times": "Times",
    "sources": "Sources",
    "predictions": "With predictions",
    "peers": "Peers",
}
TIMES = ("times", "predictions")
"""The lists of times: what is measured, and what is predicted beside it."""
ABOUT = {
    "times": "Every tried setting. ✓ plausible, ? doubtful (over 75 % of the peak), ✗ implausible "
    "(over 100 %): not ranked.",
    "predictions": "What was measured, and beside it what is predicted (≈ and its 90 % interval): "
    "no evidence, but what follows from it.",
    "peers": "What 50 researchers of 35 institutions had in April 2024, and yours.",
    "sources": "Who says so, how they know, and what is known to be wrong with it.",
}


class EvidenceScreen(ListScreen):
    """Times, sources and peers; the prices have a screen of their own."""

    WHERE = EVIDENCE
    HELP = """\
## The evidence

What was measured, by whom, and whether it can be believed: `✓` *plausible*, `?` *doubtful*, `✗`
*implausible*, faster than the hardware can be. `1` to `4` choose the list; `Space` opens a row in
words, with its source.
"""
    CSS_PATH = "evidence.tcss"

    @dataclass
    class NothingMeasured(Message):
        """No time of the chosen build's GPU was measured."""

        gpu: str

    def __init__(self, size: Size) -> None:
        super().__init__(size)
        self._snapshot: Snapshot | None = None
        self._told = False
        """Whether it was said that nothing was measured."""
        self._words = dict.fromkeys(TABS, "")
        """What each list but the one in front is filtered by."""

    def compose(self) -> ComposeResult:
        yield TitleBar(EVIDENCE)
        yield Tabs(TABS, "show_tab")
        yield Static(ABOUT["times"], id="about", markup=False)
        yield FilterTable(empty="The store holds none.")
        yield KeyBar(EVIDENCE)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def read_store(self) -> None:
        """Read what the lists need, and post it."""
        session = self.app.session
        build = session.selected_build if session.has_chosen else None
        try:
            reading = self.app.store_reader.read(self.app.inputs)
            self.post_message(StoreRead(reading))
            if build is not None:
                words = tuple(self.words_for(build).lower().split())
                times = Times(self.app.store_reader, reading.snapshot)
                if not len(times.find(Query(words, None, False))):
                    self.post_message(self.NothingMeasured(build.gpu.name))
        except FetchError as error:
            self.post_message(StoreTrouble(str(error)))

    @on(NothingMeasured)
    def _nothing_measured(self, event: NothingMeasured) -> None:
        """Show what is predicted instead."""
        if self.tab == "times" and not self._told:
            self._told = True
            self.action_show_tab("predictions")
            about = (
                f"Among the measured times none is of the {event.gpu}: these are estimates (≈), "
                "with their interval. Space says what one rests on."
            )
            self.query_one("#about", Static).update(about)
            if (answer := self.app.session.answer) is not None:
                self.filter_by(f"{event.gpu} {answer.view.candidates.model.recipe_id}")

    @on(StoreRead)
    def _store_read(self, event: StoreRead) -> None:
        if event.reading.snapshot is not self._snapshot:
            self._snapshot = event.reading.snapshot
            self.show_rows(self._rows(self.tab))

    def _rows(self, tab: str) -> Rows:
        assert self._snapshot is not None
        if tab == "sources":
            return source_rows(self._snapshot)
        if tab == "peers":
            return peer_rows(self._snapshot)
        return Times(self.app.store_reader, self._snapshot, predictions=tab == "predictions")

    def action_show_tab(self, tab: str) -> None:
        """Show one of the lists, from its top, with the filter that it had; that of the times
        holds for both lists of them."""
        tabs, field = self.query_one(Tabs), self.list.filter
        for each in TIMES if tabs.here in TIMES else (tabs.here,):
            self._words[each] = field.value
        tabs.here = tab
        with field.prevent(Input.Changed):
            field.value = self._words[tab]
        self.query_one("#about", Static).update(ABOUT[tab])
        if self._snapshot is not None:
            self.show_rows(self._rows(tab))
        self.list.table.focus()

    def action_export(self) -> None:
        """Ask where to save the rows that the filter shows."""
        from advisor.tui.pages.export_page import Exportable, ExportScreen

        rows, table = self.list.rows, self.list.table
        source = table.source
        columns: tuple[str, ...] = TIMES_COLUMNS
        if isinstance(rows, Times) and isinstance(source, TimesSource):
            make = partial(times_rows, rows, source)
        elif isinstance(source, MemorySource):
            peers = tuple(field.name for field in fields(Peer))
            columns = peers if self.tab == "peers" else Source._fields
            records = [source.record(index) for index in range(len(source))]
            make = partial(record_rows, records, columns)
        else:
            self.app.notify("There is nothing to save yet.")
            return
        what = Exportable(name=self.tab, columns=columns, rows=make, seen=table)
        self.app.push_screen(ExportScreen(what))

    def action_copy_row(self) -> None:
        """Copy the highlighted record."""
        self.app.copy_text(self.record_text(), "the record")
