"""Solves a problem to a proven optimum, or says how far from one the plan may be.

Of plans that are as good, the one that is over first is taken, then the one that buys first, then
the one with fewer machines, then the one that rents first. What many instances would do at once
is then done one run after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, inf
from time import monotonic

from advisor.planning.solver.experiments import merge_alike
from advisor.planning.solver.machines import groups
from advisor.planning.solver.money.cents import fixed_cents
from advisor.planning.solver.plan import Plan, gap_between
from advisor.planning.solver.problem import EPSILON, PlanningProblem
from advisor.planning.solver.program.integer_program import Program
from advisor.planning.solver.program.placement import place, plan_of, purchases_of
from advisor.planning.solver.rentals import spread_out
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime, clock_of
from advisor.planning.solver.two_stage import Goal, Search

DEFAULT_SECONDS = 120.0
TIES_NODES = 200
TIES_STEPS = 7
"""Of halving the days by which it could be over sooner."""
TIES_COLUMNS = 400
SAME = 0.004
"""Less than a cent is the same."""


def solve(
    problem: PlanningProblem,
    seconds: float = DEFAULT_SECONDS,
    *,
    known: Sequence[Plan] = (),
    clock: Clock | None = None,
    settle: bool = True,
) -> Plan:
    """The best plan for the problem's objective. Raises NoPlan or OutOfTime.

    Of plans that are as good, with the same kinds of machine, the one that is over first is
    taken, then the one that buys first, then the one with fewer machines (``settle``).

    ``known`` are plans of similar problems: those that work here too make the search shorter, and
    win where another is no better.
    """
    began = monotonic()

    def best(problem: PlanningProblem, clock: Clock, known: Sequence[Plan]) -> Plan:
        ways = {"soonest": _soonest, "most-runs": _most_runs, "cheapest": _optimise}
        plan = ways[problem.objective](problem, clock, known)
        return _settle_ties(problem, plan, clock) if settle else plan

    plan = _with_alike_merged(problem, clock or clock_of(seconds), known, best)
    return replace(spread_out(problem, plan), seconds=monotonic() - began)


def cheapest_with_runs(
    problem: PlanningProblem, *, known: Sequence[Plan] = (), clock: Clock | None = None
) -> Plan:
    """The cheapest plan that does runs of the value ``min_runs``. Raises NoPlan or OutOfTime."""
    plan = _with_alike_merged(problem, clock or clock_of(DEFAULT_SECONDS), known, _optimise)
    return spread_out(problem, plan)


def is_feasible(problem: PlanningProblem, *, clock: Clock | None = None) -> bool:
    """Whether any plan does everything. Raises OutOfTime."""
    everything = replace(merge_alike(problem).problem, objective="cheapest")
    try:
        _optimise(everything, clock or clock_of(DEFAULT_SECONDS), (), "none")
    except NoPlan:
        return False
    return True


def _with_alike_merged(
    problem: PlanningProblem,
    clock: Clock,
    known: Sequence[Plan],
    find: Callable[[PlanningProblem, Clock, Sequence[Plan]], Plan],
) -> Plan:
    """What ``find`` finds with experiments that are alike taken as one."""
    few = merge_alike(problem)
    if len(few.problem.experiments) == len(problem.experiments):
        return find(problem, clock, known)
    joined = [few.joined(plan) for plan in known]
    return few.told_apart(find(few.problem, clock.with_plans_as(few.told_apart), joined))


def _most_runs(problem: PlanningProblem, clock: Clock, known: Sequence[Plan]) -> Plan:
    """As much value as possible, then as cheaply as possible."""
    most = _optimise(problem, clock, known, "value")
    fixed = replace(problem, min_runs=max(most.value, problem.min_runs or 0))
    try:
        plan = _optimise(fixed, clock, (most, *known))
    except OutOfTime:
        return replace(most, proven=False, gap=None)
    return plan if most.proven else replace(plan, proven=False, gap=most.gap)


def _soonest(problem: PlanningProblem, clock: Clock, known: Sequence[Plan]) -> Plan:
    """The earliest whole day by which everything can be over, then the cheapest way to it."""
    everything = replace(problem, objective="cheapest")
    best = _optimise(everything, clock, sorted(known, key=lambda plan: plan.finish_day), "none")
    low, high = 0, _last_day(problem, best)
    # A plan that was best elsewhere often is here, or nearly so.
    middle = high - 1 if known else high // 2
    proven = True
    while low < high:
        try:
            by_then = replace(everything, finish_day=max(middle, 1))
            best = _optimise(by_then, clock, known, "none")
            high = min(middle, _last_day(problem, best))
        except NoPlan:
            low = middle + 1
        except OutOfTime:
            proven = False
            break
        middle = (low + high) // 2
    last = replace(everything, finish_day=max(high, 1))
    try:
        plan = _optimise(last, clock, (best, *known))
    except OutOfTime:
        return replace(best, proven=False, gap=(high - low) / max(high, 1) or None)
    return plan if proven else replace(plan, proven=False, gap=(high - low) / max(high, 1))


def _last_day(problem: PlanningProblem, plan: Plan) -> int:
    """The whole day by which the plan is over, with the days that must stay free before it."""
    share = problem.usable(1.0)
    end = max(plan.finish_day / share, problem.day_when(problem.worked(plan.finish_day) / share))
    return min(int(-(-(end - EPSILON) // 1)), problem.year_days[-1])


def _optimise(
    problem: PlanningProblem, clock: Clock, known: Sequence[Plan], goal: Goal = "judged"
) -> Plan:
    """The best plan by a goal, or the cheapest. Raises NoPlan or OutOfTime."""
    search = Search(problem, goal, clock)
    search.take_known(known)
    search.run()
    if search.plan is None:
        raise OutOfTime
    gap = None
    if not search.is_settled and search.bound > -inf:
        gap = gap_of(search, search.plan)
    return replace(search.plan, proven=search.is_settled, gap=gap, rounds=search.rounds)


def gap_of(search: Search, plan: Plan) -> float:
    """How far a plan may be from the best: a share of the value that could be done, or of what it
    is judged by."""
    if search.goal == "value":
        every = sum(e.runs * e.value for e in search.problem.experiments)
        return gap_between(every - max(ceil(search.bound - EPSILON), 0), plan.value)
    return gap_between(plan.judged_cents / 100, search.bound + search.fixed_usd)


def _settle_ties(problem: PlanningProblem, plan: Plan, clock: Clock) -> Plan:
    """The plan, or one that is as good and better in these. What is not found in time is left."""
    kinds = {p.machine_id for p in plan.purchases}
    kinds |= {m.machine_id for m in problem.machines if m.owned}
    few = replace(
        problem,
        machines=tuple(m for m in problem.machines if (m.part_of or m.machine_id) in kinds),
        objective="most-runs" if plan.left_out else "cheapest",
        min_runs=plan.value if plan.left_out else problem.min_runs,
    )
    # To fill a program of very many groups takes long, only to see that it is too large.
    if len(groups(few)) > TIES_COLUMNS or len(Program(few).cost) > TIES_COLUMNS:
        return plan
    best, high = plan, plan.finish_day
    low = high if problem.objective == "soonest" else 0.0
    for _ in range(TIES_STEPS):
        if clock.left <= 0 or high - low <= 1:
            break
        middle = (low + high) / 2
        found = _as_good(replace(few, finish_day=_with_slack(few, middle)), best, clock)
        if found is None or found.finish_day >= best.finish_day - EPSILON:
            low = middle
        else:
            best, high = found, found.finish_day
    last = replace(few, finish_day=_with_slack(few, best.finish_day))
    found = _as_good(last, best, clock, first=True)
    if found is not None and _rank(found) < _rank(best):
        best = found
    return replace(best, proven=plan.proven, gap=plan.gap, rounds=plan.rounds)


def _rank(plan: Plan) -> tuple[float, int, int, int]:
    orders = sum(p.order * p.count for p in plan.purchases)
    rented = sum(p.order for p in plan.placed if p.rented)
    return (round(plan.finish_day, 3), orders, sum(p.count for p in plan.purchases), rented)


def _with_slack(problem: PlanningProblem, day: float) -> int:
    """The day on which everything must be over so that it really is over by ``day``."""
    return min(max(ceil(day / problem.usable(1.0) - EPSILON), 1), problem.year_days[-1])


def _as_good(
    problem: PlanningProblem, plan: Plan, clock: Clock, *, first: bool = False
) -> Plan | None:
    """A plan judged no dearer; ``first``: that buys first, then buys little, then rents first."""
    if clock.left <= 0:
        return None
    program = Program(problem)
    costs = [0.0] * len(program.cost)
    if first:
        parts = {m.machine_id for m in problem.machines if m.part_of is not None}
        fewer = 1.0 + sum(e.runs for e in problem.experiments) * problem.years
        sooner = fewer * fewer
        for (machine, order), column in program.count.items():
            if order >= 0 and machine not in parts:
                costs[column] = fewer + sooner * order
        for (_, _, year), column in program.rent.items():
            costs[column] = year
    limit = (plan.judged_cents - sum(fixed_cents(problem))) / 100 + SAME
    judged = {column: cost for column, cost in enumerate(program.judged) if cost}
    answer = program.solve(costs, clock.left, also=[(judged, -inf, limit)], most_nodes=TIES_NODES)
    if answer.x is None:
        return None
    placed, _ = place(program, answer.x)
    if placed is None:
        return None
    found = plan_of(problem, purchases_of(program, answer.x), placed)
    worse = found.judged_cents > plan.judged_cents or found.value < plan.value
    return None if worse else found
