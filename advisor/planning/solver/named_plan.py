"""The plan without sums that nobody quoted, where sellers name hardly more for the same cards."""

from __future__ import annotations

from dataclasses import replace

from advisor.planning.solver.named_first import bought_at_names
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime
from advisor.planning.solver.solve import solve
from advisor.ranking.named_prices import ABOUT


def at_named_prices(
    problem: PlanningProblem, plan: Plan, clock: Clock
) -> tuple[PlanningProblem, Plan] | None:
    """The best plan that buys nothing at such a sum, and the problem that it solves; None where the
    plan buys nothing so, or the money or the time is not enough for another that is as good."""
    known = bought_at_names(problem, plan)
    if known is None:
        return None
    named = replace(problem, named_first=True)
    try:
        other = solve(named, known=(known,), clock=clock)
    except (NoPlan, OutOfTime):
        return None
    later = problem.objective == "soonest" and other.finish_day > plan.finish_day
    dear = other.cost_cents > ABOUT * plan.cost_cents
    return None if later or dear or other.value < plan.value else (named, other)
