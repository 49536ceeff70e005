"""Money by the year in a large program: planned without it first, which bounds it from below; then
with every run paid as early as it may start, which any year budget can stand.

How much of each run falls in each year would be several columns a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event

from advisor.planning.solver.by_year import cents_by_year, within_year_budgets
from advisor.planning.solver.first_plans import LARGE
from advisor.planning.solver.milp import Program
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime, Progress

Find = Callable[[PlanningProblem, Clock, Sequence[Plan]], Plan]
"""The cheapest plan, as `solve.py` finds it. Raises NoPlan or OutOfTime."""
NEAR = 0.01
"""A plan within this share of its bound is good enough."""
FREE_TIME = 0.5
BREAKING_TIME = 0.2
"""Where every plan without budgets by year breaks one, no better is looked for after this share."""
EARLY_TIME = 0.7
"""Shares of the time that is left."""


def with_year_budgets(
    problem: PlanningProblem, clock: Clock, known: Sequence[Plan], find: Find
) -> Plan:
    """The cheapest plan where years have money of their own. Raises NoPlan or OutOfTime."""
    if problem.year_budget_cents is None or len(Program(problem).cost) <= LARGE:
        return find(problem, clock, known)
    limits = [problem.budget_cents, sum(problem.year_budget_cents)]
    free = replace(
        problem,
        year_budget_cents=None,
        budget_cents=min(cents for cents in limits if cents is not None),
    )
    try:
        loose = find(free, _heard(problem, clock.within(clock.left * FREE_TIME)), known)
    except OutOfTime:
        return find(problem, clock, known)
    if _keeps(problem, loose):
        return loose
    bound = loose.judged_cents * (1 - (loose.gap or 0.0))
    best: Plan | None = None
    early = replace(problem, paid_early=True)
    try:
        told = _bounded(bound, clock.within(clock.left * EARLY_TIME))
        best = _against(bound, find(early, told, known))
    except (NoPlan, OutOfTime):
        best = None
    if best is not None and (best.gap or 0.0) <= NEAR:
        return best
    try:
        other = find(problem, clock, known)
    except NoPlan:
        if best is None:
            raise
        return best
    except OutOfTime:
        if best is None:
            paid = cents_by_year(problem, loose.purchases, loose.placed)
            raise OutOfTime(paid) from None
        return best
    if other.proven or best is None:
        return other
    return _against(bound, min(best, other, key=lambda plan: plan.judged_cents))


def _keeps(problem: PlanningProblem, plan: Plan) -> bool:
    return within_year_budgets(problem, cents_by_year(problem, plan.purchases, plan.placed))


def _heard(problem: PlanningProblem, clock: Clock) -> Clock:
    """The clock for plans without budgets by year. Its listener hears of none that breaks one; it
    stops where all do, so that time is left for those that do not."""
    hear, stop = clock.hear, clock.stop or Event()
    most = clock.left * (1 - BREAKING_TIME / FREE_TIME)
    kept = False

    def told(said: Progress) -> None:
        nonlocal kept
        if said.plan is not None:
            if _keeps(problem, said.plan):
                kept = True
            else:
                said = replace(said, plan=None)
                if not kept and clock.stop is None and clock.left < most:
                    stop.set()
        if hear is not None:
            hear(said)

    return replace(clock, hear=told, stop=stop)


def _bounded(bound: float, clock: Clock) -> Clock:
    """The clock for plans of a stricter problem, whose own bound is none for the others: what is
    heard is this one, in cents."""
    hear = clock.hear
    if hear is None:
        return clock

    def told(said: Progress) -> None:
        hear(replace(said, bound_usd=bound / 100))

    return replace(clock, hear=told)


def _against(bound: float, plan: Plan) -> Plan:
    """How far a plan may be from the best, by a bound in cents."""
    gap = max(plan.judged_cents - bound, 0.0) / max(abs(plan.judged_cents), 1.0)
    return replace(plan, proven=not gap, gap=gap or None)
