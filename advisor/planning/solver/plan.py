"""What the solver answers with: what is bought and rented, and when each run is (pure records).

Days count from the first day of the grant; what is paid is whole US cents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

MINUTE = 1 / 1440
"""In days: times are not known nearer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """Machines of one kind, ordered on one day."""

    machine_id: str
    order: int
    """Which of the problem's ``orders``, from 0."""
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """One run on one machine: when, in days. More than one piece where it is paused."""

    experiment_id: str
    run: int
    """From 1."""
    machine_id: str
    """Of the machine or the rental."""
    order: int
    """Which of the problem's ``orders``; -1 for an owned machine; for a rental the year in which it
    starts."""
    unit: int
    """Which of the machines of this purchase, from 1; for a rental which instance at once."""
    pieces: tuple[tuple[float, float], ...]
    rented: bool = False
    """Whether ``machine_id`` is that of a rental."""

    @property
    def place(self) -> tuple[str, str, int]:
        """Its experiment, and where it runs."""
        return self.experiment_id, self.machine_id, self.order


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An answer: what to buy and rent, which runs go where, and how sure the optimum is."""

    purchases: tuple[Purchase, ...]
    placed: tuple[Placed, ...]
    left_out: Mapping[str, int]
    """Runs not done, by experiment; empty where all are."""
    cost_cents: int
    """What is paid: purchases, rent, electricity and overhead."""
    judged_cents: int
    """What the plan was compared by: the cost, less the value that machines keep."""
    value: int
    proven: bool
    gap: float | None
    """How much less the best plan may be judged by, as a share of what this one is, where it was
    not proven. Fixed costs are in both."""
    seconds: float = field(compare=False, default=0.0)
    rounds: int = field(compare=False, default=1)

    @property
    def rented(self) -> Counter[str]:
        """How many runs are on each rented instance, by its id."""
        return Counter(place[1] for place in sorted(p.place for p in self.placed if p.rented))

    @property
    def runs(self) -> int:
        """How many are done."""
        return len(self.placed)

    @property
    def finish_day(self) -> float:
        """When the last run ends."""
        return max((p.pieces[-1][1] for p in self.placed), default=0.0)

    def at_once(self, rental_id: str) -> int:
        """How many of a rented instance run at the same time, at most."""
        return max((p.unit for p in self.placed if p.machine_id == rental_id), default=1)


def by_place(placed: Placed) -> tuple[Any, ...]:
    """A key that puts runs in the order in which a plan lists them."""
    where = placed.machine_id, placed.order, placed.unit, placed.pieces
    return (*where, placed.experiment_id, placed.run)


def last_day(end: float) -> int:
    """The day, counted from the grant's first, in which something is over that ends then: what
    ends at midnight is over on the day before."""
    return max(ceil(end - MINUTE) - 1, 0)


def gap_between(judged: float, least: float) -> float:
    """How much less than ``judged`` the best may be, as a share; both in cents, or both in another
    unit."""
    return max(judged - least, 0.0) / max(abs(judged), 1.0)
