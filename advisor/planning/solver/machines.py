"""Which machines a plan chooses among: groups that are alike, without those that others beat."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    parts: dict[str, list[Machine]] = {}
    for machine in problem.machines:
        if machine.part_of is not None:
            parts.setdefault(machine.part_of, []).append(machine)
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


@dataclass(frozen=True, slots=True)
class _Use:
    """What a share of a machine does for a model."""

    share: float
    days: float
    cents: int


def undominated(problem: PlanningProblem) -> list[Machine]:
    """The buyable machines that no other beats: dearer and no faster for any model is out.

    Exact, because any number of the better one can be bought in its place: it must do
    whatever the other does, with no larger share of its GPUs. Upgrades of owned machines are all
    kept: there is only one of each.
    """
    models = sorted({e.model for e in problem.experiments})
    upgrades = [m for m in problem.machines if m.upgrade_of is not None and m.part_of is None]
    buyable = [
        m for m in problem.machines if not m.owned and m.upgrade_of is None and m.part_of is None
    ]
    if problem.require_gpu is not None:
        wanted = [m for m in buyable if m.gpu_id == problem.require_gpu]
        others = replace(problem, require_gpu=None)
        parts = [m for m in problem.machines if m.part_of is not None]
        one = replace(others, machines=(*wanted, *upgrades, *parts))
        both = {m.machine_id for m in (*undominated(one), *undominated(others))}
        return [m for m in (*buyable, *upgrades) if m.machine_id in both]
    days = [problem.orders[order] for order in orders_worth_trying(problem)]
    uses: dict[str, list[list[_Use]]] = {}
    by_whole: dict[str, list[Machine]] = {}
    for part in problem.machines:
        if part.part_of is not None:
            by_whole.setdefault(part.part_of, []).append(part)

    def price(machine: Machine) -> tuple[float, ...]:
        dollars = [float(purchase_cents(machine, problem.rules, day)) for day in days]
        if problem.rules.lifetime_years is not None:
            # What is judged lies between what is paid and that less the whole price.
            dollars.append(dollars[0] - 100 * float(machine.price))
        return tuple(dollars)

    def does(machine: Machine) -> list[list[_Use]]:
        every = (machine, *by_whole.get(machine.machine_id, ()))
        return [
            [
                _Use(
                    each.gpu_count / machine.gpu_count,
                    each.times[model].days,
                    run_cents(each, model, problem.rules),
                )
                for each in every
                if model in each.times
            ]
            for model in models
        ]

    by_year = problem.year_budget_cents is not None and problem.rules.life_months is not None

    def beats(better: Machine, other: Machine) -> bool:
        if by_year and (better.in_base is None) != (other.in_base is None):
            return False  # one is charged at the order, the other by the month
        if any(
            a > b for a, b in zip(known[better.machine_id], known[other.machine_id], strict=True)
        ):
            return False
        return all(
            any(b.share <= o.share and b.days <= o.days and b.cents <= o.cents for b in mine)
            for mine, its in zip(uses[better.machine_id], uses[other.machine_id], strict=True)
            for o in its
        )

    kept: list[Machine] = []
    by_id = {m.machine_id: m for m in buyable}
    known = {m.machine_id: price(m) for m in buyable}
    uses.update({m.machine_id: does(m) for m in buyable})

    def fastest(machine_id: str) -> tuple[float, ...]:
        return tuple(min((use.days for use in every), default=inf) for every in uses[machine_id])

    for machine_id in sorted(known, key=lambda each: (known[each], fastest(each), each)):
        machine = by_id[machine_id]
        if not any(uses[machine_id]):
            continue
        if not any(beats(other, machine) for other in kept):
            kept.append(machine)
    order = {m.machine_id: i for i, m in enumerate(problem.machines)}
    return sorted((*kept, *upgrades), key=lambda m: order[m.machine_id])


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
