"""What the main screen saves and copies: rows with the names of the command line (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from advisor.answers.ranking import CSV_COLUMNS, excluded_object, flat_object
from advisor.tables import to_markdown
from advisor.tui.program.candidates_view import Answer
from advisor.tui.program.points import plot_data

SHORT_COLUMNS = (
    "rank",
    "gpu",
    "gpu_count",
    "host",
    "overall_cost_usd",
    "training_days",
    "training_days_low",
    "training_days_high",
    "basis",
    "experiment_cost_usd",
    "on_pareto_front",
    "verdict",
    "source",
)
"""What is copied: enough for an e-mail."""


def ranking_rows(answer: Answer, *, excluded: bool) -> list[dict[str, Any]]:
    """The ranked builds, and after them those left out with their reason."""
    rows: list[dict[str, Any]] = []
    for position, row in enumerate(answer.ranking.rows()):
        flat = flat_object(row)
        flat["on_pareto_front"] = answer.ranking.order[position] in answer.front
        rows.append(flat)
    if excluded:
        rows += [excluded_object(row) for row in answer.ranking.excluded()]
    return rows


RANKING_COLUMNS: Sequence[str] = CSV_COLUMNS


def ranking_name(answer: Answer) -> str:
    """A file's name for a ranking: the model and the budget."""
    budget = answer.ranking.question.budget_usd
    amount = "any-budget" if budget is None else f"{budget:.0f}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{answer.ranking.candidates.model.recipe_id}-{amount}")


def ranking_picture(answer: Answer, selected: int | None, sentence: str) -> str:
    """The picture as an SVG that says what was asked, when, and by which prices."""
    from advisor.answers.ranking import headline
    from advisor.tui.widgets.plot.svg import plot_svg

    ranking = answer.ranking
    question, candidates = ranking.question, ranking.candidates
    budget = question.budget_usd if answer.basis == "overall" else None
    rule = answer.prices if isinstance(answer.prices, str) else answer.prices.isoformat()
    drawn = plot_data(answer.points, ranking, answer.front, answer.basis)
    return plot_svg(
        replace(
            drawn,
            heading=sentence,
            remark=f"{headline(candidates, question, rule)} · {date.today():%d %B %Y}",
        ),
        budget_usd=None if budget is None else float(budget),
        max_days=question.max_days,
        selected=None if selected is None else answer.points.at.get(selected),
    )


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Rows for the clipboard."""
    return to_markdown(rows, SHORT_COLUMNS)
