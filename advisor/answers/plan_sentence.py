"""The sentence that answers a grant: what to do, for how much, done by when, how sure (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal

from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.solver.problem import Objective, Plan

MOST_DONE = 2
"""Things to buy and rent that the sentence names."""
_BEST: Mapping[Objective, str] = {
    "cheapest": "the cheapest",
    "most-runs": "the most runs",
    "soonest": "the soonest",
}


def plan_sentence(loaded: Loaded, plan: Plan) -> str:
    """What to do, what it costs, when it is over and how sure that is; for an e-mail."""
    problem = loaded.problem
    asked = sum(each.runs for each in problem.experiments)
    budget = problem.budget_cents
    of = "" if budget is None else f" of {written_cost(loaded, budget)}"
    runs = f"{plan.runs} of {asked} runs"
    if plan.runs == asked:
        runs = f"all {asked} runs" if asked > 1 else "the one run"
    if not plan.placed and not plan.purchases:
        return f"No run can be done in time with this money: {_sure(loaded, plan)}."
    over = problem.start + timedelta(days=int(plan.finish_day))
    cost = written_cost(loaded, plan.cost_cents)
    return (
        f"{_does(loaded, plan)}: {runs} for {cost}{of} with overhead, "
        f"done by {over.day} {over:%B %Y}; {_sure(loaded, plan)}."
    )


def _sure(loaded: Loaded, plan: Plan) -> str:
    best = _BEST[loaded.grant.objective]
    if loaded.grant.lifetime_years is not None and loaded.grant.objective == "cheapest":
        best += ", less what its machines are still worth after it"
    if plan.proven:
        return f"proven {best}"
    if plan.gap is not None:
        return f"{best} found, at most {plan.gap:.1%} from the best there is"
    return f"{best} found, not proven"


def _called(label: str, count: int) -> str:
    """``the Puget workstation, 1 x RTX 5090``, ``2 × A6000 in Desktop``, ``3 × (…)``."""
    if count > 1:
        return f"{count} × ({label})"
    return label if label[:1].isdigit() else f"the {label}"


def _does(loaded: Loaded, plan: Plan) -> str:
    machines = {each.machine_id: each for each in loaded.problem.machines}
    counts: dict[str, int] = {}
    for each in plan.purchases:
        counts[each.machine_id] = counts.get(each.machine_id, 0) + each.count
    does = [
        f"add {machines[name].label}"
        if machines[name].upgrade_of is not None
        else f"buy {_called(machines[name].label, count)}"
        for name, count in counts.items()
    ]
    rentals = {each.rental_id: each for each in loaded.problem.rentals}
    for name in dict.fromkeys(each.rental_id for each in plan.rented):
        rental = rentals[name]
        does.append(f"{'rent' if rental.allocation is None else 'use'} {rental.label}")
    if not does:
        does = ["use what the lab has"] if plan.work else ["nothing can be done"]
    more = len(does) - MOST_DONE
    if more > 0:
        does = [*does[:MOST_DONE], f"do {more} more thing{'s' if more > 1 else ''}"]
    said = " and ".join(filter(None, (", ".join(does[:-1]), does[-1])))
    return said[:1].upper() + said[1:]


def written_cost(loaded: Loaded, cents: int) -> str:
    """In the grant's own currency."""
    return loaded.grant.currency.written(Decimal(cents) / 100)
