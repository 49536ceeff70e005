"""What the main screen saves and copies: rows with the names of the command line (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from advisor.answers.build_words import machine_words, short_gpus_words
from advisor.answers.ranking.rank_exports import CSV_COLUMNS, excluded_object, flat_object
from advisor.answers.wording import ends_words, estimate_mark, price_day, rank_words, rests_on_words
from advisor.costs.amounts import days_rounded, usd_rounded
from advisor.ranking.rank import RankedRow
from advisor.tables.table_formats import to_markdown
from advisor.tui.pages.export_page import Exportable
from advisor.tui.program.candidates_view import Answer, plot_data

COPIED_COLUMNS = ("place", "machine", "price", "prices of", "days", "a run", "rests on")
"""What is copied: enough for an e-mail, in words."""


def copied_rows(answer: Answer) -> list[dict[str, str]]:
    """The ranked builds as a person would write them; an estimate keeps its mark and interval."""
    return [
        {
            "place": rank_words(row),
            "machine": f"{short_gpus_words(row.build)}, {machine_words(row.build)}",
            "price": usd_rounded(row.overall_cost_usd),
            "prices of": f"{price_day(row):%B %Y}",
            "days": _days_words(row),
            "a run": f"{estimate_mark(row.time)}{usd_rounded(row.experiment_cost_usd)}",
            "rests on": rests_on_words(row.time),
        }
        for row in answer.ranking.rows()
    ]


def _days_words(row: RankedRow) -> str:
    """``≈79.4 (50.2–126)``."""
    ends = ends_words(row.training_days_low, row.training_days_high)
    return f"{estimate_mark(row.time)}{days_rounded(row.training_days)}{ends}"


def exportable(answer: Answer, selected: int | None, sentence: str) -> Exportable:
    """What the screen can save: the table, and the picture with the answer above it."""
    return Exportable(
        name=ranking_name(answer),
        columns=CSV_COLUMNS,
        rows=lambda: ranking_rows(answer),
        picture=lambda form: ranking_picture(answer, selected, sentence, form),
    )


def ranking_rows(answer: Answer) -> list[dict[str, Any]]:
    """The ranked builds, and after them those left out with their reason."""
    rows: list[dict[str, Any]] = []
    for position, row in enumerate(answer.ranking.rows()):
        flat = flat_object(row)
        flat["on_pareto_front"] = answer.ranking.order[position] in answer.front
        rows.append(flat)
    return rows + [excluded_object(row) for row in answer.ranking.excluded()]


def ranking_name(answer: Answer) -> str:
    """A file's name for a ranking: the model and the budget."""
    budget = answer.ranking.question.budget_usd
    amount = "any-budget" if budget is None else f"{budget:.0f}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{answer.ranking.candidates.model.recipe_id}-{amount}")


def ranking_picture(answer: Answer, selected: int | None, sentence: str, form: str) -> bytes:
    """The picture as a file that says what was asked, when, and by which prices."""
    from advisor.answers.ranking.rank_exports import headline
    from advisor.tui.ranking.cost_time_figure import cost_time_figure

    ranking = answer.ranking
    question, candidates = ranking.question, ranking.candidates
    budget = question.budget_usd if answer.basis == "overall" else None
    rule = answer.prices if isinstance(answer.prices, str) else answer.prices.isoformat()
    return cost_time_figure(
        plot_data(answer),
        sentence,
        f"{headline(candidates, question, rule)} · {date.today():%d %B %Y}",
        form,
        budget_usd=None if budget is None else float(budget),
        max_days=question.max_days,
        selected=None if selected is None else answer.points.at.get(selected),
    )


def markdown(rows: Sequence[dict[str, str]]) -> str:
    """Rows for the clipboard."""
    return to_markdown(rows, COPIED_COLUMNS)
