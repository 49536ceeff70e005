"""What each screen can save and copy, as rows with the names that the command line uses (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from advisor.answers.ranking import CSV_COLUMNS, excluded_object, ranked_object
from advisor.answers.wording import settings_words
from advisor.tables import to_markdown
from advisor.tui.evidence_rows import Times, TimesSource
from advisor.tui.feed import Feed
from advisor.tui.picture import plot_data
from advisor.tui.ranking.rows import Answer
from advisor.tui.widgets.fetch_error import FeedError
from advisor.tui.widgets.table_rows import RowSource

MAX_EXPORTED_TIMES = 100_000
_PAGE = 10_000
SHORT_COLUMNS = (
    "rank",
    "gpu",
    "gpu_count",
    "overall_cost_usd",
    "training_days",
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
        flat = ranked_object(row)
        flat["on_pareto_front"] = answer.ranking.order[position] in answer.front
        flat["gpu_price_date"] = row.gpu_quote.quoted_on
        flat["host_price_date"] = row.host_quote.quoted_on
        flat["settings"] = settings_words(row.time.settings)
        rows.append(flat)
    if excluded:
        rows += [excluded_object(row) for row in answer.ranking.excluded()]
    return rows


RANKING_COLUMNS: Sequence[str] = CSV_COLUMNS


def ranking_name(answer: Answer) -> str:
    """A file's name for a ranking: the model and the budget."""
    budget = answer.ranking.question.budget_usd
    amount = "any-budget" if budget is None else f"{budget:.0f}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{answer.ranking.field.model.recipe_id}-{amount}")


def ranking_picture(answer: Answer, selected: int | None) -> str:
    """The picture as an SVG."""
    from advisor.tui.widgets.plot.svg import plot_svg

    question = answer.ranking.question
    budget = question.budget_usd if answer.basis == "overall" else None
    return plot_svg(
        plot_data(answer.points, answer.ranking, answer.front, answer.basis),
        budget_usd=None if budget is None else float(budget),
        max_days=question.max_days,
        selected=None if selected is None else answer.points.at.get(selected),
    )


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Rows for the clipboard."""
    return to_markdown(rows, SHORT_COLUMNS)


TIMES_COLUMNS = (
    "model",
    "gpu",
    "gpu_count",
    "method",
    "basis",
    "training_days",
    "training_days_low",
    "training_days_high",
    "status",
    "reason",
    "implied_mfu",
    "verdict",
    "verdict_reason",
    "timing",
    "measured_on",
    "source",
    "origin",
    "settings",
)


def times_rows(feed: Feed, times: Times, source: RowSource) -> list[dict[str, Any]]:
    """Every time that the filter shows, not only the pages in view. Raises FeedError."""
    assert isinstance(source, TimesSource)
    if len(source) > MAX_EXPORTED_TIMES:
        raise FeedError(
            f"{len(source):,} rows are too many for one file from here: filter them first, or use "
            "advisor data times --format csv"
        )
    query = source.query
    rows = []
    with feed.visit() as reader:
        for offset in range(0, len(source), _PAGE):
            for time in reader.search_times(
                query.words,
                sort=query.sort or "model",
                descending=query.descending,
                predictions=times.predictions,
                limit=_PAGE,
                offset=offset,
            ):
                rows.append(
                    {
                        "model": time.recipe_id,
                        "gpu": times.gpu_name(time.gpu_id),
                        "source": time.source_id,
                        "settings": settings_words(time.settings),
                        **{
                            name: getattr(time, name)
                            for name in TIMES_COLUMNS
                            if name not in ("model", "gpu", "source", "settings")
                        },
                    }
                )
    return rows


def record_rows(records: Sequence[Any], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Frozen records as rows."""
    return [{name: getattr(record, name) for name in columns} for record in records]
