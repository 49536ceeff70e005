"""Every build that is left out of a ranking, with the reason in words."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Static

from advisor.answers.build_words import gpus_words
from advisor.answers.wording import REASONS_SHORT, estimate_mark
from advisor.costs.amounts import days_short, usd_whole
from advisor.ranking.rank import ExcludedRow, Ranking
from advisor.ranking.snapshot import Snapshot
from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.list_page import ListActions
from advisor.tui.pages.screens import Dialog
from advisor.tui.program.actions import LEFT_OUT, bindings_of
from advisor.tui.ranking.build_page import excluded_lines
from advisor.tui.ranking.ranking_rows import names_apart
from advisor.tui.widgets.filter_table import FilterTable, MemoryRows, MemorySource
from advisor.tui.widgets.lines import Line
from advisor.tui.widgets.table_layout import Column
from price_catalog.builds import Build

MIDDLE = 76
"""From this width on there is room for a longer name."""
LEFT_OUT_NAME, LEAST_LEFT_OUT_NAME = 30, 22
"""Cells of a left-out machine's name: with it, reason, cost and days fit 80 columns; with the
least, its reason and cost fit 60."""


class ExcludedScreen(ListActions, Dialog[None]):
    """A filterable list over the main screen."""

    WHERE = LEFT_OUT
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(LEFT_OUT)]
    AUTO_FOCUS = "RankTable"
    RECORD = "Left out"

    def __init__(self, ranking: Ranking, snapshot: Snapshot, counts: str) -> None:
        super().__init__()
        self._ranking = ranking
        self._snapshot = snapshot
        impossible = len(ranking.refused)
        beside = f" Listed after them: {impossible:,} times that no hardware could reach."
        self._counts = counts + (beside if impossible else "")

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = "Left out"
            yield Static(self._counts, markup=False, classes="counts")
            yield FilterTable(
                excluded_rows(self._ranking, self._snapshot, self.app.size.width),
                empty="No build is left out: every one answers the question.",
            )
            yield DialogKeys(LEFT_OUT)

    def action_export(self) -> None:
        """Ask where to save the rows that the filter shows."""
        from advisor.answers.ranking.rank_exports import CSV_COLUMNS, excluded_object
        from advisor.tui.pages.export_page import Exportable, ExportScreen

        table = self.list.table
        shown = table.source
        assert isinstance(shown, MemorySource)
        rows = [
            excluded_object(_row(self._ranking, at)) for at in map(shown.record, range(len(shown)))
        ]
        what = Exportable(name="left-out", columns=CSV_COLUMNS, rows=lambda: rows, seen=table)
        self.app.push_screen(ExportScreen(what))


def excluded_rows(ranking: Ranking, snapshot: Snapshot, width: int) -> MemoryRows:
    """The left-out builds, and the impossible times of builds that a prediction ranks instead, for
    a terminal that is so wide.

    A row's words are made when it is looked at.
    """
    columns = _columns(width)
    candidates, order, refused = ranking.candidates, ranking.excluded_order, ranking.refused

    row = partial(_row, ranking)

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

    groups: dict[tuple[str, int, int], list[Build]] = {}
    alike: dict[tuple[str, int, int], dict[str, str]] = {}

    def name(position: int) -> str:
        """GPUs and machine, by the rule of the ranked builds: those with the same GPUs stay
        apart."""
        build, _ = build_and_reason(position)
        if build.cards not in alike:
            if not groups:
                for each in candidates.builds:
                    groups.setdefault(each.cards, []).append(each)
            hosts = groups.get(build.cards, [])
            names = names_apart(hosts, columns[0].width or 0)
            alike[build.cards] = dict(zip((b.host.host_id for b in hosts), names, strict=True))
        return alike[build.cards].get(build.host.host_id) or gpus_words(build)

    return MemoryRows(
        columns,
        range(len(order) + len(refused)),
        cells=lambda position: _cells(row(position), name(position)),
        text=text,
        keys={
            "build": by_build,
            "reason": lambda position: build_and_reason(position)[1],
            "cost": lambda position: row(position).overall_cost_usd,
            "days": lambda position: row(position).training_days,
            "detail": lambda position: row(position).detail.lower(),
        },
        lines=lines,
        remark=lambda position: row(position).detail,
    )


def _row(ranking: Ranking, position: int) -> ExcludedRow:
    after = position - len(ranking.excluded_order)
    return ranking.excluded_row(position) if after < 0 else ranking.refused[after]


def _columns(width: int) -> tuple[Column, ...]:
    """What is said of a left-out build, on a terminal that is so wide."""
    name = LEFT_OUT_NAME if width >= MIDDLE else LEAST_LEFT_OUT_NAME
    return (
        Column(key="build", title="machine", sort_key="build", width=name),
        Column(key="reason", title="reason", sort_key="reason", width=15, least=12),
        Column(key="cost", title="cost", align="right", sort_key="cost", width=8),
        Column(key="days", title="days", align="right", sort_key="days", width=7),
        Column(key="detail", title="in words", sort_key="detail", width=46),
    )


def _cells(row: ExcludedRow, name: str) -> tuple[str, ...]:
    """One left-out build as a row of the table; ``name`` fits its column."""
    cost, days, mark = row.overall_cost_usd, row.training_days, ""
    if row.time is not None and days is not None:
        mark = estimate_mark(row.time)
    return (
        name,
        REASONS_SHORT.get(row.reason, row.reason),
        "no price" if cost is None else usd_whole(cost),
        "no data" if days is None else f"{mark}{days_short(days)}",
        row.detail,
    )
