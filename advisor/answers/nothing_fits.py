"""The first line where no build answers: why, and what comes nearest (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.answers.offered import ROOMS, Room, asked_for, days_at, priced_words, sold_first
from advisor.answers.wording import build_words, named_gpus_words, short_gpus_words
from advisor.costs.amounts import usd_rounded
from advisor.ranking.candidates import Candidates
from advisor.ranking.rank import Ranking

MOST_NAMED = 2
"""How many GPUs a sentence names before it says ``nothing``."""
_NO_MACHINE_FOR_IT = {"does-not-fit", "cannot-be-built", "fit-not-known"}


def nothing_words(ranking: Ranking) -> Iterator[str]:
    """The sentence, then what is shorter."""
    if not ranking.candidates.rankable:
        yield _unrankable(ranking)
        return
    for room in ROOMS:
        yield _nearest(ranking, room)


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
    return f"No machine can be ranked for {model}: none has both a price and a training time."


def _nearest(ranking: Ranking, room: Room) -> str:
    """What misses the budget or the days by the least."""
    candidates, question = ranking.candidates, ranking.question
    cents, budget, limit = candidates.cents, question.budget_usd, question.max_days
    inside = [i for i in candidates.by_days if budget is None or cents[i] <= budget * 100]
    by_cost = candidates.order("cost")
    in_time = [i for i in by_cost if limit is None or candidates.days[i] <= limit]
    start = f"{_none_of(candidates)} trains {candidates.model.name}{asked_for(ranking)}"
    if limit is None:  # nothing but the budget is missed
        first, unsold = sold_first(candidates, in_time)
        on_sale = "" if first == in_time[0] else " on sale"
        return f"{start}: the cheapest{on_sale} is {priced_words(ranking, first, room)}{unsold}."
    what = " for that" if inside and budget is not None and room != "least" else ""
    first, unsold = sold_first(candidates, inside or candidates.by_days)
    on_sale = "" if first == (inside or candidates.by_days)[0] else " on sale"
    name = short_gpus_words if room == "least" else named_gpus_words
    gpus = name(candidates.builds[first])
    near = []
    if inside or not in_time:
        near.append(f"the fastest{on_sale}{what} is {gpus}, {days_at(ranking, first)}{unsold}")
    if in_time:
        first, unsold = sold_first(candidates, in_time)
        on_sale = "" if first == in_time[0] else " on sale"
        cost = candidates.cost_usd(first)
        assert cost is not None  # it is rankable
        gpus = name(candidates.builds[first])
        near.append(f"the cheapest{on_sale} in time is {gpus}, {usd_rounded(cost)}{unsold}")
    elif inside and budget is not None:
        near.append("no machine here is fast enough at any price")
    return f"{start}: {'; '.join(near)}."


def _none_of(candidates: Candidates) -> str:
    """``Nothing``; where few GPUs were asked for, ``No machine with H100``: others may fit."""
    names = dict.fromkeys(build.gpu.name for build in candidates.builds)
    return f"No machine with {' or '.join(names)}" if len(names) <= MOST_NAMED else "Nothing"
