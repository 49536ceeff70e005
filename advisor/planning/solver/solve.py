"""Solves a problem to a proven optimum, or says how far from one it may be.

The program of `milp.py` is solved; its runs are packed on machines day by day; where a packing
fails, what was learnt is added and it is solved again. The bound of every round is valid, so the
first plan that packs is optimal.

What makes it fast is a good plan to begin with: the program is solved with the few machines that
its relaxation uses, or a plan of a like problem is taken over, and then only what is better is
searched for. Where there is nothing, the plan is proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from threading import Event
from time import monotonic
from typing import Literal

from advisor.planning.solver.assemble import place, plan_of
from advisor.planning.solver.milp import Cut, Program
from advisor.planning.solver.problem import EPSILON, Plan, PlanningProblem
from advisor.planning.solver.relaxation import Relaxation

DEFAULT_SECONDS = 120.0
LESS = 0.005
"""Dollars: half a cent, by which a better plan is better at least."""
INFEASIBLE, FAILED = 2, 4
"""Statuses of scipy's milp."""
FEW_GROUPS = 20
"""With more than these it pays to look for a better plan before the last search."""
Goal = Literal["judged", "value", "value, then judged", "none"]
"""What a search makes least: dollars that plans are judged by, the value left out, or nothing."""


class NoPlan(Exception):
    """No plan meets every constraint."""


class OutOfTime(Exception):
    """No plan was found in the time given; whether there is one is not known."""


@dataclass(slots=True, kw_only=True)
class Clock:
    """When a search must end: at a moment of `monotonic`, or when somebody says so."""

    end: float
    stop: Event | None = None

    @property
    def left(self) -> float:
        """Seconds."""
        return 0.0 if self.stop is not None and self.stop.is_set() else self.end - monotonic()

    def within(self, seconds: float) -> Clock:
        """This one, and at most so long from now."""
        return Clock(end=min(self.end, monotonic() + seconds), stop=self.stop)


def clock_of(seconds: float, stop: Event | None = None) -> Clock:
    """A clock that ends so many seconds from now."""
    return Clock(end=monotonic() + seconds, stop=stop)


def solve(
    problem: PlanningProblem,
    seconds: float = DEFAULT_SECONDS,
    *,
    known: Sequence[Plan] = (),
    clock: Clock | None = None,
) -> Plan:
    """The best plan for the problem's objective. Raises NoPlan or OutOfTime.

    ``known`` are plans of like problems: those that work here too make the search shorter, and
    win where another is no better.
    """
    began = monotonic()
    clock = clock_of(seconds) if clock is None else clock
    if problem.objective == "soonest":
        plan = _soonest(problem, clock, known)
    elif problem.objective == "most-runs":
        plan = _most_runs(problem, clock, known)
    else:
        plan = _optimise(problem, clock, "judged", known)
    return replace(plan, seconds=monotonic() - began)


def _most_runs(problem: PlanningProblem, clock: Clock, known: Sequence[Plan]) -> Plan:
    """As much value as possible, then as cheaply as possible."""
    if _weight(problem) is not None:
        return _optimise(problem, clock, "value, then judged", known)
    most = _optimise(problem, clock, "value", known)
    fixed = replace(problem, min_runs=max(most.value, problem.min_runs or 0))
    try:
        plan = _optimise(fixed, clock, "judged", (most, *known))
    except OutOfTime:
        return replace(most, proven=False, gap=None)
    return plan if most.proven else replace(plan, proven=False, gap=most.gap)


def _weight(problem: PlanningProblem) -> float | None:
    """Dollars above what any plan may cost, so that one run counts for more than all the money.

    None where there is no such amount, or it is too large to compute with.
    """
    limits = [problem.budget_cents]
    if problem.year_budget_cents is not None:
        limits.append(sum(problem.year_budget_cents))
    known = [cents for cents in limits if cents is not None]
    if not known or problem.rules.lifetime_years is not None:
        return None
    weight = min(known) / 100 + 1
    return weight if weight * sum(e.runs * e.value for e in problem.experiments) < 1e8 else None


def cheapest_with_runs(
    problem: PlanningProblem,
    seconds: float = DEFAULT_SECONDS,
    *,
    known: Sequence[Plan] = (),
    clock: Clock | None = None,
) -> Plan:
    """The cheapest plan that does runs of the value ``min_runs``. Raises NoPlan or OutOfTime."""
    return _optimise(problem, clock or clock_of(seconds), "judged", known)


def is_feasible(
    problem: PlanningProblem, seconds: float = DEFAULT_SECONDS, *, clock: Clock | None = None
) -> bool:
    """Whether any plan does everything. Raises OutOfTime."""
    try:
        _optimise(replace(problem, objective="cheapest"), clock or clock_of(seconds), "none", ())
    except NoPlan:
        return False
    return True


def _soonest(problem: PlanningProblem, clock: Clock, known: Sequence[Plan]) -> Plan:
    """The earliest whole day by which everything can be over, then the cheapest way to it."""
    everything = replace(problem, objective="cheapest")
    best = _optimise(everything, clock, "none", sorted(known, key=lambda plan: plan.finish_day))
    low, high = 0, _last_day(best)
    if known and high > 1:
        # A plan that was best elsewhere often is here, or nearly so.
        try:
            best = _optimise(replace(everything, finish_day=high - 1), clock, "none", known)
            high = _last_day(best)
        except NoPlan:
            low = high
        except OutOfTime:
            pass
    proven = True
    while low < high:
        middle = (low + high) // 2
        try:
            best = _optimise(replace(everything, finish_day=max(middle, 1)), clock, "none", known)
            high = min(middle, _last_day(best))
        except NoPlan:
            low = middle + 1
        except OutOfTime:
            proven = False
            break
    last = replace(everything, finish_day=max(high, 1))
    try:
        plan = _optimise(last, clock, "judged", (best, *known))
    except OutOfTime:
        return replace(best, proven=False, gap=(high - low) / max(high, 1) or None)
    return plan if proven else replace(plan, proven=False, gap=(high - low) / max(high, 1))


def _last_day(plan: Plan) -> int:
    return int(-(-(plan.finish_day - EPSILON) // 1))


def _optimise(problem: PlanningProblem, clock: Clock, goal: Goal, known: Sequence[Plan]) -> Plan:
    """The best plan by a goal; ``none`` is any plan at all. Raises NoPlan or OutOfTime."""
    cuts: list[Cut] = []
    best: tuple[float, Plan] | None = None
    bound: float | None = None
    rounds = 0
    while True:
        rounds += 1
        if clock.left <= 0:
            break
        program = Program(problem, cuts)
        costs = _goal(program, goal)
        relaxation = Relaxation(program, costs)
        if rounds == 1:
            best = _known(program, costs, known)
            if best is None:
                best = _with_few(program, costs, relaxation, clock, cuts)
        if best is not None and goal == "none":
            return replace(best[1], proven=True, gap=None, rounds=rounds)
        only, below = None, None
        if best is not None:
            only = relaxation.promising(best[0] - LESS)
            if len(only) > FEW_GROUPS and known:
                better = _with_few(program, costs, relaxation, clock, cuts)
                if better is not None and better[0] < best[0] - LESS:
                    best = better
                    only = relaxation.promising(best[0] - LESS)
            below = best[0] - LESS
        answer = program.solve(costs, clock.left, only=only, below=below)
        if answer.status == FAILED:  # numerically
            answer = program.solve(costs, clock.left, only=only, presolve=False)
        if answer.status == INFEASIBLE:
            if best is None:
                raise NoPlan
            return replace(best[1], proven=True, gap=None, rounds=rounds)
        if answer.mip_dual_bound is not None:
            bound = max(float(answer.mip_dual_bound), -inf if bound is None else bound)
        failed: list[Cut] = []
        if answer.x is not None:
            counts = [round(value) for value in answer.x]
            placed, failed = place(program, counts)
            cuts.extend(failed)
            cost = dot(costs, counts)
            if not failed and (best is None or cost < best[0] - LESS / 2):
                best = cost, plan_of(program, counts, placed)
        proven = answer.status == 0 and (answer.mip_gap or 0.0) <= EPSILON
        # Nothing that the program still allows is better than what is known to work.
        done = best is not None and bound is not None and bound >= best[0] - LESS / 2
        if best is not None and ((proven and not failed) or done):
            return replace(best[1], proven=True, gap=None, rounds=rounds)
        if not failed:
            break
    if best is None:
        raise OutOfTime
    gap = None if bound is None else max(best[0] - bound, 0.0) / max(abs(best[0]), 1.0)
    return replace(best[1], proven=False, gap=gap, rounds=rounds)


def _known(
    program: Program, costs: Sequence[float], known: Sequence[Plan]
) -> tuple[float, Plan] | None:
    """The best of these plans that works here too; of equals the first."""
    best: tuple[float, Plan] | None = None
    for plan in known:
        counts = program.counts_of(plan)
        if counts is None:
            continue
        cost = dot(costs, counts)
        if best is not None and cost >= best[0] - LESS / 2:
            continue
        placed, failed = place(program, counts)
        if not failed:
            best = cost, plan_of(program, counts, placed)
    return best


def _with_few(
    program: Program,
    costs: Sequence[float],
    relaxation: Relaxation,
    clock: Clock,
    cuts: list[Cut],
) -> tuple[float, Plan] | None:
    """A good plan with the few machines that the relaxation uses. Raises NoPlan."""
    relaxed = relaxation.solve()
    if relaxed.status == INFEASIBLE:
        if relaxation.whole:
            raise NoPlan
        return None
    if relaxed.x is None:
        return None
    used = {key for key, column in program.count.items() if relaxed.x[column] > EPSILON}
    answer = program.solve(costs, clock.left / 2, only=used)
    if answer.x is None:
        return None
    counts = [round(value) for value in answer.x]
    placed, failed = place(program, counts)
    if failed:
        cuts.extend(failed)
        return None
    return dot(costs, counts), plan_of(program, counts, placed)


def dot(costs: Sequence[float], counts: Sequence[int]) -> float:
    """What the columns cost together."""
    return sum(cost * count for cost, count in zip(costs, counts, strict=True))


def _goal(program: Program, goal: Goal) -> Sequence[float]:
    if goal == "judged":
        return program.judged
    costs = [0.0] * len(program.cost)
    if goal.startswith("value"):
        weight = 1.0
        if goal == "value, then judged":
            weight = _weight(program.problem) or 1.0
            costs = list(program.judged)
        for e in program.problem.experiments:
            costs[program.skip[e.experiment_id]] = weight * e.value
    return costs
