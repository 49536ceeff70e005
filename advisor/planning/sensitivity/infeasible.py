"""A plan that cannot be: which constraint to relax, and by how much."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import ceil

from advisor.planning.sensitivity.changes import FREE, Change, movable, vary
from advisor.planning.sensitivity.solved_amounts import Finding, Solved, Words, money
from advisor.planning.solver.machines import groups, runs_that_fit
from advisor.planning.solver.money.cents import cents_by_year, within_year_budgets
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Experiment, PlanningProblem
from advisor.planning.solver.rentals import rented_ways
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime, clock_of
from advisor.planning.solver.solve import DEFAULT_SECONDS, cheapest_with_runs, is_feasible, solve

Typed = Callable[[int], int]
"""The budget, in whole hundredths, that a cost needs as its grant's writer types it."""
REST_UNTRIED = Finding(words=("what else would help was not found in time",))


def relax(
    problem: PlanningProblem, clock: Clock | None = None, *, typed: Typed = int
) -> list[Finding]:
    """Ways out, each by itself; none where nothing helps; budgets are said as they
    are ``typed``."""
    minima = [replace(e, runs=e.min_runs, min_runs=0) for e in problem.experiments if e.min_runs]
    least = problem.objective == "most-runs" and bool(minima)
    if least:  # the others need not be done
        problem = replace(problem, experiments=tuple(minima))
    alone = [_alone(problem, e) for e in problem.experiments]
    clock = clock or clock_of(DEFAULT_SECONDS)
    hopeless = [finding for finding in alone if finding is not None]
    if hopeless:
        return hopeless
    base = replace(problem, objective="cheapest")
    found: list[Finding] = []
    try:
        found += _money(base, clock, typed)
        found += _machines(base, clock)
        found += _later(base, clock)
        found += _longer(base, clock)
        found += _fewer(base, clock, "lower min_runs by " if least else "leave out ")
    except OutOfTime:
        found.append(REST_UNTRIED)
    return found


def first_run(problem: PlanningProblem, clock: Clock, *, typed: Typed = int) -> list[Finding]:
    """Where the money does no run at all: what the cheapest one takes."""
    least = min(e.value for e in problem.experiments)
    try:
        plan = cheapest_with_runs(replace(vary(problem, FREE), min_runs=least), clock=clock)
    except (NoPlan, OutOfTime):
        return relax(problem, clock, typed=typed)
    total = money(typed(plan.cost_cents), FREE, "cost")
    found = [Finding(words=("raise the budget: the cheapest run takes ", total))]
    try:
        return [*found, *_longer(problem, clock)]
    except OutOfTime:
        return [*found, REST_UNTRIED]


def _alone(problem: PlanningProblem, e: Experiment) -> Finding | None:
    """What is wrong with one experiment on any machine whatever, money no object."""
    fits = any(runs_that_fit(problem, group, e) for group in groups(problem))
    if fits or any(way.experiment is e for way in rented_ways(problem)):
        return None
    share = problem.usable(1.0)  # of the days from the release to the deadline
    ends = [
        (max(e.release_day, group.from_day) + problem.elapsed(time) / share, group.machine.label)
        for group in groups(problem)
        if (time := group.machine.times.get(e.model)) is not None
    ]
    ends += [
        (e.release_day + problem.rented_days(rental, e.model) / share, rental.label)
        for rental in problem.rentals
        if e.model in rental.times
    ]
    if not ends:
        none = f"{e.name}: no machine that may be bought, rented or is owned has a usable time for "
        mend = f"{e.model}: allow more GPUs, measure one (advisor bench), or leave it out"
        return Finding(words=(none + mend,))
    (end, label), longest = min(ends), problem.rules.longest_run_days
    if end <= problem.due(e) and longest is not None:
        limit = Solved(value=longest, unit="days", change={}, reads="direct")
        start = f"{e.name}: no run of {e.model} is over within "
        mend = ": raise longest_run_days under [running], allow faster machines, or leave it out"
        return Finding(words=(start, limit, mend))
    late = Solved(value=ceil(end - problem.due(e)), unit="days", change={}, reads="direct")
    start = f"{e.name}: even {label} would be "
    mend = "move its date" if movable(problem, e) else "allow faster machines"
    return Finding(words=(start, late, f" late: {mend} or leave it out"))


def _solved(base: PlanningProblem, change: Change, clock: Clock) -> Plan | None:
    """The plan under a change; None where there is none. Raises OutOfTime."""
    try:
        return solve(vary(base, change), clock=clock)
    except NoPlan:
        return None


def _money(base: PlanningProblem, clock: Clock, typed: Typed) -> Iterator[Finding]:
    budget, years = base.budget_cents, base.year_budget_cents
    if budget is None and years is None:
        return
    plan = _solved(base, FREE, clock)
    if plan is None:
        return
    if budget is not None and plan.cost_cents > budget:
        cost = money(typed(plan.cost_cents), FREE, "cost")
        more = money(typed(plan.cost_cents) - typed(budget), FREE, "over-budget")
        words: Words = ("raise the budget by ", more, ", to ", cost)
        paid = cents_by_year(base, plan.purchases, plan.placed)
        if not within_year_budgets(base, paid):
            words += (", to spend in any year",)
        yield Finding(words=words)
    change = {"no_year_budget": True}
    anywhen = None if years is None else _solved(base, change, clock)
    if years is not None and anywhen is not None:
        total = money(typed(anywhen.cost_cents), change, "cost")
        words = ("let money be spent in any year: the total of ", total, " is then enough")
        if anywhen.cost_cents > sum(years):
            words = ("raise what all years have together to ", total, ", to spend in any year")
        yield Finding(words=words)


def _machines(base: PlanningProblem, clock: Clock) -> Iterator[Finding]:
    change = {"max_machines": None}
    plan = None if base.max_machines is None else _solved(base, change, clock)
    if plan is not None:
        count = sum(p.count for p in plan.purchases)
        words = Solved(value=count, unit="machines", change=change, reads="machines")
        yield Finding(words=("allow ", words, " to be bought"))


def _later(base: PlanningProblem, clock: Clock) -> Iterator[Finding]:
    """The fewest days by which every deadline within the grant must move; its end stays."""

    def enough(days: int) -> bool:
        return is_feasible(vary(base, {"later_days": days}), clock=clock)

    within = [base.year_days[-1] - e.due_day for e in base.experiments if movable(base, e)]
    most = max(within, default=0)
    if not most or not enough(most):
        return
    least = 1 + bisect_left(range(1, most), True, key=enough)
    days = Solved(value=least, unit="days", change={"later_days": least}, reads="least")
    until = ", at most to the grant's end" if least > min(within) else ""
    yield Finding(words=("move every deadline (the dates after by) ", days, f" later{until}"))


def _longer(base: PlanningProblem, clock: Clock) -> Iterator[Finding]:
    """What runs take where none is too long."""
    limit, free = base.rules.longest_run_days, {"longest_run_days": None}
    plan = None if limit is None else _solved(base, free, clock)
    if limit is None or plan is None or not plan.runs:
        return
    options, models = base.options(), {e.experiment_id: e.model for e in base.experiments}
    taken = (base.begun_days(options[p.machine_id], models[p.experiment_id]) for p in plan.placed)
    change = {"longest_run_days": ceil(max(taken))}
    days = Solved(value=change["longest_run_days"], unit="days", change=change, reads="enough")
    runs = Solved(value=plan.runs, unit="runs", change=change, reads="direct")
    words: Words = (f"raise longest_run_days under [running], {limit:f} now, to ", days)
    if base.objective == "most-runs":
        words += (", which does ", runs)
    yield Finding(words=words)


def _fewer(base: PlanningProblem, clock: Clock, verb: str) -> Iterator[Finding]:
    change = {"objective": "most-runs"}
    plan = _solved(base, change, clock)
    if plan is None or not plan.runs:
        return
    names = {e.experiment_id: e.name for e in base.experiments}
    left = sum(plan.left_out.values())
    each = [f"{runs} of {names[e]}" for e, runs in plan.left_out.items()]
    which = "; ".join(each) if len(each) > 1 else names[next(iter(plan.left_out))]
    words = Solved(value=left, unit="runs", change=change, reads="left-out")
    yield Finding(words=(verb, words, f" ({which})"))
