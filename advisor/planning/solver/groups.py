"""What a program chooses among: groups of machines that are alike, and the cheapest rentals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor, inf

from advisor.planning.solver.charges import purchase_cents, rental_cents, run_cents
from advisor.planning.solver.problem import EPSILON, Experiment, Machine, PlanningProblem, Rental


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Machines of one kind that can be used from one day on."""

    machine: Machine
    year: int
    """Of purchase; -1 for owned machines."""
    from_day: int

    @property
    def key(self) -> tuple[str, int]:
        return self.machine.machine_id, self.year


def groups(problem: PlanningProblem) -> list[Group]:
    """Every group that could do anything, owned ones first."""
    found = [Group(machine=m, year=-1, from_day=m.ready_day) for m in problem.machines if m.owned]
    years = range(problem.years) if problem.buy_years is None else problem.buy_years
    for machine in undominated(problem):
        for year in years:
            day = problem.year_days[year] + problem.rules.lead_days
            found.append(Group(machine=machine, year=year, from_day=day))
    return found


def undominated(problem: PlanningProblem) -> list[Machine]:
    """The buyable machines that no other beats: dearer and no faster for any model is out.

    Exact, because as many as one likes can be bought of the better one in its place. Upgrades of
    owned machines are all kept: there is only one of each.
    """
    models = sorted({e.model for e in problem.experiments})
    kept: list[tuple[tuple[float, ...], Machine]] = []
    upgrades = [m for m in problem.machines if m.upgrade_of is not None]
    buyable = [m for m in problem.machines if not m.owned and m.upgrade_of is None]
    if problem.require_gpu is not None:
        wanted = [m for m in buyable if m.gpu_id == problem.require_gpu]
        others = replace(problem, require_gpu=None)
        one = replace(others, machines=(*wanted, *upgrades))
        both = {m.machine_id for m in (*undominated(one), *undominated(others))}
        return [m for m in (*buyable, *upgrades) if m.machine_id in both]

    def figures(machine: Machine) -> tuple[float, ...]:
        dollars = [float(purchase_cents(machine, problem.rules))]
        if problem.rules.lifetime_years is not None:
            # What is judged lies between what is paid and that less the whole price.
            dollars.append(dollars[0] - 100 * float(machine.price_usd))
        for model in models:
            time = machine.times.get(model)
            dollars.append(inf if time is None else time.days)
            dollars.append(inf if time is None else float(run_cents(machine, model, problem.rules)))
        return tuple(dollars)

    for numbers, machine in sorted(
        ((figures(m), m) for m in buyable), key=lambda pair: (pair[0], pair[1].machine_id)
    ):
        if all(machine.times.get(model) is None for model in models):
            continue
        if not any(all(a <= b for a, b in zip(other, numbers, strict=True)) for other, _ in kept):
            kept.append((numbers, machine))
    order = {m.machine_id: i for i, m in enumerate(problem.machines)}
    return sorted((*(m for _, m in kept), *upgrades), key=lambda m: order[m.machine_id])


def runs_that_fit(problem: PlanningProblem, group: Group, experiment: Experiment) -> int:
    """How many runs of an experiment one machine of the group can do inside the window."""
    time = group.machine.times.get(experiment.model)
    if time is None:
        return 0
    room = problem.due(experiment) - max(experiment.release_day, group.from_day)
    elapsed = problem.elapsed(time)
    return min(max(floor((room + EPSILON) / elapsed), 0), experiment.runs)


def rented_run_cents(problem: PlanningProblem) -> dict[tuple[str, str], int]:
    """What one run costs, by rental and model, in whole cents with overhead."""
    models = {e.model for e in problem.experiments}
    return {
        (rental.rental_id, model): rental_cents(rental, model, problem.rules)
        for rental in problem.rentals
        for model in models & rental.times.keys()
    }


def cheapest_rental(
    problem: PlanningProblem,
    experiment: Experiment,
    year: int,
    cents: Mapping[tuple[str, str], int],
) -> Rental | None:
    """The cheapest instance, by ``rented_run_cents``, on which a run that starts in ``year`` ends
    in time.

    Nothing is shared between rented runs, so that no other instance can be better.
    """
    start, end = problem.year_days[year], problem.year_days[year + 1]
    low = max(experiment.release_day, start)
    if low >= end:
        return None
    best: tuple[int, float, str] | None = None
    chosen = None
    for rental in problem.rentals:
        time = rental.times.get(experiment.model)
        if time is None or low + time.days > problem.due(experiment) + EPSILON:
            continue
        key = (cents[rental.rental_id, experiment.model], time.days, rental.rental_id)
        if best is None or key < best:
            best, chosen = key, rental
    return chosen
