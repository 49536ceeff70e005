"""Ways to rent a run: the cheapest instance on the open market, and each allocation."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from advisor.planning.solver.money.cents import purchase_cents, rental_cents, run_cents
from advisor.planning.solver.money.charges import HOURS_PER_DAY
from advisor.planning.solver.plan import Placed, Plan
from advisor.planning.solver.problem import EPSILON, Allocation, Experiment, PlanningProblem, Rental

Cents = Mapping[tuple[str, str, int], int]
"""What one run costs, by rental, model and year in which it starts."""


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
    most: int
    """Runs."""


def rented_run_cents(problem: PlanningProblem) -> dict[tuple[str, str, int], int]:
    """What one run costs, in whole cents with overhead."""
    models = {e.model for e in problem.experiments}
    years = range(problem.years) if problem.rules.rents_differ else [0]
    first = {
        (rental.rental_id, model, year): rental_cents(
            rental, model, problem.rules, problem.year_days[year]
        )
        for rental in problem.rentals
        for model in models & rental.times.keys()
        for year in years
    }
    if len(years) == problem.years:
        return first
    return {
        (rental, model, year): cents
        for (rental, model, _), cents in first.items()
        for year in range(problem.years)
    }


Ordered = Mapping[tuple[str, int], Sequence[Rental]]
"""By model and year: the instances on the open market for it, cheapest first."""


def ordered_rentals(problem: PlanningProblem, cents: Cents) -> Ordered:
    """By ``rented_run_cents``, then by days."""
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


def cheapest_rental(
    problem: PlanningProblem, experiment: Experiment, year: int, ordered: Ordered
) -> Rental | None:
    """The cheapest instance on the open market on which a run that starts in ``year`` ends in
    time.

    Nothing is shared between rented runs, so that no other instance can be better.
    """
    low, due = float(experiment.release_day), problem.due(experiment)
    first, over = problem.year_days[year], problem.year_days[year + 1]
    if low >= over or first >= low + problem.usable(due - low) + EPSILON:
        return None  # on none, without a look at each
    every = ordered[experiment.model, year]
    return next((r for r in every if _start(problem, experiment, r, year) is not None), None)


def ruled_out_by_days(problem: PlanningProblem) -> list[Rental]:
    """What would be the cheapest to rent without a limit on the days of a run."""
    if problem.rules.longest_run_days is None:
        return []
    free = replace(problem, rules=replace(problem.rules, longest_run_days=None))
    ordered = ordered_rentals(problem, rented_run_cents(problem))
    found: dict[str, Rental] = {}
    for e in problem.experiments:
        for year in range(problem.years):
            cheapest = cheapest_rental(free, e, year, ordered)
            if cheapest is not None and problem.too_long(cheapest, e.model):
                found[cheapest.rental_id] = cheapest
    return [*found.values()]


def _start(
    problem: PlanningProblem,
    e: Experiment,
    rental: Rental,
    year: int,
    allocation: Allocation | None = None,
) -> float | None:
    """The first day on which a run can start in a year; None where it cannot end in time."""
    if e.model not in rental.times:
        return None
    low, end, due = float(e.release_day), problem.year_days[year + 1], problem.due(e)
    if allocation is not None:
        low = max(low, allocation.first_day)
        if allocation.last_day is not None:
            due = min(due, allocation.last_day)
    start = max(low, problem.year_days[year])
    days = problem.rented_days(rental, e.model)
    last = low + problem.usable(due - low)
    if start >= end or start + days > last + EPSILON or problem.too_long(rental, e.model):
        return None
    return start


def rented_ways(problem: PlanningProblem) -> list[Way]:
    """Every way worth considering."""
    cents = rented_run_cents(problem)
    ordered = ordered_rentals(problem, cents)
    # Where the rent of a GPU is limited, others may be needed beside the cheapest.
    limited = {limit.gpu_id for limit in problem.rent_limits}
    kinds: list[Ordered] = [
        {key: [r for r in every if r.gpu_id == gpu] for key, every in ordered.items()}
        for gpu in sorted(limited)
    ]
    kinds.append(
        {key: [r for r in every if r.gpu_id not in limited] for key, every in ordered.items()}
    )
    allocations = {a.allocation_id: a for a in problem.allocations}
    granted = [r for r in problem.rentals if r.allocation is not None]
    found: list[Way] = []
    for e in problem.experiments:
        instead: int | None = None
        for year in range(problem.years):
            for each in kinds:
                rental = cheapest_rental(problem, e, year, each)
                if rental is not None:
                    found.append(_way(problem, e, rental, year, cents, None, 0))
                    instead = min(filter(None, (instead, found[-1].cents)), default=None)
        if granted and instead is None:
            instead = _cheapest_to_buy(problem, e)
        for rental in granted:
            assert rental.allocation is not None
            allocation = allocations[rental.allocation]
            for year in range(problem.years):
                if _start(problem, e, rental, year, allocation) is None:
                    continue
                own = cents[rental.rental_id, e.model, year]
                risk = 0
                if instead is not None and allocation.odds < 1:
                    risk = max(int((instead - own) * (1 - allocation.odds)), 0)
                found.append(_way(problem, e, rental, year, cents, allocation, risk))
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


def _way(
    problem: PlanningProblem,
    e: Experiment,
    rental: Rental,
    year: int,
    cents: Cents,
    allocation: Allocation | None,
    risk: int,
) -> Way:
    low = _start(problem, e, rental, year, allocation)
    assert low is not None
    days = problem.rented_days(rental, e.model)
    due = problem.due(e)
    if allocation is not None and allocation.last_day is not None:
        due = min(due, allocation.last_day)
    release = float(max(e.release_day, allocation.first_day if allocation else 0))
    last = release + problem.usable(due - release)
    ends = problem.year_of(last - EPSILON)
    if days > problem.year_days[min(year + 1, problem.years)] - problem.year_days[year]:
        # Longer than a year: it starts as early as it can, and is paid for in that year.
        ends = year
    gpu_hours = days * HOURS_PER_DAY * rental.gpu_count
    if allocation is not None:
        trained = rental.times[e.model].days * float(1 + problem.rules.failures)
        gpu_hours = trained * HOURS_PER_DAY * rental.gpu_count
    return Way(
        experiment=e,
        rental=rental,
        year=year,
        ends_in=min(ends, year + 1),
        low=low,
        last=last,
        days=days,
        cents=cents[rental.rental_id, e.model, year],
        risk_cents=risk,
        gpu_hours=gpu_hours,
        most=e.runs,
    )


def instances_at_once(placed: Sequence[Placed], rentals: Collection[str]) -> list[Placed]:
    """The same runs, those on rentals by as few instances as run at the same time: one is used
    again as soon as it is free, by whichever experiment, also in the next year."""
    found = list(placed)
    free_from: dict[str, list[float]] = {}
    hired = (at for at, each in enumerate(found) if each.machine_id in rentals)
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
    rentals = {r.rental_id: r for r in problem.rentals}
    models = {e.experiment_id: e.model for e in problem.experiments}
    cents = plan.cost_cents
    for r in plan.rented:
        rental, day = rentals[r.rental_id], problem.year_days[r.year]
        least, now = (
            rental_cents(each, models[r.experiment_id], problem.rules, day)
            for each in (rental.lowest, rental)
        )
        cents += r.runs * (least - now)
    return cents


FEW_AT_ONCE = 4
"""Instances at once that any provider has free."""


def spread_out(problem: PlanningProblem, plan: Plan) -> Plan:
    """The plan with rented runs one after the other, by as few instances at once as meet every
    deadline, where more than a few would run at once. Each stays in its award year, at its cost."""
    if problem.objective == "soonest":
        return plan
    experiments = {e.experiment_id: e for e in problem.experiments}
    placed = list(plan.placed)
    for rental in (r for r in problem.rentals if r.allocation is None):
        at_once = plan.at_once(rental.rental_id)
        if at_once <= FEW_AT_ONCE:
            continue
        mine = [at for at, each in enumerate(placed) if each.machine_id == rental.rental_id]
        windows = [
            _window(problem, experiments[placed[at].experiment_id], placed[at]) for at in mine
        ]
        fewest = 1 + bisect_left(
            range(1, at_once), True, key=lambda units: _one_by_one(windows, units) is not None
        )
        found = _one_by_one(windows, fewest)
        for at, (start, unit) in zip(mine, found or (), strict=bool(found)):
            days = placed[at].pieces[-1][1] - placed[at].pieces[0][0]
            placed[at] = replace(placed[at], pieces=((start, start + days),), unit=unit)
    placed.sort(key=lambda p: (p.machine_id, p.order, p.unit, p.pieces, p.experiment_id, p.run))
    last = max((p.pieces[-1][1] for p in placed), default=0.0)
    return replace(plan, placed=tuple(placed), finish_day=last)


def _window(problem: PlanningProblem, e: Experiment, run: Placed) -> tuple[float, float, float]:
    """From when to when a run may move, and its days."""
    start, end = run.pieces[0][0], run.pieces[-1][1]
    first, over = problem.year_days[run.order], problem.year_days[run.order + 1]
    if end > over:  # it is paid in two award years
        return start, end, end - start
    release = float(e.release_day)
    last = release + problem.usable(problem.due(e) - release)
    return max(release, first), max(min(last, over), end), end - start


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
