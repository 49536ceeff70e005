"""What runs need in whole machines, beyond their days: the gaps that remain where none fits more.

A program that counts days alone believes that four runs of 0.4 years fit into 1.6 machine-years.
The sets of runs that one machine can do in an interval are few where runs are long. Numbers w such
that no such set weighs more than 1 say that runs need as many machines as they weigh; those that
say most of a given solution are the duals of packing it (Gilmore and Gomory, 1961).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor
from typing import Any

from advisor.planning.solver.counted_spans import Load, within_moments
from advisor.planning.solver.problem import EPSILON

MOST_SETS = 1500
"""Of whole runs on one machine; what is shorter counts by its days alone."""
BROKEN = 1e-3
"""By which share a solution breaks a row at least for it to be worth a row."""
FEW = 0.5
"""Runs that fill no more than this share of their machines always find a place on them."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The runs of a group whose windows lie within the same days."""

    length: float
    jobs: tuple[tuple[str, int, float], ...]
    """Of each: the experiment, the column of its runs, and the days of one."""


@dataclass(frozen=True, slots=True)
class Room:
    """What machines of one group can do, whose number is a column."""

    key: tuple[str, int]
    number: int
    intervals: tuple[Interval, ...]

    @classmethod
    def of(
        cls,
        key: tuple[str, int],
        number: int,
        experiments: Sequence[str],
        jobs: Sequence[Load],
        usable: Callable[[float, float], float],
    ) -> Room:
        """In every interval from a release to a due day; of each set of runs the first one counts.

        ``usable`` says how many days between two a machine has."""
        intervals: dict[tuple[int, ...], Interval] = {}
        for low, due, inside in within_moments(jobs):
            if tuple(inside) not in intervals:
                intervals[tuple(inside)] = Interval(
                    usable(low, due),
                    tuple((experiments[n], jobs[n].column, jobs[n].days) for n in inside),
                )
        return cls(key, number, tuple(intervals.values()))


@dataclass(frozen=True, slots=True)
class PackingRow:
    """Runs of a group weigh no more than its machines number."""

    machine_id: str
    order: int
    weights: tuple[tuple[str, float], ...]
    """By experiment."""


def broken_rows(rooms: Sequence[Room], x: Sequence[float]) -> Iterator[PackingRow]:
    """The row of each room and interval that a solution breaks most."""
    for room in rooms:
        machines = x[room.number]
        for interval in room.intervals:
            filled = sum(days * x[column] for _, column, days in interval.jobs) / interval.length
            if filled <= FEW * machines + EPSILON:
                continue
            sums: dict[float, float] = {}
            for _, column, days in interval.jobs:
                size = _size(days, interval)
                sums[size] = sums.get(size, 0.0) + x[column]
            weights = _weights(tuple(sorted(sums.items(), reverse=True)), machines)
            if weights is None:
                continue
            yield PackingRow(
                *room.key,
                tuple((e, weights[_size(days, interval)]) for e, _, days in interval.jobs),
            )


def _size(days: float, interval: Interval) -> float:
    return round(days / interval.length, 9)


def _weights(loads: tuple[tuple[float, float], ...], machines: float) -> dict[float, float] | None:
    """What a run of each size weighs, so that these weigh most; None where they fit."""
    import numpy as np
    from scipy.optimize import linprog

    sizes = tuple(size for size, _ in loads)
    large, sets = whole_sets(sizes)
    if not large:
        return None
    fluid = sum(size * value for size, value in loads[large:])
    # Maximise the weight of all: the weights of the large, and that of a whole machine of small.
    goal = -np.array([value for _, value in loads[:large]] + [fluid])
    rest = 1 - sets @ np.array(sizes[:large])
    rows = np.column_stack([sets, np.maximum(rest, 0.0)])
    # A large run weighs no less than its days would.
    days = np.column_stack([-np.eye(large), np.array(sizes[:large])])
    answer = linprog(
        goal,
        A_ub=np.vstack([rows, days]),
        b_ub=np.concatenate([np.ones(len(rows)), np.zeros(large)]),
        bounds=(0, 2),
        method="highs",
    )
    if answer.x is None or -answer.fun <= machines * (1 + BROKEN) + BROKEN:
        return None
    found = [float(weight) * (1 - 1e-7) for weight in answer.x]
    small = {size: found[-1] * size for size in sizes[large:]}
    return dict(zip(sizes[:large], found[:-1], strict=True)) | small


@lru_cache(maxsize=4096)
def whole_sets(sizes: tuple[float, ...]) -> tuple[int, Any]:
    """How many of the sizes, largest first, count as whole, and the largest sets of them that fit
    into 1, one a row."""
    import numpy as np

    found: list[tuple[int, ...]] = []
    for large in range(1, len(sizes) + 1):
        every = _sets(sizes[:large])
        if every is None:
            return large - 1, np.array(found)
        found = every
    return len(sizes), np.array(found)


def _sets(sizes: tuple[float, ...]) -> list[tuple[int, ...]] | None:
    """The sets that nothing can be added to; None where there are too many."""
    found: list[tuple[int, ...]] = []
    tolerance = 1e-5

    def add(taken: tuple[int, ...], room: float) -> bool:
        size = sizes[len(taken)]
        most = floor((room + tolerance) / size)
        if len(taken) + 1 == len(sizes):
            found.append((*taken, most))
            return len(found) <= MOST_SETS
        return all(add((*taken, n), room - n * size) for n in range(most, -1, -1))

    return found if add((), 1.0) else None
