"""The same problem with something changed, by name: what a report cites and a test can redo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from advisor.planning.solver.problem import Experiment, Machine, PlanningProblem, RunTime

Change = Mapping[str, Any]
"""Names of `vary` with plain values, so that it can be written as JSON."""
FREE: Change = {"budget_cents": None, "no_year_budget": True}
"""Money as much as one likes."""
Changed = Callable[[PlanningProblem, Any], PlanningProblem]


def vary(problem: PlanningProblem, change: Change) -> PlanningProblem:
    """The problem with these changes made."""
    for name, value in change.items():
        problem = _CHANGES[name](problem, value)
    return problem


def _field(name: str) -> Changed:
    return lambda problem, value: replace(problem, **{name: value})


def _rule(name: str) -> Changed:
    def change(problem: PlanningProblem, value: Any) -> PlanningProblem:
        number: Any = value
        if value is not None and name != "lead_days":
            number = Decimal(str(value))
        return replace(problem, rules=replace(problem.rules, **{name: number}))

    return change


def _utilisation(problem: PlanningProblem, value: Any) -> PlanningProblem:
    """In every year by the same factor, at most 1; 1 is no break in any year."""
    share, rules = Decimal(str(value)), problem.rules
    every = rules.year_utilisation
    if every is not None:
        factor = share / rules.utilisation
        every = None if share == 1 else tuple(min(each * factor, Decimal(1)) for each in every)
    rules = replace(rules, utilisation=share, year_utilisation=every)
    return replace(problem, rules=rules)


def movable(problem: PlanningProblem, experiment: Experiment) -> bool:
    """Whether its deadline is a date of its own, not the end of a year or of the grant."""
    return experiment.due_day not in problem.year_days


def _later(problem: PlanningProblem, days: int) -> PlanningProblem:
    """Every deadline within the grant later, at most at its end."""
    experiments = tuple(
        replace(e, due_day=min(e.due_day + days, problem.year_days[-1]))
        if movable(problem, e)
        else e
        for e in problem.experiments
    )
    return replace(problem, experiments=experiments)


def _no_due(problem: PlanningProblem, experiment_id: str) -> PlanningProblem:
    end = problem.year_days[-1]
    experiments = (
        replace(e, due_day=end) if e.experiment_id == experiment_id else e
        for e in problem.experiments
    )
    return replace(problem, experiments=tuple(experiments))


def _without(problem: PlanningProblem, machine_id: str) -> PlanningProblem:
    gone = {machine_id}
    left = problem.options().get(machine_id)
    if isinstance(left, Machine) and left.upgrade_of is not None:
        # The same for another machine of the lab that is alike is no other plan.
        gone |= {m.machine_id for m in problem.machines if m.label == left.label}
    machines = tuple(m for m in problem.machines if m.machine_id not in gone)
    return replace(problem, machines=machines)


def _only_runs(problem: PlanningProblem, value: tuple[tuple[str, int], ...]) -> PlanningProblem:
    """These runs alone, each of an experiment, without fixed costs."""
    runs = dict(value)
    wanted = (e for e in problem.experiments if e.experiment_id in runs)
    experiments = tuple(replace(e, runs=runs[e.experiment_id]) for e in wanted)
    return replace(problem, experiments=experiments, fixed=())


def _price(problem: PlanningProblem, value: tuple[str, str]) -> PlanningProblem:
    quote_id, price = value[0], Decimal(value[1])

    def priced(machine: Machine) -> Machine:
        lines = tuple(
            replace(line, unit_price=price, quoted_usd=None) if line.quote_id == quote_id else line
            for line in machine.lines
        )
        return machine if lines == machine.lines else replace(machine, lines=lines)

    return replace(problem, machines=tuple(map(priced, problem.machines)))


def _rent_price(problem: PlanningProblem, value: tuple[str, str]) -> PlanningProblem:
    rental_id, price = value[0], Decimal(value[1])
    rentals = (
        replace(r, price_per_hour=price, quoted_usd=None) if r.rental_id == rental_id else r
        for r in problem.rentals
    )
    return replace(problem, rentals=tuple(rentals))


def _days(problem: PlanningProblem, value: tuple[str, str]) -> PlanningProblem:
    """One measured time, wherever it is used."""
    measurement_id, days = value[0], float(value[1])

    def in_days(time: RunTime) -> RunTime:
        if time.measurement_id != measurement_id:
            return time
        if time.whole is None:
            return replace(time, days=days)
        share = time.whole[1]
        return replace(time, days=days * float(share), whole=(days, share))

    def timed(option: Any) -> Any:
        times = {recipe: in_days(time) for recipe, time in option.times.items()}
        return option if times == option.times else replace(option, times=times)

    machines, rentals = map(timed, problem.machines), map(timed, problem.rentals)
    return replace(problem, machines=tuple(machines), rentals=tuple(rentals))


_CHANGES: Mapping[str, Changed] = {
    **{
        name: _field(name)
        for name in ("objective", "budget_cents", "max_machines", "min_runs", "require_gpu")
    },
    **{
        name: _rule(name)
        for name in ("lead_days", "price_per_kwh", "longest_run_days", "slack", "lifetime_years")
    },
    "no_year_budget": lambda problem, _: replace(problem, year_budget_cents=None),
    "no_purchases": lambda problem, _: replace(
        problem, machines=tuple(m for m in problem.machines if m.owned)
    ),
    "no_rentals": lambda problem, _: replace(
        problem, rentals=tuple(r for r in problem.rentals if r.allocation is not None)
    ),
    "without_allocation": lambda problem, name: replace(
        problem,
        rentals=tuple(r for r in problem.rentals if r.allocation != name),
        allocations=tuple(a for a in problem.allocations if a.allocation_id != name),
    ),
    "utilisation": _utilisation,
    "later_days": _later,
    "no_due": _no_due,
    "without": _without,
    "only_runs": _only_runs,
    "price": _price,
    "rent_price": _rent_price,
    "days": _days,
}
