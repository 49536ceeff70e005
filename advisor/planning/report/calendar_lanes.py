"""The lines of a calendar, drawn or in a terminal: one a machine, what looks the same once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from advisor.planning.solver.plan import Placed, Plan
from advisor.planning.solver.problem import Machine, PlanningProblem, Rental


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Runs of one machine, or of rented ones one after the other."""

    option: Machine | Rental
    rank: int
    """0: the lab has it; 1: it is bought; 2: it is rented."""
    order: int
    """Of a machine that is bought, as `Placed.order`; else -1."""
    runs: tuple[Placed, ...]
    count: int
    """How many look the same."""
    number: int
    """From 1, where several lines are of the same machine and order; else 0."""


def calendar_lanes(problem: PlanningProblem, plan: Plan) -> list[Lane]:
    """The lab's own machines first, then bought, then rented ones: rented runs that do not overlap
    share a line over all years. Thirty instances that are rented at once for the same are one."""
    options, machines = problem.options(), {m.machine_id: m for m in problem.machines}
    lines: dict[tuple[int, str, int], dict[int, list[Placed]]] = {}
    for p in sorted(plan.placed, key=lambda p: p.pieces[0][0]):
        if p.machine_id not in machines:
            at = lines.setdefault((2, p.machine_id, -1), {})
            begins, free = p.pieces[0][0], len(at)
            line = next((n for n in at if at[n][-1].pieces[-1][1] <= begins), free)
        else:
            own = machines[problem.whole(p.machine_id)].owned
            at = lines.setdefault((0 if own else 1, p.machine_id, p.order), {})
            line = p.unit
        at.setdefault(line, []).append(p)
    found = []
    for (rank, option_id, order), at in sorted(lines.items()):
        looks = Counter[tuple[object, ...]]()
        first: dict[tuple[object, ...], list[Placed]] = {}
        for _, runs in sorted(at.items()):
            same = tuple((p.experiment_id, p.pieces) for p in runs)
            looks[same] += 1
            first.setdefault(same, runs)
        for number, (look, count) in enumerate(looks.items(), start=1):
            lane = Lane(
                option=options[option_id],
                rank=rank,
                order=order,
                runs=tuple(first[look]),
                count=count,
                number=number if len(looks) > 1 else 0,
            )
            found.append(lane)
    return found
