"""What the ranges of the prices leave open: which builds could change places (pure)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import date

from advisor.costs.price_book import age_words, quote_marks
from advisor.ranking.rank import RankedRow, Ranking
from price_catalog.builds import Build
from price_catalog.model import Quote

LOOKED_AT = 200
"""How many builds are looked at: nobody reads doubts about the thousandth."""


def rank_spans(ranking: Ranking, limit: int = LOOKED_AT) -> list[tuple[int, int]]:
    """The best and the worst rank that each ranked build could take within its price range.

    Prices do not move a ranking by days; only the budget can (`doubt_lines`).
    """
    order = ranking.order[:limit]
    if ranking.question.rule == "days":
        return [(position + 1, position + 1) for position in range(len(order))]
    field = ranking.field
    weight = field.days if ranking.question.rule == "experiment-cost" else None
    ends = []
    for i in ranking.order:
        low, high = field.cents_range(i)
        times = 1.0 if weight is None else weight[i]
        ends.append((low * times, high * times))
    lows, highs = sorted(low for low, _ in ends), sorted(high for _, high in ends)
    spans = []
    for position, (cheapest, dearest) in enumerate(ends[:limit], start=1):
        # Surely before it: all whose dearest is below its cheapest. Perhaps: all whose cheapest
        # is not above its dearest, itself not counted.
        best = bisect_left(highs, cheapest) + 1
        worst = bisect_right(lows, dearest)
        spans.append((min(best, position), max(worst, position)))
    return spans


def doubt_lines(ranking: Ranking) -> list[str]:
    """Where the range of the prices would change the answer, one sentence each."""
    return [*_over_and_under(ranking), *_swaps(ranking)]


def _over_and_under(ranking: Ranking) -> Iterator[str]:
    budget = ranking.question.budget_usd
    if budget is None:
        return
    for row in ranking.rows(LOOKED_AT):
        if row.overall_cost_high_usd > budget:
            yield (
                f"{build_words(row.build)} is over the budget at the high end of its prices "
                f"(${row.overall_cost_high_usd:,.0f})."
            )
    field, cents = ranking.field, int(budget * 100)
    for i, reason in ranking.excluded_order[:LOOKED_AT]:
        low = field.cents_range(i)[0]
        if reason == "over-budget" and low <= cents:
            yield (
                f"{build_words(field.builds[i])} fits the budget at the low end of its prices "
                f"(${low / 100:,.0f})."
            )


def _swaps(ranking: Ranking) -> Iterator[str]:
    for position, (best, worst) in enumerate(rank_spans(ranking)):
        if best != worst:
            build = ranking.field.builds[ranking.order[position]]
            yield (
                f"Within the range of its prices {build_words(build)} could stand from rank "
                f"{best} to {worst}."
            )


def build_words(build: Build) -> str:
    """``4 × A6000``; a whole server, an owned machine or an upgrade says so."""
    words = f"{build.gpu_count} × {build.gpu.name}"
    if build.host.gpu_id is not None:
        return f"{words} ({build.host.name})"
    if build.gpus_owned:
        return f"{words} ({build.gpus_owned} owned, {build.gpu_count - build.gpus_owned} to buy)"
    return words


def price_note(row: RankedRow, today: date) -> str:
    """The date, age and marks of a build's oldest price: ``2024-09-21, 2.2 years, stale``."""
    oldest = min((row.gpu_quote, row.host_quote), key=lambda quote: quote.quoted_on)
    marks = dict.fromkeys(mark for quote in _both(row) for mark in price_marks(row, quote, today))
    if oldest.kind == "owned":
        return "owned"
    return ", ".join([str(oldest.quoted_on), age_words(oldest.quoted_on, today), *marks])


def price_marks(row: RankedRow, quote: Quote, today: date) -> tuple[str, ...]:
    """What speaks against one of the two prices of a build."""
    return quote_marks(quote, today=today, outlying=quote.item_kind in row.outlying_prices)


def _both(row: RankedRow) -> tuple[Quote, ...]:
    return tuple(dict.fromkeys((row.gpu_quote, row.host_quote)))
