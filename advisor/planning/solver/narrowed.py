"""Where machines may be ordered on many days: the plan is looked for among few machines and days,
and what no plan with another of them is below is found out beside.

Every plan buys from these groups alone, or at least one machine of another. The first are a problem
of usual size. Of the others the program of widened windows says what they cost at least: that has
few runs, however many orders there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import ceil, inf

from advisor.planning.solver.first_plans import INFEASIBLE, known_plan, packed_plan
from advisor.planning.solver.groups import groups
from advisor.planning.solver.milp import Program
from advisor.planning.solver.money.cents import fixed_cents
from advisor.planning.solver.packing_rows import broken_rows
from advisor.planning.solver.plan import Plan, against_bound, least_cents
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.relaxation import Relaxation
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime, Progress
from advisor.planning.solver.widened import widened

Find = Callable[[PlanningProblem, Clock, Sequence[Plan]], Plan]
"""The cheapest plan, as `solve.py` finds it. Raises NoPlan or OutOfTime."""
Keys = frozenset[tuple[str, int]]
"""Groups, by machine and order."""
MANY_GROUPS = 150
"""With more of them than this, machines that have several orders are not planned with at once."""
FEW_GROUPS = 16
"""So many are, about."""
HALF = 0.5
MOST_COLUMNS = 8000
"""Of a program of widened windows, about ..."""
MOST_MOMENTS = 32
"""... and from so many days at most."""
GAP = 0.001
"""Of programs of widened windows."""
ENOUGH = 0.002
"""A plan within this share of its bound is not searched on for."""
CHOOSING_TIME = 0.1
LOOKING_TIME = 0.9
OTHERS_TIME = 0.5
"""Shares of the time that is left."""


class _Others:
    """What plans that buy another machine than those near cost at least."""

    def __init__(self, problem: PlanningProblem, every: Keys, near: Keys, best_usd: float) -> None:
        self._problem, self._near, self._best_usd = problem, near, best_usd
        self.live = every
        """Without the groups of which every plan is dearer than one that is known."""
        self.keys: Keys = frozenset()
        """The groups that the cheapest of them would buy from, about."""
        self.bound_usd = -inf

    def look(self, clock: Clock) -> None:
        """At what costs least; the fewer groups are left, the more windows are told apart."""
        looked: list[tuple[int, float]] = []
        while clock.left > 0 and (now := (len(self.live), self._best_usd)) not in looked:
            looked.append(now)
            few = wide_program(replace(self._problem, buy_only=self.live))
            out = {few.count[key]: 1.0 for key in set(few.block.values()) - self._near}
            row = (out or {0: 0.0}, 1.0, inf)
            for whole in (few.machines, few.numbers):
                below = self._best_usd
                answer = few.solve(
                    few.judged,
                    clock.left * OTHERS_TIME,
                    gap=GAP,
                    whole=whole,
                    also=[row],
                    below=below if below < inf else None,
                )
                least = inf if answer.status == INFEASIBLE else answer.mip_dual_bound
                # What was ruled out is dearer than the best plan of now.
                self.bound_usd = max(self.bound_usd, min(-inf if least is None else least, below))
                if answer.x is None:
                    break
                self.keys = _bought(few, answer.x)
                few.learn(list(broken_rows(few.rooms, answer.x)))
            if self.bound_usd >= self._best_usd:
                break
            if self._best_usd < inf:
                relaxation = Relaxation(few, few.judged, clock)
                self.live &= relaxation.promising(self._best_usd, clock) | self._near

    def heard(self, clock: Clock) -> Clock:
        """The clock for plans that buy none of them, which bound these alone."""

        def told(said: Progress) -> None:
            if said.plan is not None:
                self._best_usd = min(self._best_usd, _paid(self._problem, said.plan))
            others = self.bound_usd + _fixed_usd(self._problem)
            bound = -inf if said.bound_usd is None else min(said.bound_usd, others)
            if clock.hear is not None:
                clock.hear(replace(said, bound_usd=None if bound == -inf else bound))

        return replace(clock, hear=told)


def wide_program(problem: PlanningProblem) -> Program:
    """The program with so many windows that it is not large."""
    most = MOST_COLUMNS / max(len(groups(problem)), 1)
    wide, moments = widened(problem, 1), 2
    while moments <= MOST_MOMENTS:
        more = widened(problem, moments)
        if len(more.experiments) > most:
            break
        wide, moments = more, 2 * moments
    return Program(wide)


def narrowed(problem: PlanningProblem, clock: Clock, known: Sequence[Plan], find: Find) -> Plan:
    """The cheapest plan, looked for among few groups where there are very many. Raises NoPlan or
    OutOfTime."""
    every = frozenset(
        group.key for group in groups(problem) if group.order >= 0 and group.machine.part_of is None
    )
    if len(every) <= MANY_GROUPS or problem.year_budget_cents is not None:
        return find(problem, clock, known)
    clock.tell("nothing bought")
    mine = frozenset((p.machine_id, p.order) for plan in known for p in plan.purchases) & every
    small = Program(replace(problem, buy_only=mine))
    rented = packed_plan(small, small.judged, (), clock)
    works = known_plan(small, small.judged, known)
    found = min(filter(None, (works, rented)), key=lambda each: each[0], default=None)
    best = None if found is None else found[1]
    best_usd = inf if best is None else _paid(problem, best)
    clock.tell("which machines suffice where deadlines are wider", plan=best)
    near = _chosen(problem, every, clock) | mine
    bound_usd = -inf
    while clock.left > 0:
        known = known if best is None else (best, *known)
        others = _Others(problem, every, near, best_usd)
        own = -inf
        with ThreadPoolExecutor(1) as pool:
            # What no plan with another machine is below is found out on another core.
            looking = pool.submit(others.look, clock.within(clock.left * LOOKING_TIME))
            try:
                plan = find(replace(problem, buy_only=near), others.heard(clock), known)
                own = least_cents(plan) / 100 - _fixed_usd(problem)
                if _paid(problem, plan) <= best_usd:
                    best, best_usd = plan, _paid(problem, plan)
            except NoPlan:
                own = inf
            except OutOfTime:
                pass
            looking.result()
        bound_usd = max(bound_usd, min(own, others.bound_usd))
        if best is None and bound_usd == inf:
            raise NoPlan
        every = others.live
        more = near | (every if len(every) <= MANY_GROUPS else others.keys)
        if more == near or (best is not None and best_usd - bound_usd <= ENOUGH * abs(best_usd)):
            break
        near = more
    if best is None:
        raise OutOfTime
    return _against(problem, best, bound_usd)


def _chosen(problem: PlanningProblem, every: Keys, clock: Clock) -> Keys:
    """Machines that do the work for least where windows are wider, each on some of its days: first
    where each is bought at the beginning of a year, then on any day."""
    first: dict[int, int] = {}
    for order in sorted({order for _, order in every}):
        first.setdefault(problem.year_of(problem.orders[order]), order)
    chosen = frozenset(key for key in every if key[1] in first.values())
    near: set[tuple[str, int]] = set()
    for _ in range(2):
        few = Program(widened(replace(problem, buy_only=chosen), 1))
        left = clock.left * CHOOSING_TIME
        found = _bought(few, few.solve(few.judged, left, gap=GAP, whole=few.machines).x)
        near |= found
        kinds = {machine_id for machine_id, _ in found}
        chosen = frozenset(key for key in every if key[0] in kinds)
    step = ceil(len(chosen) / FEW_GROUPS)
    for machine_id in kinds:
        near |= set(sorted(key for key in chosen if key[0] == machine_id)[::step])
    return frozenset(near)


def _bought(few: Program, x: Sequence[float] | None) -> Keys:
    if x is None:
        return frozenset()
    return frozenset(key for key in set(few.block.values()) if x[few.count[key]] > HALF)


def _paid(problem: PlanningProblem, plan: Plan) -> float:
    """What it is judged by without what is paid whatever is bought, in dollars."""
    return plan.judged_cents / 100 - _fixed_usd(problem)


def _against(problem: PlanningProblem, plan: Plan, bound_usd: float) -> Plan:
    """How far it may be from the best, by what no plan is below without what is paid whatever is
    bought."""
    if bound_usd >= _paid(problem, plan):
        return replace(plan, proven=True, gap=None)
    return against_bound((bound_usd + _fixed_usd(problem)) * 100, plan)


def _fixed_usd(problem: PlanningProblem) -> float:
    return sum(fixed_cents(problem)) / 100
