"""The answer of a ranking in one sentence: what to buy, its price, how long it trains, how sure.

Every surface begins with `verdict`: the command line, JSON and the terminal program.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NamedTuple

from advisor.answers.wording import (
    build_words,
    chance_words,
    counted_days,
    estimate_mark,
    estimated_days,
    in_machine,
    is_own_price,
    is_unquoted,
    named_gpus_words,
    over_words,
    owned_words,
    price_day_words,
    short_gpu_words,
    short_gpus_words,
    summed_words,
    supply_words,
)
from advisor.costs.amounts import days_rounded, usd_exact, usd_rounded, usd_whole
from advisor.ranking.rank import RankedRow, Ranking
from advisor.ranking.ties import chance_within
from price_catalog.model import OWN_QUOTE

if TYPE_CHECKING:
    from advisor.ranking.candidates import Candidates
    from price_catalog.builds import Build
    from price_catalog.model import Quote


HARDLY = 0.05
"""A machine that keeps the days with a smaller chance is named after one over the budget."""


class Verdict(NamedTuple):
    """The first line of an answer."""

    sentence: str
    """Could stand alone in an e-mail."""
    medium: str
    """The same for two lines of a small terminal: without the model and a rival's price."""
    short: str
    """The same for one line of it: without machine and month too."""
    row: RankedRow | None
    """First place; None where no build answers."""
    chance: float | None
    """That first place keeps the limit of days, 0 to 1; None where none was asked for."""
    orderable: tuple[Offer, ...] = ()
    """Where nobody is known to sell what answers: the fastest machine on sale that misses the days,
    and the cheapest that misses the budget."""


class Offer(NamedTuple):
    """A machine on sale that misses one of the limits."""

    position: int
    """Of the candidates."""
    misses: Literal["days", "budget"]
    chance: float | None
    """That it keeps the limit of days, 0 to 1; None where none was asked for."""


def verdict(ranking: Ranking) -> Verdict:
    """The answer in one sentence, also where nothing fits."""
    if not len(ranking):
        nothing = _nothing(ranking)
        return Verdict(sentence=nothing, medium=nothing, short=nothing, row=None, chance=None)
    row = ranking.row(0)
    chance = chance_of(ranking, row)
    # What to do, at which price, how fast, how sure.
    chances = [] if chance is None else [chance_words(chance)]
    limit = [f"{words} to make {_limit(ranking)}" for words in chances]
    per_run = ranking.question.rule == "experiment-cost" and row.experiment_cost_usd
    mark = estimate_mark(row.time)
    run = [f"{mark}{usd_rounded(row.experiment_cost_usd)} a run"] if per_run else []
    over = over_words(row.build, ranking.candidates.network)
    facts = [f"{days_words(row)}{over}", *limit, *run]
    brief = ", ".join([facts[0], *(f"{words} for {_limit(ranking)}" for words in chances), *run])
    sure = how_sure(ranking)
    model = ranking.candidates.model.name
    offers = orderable(ranking)
    if offers:
        start = f"No machine on sale trains {model}{_asked(ranking)}; the nearest to order is "
        return Verdict(
            sentence=_of_two_lines(
                f"{start}{offer_words(ranking, offers[0], aged=aged)}." for aged in (True, False)
            ),
            medium=f"Nothing on sale trains it{_asked(ranking)}; the nearest is "
            f"{_sums_marked(offer_words(ranking, offers[0], aged=False))}.",
            short=f"No seller known for these; to order: {_short_offer(ranking, offers[0])}.",
            row=row,
            chance=chance,
            orderable=offers,
        )
    done = f"{model} in {', '.join(facts)}; {sure}."
    if not (row.build.host_owned or ranking.candidates.offered[ranking.order[0]]):
        # What nobody sells is nothing to buy: it says what was asked for it once.
        return Verdict(
            sentence=_of_two_lines(
                f"No seller is known for {_bought_words(row)}"
                f"{_price_words(ranking, row, aged=aged)}; it would train {done}"
                for aged in (True, False)
            ),
            medium=f"No seller is known for {_bought_words(row)}"
            f"{_sums_marked(_price_words(ranking, row, aged=False))}; it would take {brief}.",
            short=f"No seller known: {_short_bought(row)}, {brief}.",
            row=row,
            chance=chance,
        )
    return Verdict(
        sentence=_of_two_lines(
            f"{buy_words(row)}{_price_words(ranking, row, aged=aged)}: {done}"
            for aged in (True, False)
        ),
        medium=f"{buy_words(row)}{_sums_marked(_price_words(ranking, row, aged=False))}: {brief}; "
        f"{how_sure(ranking, priced=False)}.",
        short=f"{_short_words(row)}, {brief}; {how_sure(ranking, priced=False)}.",
        row=row,
        chance=chance,
    )


SUMMED = re.compile(r"a sum of .*?'s options")
TWO_LINES = 196
"""Characters that two lines of 100 columns hold, broken between words."""


def _of_two_lines(sentences: Iterable[str]) -> str:
    """The first that fits, else the last."""
    for sentence in sentences:
        if len(sentence) <= TWO_LINES:
            break
    return sentence


def chance_of(ranking: Ranking, row: RankedRow) -> float | None:
    """How likely a build keeps the limit of days, 0 to 1; None where none was asked for."""
    limit = ranking.question.max_days
    if limit is None:
        return None
    return chance_within(limit, row.training_days, row.training_days_low, row.training_days_high)


def days_words(row: RankedRow) -> str:
    """``≈79.4 days (50.2–126)``; the mark where nobody measured it."""
    days, low, high = row.training_days, row.training_days_low, row.training_days_high
    ends = days_rounded(low), days_rounded(high)
    interval = "" if ends[0] == ends[1] else f" ({'–'.join(ends)})"
    return f"{estimate_mark(row.time)}{counted_days(days)}{interval}"


def buy_words(row: RankedRow) -> str:
    """``Buy 2 × RTX 5090 in the tinybox G4 128 GB from tiny corp``."""
    build = row.build
    if build.host_owned:
        return f"Use {owned_words(build)}"
    return f"{'Add' if build.gpus_owned else 'Buy'} {_bought_words(row)}"


def _bought_words(row: RankedRow) -> str:
    """``2 × RTX 5090 in the tinybox G4 128 GB from tiny corp``; of an upgrade what is added."""
    build = row.build
    if build.gpus_owned:
        more = build.gpu_count - build.gpus_owned
        card = short_gpu_words(build.gpu)
        return f"{more} × {card} to your {build.gpus_owned} {in_machine(build)}"
    return _sold_words(build, row.host_quote)


def _sold_words(build: Build, quote: Quote) -> str:
    """``2 × RTX 5090 in the tinybox G4 128 GB from tiny corp``."""
    words = f"{named_gpus_words(build)} {in_machine(build)}"
    names = (quote.vendor.lower(), quote.vendor.lower().split()[0])
    named = any(name in build.host.name.lower() for name in names)
    return words if build.host.gpu_id is None or named else f"{words} from {quote.vendor}"


def _short_words(row: RankedRow) -> str:
    if row.build.host_owned:
        return f"Use your {named_gpus_words(row.build)}"
    return f"Buy {_short_bought(row)}"


def _sums_marked(words: str) -> str:
    """The same without whose options a price adds up: ``(a sum, January 2026)``."""
    return SUMMED.sub("a sum", words)


def _short_bought(row: RankedRow) -> str:
    summed = " (a sum)" if is_unquoted(row.build, row.host_quote) else ""
    return f"{named_gpus_words(row.build)}: {usd_rounded(row.overall_cost_usd)}{summed}"


def _price_words(ranking: Ranking, row: RankedRow, *, aged: bool) -> str:
    """`` for $26,000 (April 2026, 7 months old)``; nothing for what is there already. Not ``aged``:
    the month alone, where the table below has the age."""
    if row.build.host_owned:
        return ""
    age = _asked_words(row.build, row.gpu_quote, row.host_quote, aged=aged)
    i, candidates = ranking.order[row.rank - 1], ranking.candidates
    seller = ", less than its GPUs alone cost since" if candidates.overtaken[i] else ""
    return f" for {usd_rounded(row.overall_cost_usd)} ({age}{seller})"


def _asked_words(build: Build, gpu_quote: Quote, host_quote: Quote, *, aged: bool) -> str:
    """When the older of the prices was asked, and which is the user's own where the machine is
    not: ``June 2026, 5 months old; GPUs by own quote``. Before it that nobody quoted the total, or
    that the GPUs are used."""
    day = min(gpu_quote.quoted_on, host_quote.quoted_on)
    words = price_day_words(day, date.today()) if aged else f"{day:%B %Y}"
    if is_unquoted(build, host_quote):
        words = f"{summed_words(host_quote)}, {words}"
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
    on_sale = [i for i in candidates.order(question.rule) if candidates.offered[i]]
    found = []
    inside = [i for i in on_sale if budget is None or candidates.cents[i] <= budget * 100]
    if limit is not None and inside:
        # By whichever rule: who asked for the days is told of the machine that comes nearest.
        near = min(inside, key=lambda i: (candidates.days[i], candidates.cents[i]))
        found.append(Offer(position=near, misses="days", chance=chance_at(ranking, near)))
    in_time = [i for i in on_sale if limit is None or candidates.days[i] <= limit]
    if budget is not None and in_time:
        best = min(in_time, key=lambda i: (candidates.cents[i], candidates.days[i]))
        dear = Offer(position=best, misses="budget", chance=chance_at(ranking, best))
        # What hardly keeps the days is no answer to who asked for them.
        hopeless = bool(found) and (found[0].chance or 0.0) < HARDLY
        found = [dear, *found] if hopeless else [*found, dear]
    return tuple(found)


def chance_at(ranking: Ranking, i: int) -> float | None:
    """How likely a candidate keeps the limit of days, 0 to 1; None where none was asked for."""
    candidates, limit = ranking.candidates, ranking.question.max_days
    if limit is None:
        return None
    return chance_within(limit, candidates.days[i], *candidates.interval(i))


def offer_words(ranking: Ranking, offer: Offer, *, aged: bool = True) -> str:
    """``1 × RTX 5090 in the … for $9,870 (June 2026, 5 months old), ≈127 days (106–151), 1 in 20 to
    make 60 days``; over the budget by how much."""
    candidates, i = ranking.candidates, offer.position
    cost, quotes = candidates.cost_usd(i), (candidates.gpu_quotes[i], candidates.host_quotes[i])
    gpu_quote, host_quote = quotes
    assert cost is not None and gpu_quote is not None and host_quote is not None  # it is on sale
    age = _asked_words(candidates.builds[i], gpu_quote, host_quote, aged=aged)
    sold, days = _sold_words(candidates.builds[i], host_quote), days_at(ranking, i)
    if offer.misses == "budget":
        budget = ranking.question.budget_usd
        assert budget is not None  # else nothing misses it
        price, over = over_budget_words(cost, budget)
        return f"{sold} for {price} ({age}), {days}, {over}"
    assert offer.chance is not None  # it misses the days
    chance = f"{chance_words(offer.chance)} to make {_limit(ranking)}"
    return f"{sold} for {usd_rounded(cost)} ({age}), {days}, {chance}"


def over_budget_words(cost: Decimal, budget: Decimal) -> tuple[str, str]:
    """``$10,900`` and ``$900 over the budget``: the difference of what is printed; whole dollars
    where three digits would hide it."""
    rounded = Decimal(f"{cost:.3g}")
    if rounded > budget:
        return usd_rounded(cost), f"{usd_whole(rounded - budget)} over the budget"
    return usd_whole(cost), f"{usd_whole(cost - budget)} over the budget"


def _short_offer(ranking: Ranking, offer: Offer) -> str:
    candidates, i = ranking.candidates, offer.position
    cost = candidates.cost_usd(i)
    assert cost is not None  # it is on sale
    quote = candidates.host_quotes[i]
    summed = quote is not None and is_unquoted(candidates.builds[i], quote)
    words = f"{named_gpus_words(candidates.builds[i])}, {usd_rounded(cost)}"
    words += " (a sum), " if summed else ", "
    words += days_at(ranking, i)
    return words if offer.misses == "budget" else f"{words}, {chance_words(offer.chance or 0.0)}"


def how_sure(ranking: Ranking, *, priced: bool = True) -> str:
    """How sure first place is, in a few words; ``priced`` says what a cheaper rival costs."""
    uncertainty, rule = ranking.uncertainty, ranking.question.rule
    if uncertainty.first_is_impossible:
        return "but that published time is physically impossible"
    slower = measured_days(ranking, ranking.order[0])
    if slower is not None:
        return f"but we measured {counted_days(slower)}"
    if len(ranking) == 1 and not uncertainty.outside:
        return "nothing else fits"
    per_run = rule == "experiment-cost"
    if uncertainty.tied:
        alike = "cost as little a run" if per_run else "be as fast"
        return f"{kinds_words(ranking, uncertainty.tied, priced=priced)} may {alike}"
    if uncertainty.outside:
        return f"{kinds_words(ranking, uncertainty.outside, priced=priced)} may make it too"
    on_sale = " on sale" if better_unsold(ranking) or _unsold_is_as_fast(ranking) else ""
    if rule != "days" and _sum_is_less(ranking):
        least = "costs less a run" if per_run else "is cheaper"
        return f"nothing that is quoted whole{on_sale and ' and on sale'} {least}"
    if rule == "cost":
        return f"nothing cheaper{on_sale} fits"
    return f"no other{on_sale} {'costs less a run' if per_run else 'is as fast'}"


def _sum_is_less(ranking: Ranking) -> bool:
    """Whether parts or options with the GPUs of first place add up to a little less than it."""
    candidates, first = ranking.candidates, ranking.order[0]
    cents, cards = candidates.cents, candidates.builds[first].cards
    return any(
        cents[i] < cents[first] and candidates.is_summed(i)
        for i in candidates.alike[cards]
        if candidates.offered[i] == candidates.offered[first]
    )


def measured_days(ranking: Ranking, i: int) -> float | None:
    """How long a synchronised run was measured to take, where a published time counts that is
    shorter; None elsewhere."""
    best = ranking.candidates.times[i]
    return None if best is None or best.measured is None else best.measured.training_days


def better_unsold(ranking: Ranking) -> RankedRow | None:
    """The best that nobody is known to sell and that is ranked below, where it does better than
    first place."""
    if ranking.all_alike:
        return None
    first, unsold = ranking.row(0), ranking.row(ranking.offered)  # the best of those
    if ranking.question.rule == "experiment-cost":
        better = unsold.experiment_cost_usd < first.experiment_cost_usd
    elif ranking.question.rule == "cost":
        better = unsold.overall_cost_usd < first.overall_cost_usd
    else:
        better = unsold.training_days < first.training_days
    return unsold if better else None


def _unsold_is_as_fast(ranking: Ranking) -> bool:
    """Whether the best that nobody is known to sell has the same days, which come first."""
    if ranking.all_alike or ranking.question.rule != "days":
        return False
    return ranking.row(ranking.offered).training_days <= ranking.row(0).training_days


MOST_NAMED = 2
"""How many kinds of GPUs a sentence names before it counts the rest."""


def _kind_words(build: Build) -> str:
    """``2 × RTX 5090``; ``two machines of 2 × RTX 5090``."""
    if build.machines == 1:
        return short_gpus_words(build)
    return f"two machines of {short_gpus_words(build._replace(machines=1))}"


def kinds_words(ranking: Ranking, builds: Collection[int], *, priced: bool = False) -> str:
    """``2 × RTX 5090`` however many machines have them; of more than two kinds how many.

    ``priced`` adds what the cheapest with a seller costs, where that is less than first place:
    ``2 × RTX 5090 ($15,200) or 2 × RTX 6000 Ada``, ``5 other sets of GPUs (from $9,870)``.
    """
    candidates = ranking.candidates
    # In the order of the ranking; what is left out has none, and comes as it is given.
    order = [i for i in ranking.order if i in builds] or builds
    kinds = dict.fromkeys(_kind_words(candidates.builds[i]) for i in order)
    price, cheapest = "", None
    if priced:
        cents = candidates.cents
        low = min((i for i in order if candidates.offered[i]), key=cents.__getitem__, default=None)
        if low is not None and cents[low] < cents[ranking.order[0]]:
            cost = candidates.cost_usd(low)
            assert cost is not None  # it is ranked
            price, cheapest = usd_rounded(cost), _kind_words(candidates.builds[low])
    if len(kinds) > MOST_NAMED:
        return f"{len(kinds)} other sets of GPUs" + (f" (from {price})" if price else "")
    return " or ".join(f"{kind} ({price})" if kind == cheapest else kind for kind in kinds)


def _limit(ranking: Ranking) -> str:
    limit = ranking.question.max_days
    assert limit is not None  # only asked for where there is a limit
    return counted_days(limit)


def _nothing(ranking: Ranking) -> str:
    """Why nothing fits, and what comes nearest."""
    candidates, question = ranking.candidates, ranking.question
    model, budget, limit = candidates.model.name, question.budget_usd, question.max_days
    asked = _asked(ranking)
    if not candidates.rankable:
        unbuilt = [i for i, gap in enumerate(candidates.gap) if gap == "cannot-be-built"]
        if unbuilt and len(unbuilt) == len(candidates.gap):
            # A machine that exists says why; a pairing of cards with a strange chassis says less.
            whole = [i for i in unbuilt if candidates.builds[i].host.gpu_id is not None]
            build = candidates.builds[(whole or unbuilt)[0]]
            return f"Nothing asked for can be built: {build_words(build)}: {build.obstacle}."
        if unpriced := [i for i, gap in enumerate(candidates.gap) if gap == "no-price"]:
            build = candidates.builds[unpriced[0]]
            others = len(unpriced) - 1
            more = f" and {others:,} other build{'s' * (others > 1)}" if others else ""
            return (
                f"No price is known for {build_words(build)}{more}: ask a vendor and add the quote."
            )
        small = candidates.gap.count("does-not-fit")
        if small and not {*candidates.gap} - _NO_MACHINE_FOR_IT:
            they = "it has" if small == 1 else f"all {small:,} have"
            return (
                f"{_none_of(candidates)} that can be built holds {model}: {they} too little "
                "memory for it, whatever is sharded or offloaded."
            )
        return f"No machine can be ranked for {model}: none has both a price and a training time."
    cents = candidates.cents
    inside = [] if budget is None else [i for i in candidates.by_days if cents[i] <= budget * 100]
    in_time = [i for i in candidates.by_cost if limit is None or candidates.days[i] <= limit]
    near = []
    if inside:
        first, unsold = sold_first(candidates, inside)
        on_sale = "" if first == inside[0] else " on sale"
        near.append(f"the fastest{on_sale} for that takes {_days_of(ranking, first)}{unsold}")
    if in_time:
        first, unsold = sold_first(candidates, in_time)
        what = "the cheapest" if first == in_time[0] else "the cheapest on sale"
        what += "" if limit is None else " in time"
        cost = candidates.cost_usd(first)
        assert cost is not None  # it is rankable
        build = candidates.builds[first]
        machine = f"{named_gpus_words(build)} {in_machine(build)}"
        near.append(f"{what} costs {usd_rounded(cost)} ({machine}){unsold}")
    elif inside:
        near.append("no machine here is fast enough at any price")
    else:
        first, unsold = sold_first(candidates, candidates.by_days)
        on_sale = "" if first == candidates.by_days[0] else " on sale"
        near.append(f"the fastest{on_sale} takes {_days_of(ranking, first)}{unsold}")
    return f"{_none_of(candidates)} trains {model}{asked}: {'; '.join(near)}."


_NO_MACHINE_FOR_IT = {"does-not-fit", "cannot-be-built", "fit-not-known"}


def _none_of(candidates: Candidates) -> str:
    """``Nothing``; where few GPUs were asked for, ``No machine with H100``: others may fit."""
    names = dict.fromkeys(build.gpu.name for build in candidates.builds)
    return f"No machine with {' or '.join(names)}" if len(names) <= MOST_NAMED else "Nothing"


def sold_first(candidates: Candidates, ordered: Sequence[int]) -> tuple[int, str]:
    """The first that somebody sells; the first of all, with a word of it, where nobody does."""
    sold = next((i for i in ordered if candidates.offered[i]), None)
    return (ordered[0], ", which nobody is known to sell") if sold is None else (sold, "")


def _asked(ranking: Ranking) -> str:
    """`` for $40,000 within 60 days on a 120 V 15 A circuit``; nothing where no limit was set."""
    budget, limit = ranking.question.budget_usd, ranking.question.max_days
    asked = "" if budget is None else f" for {usd_exact(budget)}"
    asked += "" if limit is None else f" within {_limit(ranking)}"
    supply = ranking.candidates.supply
    return asked if supply is None else f"{asked} on a {supply_words(supply)} circuit"


def _days_of(ranking: Ranking, i: int) -> str:
    """``≈79.4 days (4 × A6000)``."""
    candidates = ranking.candidates
    return f"{estimated_days(candidates, i)} ({named_gpus_words(candidates.builds[i])})"


def days_at(ranking: Ranking, i: int) -> str:
    """``≈79.4 days (50.2–126)``, of what need not be ranked."""
    ends = [days_rounded(end) for end in ranking.candidates.interval(i)]
    return estimated_days(ranking.candidates, i) + (
        "" if ends[0] == ends[1] else f" ({'–'.join(ends)})"
    )
