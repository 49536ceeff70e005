"""Good plans to begin a search with: known ones, few kinds of machine, one kind, none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from advisor.planning.solver.assemble import place, plan_of
from advisor.planning.solver.known_counts import counts_of
from advisor.planning.solver.milp import Cut, Program
from advisor.planning.solver.packing_rows import PackingRow
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import EPSILON, PlanningProblem
from advisor.planning.solver.relaxation import Relaxation
from advisor.planning.solver.rest_rented import with_rest_rented
from advisor.planning.solver.search_clock import Clock, NoPlan

Found = tuple[float, Plan]
"""What a plan costs by the goal of a search, and the plan."""
INFEASIBLE, FAILED = 2, 4
"""Statuses of scipy's milp."""
FIRST_SECONDS = 4.0
"""For the search with few kinds of machine ..."""
ONE_SECONDS = 2.0
"""... and for that with one."""
PACKED_SECONDS = 10.0
NEAR = 0.005
"""A first plan need not be better than this share."""
LARGE = 1500
"""Columns: with more, what comes first is good rather than best."""
MOST_KINDS = 12
SPARE = (Decimal("0.01"), Decimal("0.03"), Decimal("0.07"), Decimal("0.12"))
"""Shares of a machine's time that are kept free so that runs find a place on several."""
REPAIRS = 4


def dot(costs: Sequence[float], counts: Sequence[float]) -> float:
    """What the columns cost together."""
    return sum(cost * count for cost, count in zip(costs, counts, strict=True))


def values_of(program: Program, x: Sequence[float]) -> list[float]:
    """A solver's numbers, whole where they count things."""
    return [
        float(round(value)) if whole else float(value)
        for value, whole in zip(x, program.whole, strict=True)
    ]


def known_plan(program: Program, costs: Sequence[float], known: Sequence[Plan]) -> Found | None:
    """The best of these plans that works here too; of equals the first."""
    best: Found | None = None
    for plan in known:
        counts = counts_of(program, plan)
        if counts is None:
            continue
        cost = dot(costs, counts)
        if best is not None and cost >= best[0] - EPSILON:
            continue
        placing = place(program, counts)
        if not placing.failed and not placing.over_year:
            best = cost, plan_of(program, counts, placing.placed)
    return best


def first_plan(
    program: Program,
    costs: Sequence[float],
    relaxation: Relaxation,
    clock: Clock,
    cuts: list[Cut],
) -> Found | None:
    """A plan, good if possible: with the machines of the relaxation; else with one kind of
    machine alone, or none. Raises NoPlan."""
    large = len(program.cost) > LARGE
    rented: Found | None = None
    if large:
        clock.tell("nothing bought")
        rented = packed_plan(program, costs, (), clock)
    words = "the machines that would do most for their price"
    clock.tell(words, plan=None if rented is None else rented[1])
    seconds = FIRST_SECONDS * (4 if large else 1)
    best = with_few(program, costs, relaxation, clock.within(seconds), cuts)
    if best is not None:
        return best if rented is None or best[0] <= rented[0] else rented
    if rented is not None:
        return rented
    kinds: dict[str, set[tuple[str, int]]] = {}
    for key in dict.fromkeys(program.block.values()):
        kinds.setdefault(key[0], set()).add(key)
    relaxed = relaxation.solve()
    used = set()
    if relaxed.x is not None:
        used = {key[0] for key in program.count if relaxed.x[program.count[key]] > EPSILON}
    labels = {m.machine_id: m.label for m in program.problem.machines}
    ordered = sorted(kinds, key=lambda name: name not in used)[:MOST_KINDS]
    tries: list[tuple[str, set[tuple[str, int]]]] = [("nothing bought", set())]
    tries += [(f"{labels[name]} alone", kinds[name]) for name in ordered]
    for words, only in tries:
        if clock.left <= 0:
            break
        clock.tell(words, plan=None if best is None else best[1])
        found = _quick(program, costs, only, clock)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return best


def _quick(
    program: Program, costs: Sequence[float], only: Collection[tuple[str, int]], clock: Clock
) -> Found | None:
    seconds = min(ONE_SECONDS, clock.left)
    answer = program.solve(costs, seconds, without=program.outside(only), gap=NEAR)
    return None if answer.x is None else placed_plan(program, costs, values_of(program, answer.x))


def placed_plan(program: Program, costs: Sequence[float], counts: list[float]) -> Found | None:
    """The plan of these integers, with a machine more of a kind where its runs do not pack; None
    where that breaks a rule."""
    counts = list(counts)
    for _ in range(REPAIRS):
        placing = place(program, counts)
        if placing.over_year:
            return None
        if not placing.failed:
            if not keeps_rows(program, counts):
                return None
            return dot(costs, counts), plan_of(program, counts, placing.placed)
        for cut in placing.failed:
            key = (cut.machine_id, cut.order)
            for column in {program.count[key], program.wholes.get(key, program.count[key])}:
                counts[column] += 1
            whole = program.block.get(program.count[key])
            if whole is not None and whole != key:  # a part: a whole machine more holds it
                counts[program.count[whole]] += 1
        if any(n > most + EPSILON for n, most in zip(counts, program.upper, strict=True)):
            return None
    return None


def keeps_rows(program: Program, counts: Sequence[float]) -> bool:
    return beyond_rows(program, counts) == 0


def beyond_rows(program: Program, counts: Sequence[float]) -> float:
    """How far numbers are beyond what the rows allow, together: dollars where only money lacks."""
    matrix, low, high = program.constraints()
    sums: Any = matrix @ counts
    tolerance = 1e-4
    return float(
        (low - sums)[sums < low - tolerance].sum() + (sums - high)[sums > high + tolerance].sum()
    )


def bought_from(problem: PlanningProblem, keys: Collection[tuple[str, int]]) -> PlanningProblem:
    """The problem in which nothing is bought but from these groups, and GPUs for owned machines."""
    kinds = {machine_id for machine_id, _ in keys}
    kinds |= {m.machine_id for m in problem.machines if m.owned or m.upgrade_of is not None}
    orders = range(len(problem.orders))
    more = {
        (m.machine_id, order)
        for m in problem.machines
        if m.upgrade_of is not None
        for order in orders
        if problem.buy_only is None or (m.machine_id, order) in problem.buy_only
    }
    machines = tuple(m for m in problem.machines if (m.part_of or m.machine_id) in kinds)
    return replace(problem, machines=machines, buy_only=frozenset({*keys, *more}))


def packed_plan(
    program: Program,
    costs: Sequence[float],
    keys: Collection[tuple[str, int]],
    clock: Clock,
    *,
    learnt: Sequence[PackingRow] = (),
) -> Found | None:
    """A plan with these groups that packs, found with a little more of every machine's time kept
    free than must be: where machines are not full to the brim, runs find a place."""
    problem = bought_from(program.problem, keys)
    best: Found | None = None
    for spare in SPARE if problem.machines else (Decimal(0),):
        if clock.left <= 0:
            return best
        slack = 1 - (1 - problem.rules.slack) * (1 - spare)
        tight = Program(replace(problem, rules=replace(problem.rules, slack=slack)), learnt=learnt)
        same = dict(same_columns(tight, program))
        goal = [costs[same[column]] if column in same else 0.0 for column in range(len(tight.cost))]
        answer = tight.solve(goal, min(clock.left, PACKED_SECONDS), gap=NEAR)
        if answer.x is None:
            return best
        counts = [0.0] * len(program.cost)
        for column, value in enumerate(values_of(tight, answer.x)):
            if column in same:
                counts[same[column]] = value
        placing = place(program, counts)
        if not placing.failed and not placing.over_year and keeps_rows(program, counts):
            found = dot(costs, counts), plan_of(program, counts, placing.placed)
            return found if best is None or found[0] <= best[0] else best
        if placing.failed:
            better = rented_rest(program, costs, counts)
            if better is not None and (best is None or better[0] < best[0]):
                best = better
    return best


def rented_rest(program: Program, costs: Sequence[float], counts: Sequence[float]) -> Found | None:
    """The plan of these columns with what finds no place on machines rented."""
    rest = with_rest_rented(program, counts)
    if rest is None or not keeps_rows(program, rest):
        return None
    placing = place(program, rest)
    if placing.failed or placing.over_year:
        return None
    return dot(costs, rest), plan_of(program, rest, placing.placed)


def same_columns(tight: Program, program: Program) -> Iterator[tuple[int, int]]:
    """Columns of a smaller program, and what they are in the whole one."""
    pairs: list[tuple[dict[Any, int], dict[Any, int]]] = [
        (tight.count, program.count),
        (tight.wholes, program.wholes),
        (tight.work, program.work),
        (tight.rent, program.rent),
        (tight.skip, program.skip),
    ]
    for mine, its in pairs:
        for key, column in mine.items():
            if key in its:
                yield column, its[key]
    for key, split in tight.days.items():
        for year, column in split.items():
            if year in program.days.get(key, {}):
                yield column, program.days[key][year]


def with_few(
    program: Program,
    costs: Sequence[float],
    relaxation: Relaxation,
    clock: Clock,
    cuts: list[Cut],
) -> Found | None:
    """A good plan with the few machines that the relaxation uses. Raises NoPlan."""
    large = len(program.cost) > LARGE
    relaxed = relaxation.solve()
    if relaxed.status == INFEASIBLE:
        if relaxation.whole:
            raise NoPlan
        return None
    if relaxed.x is None:
        return None
    used = {key for key, column in program.count.items() if relaxed.x[column] > EPSILON}
    if large:
        return packed_plan(program, costs, used, clock)
    answer = program.solve(costs, clock.left / 2, without=program.outside(used))
    if answer.x is None:
        return None
    counts = values_of(program, answer.x)
    placing = place(program, counts)
    if placing.failed:
        cuts.extend(cut for cut in placing.failed if cut.sure)
        return packed_plan(program, costs, used, clock) or placed_plan(program, costs, counts)
    if placing.over_year:
        return None
    return dot(costs, counts), plan_of(program, counts, placing.placed)
