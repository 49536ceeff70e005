"""Experiments merged into fewer: those that a solver cannot tell apart, and those whose windows
become the same when they are widened, which gives a lower bound.

Three hundred runs of a few models are mostly alike. Planned as one experiment each, which of them
goes where would be tried in every order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from advisor.planning.solver.plan import Placed, Plan, by_place
from advisor.planning.solver.problem import Experiment, PlanningProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A problem whose experiments all differ, and which experiments each of them replaces."""

    problem: PlanningProblem
    members: Mapping[str, Sequence[Experiment]]
    """By the first of them, which replaces all."""

    def joined(self, plan: Plan) -> Plan:
        """A plan for the original experiments, with its runs named as the merged ones; it is to be
        counted again."""
        first = {e.experiment_id: name for name, every in self.members.items() for e in every}
        placed = (replace(p, experiment_id=first.get(p.experiment_id, "")) for p in plan.placed)
        return replace(plan, placed=tuple(placed))

    def told_apart(self, plan: Plan) -> Plan:
        """A plan for the merged experiments, as one for the original ones; the first asked for run
        first."""
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
        placed.sort(key=by_place)
        return replace(plan, placed=tuple(placed), left_out=left_out)


def merge_alike(problem: PlanningProblem) -> Merged:
    """The problem with experiments of the same model, window and value as one."""
    members: dict[tuple[str, int, int, int, str], list[Experiment]] = {}
    for e in problem.experiments:
        own = e.experiment_id if e.min_runs else ""
        members.setdefault((e.model, e.release_day, problem.due(e), e.value, own), []).append(e)
    one = tuple(replace(every[0], runs=sum(e.runs for e in every)) for every in members.values())
    return Merged(
        problem=replace(problem, experiments=one),
        members={every[0].experiment_id: every for every in members.values()},
    )


def widened(problem: PlanningProblem, moments: int) -> PlanningProblem:
    """The problem with only this number of different release days and due days: each window
    becomes at least as wide as it is. No plan costs less than the best plan for this."""
    starts = _some([e.release_day for e in problem.experiments], moments, last=False)
    ends = _some([problem.due(e) for e in problem.experiments], moments, last=True)
    # Where a rented run starts can count; days kept free before a deadline grow with its window.
    by_year = problem.rules.rents_differ or bool(problem.allocations)

    def wider(e: Experiment) -> Experiment:
        due = problem.due(e)
        start = starts[bisect_right(starts, e.release_day) - 1]
        end = ends[bisect_left(ends, due)]
        if by_year and start + problem.usable(end - start) < e.release_day + problem.usable(
            due - e.release_day
        ):
            start = e.release_day
        return replace(e, release_day=start, due_day=end)

    wide = replace(problem, experiments=tuple(wider(e) for e in problem.experiments))
    return merge_alike(wide).problem


def _some(days: Sequence[int], number: int, *, last: bool) -> list[int]:
    """A number of the days, evenly chosen; the last (or the first) is always among them."""
    every = sorted(set(days), reverse=last)
    step = max(len(every) / number, 1.0)
    return sorted(every[int(n * step)] for n in range(min(number, len(every))))
