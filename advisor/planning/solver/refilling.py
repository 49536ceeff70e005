"""Runs that were dealt to machines, dealt better: a few that lie close together are taken off,
others that wait are tried in their place, and what is dearer is undone, nearly always.

A large neighbourhood search (Shaw 1998) with simulated annealing (Kirkpatrick et al. 1983); its
choices are drawn from a seeded generator, so that where there is time for all of it the same grant
has the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from random import Random
from typing import Any, Generic, Protocol, TypeVar

from advisor.planning.solver.schedule import Job
from advisor.planning.solver.search_clock import Clock

STEPS = 32
"""For each run."""
MOST_OFF = 24
MOST_TRIED = 16
"""Runs that are taken off in a step, and that are tried beside them."""
MOST_PLACES = 6
"""From so many places: between several, runs also change places."""
NOISE = 0.3
"""By how much, as a share, the order of worth is shaken."""
WARM = 0.1
"""The share of what a run saves by finding a place that a step may lose at first."""
CENT = 0.005
NOWHERE = 1e12
"""Dollars, for a run that can neither be rented nor left out."""
MOST_MOMENTS = 32
"""Releases, and due days, between which a machine's days are counted first."""
SMALL = 1e-7
"""Days."""
Key = tuple[str, int]
"""An experiment, and the number of a run of it."""


class Place(Protocol):
    """A machine, or a part of one, with runs on it."""

    jobs: list[Job]


P = TypeVar("P", bound=Place)


class _Alike(Generic[P]):
    """Places that the same runs can go to, and the days that each has left from every release to
    every due day: one machine has time for runs where none of these is below 0."""

    def __init__(self, places: Sequence[P], jobs: Sequence[Job]) -> None:
        import numpy as np

        self.places = list(places)
        self.on: list[dict[Key, Job]] = [{} for _ in places]
        lows = np.unique([float(job.low) for job in jobs])
        dues = np.unique([float(job.due) for job in jobs])
        few = _some(lows), _some(dues[::-1])[::-1]
        self._left = np.repeat(_lengths(*few)[np.newaxis], len(self.places), axis=0)
        """From and to some of the days, which rule out most places at once ..."""
        self._every: list[Any] = []
        """... and all of them, where they are more."""
        if max(len(lows), len(dues)) > MOST_MOMENTS:
            self._every = [_lengths(lows, dues) for _ in places]
        self._within: dict[Key, tuple[int, int, int, int]] = {}
        ends = [np.array([job.low for job in jobs]), np.array([job.due for job in jobs])]
        found = [
            at.tolist()
            for starts, over in (few, (lows, dues))
            for at in (np.searchsorted(starts, ends[0], "right"), np.searchsorted(over, ends[1]))
        ]
        for job, *within in zip(jobs, *found, strict=True):
            low, due, first, last = within
            self._within[job.experiment_id, job.run] = low, due, first, last

    def room(self, key: Key, job: Job) -> int | None:
        """The number of the first place that has room for one more."""
        low, due, first, last = self._within[key]
        least = self._left[:, :low, due:].min(axis=(1, 2))
        for number in (least >= job.days - SMALL).nonzero()[0].tolist():
            if not self._every or self._every[number][:first, last:].min() >= job.days - SMALL:
                return int(number)
        return None

    def put(self, number: int, key: Key, job: Job) -> None:
        """One more on a place."""
        self.on[number][key] = job
        self._count(number, key, -job.days)

    def take(self, number: int, key: Key) -> None:
        """One less on it."""
        self._count(number, key, self.on[number].pop(key).days)

    def _count(self, number: int, key: Key, days: float) -> None:
        low, due, first, last = self._within[key]
        self._left[number, :low, due:] += days
        if self._every:
            self._every[number][:first, last:] += days


def _lengths(lows: Any, dues: Any) -> Any:
    """Days from each of some to each of others; any number where that is none."""
    length = dues[None, :] - lows[:, None]
    length[length <= 0] = inf
    return length


def _some(days: Any) -> Any:
    """The first of them and others at even steps."""
    step = max(len(days) / MOST_MOMENTS, 1.0)
    return days[[int(n * step) for n in range(min(MOST_MOMENTS, len(days)))]]


_At = tuple[Any, int]
"""One of the places that are alike: them all, and its number."""


class Refilling(Generic[P]):
    """The search; ``places`` are changed as it goes, and are the best that it found after it."""

    def __init__(
        self,
        places: Sequence[P],
        ways: Mapping[Key, Sequence[tuple[P, Job, float]]],
        elsewhere: Mapping[Key, float],
        left: Sequence[Key],
        first: Mapping[Key, P] | None = None,
    ) -> None:
        """``ways`` has for every run the places that could take it, with what it costs there,
        cheapest first; ``elsewhere`` what it costs on none of them; ``left`` are those on none;
        ``first`` is for some of these a place like those that are tried before all others."""
        self._places, self._elsewhere = list(places), elsewhere
        self.left = [key for key in left if ways[key]]
        self._hopeless = [key for key in left if not ways[key]]
        self._cost = {key: elsewhere[key] for key in self.left}
        jobs: dict[int, dict[Key, Job]] = {id(place): {} for place in places}
        for key, every in ways.items():
            for place, job, _ in every:
                jobs[id(place)][key] = job
        alike: dict[tuple[tuple[Key, float, float, float], ...], list[P]] = {}
        for place in places:
            kind = tuple((key, j.low, j.due, j.days) for key, j in jobs[id(place)].items())
            alike.setdefault(kind, []).append(place)
        self._at: list[_At] = []
        where: dict[int, _At] = {}
        for same in alike.values():
            block = _Alike(same, list(jobs[id(same[0])].values()))
            for number, place in enumerate(same):
                where[id(place)] = block, number
                self._at.append((block, number))
        self._ways: dict[Key, list[tuple[_Alike[P], Job, float]]] = {}
        for key, every in ways.items():
            found: dict[int, tuple[_Alike[P], Job, float]] = {}
            for place, job, cost in every:
                block = where[id(place)][0]
                found.setdefault(id(block), (block, job, cost))
            self._ways[key] = list(found.values())
        self._first = {key: where[id(place)][0] for key, place in (first or {}).items()}
        self._here: dict[Key, _At] = {}
        for place in places:
            block, number = where[id(place)]
            for job in place.jobs:
                key = (job.experiment_id, job.run)
                block.put(number, key, job)
                self._here[key] = block, number
                self._cost[key] = next(cost for at, _, cost in self._ways[key] if at is block)
        self._random = Random(1)

    def search(self, clock: Clock, steps: float = STEPS) -> None:
        """For so many steps for each run, or until the time is over."""
        saved = sorted(cost - self._ways[key][0][2] for key, cost in self._elsewhere_of())
        if saved and self._places and clock.left > 0:
            middle = saved[len(saved) // 2]
            warm = WARM * middle if middle < NOWHERE / 2 else 0.0
            self._deal()
            least = total = sum(self._cost.values())
            best = self._now()
            began, taken, done = clock.left, 0, 0.0
            while done < 1:
                total += self._step(warm * (1 - done) ** 2)
                if total < least - CENT:
                    least = total
                    best = self._now()
                taken += 1
                left = clock.left
                # It cools by its steps, or sooner where the time would be over before them.
                done = max(taken / (steps * len(self._cost)), (began - left) / began)
                if left <= 0:
                    break
            dealt, self.left = best
            for (block, number), on in zip(self._at, dealt, strict=True):
                block.places[number].jobs = list(on.values())
        self.left += self._hopeless

    def _elsewhere_of(self) -> list[tuple[Key, float]]:
        return [(key, self._elsewhere[key]) for key in self._cost]

    def _deal(self) -> None:
        """What has no place yet, where there is one."""
        waiting, self.left = sorted(self.left, key=self._worth), []
        for key in waiting:
            if key in self._first:
                only = [way for way in self._ways[key] if way[0] is self._first[key]]
                self._cost[key] = self._put(key, only)
        for key in waiting:
            if key not in self._here:
                self._cost[key] = self._put(key)
            if key not in self._here:
                self.left.append(key)

    def _now(self) -> tuple[list[dict[Key, Job]], list[Key]]:
        return [dict(block.on[number]) for block, number in self._at], list(self.left)

    def _step(self, worse: float) -> float:
        """What it costs more; at most ``worse``."""
        random = self._random
        number = min(random.randint(1, MOST_PLACES), len(self._at))
        some = random.sample(self._at, number)
        here = [(key, job) for block, unit in some for key, job in block.on[unit].items()]
        if not here:
            return 0.0
        _, middle = random.choice(here)
        low, due = middle.low, middle.due
        far = sorted([(abs(job.low - low) + abs(job.due - due), key) for key, job in here])
        off = [key for _, key in far[: random.randint(1, MOST_OFF)]]
        keys = [*off, *random.sample(self.left, min(MOST_TRIED, len(self.left)))]
        before = sum(self._cost[key] for key in keys)
        was = {key: self._take(key) for key in off}
        after = {key: self._put(key) for key in sorted(keys, key=self._worth)}
        more = sum(after.values()) - before
        if more > worse * random.random():
            for key in keys:
                if key in self._here:
                    self._take(key)
            for key, (block, unit, job) in was.items():
                block.put(unit, key, job)
                self._here[key] = block, unit
            return 0.0
        self._cost.update(after)
        gone = set(keys)
        self.left = [key for key in self.left if key not in gone]
        self.left += [key for key in keys if key not in self._here]
        return more

    def _worth(self, key: Key) -> float:
        """First what costs most elsewhere for the days that it takes, with some luck."""
        _, job, cost = self._ways[key][0]
        saved = self._elsewhere[key] - cost
        return -saved / job.days * self._random.uniform(1 - NOISE, 1 + NOISE)

    def _take(self, key: Key) -> tuple[_Alike[P], int, Job]:
        block, number = self._here.pop(key)
        job = block.on[number][key]
        block.take(number, key)
        return block, number, job

    def _put(self, key: Key, only: Sequence[tuple[_Alike[P], Job, float]] | None = None) -> float:
        """On the cheapest place with room; what the run then costs."""
        for block, job, cost in self._ways[key] if only is None else only:
            number = block.room(key, job)
            if number is not None:
                block.put(number, key, job)
                self._here[key] = block, number
                return cost
        return self._elsewhere[key]
