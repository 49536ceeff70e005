"""The same problem with something changed, by name: what a report cites and a test can redo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from advisor.planning.solver.problem import Machine, PlanningProblem, RunTime

Change = Mapping[str, Any]
"""Names of `vary` with plain values, so that it can be written as JSON."""


def vary(problem: PlanningProblem, change: Change) -> PlanningProblem:
    """The problem with these changes made."""
    for name, value in change.items():
        problem = _CHANGES[name](problem, value)
    return problem


def _field(name: str) -> Any:
    return lambda problem, value: replace(problem, **{name: value})


def _rule(name: str) -> Any:
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


def _later(problem: PlanningProblem, days: int) -> PlanningProblem:
    """Every due day later; the grant itself as much longer."""
    years = (*problem.year_days[:-1], problem.year_days[-1] + days)
    experiments = tuple(replace(e, due_day=e.due_day + days) for e in problem.experiments)
    return replace(problem, year_days=years, experiments=experiments)


def _no_due(problem: PlanningProblem, experiment_id: str) -> PlanningProblem:
    end = problem.year_days[-1]
    return replace(
        problem,
        experiments=tuple(
            replace(e, due_day=end) if e.experiment_id == experiment_id else e
            for e in problem.experiments
        ),
    )


def _no_year_budget(problem: PlanningProblem, _: bool) -> PlanningProblem:
    return replace(problem, year_budget_cents=None)


def _without(problem: PlanningProblem, machine_id: str) -> PlanningProblem:
    gone = {machine_id}
    left = problem.options().get(machine_id)
    if isinstance(left, Machine) and left.upgrade_of is not None:
        # The same for another machine of the lab that is alike is no other plan.
        gone |= {m.machine_id for m in problem.machines if m.label == left.label}
    machines = tuple(m for m in problem.machines if m.machine_id not in gone)
    return replace(problem, machines=machines)


def _no_purchases(problem: PlanningProblem, _: bool) -> PlanningProblem:
    return replace(problem, machines=tuple(m for m in problem.machines if m.owned))


def _no_rentals(problem: PlanningProblem, _: bool) -> PlanningProblem:
    return replace(problem, rentals=tuple(r for r in problem.rentals if r.allocation is not None))


def _only_runs(problem: PlanningProblem, value: tuple[tuple[str, int], ...]) -> PlanningProblem:
    """These runs alone, each of an experiment, without fixed costs."""
    runs = dict(value)
    experiments = tuple(
        replace(e, runs=runs[e.experiment_id])
        for e in problem.experiments
        if e.experiment_id in runs
    )
    return replace(problem, experiments=experiments, fixed=())


def _without_allocation(problem: PlanningProblem, allocation_id: str) -> PlanningProblem:
    return replace(
        problem,
        rentals=tuple(r for r in problem.rentals if r.allocation != allocation_id),
        allocations=tuple(a for a in problem.allocations if a.allocation_id != allocation_id),
    )


def _price(problem: PlanningProblem, value: tuple[str, str]) -> PlanningProblem:
    quote_id, amount = value
    price = Decimal(amount)

    def priced(machine: Machine) -> Machine:
        if not any(line.quote_id == quote_id for line in machine.lines):
            return machine
        lines = tuple(
            replace(line, unit_price=price) if line.quote_id == quote_id else line
            for line in machine.lines
        )
        return replace(machine, lines=lines)

    return replace(problem, machines=tuple(priced(m) for m in problem.machines))


def _rent_price(problem: PlanningProblem, value: tuple[str, str]) -> PlanningProblem:
    rental_id, amount = value
    return replace(
        problem,
        rentals=tuple(
            replace(r, price_per_hour=Decimal(amount)) if r.rental_id == rental_id else r
            for r in problem.rentals
        ),
    )


def _in_days(time: RunTime, days: float) -> RunTime:
    if time.whole is None:
        return replace(time, days=days)
    share = time.whole[1]
    return replace(time, days=days * float(share), whole=(days, share))


def _days(problem: PlanningProblem, value: tuple[str, str]) -> PlanningProblem:
    """One measured time, wherever it is used."""
    measurement_id, days = value

    def timed(option: Any) -> Any:
        if not any(t.measurement_id == measurement_id for t in option.times.values()):
            return option
        times = {
            recipe: _in_days(t, float(days)) if t.measurement_id == measurement_id else t
            for recipe, t in option.times.items()
        }
        return replace(option, times=times)

    return replace(
        problem,
        machines=tuple(timed(m) for m in problem.machines),
        rentals=tuple(timed(r) for r in problem.rentals),
    )


_CHANGES = {
    "objective": _field("objective"),
    "budget_cents": _field("budget_cents"),
    "max_machines": _field("max_machines"),
    "min_runs": _field("min_runs"),
    "require_gpu": _field("require_gpu"),
    "no_year_budget": _no_year_budget,
    "utilisation": _utilisation,
    "lead_days": _rule("lead_days"),
    "price_per_kwh": _rule("price_per_kwh"),
    "longest_run_days": _rule("longest_run_days"),
    "slack": _rule("slack"),
    "lifetime_years": _rule("lifetime_years"),
    "later_days": _later,
    "no_due": _no_due,
    "without": _without,
    "no_purchases": _no_purchases,
    "no_rentals": _no_rentals,
    "only_runs": _only_runs,
    "without_allocation": _without_allocation,
    "price": _price,
    "rent_price": _rent_price,
    "days": _days,
}
