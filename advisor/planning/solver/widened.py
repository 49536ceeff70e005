"""A smaller problem that no plan is dearer in: windows are widened until many are the same, and the
runs of one model in one window are one experiment. What it costs is a bound for every plan."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from advisor.planning.solver.alike import alike
from advisor.planning.solver.problem import Experiment, PlanningProblem


def widened(problem: PlanningProblem, moments: int) -> PlanningProblem:
    """The problem with windows from and to so many days alone, each at least as wide as it is."""
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
    few = alike(wide)
    return wide if few is None else few.problem


def _some(days: Sequence[int], number: int, *, last: bool) -> list[int]:
    """So many of the days, at even steps of those that there are; the last or the first among
    them."""
    every = sorted(set(days), reverse=last)
    step = max(len(every) / number, 1.0)
    return sorted(every[int(n * step)] for n in range(min(number, len(every))))
