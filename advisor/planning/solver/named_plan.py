"""The plan without sums that nobody quoted, where sellers name hardly more for the same cards."""

from __future__ import annotations

from dataclasses import replace

from advisor.planning.solver.alike import alike
from advisor.planning.solver.first_plans import known_plan
from advisor.planning.solver.milp import Program
from advisor.planning.solver.named_first import bought_at_names
from advisor.planning.solver.plan import Plan, against_bound, least_cents
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime
from advisor.planning.solver.solve import solve
from advisor.ranking.named_prices import ABOUT


def at_named_prices(
    problem: PlanningProblem, plan: Plan, clock: Clock
) -> tuple[PlanningProblem, Plan] | None:
    """The best plan that buys nothing at such a sum, and the problem that it solves; where there is
    no time to look for it, the same plan at named prices. None where the plan buys nothing so, or
    the money is not enough for another that is as good."""
    known = bought_at_names(problem, plan)
    if known is None:
        return None
    named = replace(problem, named_first=True)
    other: Plan | None
    try:
        other = solve(named, known=(known,), clock=clock)
    except NoPlan:
        return None
    except OutOfTime:
        other = _as_it_is(named, known, plan)
    if other is None:
        return None
    later = problem.objective == "soonest" and other.finish_day > plan.finish_day
    dear = other.cost_cents > ABOUT * plan.cost_cents
    return None if later or dear or other.value < plan.value else (named, other)


def _as_it_is(named: PlanningProblem, known: Plan, plan: Plan) -> Plan | None:
    """What is known with its costs counted anew, and how far it may be from the best: what bounds
    the ``plan`` with sums bounds it too. None where it breaks a rule."""
    few = alike(named)
    program = Program(named if few is None else few.problem)
    joined = known if few is None else few.joined(known)
    found = known_plan(program, program.judged, (joined,))
    if found is None:
        return None
    other = found[1] if few is None else few.told_apart(found[1])
    if named.objective != "cheapest":
        return replace(other, proven=False, gap=plan.gap)
    return against_bound(least_cents(plan), other)
