"""Experiments that a solver cannot tell apart, as one: the same model, window and value.

Three hundred runs of a few models are mostly such. Planned as one experiment each, which of them
goes where would be tried in every order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from advisor.planning.solver.plan import Placed, Plan, Rented, Work
from advisor.planning.solver.problem import Experiment, PlanningProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """A problem whose experiments differ, and whom each of them stands for."""

    problem: PlanningProblem
    members: Mapping[str, Sequence[Experiment]]
    """By the experiment that stands for them, which is the first of them."""

    def joined(self, plan: Plan) -> Plan:
        """A plan for all the experiments as one for those that stand for them."""
        first = {e.experiment_id: name for name, every in self.members.items() for e in every}
        numbers: Counter[str] = Counter()
        placed = []
        for each in plan.placed:
            name = first.get(each.experiment_id, each.experiment_id)
            numbers[name] += 1
            placed.append(replace(each, experiment_id=name, run=numbers[name]))
        left_out: Counter[str] = Counter()
        for experiment_id, runs in plan.left_out.items():
            left_out[first.get(experiment_id, experiment_id)] += runs
        return _with(plan, placed, dict(left_out))

    def told_apart(self, plan: Plan) -> Plan:
        """A plan for those that stand for others as one for all; the first asked run first."""
        placed: list[Placed] = []
        left_out: dict[str, int] = {}
        for name, every in self.members.items():
            runs = sorted(
                (each for each in plan.placed if each.experiment_id == name),
                key=lambda each: (each.pieces, each.run),
            )
            for e in every:
                mine, runs = runs[: e.runs], runs[e.runs :]
                placed += [
                    replace(each, experiment_id=e.experiment_id, run=number)
                    for number, each in enumerate(mine, start=1)
                ]
                if len(mine) < e.runs:
                    left_out[e.experiment_id] = e.runs - len(mine)
        placed.sort(key=lambda p: (p.machine_id, p.order, p.unit, p.pieces, p.experiment_id, p.run))
        return _with(plan, placed, left_out)


def _with(plan: Plan, placed: Sequence[Placed], left_out: Mapping[str, int]) -> Plan:
    """The plan with its runs counted anew by where they are."""
    runs = Counter((p.experiment_id, p.machine_id, p.order) for p in placed)
    rented = {(r.rental_id, r.year) for r in plan.rented}
    bought = {(w.machine_id, w.order) for w in plan.work}
    return replace(
        plan,
        placed=tuple(placed),
        work=tuple(
            Work(experiment_id=e, machine_id=machine, order=order, runs=number)
            for (e, machine, order), number in sorted(runs.items())
            if (machine, order) in bought
        ),
        rented=tuple(
            Rented(experiment_id=e, rental_id=rental, year=year, runs=number)
            for (e, rental, year), number in sorted(runs.items())
            if (rental, year) in rented
        ),
        left_out=left_out,
    )


def alike(problem: PlanningProblem) -> Alike | None:
    """The problem with like experiments as one; None where all differ."""
    members: dict[tuple[str, int, int, int], list[Experiment]] = {}
    for e in problem.experiments:
        members.setdefault((e.model, e.release_day, problem.due(e), e.value), []).append(e)
    if len(members) == len(problem.experiments):
        return None
    one = [replace(every[0], runs=sum(e.runs for e in every)) for every in members.values()]
    return Alike(
        problem=replace(problem, experiments=tuple(one)),
        members={every[0].experiment_id: every for every in members.values()},
    )
