"""How runs are packed on machines, and what they need in whole machines beyond their days.

One machine works day by day: earliest due date first, paused where a later run is due sooner (a
checkpoint), which finds a schedule wherever there is one. A program that counts days alone
believes that four runs of 0.4 years fit into 1.6 machine-years. The sets of runs that one machine
can do in an interval are few where runs are long. Weights such that no such set weighs more than 1
say that runs need as many machines as they weigh; those that say most of a given solution are the
duals of packing it (Gilmore and Gomory, 1961)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush
from itertools import product
from math import floor, inf
from typing import Any

from advisor.planning.solver.problem import EPSILON
from advisor.planning.solver.program.highs import HighsProgram

MOST_INTERVALS = 1600
"""For one group; with more of them, some are left out."""
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


def moments(jobs: Sequence[Load]) -> list[tuple[float, float]]:
    """From which day to which the jobs are counted: from every release to every due day.

    Where there are very many, from some to some: each interval asks what must hold, and fewer of
    them leave the bound valid; whether the runs pack is seen when they are placed.
    """
    lows = sorted({each.low for each in jobs})
    dues = sorted({float(each.due) for each in jobs})
    if len(lows) * len(dues) > MOST_INTERVALS:
        lows, dues = _some(lows), _some(dues[::-1])[::-1]
    return list(product(reversed(lows), dues))


def within_moments(jobs: Sequence[Load]) -> Iterator[tuple[float, float, list[int]]]:
    """The same, with the numbers of the jobs that must lie between, where there are any."""
    import numpy as np

    lows, dues = np.array([each.low for each in jobs]), np.array([each.due for each in jobs])
    for low, due in moments(jobs):
        if due > low:
            inside = ((lows >= low) & (dues <= due)).nonzero()[0].tolist()
            if inside:
                yield low, due, inside


def _some(moments: Sequence[float]) -> list[float]:
    """The first of them, and others at even steps."""
    step = max(len(moments) / SOME_MOMENTS, 1.0)
    return [moments[int(n * step)] for n in range(min(SOME_MOMENTS, len(moments)))]


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
    sizes = tuple(size for size, _ in loads)
    large, sets = whole_sets(sizes)
    if not large:
        return None
    # Maximise the weight of all: the weights of the large, and that of a whole machine of small.
    program = HighsProgram()
    for _ in range(large + 1):
        program.column(2.0, whole=False)
    goal = [-value for _, value in loads[:large]]
    goal.append(-sum(size * value for size, value in loads[large:]))
    for taken in sets:
        rest = 1 - sum(number * size for number, size in zip(taken, sizes, strict=False))
        row = {n: float(number) for n, number in enumerate(taken) if number}
        program.rows.append(({**row, large: max(rest, 0.0)}, -inf, 1.0))
    for n, size in enumerate(sizes[:large]):  # a large run weighs no less than its days would
        program.rows.append(({n: -1.0, large: size}, -inf, 0.0))
    answer = program.solve(goal, PACKING_SECONDS)
    if answer.x is None or -answer.value <= machines * (1 + BROKEN) + BROKEN:
        return None
    found = [weight * (1 - 1e-7) for weight in answer.x]
    small = {size: found[-1] * size for size in sizes[large:]}
    return dict(zip(sizes[:large], found[:-1], strict=True)) | small


@lru_cache(maxsize=4096)
def whole_sets(sizes: tuple[float, ...]) -> tuple[int, list[tuple[int, ...]]]:
    """How many of the sizes, largest first, count as whole, and the largest sets of them that fit
    into 1: how many of each."""
    found: list[tuple[int, ...]] = []
    for large in range(1, len(sizes) + 1):
        every = _sets(sizes[:large])
        if every is None:
            return large - 1, found
        found = every
    return len(sizes), found


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
PACKING_SECONDS = 20.0
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
Span = tuple[str, float, float, float]
Kind = tuple[tuple[Span, ...], tuple[Span, ...]]
"""What runs that are alike have in common: of their jobs, and of the whole run where those are its
pieces."""


def _kind(run: Bundle) -> Kind:
    every, wholes = tuple(map(_span, run)), tuple(map(_span, _wholes([run])))
    return every, wholes


def _span(job: Job) -> Span:
    return job.experiment_id, job.low, job.due, job.days


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


def pack(runs: Sequence[Bundle], machines: int) -> list[list[Bundle]] | None:
    """Which runs go on which of several machines that are alike; None where none works. Raises
    Undecided."""
    if machines == 1:
        return [list(runs)] if _fits(runs) else None
    return _first_fit(runs, machines) or _search(runs, machines)


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


def _first_fit(runs: Sequence[Bundle], machines: int) -> list[list[Bundle]] | None:
    for order in ORDERS:
        units, left = _filled(sorted(runs, key=order), machines)
        if not left:
            return units
    return None


def _filled(runs: Iterable[Bundle], machines: int) -> tuple[list[list[Bundle]], list[Bundle]]:
    """Each run on the first machine that has room, and those that find none."""
    units: list[list[Bundle]] = [[] for _ in range(machines)]
    left: list[Bundle] = []
    full: dict[Kind, int] = {}
    """How many machines, the first ones, have no room for one more of a kind."""
    for run in runs:
        kind = _kind(run)
        first = full.get(kind, 0)
        while first < machines and not _fits([*units[first], run]):
            first += 1
        full[kind] = first
        (units[first] if first < machines else left).append(run)
    return units, left


def most_filled(runs: Sequence[Bundle], machines: int) -> list[Bundle]:
    """The runs that find no room on this number of machines, when most of their days do."""
    tried = (_filled(sorted(runs, key=order), machines)[1] for order in ORDERS)
    return min(tried, key=lambda left: sum(map(_days, left)))


class Undecided(Exception):
    """Whether runs fit on machines was not found out."""


def _search(runs: Sequence[Bundle], machines: int) -> list[list[Bundle]] | None:
    """Exact: a small integer program over how many runs of each kind a machine takes. Raises
    Undecided where it is not small, or takes long."""
    kinds: dict[Kind, list[Bundle]] = {}
    for run in runs:
        kinds.setdefault(_kind(run), []).append(run)
    keys = sorted(kinds)
    each_way = [[key[way] for key in keys] for way in range(2)]
    spans = [span for every in each_way for of_key in every for span in of_key]
    moments = len({span[1] for span in spans} | {span[2] for span in spans})
    if moments * moments * machines * machines * len(keys) > MOST_NUMBERS:
        raise Undecided
    program = HighsProgram()
    numbers = [[program.column(len(kinds[key])) for _ in range(machines)] for key in keys]
    for key, columns in zip(keys, numbers, strict=True):
        program.rows.append((dict.fromkeys(columns, 1.0), len(kinds[key]), len(kinds[key])))
    for every in each_way:
        for start in sorted({span[1] for of_key in every for span in of_key}):
            for due in sorted({span[2] for of_key in every for span in of_key}):
                inside = [
                    sum(days for _, first, last, days in of_key if first >= start and last <= due)
                    for of_key in every
                ]
                if not any(inside) or due <= start:
                    continue
                for unit in range(machines):
                    row = {each[unit]: d for each, d in zip(numbers, inside, strict=True) if d}
                    program.rows.append((row, -inf, due - start + EPSILON / 2))
    answer = program.solve([0.0] * len(program.cost), PACKING_SECONDS, most_nodes=PACKING_NODES)
    if answer.x is None and not answer.is_infeasible:
        raise Undecided
    if answer.x is None:
        return None
    units: list[list[Bundle]] = [[] for _ in range(machines)]
    for key, columns in zip(keys, numbers, strict=True):
        pool = list(kinds[key])
        for unit, column in enumerate(columns):
            for _ in range(round(answer.x[column])):
                units[unit].append(pool.pop(0))
    return units if all(_fits(unit) for unit in units) else None
