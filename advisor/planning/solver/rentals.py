"""Ways to rent a run: the cheapest instance on the open market, and each allocation."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from advisor.planning.solver.money.cents import (
    purchase_cents,
    rental_cents,
    run_cents,
    run_costs,
)
from advisor.planning.solver.money.charges import HOURS_PER_DAY
from advisor.planning.solver.plan import Placed, Plan, by_place
from advisor.planning.solver.problem import EPSILON, Allocation, Experiment, PlanningProblem, Rental

Cents = Mapping[tuple[str, str, int], int]
"""What one run costs, by rental, model and year in which it starts."""
Ordered = Mapping[tuple[str, int], Sequence[Rental]]
"""By model and year: the instances on the open market for it, cheapest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Runs of an experiment on one rental that start in one year."""

    experiment: Experiment
    rental: Rental
    year: int
    ends_in: int
    """The last year in which the run can still be running."""
    low: float
    """The first day on which one can start ..."""
    last: float
    """... and the last on which one may end."""
    days: float
    """Of the calendar, for one run."""
    cents: int
    """For one run, overhead included."""
    risk_cents: int
    """What one run is judged dearer by, since the allocation may not be awarded."""
    gpu_hours: float
    """Trained by one run."""

    @property
    def key(self) -> tuple[str, str, int]:
        """That of its runs: `Placed.place`."""
        return self.experiment.experiment_id, self.rental.rental_id, self.year


def _run_cents(problem: PlanningProblem) -> Cents:
    models, found = {e.model for e in problem.experiments}, dict[tuple[str, str, int], int]()
    for rental in problem.rentals:
        for model in models & rental.times.keys():
            cents = rental_cents(rental, model, problem.rules)
            for year, day in enumerate(problem.year_days[:-1]):
                if problem.rules.rents_differ:
                    cents = rental_cents(rental, model, problem.rules, day)
                found[rental.rental_id, model, year] = cents
    return found


def _ordered(problem: PlanningProblem, cents: Cents) -> Ordered:
    """By what a run costs, then by its days."""
    found = {}
    for model in {e.model for e in problem.experiments}:
        every = [r for r in problem.rentals if r.allocation is None and model in r.times]
        days = {r.rental_id: problem.rented_days(r, model) for r in every}
        for year in range(problem.years):
            found[model, year] = sorted(
                every,
                key=lambda r: (cents[r.rental_id, model, year], days[r.rental_id], r.rental_id),
            )
    return found


def _cheapest(
    problem: PlanningProblem, e: Experiment, year: int, ordered: Ordered
) -> Iterator[Rental]:
    """The cheapest instance on the open market on which a run that starts in ``year`` ends in
    time, and the cheapest of each GPU whose rent is limited, beside which others may be needed.

    Nothing is shared between rented runs, so that no other instance can be better.
    """
    low, due = float(e.release_day), problem.due(e)
    first, over = problem.year_days[year], problem.year_days[year + 1]
    if low >= over or first >= low + problem.usable(due - low) + EPSILON:
        return  # on none, without a look at each
    limited = {limit.gpu_id for limit in problem.rent_limits}
    left = {"", *limited}
    for rental in ordered[e.model, year]:
        kind = rental.gpu_id if rental.gpu_id in limited else ""
        if kind in left and _span(problem, e, rental, year) is not None:
            left.remove(kind)
            yield rental
        if not left:
            return


def _span(
    problem: PlanningProblem,
    e: Experiment,
    rental: Rental,
    year: int,
    allocation: Allocation | None = None,
) -> tuple[float, float, float] | None:
    """The first day on which a run can start in a year, the last on which it may end, and its days;
    None where it cannot end in time."""
    if e.model not in rental.times or problem.too_long(rental, e.model):
        return None
    low, due = float(e.release_day), problem.due(e)
    if allocation is not None:
        low = max(low, allocation.first_day)
        due = due if allocation.last_day is None else min(due, allocation.last_day)
    start, last = max(low, problem.year_days[year]), low + problem.usable(due - low)
    days = problem.rented_days(rental, e.model)
    if start >= problem.year_days[year + 1] or start + days > last + EPSILON:
        return None
    return start, last, days


def rented_ways(problem: PlanningProblem) -> list[Way]:
    """Every way worth considering."""
    cents = _run_cents(problem)
    ordered = _ordered(problem, cents)
    allocations = {a.allocation_id: a for a in problem.allocations}
    granted = [(r, allocations[r.allocation]) for r in problem.rentals if r.allocation is not None]
    found: list[Way] = []

    def add(
        e: Experiment, rental: Rental, year: int, of: Allocation | None, instead: int | None
    ) -> None:
        span = _span(problem, e, rental, year, of)
        if span is None:
            return
        low, last, days = span
        own, risk = cents[rental.rental_id, e.model, year], 0
        if of is not None and instead is not None and of.odds < 1:
            risk = max(int((instead - own) * (1 - of.odds)), 0)
        # Longer than a year, it starts as early as it can and is paid for in that year.
        long = days > problem.year_days[year + 1] - problem.year_days[year]
        trained = rental.times[e.model].days * float(1 + problem.rules.failures)
        found.append(
            Way(
                experiment=e,
                rental=rental,
                year=year,
                ends_in=year if long else min(problem.year_of(last - EPSILON), year + 1),
                low=low,
                last=last,
                days=days,
                cents=own,
                risk_cents=risk,
                gpu_hours=trained * HOURS_PER_DAY * rental.gpu_count,
            )
        )

    for e in problem.experiments:
        before = len(found)
        for year in range(problem.years):
            for rental in _cheapest(problem, e, year, ordered):
                add(e, rental, year, None, None)
        instead = min((way.cents for way in found[before:]), default=None)
        if granted and instead is None:
            instead = _cheapest_to_buy(problem, e)
        for rental, allocation in granted:
            for year in range(problem.years):
                add(e, rental, year, allocation, instead)
    return found


def _cheapest_to_buy(problem: PlanningProblem, e: Experiment) -> int | None:
    """What a machine for this run alone costs, where no instance can be rented."""
    ways = [
        purchase_cents(m, problem.rules) + run_cents(m, e.model, problem.rules)
        for m in problem.machines
        if not m.owned
        and m.part_of is None
        and e.model in m.times
        and problem.elapsed(m.times[e.model]) <= problem.usable(problem.due(e) - e.release_day)
    ]
    return min(ways, default=None)


def instances_at_once(placed: Sequence[Placed]) -> list[Placed]:
    """The same runs, those on rentals by as few instances as run at the same time: one is used
    again as soon as it is free, by whichever experiment, also in the next year."""
    found = list(placed)
    free_from: dict[str, list[float]] = {}
    hired = (at for at, each in enumerate(found) if each.rented)
    for at in sorted(hired, key=lambda at: (found[at].pieces, found[at].experiment_id)):
        each = found[at]
        ends = free_from.setdefault(each.machine_id, [])
        start, end = each.pieces[0][0], each.pieces[-1][1]
        unit = next((n for n, free in enumerate(ends) if free <= start + EPSILON), len(ends))
        ends[unit : unit + 1] = [end]
        found[at] = replace(each, unit=unit + 1)
    return found


def cents_at_lowest(problem: PlanningProblem, plan: Plan) -> int:
    """What the plan costs with every instance at its cheapest provider."""
    lowest = tuple(replace(r.lowest, rental_id=r.rental_id) for r in problem.rentals)
    least = run_costs(replace(problem, rentals=lowest), plan.placed)
    now = run_costs(problem, plan.placed)
    return plan.cost_cents + sum(least[p.place] - now[p.place] for p in plan.placed)


FEW_AT_ONCE = 4
"""Instances at once that any provider has free ..."""
SHORT_DAYS = 30
"""... and that are not needed where one does all the runs within these days."""


def spread_out(problem: PlanningProblem, plan: Plan) -> Plan:
    """The plan with rented runs one after the other, by as few instances at once as meet every
    deadline, where more than a few would run at once, or one does them all in a month. Each stays
    in its award year, at its cost."""
    if problem.objective == "soonest":
        return plan
    experiments = {e.experiment_id: e for e in problem.experiments}
    placed = list(plan.placed)

    def window(run: Placed, rental: Rental) -> tuple[float, float, float]:
        """From when to when a run may move, and its days."""
        (start, end), over = run.pieces[0], problem.year_days[run.order + 1]
        span = _span(problem, experiments[run.experiment_id], rental, run.order)
        if span is None or end > over:  # it is paid in two award years
            return start, end, end - start
        return span[0], max(min(span[1], over), end), end - start

    for rental in (r for r in problem.rentals if r.allocation is None):
        at_once = plan.at_once(rental.rental_id)
        mine = [at for at, each in enumerate(placed) if each.machine_id == rental.rental_id]
        windows = [window(placed[at], rental) for at in mine]
        if at_once <= FEW_AT_ONCE and sum(days for _, _, days in windows) > SHORT_DAYS:
            continue
        fewest = 1 + bisect_left(
            range(1, at_once), True, key=lambda units: _one_by_one(windows, units) is not None
        )
        found = _one_by_one(windows, fewest)
        for at, (start, unit) in zip(mine, found or (), strict=bool(found)):
            days = placed[at].pieces[0][1] - placed[at].pieces[0][0]
            placed[at] = replace(placed[at], pieces=((start, start + days),), unit=unit)
    return replace(plan, placed=tuple(sorted(placed, key=by_place)))


def _one_by_one(
    windows: Sequence[tuple[float, float, float]], units: int
) -> list[tuple[float, int]] | None:
    """When each of these runs starts and on which instance, the nearest deadline first;
    None where one is late."""
    coming = sorted(range(len(windows)), key=lambda at: windows[at], reverse=True)
    free = [(0.0, unit) for unit in range(1, units + 1)]
    heapify(free)
    waiting: list[tuple[float, int]] = []
    found, now = [(0.0, 0)] * len(windows), 0.0
    while coming or waiting:
        end, unit = heappop(free)
        now = max(now, end) if waiting else max(now, end, windows[coming[-1]][0])
        while coming and windows[coming[-1]][0] <= now:
            heappush(waiting, (windows[coming[-1]][1], coming.pop()))
        last, at = heappop(waiting)
        if now + windows[at][2] > last + EPSILON:
            return None
        found[at] = now, unit
        heappush(free, (now + windows[at][2], unit))
    return found
