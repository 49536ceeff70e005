"""Runs that were dealt to machines, dealt better: a few that lie close together are taken off,
others that wait are tried in their place, and what is dearer is undone, nearly always.

A large neighbourhood search (Shaw 1998) with simulated annealing (Kirkpatrick et al. 1983); its
choices are drawn from a seeded generator, so that where there is time for all of it the same grant
has the same plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Generic, Protocol, TypeVar

from advisor.planning.solver.schedule import Job
from advisor.planning.solver.search_clock import Clock

STEPS = 16
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
Key = tuple[str, int]
"""An experiment, and the number of a run of it."""


class Place(Protocol):
    """A machine, or a part of one, with runs on it."""

    jobs: list[Job]

    def has_room(self, job: Job) -> bool:
        """For one more."""


P = TypeVar("P", bound=Place)


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
        self._places, self._ways, self._elsewhere = list(places), ways, elsewhere
        self.left = [key for key in left if ways[key]]
        self._hopeless = [key for key in left if not ways[key]]
        self._cost = {key: elsewhere[key] for key in self.left}
        for place in places:
            for job in place.jobs:
                key = (job.experiment_id, job.run)
                self._cost[key] = next(cost for at, _, cost in ways[key] if at is place)
        self._random = Random(1)

    def search(self, clock: Clock) -> None:
        """For so many steps for each run, or until the time is over."""
        saved = sorted(self._elsewhere[key] - self._ways[key][0][2] for key in self.left)
        steps = STEPS * len(self._cost)
        if saved and self._places:
            middle = saved[len(saved) // 2]
            warm = WARM * middle if middle < NOWHERE / 2 else 0.0
            least = total = sum(self._cost.values())
            best = [(place, list(place.jobs)) for place in self._places], list(self.left)
            for step in range(steps):
                if clock.left <= 0:
                    break
                total += self._step(warm * (1 - step / steps) ** 2)
                if total < least - CENT:
                    least = total
                    best = [(place, list(place.jobs)) for place in self._places], list(self.left)
            places, self.left = best
            for place, jobs in places:
                place.jobs = jobs
        self.left += self._hopeless

    def _step(self, worse: float) -> float:
        """What it costs more; at most ``worse``."""
        random = self._random
        number = min(random.randint(1, MOST_PLACES), len(self._places))
        some = random.sample(self._places, number)
        here = [(place, job) for place in some for job in place.jobs]
        if not here:
            return 0.0
        _, middle = random.choice(here)
        here.sort(key=lambda each: abs(each[1].low - middle.low) + abs(each[1].due - middle.due))
        off = here[: random.randint(1, MOST_OFF)]
        tried = random.sample(self.left, min(MOST_TRIED, len(self.left)))
        keys = [*((job.experiment_id, job.run) for _, job in off), *tried]
        before = sum(self._cost[key] for key in keys)
        kept = {id(each): (each, each.jobs) for key in keys for each, _, _ in self._ways[key]}
        for each, jobs in kept.values():
            each.jobs = list(jobs)
        for place, job in off:
            place.jobs.remove(job)
        worth = self._worth()
        after = {key: self._put(key) for key in sorted(keys, key=worth)}
        more = sum(after.values()) - before
        if more > worse * random.random():
            for each, jobs in kept.values():
                each.jobs = jobs
            return 0.0
        self._cost.update(after)
        gone = set(keys)
        self.left = [key for key in self.left if key not in gone]
        self.left += [key for key in keys if after[key] == self._elsewhere[key]]
        return more

    def _worth(self) -> Callable[[Key], float]:
        """First what costs most elsewhere for the days that it takes, with some luck."""
        random = self._random

        def worth(key: Key) -> float:
            _, job, cost = self._ways[key][0]
            saved = self._elsewhere[key] - cost
            return -saved / job.days * random.uniform(1 - NOISE, 1 + NOISE)

        return worth

    def _put(self, key: Key) -> float:
        """On the cheapest place with room; what the run then costs."""
        for place, job, cost in self._ways[key]:
            if place.has_room(job):
                place.jobs.append(job)
                return cost
        return self._elsewhere[key]
