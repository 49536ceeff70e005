"""Of plans that are as good: the one that is over first, then the one that buys first, then the
one with fewer machines, then the one that rents first. Looked for with the kinds of machine that
the plan has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, inf

from advisor.planning.solver.assemble import place, plan_of
from advisor.planning.solver.groups import groups
from advisor.planning.solver.integer_program import Row
from advisor.planning.solver.milp import Program
from advisor.planning.solver.money.cents import fixed_cents
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import EPSILON, PlanningProblem
from advisor.planning.solver.search_clock import Clock

SECONDS = 2.0
STEPS = 7
"""Of halving the days by which it could be over sooner."""
MOST_COLUMNS = 400
ABOUT = 0.004
"""Dollars: less than a cent is the same."""


def settle_ties(problem: PlanningProblem, plan: Plan, clock: Clock) -> Plan:
    """The plan, or one that is as good and better in these. What is not found in time is left."""
    clock = clock.within(SECONDS).quiet()
    kinds = {p.machine_id for p in plan.purchases}
    machines = tuple(
        m
        for m in problem.machines
        if m.owned
        or (m.upgrade_of is not None and m.machine_id in kinds)
        or m.machine_id in kinds
        or m.part_of is not None
    )
    ids = {m.machine_id for m in machines}
    few = replace(
        problem,
        machines=tuple(m for m in machines if m.part_of is None or m.part_of in ids),
        objective="most-runs" if plan.left_out else "cheapest",
        min_runs=plan.value if plan.left_out else problem.min_runs,
    )
    # To fill a program of very many groups takes long, only to see that it is too large.
    if len(groups(few)) > MOST_COLUMNS or len(Program(few).cost) > MOST_COLUMNS:
        return plan
    best = plan
    if problem.objective != "soonest":
        low, high = 0.0, best.finish_day
        for _ in range(STEPS):
            if clock.left <= 0 or high - low <= 1:
                break
            middle = (low + high) / 2
            found = _as_good(replace(few, finish_day=_with_slack(few, middle)), best, clock, None)
            if found is None or found.finish_day >= best.finish_day - EPSILON:
                low = middle
            else:
                best, high = found, found.finish_day
    last = replace(few, finish_day=_with_slack(few, best.finish_day))
    for goal in ("order", "count", "rent"):
        found = _as_good(last, best, clock, goal)
        if found is not None and _rank(found) < _rank(best):
            best = found
    if best is plan:
        return plan
    return replace(best, proven=plan.proven, gap=plan.gap, rounds=plan.rounds)


def _rank(plan: Plan) -> tuple[float, int, int, int]:
    orders = sum(p.order * p.count for p in plan.purchases)
    rented = sum(r.year * r.runs for r in plan.rented)
    return (round(plan.finish_day, 3), orders, sum(p.count for p in plan.purchases), rented)


def _with_slack(problem: PlanningProblem, day: float) -> int:
    """The day on which everything must be over so that it really is over by ``day``."""
    return min(max(ceil(day / problem.usable(1.0) - EPSILON), 1), problem.year_days[-1])


def _as_good(problem: PlanningProblem, plan: Plan, clock: Clock, goal: str | None) -> Plan | None:
    """A plan judged no dearer, that buys first, buys little or rents first by the goal."""
    if clock.left <= 0:
        return None
    program = Program(problem)
    costs: Sequence[float] = [0.0] * len(program.cost)
    also: list[Row] = []
    judged = {column: cost for column, cost in enumerate(program.judged) if cost}
    limit = (plan.judged_cents - sum(fixed_cents(problem))) / 100 + ABOUT
    if judged:
        also.append((judged, -inf, limit))
    if goal is not None:
        whole = {m.machine_id for m in problem.machines if m.part_of is None}
        bought = {
            column: order
            for (machine, order), column in program.count.items()
            if order >= 0 and machine in whole
        }
        orders = {column: float(order) for column, order in bought.items() if order}
        pieces = dict.fromkeys(bought, 1.0)
        years = {column: float(year) for (_, _, year), column in program.rent.items()}
        weights = {"order": orders, "count": pieces, "rent": years}[goal]
        costs = [weights.get(column, 0.0) for column in range(len(program.cost))]
        # What an earlier goal reached stays reached.
        if goal != "order" and orders:
            also.append((orders, -inf, float(sum(p.order * p.count for p in plan.purchases))))
        if goal == "rent" and pieces:
            also.append((pieces, -inf, float(sum(p.count for p in plan.purchases))))
    answer = program.solve(costs, min(clock.left, SECONDS / 2), also=also)
    if answer.x is None:
        return None
    counts = [
        float(round(value)) if whole else float(value)
        for value, whole in zip(answer.x, program.whole, strict=True)
    ]
    placing = place(program, counts)
    if placing.failed or placing.over_year:
        return None
    found = plan_of(program, counts, placing.placed)
    if found.judged_cents > plan.judged_cents or found.value < plan.value:
        return None
    return found
