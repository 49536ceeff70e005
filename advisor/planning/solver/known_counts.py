"""A plan that is known already, as the columns of a program."""

from __future__ import annotations

from advisor.planning.solver.milp import Program
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import EPSILON


def counts_of(program: Program, plan: Plan) -> list[int] | None:
    """What the columns are in a plan made for a like problem; None where it breaks a row, or
    where the days of each year would have to be found."""
    if program.days:
        return None
    parts = {g.machine.machine_id for g in program.groups if g.machine.part_of is not None}
    counts = [0] * len(program.cost)
    rent = {(e, year): column for (e, _, year), column in program.rent.items()}
    chosen: list[tuple[int | None, int]] = [
        (program.count.get((p.machine_id, p.order)), p.count) for p in plan.purchases
    ]
    chosen += [
        (program.work.get((w.experiment_id, w.machine_id, w.order)), w.runs) for w in plan.work
    ]
    for r in plan.rented:
        same = program.rent.get((r.experiment_id, r.rental_id, r.year))
        chosen.append((rent.get((r.experiment_id, r.year)) if same is None else same, r.runs))
    chosen += [(program.skip.get(e), runs) for e, runs in plan.left_out.items()]
    chosen += [
        (program.count[g.key], g.machine.owned)
        for g in program.groups
        if g.machine.owned and g.key in program.count
    ]
    units: dict[tuple[str, int], int] = {}
    for p in plan.placed:
        key = (p.machine_id, p.order)
        units[key] = max(units.get(key, 0), p.unit)
    bought = {(p.machine_id, p.order) for p in plan.purchases}
    for key, most in units.items():
        if key in program.wholes:
            chosen.append((program.wholes[key], most))
        elif key in program.count and key not in bought and key[0] in parts:
            chosen.append((program.count[key], most))
    for column, count in chosen:
        if column is None:
            return None
        counts[column] += count
    matrix, low, high = program.constraints()
    sums = matrix @ counts
    kept = (sums >= low - EPSILON).all() and (sums <= high + EPSILON).all()
    bounds = zip(program.lower, counts, program.upper, strict=True)
    within = all(least <= count <= most for least, count, most in bounds)
    return counts if kept and within else None
