"""What a benchmark has tried: how far it is, a row for each setting, and what is said below."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Static

from advisor.benchmark.progress import Progress
from advisor.tui.benchmark.benchmark_lines import status_words
from advisor.tui.benchmark.benchmark_rows import BoardRows
from advisor.tui.program.keys import BENCHMARK
from advisor.tui.program.program import Program
from advisor.tui.widgets.filter_table import FilterTable
from advisor.tui.widgets.lines import Line, LinesView, wrapped


class BenchmarkBoard(Widget):
    """Draws a `Progress`; whoever owns it says when."""

    app: Program

    DEFAULT_CSS = "BenchmarkBoard { height: 1fr; layout: vertical; }"

    def __init__(self) -> None:
        super().__init__()
        self._progress: Progress | None = None
        self._ended = False
        self._whole = False
        """Whether what was left out is shown once it is over."""

    def compose(self) -> ComposeResult:
        yield Static("", id="status", markup=False)
        yield FilterTable(empty="The settings are listed here once it is clear what would run.")
        yield LinesView(id="said")

    @property
    def settings(self) -> FilterTable:
        return self.query_one(FilterTable)

    def show(self, progress: Progress, lines: list[Line], *, ended: bool = False) -> None:
        """Show the settings as they are now, and what is said of them."""
        first = ended and not self._ended
        self._progress, self._ended = progress, ended
        self._show_rows()
        best, listed = progress.best_row, self.settings.listed
        if first and best is not None and listed is not None and best in listed.every():
            self.settings.table.cursor = listed.every().index(best)
        self.say(lines)

    def say(self, lines: list[Line]) -> None:
        """Say this below the table."""
        self.query_one("#said", LinesView).show(lambda width: wrapped(lines, width), from_top=True)

    def show_status(self, elapsed_s: float | None, limit_s: float | None = None) -> None:
        """Say how far it is after this time; None for what has not begun."""
        words = ""
        if self._progress is not None and elapsed_s is not None:
            words = status_words(self._progress, elapsed_s, limit_s)
        self.query_one("#status", Static).update(words)

    def fold(self) -> None:
        """Show every setting, or fold what was left out."""
        self._whole = not self._whole
        self._show_rows()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_rows)

    def _show_rows(self) -> None:
        if self._progress is not None:
            whole = self._whole or not self._ended
            column, descending = self.app.inputs.sort_of(BENCHMARK)
            rows = BoardRows(self._progress, self.app.size.width, whole=whole)
            self.settings.show(rows, sort=column, descending=descending)

    @on(FilterTable.Sorted)
    def _sorted(self, event: FilterTable.Sorted) -> None:
        self.app.session.sort_list(BENCHMARK, event.by, descending=event.descending)
