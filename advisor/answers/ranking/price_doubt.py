"""What to doubt of prices: the age of first place's price, whom to ask again, what others ask."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from advisor.answers.build_words import build_words, in_machine, short_gpus_words
from advisor.answers.checklist import Doubt, quoted
from advisor.answers.price_facts import as_quoted, newer_words, prices_told
from advisor.answers.ranking.on_sale import (
    ASKED_OF,
    days_of,
    offer_words,
    orderable,
    parts_sellers,
    quoted_whole,
)
from advisor.answers.wording import is_unquoted, price_day
from advisor.costs.amounts import age_words, usd_rounded, usd_whole
from advisor.costs.price_book import STALE_DAYS
from advisor.ranking.price_ranges import LOOKED_AT, rank_spans
from advisor.ranking.rank import RankedRow, Ranking

if TYPE_CHECKING:
    from price_catalog.model import Quote

MOST_WORDS = 2
"""How much is said of a price, what matters most first; ``--details`` has the rest."""
YOUNG_DAYS = 60
"""A price of fewer days needs no word."""


def price_doubt(ranking: Ranking, row: RankedRow) -> Doubt | None:
    """How old the price is, whether anybody sells at it, and what it may be instead."""
    if row.build.host_owned:
        return None
    day, today = price_day(row), date.today()
    candidates = ranking.candidates
    words = [
        f"{usd_rounded(told.quote.price_usd)} for {told.item} is far off what others ask, "
        f"{usd_rounded(told.span.usual_usd)}: look at it before you trust it"
        for told in prices_told(row, today)
        if told.span is not None and told.span.usual_usd is not None
    ]
    i = ranking.order[row.rank - 1]
    if candidates.overtaken[i]:
        card = candidates.prices["gpu", row.build.gpu.gpu_id]
        alone = card.price_usd * row.build.gpu_count * row.build.machines
        words.append(
            f"out of date: its GPUs alone cost {usd_rounded(alone)} now "
            f"({card.label}, {card.quoted_on:%B %Y})"
        )
    elif not candidates.offered[i]:
        what = f"{short_gpus_words(row.build)} {in_machine(row.build)}"
        price = usd_rounded(row.overall_cost_usd)
        words.append(f"no seller is known for {what} at {price}")
    elif is_unquoted(row.build, row.host_quote):
        vendor, age = row.host_quote.vendor, age_words(day, today)
        words.append(f"a sum of prices {age} old: ask {vendor} for a quote")
    elif (today - day).days >= YOUNG_DAYS:
        words.append(f"{age_words(day, today)} old: {_whom_to_ask(row)}")
    if any(_has_tax(quote) for quote in (row.host_quote, row.gpu_quote)):
        words.append("its price includes tax, those of others do not")
    unseen = [quote.label for quote in (row.host_quote, row.gpu_quote) if _is_unseen(quote, today)]
    if unseen:
        words.append(f"told by others: no page of {unseen[0]} shows it")
    dearer = [offer for offer in orderable(ranking)[1:] if offer.misses == "budget"]
    words += [f"to order today {offer_words(ranking, offer)}" for offer in dearer]
    budget = ranking.question.budget_usd
    if budget is not None and row.overall_cost_high_usd > budget:
        words.append(f"others ask up to {usd_rounded(row.overall_cost_high_usd)}, over the budget")
    newer = (newer_words(told, today) for told in prices_told(row, today))
    others = (_whole_machine(ranking, row), _cheaper_box(ranking, row), *newer)
    words += [text for text in others if text is not None]
    if not words:
        return None
    quote = row.host_quote
    item = row.build.gpu.gpu_id if row.build.host.gpu_id is None else quote.item_id
    return Doubt(
        about="price",
        words="; ".join(words[:MOST_WORDS]),
        command=f"advisor prices list --item {quoted(item)}",
    )


def _whom_to_ask(row: RankedRow) -> str:
    """``ask Kiebel again``; of what one puts together, who sells what of it."""
    gpus, host = row.gpu_quote, row.host_quote
    if row.build.host.gpu_id is not None:
        if host.kind not in ASKED_OF:
            return "ask for new quotes"
        own = as_quoted(host)
        asks = "" if own is None else f", who asks {own}"
        return f"ask {host.vendor} again{asks}"
    sellers = parts_sellers(gpus, host)
    if sellers is None:
        return "ask for new quotes"
    cards, rest = sellers
    if cards == rest:
        return f"ask {rest} again"
    what = "the GPU" if row.build.gpu_count == 1 else "the GPUs"
    return f"ask {cards} for {what}, {rest} for the rest"


def _has_tax(quote: Quote) -> bool:
    return "tax" in (quote.includes or "").replace(",", ";").lower().replace(" ", "").split(";")


def _is_unseen(quote: Quote, today: date) -> bool:
    """Whether a seller's price of the last year ships with neither its page nor a file."""
    shown = quote.url or quote.file or quote.origin == "local" or quote.kind not in ASKED_OF
    return not shown and (today - quote.quoted_on).days < STALE_DAYS


def _whole_machine(ranking: Ranking, row: RankedRow) -> str | None:
    """Where first place is a sum of parts or options: the best machine that somebody sells whole
    at a price of his own."""
    candidates = ranking.candidates
    first = ranking.order[row.rank - 1]
    if not candidates.is_summed(first) or row.build.gpus_owned or not candidates.offered[first]:
        return None
    assembled = row.build.host.gpu_id is not None
    words = "" if assembled else "you put it together; "
    i = quoted_whole(ranking)
    if i is not None:
        other, cost = candidates.builds[i], candidates.cost_usd(i)
        assert cost is not None  # it is on sale
        best = "quoted whole" if assembled else "the best that is sold whole"
        return (
            f"{words}{best}: {short_gpus_words(other)} "
            f"{in_machine(other)}, {usd_rounded(cost)}, {days_of(candidates, i)}"
        )
    return words.removesuffix("; ") or None


def _cheaper_box(ranking: Ranking, row: RankedRow) -> str | None:
    """The cheapest machine with the same GPUs, where that saves something."""
    candidates, build = ranking.candidates, row.build
    cents, limit = candidates.cents, ranking.question.max_days
    own = cents[ranking.order[row.rank - 1]]
    cheaper = [
        (cents[i], i)
        for i in candidates.alike[build.cards]
        if cents[i] < own
        and (limit is None or candidates.days[i] <= limit)
        and (ranking.all_alike or candidates.offered[i])
    ]
    if not cheaper:
        return None
    usd, i = min(cheaper)
    return f"the same GPUs {in_machine(candidates.builds[i])}: {usd_rounded(Decimal(usd) / 100)}"


def price_range_lines(ranking: Ranking) -> list[str]:
    """Where the range of the prices would change the answer, a sentence each; and newer quotes of
    what ranks that do not count."""
    today = date.today()
    told = (told for row in ranking.rows(LOOKED_AT) for told in prices_told(row, today))
    newer = dict.fromkeys(filter(None, (newer_words(each, today) for each in told)))
    sentences = (f"{text[0].upper()}{text[1:]}." for text in newer)
    return [*_around_the_budget(ranking), *_places(ranking), *sentences]


def _around_the_budget(ranking: Ranking) -> Iterator[str]:
    budget, candidates = ranking.question.budget_usd, ranking.candidates
    if budget is None:
        return
    for row in ranking.rows(LOOKED_AT):
        high = row.overall_cost_high_usd
        if high > budget:
            words = "is over the budget at the high end of its prices"
            yield f"{build_words(row.build)} {words} ({usd_whole(high)})."
    for i, reason in ranking.excluded_order[:LOOKED_AT]:
        low = candidates.cents_range(i)[0]
        if reason == "over-budget" and low <= int(budget * 100):
            words = "fits the budget at the low end of its prices"
            yield f"{build_words(candidates.builds[i])} {words} ({usd_whole(low / 100)})."


def _places(ranking: Ranking) -> Iterator[str]:
    for position, (best, worst) in enumerate(rank_spans(ranking)):
        if best != worst:
            build = build_words(ranking.candidates.builds[ranking.order[position]])
            yield f"Within the range of its prices {build} could rank from {best} to {worst}."
