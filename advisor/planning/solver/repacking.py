"""Runs that were dealt to machines, packed anew on two machines at a time: of the runs there that
lie close together, and of others that wait, those that save most together, exactly.

One by one (`refilling.py`) runs soon come to where no step gains; a program of two machines sees
all exchanges between them at once. One machine has time for runs if from every release to every due
day those that must lie between take no longer: a row for each such pair of days, added where a
solution breaks it. Two programs are solved at once, on two cores.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from math import comb
from random import Random
from typing import Any, Generic, TypeVar

from advisor.planning.solver.machine_days import MachineDays, UpperRows
from advisor.planning.solver.refilling import CENT, NOWHERE, Key, Place
from advisor.planning.solver.schedule import Job, schedule
from advisor.planning.solver.search_clock import Clock

AT_ONCE = 2
"""Programs, one for each core."""
TOGETHER = 2
"""Machines in each."""
MOST_OFF = 26
MOST_TRIED = 40
"""Runs that are taken off in a program, and that are tried beside them."""
SECONDS = 1.5
NODES = 500
GAP = 2e-4
"""Where a program ends, at the first of these."""
WORTH = 1e-5
"""What a program could gain at most, as a share of what is saved there, to be solved at all."""
IN_VAIN = 60
IN_VAIN_A_PAIR = 8
"""So many programs without a gain, or so many for each pair of machines, are the last."""
ROUNDS_OF_ROWS = 12
P = TypeVar("P", bound=Place)


@dataclass(frozen=True, slots=True)
class _Way:
    """A run on a machine, by its number, and the dollars that are saved by that."""

    key: Key
    number: int
    job: Job
    saved: float


@dataclass(frozen=True, slots=True)
class _Part:
    """What is packed anew: ways of runs, and other runs that stay on the machines."""

    ways: Sequence[_Way]
    stay: Mapping[int, Sequence[Job]]
    saved: float
    """Dollars, as it is."""


class Repacking(Generic[P]):
    """The search; ``places`` are changed as it goes."""

    def __init__(
        self,
        places: Sequence[P],
        ways: Mapping[Key, Sequence[tuple[P, Job, float]]],
        elsewhere: Mapping[Key, float],
        left: Sequence[Key],
    ) -> None:
        """As `Refilling` has them."""
        self._places, self.left = list(places), list(left)
        numbers = {id(place): number for number, place in enumerate(places)}
        saves = {
            key: {numbers[id(place)]: (job, elsewhere[key] - cost) for place, job, cost in every}
            for key, every in ways.items()
        }
        ordinary = [
            most
            for every in saves.values()
            if every and (most := max(saved for _, saved in every.values())) < NOWHERE / 2
        ]
        # A run that can be nowhere else is worth more than all that can, but a solver's numbers
        # must not differ by too much.
        dear = sum(ordinary) + 1.0
        self._ways = {
            key: {
                number: _Way(key, number, job, min(saved, dear))
                for number, (job, saved) in every.items()
            }
            for key, every in saves.items()
        }
        self._random = Random(1)

    def search(self, clock: Clock) -> None:
        """Until nothing is gained for a while, or the time is over."""
        if not self._places or not any(self._ways.values()):
            return
        pairs = comb(len(self._places), TOGETHER)
        vain, most = 0, min(IN_VAIN, max(IN_VAIN_A_PAIR * pairs, 1))
        trying: dict[Future[list[_Way] | None], _Part] = {}
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while vain < most and clock.left > 0:
                while len(trying) < AT_ONCE and (part := self._next(trying.values())) is not None:
                    trying[pool.submit(packed, part, clock)] = part
                done, _ = wait(trying, return_when=FIRST_COMPLETED)
                for each in sorted(done, key=list(trying).index):
                    gained = self._changed(trying.pop(each), each.result())
                    vain = 0 if gained else vain + 1
            for each, part in trying.items():
                self._changed(part, each.result())

    def _next(self, trying: Collection[_Part]) -> _Part | None:
        """One that has no machine and no run in common with those that are being tried."""
        taken = {number for part in trying for number in part.stay}
        free = [number for number in range(len(self._places)) if number not in taken]
        if not free:
            return None
        numbers = self._random.sample(free, min(TOGETHER, len(free)))
        busy = {way.key for part in trying for way in part.ways}
        waiting = [key for key in self.left if key not in busy]
        return self._part(numbers, waiting)

    def _part(self, numbers: Sequence[int], waiting: Sequence[Key]) -> _Part:
        here = [(n, job) for n in numbers for job in self._places[n].jobs]
        tried = [key for key in waiting if any(n in self._ways[key] for n in numbers)]
        if here:
            _, middle = self._random.choice(here)

            def far(job: Job) -> float:
                return abs(job.low - middle.low) + abs(job.due - middle.due)

            here.sort(key=lambda each: far(each[1]))
            tried.sort(key=lambda key: far(next(iter(self._ways[key].values())).job))
        off, stay = here[:MOST_OFF], here[MOST_OFF:]
        now = [self._ways[job.experiment_id, job.run][n] for n, job in off]
        keys = [*(way.key for way in now), *tried[:MOST_TRIED]]
        every = (self._ways[key].get(n) for key in keys for n in numbers)
        return _Part(
            ways=[way for way in every if way is not None],
            stay={n: [job for at, job in stay if at == n] for n in numbers},
            saved=sum(way.saved for way in now),
        )

    def _changed(self, part: _Part, found: Sequence[_Way] | None) -> bool:
        """Whether what was found saves more, and is how it is now."""
        if found is None or sum(way.saved for way in found) <= part.saved + CENT:
            return False
        asked = {way.key for way in part.ways}
        placed = {way.key for way in found}
        for number, stay in part.stay.items():
            on = [way.job for way in found if way.number == number]
            self._places[number].jobs = [*stay, *on]
        self.left = [key for key in self.left if key not in placed]
        waiting = set(self.left)
        self.left += sorted(asked - placed - waiting)
        return True


def packed(part: _Part, clock: Clock) -> list[_Way] | None:
    """The ways that save most together; None where that is no more than it is, or the time is over.

    Each run is on one machine at most, and each machine has time for its runs.
    """
    import numpy as np
    from scipy.optimize import Bounds, milp

    ways = part.ways
    if not ways:
        return None
    cost = np.array([-way.saved for way in ways])
    rows = UpperRows(len(ways))
    by_run: dict[Key, list[int]] = {}
    for at, way in enumerate(ways):
        by_run.setdefault(way.key, []).append(at)
    for every in by_run.values():
        rows.add(np.array(every), np.ones(len(every)), 1.0)
    machines = {}
    for number, stay in part.stay.items():
        own = np.array([at for at, way in enumerate(ways) if way.number == number], dtype=int)
        if len(own):
            machines[number] = own, MachineDays([ways[at].job for at in own], stay)
    known: set[tuple[int, tuple[int, int]]] = set()

    def learn(number: int, pairs: Sequence[tuple[int, int]]) -> bool:
        own, days = machines[number]
        new = [pair for pair in pairs if (number, pair) not in known]
        for pair in new:
            within, taken, most = days.row(pair)
            known.add((number, pair))
            rows.add(own[within], taken, most)
        return bool(new)

    def learnt(x: Any) -> bool:
        return any([learn(n, days.broken(x[own])) for n, (own, days) in machines.items()])

    for number, (_, days) in machines.items():
        learn(number, days.first())
    bounds = Bounds(0, 1)
    least = part.saved + WORTH * abs(part.saved) + CENT
    for _ in range(ROUNDS_OF_ROWS):
        answer = milp(cost, constraints=rows.constraint(), bounds=bounds)
        if answer.x is None or -answer.fun <= least:
            return None
        if not learnt(answer.x):
            break
    limit = clock.within(SECONDS)
    while limit.left > 0:
        answer = milp(
            cost,
            constraints=rows.constraint(),
            bounds=bounds,
            integrality=np.ones(len(ways)),
            options={"time_limit": limit.left, "node_limit": NODES, "mip_rel_gap": GAP},
        )
        if answer.x is None or -answer.fun <= part.saved + CENT:
            return None
        x = np.round(answer.x)
        if not learnt(x):
            found = [ways[at] for at in x.nonzero()[0]]
            return found if _fit(found, part.stay) else None
    return None


def _fit(found: Sequence[_Way], stay: Mapping[int, Sequence[Job]]) -> bool:
    """Also by a calendar: a solver rounds."""
    return all(
        schedule([*jobs, *(way.job for way in found if way.number == number)]) is not None
        for number, jobs in stay.items()
    )
