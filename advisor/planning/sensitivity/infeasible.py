"""A plan that cannot be: which constraint to relax, and by how much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil

from advisor.planning.sensitivity.changes import Change, vary
from advisor.planning.sensitivity.solved_amounts import Finding, Solved, Words, money
from advisor.planning.solver.machines import groups, runs_that_fit
from advisor.planning.solver.money.cents import cents_by_year, within_year_budgets
from advisor.planning.solver.problem import Experiment, PlanningProblem
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime, clock_of
from advisor.planning.solver.solve import DEFAULT_SECONDS, cheapest_with_runs, is_feasible, solve

LONGEST_DAYS = 3650
Typed = Callable[[int], int]
"""The budget, in whole hundredths, that a cost needs as its grant's writer types it."""
REST_UNTRIED = Finding(words=("what else would help was not found in time",))


def relax(
    problem: PlanningProblem, clock: Clock | None = None, *, typed: Typed = int
) -> list[Finding]:
    """Ways out, each by itself; none where nothing helps; budgets are said as they
    are ``typed``."""
    alone = [_alone(problem, e) for e in problem.experiments]
    clock = clock or clock_of(DEFAULT_SECONDS)
    hopeless = [finding for finding in alone if finding is not None]
    if hopeless:
        return hopeless
    base = replace(problem, objective="cheapest")
    found: list[Finding] = []
    try:
        _money(base, clock, found, typed)
        if problem.max_machines is not None:
            _machines(base, clock, found)
        _later(base, clock, found)
        _fewer(base, clock, found)
    except OutOfTime:
        found.append(REST_UNTRIED)
    return found


def first_run(problem: PlanningProblem, clock: Clock, *, typed: Typed = int) -> list[Finding]:
    """Where the money does no run at all: what the cheapest one takes."""
    change: Change = {"budget_cents": None, "no_year_budget": True}
    least = min(e.value for e in problem.experiments)
    try:
        plan = cheapest_with_runs(replace(vary(problem, change), min_runs=least), clock=clock)
    except (NoPlan, OutOfTime):
        return relax(problem, clock, typed=typed)
    total = money(typed(plan.cost_cents), change, "cost")
    return [Finding(words=("raise the budget: the cheapest run takes ", total))]


def _alone(problem: PlanningProblem, e: Experiment) -> Finding | None:
    """What is wrong with one experiment on any machine whatever, money no object."""
    fits = any(runs_that_fit(problem, group, e) for group in groups(problem))
    if fits or any(_rent_end(problem, e, day) for day in problem.year_days[:-1]):
        return None
    best: tuple[float, str] | None = None
    for group in groups(problem):
        time = group.machine.times.get(e.model)
        if time is not None:
            end = max(e.release_day, group.from_day) + _needs(problem, problem.elapsed(time))
            best = min(filter(None, (best, (end, group.machine.label))))
    for rental in problem.rentals:
        time = rental.times.get(e.model)
        if time is not None:
            end = e.release_day + _needs(problem, problem.rented_days(rental, e.model))
            best = min(filter(None, (best, (end, rental.label))))
    if best is None:
        return Finding(
            words=(
                f"{e.name}: no machine that may be bought, rented or is owned has a usable time "
                f"for {e.model}: allow more GPUs, measure one (advisor bench), or leave it out",
            ),
        )
    longest = problem.rules.longest_run_days
    if best[0] <= problem.due(e) and longest is not None:
        limit = Solved(value=longest, unit="days", change={}, reads="direct")
        return Finding(
            words=(
                f"{e.name}: no run of {e.model} is over within ",
                limit,
                ": raise longest_run_days under [running], allow faster machines, or leave it out",
            )
        )
    late = Solved(value=ceil(best[0] - problem.due(e)), unit="days", change={}, reads="direct")
    return Finding(
        words=(f"{e.name}: even {best[1]} would be ", late, " late: move its date or leave it out"),
    )


def _needs(problem: PlanningProblem, days: float) -> float:
    """Days from the release to the deadline that a run of this many days needs."""
    return days / problem.usable(1.0)


def _rent_end(problem: PlanningProblem, e: Experiment, day: int) -> bool:
    start = max(e.release_day, day)
    room = problem.usable(problem.due(e) - e.release_day) - (start - e.release_day)
    return any(
        e.model in r.times
        and problem.rented_days(r, e.model) <= room
        and not problem.too_long(r, e.model)
        for r in problem.rentals
    )


def _money(
    base: PlanningProblem,
    clock: Clock,
    found: list[Finding],
    typed: Typed,
) -> None:
    budget = base.budget_cents
    if budget is None and base.year_budget_cents is None:
        return
    change: Change = {"budget_cents": None, "no_year_budget": True}
    try:
        plan = solve(vary(base, change), clock=clock)
    except NoPlan:
        return
    if budget is not None and plan.cost_cents > budget:
        cost = money(typed(plan.cost_cents), change, "cost")
        more = money(typed(plan.cost_cents) - typed(budget), change, "over-budget")
        words: Words = ("raise the budget by ", more, ", to ", cost)
        paid = cents_by_year(base, plan.purchases, plan.placed)
        if not within_year_budgets(base, paid):
            words += (", to spend in any year",)
        found.append(Finding(words=words))
    change = {"no_year_budget": True}
    anywhen = vary(base, change)
    if base.year_budget_cents is not None and is_feasible(anywhen, clock=clock):
        anywhen_plan = solve(anywhen, clock=clock)
        cents = anywhen_plan.cost_cents
        total = money(typed(cents), change, "cost")
        words = ("let money be spent in any year: the total of ", total, " is then enough")
        if cents > sum(base.year_budget_cents):
            words = ("raise what all years have together to ", total, ", to spend in any year")
        found.append(Finding(words=words))


def _machines(base: PlanningProblem, clock: Clock, found: list[Finding]) -> None:
    change = {"max_machines": None}
    try:
        plan = solve(vary(base, change), clock=clock)
    except NoPlan:
        return
    count = sum(p.count for p in plan.purchases)
    words = Solved(value=count, unit="machines", change=change, reads="machines")
    found.append(Finding(words=("allow ", words, " to be bought")))


def _later(base: PlanningProblem, clock: Clock, found: list[Finding]) -> None:
    """The fewest days by which every date must move."""
    high = 1
    while high <= LONGEST_DAYS and not is_feasible(vary(base, {"later_days": high}), clock=clock):
        high *= 2
    if high > LONGEST_DAYS:
        return
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        if is_feasible(vary(base, {"later_days": middle}), clock=clock):
            high = middle
        else:
            low = middle
    days = Solved(value=high, unit="days", change={"later_days": high}, reads="least")
    found.append(Finding(words=("move every date, the grant's end too, by ", days)))


def _fewer(base: PlanningProblem, clock: Clock, found: list[Finding]) -> None:
    change = {"objective": "most-runs"}
    try:
        plan = solve(vary(base, change), clock=clock)
    except NoPlan:
        return
    if not plan.runs:
        return
    names = {e.experiment_id: e.name for e in base.experiments}
    left = sum(plan.left_out.values())
    each = [f"{runs} of {names[e]}" for e, runs in plan.left_out.items()]
    which = "; ".join(each) if len(each) > 1 else names[next(iter(plan.left_out))]
    words = Solved(value=left, unit="runs", change=change, reads="left-out")
    found.append(Finding(words=("leave out ", words, f" ({which})")))
