"""Every build that is left out of a ranking, with the reason in words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from advisor.answers.build.one_build import OneBuild
from advisor.answers.build_words import gpus_words, machine_words
from advisor.answers.ranking.rank_answer import unit_of
from advisor.answers.wording import REASON_WORDS, TimeUnit, estimate_mark
from advisor.costs.amount_words import days_short, usd_whole
from advisor.ranking.row_order import ExcludedRow, Ranking
from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.build_lines import whole_page
from advisor.tui.pages.list_page import ListActions
from advisor.tui.pages.screens import Dialog
from advisor.tui.program.keys import LEFT_OUT
from advisor.tui.widgets.filter_table import FilterTable, Rows
from advisor.tui.widgets.table_layout import Column


class ExcludedScreen(ListActions, Dialog[None]):
    """A filterable list over the main screen."""

    WHERE = LEFT_OUT
    AUTO_FOCUS = "RankTable"
    RECORD = "Left out"

    def __init__(self, ranking: Ranking, about: Callable[[int], OneBuild], counts: str) -> None:
        """``about`` knows all about one of the candidates."""
        super().__init__()
        self._ranking = ranking
        self._about = about
        impossible = len(ranking.refused)
        beside = f" Listed after them: {impossible:,} times that no hardware could reach."
        self._counts = counts + (beside if impossible else "")

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = "Left out"
            yield Static(self._counts, markup=False, classes="counts")
            yield FilterTable(
                excluded_rows(self._ranking, self._about),
                empty="No build is left out: every one answers the question.",
            )
            yield DialogKeys(LEFT_OUT)

    def action_export(self) -> None:
        """Ask where to save the rows that the filter shows."""
        from advisor.answers.ranking.rank_json_csv import excluded_object
        from advisor.tui.pages.export_page import Exportable, ExportScreen

        shown = self.list.listed
        assert shown is not None
        rows = [excluded_object(_row(self._ranking, at)) for at in shown.every()]
        table = self.list.table
        what = Exportable(name="left-out", rows=lambda: rows, seen=table)
        self.app.push_screen(ExportScreen(what))


def excluded_rows(ranking: Ranking, about: Callable[[int], OneBuild]) -> Rows:
    """The left-out builds, and the impossible times of builds that a prediction ranks instead. A
    row's words are made when it is looked at."""
    builds, order, refused = ranking.candidates.builds, ranking.excluded_order, ranking.refused

    row, unit = partial(_row, ranking), unit_of(ranking)

    def build_of(position: int) -> int:
        if position < len(order):
            return order[position][0]
        return builds.index(refused[position - len(order)].build)

    def reason(position: int) -> str:
        return order[position][1] if position < len(order) else "implausible-time"

    def name(position: int) -> str:
        build = builds[build_of(position)]
        return f"{gpus_words(build)}, {machine_words(build)}"

    def by_build(position: int) -> tuple[str, int]:
        build = builds[build_of(position)]
        return build.gpu.name, build.gpu_count

    return Rows(
        (
            Column(key="build", title="machine", sort_key="build", width=30, least=22),
            Column(key="reason", title="reason", sort_key="reason", width=15, least=12),
            Column(key="cost", title="cost", align="right", sort_key="cost", width=8),
            Column(key="days", title=f"{unit.word}s", align="right", sort_key="days", width=7),
            Column(key="detail", title="in words", sort_key="detail", width=46),
        ),
        range(len(order) + len(refused)),
        cells=lambda position: _cells(row(position), name(position), unit),
        text=lambda at: f"{gpus_words(builds[build_of(at)])} {REASON_WORDS.get(reason(at), '')}",
        keys={
            "build": by_build,
            "reason": reason,
            "cost": lambda position: row(position).overall_cost_usd,
            "days": lambda position: row(position).training_days,
            "detail": lambda position: row(position).detail.lower(),
        },
        lines=lambda position, width: whole_page(about(build_of(position)), width),
        remark=lambda position: row(position).detail,
    )


def _row(ranking: Ranking, position: int) -> ExcludedRow:
    after = position - len(ranking.excluded_order)
    return ranking.excluded_row(position) if after < 0 else ranking.refused[after]


def _cells(row: ExcludedRow, name: str, unit: TimeUnit) -> tuple[str, ...]:
    """One left-out build as a row of the table."""
    cost, days, mark = row.overall_cost_usd, row.training_days, ""
    if row.time is not None and days is not None:
        mark = estimate_mark(row.time)
    return (
        name,
        REASON_WORDS.get(row.reason, row.reason),
        "no price" if cost is None else usd_whole(cost),
        "no data" if days is None else f"{mark}{days_short(days * unit.a_day)}",
        row.detail,
    )
