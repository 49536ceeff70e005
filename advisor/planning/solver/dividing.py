"""Which parts machines are divided into, and how many of them there are: settled by dealing the
runs to each likely choice for a moment, and to the best of them for longer.

A program that counts days alone prefers many small parts, which lose less to the network; but a
long run leaves more of a small part idle before each deadline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import inf
from typing import Any

from advisor.planning.solver.filling import Deal, dealing, numbers_of
from advisor.planning.solver.first_plans import Found, bought_from, dot, same_columns
from advisor.planning.solver.milp import Program
from advisor.planning.solver.search_clock import Clock

FIRST_STEPS = 0.1
"""For each run, so that there is a plan soon ..."""
FEW_STEPS = 3
"""... and to compare one choice with another."""
ROUNDS = ((3, 8, 0.5), (1, 48, 1.0))
"""Of the cheapest choices and those that promise most, how many are dealt again, with how many
steps for each run, in this share of the time for it that is left; runs of the best are then packed
anew."""
ROUNDS_CHOSEN = ((3, 8, 0.2), (1, 128, 1.0))
"""The same where the first choice is known to be the best with runs in parts."""
ROUNDS_TIME = 0.6
ROUNDS_TIME_CHOSEN = 0.8
NUMBERS_TIME = 0.3
TRYING = 0.6
TRYING_NEAR = 0.35
TRYING_CHOSEN = 0.15
"""Shares of the time that is left; the others where the first choice is a good one already, or the
best with runs in parts, so that runs are dealt to it for longer."""
STILL_FOUND = 0.5
"""Of what a choice is dearer than its runs would be in parts, the share that dealing for longer
saves, about: small parts are hard to fill at first, and cheaper than large ones in the end."""
RUNS_GAP = 0.002
NEAR_ORDERS = 2
"""So many orders sooner or later a machine of a choice may be bought instead."""
LESS = 0.005
"""Dollars."""
Numbers = dict[int, float]
"""How many machines and parts of machines there are, by column."""
NamedNumbers = dict[tuple[str, int, bool], float]
"""The same by machine and order, and by whether machines that have parts are used whole."""


def _is_near(group: tuple[str, int], keys: Collection[tuple[str, int]]) -> bool:
    """Whether a group is one of these, or the same machine ordered a little sooner or later."""
    machine_id, order = group
    return any(each == machine_id and abs(order - at) <= NEAR_ORDERS for each, at in keys)


def named_numbers(program: Program, x: Sequence[float]) -> NamedNumbers:
    """What a solution has of them."""
    numbers = numbers_of(program, x)
    return {name: numbers[column] for name, column in number_columns(program)}


def number_columns(program: Program) -> Iterator[tuple[tuple[str, int, bool], int]]:
    for used_whole, columns in ((False, program.count), (True, program.wholes)):
        for (machine_id, order), column in columns.items():
            yield (machine_id, order, used_whole), column


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Tried:
    """A choice to which the runs were dealt."""

    x: Any
    """The columns, of runs in parts where these are cheapest."""
    deal: Deal
    cost: float
    hoped: float
    """What it would cost, about, if runs were dealt for long."""


class Divided:
    """Plans that buy from a few groups alone."""

    def __init__(
        self,
        program: Program,
        costs: Sequence[float],
        keys: Collection[tuple[str, int]],
        hear: Callable[[Found], None] = lambda _: None,
    ) -> None:
        """``hear`` is told of every plan that is better than those before."""
        near = [key for key in set(program.block.values()) if _is_near(key, keys)]
        self.program = Program(bought_from(program.problem, near))
        same = dict(same_columns(self.program, program))
        columns = range(len(self.program.cost))
        self.costs = [costs[same[column]] if column in same else 0.0 for column in columns]
        self._hear = hear
        self.best: Found | None = None
        self._tries: list[_Tried] = []

    def soon(self, clock: Clock, first: NamedNumbers) -> None:
        """Some plan with a choice."""
        answer = self.fixed(first, clock.left)
        deal = None if answer.x is None else dealing(self.program, self.costs, answer.x)
        if deal is not None:
            deal.refill(clock, FIRST_STEPS)
            self._keep(deal)

    def search(
        self, clock: Clock, first: Sequence[NamedNumbers] = (), *, chosen: bool = False
    ) -> Found | None:
        """The best plan until the time is over; ``first`` are the choices to begin with, ``chosen``
        where one of them is the cheapest with runs in parts."""
        program = self.program
        limit = clock.left * NUMBERS_TIME
        answers = [answer for each in first if (answer := self.fixed(each, limit)).x is not None]
        if not answers:
            answer = program.solve(self.costs, limit, gap=RUNS_GAP, whole=program.numbers)
            if answer.x is None:
                return None
            answers = [answer]
        near = TRYING_CHOSEN if chosen else TRYING_NEAR
        trying = clock.within(clock.left * (TRYING if not first else near))
        hoped, here = inf, numbers_of(program, answers[0].x)
        seen: list[Numbers] = []
        for answer in answers:
            numbers = numbers_of(program, answer.x)
            if numbers in seen:
                continue
            seen.append(numbers)
            tried = self._tried(answer.x, clock)
            if tried is not None and tried < hoped:
                hoped, here = tried, numbers
        waiting = self._beside(here, seen, trying)
        while waiting and trying.left > 0:
            # First what would be cheapest if runs could be in parts: it is sooner known.
            other = waiting.pop(min(range(len(waiting)), key=lambda n: float(waiting[n].fun)))
            before = self._least
            if other.fun >= before:
                break
            tried = self._tried(other.x, trying)
            if tried is not None and (tried < hoped - LESS or self._least < before):
                hoped = min(tried, hoped)
                waiting += self._beside(numbers_of(program, other.x), seen, trying)
        dealt = clock.within(clock.left * (ROUNDS_TIME_CHOSEN if chosen else ROUNDS_TIME))
        # Without time to deal again a choice keeps what it has: a deal of a moment ranks nothing.
        every, latest = self._tries, self._tries
        for most, steps, share in ROUNDS_CHOSEN if chosen else ROUNDS:
            cheapest = sorted(latest, key=lambda each: each.cost)[: most // 2]
            promising = sorted(latest, key=lambda each: each.hoped)
            ranked = [*cheapest, *(each for each in promising if each not in cheapest)][:most]
            again = dealt.within(dealt.left * share)
            self._tries = []
            for left, each in zip(range(len(ranked), 0, -1), ranked, strict=True):
                if again.left > 0:
                    self._tried(each.x, again.within(again.left / left), steps)
            every = [*every, *self._tries]
            latest = self._tries or latest
        best = min(every, key=lambda each: each.cost, default=None)
        if best is not None:
            best.deal.repack(clock)
            self._keep(best.deal)
        return self.best

    def fixed(self, numbers: NamedNumbers, seconds: float) -> Any:
        """The answer for a choice, with runs in parts."""
        fixed = {column: numbers.get(name, 0.0) for name, column in number_columns(self.program)}
        return self.program.solve(self.costs, seconds, whole=(), fixed=fixed)

    @property
    def _least(self) -> float:
        return inf if self.best is None else self.best[0]

    def _beside(self, here: Numbers, seen: list[Numbers], clock: Clock) -> list[Any]:
        """The answers for the choices that are a step away and were not seen yet."""
        found = []
        for other in self._nearby(here):
            if clock.left <= 0:
                break
            if other in seen:
                continue
            seen.append(other)
            answer = self.program.solve(self.costs, clock.left, whole=(), fixed=other)
            if answer.x is not None:
                found.append(answer)
        return found

    def _tried(self, x: Any, clock: Clock, steps: int = FEW_STEPS) -> float | None:
        """What it would cost, about, if runs were dealt to this choice for long."""
        deal = dealing(self.program, self.costs, x)
        if deal is None:
            return None
        deal.refill(clock, steps)
        cost = self._keep(deal)
        if cost is None:
            return None
        hoped = cost - STILL_FOUND * max(cost - dot(self.costs, x), 0.0)
        self._tries.append(_Tried(x=x, deal=deal, cost=cost, hoped=hoped))
        return hoped

    def _keep(self, deal: Deal) -> float | None:
        """What a deal costs; its plan is kept where there is one and it is the best. One that lacks
        money is dealt on: it may be found cheaper, or in another year."""
        found = deal.plan()
        if found is None:
            return None
        cost, plan = found
        if plan is not None and cost < self._least - LESS:
            self.best = plan
            self._hear(plan)
        return cost

    def _nearby(self, numbers: Numbers) -> Iterator[Numbers]:
        """GPUs that no part has used too, two parts as one, one as two, then a machine less or
        more of a kind."""
        program = self.program
        every: dict[tuple[str, int], dict[int, int]] = {}
        """Columns by how many GPUs they count, of each group of whole machines."""
        sizes = {m.machine_id: m.gpu_count for m in program.problem.machines}
        for group in program.groups:
            if group.key in program.count:
                whole = group.machine.part_of or group.machine.machine_id
                column = program.wholes.get(group.key, program.count[group.key])
                every.setdefault((whole, group.order), {})[group.machine.gpu_count] = column
        for key, columns in every.items():
            machines = program.count[key]
            parts = {gpus: column for gpus, column in columns.items() if column != machines}
            taken = sum(gpus * numbers[column] for gpus, column in parts.items())
            free = sizes[key[0]] * numbers[machines] - taken
            for gpus in sorted(parts, reverse=True):
                if gpus <= free:
                    yield from _stepped(numbers, Counter({parts[gpus]: 1}))
                for few in sorted(parts):
                    if 0 < gpus - few <= free:
                        yield from _stepped(numbers, Counter({parts[gpus]: 1, parts[few]: -1}))
        for columns in every.values():
            for few, more in combinations_with_replacement(sorted(columns), 2):
                if few + more in columns:
                    step = Counter({columns[few]: -1})
                    step[columns[more]] -= 1
                    step[columns[few + more]] += 1
                    yield from _stepped(numbers, step)
        for columns in every.values():
            for few, more in combinations_with_replacement(sorted(columns), 2):
                if few + more in columns:
                    step = Counter({columns[few]: 1})
                    step[columns[more]] += 1
                    step[columns[few + more]] -= 1
                    yield from _stepped(numbers, step)
        for key in sorted(set(program.block.values())):
            columns, count = every.get(key, {}), program.count[key]
            if not columns:
                continue
            used = program.wholes.get(key)
            for each in (-1, 1):
                step = Counter({count: each})
                if used is not None:
                    step[used] = each
                yield from _stepped(numbers, step)


def _stepped(numbers: Numbers, step: Counter[int]) -> Iterator[Numbers]:
    """These numbers changed, where none is then less than nothing."""
    if all(numbers[column] + more >= 0 for column, more in step.items()):
        yield {**numbers, **{column: numbers[column] + more for column, more in step.items()}}
