"""How sure the first place of a ranking is, in the words that end its first line (pure)."""

from __future__ import annotations

from advisor.answers.ranking.no_result import MOST_NAMED
from advisor.answers.ranking.on_sale import looked_at
from advisor.answers.ranking.rivals import kinds_words
from advisor.answers.wording import counted_days
from advisor.costs.cost import DAYS_PER_YEAR
from advisor.ranking.rank import RankedRow, Ranking


def how_sure(ranking: Ranking, *, priced: bool = True, named: bool = True) -> str:
    """How sure first place is, in a few words; ``priced`` says what a cheaper rival costs; not
    ``named`` are rivals counted."""
    uncertainty, rule = ranking.uncertainty, ranking.question.rule
    most = MOST_NAMED if named else 0
    if uncertainty.first_is_impossible:
        return "but that published time is physically impossible"
    slower = measured_days(ranking, ranking.order[0])
    if slower is not None:
        return f"but we measured {counted_days(slower)}"
    life = ranking.question.lifetime_years
    if ranking.row(0).training_days > life * DAYS_PER_YEAR:
        return f"longer than the {life:g} years it serves"
    if len(ranking) == 1 and not uncertainty.outside:
        return f"nothing else{looked_at(ranking.candidates)} fits"
    per_run = rule == "experiment-cost"
    if uncertainty.tied:
        alike = "cost as little" if per_run else "be as fast"
        if ranking.quoted_first:
            alike = "be faster"
        return f"{kinds_words(ranking, uncertainty.tied, priced=priced, most=most)} may {alike}"
    if uncertainty.outside:
        return f"{kinds_words(ranking, uncertainty.outside, priced=priced, most=most)} may too"
    on_sale = " on sale" if better_unsold(ranking) or _unsold_is_as_fast(ranking) else ""
    on_sale += looked_at(ranking.candidates)
    if per_run and not priced:  # after what a run costs
        return f"none{' quoted whole' if sum_is_less(ranking) else on_sale} costs less"
    if sum_is_less(ranking):
        least = "costs less a run" if per_run else "is cheaper"
        return f"nothing{on_sale} quoted whole {least}"
    if rule == "cost":
        return f"nothing cheaper{on_sale} fits"
    if per_run:
        return f"no other{on_sale} costs less a run"
    # In another machine its GPUs are as fast, and more money may buy what is faster.
    if ranking.question.budget_usd is None:
        return f"nothing{on_sale} is faster"
    return f"nothing faster{on_sale} fits{' the budget' if priced and named else ''}"


def sum_is_less(ranking: Ranking) -> bool:
    """Whether parts or options on sale as first place is add up to a little less than it costs, or
    a run on them: what is quoted comes before them by cost."""
    candidates, rule, first = ranking.candidates, ranking.question.rule, ranking.order[0]
    if rule == "days" or candidates.is_summed(first):
        return False
    value = candidates.cents if rule == "cost" else candidates.experiment_weight
    alike = ranking.order[: ranking.offered]
    return any(value[i] < value[first] for i in alike)


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
