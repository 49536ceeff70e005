"""What somebody sells, told with its price and days: for the first line where nobody is known to
sell any of the answer, and for what an answer names beside its first place (pure).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from advisor.answers.build_words import (
    added_words,
    in_machine,
    named_gpus_words,
    owned_words,
    supply_words,
)
from advisor.answers.chance_words import chance_words
from advisor.answers.ranking.budgets import budget_words
from advisor.answers.wording import (
    counted_days,
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
"""A machine that keeps the days with a smaller chance is named after one over the budget."""
NEARLY = Decimal("1.05")
"""What costs no more than so many budgets is named before a machine that more likely than not
takes too long: a vendor's discount may be as much. A judgement."""
EVEN = 0.5
"""As likely as not."""

ASKED_OF = ("reseller-quote", "education", "list", "street")
"""Kinds of quotes whose vendor sells the item itself."""
Room = Literal["all", "no age", "no names", "short months", "least", "no machine"]
"""How much is said of a price, by how much room there is for it: all of it; without its age, which
the table has; without whose options it adds up; with the month cut to three letters, too; with by
how much it misses left to the reader; and without the machine, which the table has."""
ROOMS: tuple[Room, ...] = get_args(Room)
LEAST: tuple[Room, ...] = ("least", "no machine")


class Offer(NamedTuple):
    """A machine on sale that misses one of the limits."""

    position: int
    """Of the candidates."""
    misses: Literal["days", "budget"]
    chance: float | None
    """That it keeps the limit of days, 0 to 1; None where none was asked for."""


def sold_words(build: Build, gpu_quote: Quote, host_quote: Quote, room: Room = "all") -> str:
    """``2 × RTX 5090 in the tinybox G4 128 GB from tiny corp``; of what one puts together, as long
    as there is room, who sells its GPUs and who its parts."""
    gpus, machine = named_gpus_words(build), in_machine(build)
    if build.host.gpu_id is None:
        sellers = parts_sellers(gpu_quote, host_quote)
        if sellers is None or room in LEAST or not machine.endswith(" from parts"):
            return f"{gpus} {machine}"
        cards, rest = sellers
        machine = machine.removesuffix("parts") + f"{rest}'s parts"
        return f"{gpus} {machine}" if cards == rest else f"{gpus} from {cards} {machine}"
    # A word of the machine's name: "tiny corp" is not named by a tinybox.
    first, _, _ = host_quote.vendor.lower().partition(" ")
    named = first in re.findall(r"[\w.-]+", build.host.name.lower())
    named |= room in LEAST
    return f"{gpus} {machine}" if named else f"{gpus} {machine} from {host_quote.vendor}"


def parts_sellers(gpu_quote: Quote, host_quote: Quote) -> tuple[str, str] | None:
    """Who sells the GPUs, and who the parts that they go into; None where somebody only tells of a
    price, or has them already."""
    if gpu_quote.kind not in ASKED_OF or host_quote.kind != "parts-list":
        return None
    return gpu_quote.vendor, host_quote.vendor


def asked_words(build: Build, gpu_quote: Quote, host_quote: Quote, room: Room) -> str:
    """When the older of the prices was asked, and which is the user's own where the machine is
    not: ``June 2026, 5 months old; GPUs by own quote``. Before it that nobody quoted the total,
    that only others tell of it, or that the GPUs are used."""
    day = min(gpu_quote.quoted_on, host_quote.quoted_on)
    words = f"{day:%b %Y}" if room in ("short months", *LEAST) else f"{day:%B %Y}"
    if room == "all":
        words = price_day_words(day, date.today())
    if is_unquoted(build, host_quote):
        named = room in ("all", "no age")
        words = f"{summed_words(host_quote) if named else 'a sum'}, {words}"
    if "secondary" in (gpu_quote.kind, host_quote.kind):
        words = f"told by others, {words}"
    if gpu_quote.kind == "used":
        words = f"used GPU{'s' * (build.gpu_count > 1)}, {words}"
    gpus_own, host_own = is_own_price(gpu_quote), is_own_price(host_quote)
    if build.host.is_own_quote or not (gpus_own or host_own):
        return words
    part = "" if gpus_own and host_own else "GPUs by " if gpus_own else "machine by "
    return f"{words}; {part}{OWN_QUOTE}"


def orderable(ranking: Ranking) -> tuple[Offer, ...]:
    """What somebody sells, where nobody is known to sell any of the answer: the fastest within the
    budget, too slow though it is, and the cheapest that is fast enough."""
    candidates, question = ranking.candidates, ranking.question
    if not len(ranking) or any(candidates.offered[i] for i in ranking.order):
        return ()
    limit, budget = question.max_days, question.budget_usd
    found = []
    # By whichever rule: who asked for the days is told of the machine that comes nearest.
    fastest = (i for i in candidates.by_days if _is_sold(candidates, i))
    near = next((i for i in fastest if budget is None or candidates.cents[i] <= budget * 100), None)
    if limit is not None and near is not None:
        found.append(Offer(position=near, misses="days", chance=chance_at(ranking, near)))
    cheapest = (i for i in candidates.order("cost") if _is_sold(candidates, i))
    best = next((i for i in cheapest if limit is None or candidates.days[i] <= limit), None)
    if budget is not None and best is not None:
        dear = Offer(position=best, misses="budget", chance=chance_at(ranking, best))
        cost = candidates.cost_usd(best)
        assert cost is not None  # it is rankable
        # What hardly keeps the days is no answer to who asked for them.
        least = EVEN if cost <= budget * NEARLY else HARDLY
        is_late = bool(found) and (found[0].chance or 0.0) < least
        found = [dear, *found] if is_late else [*found, dear]
    return tuple(found)


def quoted_whole(ranking: Ranking) -> int | None:
    """The best ranked machine on sale at a price of its own seller, as the candidates have it."""
    candidates = ranking.candidates
    sold = ranking.order[: ranking.offered]
    named = (i for i in sold if _is_sold(candidates, i) and not candidates.is_summed(i))
    return next(named, None)


def _is_sold(candidates: Candidates, i: int) -> bool:
    """Whether somebody sells it; what is there already nobody does."""
    return candidates.offered[i] and not candidates.builds[i].host_owned


def chance_at(ranking: Ranking, i: int) -> float | None:
    """How likely a candidate keeps the limit of days, 0 to 1; None where none was asked for."""
    candidates, limit = ranking.candidates, ranking.question.max_days
    if limit is None:
        return None
    return chance_within(limit, candidates.days[i], *candidates.interval(i))


def offer_words(ranking: Ranking, offer: Offer, room: Room = "all") -> str:
    """``1 × RTX 5090 in the … for $9,870 (June 2026, 5 months old), ≈127 days (106–151), 1 in 20 to
    make it``; over the budget by how much."""
    if offer.misses == "budget":
        budget = ranking.question.budget_usd
        cost = ranking.candidates.cost_usd(offer.position)
        assert budget is not None and cost is not None  # else nothing misses it
        price, over = over_budget_words(cost, budget)
        words = priced_words(ranking, offer.position, room, price)
        return words if room in LEAST else f"{words}, {over}"
    assert offer.chance is not None  # it misses the days
    words = priced_words(ranking, offer.position, room)
    return words if room in LEAST else f"{words}, {chance_words(offer.chance)} to make it"


def priced_words(ranking: Ranking, i: int, room: Room, price: str | None = None) -> str:
    """``1 × RTX 5090 in the … for $9,870 (June 2026, 5 months old), ≈127 days (106–151)``."""
    candidates = ranking.candidates
    cost, gpu_quote, host_quote = (
        candidates.cost_usd(i),
        candidates.gpu_quotes[i],
        candidates.host_quotes[i],
    )
    assert cost is not None and gpu_quote is not None and host_quote is not None  # it has a price
    build = candidates.builds[i]
    if build.host_owned:
        return f"{owned_words(build)}, {days_at(ranking, i)}"
    age = asked_words(build, gpu_quote, host_quote, room)
    sold = named_gpus_words(build)
    if build.gpus_owned:
        sold = added_words(build)
        sold += "" if room == "no machine" else f" {in_machine(build)}"
    elif room != "no machine":
        sold = sold_words(build, gpu_quote, host_quote, room)
    return f"{sold} for {price or usd_rounded(cost)} ({age}), {days_at(ranking, i)}"


def over_budget_words(cost: Decimal, budget: Decimal) -> tuple[str, str]:
    """``$10,900`` and ``$900 over budget``: the difference of what is printed; whole dollars where
    three digits would hide it."""
    rounded = Decimal(f"{cost:.3g}")
    if rounded > budget:
        return usd_rounded(cost), f"{usd_whole(rounded - budget)} over budget"
    return usd_whole(cost), f"{usd_whole(cost - budget)} over budget"


def sold_first(candidates: Candidates, ordered: Sequence[int]) -> tuple[int, str]:
    """The first that somebody sells; the first of all, with a word of it, where nobody does."""
    sold = next((i for i in ordered if candidates.offered[i]), None)
    return (ordered[0], ", no seller known") if sold is None else (sold, "")


def asked_for(ranking: Ranking, *, budget: bool = True) -> str:
    """`` for $40,000 within 60 days on a 120 V 15 A circuit``; nothing where no limit was set.
    Without ``budget`` the rest of it."""
    most, limit = budget_words(ranking.question), ranking.question.max_days
    asked = f" for {most}" if budget and most is not None else ""
    asked += "" if limit is None else f" within {counted_days(limit)}"
    supply = ranking.candidates.supply
    return asked if supply is None else f"{asked} on a {supply_words(supply)} circuit"


def looked_at(candidates: Candidates) -> str:
    """`` with RTX 4090``, `` with a published time``: where nothing else was looked at, others may
    well be faster or cheaper."""
    what = [_asked_gpus(candidates)] if candidates.some_gpus else []
    what += ["a published time"] if candidates.evidence == "published" else []
    return f" with {' and '.join(what)}" if what else ""


def _asked_gpus(candidates: Candidates) -> str:
    names = " or ".join(dict.fromkeys(build.gpu.short_name for build in candidates.builds))
    return names if len(names) <= _LONGEST_NAMES else "these GPUs"


_LONGEST_NAMES = 16
"""What a first line has room for, as ``H100 or RTX 4090``."""


def days_at(ranking: Ranking, i: int) -> str:
    """``≈79.4 days (50.2–126)``, of what need not be ranked."""
    return days_of(ranking.candidates, i)


def days_of(candidates: Candidates, i: int) -> str:
    """The same without a question."""
    return mark_at(candidates, i) + days_and_ends(candidates.days[i], *candidates.interval(i))
