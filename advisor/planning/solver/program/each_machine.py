"""Runs planned again for machines whose number is settled, each machine by itself.

For one machine the program counts its time exactly: what it finds packs, and keeps to the money of
each year.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from advisor.planning.solver.machines import Group
from advisor.planning.solver.money.cents import cents_by_year
from advisor.planning.solver.plan import Placed, Plan
from advisor.planning.solver.problem import Machine, PlanningProblem
from advisor.planning.solver.program.integer_program import Program
from advisor.planning.solver.program.placement import place, plan_of, purchases_of
from advisor.planning.solver.search_clock import Clock
from price_catalog.power import PowerFigures

MOST_COLUMNS = 3000
GAP = 0.001
SHARE = 0.3
"""Of the time that is left."""


class _Unit(NamedTuple):
    """One machine, or one part of one."""

    machine: Machine
    group: Group
    number: int


def on_each_machine(
    program: Program, costs: Sequence[float], counts: Sequence[float], clock: Clock
) -> Plan | None:
    """The best plan with the machines (and their parts) of these counts; None where there is none,
    it is not found in time, or its program is too large."""
    units = _units(program, counts)
    if units is None or len(units) * len(program.problem.experiments) > MOST_COLUMNS:
        return None
    every = Program(_with(program, counts, units))
    by_id = {unit.machine.machine_id: unit for unit in units}
    goal = [0.0] * len(every.cost)
    for (experiment, machine_id, _), column in every.work.items():
        goal[column] = costs[program.work[experiment, *by_id[machine_id].group.key]]
    for rent, column in every.rent.items():
        goal[column] = costs[program.rent[rent]]
    for experiment, column in every.skip.items():
        goal[column] = costs[program.skip[experiment]]
    answer = every.solve(goal, clock.left * SHARE, gap=GAP)
    found = None if answer.x is None else place(every, answer.x)[0]
    if found is None:
        return None
    placed = [_back(each, by_id.get(each.machine_id)) for each in found]
    return plan_of(program.problem, purchases_of(program, counts), placed)


def _units(program: Program, counts: Sequence[float]) -> list[_Unit] | None:
    """Each machine that runs may go on; None where one ends when it becomes another."""
    units: list[_Unit] = []
    for group in program.groups:
        machine = group.machine
        column = program.wholes.get(group.key, program.count.get(group.key))
        if column is None or not round(counts[column]):
            continue
        if machine.upgrade_of is not None:
            return None
        watts = machine.running_w
        for number in range(1, round(counts[column]) + 1):
            unit = replace(
                machine,
                machine_id=f"{machine.machine_id}#{group.order}#{number}",
                owned=1,
                lines=(),
                part_of=None,
                ready_day=group.from_day,
                power=None
                if watts is None
                else PowerFigures(gpu_w=None, gpu_count=1, stated_w=watts),
            )
            units.append(_Unit(unit, group, number))
    return units


def _with(program: Program, counts: Sequence[float], units: Sequence[_Unit]) -> PlanningProblem:
    """The problem with these machines as if the lab had them, and the money that is left."""
    problem = program.problem
    paid = cents_by_year(replace(problem, fixed=()), purchases_of(program, counts), ())
    by_year = problem.year_budget_cents
    return replace(
        problem,
        machines=tuple(unit.machine for unit in units),
        budget_cents=None if problem.budget_cents is None else problem.budget_cents - sum(paid),
        year_budget_cents=None
        if by_year is None
        else tuple(have - gone for have, gone in zip(by_year, paid, strict=True)),
        max_machines=None,
        require_gpu=None,
    )


def _back(placed: Placed, unit: _Unit | None) -> Placed:
    """A run on the machine that its unit is one of."""
    if unit is None:
        return placed
    machine_id, order = unit.group.key
    return replace(placed, machine_id=machine_id, order=order, unit=unit.number)
