"""When a search must end, and how it reports its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event
from time import monotonic

from advisor.planning.solver.plan import Plan


class NoPlan(Exception):
    """No plan meets every constraint."""


class OutOfTime(Exception):
    """No plan was found in the time given; whether there is one is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a search has come."""

    trying: str
    """What is being tried, in words."""
    plan: Plan | None = None
    """The best plan until now."""
    bound_usd: float | None = None
    """No plan is judged cheaper than this, with what is paid whatever is bought."""
    settled: bool = False
    """The plan is what will be answered; what would change it is being tried."""
    told_too: bool = False
    """Nothing on sale does the work: machines that others only tell of are planned with too."""
    named_first: bool = False
    """What sellers name a price for is planned with, not the same at a sum that nobody quoted."""


@dataclass(slots=True, kw_only=True)
class Clock:
    """When a search must end: at a moment of `monotonic`, or when somebody says so."""

    end: float
    stop: Event | None = None
    hear: Callable[[Progress], None] | None = None

    @property
    def left(self) -> float:
        """Seconds."""
        return 0.0 if self.stop is not None and self.stop.is_set() else self.end - monotonic()

    def within(self, seconds: float) -> Clock:
        """This one, and at most so long from now."""
        return replace(self, end=min(self.end, monotonic() + seconds))

    def quiet(self) -> Clock:
        """This one, without anybody who hears."""
        return replace(self, hear=None)

    def hearing(self, as_heard: Callable[[Plan], Plan]) -> Clock:
        """This one, whose plans are turned into others before they are heard of."""
        hear = self.hear
        if hear is None:
            return self

        def turned(said: Progress) -> None:
            plan = None if said.plan is None else as_heard(said.plan)
            hear(replace(said, plan=plan))

        return replace(self, hear=turned)

    def tell(
        self, trying: str, *, plan: Plan | None = None, bound_usd: float | None = None
    ) -> None:
        """Say how far it has come, to whoever wants to hear."""
        if self.hear is not None:
            self.hear(Progress(trying=trying, plan=plan, bound_usd=bound_usd))


def clock_of(seconds: float, hear: Callable[[Progress], None] | None = None) -> Clock:
    """A clock that ends so many seconds from now."""
    return Clock(end=monotonic() + seconds, hear=hear)
