"""Money by the year in a large program: planned without it first, which bounds it from below; then
with the machines that each year's money suffices for, its runs dealt; then with every run paid as
early as it may start, which any year budget can stand.

How much of each run falls in each year would be several columns a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from math import inf
from threading import Event

from advisor.planning.solver.first_plans import LARGE
from advisor.planning.solver.large import Learnt, strengthened
from advisor.planning.solver.milp import Program
from advisor.planning.solver.money.cents import (
    cents_by_year,
    fixed_cents,
    whole_budget_cents,
    within_year_budgets,
)
from advisor.planning.solver.plan import Plan, against_bound, least_cents
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.retimed import retimed
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime, Progress
from advisor.planning.solver.year_machines import plan_of_years

Find = Callable[[PlanningProblem, Clock, Sequence[Plan]], Plan]
"""The cheapest plan, as `solve.py` finds it. Raises NoPlan or OutOfTime."""
NEAR = 0.01
"""A plan within this share of its bound is good enough."""
FREE_TIME = 0.5
FREE_FIRST_TIME = 0.3
FREE_AGAIN_TIME = 0.7
"""Without budgets by year: where money is carried over; else before they are looked at, and after
that where they make the plan hardly dearer."""
BREAKING_TIME = 0.2
"""Where every plan without budgets by year breaks one, no better is looked for after this share."""
YEARS_TIME = 0.6
"""With machines that the money of each year suffices for."""
KINDS_TIME = 0.1
FEW_TIME = 0.5
"""First only machines of the cheapest plans are bought, if in other years ..."""
EARLY_TIME = 0.7
"""... then anything ..."""
WHOLE_TIME = 0.5
"""... then with every run paid when it is: shares of the time that is left."""
SPARE = (0.01, 0.03, 0.1)
"""Shares of a year's money that are left over, where runs were found no days that keep to it."""


def with_year_budgets(
    problem: PlanningProblem, clock: Clock, known: Sequence[Plan], find: Find
) -> Plan:
    """The cheapest plan where years have money of their own. Raises NoPlan or OutOfTime."""
    if problem.year_budget_cents is None:
        return find(problem, clock, known)
    try:
        return _keeping(problem, clock, known, find)
    except NoPlan:
        return _to_the_cent(problem, clock, known, find)


def _to_the_cent(problem: PlanningProblem, clock: Clock, known: Sequence[Plan], find: Find) -> Plan:
    """The cheapest plan that keeps to each year's money as it is paid, in whole cents: a run that
    goes over the turn of a year pays parts of a cent in each. Raises NoPlan or OutOfTime."""
    assert problem.year_budget_cents is not None
    more = tuple(cents + 1 for cents in problem.year_budget_cents)
    whole = whole_budget_cents(problem)
    looser = replace(problem, year_budget_cents=more, budget_cents=whole)
    plan = _keeping(looser, clock, known, find)
    if not _keeps(problem, plan):
        raise OutOfTime
    return plan


def _keeping(problem: PlanningProblem, clock: Clock, known: Sequence[Plan], find: Find) -> Plan:
    assert problem.year_budget_cents is not None
    if len(Program(problem).cost) <= LARGE:
        try:
            return find(problem, clock, known)
        except OutOfTime:
            if clock.left <= 0:
                raise
    free = replace(problem, year_budget_cents=None, budget_cents=whole_budget_cents(problem))
    loose: Plan | None = None
    keeping: list[Plan] = []

    def freely(share: float) -> float:
        nonlocal loose
        heard = _heard(problem, clock.within(clock.left * share), keeping)
        try:
            loose = find(free, heard, (*keeping, *known))
        except OutOfTime:
            return -inf
        again = loose if _keeps(problem, loose) else retimed(problem, loose, clock)
        keeping.extend([] if again is None else [again])
        return least_cents(loose)

    def best_against(bound: float) -> Plan | None:
        best = min(keeping, key=lambda plan: plan.judged_cents, default=None)
        return None if best is None else against_bound(bound, best)

    # Money that is not carried over is often what makes a plan dear.
    bound = freely(FREE_TIME if problem.carry_over else FREE_FIRST_TIME)
    best, by_year = best_against(bound), -inf
    if best is None or not _is_good(best):
        clock.tell("which machines the money of each year suffices for")
        found, by_year = plan_of_years(problem, clock.within(clock.left * YEARS_TIME))
        keeping += [] if found is None or not _keeps(problem, found) else [found]
        best = best_against(bound)
    if not problem.carry_over and best is not None and _is_good(best) and not best.proven:
        bound = max(bound, freely(FREE_AGAIN_TIME))
    bound = max(bound, by_year)
    best = best_against(bound)
    if best is not None and _is_good(best):
        return best
    clock.tell("which machines the money suffices for")
    every, few = _kinds(free, clock.within(clock.left * KINDS_TIME))
    try:
        return _step_by_step(_only(problem, every), few, best, bound, clock, known, find)
    except OutOfTime:
        if loose is None:
            raise
        paid = cents_by_year(problem, loose.purchases, loose.placed)
        raise OutOfTime(paid) from None


def _step_by_step(
    problem: PlanningProblem,
    few: set[str],
    best: Plan | None,
    bound: float,
    clock: Clock,
    known: Sequence[Plan],
    find: Find,
) -> Plan:
    """A plan with few machines, then with any, then with every run paid when it is; or the
    ``best`` until now. No plan is below ``bound`` cents. Raises NoPlan or OutOfTime."""
    if best is not None:
        best = against_bound(bound, best)
    early = replace(problem, paid_early=True)
    for asked, share in ((_only(early, few), FEW_TIME), (early, EARLY_TIME)):
        try:
            told = _bounded(bound, clock.within(clock.left * share))
            found = find(asked, told, known if best is None else (best, *known))
        except (NoPlan, OutOfTime):
            continue
        best = against_bound(
            bound, min(filter(None, (best, found)), key=lambda plan: plan.judged_cents)
        )
        if _is_good(best):
            return best
    try:
        left = clock.within(clock.left * (WHOLE_TIME if best is None else 1.0))
        other = find(problem, left, known)
    except NoPlan:
        if best is None:
            raise
        return best
    except OutOfTime:
        return _with_spare(problem, bound, clock, known, find) if best is None else best
    if other.proven or best is None:
        return other
    return against_bound(bound, min(best, other, key=lambda plan: plan.judged_cents))


def _with_spare(
    problem: PlanningProblem, bound: float, clock: Clock, known: Sequence[Plan], find: Find
) -> Plan:
    """A plan that needs less than each year's money. Raises OutOfTime."""
    for spare in SPARE:
        try:
            return against_bound(bound, find(_less_by_year(problem, spare), clock, known))
        except (NoPlan, OutOfTime):
            continue
    raise OutOfTime


def _is_good(plan: Plan) -> bool:
    return plan.proven or (plan.gap is not None and plan.gap <= NEAR)


def _keeps(problem: PlanningProblem, plan: Plan) -> bool:
    return within_year_budgets(problem, cents_by_year(problem, plan.purchases, plan.placed))


def _less_by_year(problem: PlanningProblem, spare: float) -> PlanningProblem:
    """The problem with a share less of each year's money; where that is carried over, with so much
    less of what there is by the end of each year but the last."""
    assert problem.year_budget_cents is not None
    if not problem.carry_over:
        each = tuple(int(cents * (1 - spare)) for cents in problem.year_budget_cents)
        return replace(problem, year_budget_cents=each)
    ahead = list(accumulate(problem.year_budget_cents))
    ahead = [0, *(int(cents * (1 - spare)) for cents in ahead[:-1]), ahead[-1]]
    return replace(problem, year_budget_cents=tuple(b - a for a, b in pairwise(ahead)))


def _kinds(free: PlanningProblem, clock: Clock) -> tuple[set[str], set[str]]:
    """The machines that any plan within the budget can buy from, and those few that the cheapest
    plans do. Raises NoPlan."""
    assert free.budget_cents is not None
    program = Program(free)
    relaxation = strengthened(program, program.cost, Learnt(), clock)
    every = relaxation.promising((free.budget_cents - sum(fixed_cents(free))) / 100, clock)
    least = relaxation.solve()
    few = every if least.x is None else relaxation.promising(least.fun * (1 + NEAR), clock)
    return {machine for machine, _ in every}, {machine for machine, _ in few}


def _only(problem: PlanningProblem, kinds: set[str]) -> PlanningProblem:
    """The problem in which nothing but these is bought, on any day."""
    every = frozenset((kind, order) for kind in kinds for order in range(len(problem.orders)))
    allowed = problem.buy_only
    return replace(problem, buy_only=every if allowed is None else every & allowed)


def _heard(problem: PlanningProblem, clock: Clock, keeping: list[Plan]) -> Clock:
    """The clock for plans without budgets by year. Those that break none, on other days if need be,
    are kept, and its listener hears of no others; it stops where all do, so that time is left for
    those that do not."""
    hear, stop = clock.hear, clock.stop or Event()
    most = clock.left * (1 - BREAKING_TIME / FREE_TIME)
    last: Plan | None = None

    def told(said: Progress) -> None:
        nonlocal last
        if said.plan is not None and said.plan is not last:
            last = said.plan
            kept = last if _keeps(problem, last) else retimed(problem, last, clock.quiet())
            keeping.extend([] if kept is None else [kept])
        if said.plan is not None:
            best = min(keeping, key=lambda plan: plan.judged_cents, default=None)
            said = replace(said, plan=best)
            if best is None and clock.stop is None and clock.left < most:
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
        hear(replace(said, bound_usd=None if bound == -inf else bound / 100))

    return replace(clock, hear=told)
