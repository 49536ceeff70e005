"""A large cheapest plan is looked for as if there were no budget: one within it is the best, and
where every plan costs more there is none. A search that may pass no budget has its first plan
late, or never, where the money is only just enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from threading import Event

from advisor.planning.solver.first_plans import INFEASIBLE, LARGE
from advisor.planning.solver.milp import Program
from advisor.planning.solver.plan import Plan, against_bound, least_cents
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.relaxation import Relaxation
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime, Progress

Find = Callable[[PlanningProblem, Clock, Sequence[Plan]], Plan]
"""The cheapest plan, as `solve.py` finds it. Raises NoPlan or OutOfTime."""
CENT = 1
FREE_TIME = 0.7
"""Of the time that is left: the rest is for a search that keeps to the budget."""


def without_budget(
    problem: PlanningProblem, clock: Clock, known: Sequence[Plan], find: Find
) -> Plan:
    """The cheapest plan within the budget. Raises NoPlan or OutOfTime."""
    budget = problem.budget_cents
    if budget is None or problem.year_budget_cents is not None or not _judged_by_pay(problem):
        return find(problem, clock, known)
    program = Program(problem)
    if len(program.cost) <= LARGE:
        return find(problem, clock, known)
    if Relaxation(program, program.judged, clock).solve().status == INFEASIBLE:
        raise NoPlan
    within = _Within(budget)
    free, told = replace(problem, budget_cents=None), clock.within(clock.left * FREE_TIME)
    try:
        plan = find(free, within.heard(told), known)
        if plan.cost_cents <= budget:
            return plan
        within.bound_cents = max(within.bound_cents, least_cents(plan))
    except OutOfTime:
        pass
    if within.is_too_little:
        raise NoPlan
    if within.best is not None:
        return against_bound(within.bound_cents, within.best)
    return find(problem, clock, known)


class _Within:
    """What a search without a budget says, for who has one."""

    def __init__(self, budget_cents: int) -> None:
        self._budget_cents = budget_cents
        self.best: Plan | None = None
        """The cheapest plan within the budget until now."""
        self.bound_cents = -inf

    @property
    def is_too_little(self) -> bool:
        """Whether every plan is known to cost more."""
        return self.bound_cents > self._budget_cents + CENT

    def heard(self, clock: Clock) -> Clock:
        """The clock for plans that may cost more: its listener hears of none that does, and it
        stops where all do."""
        hear, stop = clock.hear, clock.stop or Event()

        def told(said: Progress) -> None:
            if said.bound_usd is not None:
                self.bound_cents = max(self.bound_cents, said.bound_usd * 100)
            plan = said.plan
            least = self._budget_cents if self.best is None else self.best.cost_cents
            if plan is not None and plan.cost_cents <= least:
                self.best = plan
            if self.is_too_little and clock.stop is None:
                stop.set()
            if hear is not None:
                hear(replace(said, plan=self.best))

        return replace(clock, hear=told, stop=stop)


def _judged_by_pay(problem: PlanningProblem) -> bool:
    sure = all(each.odds == 1 for each in problem.allocations)
    return sure and problem.rules.lifetime_years is None
