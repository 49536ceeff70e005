"""The same problem solved again with something changed, several changes at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from advisor.planning.sensitivity.changes import Change, vary
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime
from advisor.planning.solver.solve import cheapest_with_runs, solve

T = TypeVar("T")
R = TypeVar("R")
MOST_WORKERS = 8


def decision(plan: Plan) -> tuple[Any, ...]:
    """What a plan decides: what is bought and, where nothing is, what is rented."""
    bought = tuple(sorted((p.machine_id, p.count) for p in plan.purchases))
    rented = tuple(sorted(plan.rented))
    return bought or rented


@dataclass(slots=True)
class Trials:
    """What would be if."""

    problem: PlanningProblem
    plan: Plan
    clock: Clock
    known: tuple[Plan, ...]
    """Plans that make other searches short. The plan itself comes first, so that it stays where
    another is no better."""
    say: Callable[[str], None]

    def learn(self, plans: Iterable[Plan | None]) -> None:
        """These are known from now on."""
        every = (*self.known, *filter(None, plans))
        places = {(p.purchases, tuple(sorted(run.place for run in p.placed))): p for p in every}
        self.known = tuple(places.values())

    def solve(self, change: Change, *, sure: bool = True) -> Plan | None:
        """The best plan with this changed, None where there is none. Raises OutOfTime, also where
        it is not ``sure`` to be the best."""
        problem, clock = vary(self.problem, change), self.clock.quiet()
        try:
            # The value to reach is fixed with it, and what is left to save is money.
            if "min_runs" in change:
                plan = cheapest_with_runs(problem, known=self.known, clock=clock)
            else:
                plan = solve(problem, known=self.known, clock=clock, settle=False)
        except NoPlan:
            return None
        if sure and not plan.proven:
            raise OutOfTime
        return replace(plan, seconds=0.0)

    def each(self, do: Callable[[T], R], items: Sequence[T], words: str) -> list[R | None]:
        """``do`` for every item, in their order; None for those that time ran out for."""

        def one(item: T) -> R | None:
            try:
                return do(item) if self.clock.left > 0 else None
            except OutOfTime:
                return None

        found: list[R | None] = []
        # The solver lets other threads run while it works.
        with ThreadPoolExecutor(max(min(os.cpu_count() or 1, MOST_WORKERS), 1)) as pool:
            for number, answer in enumerate(pool.map(one, items), start=1):
                self.say(f"{words}: {number} of {len(items)}")
                found.append(answer)
        return found

    def every(self, do: Callable[[T], R | None], items: Sequence[T], words: str) -> list[R]:
        """The answers that there are, of `each`."""
        return [answer for answer in self.each(do, items, words) if answer is not None]
