"""Every build that is left out of a ranking, with the reason in words."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click
from textual.screen import ModalScreen
from textual.widgets import Static

from advisor.ask import Snapshot
from advisor.rank import Ranking
from advisor.tui.controls.bars import clickable
from advisor.tui.controls.filter_table import FilterTable, MemoryRows
from advisor.tui.screens.record import RecordScreen
from advisor.tui.view import EXCLUDED_COLUMNS, REASON_WORDS, excluded_cells
from advisor.tui.words import Line, excluded_lines


class ExcludedScreen(ModalScreen[None]):
    """A filterable list over the main screen."""

    CSS_PATH = "../styles/dialogs.tcss"
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

    def on_click(self, event: Click) -> None:
        if event.widget is self:
            self.dismiss()


def excluded_rows(ranking: Ranking, snapshot: Snapshot) -> MemoryRows:
    """The left-out builds as a list; a row's words are made when it is looked at."""
    field, order = ranking.field, ranking.excluded_order

    def text(position: int) -> str:
        i, reason = order[position]
        build = field.builds[i]
        return f"{build.gpu_count} × {build.gpu.name} {REASON_WORDS[reason]}"

    def lines(position: int, width: int) -> list[Line]:
        return excluded_lines(ranking, order[position][0], snapshot, width)

    def build_sort(position: int) -> tuple[str, int]:
        build = field.builds[order[position][0]]
        return (build.gpu.name, build.gpu_count)

    return MemoryRows(
        EXCLUDED_COLUMNS,
        range(len(order)),
        cells=lambda position: excluded_cells(ranking.excluded_row(position)),
        text=text,
        keys={
            "build": build_sort,
            "reason": lambda position: order[position][1],
            "cost": partial(_cost, ranking),
            "days": lambda position: ranking.excluded_row(position).training_days,
        },
        lines=lines,
        remark=lambda position: ranking.excluded_row(position).detail,
    )


def _cost(ranking: Ranking, position: int) -> int | None:
    cents = ranking.field.cents[ranking.excluded_order[position][0]]
    return cents if cents >= 0 else None
