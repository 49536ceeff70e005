"""Which machines a plan chooses among: groups that are alike, without those that others beat."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from math import floor, inf

from advisor.planning.solver.money.cents import purchase_cents, run_cents
from advisor.planning.solver.problem import EPSILON, Experiment, Machine, PlanningProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Machines of one kind that can be used from one day on."""

    machine: Machine
    order: int
    """Which of the problem's orders; -1 for owned machines."""
    from_day: int

    @property
    def key(self) -> tuple[str, int]:
        return self.machine.machine_id, self.order


def groups(problem: PlanningProblem) -> list[Group]:
    """Every group that could do anything, owned ones first, each with its parts after it."""
    parts = _parts(problem)
    found: list[Group] = []

    def add(machine: Machine, order: int, day: int) -> None:
        for each in (machine, *parts.get(machine.machine_id, ())):
            found.append(Group(machine=each, order=order, from_day=day))

    for machine in problem.machines:
        if machine.owned:
            add(machine, -1, machine.ready_day)
    for machine in undominated(problem):
        for order in orders_worth_trying(problem, upgrade=machine.upgrade_of is not None):
            if problem.buy_only is None or (machine.machine_id, order) in problem.buy_only:
                add(machine, order, problem.orders[order] + problem.rules.lead_days)
    return found


def _parts(problem: PlanningProblem) -> dict[str, list[Machine]]:
    """The parts of each machine that has some."""
    found: dict[str, list[Machine]] = {}
    for machine in problem.machines:
        if machine.part_of is not None:
            found.setdefault(machine.part_of, []).append(machine)
    return found


def orders_worth_trying(problem: PlanningProblem, *, upgrade: bool = False) -> list[int]:
    """The first alone, or the first of each year where years have money or rates of their own,
    unless what a machine costs changes with the day.

    Nothing that can be done with a machine of a later order cannot be done with one that is paid
    with the same money and comes sooner; but an upgrade ends what a machine was before.
    """
    rules = problem.rules
    found: dict[int, list[int]] = {}
    for order, day in enumerate(problem.orders):
        year = problem.year_of(day)
        if problem.buy_years is None or year in problem.buy_years:
            found.setdefault(year, []).append(order)
    if rules.price_change or rules.life_months is not None or rules.lifetime_years is not None:
        return [order for orders in found.values() for order in orders]
    first = [orders[0] for orders in found.values()]
    yearly = problem.year_budget_cents is not None or rules.year_overhead is not None
    return first if upgrade or yearly else first[:1]


def undominated(problem: PlanningProblem) -> list[Machine]:
    """The buyable machines that no other beats: dearer and no faster for any model is out.

    Exact, because any number of the better one can be bought in its place: it must do
    whatever the other does, with no larger share of its GPUs. Upgrades of owned machines are all
    kept: there is only one of each.
    """
    rules = problem.rules
    models = sorted({e.model for e in problem.experiments})
    whole = [m for m in problem.machines if not m.owned and m.part_of is None]
    upgrades = [m for m in whole if m.upgrade_of is not None]
    buyable = [m for m in whole if m.upgrade_of is None]
    parts = _parts(problem)
    if problem.require_gpu is not None:
        wanted = [m for m in buyable if m.gpu_id == problem.require_gpu]
        others = replace(problem, require_gpu=None)
        one = replace(others, machines=(*wanted, *upgrades, *chain(*parts.values())))
        both = {m.machine_id for m in (*undominated(one), *undominated(others))}
        return [m for m in whole if m.machine_id in both]
    days = [problem.orders[order] for order in orders_worth_trying(problem)]

    def price(machine: Machine) -> tuple[float, ...]:
        cents = [float(purchase_cents(machine, rules, day)) for day in days]
        if rules.lifetime_years is not None:
            # What is judged lies between what is paid and that less the whole price.
            cents.append(cents[0] - 100 * float(machine.price))
        return tuple(cents)

    def does(machine: Machine) -> list[list[tuple[float, float, int]]]:
        """For each model, the share of the machine, the days and the cents of a run on it or on one
        of its parts."""
        every = [machine, *parts.get(machine.machine_id, ())]
        return [
            [
                (m.gpu_count / machine.gpu_count, m.times[model].days, run_cents(m, model, rules))
                for m in every
                if model in m.times
            ]
            for model in models
        ]

    prices = {m.machine_id: price(m) for m in buyable}
    uses = {m.machine_id: does(m) for m in buyable}
    by_year = problem.year_budget_cents is not None and rules.life_months is not None

    def beats(better: Machine, other: Machine) -> bool:
        if by_year and (better.in_base is None) != (other.in_base is None):
            return False  # one is charged at the order, the other by the month
        both = zip(prices[better.machine_id], prices[other.machine_id], strict=True)
        if any(a > b for a, b in both):
            return False
        each = zip(uses[better.machine_id], uses[other.machine_id], strict=True)
        return all(
            any(all(a <= b for a, b in zip(mine, its, strict=True)) for mine in ours)
            for ours, theirs in each
            for its in theirs
        )

    def first(machine: Machine) -> tuple[object, ...]:
        every = uses[machine.machine_id]
        fastest = tuple(min((days for _, days, _ in each), default=inf) for each in every)
        return prices[machine.machine_id], fastest, machine.machine_id

    kept = {m.machine_id for m in upgrades}
    best: list[Machine] = []
    for machine in sorted(buyable, key=first):
        if any(uses[machine.machine_id]) and not any(beats(other, machine) for other in best):
            best.append(machine)
            kept.add(machine.machine_id)
    return [m for m in whole if m.machine_id in kept]


def runs_that_fit(problem: PlanningProblem, group: Group, experiment: Experiment) -> int:
    """How many runs of an experiment one machine of the group can do inside the window."""
    time = group.machine.times.get(experiment.model)
    if time is None:
        return 0
    low, due = max(experiment.release_day, group.from_day), problem.due(experiment)
    if due <= low or problem.too_long(group.machine, experiment.model):
        return 0
    elapsed = problem.elapsed(time)
    room = problem.usable(problem.worked(due) - problem.worked(low))
    return min(max(floor((room + EPSILON) / elapsed), 0), experiment.runs)
