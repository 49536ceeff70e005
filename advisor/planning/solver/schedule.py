"""Puts runs on machines, day by day: earliest due date first, paused where a later run is due
sooner (a checkpoint). For one machine this finds a schedule wherever there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from advisor.planning.solver.problem import EPSILON


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
TIME_OVER = 1
"""Status of scipy's milp."""
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
    """The runs that find no room on so many machines, where most of their days do."""
    tried = (_filled(sorted(runs, key=order), machines)[1] for order in ORDERS)
    return min(tried, key=lambda left: sum(map(_days, left)))


class Undecided(Exception):
    """Whether runs fit on machines was not found out."""


def _search(runs: Sequence[Bundle], machines: int) -> list[list[Bundle]] | None:
    """Exact: a small integer program over how many runs of each kind a machine takes. Raises
    Undecided where it is not small, or takes long."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    kinds: dict[Kind, list[Bundle]] = {}
    for run in runs:
        kinds.setdefault(_kind(run), []).append(run)
    keys = sorted(kinds)
    width = len(keys) * machines
    each_way = [[key[way] for key in keys] for way in range(2)]
    spans = [span for every in each_way for of_key in every for span in of_key]
    moments = len({span[1] for span in spans} | {span[2] for span in spans})
    if moments * moments * machines * width > MOST_NUMBERS:
        raise Undecided
    rows = []
    low: list[float] = []
    high: list[float] = []
    for k, key in enumerate(keys):
        row = np.zeros(width)
        row[k * machines : (k + 1) * machines] = 1
        rows.append(row)
        low.append(len(kinds[key]))
        high.append(len(kinds[key]))
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
                    row = np.zeros(width)
                    for k, days in enumerate(inside):
                        row[k * machines + unit] = days
                    rows.append(row)
                    low.append(-np.inf)
                    high.append(due - start + EPSILON / 2)
    answer = milp(
        np.zeros(width),
        integrality=np.ones(width),
        bounds=Bounds(0, np.repeat([len(kinds[key]) for key in keys], machines)),
        constraints=LinearConstraint(np.array(rows), np.array(low), np.array(high)),
        options={"time_limit": PACKING_SECONDS},
    )
    if answer.status == TIME_OVER and answer.x is None:
        raise Undecided
    if answer.x is None:
        return None
    units: list[list[Bundle]] = [[] for _ in range(machines)]
    for k, key in enumerate(keys):
        pool = list(kinds[key])
        for unit in range(machines):
            for _ in range(round(answer.x[k * machines + unit])):
                units[unit].append(pool.pop(0))
    return units if all(_fits(unit) for unit in units) else None
