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

STEPS = 24
"""For each run."""
MOST_OFF = 16
MOST_TRIED = 10
"""Runs that are taken off in a step, and that are tried beside them."""
MOST_PLACES = 6
"""From so many places: between several, runs also change places."""
NOISE = 0.5
"""By how much, as a share, the order of worth is shaken."""
WARM = 0.3
"""The share of what a run saves by finding a place that a step may lose at first."""
CENT = 0.005
NOWHERE = 1e12
"""Dollars, for a run that can neither be rented nor left out."""
MOST_MOMENTS = 40
"""Releases, and due days, between which a machine's days are counted; where there are more, what
seems to have room is looked at run by run."""
SMALL = 1e-7
"""Days."""
Key = tuple[str, int]
"""An experiment, and the number of a run of it."""


class Place(Protocol):
    """A machine, or a part of one, with runs on it."""

    jobs: list[Job]

    def has_room(self, job: Job) -> bool:
        """For one more."""


P = TypeVar("P", bound=Place)


class _Alike(Generic[P]):
    """Places that the same runs can go to, and the days that each has left from every release to
    every due day: one machine has time for runs where none of these is below 0."""

    def __init__(self, places: Sequence[P], jobs: Sequence[Job]) -> None:
        import numpy as np

        self.places = list(places)
        self.on: list[dict[Key, Job]] = [{} for _ in places]
        lows, dues = sorted({job.low for job in jobs}), sorted({job.due for job in jobs})
        self.exact = max(len(lows), len(dues)) <= MOST_MOMENTS
        self._lows = np.array(_some(lows), dtype=float)
        self._dues = np.array(_some(dues[::-1])[::-1], dtype=float)
        length = self._dues[np.newaxis, :] - self._lows[:, np.newaxis]
        length[length <= 0] = inf
        self.left = np.repeat(length[np.newaxis], len(self.places), axis=0)
        self._within: dict[Key, tuple[int, int]] = {}
        for job in jobs:
            low = int(np.searchsorted(self._lows, job.low, side="right"))
            due = int(np.searchsorted(self._dues, job.due, side="left"))
            self._within[job.experiment_id, job.run] = low, due

    def room(self, key: Key, job: Job) -> int | None:
        """The number of the first place that has room for one more."""
        low, due = self._within[key]
        least = self.left[:, :low, due:].min(axis=(1, 2))
        for number in (least >= job.days - SMALL).nonzero()[0]:
            if not self.exact:
                place = self.places[number]
                place.jobs = list(self.on[number].values())
                if not place.has_room(job):
                    continue
            return int(number)
        return None

    def put(self, number: int, key: Key, job: Job) -> None:
        """One more on a place."""
        low, due = self._within[key]
        self.left[number, :low, due:] -= job.days
        self.on[number][key] = job

    def take(self, number: int, key: Key) -> None:
        """One less on it."""
        low, due = self._within[key]
        self.left[number, :low, due:] += self.on[number].pop(key).days


def _some(days: Sequence[float]) -> list[float]:
    """The first of them and others at even steps."""
    step = max(len(days) / MOST_MOMENTS, 1.0)
    return [days[int(n * step)] for n in range(min(MOST_MOMENTS, len(days)))]


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
    ) -> None:
        """``ways`` has for every run the places that could take it, with what it costs there,
        cheapest first; ``elsewhere`` what it costs on none of them; ``left`` are those on none."""
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
        self._here: dict[Key, _At] = {}
        for place in places:
            block, number = where[id(place)]
            for job in place.jobs:
                key = (job.experiment_id, job.run)
                block.put(number, key, job)
                self._here[key] = block, number
                self._cost[key] = next(cost for at, _, cost in self._ways[key] if at is block)
        self._random = Random(1)
        self._steps = 0

    def search(self, clock: Clock) -> None:
        """For so many steps for each run, or until the time is over."""
        saved = sorted(self._elsewhere[key] - self._ways[key][0][2] for key in self.left)
        steps = STEPS * len(self._cost)
        if saved and self._places:
            middle = saved[len(saved) // 2]
            warm = WARM * middle if middle < NOWHERE / 2 else 0.0
            least = total = sum(self._cost.values())
            best = self._now()
            began = clock.left
            done = 0.0
            while done < 1:
                left = clock.left
                if left <= 0:
                    break
                total += self._step(warm * (1 - done) ** 2)
                # It cools by its steps, or sooner where the time would be over before them.
                self._steps += 1
                done = max(self._steps / steps, (began - left) / began)
                if total < least - CENT:
                    least = total
                    best = self._now()
            dealt, self.left = best
            for (block, number), on in zip(self._at, dealt, strict=True):
                block.places[number].jobs = list(on.values())
        self.left += self._hopeless

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
        here.sort(key=lambda each: abs(each[1].low - low) + abs(each[1].due - due))
        off = [key for key, _ in here[: random.randint(1, MOST_OFF)]]
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

    def _put(self, key: Key) -> float:
        """On the cheapest place with room; what the run then costs."""
        for block, job, cost in self._ways[key]:
            number = block.room(key, job)
            if number is not None:
                block.put(number, key, job)
                self._here[key] = block, number
                return cost
        return self._elsewhere[key]
