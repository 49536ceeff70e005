"""Solves a problem to a proven optimum, or says how far from one it may be.

The program of `milp.py` is solved; its runs are packed on machines day by day; where a packing
fails, what was learnt is added and it is solved again. The bound of every round is valid, so the
first plan that packs is optimal.

What makes it fast is a good plan to begin with (`first_plans.py`): then only what is better is
searched for, and where there is nothing, the plan is proven.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, inf
from time import monotonic
from typing import Literal

from advisor.planning.solver.alike import alike
from advisor.planning.solver.assemble import place, plan_of
from advisor.planning.solver.first_plans import (
    FAILED,
    INFEASIBLE,
    LARGE,
    Found,
    dot,
    first_plan,
    known_plan,
    packed_plan,
    placed_plan,
    rented_rest,
    values_of,
    with_few,
)
from advisor.planning.solver.large import HUGE, Learnt, large_plan
from advisor.planning.solver.milp import Cut, Program
from advisor.planning.solver.money.cents import whole_budget_cents
from advisor.planning.solver.narrowed import narrowed
from advisor.planning.solver.one_by_one import dealt_one_by_one
from advisor.planning.solver.plan import Plan, gap_between
from advisor.planning.solver.problem import EPSILON, PlanningProblem
from advisor.planning.solver.relaxation import Relaxation
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime, clock_of
from advisor.planning.solver.tied_plans import settle_ties
from advisor.planning.solver.year_money import with_year_budgets

DEFAULT_SECONDS = 120.0
LESS = 0.005
"""Dollars: half a cent, by which a better plan is better at least."""
FEW_GROUPS = 20
"""With more than these it pays to look for a better plan before the last search."""
GOOD = 0.001
"""A plan within this share of its bound is good enough."""
HARD = 100
"""Columns: with more, a good plan and its bound are looked for before the best."""
NEAR = 0.01
"""One within this share is not searched on for long."""
LAST_SECONDS = 15.0
"""So long a good plan of a large program is searched on for."""
Goal = Literal["judged", "value", "value, then judged", "none"]
"""What a search makes least: dollars that plans are judged by, the value left out, or nothing."""


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

    ``known`` are plans of like problems: those that work here too make the search shorter, and
    win where another is no better.
    """
    began = monotonic()

    def best(problem: PlanningProblem, clock: Clock, known: Sequence[Plan]) -> Plan:
        if problem.objective == "soonest":
            plan = _soonest(problem, clock, known)
        elif problem.objective == "most-runs":
            plan = _most_runs(problem, clock, known)
        else:
            plan = with_year_budgets(problem, clock, known, _cheapest)
        return settle_ties(problem, plan, clock) if settle else plan

    plan = _of_alike(problem, clock or clock_of(seconds), known, best)
    return replace(plan, seconds=monotonic() - began)


def _cheapest(problem: PlanningProblem, clock: Clock, known: Sequence[Plan]) -> Plan:
    return narrowed(problem, clock, known, _judged)


def _judged(problem: PlanningProblem, clock: Clock, known: Sequence[Plan]) -> Plan:
    return _optimise(problem, clock, "judged", known)


def _of_alike(
    problem: PlanningProblem,
    clock: Clock,
    known: Sequence[Plan],
    find: Callable[[PlanningProblem, Clock, Sequence[Plan]], Plan],
) -> Plan:
    """What ``find`` finds with like experiments taken as one."""
    few = alike(problem)
    if few is None:
        return find(problem, clock, known)
    joined = [few.joined(plan) for plan in known]
    return few.told_apart(find(few.problem, clock.hearing(few.told_apart), joined))


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
    budget_cents = whole_budget_cents(problem)
    if budget_cents is None or problem.rules.lifetime_years is not None:
        return None
    weight = budget_cents / 100 + 1
    return weight if weight * sum(e.runs * e.value for e in problem.experiments) < 1e8 else None


def cheapest_with_runs(
    problem: PlanningProblem, *, known: Sequence[Plan] = (), clock: Clock | None = None
) -> Plan:
    """The cheapest plan that does runs of the value ``min_runs``. Raises NoPlan or OutOfTime."""
    return _of_alike(problem, clock or clock_of(DEFAULT_SECONDS), known, _judged)


def is_feasible(problem: PlanningProblem, *, clock: Clock | None = None) -> bool:
    """Whether any plan does everything. Raises OutOfTime."""
    few = alike(problem)
    everything = replace(problem if few is None else few.problem, objective="cheapest")
    try:
        _optimise(everything, clock or clock_of(DEFAULT_SECONDS), "none", ())
    except NoPlan:
        return False
    return True


def _soonest(problem: PlanningProblem, clock: Clock, known: Sequence[Plan]) -> Plan:
    """The earliest whole day by which everything can be over, then the cheapest way to it."""
    everything = replace(problem, objective="cheapest")
    best = _optimise(everything, clock, "none", sorted(known, key=lambda plan: plan.finish_day))
    low, high = 0, _last_day(problem, best)
    if known and high > 1:
        # A plan that was best elsewhere often is here, or nearly so.
        try:
            best = _optimise(replace(everything, finish_day=high - 1), clock, "none", known)
            high = _last_day(problem, best)
        except NoPlan:
            low = high
        except OutOfTime:
            pass
    proven = True
    while low < high:
        middle = (low + high) // 2
        try:
            best = _optimise(replace(everything, finish_day=max(middle, 1)), clock, "none", known)
            high = min(middle, _last_day(problem, best))
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


def _last_day(problem: PlanningProblem, plan: Plan) -> int:
    """The whole day by which the plan is over, with the days that must stay free before it."""
    share = problem.usable(1.0)
    end = max(plan.finish_day / share, problem.day_when(problem.worked(plan.finish_day) / share))
    return min(int(-(-(end - EPSILON) // 1)), problem.year_days[-1])


def _optimise(problem: PlanningProblem, clock: Clock, goal: Goal, known: Sequence[Plan]) -> Plan:
    """The best plan by a goal; ``none`` is any plan at all. Raises NoPlan or OutOfTime."""
    learnt = Learnt()
    cuts = learnt.cuts
    best: Found | None = None
    bound: float | None = None
    rounds = 0
    gap = 0.0
    exact = True
    while clock.left > 0:
        rounds += 1
        program = Program(problem, cuts, learnt.rows)
        costs = _goal(program, goal)
        large = len(program.cost) > LARGE
        if rounds == 1:
            best = known_plan(program, costs, known)
            if len(program.cost) > HARD and (best is None or goal != "none"):
                good, bound = large_plan(program, costs, clock, learnt)
                best = min(filter(None, (best, good)), key=lambda each: each[0], default=None)
                if best is not None and bound is not None:
                    bound = min(bound, best[0])
                    if len(program.cost) > HUGE and goal == "judged":
                        break  # nothing more is found out in the time of a search
                    if best[0] - bound <= NEAR * abs(best[0]):
                        clock = clock.within(LAST_SECONDS * (1 if large else 3))
        relaxation = Relaxation(program, costs, clock)
        if rounds == 1:
            clock.tell("what runs cost on parts of machines")
            if best is None:
                best = first_plan(program, costs, relaxation, clock, cuts)
            gap = GOOD if large else 0.0
        if best is not None and large and bound is not None and best[0] - bound <= GOOD * best[0]:
            break
        if best is not None and goal == "none":
            return replace(best[1], proven=True, gap=None, rounds=rounds)
        only, below = None, None
        if best is not None:
            _tell(clock, program, goal, best, bound, "which machines can be in a cheaper plan")
            only = relaxation.promising(best[0] - LESS, clock)
            if len(only) > FEW_GROUPS and known:
                better = with_few(program, costs, relaxation, clock, cuts)
                if better is not None and better[0] < best[0] - LESS:
                    best = better
                    only = relaxation.promising(best[0] - LESS, clock)
            below = best[0] - LESS
            _tell(clock, program, goal, best, bound, _kinds(program, only))
        left = clock.left if gap or best is None or bound is None else min(clock.left, LAST_SECONDS)
        answer = program.solve(costs, left, without=program.outside(only), below=below, gap=gap)
        if answer.status == FAILED:  # numerically
            answer = program.solve(costs, clock.left, without=program.outside(only), presolve=False)
        if answer.status == INFEASIBLE:
            if best is None:
                if not exact:
                    raise OutOfTime
                raise NoPlan
            return replace(best[1], proven=exact, gap=None if exact else 0.0, rounds=rounds)
        if answer.mip_dual_bound is not None:
            lower = float(answer.mip_dual_bound)
            if best is not None:
                lower = min(lower, best[0])
            bound = max(lower, -inf if bound is None else bound)
        failed: list[Cut] = []
        undecided = False
        found: Found | None = None
        if answer.x is not None:
            counts = values_of(program, answer.x)
            placing = place(program, counts)
            failed = placing.failed
            if failed and not learnt.look(program, counts):
                sure = [cut for cut in failed if cut.sure]
                cuts.extend(sure)
                undecided = not sure
            if placing.over_year:  # no rule is learnt from it: the rest is not proven
                found = dealt_one_by_one(program, costs, counts, clock)
                if found is not None and (best is None or found[0] < best[0] - LESS / 2):
                    best = found
                exact = best is not None and bound is not None and bound >= best[0] - LESS / 2
                break
            cost = dot(costs, counts)
            if not failed and (best is None or cost < best[0] - LESS / 2):
                found = cost, plan_of(program, counts, placing.placed)
            elif failed and (best is None or len(program.cost) > LARGE):
                bought = {k for k, column in program.count.items() if counts[column]}
                found = packed_plan(program, costs, bought, clock)
                if found is None and best is None:
                    found = placed_plan(program, costs, counts)
                rented = rented_rest(program, costs, counts)
                found = min(filter(None, (found, rented)), key=lambda each: each[0], default=None)
            if found is not None and (best is None or found[0] < best[0] - LESS / 2):
                best = found
        if best is not None:
            _tell(clock, program, goal, best, bound, "whether a cheaper plan exists")
        if undecided:  # nothing is learnt from it: the rest is not proven
            exact = False
            break
        if large and best is not None and bound is not None and best[0] - bound <= GOOD * best[0]:
            break  # good enough, and what is left takes long
        if answer.status == 0 and gap and not failed:
            gap = 0.0  # it is good; what is left of the time may prove it, or better it
            if best is None or bound is None or bound < best[0] - LESS / 2:
                continue
        proven = answer.status == 0 and (answer.mip_gap or 0.0) <= EPSILON
        # Nothing that the program still allows is better than what is known to work.
        done = best is not None and bound is not None and bound >= best[0] - LESS / 2
        if best is not None and ((proven and not failed) or done):
            return replace(best[1], proven=exact, gap=None if exact else 0.0, rounds=rounds)
        if not failed:
            break
    if best is None:
        raise OutOfTime
    if exact and bound is not None and bound >= best[0] - LESS / 2:
        return replace(best[1], proven=True, gap=None, rounds=rounds)
    if bound is None:
        return replace(best[1], proven=False, gap=None, rounds=rounds)
    return replace(best[1], proven=False, gap=_gap(program, goal, best, bound), rounds=rounds)


def _gap(program: Program, goal: Goal, best: Found, bound: float) -> float:
    """How far a plan may be from the best: a share of the value that could be done, or of what it
    is judged by where no plan does more."""
    beside, least = program.fixed_usd, bound
    if goal.startswith("value"):
        problem, every = program.problem, program.problem.experiments
        weight = (_weight(problem) or 1.0) if goal == "value, then judged" else 1.0
        left_out = max(ceil((bound - (weight - 1)) / weight - EPSILON), 0)
        most = sum(e.runs * e.value for e in every) - left_out
        if most > best[1].value or goal == "value":
            return gap_between(most, best[1].value)
        least = bound - weight * left_out
    return gap_between(best[1].judged_cents / 100, least + beside)


def _tell(
    clock: Clock, program: Program, goal: Goal, best: Found, bound: float | None, trying: str
) -> None:
    """Say how far it has come, where what is made least is money."""
    if goal == "judged" and bound is not None:
        clock.tell(trying, plan=best[1], bound_usd=bound + program.fixed_usd)
    else:
        clock.tell(trying, plan=best[1])


def _kinds(program: Program, only: Sequence[tuple[str, int]] | set[tuple[str, int]]) -> str:
    kinds = len({machine_id for machine_id, _ in only})
    if not kinds:
        return "whether a plan that buys nothing is cheaper"
    return f"{kinds} {'kind' if kinds == 1 else 'kinds'} of machine that can be in a cheaper plan"


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
