"""Puts runs on machines, day by day: earliest due date first, paused where a later run is due
sooner (a checkpoint). For one machine this finds a schedule wherever there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from advisor.planning.solver.problem import EPSILON


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Job:
    """One run: its window and how many days it takes."""

    due: float
    low: float
    days: float
    experiment_id: str
    run: int


Pieces = list[tuple[float, float]]


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


def pack(jobs: Sequence[Job], machines: int) -> list[list[Job]] | None:
    """Which runs go on which of several machines that are alike; None where none works."""
    if machines == 1:
        return [list(jobs)] if schedule(jobs) is not None else None
    return _first_fit(jobs, machines) or _search(jobs, machines)


def _first_fit(jobs: Sequence[Job], machines: int) -> list[list[Job]] | None:
    units: list[list[Job]] = [[] for _ in range(machines)]
    for job in sorted(jobs, key=lambda job: (-job.days, job)):
        for unit in units:
            if schedule([*unit, job]) is not None:
                unit.append(job)
                break
        else:
            return None
    return units


def _search(jobs: Sequence[Job], machines: int) -> list[list[Job]] | None:
    """Exact: a small integer program over how many runs of each kind a machine takes."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    kinds: dict[tuple[str, float, float, float], list[Job]] = {}
    for job in jobs:
        kinds.setdefault((job.experiment_id, job.low, job.due, job.days), []).append(job)
    keys = sorted(kinds)
    width = len(keys) * machines
    rows = []
    low: list[float] = []
    high: list[float] = []
    for k, key in enumerate(keys):
        row = np.zeros(width)
        row[k * machines : (k + 1) * machines] = 1
        rows.append(row)
        low.append(len(kinds[key]))
        high.append(len(kinds[key]))
    for start in sorted({key[1] for key in keys}):
        for due in sorted({key[2] for key in keys}):
            inside = [k for k, key in enumerate(keys) if key[1] >= start and key[2] <= due]
            if not inside or due <= start:
                continue
            for unit in range(machines):
                row = np.zeros(width)
                for k in inside:
                    row[k * machines + unit] = keys[k][3]
                rows.append(row)
                low.append(-np.inf)
                high.append(due - start + EPSILON / 2)
    answer = milp(
        np.zeros(width),
        integrality=np.ones(width),
        bounds=Bounds(0, np.repeat([len(kinds[key]) for key in keys], machines)),
        constraints=LinearConstraint(np.array(rows), np.array(low), np.array(high)),
    )
    if answer.x is None:
        return None
    units: list[list[Job]] = [[] for _ in range(machines)]
    for k, key in enumerate(keys):
        pool = list(kinds[key])
        for unit in range(machines):
            for _ in range(round(answer.x[k * machines + unit])):
                units[unit].append(pool.pop(0))
    return units if all(schedule(unit) is not None for unit in units) else None
