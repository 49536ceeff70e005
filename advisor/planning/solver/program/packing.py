"""How runs are packed on machines.

One machine works day by day: earliest due date first, paused where a later run is due sooner (a
checkpoint), which finds a schedule wherever there is one. A program that counts days alone
believes that four runs of 0.4 years fit into 1.6 machine-years: whether they do is seen here, by
filling one machine after the other and, where that fails, by a small integer program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import islice, product
from math import inf
from typing import Any

from advisor.planning.solver.problem import EPSILON
from advisor.planning.solver.program.highs import HighsProgram

MOST_INTERVALS = 1600
"""For one group; with more of them, some are left out ..."""
ALL_INTERVALS = 20_000
"""... unless those of all groups together are no more than these."""
SOME_MOMENTS = 12
"""Releases, and due days, that intervals go from and to then."""


@dataclass(frozen=True, slots=True)
class Load:
    """A column of runs in a group, or of days that they run in one year."""

    column: int
    days: float
    """For one of the column."""
    low: float
    due: int


def within_moments(jobs: Sequence[Load], groups: int) -> Iterator[tuple[float, float, list[int]]]:
    """From which day to which jobs are counted, from every release to every due day, with the
    numbers of the jobs that must lie between, where there are any; ``groups`` is how many the
    program has.

    Where there are very many, from some to some: each interval asks what must hold, and fewer of
    them leave the bound valid; whether the runs pack is seen when they are placed.
    """
    import numpy as np

    lows, dues = np.array([each.low for each in jobs]), np.array([each.due for each in jobs])
    starts, ends = sorted({*lows.tolist()}), sorted({*dues.tolist()})
    if len(starts) * len(ends) > max(MOST_INTERVALS, ALL_INTERVALS // groups):
        starts, ends = _some(starts), _some(ends[::-1])[::-1]
    for low, due in product(reversed(starts), ends):
        if due > low:
            inside = ((lows >= low) & (dues <= due)).nonzero()[0].tolist()
            if inside:
                yield low, due, inside


def _some(moments: Sequence[float]) -> list[float]:
    """The first of them, and others at even steps."""
    step = max(len(moments) / SOME_MOMENTS, 1.0)
    return [moments[int(n * step)] for n in range(min(SOME_MOMENTS, len(moments)))]


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Job:
    """One run: its window and how many days it takes."""

    due: float
    low: float
    days: float
    experiment_id: str
    run: int
    whole: Job | None = field(default=None, compare=False)
    """Of what a run does in one year: the run with the days that stay free before its deadline. The
    end of a year is none, and the piece takes its own days alone."""


Pieces = list[tuple[float, float]]
PACKING_SECONDS = 5.0
PACKING_NODES = 20_000
"""A packing that is not found by then is undecided."""


def schedule(jobs: Sequence[Job]) -> dict[Job, Pieces] | None:
    """When each run is on one machine; None where they do not all fit."""
    waiting = sorted(jobs, key=lambda job: (job.low, job))
    left = {job: job.days for job in jobs}
    pieces: dict[Job, Pieces] = {job: [] for job in jobs}
    ready: list[Job] = []
    at, now = 0, 0.0
    while at < len(waiting) or ready:
        if not ready:
            now = max(now, waiting[at].low)
        while at < len(waiting) and waiting[at].low <= now + EPSILON:
            heappush(ready, waiting[at])
            at += 1
        job = ready[0]
        end = now + left[job]
        if at < len(waiting) and waiting[at].low < end - EPSILON:
            end = waiting[at].low
        if pieces[job] and abs(pieces[job][-1][1] - now) <= EPSILON:
            pieces[job][-1] = (pieces[job][-1][0], end)
        else:
            pieces[job].append((now, end))
        left[job] -= end - now
        now = end
        if left[job] <= EPSILON:
            if now > job.due + EPSILON:
                return None
            heappop(ready)
    return pieces


MOST_NUMBERS = 20_000_000
"""In the program that packs runs exactly."""
Bundle = tuple[Job, ...]
"""One run: a job, or one for each of the years that it runs in."""


def _kind(run: Bundle) -> tuple[Job, ...]:
    """What runs that are alike have in common."""
    return tuple(replace(job, run=0) for job in run)


def _wholes(runs: Iterable[Bundle]) -> list[Job]:
    return [run[0].whole for run in runs if run[0].whole is not None]


def _days(run: Bundle) -> float:
    return sum(job.days for job in run)


ORDERS: tuple[Callable[[Bundle], tuple[Any, ...]], ...] = (
    lambda run: (-_days(run), run),
    lambda run: (run[-1].due - run[0].low, -_days(run), run),
    lambda run: (run[-1].due, -_days(run), run),
)
"""In which runs are put on the first machine that has room: the longest, those with the least
choice of days, and those due soonest first."""


class Undecided(Exception):
    """Whether runs fit on machines was not found out."""


def pack(runs: Sequence[Bundle], machines: int) -> list[list[Bundle]] | None:
    """Which runs go on which of several machines that are alike; None where none works. Raises
    Undecided."""
    if machines == 1:
        return [list(runs)] if _fits(runs) else None
    for order in ORDERS:
        units = _filled(sorted(runs, key=order), machines)
        if units is not None:
            return units
    return _search(runs, machines)


def _fits(runs: Sequence[Bundle]) -> bool:
    return _jobs_fit([job for run in runs for job in run]) and _jobs_fit(_wholes(runs))


def _jobs_fit(jobs: Sequence[Job]) -> bool:
    if not jobs:
        return True
    first = jobs[0]
    if all(job.low == first.low and job.due == first.due for job in jobs):
        taken = sum(job.days for job in jobs)
        if taken <= first.due - first.low + EPSILON / 2:
            return True
    return schedule(jobs) is not None


def _filled(runs: Iterable[Bundle], machines: int) -> list[list[Bundle]] | None:
    """Each run on the first machine that has room; None where one finds none."""
    units: list[list[Bundle]] = [[] for _ in range(machines)]
    full: dict[tuple[Job, ...], int] = {}
    """How many machines, the first ones, have no room for one more of a kind."""
    for run in runs:
        kind = _kind(run)
        first = full.get(kind, 0)
        while first < machines and not _fits([*units[first], run]):
            first += 1
        if first == machines:
            return None
        full[kind] = first
        units[first].append(run)
    return units


def _search(runs: Sequence[Bundle], machines: int) -> list[list[Bundle]] | None:
    """Exact: a small integer program over how many runs of each kind a machine takes. Raises
    Undecided where it is not small, takes long, or runs are in pieces by the year."""
    kinds: dict[tuple[Job, ...], list[Bundle]] = {}
    for run in runs:
        kinds.setdefault(_kind(run), []).append(run)
    jobs = [key[0] for key in kinds]
    starts, ends = sorted({job.low for job in jobs}), sorted({job.due for job in jobs})
    size = (len(starts) + len(ends)) ** 2 * machines * machines * len(jobs)
    if size > MOST_NUMBERS or any(job.whole is not None for job in jobs):
        raise Undecided
    program = HighsProgram()
    numbers = [[program.column(len(of)) for _ in range(machines)] for of in kinds.values()]
    for of, columns in zip(kinds.values(), numbers, strict=True):
        program.rows.append((dict.fromkeys(columns, 1.0), len(of), len(of)))
    for start, due in product(starts, ends):
        inside = [n for n, job in enumerate(jobs) if job.low >= start and job.due <= due]
        for unit in range(machines) if inside else ():
            row = {numbers[n][unit]: jobs[n].days for n in inside}
            program.rows.append((row, -inf, due - start + EPSILON / 2))
    answer = program.solve([0.0] * len(program.cost), PACKING_SECONDS, most_nodes=PACKING_NODES)
    if answer.x is None and not answer.is_infeasible:
        raise Undecided
    if answer.x is None:
        return None
    units: list[list[Bundle]] = [[] for _ in range(machines)]
    for of, columns in zip(kinds.values(), numbers, strict=True):
        pool = iter(of)
        for unit, column in enumerate(columns):
            units[unit] += islice(pool, round(answer.x[column]))
    return units if all(_fits(unit) for unit in units) else None
