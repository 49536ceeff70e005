"""Why no build answers a ranking, and what comes nearest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from advisor.answers.build_words import build_words
from advisor.answers.ranking.on_sale import (
    cost_at,
    days_of,
    looked_at,
    priced_words,
    sold_first,
)
from advisor.answers.ranking.question_words import asked_for, budget_words
from advisor.costs.amounts import day_words, usd_rounded
from advisor.costs.price_book import PriceBook
from advisor.ranking.candidates import Candidates
from advisor.ranking.exclusion_reasons import NO_ESTIMATE, all_lack_bf16, no_time, untimed_gpus
from advisor.ranking.rank import Ranking

MOST_NAMED = 2
"""How many GPUs a sentence names before it says ``these GPUs``."""
_NO_MACHINE_FOR_IT = {"does-not-fit", "cannot-be-built", "fit-not-known"}


def nothing_words(ranking: Ranking) -> str:
    """Why no build answers the question, and what comes nearest."""
    if not ranking.candidates.rankable:
        return _unrankable(ranking.candidates)
    return _nearest(ranking)


def _unrankable(candidates: Candidates) -> str:
    """Why no build has both a price and a time."""
    model, gaps = candidates.model.name, candidates.gap
    unbuilt = [i for i, gap in enumerate(gaps) if gap == "cannot-be-built"]
    if unbuilt and len(unbuilt) == len(gaps):
        # A machine that exists says why; a pairing of cards with a strange chassis says less.
        whole = [i for i in unbuilt if candidates.builds[i].host.gpu_id is not None]
        build = candidates.builds[(whole or unbuilt)[0]]
        return f"Nothing asked for can be built: {build_words(build)}: {build.obstacle}."
    if unpriced := [i for i, gap in enumerate(gaps) if gap == "no-price"]:
        named = build_words(candidates.builds[unpriced[0]])
        others = len(unpriced) - 1
        named += f" and {others:,} other build{'s' * (others > 1)}" if others else ""
        day = candidates.prices.as_of if isinstance(candidates.prices, PriceBook) else None
        if day is not None and day < date.today():
            known = f"No price of {day_words(day)} or before is known"
            return f"{known} for {named}: ask for a later day, or latest."
        return f"No price is known for {named}: ask a vendor and add the quote."
    small = gaps.count("does-not-fit")
    if small and not {*gaps} - _NO_MACHINE_FOR_IT:
        they = "it has" if small == 1 else f"all {small:,} have"
        return (
            f"{_none_of(candidates)} that can be built holds {model}: {they} too little "
            "memory for it, whatever is sharded or offloaded."
        )
    if gaps and not {*gaps} - _NO_MACHINE_FOR_IT:
        return (
            f"It is not known that any machine takes {_names(candidates) or 'these GPUs'}: for "
            f"{gaps.count('fit-not-known'):,} no source states all that it needs."
        )
    if candidates.evidence == "published":
        return f"No machine with a price has a published time for {model}."
    return _untimed(candidates)


def _untimed(candidates: Candidates) -> str:
    """Why no build has a time in sound evidence."""
    start = f"No machine can be ranked for {candidates.model.name}"
    if candidates.uncounted is not None:
        return f"{start}: it is no longer counted ({candidates.uncounted.rstrip('.')})."
    gpus = untimed_gpus(candidates)
    if not gpus:
        return f"{start}: none has both a price and a training time."
    if all_lack_bf16(candidates):
        return f"{start} on these GPUs: it trains in bf16, for which they have no cores."
    return f"{start}: {no_time(candidates, gpus[0]).removeprefix(NO_ESTIMATE)}"


def _nearest(ranking: Ranking) -> str:
    """What misses the budget or the days by the least, with its price and its date."""
    candidates, question = ranking.candidates, ranking.question
    cents, budget, limit = candidates.cents, question.budget_usd, question.max_days
    inside = [i for i in candidates.by_days if budget is None or cents[i] <= budget * 100]
    in_time = [i for i in candidates.order("cost") if limit is None or candidates.days[i] <= limit]
    start = f"{_none_of(candidates)} trains {candidates.model.name}{asked_for(ranking)}."
    if limit is None:  # only the budget is missed
        return f"{start} {_best(ranking, in_time, 'The cheapest')}."
    money = budget_words(question)
    if not in_time and inside and budget is not None:
        none = _none_of(candidates)
        if candidates.network is None:  # two for one model may be fast enough
            none = none.replace("Nothing", "No machine", 1)
        asked = asked_for(ranking, budget=False)
        start = f"{none} trains {candidates.model.name}{asked} at any price."
        return f"{start} {_best(ranking, inside, 'The fastest', f' for {money}')}."
    if not inside:
        if in_time:
            return f"{start} {_best(ranking, in_time, 'The cheapest', ' in time')}."
        return f"{start} {_best(ranking, candidates.by_days, 'The fastest')}."
    if not in_time:
        return f"{start} {_best(ranking, inside, 'The fastest')}."
    # The build that misses its limit by less is described in full, the other by its limit alone.
    fast, cheap = sold_first(candidates, inside)[0], sold_first(candidates, in_time)[0]
    cost = cost_at(candidates, cheap)
    assert budget is not None  # else it would be inside
    if float(cost / budget) > candidates.days[fast] / limit:
        best = _best(ranking, inside, "The fastest", f" for {money}")
        return f"{start} {best}. One in time costs {usd_rounded(cost)}."
    best = _best(ranking, in_time, "The cheapest", " in time")
    return f"{start} {best}. For {money} it takes {days_of(candidates, fast)}."


def _best(ranking: Ranking, ordered: Sequence[int], what: str, limit: str = "") -> str:
    """``The cheapest on sale in time is 2 × RTX 5090 in the ...``."""
    candidates = ranking.candidates
    first, unsold = sold_first(candidates, ordered)
    had = ""
    if first != ordered[0]:
        had = " that you have" if candidates.builds[first].host_owned else " on sale"
    return f"{what}{had}{limit} is {priced_words(ranking, first)}{unsold}"


def _names(candidates: Candidates) -> str:
    """``H100 or H200``; empty where there are more."""
    names = list(dict.fromkeys(build.gpu.name for build in candidates.builds))
    return " or ".join(names) if len(names) <= MOST_NAMED else ""


def _none_of(candidates: Candidates) -> str:
    """``Nothing``; where few GPUs were asked for, ``No machine with H100``: others may fit."""
    names = _names(candidates)
    return f"No machine with {names}" if names else f"Nothing{looked_at(candidates)}"
