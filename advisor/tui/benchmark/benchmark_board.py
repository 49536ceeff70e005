"""What a benchmark has tried: how far it is, a row for each setting, and what is said below."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Input, Static

from advisor.benchmark.progress import Progress, shown_first
from advisor.tui.benchmark.benchmark_lines import status_words, tried_lines
from advisor.tui.benchmark.benchmark_rows import (
    BoardRows,
    columns,
    full_name,
    longest_label,
    shared_words,
)
from advisor.tui.pages.screens import RecordScreen
from advisor.tui.program.keys import BENCHMARK
from advisor.tui.widgets.lines import Line, LinesView, wrapped
from advisor.tui.widgets.rank_table import RankTable
from advisor.tui.widgets.text_input import FilterInput, FilterLine

if TYPE_CHECKING:
    from advisor.tui.program.program import Program

EMPTY = "The settings are listed here once it is clear what would run."


class BenchmarkBoard(Widget):
    """Draws a `Progress`; whoever owns it says when."""

    app: Program

    DEFAULT_CSS = """
    BenchmarkBoard { height: 1fr; layout: vertical; }
    BenchmarkBoard #shared { height: auto; padding: 0 1; color: $foreground 75%; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._progress: Progress | None = None
        self._ended = False
        self._whole = False
        """Whether what was left out is shown once it is over."""
        self._words: tuple[str, ...] = ()
        """What a setting must have to be shown."""

    def compose(self) -> ComposeResult:
        yield Static("", id="status", markup=False)
        yield RankTable(columns(80), id="table", fixed_columns=1)
        yield Static("", id="shared", markup=False)
        yield LinesView(id="said")

    def on_mount(self) -> None:
        self.table.empty_message = EMPTY

    @property
    def table(self) -> RankTable:
        return self.query_one("#table", RankTable)

    def show(self, progress: Progress, lines: list[Line], *, ended: bool = False) -> None:
        """Show the settings as they are now, and what is said of them."""
        first = ended and not self._ended
        self._progress, self._ended = progress, ended
        self._show_rows()
        if first:
            self._show_the_winner()
        self.say(lines)

    def _show_the_winner(self) -> None:
        source = self.table.source
        best = None if self._progress is None else self._progress.best_row
        if isinstance(source, BoardRows) and best is not None and best.label in source.labels:
            self.table.cursor = source.labels.index(best.label)

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

    # The filter

    async def filter(self) -> None:
        """Type words that a setting must have."""
        await FilterLine.shown_on(self, before="#table")

    @on(FilterLine.Typed)
    def _filter_typed(self, event: FilterLine.Typed) -> None:
        self._words = event.words
        self._show_rows()

    @on(FilterInput.Left)
    @on(Input.Submitted, "#filter")
    def _filter_left(self, event: FilterInput.Left | Input.Submitted) -> None:
        event.stop()
        self.query_one(FilterLine).fold()
        self.table.focus()

    @on(RankTable.RowOpened)
    def open_row(self) -> None:
        """Open everything about the highlighted setting."""
        source, at = self.table.source, self.table.cursor
        if isinstance(source, BoardRows) and at < len(source):
            row = source.row(at)
            self.app.push_screen(
                RecordScreen(full_name(row.label), partial(wrapped, tried_lines(row)))
            )

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_rows)

    def _show_rows(self) -> None:
        if self._progress is None:
            return
        # While it runs the newest reason is below: the names have the room.
        whole = self._whole or not self._ended
        shown_rows = self._progress.rows.values() if whole else shown_first(self._progress)[0]
        reasons = self._ended and any(row.detail for row in shown_rows)
        width = self.table.size.width or 80
        longest = longest_label(self._progress, whole=whole, room=width)
        shown = columns(width, longest, reasons=reasons)
        if shown != self.table.columns:
            self.table.columns = shown
        column, descending = self.app.inputs.sort_of(BENCHMARK)
        self.table.sorted_by, self.table.sort_descending = column, descending
        self.table.empty_message = EMPTY
        if self._words:
            said = " ".join(self._words)
            self.table.empty_message = f"No setting has '{said}': press / and change the filter."
        rows = BoardRows(
            self._progress,
            shown,
            whole=whole or bool(self._words),
            words=self._words,
            sort=column or "",
            descending=descending,
        )
        self.table.source = rows
        said, line = shared_words(rows.labels), self.query_one("#shared", Static)
        line.display = bool(said)
        if line.content != said:
            line.update(said)

    @on(RankTable.HeaderClicked)
    def _header_clicked(self, event: RankTable.HeaderClicked) -> None:
        """Sort by that column; clicked again, the other way; the third time as they are tried."""
        column, descending = self.app.inputs.sort_of(BENCHMARK)
        again = column == event.sort_key
        wanted = None if again and descending else event.sort_key
        self.app.session.sort_list(BENCHMARK, wanted, descending=again and not descending)
        self._show_rows()
