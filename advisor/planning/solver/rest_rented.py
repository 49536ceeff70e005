"""A plan where too much was put on machines: what finds no place on them is rented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from advisor.planning.solver.assemble import ends_of_owned, place, runs_of
from advisor.planning.solver.milp import Program
from advisor.planning.solver.schedule import most_filled


def with_rest_rented(program: Program, counts: Sequence[float]) -> list[float] | None:
    """The columns with every run where it finds a place: those of each group first, what is left
    for the cheapest rent. None where some run cannot be rented, or years have their own money."""
    if program.days:
        return None
    found = list(counts)
    ends = ends_of_owned(program, counts)
    rents = _rents(program)
    for group in program.groups:
        column = program.wholes.get(group.key, program.count.get(group.key))
        if column is None:
            continue
        end = ends.get(group.machine.machine_id)
        runs = runs_of(program, group, counts, Counter(), end, by_year=False)
        for run in most_filled(runs, round(counts[column])):
            experiment = run[0].experiment_id
            room = (c for c in rents.get(experiment, ()) if found[c] + 1 <= program.upper[c])
            rented = next(room, None)
            if rented is None:
                return None
            found[program.work[experiment, *group.key]] -= 1
            found[rented] += 1
    return None if place(program, found).failed else found


def _rents(program: Program) -> dict[str, list[int]]:
    """The columns of each experiment's rent, cheapest first; none whose hours are counted."""
    found: dict[str, list[int]] = {}
    for key, column in program.rent.items():
        if program.ways[key].rental.allocation is None:
            found.setdefault(key[0], []).append(column)
    for columns in found.values():
        columns.sort(key=lambda column: program.judged[column])
    return found
