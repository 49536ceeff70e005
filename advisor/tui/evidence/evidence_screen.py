"""The evidence itself: every time with its verdict, every source, what peers have."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.geometry import Size
from textual.widgets import Input, Static

from advisor.answers.paper.peers import Peer
from advisor.tui.evidence.evidence_rows import (
    TIMES_COLUMNS,
    Times,
    peer_rows,
    record_rows,
    source_rows,
    times_rows,
)
from advisor.tui.pages.bars import KeyBar, Tabs, TitleBar
from advisor.tui.pages.list_page import ListScreen
from advisor.tui.program.keys import EVIDENCE
from advisor.tui.widgets.filter_table import FilterTable, Query, Rows
from advisor.tui.widgets.in_thread import in_thread
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

    def read_store(self) -> None:
        """Read what the lists need, and whether the chosen build's GPU was measured."""
        session, store_reader = self.app.session, self.app.store_reader
        inputs, build = session.inputs, session.selected_build if session.has_chosen else None
        words = () if build is None else tuple(self.words_for(build).lower().split())

        def read() -> tuple[Snapshot, bool]:
            snapshot = store_reader.read(inputs).snapshot
            found = not words or len(Times(store_reader, snapshot).find(Query(words, None, False)))
            return snapshot, bool(found)

        in_thread(self, "read", read, self._store_read, self.list.say_trouble)

    def _store_read(self, read: tuple[Snapshot, bool]) -> None:
        snapshot, is_measured = read
        if snapshot is not self._snapshot:
            self._snapshot = snapshot
            self.show_rows(self._rows(self.tab))
        build = self.app.session.selected_build
        if not is_measured and build is not None:
            self._show_predictions(build.gpu.name)

    def _show_predictions(self, gpu: str) -> None:
        """Nothing of this GPU was measured: show what is predicted instead."""
        if self.tab == "times" and not self._told:
            self._told = True
            self.action_show_tab("predictions")
            about = (
                f"Among the measured times none is of the {gpu}: these are estimates (≈), "
                "with their interval. Space says what one rests on."
            )
            self.query_one("#about", Static).update(about)
            if (answer := self.app.session.answer) is not None:
                self.filter_by(f"{gpu} {answer.view.candidates.model.recipe_id}")

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

        rows, listed = self.list.rows, self.list.listed
        if listed is None:
            self.app.notify("There is nothing to save yet.")
            return
        columns: tuple[str, ...] = TIMES_COLUMNS
        if isinstance(rows, Times):
            make = partial(times_rows, rows, listed)
        else:
            peers = tuple(field.name for field in fields(Peer))
            columns = peers if self.tab == "peers" else Source._fields
            make = partial(record_rows, listed.every(), columns)
        what = Exportable(name=self.tab, columns=columns, rows=make, seen=self.list.table)
        self.app.push_screen(ExportScreen(what))

    def action_copy_row(self) -> None:
        """Copy the highlighted record."""
        self.app.copy_text(self.record_text(), "the record")
