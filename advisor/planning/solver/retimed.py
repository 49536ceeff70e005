"""A plan's runs on other days of the same machines, so that the money of every year is enough.

Which run is on which machine stays; how much of each is in which year, and in which year a rented
one starts, is a small program. So a cheapest plan that pays too early is often one that does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from advisor.planning.solver.assemble import place, plan_of
from advisor.planning.solver.first_plans import bought_from, same_columns, values_of
from advisor.planning.solver.known_counts import counts_of
from advisor.planning.solver.milp import Program
from advisor.planning.solver.money.cents import within_budgets
from advisor.planning.solver.one_by_one import Unit, on_each
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.search_clock import Clock

SECONDS = 5.0
"""A small program that is not solved by then is not waited for."""


def retimed(problem: PlanningProblem, plan: Plan, clock: Clock) -> Plan | None:
    """A plan that was made without budgets by year, within them; None where none is found so."""
    assert problem.year_budget_cents is not None
    # What a year pays is whole cents, of which a run over its turn pays parts.
    for more in (0, 1):
        budgets = tuple(cents + more for cents in problem.year_budget_cents)
        found = _retimed(replace(problem, year_budget_cents=budgets), plan, clock)
        if found is not None and within_budgets(problem, found):
            return found
    return None


def _retimed(problem: PlanningProblem, plan: Plan, clock: Clock) -> Plan | None:
    used = {each.rental_id for each in plan.rented}
    few = replace(
        bought_from(problem, {(p.machine_id, p.order) for p in plan.purchases}),
        rentals=tuple(each for each in problem.rentals if each.rental_id in used),
    )
    free = Program(replace(few, year_budget_cents=None))
    known = counts_of(free, plan)
    if known is None or clock.left <= 0:
        return None
    program = Program(few)
    counts = [0.0] * len(program.cost)
    for column, same in same_columns(free, program):
        counts[same] = known[column]
    runs = Counter((p.experiment_id, p.machine_id, p.order, p.unit) for p in plan.placed)

    def on_other_days(
        every: Program, goal: Sequence[float], units: Sequence[Unit]
    ) -> list[float] | None:
        dealt = {unit.machine.machine_id: (*unit.group.key, unit.number) for unit in units}
        fixed = {
            column: float(runs[(experiment, *dealt[machine])])
            for (experiment, machine, _), column in every.work.items()
        }
        answer = every.solve(goal, min(clock.left, SECONDS), fixed=fixed)
        return None if answer.x is None else values_of(every, answer.x)

    found = on_each(program, program.judged, counts, on_other_days)
    return _of_alike_machines(program, counts, clock) if found is None else found[1]


def _of_alike_machines(program: Program, counts: Sequence[float], clock: Clock) -> Plan | None:
    """The same where machines that are alike may change their runs: one that others are made from
    cannot be told apart."""
    fixed = {column: counts[column] for column in (*program.numbers, *program.work.values())}
    answer = program.solve(program.judged, min(clock.left, SECONDS), fixed=fixed)
    if answer.x is None:
        return None
    values = values_of(program, answer.x)
    placing = place(program, values)
    if placing.failed or placing.over_year:
        return None
    return plan_of(program, values, placing.placed)
