"""Machines that somebody sells, in words with price and days; what to order where the answer is not
for sale."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NamedTuple

from advisor.answers.build_words import added_words, in_machine, named_gpus_words, owned_words
from advisor.answers.wording import (
    chance_words,
    days_and_ends,
    is_own_price,
    is_unquoted,
    mark_at,
    price_day_words,
    summed_words,
)
from advisor.costs.amounts import usd_rounded, usd_whole
from advisor.ranking.rank import Ranking
from advisor.ranking.ties import chance_within
from price_catalog.model import OWN_QUOTE

if TYPE_CHECKING:
    from advisor.ranking.candidates import Candidates
    from price_catalog.builds import Build
    from price_catalog.model import Quote

HARDLY = 0.05
"""A machine with a smaller chance to keep the days is named after one over the budget."""
NEARLY = Decimal("1.05")
"""Up to this many budgets a machine is named before one that will probably be late: a vendor's
discount may be as much. A judgement."""
EVEN = 0.5
ASKED_OF = ("reseller-quote", "education", "list", "street")
"""Kinds of quotes whose vendor sells the item."""


class Offer(NamedTuple):
    """A machine on sale that misses one of the limits."""

    position: int
    """Of the candidates."""
    misses: Literal["days", "budget"]
    chance: float | None
    """That it keeps the limit of days, 0 to 1; None where none was asked for."""


def sold_words(build: Build, gpu_quote: Quote, host_quote: Quote) -> str:
    """``2 × RTX 5090 in the tinybox G4 128 GB from tiny corp``; of parts, who sells them."""
    gpus, machine = named_gpus_words(build), in_machine(build)
    if build.host.gpu_id is not None:
        first, _, _ = host_quote.vendor.lower().partition(" ")
        named = first in re.findall(r"[\w.-]+", build.host.name.lower())
        return f"{gpus} {machine}" if named else f"{gpus} {machine} from {host_quote.vendor}"
    sellers = parts_sellers(gpu_quote, host_quote)
    if sellers is None or not machine.endswith(" from parts"):
        return f"{gpus} {machine}"
    cards, rest = sellers
    machine = machine.removesuffix("parts") + f"{rest}'s parts"
    return f"{gpus} {machine}" if cards == rest else f"{gpus} from {cards} {machine}"


def parts_sellers(gpu_quote: Quote, host_quote: Quote) -> tuple[str, str] | None:
    """Who sells the GPUs and who the other parts; None where no seller is known, or it is owned."""
    if gpu_quote.kind not in ASKED_OF or host_quote.kind != "parts-list":
        return None
    return gpu_quote.vendor, host_quote.vendor


def asked_words(build: Build, gpu_quote: Quote, host_quote: Quote) -> str:
    """``a sum of BIZON's options, June 2026, 5 months old; GPUs by own quote``: where a price comes
    from, and its age."""
    day = min(gpu_quote.quoted_on, host_quote.quoted_on)
    words = [price_day_words(day, date.today())]
    if is_unquoted(build, host_quote):
        words.insert(0, summed_words(host_quote))
    if "secondary" in (gpu_quote.kind, host_quote.kind):
        words.insert(0, "told by others")
    if gpu_quote.kind == "used":
        words.insert(0, f"used GPU{'s' * (build.gpu_count > 1)}")
    told = ", ".join(words)
    gpus_own, host_own = is_own_price(gpu_quote), is_own_price(host_quote)
    if build.host.is_own_quote or not (gpus_own or host_own):
        return told
    part = "" if gpus_own and host_own else "GPUs by " if gpus_own else "machine by "
    return f"{told}; {part}{OWN_QUOTE}"


def orderable(ranking: Ranking) -> tuple[Offer, ...]:
    """Where no seller is known for any of the answer: the fastest machine on sale within the budget
    though it is too slow, and the cheapest that is fast enough."""
    candidates, question = ranking.candidates, ranking.question
    if not len(ranking) or any(candidates.offered[i] for i in ranking.order):
        return ()
    limit, budget = question.max_days, question.budget_usd
    found = []
    # By every rule: who stated the days wants the machine that comes nearest to them.
    fastest = (i for i in candidates.by_days if _is_sold(candidates, i))
    near = next((i for i in fastest if budget is None or candidates.cents[i] <= budget * 100), None)
    if limit is not None and near is not None:
        found.append(Offer(position=near, misses="days", chance=chance_at(ranking, near)))
    cheapest = (i for i in candidates.order("cost") if _is_sold(candidates, i))
    best = next((i for i in cheapest if limit is None or candidates.days[i] <= limit), None)
    if budget is not None and best is not None:
        dear = Offer(position=best, misses="budget", chance=chance_at(ranking, best))
        least = EVEN if cost_at(candidates, best) <= budget * NEARLY else HARDLY
        is_late = bool(found) and (found[0].chance or 0.0) < least
        found = [dear, *found] if is_late else [*found, dear]
    return tuple(found)


def quoted_whole(ranking: Ranking) -> int | None:
    """The best ranked machine on sale whose seller quotes it whole, as the candidates have it."""
    candidates = ranking.candidates
    sold = ranking.order[: ranking.offered]
    return next((i for i in sold if _is_sold(candidates, i) and not candidates.is_summed(i)), None)


def _is_sold(candidates: Candidates, i: int) -> bool:
    """Whether somebody sells it; what the user has already nobody does."""
    return candidates.offered[i] and not candidates.builds[i].host_owned


def cost_at(candidates: Candidates, i: int) -> Decimal:
    """What a candidate with a price costs in US dollars."""
    cost = candidates.cost_usd(i)
    assert cost is not None
    return cost


def chance_at(ranking: Ranking, i: int) -> float | None:
    """How likely a candidate keeps the limit of days, 0 to 1; None where none was asked for."""
    candidates, limit = ranking.candidates, ranking.question.max_days
    if limit is None:
        return None
    return chance_within(limit, candidates.days[i], *candidates.interval(i))


def offer_words(ranking: Ranking, offer: Offer) -> str:
    """``1 × RTX 5090 in the … for $9,870 (June 2026, 5 months old), ≈127 days (106–151), 1 in 20 to
    make it``; over the budget, by how much."""
    if offer.misses == "days":
        assert offer.chance is not None  # a limit is missed
        words = priced_words(ranking, offer.position)
        return f"{words}, {chance_words(offer.chance)} to make it"
    budget = ranking.question.budget_usd
    assert budget is not None  # it is missed
    price, over = over_budget_words(cost_at(ranking.candidates, offer.position), budget)
    return f"{priced_words(ranking, offer.position, price)}, {over}"


def priced_words(ranking: Ranking, i: int, price: str | None = None) -> str:
    """``1 × RTX 5090 in the … for $9,870 (June 2026, 5 months old), ≈127 days (106–151)``."""
    candidates = ranking.candidates
    gpu_quote, host_quote = candidates.gpu_quotes[i], candidates.host_quotes[i]
    assert gpu_quote is not None and host_quote is not None  # it has a price
    build = candidates.builds[i]
    if build.host_owned:
        return f"{owned_words(build)}, {days_of(candidates, i)}"
    sold = sold_words(build, gpu_quote, host_quote)
    if build.gpus_owned:
        sold = f"{added_words(build)} {in_machine(build)}"
    price = price or usd_rounded(cost_at(candidates, i))
    age = asked_words(build, gpu_quote, host_quote)
    return f"{sold} for {price} ({age}), {days_of(candidates, i)}"


def over_budget_words(cost: Decimal, budget: Decimal) -> tuple[str, str]:
    """``$10,900`` and ``$900 over budget``: the difference of what is printed; whole dollars where
    three digits would hide it."""
    rounded = Decimal(f"{cost:.3g}")
    if rounded > budget:
        return usd_rounded(cost), f"{usd_whole(rounded - budget)} over budget"
    return usd_whole(cost), f"{usd_whole(cost - budget)} over budget"


def sold_first(candidates: Candidates, ordered: Sequence[int]) -> tuple[int, str]:
    """The first with a seller; the first of all, with a word of it, where none has one."""
    sold = next((i for i in ordered if candidates.offered[i]), None)
    return (ordered[0], ", no seller known") if sold is None else (sold, "")


def looked_at(candidates: Candidates) -> str:
    """`` with RTX 4090``, `` with a published time``: where the question left out what may be
    faster or cheaper."""
    what = []
    if candidates.some_gpus:
        names = list(dict.fromkeys(build.gpu.short_name for build in candidates.builds))
        what.append(" or ".join(names) if len(names) <= 2 else "these GPUs")
    if candidates.evidence == "published":
        what.append("a published time")
    return f" with {' and '.join(what)}" if what else ""


def days_of(candidates: Candidates, i: int) -> str:
    """``≈79.4 days (50.2–126)``, of a candidate that need not be ranked."""
    return mark_at(candidates, i) + days_and_ends(candidates.days[i], *candidates.interval(i))
