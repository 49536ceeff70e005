"""Every build that is left out of a ranking, with the reason in words."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from advisor.answers.wording import REASONS_SHORT, gpus_words
from advisor.ranking.rank import ExcludedRow, Ranking
from advisor.ranking.snapshot import Snapshot
from advisor.tui.pages.bars import clickable
from advisor.tui.pages.dialog import Dialog
from advisor.tui.pages.record import RecordScreen
from advisor.tui.ranking.build_page import excluded_lines
from advisor.tui.ranking.ranking_rows import EXCLUDED_COLUMNS, excluded_cells
from advisor.tui.widgets.filter_table import FilterTable, MemoryRows
from advisor.tui.widgets.lines import Line
from price_catalog.builds import Build


class ExcludedScreen(Dialog[None]):
    """A filterable list over the main screen."""

    CSS_PATH = "../pages/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,x", "dismiss", "close", show=False),
        Binding("slash", "focus_filter", "filter", show=False),
        Binding("s", "next_sort", "sort", show=False),
        Binding("S", "reverse_sort", "reverse", show=False),
        Binding("f1,question_mark", "app.help", "help", show=False),
    ]
    AUTO_FOCUS = "RankTable"

    def __init__(self, ranking: Ranking, snapshot: Snapshot, counts: str) -> None:
        super().__init__()
        self._ranking = ranking
        self._snapshot = snapshot
        self._counts = counts

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = "Left out"
            yield Static(self._counts, markup=False, classes="counts")
            yield FilterTable(
                excluded_rows(self._ranking, self._snapshot),
                empty="No build is left out: every one answers the question.",
            )
            yield Static(
                clickable(
                    [
                        ("/", "filter", "screen.focus_filter"),
                        ("s", "sort", "screen.next_sort"),
                        ("Enter", "the whole record", "screen.open"),
                        ("Esc", "close", "screen.dismiss"),
                    ]
                ),
                classes="keys",
            )

    @on(FilterTable.RecordWanted)
    def _open(self, event: FilterTable.RecordWanted) -> None:
        self.app.push_screen(RecordScreen("Left out", event.page))

    def action_open(self) -> None:
        """Open the highlighted row in full."""
        self.query_one(FilterTable).open_record()

    def action_focus_filter(self) -> None:
        """Go to the filter."""
        self.query_one(FilterTable).filter.focus()

    def action_next_sort(self) -> None:
        """Sort by the next column."""
        self.query_one(FilterTable).sort_next()

    def action_reverse_sort(self) -> None:
        """Turn the sorting round."""
        self.query_one(FilterTable).sort_reverse()


def excluded_rows(ranking: Ranking, snapshot: Snapshot) -> MemoryRows:
    """The left-out builds, and the impossible times of builds that a prediction ranks instead.

    A row's words are made when it is looked at.
    """
    candidates, order, refused = ranking.candidates, ranking.excluded_order, ranking.refused

    def row(position: int) -> ExcludedRow:
        if position < len(order):
            return ranking.excluded_row(position)
        return refused[position - len(order)]

    def build_and_reason(position: int) -> tuple[Build, str]:
        if position < len(order):
            i, reason = order[position]
            return candidates.builds[i], reason
        return refused[position - len(order)].build, "implausible-time"

    def text(position: int) -> str:
        build, reason = build_and_reason(position)
        return f"{gpus_words(build)} {REASONS_SHORT.get(reason, reason)}"

    def lines(position: int, width: int) -> list[Line]:
        return excluded_lines(ranking, row(position), snapshot, width)

    def by_build(position: int) -> tuple[str, int]:
        build, _ = build_and_reason(position)
        return (build.gpu.name, build.gpu_count)

    return MemoryRows(
        EXCLUDED_COLUMNS,
        range(len(order) + len(refused)),
        cells=lambda position: excluded_cells(row(position)),
        text=text,
        keys={
            "build": by_build,
            "reason": lambda position: build_and_reason(position)[1],
            "cost": lambda position: row(position).overall_cost_usd,
            "days": lambda position: row(position).training_days,
        },
        lines=lines,
        remark=lambda position: row(position).detail,
    )
