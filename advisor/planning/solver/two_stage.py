"""The best plan found so far, and the steps that look for a better one.

A step solves an integer program and packs its runs on machines, day by day. Where they do not fit,
rows are learnt from that and it is solved again. A large problem is planned in two stages: first
how many machines of each kind, with windows widened until the program is small (which bounds every
plan from below), then which runs go where on those machines. Kinds of machine that no better plan
can buy are left out of what is solved last.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import inf
from typing import Literal

from advisor.planning.solver.each_machine import on_each_machine
from advisor.planning.solver.experiments import widened
from advisor.planning.solver.highs import Answer, HighsProgram
from advisor.planning.solver.integer_program import Program
from advisor.planning.solver.machines import groups
from advisor.planning.solver.money.cents import fixed_cents, whole_budget_cents
from advisor.planning.solver.packing import broken_rows
from advisor.planning.solver.placement import counts_of, place, plan_of, values_of, with_rest_rented
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.search_clock import Clock, NoPlan

Goal = Literal["judged", "value", "value, then judged", "none"]
"""What a search makes least: the dollars that plans are judged by, the value left out, the value
left out and then those dollars, or nothing."""
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
PROMISING_ROUNDS = 2
SAFE = 1e-6
SPARE = (Decimal("0.01"), Decimal("0.03"), Decimal("0.07"), Decimal("0.12"))
NEAR = 0.01
"""A plan within this share of the bound is a good one."""
FIRST_TIME = 0.15
WIDE_TIME = 0.3
FEW_TIME = 0.3
YEARLY_TIME = 0.4
FREE_TIME = 0.4
"""Shares of the time that is left: for a plan that buys nothing, for how many machines there are,
for which runs go on them, where orders are on the first day of each year alone, and where money may
be spent in any year."""


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
        if self.goal.startswith("value"):
            weight = 1.0
            if self.goal == "value, then judged":
                weight, costs = value_weight(self.problem) or 1.0, list(program.judged)
            for e in program.problem.experiments:
                costs[program.skip[e.experiment_id]] = weight * e.value
        return costs

    def take(self, program: Program, counts: Sequence[float], plan: Plan) -> None:
        """Keep a plan that is better than the best so far."""
        cost = sum(c * n for c, n in zip(self.costs(program), counts, strict=True))
        if self.plan is None or cost < self.cost - LESS / 2:
            self.plan, self.cost = plan, cost
            self.tell("a better plan")

    def take_known(self, plans: Sequence[Plan]) -> None:
        """Keep the best plan of similar problems that works for this one; of equals the first."""
        for plan in plans:
            keys = {(p.machine_id, p.order) for p in plan.purchases}
            program = Program(bought_from(self.problem, keys))
            counts = counts_of(program, plan)
            if counts is not None:
                placing = place(program, counts)
                if not placing.failed and not placing.over_year:
                    self.take(program, counts, plan_of(program, counts, placing.placed))

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

    @property
    def is_near(self) -> bool:
        """Whether the plan is near its bound."""
        return self.plan is not None and self.cost - self.bound <= NEAR * abs(self.cost)

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
            counts = values_of(program, answer.x)
            placing = place(program, counts)
            if not placing.failed and not placing.over_year:
                self.take(program, counts, plan_of(program, counts, placing.placed))
                if not answer.is_best or gap:
                    return
                continue
            self._mend(program, counts, clock)
            rows = list(broken_rows(program.rooms, counts))
            sure = [] if rows else [cut for cut in placing.failed if cut.sure]
            if placing.over_year or not (rows or sure):  # nothing is learnt from it
                return
            program.learn(rows)
            program.learn_cuts(sure)

    def _mend(self, program: Program, counts: Sequence[float], clock: Clock) -> None:
        """A plan with machines on which the runs do not fit as they were counted: those that find
        no place are rented, or all are planned again for each machine by itself."""
        rest = with_rest_rented(program, counts)
        if rest is not None and program.keeps_rows(rest):
            placing = place(program, rest)
            if not placing.over_year:
                self.take(program, rest, plan_of(program, rest, placing.placed))
        found = on_each_machine(program, self.costs(program), counts, clock)
        if found is not None:
            self.take(program, *found)
        problem = program.problem
        if self.plan is None and problem.year_budget_cents is not None and not problem.paid_early:
            early = Program(replace(problem, paid_early=True))
            self.solve(early, clock.within(clock.left * HALF), whole_problem=False)

    def run(self) -> None:
        """Look for the best plan until it is proven or the time is over. Raises NoPlan."""
        if self.is_settled:
            return
        problem, clock = self.problem, self.clock
        if not is_small(problem):
            problem = self.narrow()
            if self.is_near:
                clock = clock.within(LAST_SECONDS)
        program = Program(problem)
        if len(program.cost) <= MOST_COLUMNS:
            self.tell("whether a cheaper plan exists")
            self.solve(program, clock, whole_problem=True)

    def narrow(self) -> PlanningProblem:
        """A good plan and a bound, in two stages; and the problem in which nothing can be bought
        but what a better plan may buy. Raises NoPlan."""
        problem = self.problem
        self.tell("nothing bought")
        self._with(problem, (), FIRST_TIME)
        if problem.year_budget_cents is not None:
            # Money that may be spent in any year: a bound, and machines that may be bought.
            whole = whole_budget_cents(problem)
            free = Search(
                replace(problem, year_budget_cents=None, budget_cents=whole),
                self.goal,
                self.clock.within(self.clock.left * FREE_TIME).quiet(),
            )
            free.run()
            self.bound = max(self.bound, min(free.bound, self.cost))
            if free.plan is not None:
                self._with(
                    problem,
                    {
                        (p.machine_id, o)
                        for p in free.plan.purchases
                        for o in range(len(problem.orders))
                    },
                    FEW_TIME,
                )
        return self._narrow(problem, self.clock, whole_problem=True)

    def _narrow(
        self, problem: PlanningProblem, clock: Clock, *, whole_problem: bool
    ) -> PlanningProblem:
        """The same, with windows that are widened less and less."""
        moments, tried = 1, set[frozenset[tuple[str, int]]]()
        while clock.left > 0 and not self.is_settled:
            fewer = widened(problem, moments)
            wide = Program(fewer)
            if moments > 1 and len(wide.cost) > MOST_COLUMNS:
                break
            self.tell("how many machines of each kind")
            x = self._machines(wide, clock, whole_problem=whole_problem)
            if x is None:
                break
            keys = frozenset(k for k in set(wide.block.values()) if x[wide.count[k]] > HALF)
            if keys not in tried:
                tried.add(keys)
                self.tell("which runs go on them")
                self._with(problem, keys, FEW_TIME)
            if self.is_settled or self.plan is None:
                break
            self.tell("which machines can be in a cheaper plan")
            only = promising_groups(wide, self.costs(wide), self.cost, clock)
            problem = replace(problem, buy_only=frozenset(only))
            if len(fewer.experiments) == len(problem.experiments) or is_small(problem):
                break
            moments *= 2
        return problem

    def _machines(
        self, wide: Program, clock: Clock, *, whole_problem: bool
    ) -> Sequence[float] | None:
        """How many machines a plan with wider windows has; None where that is not found in time."""
        x, clock = None, clock.within(clock.left * WIDE_TIME)
        for _ in range(2):
            answer = wide.solve(
                self.costs(wide),
                clock.left,
                below=self.cost - LESS,
                gap=MACHINES_GAP,
                whole=wide.machines,
            )
            if whole_problem:
                self._ruled_out(answer)
            if answer.x is None:
                break
            x = answer.x
            rows = list(broken_rows(wide.rooms, x))
            wide.learn(rows)
            if not rows:
                break
        return x

    def _with_kinds_of(self, plan: Plan | None, every: Collection[tuple[str, int]]) -> None:
        """Plans that buy the kinds of machine that another one buys, on any day."""
        kinds = set() if plan is None else {p.machine_id for p in plan.purchases}
        self._with(self.problem, {key for key in every if key[0] in kinds}, FEW_TIME)

    def _with(
        self, problem: PlanningProblem, keys: Collection[tuple[str, int]], share: float
    ) -> None:
        """Plans that buy from these groups alone, looked for in a share of the time."""
        few, clock = bought_from(problem, keys), self.clock.within(self.clock.left * share)
        self.solve(Program(few), clock, whole_problem=False, gap=RUNS_GAP)

    def leave_days_free(self, problem: PlanningProblem) -> None:
        """Where there is no plan yet: one with a little more of every machine's time kept free than
        must be. Runs find a place on machines that are not full to the brim."""
        for spare in SPARE:
            if self.plan is not None or self.clock.left <= 0:
                break
            slack = 1 - (1 - problem.rules.slack) * (1 - spare)
            loose = replace(problem, rules=replace(problem.rules, slack=slack))
            clock = self.clock.within(self.clock.left * HALF)
            self.solve(Program(loose), clock, whole_problem=False, gap=RUNS_GAP)


def is_small(problem: PlanningProblem) -> bool:
    """Whether its program can be solved as it is."""
    return len(groups(problem)) * len(problem.experiments) <= LARGE


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


def value_weight(problem: PlanningProblem) -> float | None:
    """Dollars above what any plan may cost, so that one run counts for more than all the money.

    None where there is no such amount, or it is too large to compute with.
    """
    budget_cents = whole_budget_cents(problem)
    if budget_cents is None or problem.rules.lifetime_years is not None:
        return None
    weight = budget_cents / 100 + 1
    return weight if weight * sum(e.runs * e.value for e in problem.experiments) < 1e8 else None


def promising_groups(
    program: Program, goal: Sequence[float], below: float, clock: Clock
) -> set[tuple[str, int]]:
    """The groups that a plan at most so dear can buy from, as far as there is time to see.

    The relaxation of the program gives each run a price (its dual). Priced so, a machine earns what
    the runs on it are worth; what it still lacks to earn its own price is a bound on how much
    dearer than the relaxation every plan is that buys it (Lagrangian relaxation: Geoffrion, 1974).
    One linear program says this for all groups at once. As what a group earns is concave in its
    machines, one machine of it is the cheapest case.
    """
    keys = list(dict.fromkeys(program.block.values()))
    live = {key for key in keys if program.upper[program.count[key]] > 0}
    upper = list(program.upper)
    of_group = [program.block.get(column) for column in range(len(goal))]
    try:
        for _ in range(PROMISING_ROUNDS):
            if not live or clock.left <= 0:
                break
            answer = program.solve(goal, clock.left, whole=())
            if not answer.is_best:
                break
            priced = list(goal)
            for number, (row, _, _) in enumerate(program.rows):
                dual = 0.0 if number in program.inner else answer.row_duals[number]
                if dual:
                    for column, factor in row.items():
                        priced[column] -= factor * dual
            each = HighsProgram()
            columns = {
                column: each.column(program.upper[column], cost=priced[column], whole=False)
                for column, owner in enumerate(of_group)
                if owner in live
            }
            for key in live:
                number = columns[program.count[key]]
                each.lower[number] = each.upper[number] = 1.0
            for number in sorted(program.inner):
                row, low, high = program.rows[number]
                mine = {columns[c]: factor for c, factor in row.items() if c in columns}
                if mine:
                    each.rows.append((mine, low, high))
            alone = each.solve(each.cost, clock.left)
            if alone.x is None or not alone.is_best:
                break
            lacks: dict[tuple[str, int] | None, float] = {}
            for column, its in columns.items():
                owner = of_group[column]
                lacks[owner] = lacks.get(owner, 0.0) + priced[column] * alone.x[its]
            slack = SAFE * (1 + SAFE * abs(answer.value))
            # A group with a row that it shares (an upgrade) is not judged by its own rows alone.
            dead = {
                key
                for key in live & program.separate
                if answer.value + max(lacks[key], 0.0) > below + slack
            }
            if not dead:
                break
            live -= dead
            for column, owner in enumerate(of_group):
                if owner in dead:
                    program.upper[column] = 0.0
    finally:
        program.upper = upper
    return live
