"""Runs planned again for machines whose number is settled, each machine by itself.

For one machine the program counts its time exactly: what it finds packs, and keeps to the money of
each year.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from advisor.planning.solver.machines import Group
from advisor.planning.solver.money.cents import bought_cents_by_year
from advisor.planning.solver.plan import Placed, Plan
from advisor.planning.solver.problem import Machine, PlanningProblem
from advisor.planning.solver.program.integer_program import Program
from advisor.planning.solver.program.placement import place, plan_of, purchases_of, values_of
from advisor.planning.solver.search_clock import Clock
from price_catalog.power import PowerFigures

MOST_COLUMNS = 3000
GAP = 0.001
SHARE = 0.3
"""Of the time that is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
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
    same = _same_columns(every, program, by_id)
    goal = [costs[same[column]] if column in same else 0.0 for column in range(len(every.cost))]
    answer = every.solve(goal, clock.left * SHARE, gap=GAP)
    if answer.x is None:
        return None
    found = values_of(every, answer.x)
    placing = place(every, found)
    if placing.failed or placing.over_year:
        return None
    whole = [0.0] * len(program.cost)
    for column in (*program.count.values(), *program.wholes.values()):
        whole[column] = counts[column]
    for column, its in same.items():
        whole[its] += found[column]
    placed = _numbered([_back(each, by_id) for each in placing.placed])
    return plan_of(program, whole, placed)


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
            units.append(_Unit(machine=unit, group=group, number=number))
    return units


def _with(program: Program, counts: Sequence[float], units: Sequence[_Unit]) -> PlanningProblem:
    """The problem with these machines as if the lab had them, and the money that is left."""
    problem = program.problem
    paid = bought_cents_by_year(problem, purchases_of(program, counts))
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


def _same_columns(every: Program, program: Program, units: dict[str, _Unit]) -> dict[int, int]:
    found: dict[int, int] = {}
    for (experiment, machine_id, _), column in every.work.items():
        found[column] = program.work[experiment, *units[machine_id].group.key]
    for key, column in every.rent.items():
        found[column] = program.rent[key]
    for experiment, column in every.skip.items():
        found[column] = program.skip[experiment]
    return found


def _back(placed: Placed, units: dict[str, _Unit]) -> Placed:
    unit = units.get(placed.machine_id)
    if unit is None:
        return placed
    machine_id, order = unit.group.key
    return replace(placed, machine_id=machine_id, order=order, unit=unit.number)


def _numbered(placed: Sequence[Placed]) -> list[Placed]:
    """Units and runs numbered from 1 without a gap, as a plan has them."""
    used: dict[tuple[str, int], list[int]] = {}
    for each in placed:
        numbers = used.setdefault((each.machine_id, each.order), [])
        if each.unit not in numbers:
            numbers.append(each.unit)
    for numbers in used.values():
        numbers.sort()
    ordered = sorted(
        placed, key=lambda p: (p.machine_id, p.order, p.unit, p.pieces, p.experiment_id, p.run)
    )
    runs: Counter[str] = Counter()
    found = []
    for each in ordered:
        runs[each.experiment_id] += 1
        unit = used[each.machine_id, each.order].index(each.unit) + 1
        found.append(replace(each, unit=unit, run=runs[each.experiment_id]))
    return found
