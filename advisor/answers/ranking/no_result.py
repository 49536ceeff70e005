"""The first line where no build answers: why, and what comes nearest (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from advisor.answers.build_words import build_words
from advisor.answers.ranking.budgets import budget_words
from advisor.answers.ranking.on_sale import (
    LEAST,
    ROOMS,
    Room,
    asked_for,
    days_at,
    looked_at,
    priced_words,
    sold_first,
)
from advisor.costs.amounts import day_words, usd_rounded
from advisor.costs.price_book import PriceBook
from advisor.ranking.candidates import Candidates
from advisor.ranking.rank import Ranking
from advisor.ranking.why_left_out import NO_ESTIMATE, all_lack_bf16, no_time, untimed_gpus

MOST_NAMED = 2
"""How many GPUs a sentence names before it says ``nothing``."""
_NO_MACHINE_FOR_IT = {"does-not-fit", "cannot-be-built", "fit-not-known"}


def nothing_words(ranking: Ranking) -> Iterator[str]:
    """The sentence, then what is shorter."""
    if not ranking.candidates.rankable:
        yield _unrankable(ranking)
        return
    yield from _nearest(ranking)


def _unrankable(ranking: Ranking) -> str:
    """Why no build has both a price and a time."""
    candidates = ranking.candidates
    model, gaps = candidates.model.name, candidates.gap
    unbuilt = [i for i, gap in enumerate(gaps) if gap == "cannot-be-built"]
    if unbuilt and len(unbuilt) == len(gaps):
        # A machine that exists says why; a pairing of cards with a strange chassis says less.
        whole = [i for i in unbuilt if candidates.builds[i].host.gpu_id is not None]
        build = candidates.builds[(whole or unbuilt)[0]]
        return f"Nothing asked for can be built: {build_words(build)}: {build.obstacle}."
    if unpriced := [i for i, gap in enumerate(gaps) if gap == "no-price"]:
        build = candidates.builds[unpriced[0]]
        others = len(unpriced) - 1
        more = f" and {others:,} other build{'s' * (others > 1)}" if others else ""
        day = candidates.prices.as_of if isinstance(candidates.prices, PriceBook) else None
        if day is not None and day < date.today():
            known = f"No price of {day_words(day)} or before is known"
            return f"{known} for {build_words(build)}{more}: ask for a later day, or latest."
        return f"No price is known for {build_words(build)}{more}: ask a vendor and add the quote."
    small = gaps.count("does-not-fit")
    if small and not {*gaps} - _NO_MACHINE_FOR_IT:
        they = "it has" if small == 1 else f"all {small:,} have"
        return (
            f"{_none_of(candidates)} that can be built holds {model}: {they} too little "
            "memory for it, whatever is sharded or offloaded."
        )
    if gaps and not {*gaps} - _NO_MACHINE_FOR_IT:
        names = dict.fromkeys(build.gpu.name for build in candidates.builds)
        cards = " or ".join(names) if len(names) <= MOST_NAMED else "these GPUs"
        return (
            f"No machine is sure to take {cards}: of {gaps.count('fit-not-known'):,} nobody states "
            "all that it needs."
        )
    if candidates.evidence == "published":
        return f"No machine with a price has a published time for {model}."
    return _untimed(candidates)


def _untimed(candidates: Candidates) -> str:
    """Why no build has a time in sound evidence."""
    start = f"No machine can be ranked for {candidates.model.name}"
    if candidates.uncounted is not None:
        return f"{start}: it is counted no longer ({candidates.uncounted.rstrip('.')})."
    gpus = untimed_gpus(candidates)
    if not gpus:
        return f"{start}: none has both a price and a training time."
    if all_lack_bf16(candidates):
        few = len(gpus) <= MOST_NAMED
        none = f"No machine with {' or '.join(gpu.name for gpu in gpus)}"
        they = f"the {gpus[0].name} has" if len(gpus) == 1 else "they have"
        return (
            f"{none if few else 'None of these GPUs'} trains {candidates.model.name}: it trains in "
            f"bf16, for which {they} no cores."
        )
    return f"{start}: {no_time(candidates, gpus[0]).removeprefix(NO_ESTIMATE)}"


def _nearest(ranking: Ranking) -> Iterator[str]:
    """What misses the budget or the days by the least, each sentence shorter than the one before:
    a machine with its price and its date, and what the budget buys where there is room for it."""
    candidates, question = ranking.candidates, ranking.question
    cents, budget, limit = candidates.cents, question.budget_usd, question.max_days
    inside = [i for i in candidates.by_days if budget is None or cents[i] <= budget * 100]
    by_cost = candidates.order("cost")
    in_time = [i for i in by_cost if limit is None or candidates.days[i] <= limit]
    start = f"{_none_of(candidates)} trains {candidates.model.name}{asked_for(ranking)}"

    def best(ordered: Sequence[int], what: str, room: Room) -> str:
        """``the cheapest on sale in time is 2 × RTX 5090 in the ...``."""
        first, unsold = sold_first(candidates, ordered)
        if first != ordered[0]:
            had = "to be had" if candidates.builds[first].host_owned else "on sale"
            what = what.replace(" ", f" {had} ", 1)
        words = priced_words(ranking, first, room)
        if room in LEAST and "told by others" in words:
            unsold = ""  # as one may know by it
        return f"the {what}is {words}{unsold}"

    if limit is None:  # nothing but the budget is missed
        for room in ROOMS:
            yield f"{start}: {best(in_time, 'cheapest ', room)}."
        return
    if not in_time and inside and budget is not None:
        none = _none_of(candidates)
        if candidates.network is None:  # two for one model may be fast enough
            none = none.replace("Nothing", "No machine", 1)
        start = f"{none} trains {candidates.model.name}"
        start += f"{asked_for(ranking, budget=False)} at any price; for {budget_words(question)}"
        for room in ROOMS:
            yield f"{start} {best(inside, 'fastest ', room)}."
        return
    if not (in_time and inside):
        nearest = (in_time, "cheapest in time ") if in_time else (candidates.by_days, "fastest ")
        for room in ROOMS:
            yield f"{start}: {best(*nearest, room)}."
        return
    # What misses its limit by less is told in full, of the other how much it takes.
    fast, cheap = sold_first(candidates, inside)[0], sold_first(candidates, in_time)[0]
    cost = candidates.cost_usd(cheap)
    assert budget is not None and cost is not None  # else it would be inside
    dearer = (
        (in_time, "cheapest in time "),
        f"; for {budget_words(question)} it takes {days_at(ranking, fast)}",
    )
    slower = (inside, "fastest for that "), f"; one in time costs {usd_rounded(cost)}"
    ways = (dearer, slower)
    if float(cost / budget) > candidates.days[fast] / limit:
        ways = (slower, dearer)
    for (ordered, what), other in ways:
        for end in (other, ""):
            for room in ROOMS[:-1]:  # the machine comes before what the other takes
                yield f"{start}: {best(ordered, what, room)}{end}."
    yield f"{start}: {best(*ways[0][0], ROOMS[-1])}."


def _none_of(candidates: Candidates) -> str:
    """``Nothing``; where few GPUs were asked for, ``No machine with H100``: others may fit."""
    names = dict.fromkeys(build.gpu.name for build in candidates.builds)
    few = f"No machine with {' or '.join(names)}"
    return few if len(names) <= MOST_NAMED else f"Nothing{looked_at(candidates)}"
