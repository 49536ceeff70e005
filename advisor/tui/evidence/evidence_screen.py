"""The evidence itself: every time with its verdict, and every source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.geometry import Size
from textual.widgets import Input, Static

from advisor.answers.prediction.recorded_times import time_rows
from advisor.tui.evidence.evidence_rows import source_rows, time_list
from advisor.tui.pages.list_page import ListScreen
from advisor.tui.pages.title_and_key_bars import KeyBar, Tabs, TitleBar
from advisor.tui.widgets.filter_table import FilterTable, Rows
from advisor.tui.widgets.in_thread import in_thread

if TYPE_CHECKING:
    from advisor.ranking.snapshot import Snapshot

TABS = {
    "times": "Times",
    "sources": "Sources",
    "predictions": "With predictions",
}
TIMES = ("times", "predictions")
"""The lists of times: what is measured, and what is predicted beside it."""
ABOUT = {
    "times": "Every tried setting. ✓ plausible, ? doubtful (over 75 % of the peak), ✗ implausible "
    "(over 100 %): not ranked. 3 adds what is predicted.",
    "predictions": "What was measured, and beside it what is predicted (≈ and its 90 % interval): "
    "no evidence, but what follows from it.",
    "sources": "Who says so, how they know, and what is known to be wrong with it.",
}


class EvidenceScreen(ListScreen):
    """Times and sources; the prices have a screen of their own."""

    WHERE = "evidence"
    HELP = """\
## The evidence

What was measured, by whom, and whether it can be believed: `✓` *plausible*, `?` *doubtful*, `✗`
*implausible*, faster than the hardware can be. `1` to `3` choose the list; `Space` opens a row in
words, with its source.
"""
    CSS_PATH = "evidence.tcss"

    def __init__(self, size: Size) -> None:
        super().__init__(size)
        self._snapshot: Snapshot | None = None
        self._words = dict.fromkeys(TABS, "")
        """What each list but the one in front is filtered by."""

    def compose(self) -> ComposeResult:
        yield TitleBar("evidence")
        yield Tabs(TABS, "show_tab")
        yield Static(ABOUT["times"], id="about", markup=False)
        yield FilterTable(empty="The store holds none.")
        yield KeyBar("evidence")

    def read_store(self) -> None:
        read, inputs = self.app.store_reader.read, self.app.session.inputs
        in_thread(
            self, "read", lambda: read(inputs).snapshot, self._store_read, self.list.say_trouble
        )

    def _store_read(self, snapshot: Snapshot) -> None:
        if snapshot is not self._snapshot:
            self._snapshot = snapshot
            self.list.show(self._rows(self.tab))

    def _rows(self, tab: str) -> Rows:
        assert self._snapshot is not None
        if tab == "sources":
            return source_rows(self._snapshot)
        return time_list(self.app.store_reader, self._snapshot, predictions=tab == "predictions")

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
            self.list.show(self._rows(tab))
        self.list.table.focus()

    def action_export(self) -> None:
        from advisor.tui.pages.export_page import Exportable, ExportScreen

        tab, snapshot, listed = self.tab, self._snapshot, self.list.listed
        if listed is None:
            self.app.notify("There is nothing to save yet.")
            return

        def records() -> list[dict[str, Any]]:
            if snapshot is not None and tab != "sources":
                names = {gpu.gpu_id: gpu.name for gpu in snapshot.gpus}
                return time_rows(tab, listed.records, names)
            return [source._asdict() for source in listed.records]

        what = Exportable(name=tab, rows=records, seen=self.list.table)
        self.app.push_screen(ExportScreen(what))

    def action_copy_row(self) -> None:
        self.app.copy_text(self.record_text(), "the record")
