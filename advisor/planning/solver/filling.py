"""Runs dealt to machines whose number is settled, each where it still finds days; what finds none
is rented. For many runs of which no two have the same window: a program that packs them exactly is
then too large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf

from advisor.planning.solver.assemble import calendar, ends_of_owned, plan_of, rented_runs
from advisor.planning.solver.first_plans import Found, beyond_rows, dot
from advisor.planning.solver.groups import Group
from advisor.planning.solver.milp import Program
from advisor.planning.solver.plan import Placed
from advisor.planning.solver.problem import EPSILON
from advisor.planning.solver.refilling import NOWHERE, Key, Refilling
from advisor.planning.solver.repacking import Repacking
from advisor.planning.solver.schedule import Job
from advisor.planning.solver.search_clock import Clock

HALF = 0.5
MOST_PLACES = 400
"""Machines and parts of machines: with more of them every one is not looked at for every run."""


@dataclass(slots=True)
class _Place:
    """One machine, or one part of one, with the runs that are on it."""

    group: Group
    unit: int
    jobs: list[Job] = field(default_factory=list)


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
    first: tuple[str, int] | None
    """The key of the group that the relaxation has it on."""


_Places = dict[tuple[str, int], list[_Place]]
"""By the key of their group."""
_Dealt = tuple[
    list[_Place], dict[Key, list[tuple[_Place, Job, float]]], dict[Key, float], list[Key]
]
"""All places; for each run those that can take it, with what it costs there; what it costs
elsewhere; and which have no place."""


def dealing(program: Program, costs: Sequence[float], x: Sequence[float]) -> Deal | None:
    """Of all runs to the machines that ``x`` has; None where a run's money may be in several years,
    or the machines are too many or no whole number."""
    if program.days:
        return None
    numbers = numbers_of(program, x)
    slots = sum(numbers.values())
    if slots > MOST_PLACES or any(abs(x[c] - n) > EPSILON * 10 for c, n in numbers.items()):
        return None
    counts = [numbers.get(column, 0.0) for column in range(len(program.cost))]
    return Deal(
        program, costs, counts, list(_runs(program, costs, x, ends_of_owned(program, counts)))
    )


def numbers_of(program: Program, x: Sequence[float]) -> dict[int, float]:
    """How many machines and parts of machines there are, by column."""
    return {column: float(round(x[column])) for column in program.numbers}


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
    years = {program.rent[key]: way.year for key, way in program.ways.items()}
    later = problem.year_budget_cents is not None and problem.carry_over

    def dearer(column: int) -> tuple[float, int]:
        # Of years that cost the same the last: money that is carried over is there by then.
        return costs[column], -years[column] if later else years[column]

    for e in problem.experiments:
        rent = sorted(rents.get(e.experiment_id, ()), key=dearer)
        other = sorted([*rent, *granted.get(e.experiment_id, ())], key=dearer)
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
                first=_first(groups, x, number),
            )


def _first(
    groups: Sequence[tuple[Group, Job, int]], x: Sequence[float], number: int
) -> tuple[str, int] | None:
    """The group of the relaxation's runs, in their order, that one of this number is among."""
    dealt = 0.0
    for group, _, at in groups:
        dealt += x[at]
        if dealt > number - HALF:
            return group.key
    return None


class Deal:
    """Runs dealt to machines."""

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
        self.left = [
            run for run in runs if not (run.granted and self._elsewhere(run, granted=True))
        ]

    def refill(self, clock: Clock, steps: float) -> None:
        """Look for better places of all runs together, so many steps for each."""
        first = {
            key: self.places[run.first][0]
            for key, run in self.runs.items()
            if run.first is not None and self.places[run.first]
        }
        search = Refilling(*self._dealt(), first)
        search.search(clock, steps)
        self.left = [self.runs[key] for key in search.left]

    def repack(self, clock: Clock) -> None:
        """Look for better places of runs on two machines at a time."""
        search = Repacking(*self._dealt())
        search.search(clock)
        self.left = [self.runs[key] for key in search.left]

    def _dealt(self) -> _Dealt:
        ways = {}
        for key, run in self.runs.items():
            here = [
                (place, job, self.costs[at])
                for group, job, at in run.groups
                for place in self.places.get(group.key, ())
            ]
            ways[key] = sorted(here, key=lambda each: each[2])
        return (
            [place for places in self.places.values() for place in places],
            ways,
            {key: self._dearest(run) for key, run in self.runs.items()},
            [(run.experiment_id, run.number) for run in self.left],
        )

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

    def plan(self) -> tuple[float, Found | None] | None:
        """With the rest rented: what it costs, with the dollars that it lacks to be a plan, and
        the plan where it lacks none; None where the rest cannot be rented."""
        counts, used = list(self.counts), dict(self._used)
        found = self._planned()
        self.counts, self._used = counts, used  # the same deal may be made better
        return found

    def _planned(self) -> tuple[float, Found | None] | None:
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
        cost, lacks = dot(self.costs, found), beyond_rows(program, found)
        if lacks:
            return cost + lacks, None
        placed.sort(key=lambda p: (p.machine_id, p.order, p.unit, p.pieces, p.experiment_id, p.run))
        return cost, (cost, plan_of(program, found, placed))
