"""Machines that the money of every year suffices for, and a plan with them.

Only machines are whole at first, runs may be in parts, and windows are as many as can be solved
soon: then each year's money counts as it is, and the answer bounds every plan. To the machines that
it buys runs are dealt without a look at years, but what is paid in a year whose money is short is
dearer there, by the prices of the relaxation. Which run is when, `retimed.py` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from math import inf
from typing import Any

from advisor.planning.solver.dividing import Divided, NamedNumbers, named_numbers, number_columns
from advisor.planning.solver.filling import dealing
from advisor.planning.solver.first_plans import INFEASIBLE
from advisor.planning.solver.large import HALF, MACHINES_GAP, Learnt, bought_groups, dealt
from advisor.planning.solver.milp import Program
from advisor.planning.solver.money.cents import whole_budget_cents
from advisor.planning.solver.narrowed import wide_program
from advisor.planning.solver.plan import Plan, gap_between
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.relaxation import Relaxation
from advisor.planning.solver.retimed import retimed
from advisor.planning.solver.search_clock import Clock, NoPlan

SOLVED = 0
"""Status of scipy's milp."""
WIDE_TIME = 0.4
DEALING_TIME = 0.2
AT_ONCE_TIME = 0.4
EXACT_TIME = 0.6
"""Shares of the time that is left."""
STEPS = 16
"""For each run that is dealt."""
NEAR = 0.01
"""A plan within this share of its bound is good enough."""


def plan_of_years(problem: PlanningProblem, clock: Clock) -> tuple[Plan | None, float]:
    """A plan that keeps each year's money where one is found, and cents that no plan is judged
    below. Raises NoPlan."""
    wide = wide_program(problem)
    chosen, bound = _machines(wide, clock.within(clock.left * WIDE_TIME))
    if chosen is None:
        return None, bound
    best = _with_machines(problem, wide, chosen, bound, clock)
    if clock.left <= 0 or _is_near(best, bound):
        return best, bound
    # With every window as it is, and only what can be in a cheaper plan.
    every, most = Program(problem), inf
    if best is not None:
        below, most = best.judged_cents / 100 - wide.fixed_usd, float(best.judged_cents)
        keys = Relaxation(wide, wide.judged, clock).promising(below, clock)
        every = Program(replace(problem, buy_only=frozenset(keys)))
    chosen, least = _machines(every, clock.within(clock.left * EXACT_TIME))
    bound = max(bound, min(least, most))
    if chosen is not None:
        best = _cheaper(best, _with_machines(problem, every, chosen, bound, clock))
    return best, bound


def _is_near(plan: Plan | None, bound: float) -> bool:
    return plan is not None and gap_between(plan.judged_cents, bound) <= NEAR


def _machines(program: Program, clock: Clock) -> tuple[Any, float]:
    """The columns where machines are whole, if that is found in time, and the cents that no plan is
    below. Raises NoPlan."""
    answer = program.solve(program.judged, clock.left, gap=MACHINES_GAP, whole=program.machines)
    if answer.status == INFEASIBLE:
        raise NoPlan
    least = answer.mip_dual_bound
    if least is None:  # nothing is bought at all, or the time was over
        least = answer.fun if answer.status == SOLVED else -inf
    return answer.x, (float(least) + program.fixed_usd) * 100


def _with_machines(
    problem: PlanningProblem, program: Program, x: Any, bound: float, clock: Clock
) -> Plan | None:
    """The best plan that is found with these machines, bought when they are here; none better is
    looked for than one that is near the bound."""
    keys = bought_groups(program, x, HALF)
    few = Program(replace(problem, buy_only=frozenset(keys)))
    numbers = named_numbers(program, x)
    worth = _worth_of_years(few, numbers, clock)
    if worth is None:
        return None
    best: Plan | None = None
    for factors in (worth, [1.0] * problem.years):
        best = _cheaper(best, _dealt(problem, few, numbers, factors, clock))
        if _is_near(best, bound):
            return best
    at_once = dealt(few, few.judged, keys, clock.within(clock.left * AT_ONCE_TIME), Learnt())
    return _cheaper(best, None if at_once is None else at_once[1])


def _dealt(
    problem: PlanningProblem,
    few: Program,
    numbers: NamedNumbers,
    factors: Sequence[float],
    clock: Clock,
) -> Plan | None:
    """A plan whose runs are dealt one by one, as if rent of each year were so many times as
    dear."""
    free = Program(
        replace(few.problem, year_budget_cents=None, budget_cents=whole_budget_cents(problem))
    )
    costs = list(free.judged)
    for key, column in free.rent.items():
        costs[column] *= factors[key[2]]
    divided = Divided(free, costs, set(few.block.values()))
    answer = divided.fixed(numbers, clock.left)
    deal = None if answer.x is None else dealing(divided.program, divided.costs, answer.x)
    if deal is None:
        return None
    deal.refill(clock.within(clock.left * DEALING_TIME), STEPS)
    _, found = deal.plan() or (0.0, None)
    return None if found is None else retimed(problem, found[1], clock)


def _worth_of_years(few: Program, numbers: NamedNumbers, clock: Clock) -> list[float] | None:
    """What a dollar of each year's money costs, with these machines and runs in parts; None where
    it is not enough."""
    import numpy as np

    relaxation = Relaxation(few, few.judged, clock)
    for name, column in number_columns(few):
        relaxation.lower[column] = relaxation.upper[column] = numbers.get(name, 0.0)
    answer = relaxation.solve()
    if answer.x is None:
        return None
    _, low, high = few.constraints()
    at_most = np.cumsum((low != high) & np.isfinite(high)) - 1
    lacks = [-float(answer.ineqlin.marginals[at_most[row]]) for row in few.year_rows]
    if few.problem.carry_over:  # a year's money is in every row from it on
        lacks = list(accumulate(reversed(lacks)))[::-1]
    return [1.0 + max(each, 0.0) for each in lacks]


def _cheaper(one: Plan | None, other: Plan | None) -> Plan | None:
    return min(filter(None, (one, other)), key=lambda plan: plan.judged_cents, default=None)
