"""Every build that is left out of a ranking, with the reason in words."""

from __future__ import annotations

from collections.abc import Callable

from advisor.answers.build_words import gpus_words, machine_words
from advisor.answers.builds.one_build import OneBuild
from advisor.answers.ranking.rank_answer import unit_of
from advisor.answers.wording import REASON_WORDS, estimate_mark
from advisor.costs.amount_words import days_short, usd_whole
from advisor.ranking.row_order import ExcludedRow, Ranking
from advisor.tui.pages.build_lines import whole_page
from advisor.tui.pages.list_page import ListPage
from advisor.tui.widgets.filter_table import Rows
from advisor.tui.widgets.table_layout import Column


class ExcludedScreen(ListPage):
    """What is left out, over the main screen."""

    WHERE = "left out"
    RECORD = "Left out"

    def __init__(self, ranking: Ranking, about: Callable[[int], OneBuild], counts: str) -> None:
        """``about`` knows all about one of the candidates."""
        impossible = len(ranking.refused)
        beside = f" Listed after them: {impossible:,} times that no hardware could reach."
        super().__init__(
            "Left out",
            excluded_rows(ranking, about),
            empty="No build is left out: every one answers the question.",
            lead=counts + (beside if impossible else ""),
        )

    def action_export(self) -> None:
        from advisor.answers.ranking.rank_json_csv import excluded_object
        from advisor.tui.pages.export_page import Exportable, ExportScreen

        shown = self.list.listed
        assert shown is not None
        rows = [excluded_object(row) for row in shown.records]
        what = Exportable(name="left-out", rows=lambda: rows, seen=self.list.table)
        self.app.push_screen(ExportScreen(what))


def excluded_rows(ranking: Ranking, about: Callable[[int], OneBuild]) -> Rows:
    """The left-out builds, and the impossible times of builds that a prediction ranks instead."""
    builds, unit = ranking.candidates.builds, unit_of(ranking)

    def days(row: ExcludedRow) -> str:
        mark = "" if row.time is None else estimate_mark(row.time)
        found = row.training_days
        return "no data" if found is None else f"{mark}{days_short(found * unit.a_day)}"

    return Rows(
        columns=(
            Column("build", "machine", 30, "left", _by_build, _name, 22),
            Column("reason", "reason", 15, "left", lambda row: row.reason, _reason, 12),
            Column("cost", "cost", 8, "right", lambda row: row.overall_cost_usd, _cost),
            Column("days", f"{unit.word}s", 7, "right", lambda row: row.training_days, days),
            Column("detail", "in words", 46, "left", _detail, _detail),
        ),
        records=[*map(ranking.excluded_row, range(len(ranking.excluded_order))), *ranking.refused],
        text=lambda row: f"{gpus_words(row.build)} {_reason(row)}",
        lines=lambda row, width: whole_page(about(builds.index(row.build)), width),
        remark=_detail,
    )


def _by_build(row: ExcludedRow) -> tuple[str, int]:
    return row.build.gpu.name, row.build.gpu_count


def _name(row: ExcludedRow) -> str:
    return f"{gpus_words(row.build)}, {machine_words(row.build)}"


def _reason(row: ExcludedRow) -> str:
    return REASON_WORDS.get(row.reason, row.reason)


def _cost(row: ExcludedRow) -> str:
    return "no price" if row.overall_cost_usd is None else usd_whole(row.overall_cost_usd)


def _detail(row: ExcludedRow) -> str:
    return row.detail
