"""Which parts machines are divided into, and how many of them there are: settled by dealing the
runs to each likely choice for a moment, and to the best of them for longer.

A program that counts days alone prefers many small parts, which lose less to the network; but a
long run leaves more of a small part idle before each deadline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

from advisor.planning.solver.filling import Deal, dealing, numbers_of
from advisor.planning.solver.first_plans import Found, same_columns
from advisor.planning.solver.milp import Program
from advisor.planning.solver.search_clock import Clock

FEW_STEPS = 3
"""For each run, to compare one choice with another."""
ROUNDS = ((4, 8), (2, 16))
"""Of the best choices, how many are dealt again, with how many steps for each run; runs of the best
are then packed anew."""
ROUNDS_TIME = 0.4
NUMBERS_TIME = 0.3
TRYING = 0.6
TRYING_NEAR = 0.2
"""Shares of the time that is left; the second where the first choice is a good one already, so that
runs are dealt to it for longer."""
RUNS_GAP = 0.002
LESS = 0.005
"""Dollars."""
Numbers = dict[int, float]
"""How many machines and parts of machines there are, by column."""
NamedNumbers = dict[tuple[str, int, bool], float]
"""The same by machine and order, and by whether machines that have parts are used whole."""


def named_numbers(program: Program, x: Sequence[float]) -> NamedNumbers:
    """What a solution has of them."""
    numbers = numbers_of(program, x)
    return {name: numbers[column] for name, column in _columns(program)}


def _columns(program: Program) -> Iterator[tuple[tuple[str, int, bool], int]]:
    for used_whole, columns in ((False, program.count), (True, program.wholes)):
        for (machine_id, order), column in columns.items():
            yield (machine_id, order, used_whole), column


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
        problem = program.problem
        kinds = {machine_id for machine_id, _ in keys}
        kinds |= {m.machine_id for m in problem.machines if m.owned or m.upgrade_of is not None}
        machines = tuple(m for m in problem.machines if (m.part_of or m.machine_id) in kinds)
        self.program = Program(replace(problem, machines=machines))
        same = dict(same_columns(self.program, program))
        columns = range(len(self.program.cost))
        self.costs = [costs[same[column]] if column in same else 0.0 for column in columns]
        self._hear = hear
        self.best: Found | None = None
        self._ranked: list[tuple[float, Any, Deal]] = []
        """Costs of choices that were tried, the columns of runs on parts of machines, and how they
        were dealt."""

    def search(self, clock: Clock, first: NamedNumbers | None = None) -> Found | None:
        """The best plan until the time is over; ``first`` is the choice to begin with."""
        program = self.program
        limit = clock.left * NUMBERS_TIME
        answer: Any = None
        if first is not None:
            fixed = {column: first.get(name, 0.0) for name, column in _columns(program)}
            answer = program.solve(self.costs, limit, whole=(), fixed=fixed)
        if answer is None or answer.x is None:
            answer = program.solve(self.costs, limit, gap=RUNS_GAP, whole=program.numbers)
        if answer.x is None:
            return None
        trying = clock.within(clock.left * (TRYING if first is None else TRYING_NEAR))
        here = numbers_of(program, answer.x)
        cost = self._tried(answer.x, clock)
        seen = [here]
        while True:
            nearby = (each for each in self._nearby(here) if each not in seen)
            other = None if trying.left <= 0 else next(nearby, None)
            if other is None:
                break
            seen.append(other)
            answer = program.solve(self.costs, trying.left, whole=(), fixed=other)
            if answer.x is None or (self.best is not None and answer.fun >= self.best[0]):
                continue
            found = self._tried(answer.x, trying)
            if found is not None and (cost is None or found < cost - LESS):
                here, cost = other, found
        dealt = clock.within(clock.left * ROUNDS_TIME)
        for most, steps in ROUNDS:
            ranked = self._best(most)
            self._ranked = []
            for left, (_, x, _) in zip(range(len(ranked), 0, -1), ranked, strict=True):
                self._tried(x, dealt.within(dealt.left / left), steps)
        for *_, deal in self._best(1):
            deal.repack(clock)
            self._keep(deal.plan())
        return self.best

    def _best(self, most: int) -> list[tuple[float, Any, Deal]]:
        return sorted(self._ranked, key=lambda each: each[0])[:most]

    def _tried(self, x: Any, clock: Clock, steps: int = FEW_STEPS) -> float | None:
        deal = dealing(self.program, self.costs, x)
        if deal is None:
            return None
        deal.refill(clock, steps)
        found = deal.plan()
        self._keep(found)
        if found is None:
            return None
        self._ranked.append((found[0], x, deal))
        return found[0]

    def _keep(self, found: Found | None) -> None:
        if found is not None and (self.best is None or found[0] < self.best[0] - LESS):
            self.best = found
            self._hear(found)

    def _nearby(self, numbers: Numbers) -> Iterator[Numbers]:
        """Two parts as one, one as two, then a machine less or more of a kind."""
        program = self.program
        every: dict[tuple[str, int], dict[int, int]] = {}
        """Columns by how many GPUs they count, of each group of whole machines."""
        for group in program.groups:
            if group.key in program.count:
                whole = group.machine.part_of or group.machine.machine_id
                column = program.wholes.get(group.key, program.count[group.key])
                every.setdefault((whole, group.order), {})[group.machine.gpu_count] = column
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
