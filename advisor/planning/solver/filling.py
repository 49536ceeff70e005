"""Runs dealt to machines whose number is settled, each where it still finds days; what finds none
is rented. For many runs of which no two have the same window: a program that packs them exactly is
then too large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import permutations
from math import inf
from typing import Any

from advisor.planning.solver.assemble import calendar, ends_of_owned, plan_of, rented_runs
from advisor.planning.solver.first_plans import Found, dot, keeps_rows
from advisor.planning.solver.groups import Group
from advisor.planning.solver.milp import Program
from advisor.planning.solver.problem import EPSILON, Placed
from advisor.planning.solver.refilling import NOWHERE, Refilling
from advisor.planning.solver.schedule import Job
from advisor.planning.solver.search_clock import Clock

MOVES = 3
"""Times that every run is looked at for a cheaper place."""
MOST_PLACES = 400
"""Machines and parts of machines: with more of them every one is not looked at for every run."""


@dataclass(slots=True)
class _Place:
    """One machine, or one part of one, with the runs that are on it."""

    group: Group
    unit: int
    jobs: list[Job] = field(default_factory=list)

    def has_room(self, job: Job, without: Sequence[Job] = ()) -> bool:
        """For one more, or for it instead of others."""
        return _fit([job, *(each for each in self.jobs if each not in without)])


def _fit(jobs: Sequence[Job]) -> bool:
    """Whether one machine has the days for all: earliest due date first."""
    waiting = sorted((job.low, job.due, job.days) for job in jobs)
    ready: list[tuple[float, float]] = []
    at, now = 0, 0.0
    while at < len(waiting) or ready:
        if not ready:
            now = max(now, waiting[at][0])
        while at < len(waiting) and waiting[at][0] <= now + EPSILON:
            heappush(ready, waiting[at][1:])
            at += 1
        due, days = heappop(ready)
        if at < len(waiting) and waiting[at][0] < now + days - EPSILON:
            heappush(ready, (due, days - (waiting[at][0] - now)))
            now = waiting[at][0]
            continue
        now += days
        if now > due + EPSILON / 2:
            return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A run that waits for a place, the groups that can do it, and what it costs elsewhere."""

    experiment_id: str
    number: int
    groups: Sequence[tuple[Group, Job, int]]
    """With the column of its runs there; first those that the relaxation prefers."""
    other: Sequence[int]
    """Columns of its rent, cheapest first, and of leaving it out where that may be."""
    granted: bool
    """Whether the relaxation has it on an allocation."""
    saved: float
    """Dollars, by finding a place."""


_Places = dict[tuple[str, int], list[_Place]]
"""By the key of their group."""
_Runs = dict[tuple[str, int], _Run]
"""By experiment and number."""
ORDERS: tuple[Callable[[_Run], Any], ...] = (
    lambda run: min((job.due - job.low - job.days for _, job, _ in run.groups), default=0.0),
    lambda run: -max((job.days for _, job, _ in run.groups), default=0.0),
    lambda run: -run.saved / min((job.days for _, job, _ in run.groups), default=1.0),
)
"""In which runs are dealt: those with the least choice of days, the longest, or the dearest
elsewhere first."""


def filled_plan(
    program: Program,
    costs: Sequence[float],
    x: Sequence[float],
    clock: Clock,
    *,
    refill: bool = False,
) -> Found | None:
    """The best of a few ways to deal all runs to the machines that ``x`` has, where years have no
    money of their own; ``refill`` takes time to better it."""
    if program.days or program.problem.year_budget_cents is not None:
        return None
    numbers = numbers_of(program, x)
    slots = sum(numbers.values())
    if slots > MOST_PLACES or any(abs(x[c] - n) > EPSILON * 10 for c, n in numbers.items()):
        return None
    counts = [numbers.get(column, 0.0) for column in range(len(program.cost))]
    runs = list(_runs(program, costs, x, ends_of_owned(program, counts)))
    deals = [_Deal(program, costs, counts, sorted(runs, key=order)) for order in ORDERS]
    for deal in sorted(deals, key=_Deal.lost):
        deal.improve(clock)
        if refill:
            deal.refill(clock)
        found = deal.plan()
        if found is not None or clock.left <= 0:
            return found
    return None


def numbers_of(program: Program, x: Sequence[float]) -> dict[int, float]:
    """How many machines and parts of machines there are, by column."""
    return {column: float(round(x[column])) for column in program.numbers}


def divided(program: Program, numbers: dict[int, float]) -> Iterator[dict[int, float]]:
    """The same machines with one of their parts larger or smaller."""
    parts: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for group in program.groups:
        if group.key in program.count:
            whole = group.machine.part_of or group.machine.machine_id
            column = program.wholes.get(group.key, program.count[group.key])
            parts.setdefault((whole, group.order), []).append((group.machine.gpu_count, column))
    for every in parts.values():
        for (fewer, small), (more, large) in permutations(every, 2):
            if more % fewer == 0 and more > fewer:
                step = more // fewer
                if numbers[small] >= step:
                    yield {**numbers, small: numbers[small] - step, large: numbers[large] + 1}
                if numbers[large] >= 1:
                    yield {**numbers, small: numbers[small] + step, large: numbers[large] - 1}


def _runs(
    program: Program, costs: Sequence[float], x: Sequence[float], ends: dict[str, int]
) -> Iterator[_Run]:
    problem = program.problem
    share, last = problem.usable(1.0), problem.year_days[-1]
    rents: dict[str, list[int]] = {}
    granted: dict[str, list[int]] = {}
    for key, column in program.rent.items():
        own = rents if program.ways[key].rental.allocation is None else granted
        own.setdefault(key[0], []).append(column)
    for e in problem.experiments:
        rent = sorted(rents.get(e.experiment_id, ()), key=lambda column: costs[column])
        other = sorted([*rent, *granted.get(e.experiment_id, ())], key=lambda column: costs[column])
        wanted = sum(x[column] for column in granted.get(e.experiment_id, ()))
        skip = program.skip[e.experiment_id]
        if program.upper[skip]:
            other.append(skip)
        dearest = costs[rent[0]] if rent else inf
        for number in range(1, e.runs + 1):
            groups = []
            for group in program.groups:
                at = program.work.get((e.experiment_id, *group.key))
                if at is None or costs[at] >= dearest:
                    continue
                end = ends.get(group.machine.machine_id, last)
                job = Job(
                    low=problem.worked(max(e.release_day, group.from_day)),
                    due=problem.worked(min(problem.due(e), end)),
                    days=problem.elapsed(group.machine.times[e.model]) / share,
                    experiment_id=e.experiment_id,
                    run=number,
                )
                if job.low + job.days <= job.due + EPSILON / 2:
                    groups.append((group, job, at))
            groups.sort(key=lambda each: (-x[each[2]], costs[each[2]]))
            here = min((costs[at] for *_, at in groups), default=0.0)
            yield _Run(
                experiment_id=e.experiment_id,
                number=number,
                groups=groups,
                other=other,
                granted=number <= round(wanted),
                saved=dearest - here,
            )


class _Deal:
    """Runs dealt to machines in one order."""

    def __init__(
        self,
        program: Program,
        costs: Sequence[float],
        counts: Sequence[float],
        runs: Sequence[_Run],
    ) -> None:
        self.program, self.costs = program, costs
        self.counts = list(counts)
        """Of the columns: machines, and runs that are rented."""
        self._ways = {program.rent[key]: way for key, way in program.ways.items()}
        self._granted = {a.allocation_id: a for a in program.problem.allocations}
        self._used: dict[tuple[str, int], float] = {}
        self.places: _Places = {}
        for group in program.groups:
            column = program.wholes.get(group.key, program.count.get(group.key))
            if column is not None:
                units = range(1, round(counts[column]) + 1)
                self.places[group.key] = [_Place(group, unit) for unit in units]
        self.runs = {(run.experiment_id, run.number): run for run in runs}
        mine = [run for run in runs if not (run.granted and self._elsewhere(run, granted=True))]
        self.left = [run for run in mine if not _put(run, self.places)]

    def lost(self) -> tuple[int, float]:
        """Runs without a place that cannot be rented either, and dollars for the others."""
        saved = [run.saved for run in self.left]
        return saved.count(inf), sum(dollars for dollars in saved if dollars < inf)

    def improve(self, clock: Clock) -> None:
        """Make room for runs that have none, then move runs to where they cost less."""
        self.left.sort(key=lambda run: -run.saved)
        waiting = [run for run in self.left if not _swapped(run, self.places, self.runs, clock)]
        self.left = []
        while waiting:
            run = waiting.pop(0)
            gone = _exchanged(run, self.places, self.runs, clock)
            if run in gone:
                self.left += gone
            else:
                waiting += gone
        for _ in range(MOVES):
            if not _moved(self.places, self.runs, self.costs, clock):
                break

    def refill(self, clock: Clock) -> None:
        """Look for better places of all runs together."""
        ways = {}
        for key, run in self.runs.items():
            here = [
                (place, job, self.costs[at])
                for group, job, at in run.groups
                for place in self.places.get(group.key, ())
            ]
            ways[key] = sorted(here, key=lambda each: each[2])
        elsewhere = {key: self._dearest(run) for key, run in self.runs.items()}
        every = [place for places in self.places.values() for place in places]
        waiting = [(run.experiment_id, run.number) for run in self.left]
        search = Refilling(every, ways, elsewhere, waiting)
        search.search(clock)
        self.left = [self.runs[key] for key in search.left]

    def _dearest(self, run: _Run) -> float:
        """What a run without a place costs."""
        here = min((self.costs[at] for *_, at in run.groups), default=0.0)
        return here + min(run.saved, NOWHERE)

    def _elsewhere(self, run: _Run, *, granted: bool) -> bool:
        """Rent a run; where it is ``granted``, with the hours of an allocation alone."""
        for column in run.other:
            way = self._ways.get(column)
            allocation = None if way is None else way.rental.allocation
            if self.counts[column] + 1 > self.program.upper[column]:
                continue
            if granted and allocation is None:
                continue
            if way is not None and allocation is not None:
                key = (allocation, way.year)
                limit = self._granted[allocation].hours_in(way.year)
                taken = self._used.get(key, 0.0) + way.gpu_hours
                if limit is not None and taken > float(limit):
                    continue
                self._used[key] = taken
            self.counts[column] += 1
            return True
        return False

    def plan(self) -> Found | None:
        """With the rest rented; None where that cannot be, or breaks a rule."""
        program, found = self.program, self.counts
        placed: list[Placed] = []
        numbers: Counter[str] = Counter()
        for key, every in self.places.items():
            for unit, place in enumerate((each for each in every if each.jobs), start=1):
                times = calendar(program.problem, [(job,) for job in place.jobs])
                for (experiment, _), pieces in times.items():
                    found[program.work[experiment, *key]] += 1
                    numbers[experiment] += 1
                    placed.append(
                        Placed(
                            experiment_id=experiment,
                            run=numbers[experiment],
                            machine_id=key[0],
                            order=key[1],
                            unit=unit,
                            pieces=tuple(pieces),
                        )
                    )
        if not all(self._elsewhere(run, granted=False) for run in self.left):
            return None
        for rent, column in program.rent.items():
            placed += rented_runs(program, rent, column, found, numbers, by_year=False)
        if not keeps_rows(program, found):
            return None
        placed.sort(key=lambda p: (p.machine_id, p.order, p.unit, p.pieces, p.experiment_id, p.run))
        return dot(self.costs, found), plan_of(program, found, placed)


def _put(run: _Run, places: _Places) -> bool:
    for group, job, _ in run.groups:
        for place in places.get(group.key, ()):
            if place.has_room(job):
                place.jobs.append(job)
                return True
    return False


def _moved(
    places: _Places,
    runs: _Runs,
    costs: Sequence[float],
    clock: Clock,
) -> bool:
    """Move runs to where they cost less; whether any was."""
    moved = False
    for place in [each for every in places.values() for each in every]:
        for job in list(place.jobs):
            if clock.left <= 0:
                return False
            run = runs[job.experiment_id, job.run]
            here = next(c for group, _, c in run.groups if group.key == place.group.key)
            cheaper = [each for each in run.groups if costs[each[2]] < costs[here]]
            rest = replace(run, groups=sorted(cheaper, key=lambda each: costs[each[2]]))
            if _put(rest, places):
                place.jobs.remove(job)
                moved = True
    return moved


def _exchanged(
    run: _Run,
    places: _Places,
    runs: _Runs,
    clock: Clock,
) -> list[_Run]:
    """Put a run where others make room that cost less elsewhere; those that then have no place,
    the run itself where there is no such place."""

    def saved(job: Job) -> float:
        return runs[job.experiment_id, job.run].saved

    best: tuple[float, _Place, list[Job], Job] | None = None
    for group, job, _ in run.groups:
        for place in places.get(group.key, ()):
            if clock.left <= 0:
                return [run]
            most = run.saved if best is None else best[0]
            gone: list[Job] = []
            lost = 0.0
            for other in sorted(place.jobs, key=saved):
                if lost + saved(other) >= most or place.has_room(job, gone):
                    break
                gone.append(other)
                lost += saved(other)
            if not gone or not place.has_room(job, gone):
                continue
            for other in gone[::-1]:  # not all need to go
                fewer = [each for each in gone if each is not other]
                if place.has_room(job, fewer):
                    gone = fewer
            best = sum(map(saved, gone)), place, gone, job
    if best is None:
        return [run]
    _, place, gone, job = best
    place.jobs = [job, *(each for each in place.jobs if each not in gone)]
    others = [runs[each.experiment_id, each.run] for each in gone]
    return [each for each in others if not _put(each, places)]


def _swapped(
    run: _Run,
    places: _Places,
    runs: _Runs,
    clock: Clock,
) -> bool:
    """Put a run where another makes room that finds a place elsewhere."""
    for group, job, _ in run.groups:
        for place in places.get(group.key, ()):
            for other in place.jobs:
                if clock.left <= 0:
                    return False
                if not place.has_room(job, [other]):
                    continue
                place.jobs = [job, *(each for each in place.jobs if each is not other)]
                if _put(runs[other.experiment_id, other.run], places):
                    return True
                place.jobs = [other, *(each for each in place.jobs if each is not job)]
    return False
