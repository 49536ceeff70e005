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
    """A lower bound on every plan, fixed costs included."""
    settled: bool = False
    """The plan is what will be answered; what would change it is being tried."""


@dataclass(slots=True, kw_only=True)
class Clock:
    """When a search must end: at a moment of `monotonic`, or when it is stopped."""

    end: float
    stop: Event | None = None
    on_progress: Callable[[Progress], None] | None = None

    @property
    def left(self) -> float:
        """Seconds."""
        return 0.0 if self.stop is not None and self.stop.is_set() else self.end - monotonic()

    def within(self, seconds: float) -> Clock:
        """This clock, ending at the latest after these seconds."""
        return replace(self, end=min(self.end, monotonic() + seconds))

    def quiet(self) -> Clock:
        """This clock, without progress reports."""
        return replace(self, on_progress=None)

    def with_plans_as(self, as_heard: Callable[[Plan], Plan]) -> Clock:
        """This clock, with plans converted before they are reported."""
        on_progress = self.on_progress
        if on_progress is None:
            return self

        def turned(said: Progress) -> None:
            plan = None if said.plan is None else as_heard(said.plan)
            on_progress(replace(said, plan=plan))

        return replace(self, on_progress=turned)

    def tell(
        self, trying: str, *, plan: Plan | None = None, bound_usd: float | None = None
    ) -> None:
        """Report progress, where it is listened to."""
        if self.on_progress is not None:
            self.on_progress(Progress(trying=trying, plan=plan, bound_usd=bound_usd))


def clock_of(seconds: float, on_progress: Callable[[Progress], None] | None = None) -> Clock:
    """A clock that ends after these seconds."""
    return Clock(end=monotonic() + seconds, on_progress=on_progress)
