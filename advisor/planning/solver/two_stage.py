"""The best plan found so far, and the steps that look for a better one.

A step solves an integer program and packs its runs on machines, day by day. Where they do not fit,
rows are learnt from that and it is solved again. A large problem is planned in two stages: first
how many machines of each kind, with windows widened until the program is small (which bounds every
plan from below), then which runs go where on those machines.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import inf
from typing import Literal

from advisor.planning.solver.check_plan import broken_rule
from advisor.planning.solver.experiments import widened
from advisor.planning.solver.machines import groups
from advisor.planning.solver.money.cents import fixed_cents, whole_budget_cents
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.program.each_machine import on_each_machine
from advisor.planning.solver.program.highs import Answer
from advisor.planning.solver.program.integer_program import Program
from advisor.planning.solver.program.placement import counted_again, place, plan_of, purchases_of
from advisor.planning.solver.search_clock import Clock, NoPlan

Goal = Literal["judged", "value", "none"]
"""What a search makes least: the dollars that plans are judged by, the value left out, or
nothing."""
LESS = 0.005
"""Dollars: a better plan is better by half a cent at least."""
LARGE = 3000
"""Columns, about: a larger program is made smaller first."""
MOST_COLUMNS = 8000
"""With more of them nothing is found out in the time of a search."""
MACHINES_GAP = 0.002
RUNS_GAP = 0.002
LAST_SECONDS = 30.0
"""How much longer a large plan near its bound is improved."""
HALF = 0.5
SPARE = (Decimal("0.01"), Decimal("0.03"), Decimal("0.07"), Decimal("0.12"))
"""Shares of the days of every machine that are kept free where nothing is found without."""
NEAR = 0.01
"""A plan within this share of the bound is a good one."""
FIRST_TIME = 0.15
WIDE_TIME = 0.3
FEW_TIME = 0.3
FREE_TIME = 0.4
"""Shares of the time that is left: for a plan that buys nothing, for how many machines there are,
for which runs go on them, and where money may be spent in any year."""


@dataclass(slots=True)
class Search:
    """What is known of a problem: the best plan, and a lower bound of all plans, both by a goal."""

    problem: PlanningProblem
    goal: Goal
    clock: Clock
    plan: Plan | None = None
    cost: float = inf
    bound: float = -inf
    rounds: int = 0

    def costs(self, program: Program) -> Sequence[float]:
        """What each column counts by the goal."""
        if self.goal == "judged":
            return program.judged
        costs = [0.0] * len(program.cost)
        if self.goal == "value":
            for e in program.problem.experiments:
                costs[program.skip[e.experiment_id]] = float(e.value)
        return costs

    def cost_of(self, plan: Plan) -> float:
        """What a plan counts by the goal, without fixed costs."""
        if self.goal == "judged":
            return plan.judged_cents / 100 - self.fixed_usd
        if self.goal == "none":
            return 0.0
        return float(sum(e.runs * e.value for e in self.problem.experiments) - plan.value)

    def take(self, plan: Plan) -> bool:
        """Keep a plan that is better than the best so far and keeps every rule; whether it does."""
        cost = self.cost_of(plan)
        if cost >= self.cost - LESS / 2 or broken_rule(self.problem, plan) is not None:
            return False
        self.plan, self.cost = plan, cost
        self.tell("a better plan")
        return True

    def take_known(self, plans: Sequence[Plan]) -> None:
        """Keep the best plan of similar problems that works for this one; of equals the first."""
        for plan in plans:
            again = counted_again(self.problem, plan)
            if again is not None:
                self.take(again)

    def tell(self, trying: str) -> None:
        """Report progress; a bound only where it is in dollars."""
        bound = None
        if self.goal == "judged" and self.bound > -inf and self.plan is not None:
            bound = self.bound + self.fixed_usd
        self.clock.tell(trying, plan=self.plan, bound_usd=bound)

    @property
    def fixed_usd(self) -> float:
        """Fixed costs, which are in no column."""
        return sum(fixed_cents(self.problem)) / 100

    def _ruled_out(self, answer: Answer) -> None:
        """Raise the bound by what a solver says of all plans that are better than the best one.
        Raises NoPlan where there is none at all."""
        self.bound = max(self.bound, min(answer.bound, self.cost))
        if answer.is_infeasible and self.plan is None:
            raise NoPlan

    @property
    def is_settled(self) -> bool:
        """Whether no better plan is left."""
        return self.plan is not None and (self.goal == "none" or self.bound >= self.cost - LESS / 2)

    def solve(
        self, program: Program, clock: Clock, *, whole_problem: bool, gap: float = 0.0
    ) -> None:
        """Look for better plans of a program until none is left or the time is over. Raises
        NoPlan where the program is of the whole problem and has none."""
        while clock.left > 0 and not self.is_settled:
            self.rounds += 1
            answer = program.solve(self.costs(program), clock.left, below=self.cost - LESS, gap=gap)
            if whole_problem:
                self._ruled_out(answer)
            if answer.x is None:
                return
            placed, cuts = place(program, answer.x)
            if placed is not None:
                bought = purchases_of(program, answer.x)
                taken = self.take(plan_of(program.problem, bought, placed))
                if not taken or not answer.is_best or gap:
                    return
                continue
            self._mend(program, answer.x, clock)
            if not cuts:  # nothing is learnt from it
                return
            for cut in cuts:
                program.add_cut(cut)

    def _mend(self, program: Program, counts: Sequence[float], clock: Clock) -> None:
        """A plan with machines on which the runs do not fit as they were counted: all are planned
        again for each machine by itself."""
        found = on_each_machine(program, self.costs(program), counts, clock)
        if found is not None:
            self.take(found)
        problem = program.problem
        if self.plan is None and problem.year_budget_cents is not None and not problem.paid_early:
            early = Program(replace(problem, paid_early=True))
            self.solve(early, clock.within(clock.left * HALF), whole_problem=False)

    def run(self) -> None:
        """Look for the best plan until it is proven or the time is over. Raises NoPlan."""
        if self.is_settled:
            return
        clock = self.clock
        if len(groups(self.problem)) * len(self.problem.experiments) > LARGE:
            self._two_stages()
            if self.plan is not None and self.cost - self.bound <= NEAR * abs(self.cost):
                clock = clock.within(LAST_SECONDS)
        program = Program(self.problem)
        if len(program.cost) <= MOST_COLUMNS:
            self.tell("whether a cheaper plan exists")
            self.solve(program, clock, whole_problem=True)
        # Runs find a place on machines that are not full to the brim.
        for spare in SPARE:
            if self.plan is None and clock.left > 0:
                slack = 1 - (1 - self.problem.rules.slack) * (1 - spare)
                rules = replace(self.problem.rules, slack=slack)
                loose = Program(replace(self.problem, rules=rules))
                self.solve(
                    loose, clock.within(clock.left * HALF), whole_problem=False, gap=RUNS_GAP
                )

    def _two_stages(self) -> None:
        """A good plan and a bound: how many machines of each kind, with windows that are widened
        less and less, then which runs go on them. Raises NoPlan."""
        problem = self.problem
        self.tell("nothing bought")
        self._with((), FIRST_TIME)
        if problem.year_budget_cents is not None:
            # Money that may be spent in any year: a bound, and machines that may be bought.
            free = Search(
                replace(problem, year_budget_cents=None, budget_cents=whole_budget_cents(problem)),
                self.goal,
                self.clock.within(self.clock.left * FREE_TIME).quiet(),
            )
            free.run()
            self.bound = max(self.bound, min(free.bound, self.cost))
            if free.plan is not None:
                kinds = {p.machine_id for p in free.plan.purchases}
                self._with([(k, n) for k in kinds for n in range(len(problem.orders))], FEW_TIME)
        moments, tried = 1, set[frozenset[tuple[str, int]]]()
        while self.clock.left > 0 and not self.is_settled:
            fewer = widened(problem, moments)
            wide = Program(fewer)
            if moments > 1 and len(wide.cost) > MOST_COLUMNS:
                break
            self.tell("how many machines of each kind")
            x = self._machines(wide)
            if x is None:
                break
            keys = frozenset(key for key, column in wide.machines.items() if x[column] > HALF)
            if keys not in tried:
                tried.add(keys)
                self.tell("which runs go on them")
                self._with(keys, FEW_TIME)
            if self.plan is None or len(fewer.experiments) == len(problem.experiments):
                break
            moments *= 2

    def _machines(self, wide: Program) -> Sequence[float] | None:
        """How many machines a plan with wider windows has; None where that is not found in time."""
        answer = wide.solve(
            self.costs(wide),
            self.clock.left * WIDE_TIME,
            below=self.cost - LESS,
            gap=MACHINES_GAP,
            whole=set(wide.machines.values()),
        )
        self._ruled_out(answer)
        return answer.x

    def _with(self, keys: Collection[tuple[str, int]], share: float) -> None:
        """Plans that buy from these groups alone, looked for in a share of the time."""
        few = Program(bought_from(self.problem, keys))
        clock = self.clock.within(self.clock.left * share)
        self.solve(few, clock, whole_problem=False, gap=RUNS_GAP)


def bought_from(problem: PlanningProblem, keys: Collection[tuple[str, int]]) -> PlanningProblem:
    """The problem in which nothing is bought but from these groups, and GPUs for owned machines."""
    kinds = {machine_id for machine_id, _ in keys}
    kinds |= {m.machine_id for m in problem.machines if m.owned or m.upgrade_of is not None}
    more = {
        (m.machine_id, order)
        for m in problem.machines
        if m.upgrade_of is not None
        for order in range(len(problem.orders))
        if problem.buy_only is None or (m.machine_id, order) in problem.buy_only
    }
    machines = tuple(m for m in problem.machines if (m.part_of or m.machine_id) in kinds)
    return replace(problem, machines=machines, buy_only=frozenset({*keys, *more}))
