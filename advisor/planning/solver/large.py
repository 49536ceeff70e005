"""A good plan for a large program, and how good no plan can be.

What makes a program hard is how many machines are bought: a whole one costs much, a run little.
So only these are whole at first (a mixed relaxation: its answer is a bound, and found soon); then
runs are dealt to the machines that it buys. Rows of `packing_rows.py` are learnt at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import takewhile
from math import inf
from typing import Any

from advisor.planning.solver.assemble import place, plan_of
from advisor.planning.solver.dividing import Divided, named_numbers
from advisor.planning.solver.first_plans import (
    INFEASIBLE,
    LARGE,
    Found,
    dot,
    packed_plan,
    rented_rest,
    values_of,
)
from advisor.planning.solver.machine_choices import Choices
from advisor.planning.solver.milp import Cut, Program
from advisor.planning.solver.one_by_one import dealt_one_by_one
from advisor.planning.solver.packing_rows import PackingRow, broken_rows
from advisor.planning.solver.problem import EPSILON
from advisor.planning.solver.relaxation import Relaxation
from advisor.planning.solver.search_clock import Clock, NoPlan
from advisor.planning.solver.widened import widened

HUGE = 5000
"""Columns: with more, not even parts of machines and runs are planned at once in time."""
ROOT_ROUNDS = 8
ENOUGH = 2e-4
"""Rows that raise the relaxation by less than this share are the last that are looked for."""
NEARBY = 0.06
"""Where windows are widened, what is dearer than the best by more than this share is left out."""
FAR = 0.2
"""A first plan further from the bound than this share is not worth beginning with."""
MACHINES_GAP = 0.002
RUNS_GAP = 0.002
ROUNDS = 4
DEALS = 3
HALF = 0.5
FIRST_MACHINES = ((HALF, 0.1), (EPSILON, 0.5))
"""Of how much of a machine the relaxation has at least where it is bought from at first, and the
share of the time that is left; the second where the first leads to no plan."""
STRENGTHENING = 0.15
WIDE_TIME = 0.4
WIDE_PARTS_TIME = 0.2
WIDE_MOMENTS = 4
"""Windows are widened where so many releases, and due days, would leave far fewer of them ..."""
WIDEST_MOMENTS = 1
"""... and to this many, which says nearly as much about machines within a second."""
CHOOSING_TIME = 0.3
NEAR_ENOUGH = 0.01
"""A plan within this share of its bound is not waited for any longer."""
FILLING_TIME = 0.6
FILLING_HUGE = 0.97
MACHINES_TIME = 0.4
FILLING_BOUGHT = 0.8
DEALING = 0.7
"""Shares of the time that is left."""


@dataclass(slots=True)
class Learnt:
    """What holds for every plan, found on the way."""

    rows: list[PackingRow] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)

    def program(self, like: Program) -> Program:
        """The program with it."""
        return Program(like.problem, self.cuts, self.rows)

    def look(self, program: Program, x: Sequence[float], clock: Clock | None = None) -> bool:
        """Whether a solution breaks rows, which are then kept and added: those that are found
        while there is time."""
        every = broken_rows(program.rooms, x)
        found = list(every if clock is None else takewhile(lambda _: clock.left > 0, every))
        self.rows += found
        if found:
            program.learn(found)
        return bool(found)


def strengthened(
    program: Program, costs: Sequence[float], learnt: Learnt, clock: Clock, share: float = 1.0
) -> Relaxation:
    """The relaxation with the rows that its own solutions break, looked for in this share of the
    time that is left. Raises NoPlan."""
    relaxation = Relaxation(program, costs, clock)
    looking = clock.within(clock.left * share)
    before: float | None = None
    for _ in range(ROOT_ROUNDS):
        answer = relaxation.solve()
        if answer.status == INFEASIBLE:
            raise NoPlan
        if answer.x is None or looking.left <= 0:
            break
        if before is not None and answer.fun - before <= ENOUGH * max(abs(before), 1.0):
            break
        before = answer.fun
        if not learnt.look(program, answer.x, looking):
            break
        relaxation = Relaxation(program, costs, clock)
    return relaxation


def large_plan(
    program: Program, costs: Sequence[float], clock: Clock, learnt: Learnt
) -> tuple[Found | None, float | None]:
    """A good plan, and what no plan is below by the goal. Raises NoPlan."""
    clock.tell("nothing bought")
    best = packed_plan(program, costs, (), clock)
    if best is not None and not any(costs):
        return best, best[0]  # any plan will do
    bound: float | None = None
    money = list(costs) == program.judged
    few = _widened(program) if money else None
    choices: Choices | None = None

    def tell(trying: str) -> None:
        known = bound if choices is None else max(choices.bound, -inf if bound is None else bound)
        clock.tell(
            trying,
            plan=None if best is None else best[1],
            # Else it is no amount of dollars.
            bound_usd=known + program.fixed_usd if money and known is not None else None,
        )

    def better(found: Found) -> None:
        nonlocal best
        if best is None or found[0] < best[0]:
            best = found
            tell("which runs go on which machine")

    if few is not None:
        tell("what it costs where deadlines are wider")
        wide = few.solve(few.judged, clock.left * WIDE_TIME, gap=MACHINES_GAP, whole=few.machines)
        if wide.status == INFEASIBLE:
            raise NoPlan
        bound = None if wide.mip_dual_bound is None else float(wide.mip_dual_bound)
        if wide.x is not None:
            tell("which parts machines are divided into then")
            x, most = with_parts(few, wide, clock.within(clock.left * WIDE_PARTS_TIME))
            bound = max(most, -inf if bound is None else bound)
            tell("which runs go on the machines that suffice then")
            begin = [named_numbers(few, x)]
            if not program.days:
                Divided(program, costs, bought_groups(few, x), better).soon(clock, begin[0])
            if _near(best, bound):
                return best, bound
            # Of a choice it is known what all runs cost, and no fewer.
            if program.problem.objective != "most-runs":
                # A huge program has no other step that needs time.
                share = FILLING_HUGE if len(program.cost) > HUGE else FILLING_TIME
                filling = clock.within(clock.left * share)
                tell("which machines can be in a cheaper plan")
                choices = Choices(program, few, inf if best is None else best[0], filling)
                known = choices

                def enough() -> bool:
                    near = NEAR_ENOUGH if over else RUNS_GAP
                    return best is not None and best[0] - known.bound <= near * abs(best[0])

                over = False
                choices.search(filling.within(filling.left * CHOOSING_TIME), known.is_chosen)
                keys = bought_groups(few, x)
                if choices.best is not None:
                    begin.append(choices.best)
                    every = set(program.block.values())
                    keys |= {key for key in every if choices.best.get((*key, False))}
                if not program.days:
                    tell("which runs go on them")
                    divided = Divided(program, costs, keys, better)
                    # What no plan is below is found out beside, on another core.
                    with ThreadPoolExecutor(1) as pool:
                        bounding = pool.submit(choices.search, filling, enough)
                        divided.search(filling, begin, chosen=known.is_chosen())
                        over = True
                        bounding.result()
                bound = max(bound, choices.bound)
        if _near(best, bound) or (best is not None and len(program.cost) > HUGE):
            return best, bound
    tell("what runs cost on parts of machines")
    relaxation = strengthened(program, costs, learnt, clock, STRENGTHENING)
    answer = relaxation.solve()
    if answer.x is not None:
        bound = max(float(answer.fun), -inf if bound is None else bound)
    if answer.x is not None and (best is None or best[0] - answer.fun > FAR * abs(best[0])):
        tell("the machines that would do most for their price")
        for least, share in FIRST_MACHINES:
            first, used = clock.within(clock.left * share), bought_groups(program, answer.x, least)
            if _filled(program, costs, used, first, better) is None:
                packed = packed_plan(program, costs, used, first)
                best = min(filter(None, (best, packed)), key=lambda each: each[0], default=None)
            if best is not None:
                break
    for _ in range(ROUNDS):
        if clock.left <= 0:
            break
        tell("how many machines of each kind")
        below = None if best is None else best[0]
        only = None if below is None else relaxation.promising(below, clock)
        machines = program.solve(
            costs,
            clock.left * MACHINES_TIME,
            without=program.outside(only),
            below=below,
            gap=MACHINES_GAP,
            whole=program.machines,
        )
        if machines.status == INFEASIBLE:
            if best is None:
                raise NoPlan
            return best, best[0]
        if machines.mip_dual_bound is not None and bound is not None:
            bound = max(bound, float(machines.mip_dual_bound))
        if machines.x is None:
            break
        bought = bought_groups(program, machines.x, HALF)
        more = learnt.look(program, machines.x)
        tell("which runs go on them")
        if len(program.cost) > LARGE:
            # Runs dealt one by one are soon nearly as good as a program of so many can be.
            _filled(program, costs, bought, clock.within(clock.left * FILLING_BOUGHT), better)
            tell("which runs go on them, all at once")
        if not _near(best, bound) and not (len(program.cost) > LARGE and best is not None):
            found = dealt(program, costs, bought, clock.within(clock.left * DEALING), learnt)
            if found is not None and (best is None or found[0] < best[0] - EPSILON):
                best = found
        if not more or _near(best, bound):
            break
        relaxation = Relaxation(program, costs, clock)
    return best, bound


def with_parts(few: Program, wide: Any, clock: Clock) -> tuple[Sequence[float], float]:
    """The answer with whole parts of machines, too, or the one that there is; and dollars that no
    plan is below."""
    few.learn(list(broken_rows(few.rooms, wide.x)))
    # What is dearer is not looked at: no plan is below that, or below the bound of the rest.
    dear = float(wide.fun) + NEARBY * abs(float(wide.fun))
    only = Relaxation(few, few.judged, clock).promising(dear, clock)
    answer = few.solve(
        few.judged,
        clock.left,
        without=few.outside(only),
        below=dear,
        gap=MACHINES_GAP,
        whole=few.numbers,
    )
    if answer.status == INFEASIBLE:
        return wide.x, dear
    least = answer.mip_dual_bound
    if least is None:  # nothing counts whole things, or the time was over
        least = answer.fun if answer.status == 0 else -inf
    return wide.x if answer.x is None else answer.x, min(float(least), dear)


def bought_groups(
    program: Program, x: Sequence[float], least: float = EPSILON
) -> set[tuple[str, int]]:
    """The groups that so much of a machine is bought from."""
    return {key for key in set(program.block.values()) if x[program.count[key]] > least}


def _filled(
    program: Program,
    costs: Sequence[float],
    keys: Collection[tuple[str, int]],
    clock: Clock,
    hear: Callable[[Found], None],
) -> Found | None:
    """A plan that buys from these groups alone; None where a run's money may be in several
    years."""
    if program.days:
        return None
    return Divided(program, costs, keys, hear).search(clock)


def _near(best: Found | None, bound: float | None) -> bool:
    return best is not None and bound is not None and best[0] - bound <= RUNS_GAP * abs(best[0])


def _widened(program: Program) -> Program | None:
    """The program of fewer windows, where that is much smaller."""
    few = widened(program.problem, WIDE_MOMENTS)
    if 2 * len(few.experiments) > len(program.problem.experiments):
        return None
    return Program(widened(program.problem, WIDEST_MOMENTS))


def dealt(
    program: Program,
    costs: Sequence[float],
    bought: set[tuple[str, int]],
    clock: Clock,
    learnt: Learnt,
) -> Found | None:
    """A plan that buys from these groups alone."""
    counts: list[float] | None = None
    best: Found | None = None
    for _ in range(DEALS):
        answer = program.solve(costs, clock.left / 4, without=program.outside(bought), gap=RUNS_GAP)
        if answer.x is None:
            break
        counts = values_of(program, answer.x)
        placing = place(program, counts)
        if not placing.failed and not placing.over_year:
            return dot(costs, counts), plan_of(program, counts, placing.placed)
        rest = rented_rest(program, costs, counts)
        if rest is not None and (best is None or rest[0] < best[0]):
            best = rest
        if placing.over_year or not learnt.look(program, counts) or clock.left <= 0:
            break
    if counts is not None:
        found = dealt_one_by_one(program, costs, counts, clock)
        if found is not None:
            return found if best is None or found[0] <= best[0] else best
    packed = packed_plan(program, costs, bought, clock, learnt=learnt.rows)
    return min(filter(None, (best, packed)), key=lambda each: each[0], default=None)
