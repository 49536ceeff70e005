"""A problem as a mixed-integer program.

Machines that are alike and came in one year form a group. How many are bought and how many runs
of each experiment a group does are integers. A group has time for its runs when, for every
interval of days from a release to a due day, the runs whose windows lie inside it need no more
days than its machines have: for one machine this is exact (earliest due date first, runs pause at
a checkpoint). For several machines it is necessary; `solve.py` adds what packing needs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import floor, inf
from typing import Any

from advisor.planning.solver.charges import (
    kept_value_usd,
    purchase_cents,
    run_cents,
)
from advisor.planning.solver.groups import (
    Group,
    cheapest_rental,
    groups,
    rented_run_cents,
    runs_that_fit,
)
from advisor.planning.solver.problem import EPSILON, Experiment, Plan, PlanningProblem

Row = tuple[dict[int, float], float, float]


@dataclass(frozen=True, slots=True)
class Cut:
    """These runs do not fit on so few machines of a group: learnt from a failed packing."""

    machine_id: str
    year: int
    count: int
    runs: tuple[tuple[str, int], ...]


class Program:
    """The columns and rows, and what each column stands for."""

    def __init__(self, problem: PlanningProblem, cuts: Sequence[Cut] = ()) -> None:
        self._matrix: Any = None
        self.problem = problem
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.cost: list[float] = []
        self.judged: list[float] = []
        self.rows: list[Row] = []
        self.count: dict[tuple[str, int], int] = {}
        self.work: dict[tuple[str, str, int], int] = {}
        self.rent: dict[tuple[str, str, int], int] = {}
        self.skip: dict[str, int] = {}
        self._windows: dict[int, tuple[int, int, float | None]] = {}
        """Of rows that hold a machine's time: the interval; days a run where they count runs."""
        self.separate: set[tuple[str, int]] = set()
        """Groups whose rows hold no column of another, and those rows."""
        self.inner: set[int] = set()
        self._owned_rows: dict[str, range] = {}
        self._by_year: list[dict[int, float]] = [{} for _ in range(problem.years)]
        self.groups = groups(problem)
        done: dict[str, dict[int, float]] = {e.experiment_id: {} for e in problem.experiments}
        for group in self.groups:
            self._add_group(group, done)
        for group in self.groups:
            if group.machine.upgrade_of is not None:
                self._end_owned(group)
        self._add_rentals(done)
        for e in problem.experiments:
            column = self._column(e.runs if problem.objective == "most-runs" else 0)
            self.skip[e.experiment_id] = column
            self.rows.append(({**done[e.experiment_id], column: 1.0}, e.runs, e.runs))
        self._add_limits()
        for cut in cuts:
            self._add_cut(cut)

    def _column(self, upper: float, *, cost: float = 0.0, judged: float | None = None) -> int:
        self.lower.append(0.0)
        self.upper.append(upper)
        self.cost.append(cost)
        self.judged.append(cost if judged is None else judged)
        return len(self.cost) - 1

    def _spend(self, column: int, year: int) -> None:
        if self.cost[column]:
            self._by_year[year][column] = self.cost[column]

    def _add_group(self, group: Group, done: Mapping[str, dict[int, float]]) -> None:
        problem, machine = self.problem, group.machine
        first_row = len(self.rows)
        jobs: list[tuple[Experiment, int, float, int]] = []
        for e in problem.experiments:
            fits = runs_that_fit(problem, group, e)
            if fits:
                low = max(e.release_day, group.from_day)
                jobs.append((e, low, problem.elapsed(machine.times[e.model]), fits))
        if not jobs:
            return
        if machine.owned:
            count = self._column(machine.owned)
            self.lower[count] = machine.owned
        else:
            dollars = purchase_cents(machine, problem.rules) / 100
            kept = float(kept_value_usd(machine, group.year, problem))
            most = sum(e.runs for e, *_ in jobs) if machine.upgrade_of is None else 1
            count = self._column(most, cost=dollars, judged=dollars - kept)
            self._spend(count, group.year)
        self.count[group.key] = count
        models = {e.model for e, *_ in jobs}
        run_usd = {m: run_cents(machine, m, problem.rules) / 100 for m in models}
        columns: list[tuple[int, float, int, int]] = []
        for e, low, elapsed, fits in jobs:
            column = self._column(e.runs, cost=run_usd[e.model])
            # Money for a run is set aside in the year in which it may first start.
            self._spend(column, self._year_of(low))
            self.work[e.experiment_id, *group.key] = column
            done[e.experiment_id][column] = 1.0
            self._windows[len(self.rows)] = (low, problem.due(e), elapsed)
            self.rows.append(({column: 1.0, count: -float(fits)}, -inf, 0.0))
            columns.append((column, elapsed, low, problem.due(e)))
        self._add_intervals(count, columns)
        if not machine.owned and machine.upgrade_of is None:
            self.separate.add(group.key)
            self.inner.update(range(first_row, len(self.rows)))
        if machine.owned:
            self._owned_rows[machine.machine_id] = range(first_row, len(self.rows))

    def _end_owned(self, upgrade: Group) -> None:
        """An owned machine is what it was only until its new parts are there."""
        column = self.count.get(upgrade.key)
        owned = upgrade.machine.upgrade_of
        if column is None or owned is None:
            return
        for number in self._owned_rows.get(owned, ()):
            if number not in self._windows:
                continue
            low, due, elapsed = self._windows[number]
            lost = float(due - max(low, upgrade.from_day))
            row = self.rows[number][0]
            if lost > 0 and elapsed is not None:  # counted in runs, not in days
                fits = -row[self.count[owned, -1]]
                lost = max(fits - max(floor((due - low - lost + EPSILON) / elapsed), 0), 0.0)
            if lost > 0:
                row[column] = lost

    def _year_of(self, day: int) -> int:
        year = 0
        while year + 1 < self.problem.years and self.problem.year_days[year + 1] <= day:
            year += 1
        return year

    def _add_intervals(self, count: int, columns: list[tuple[int, float, int, int]]) -> None:
        seen: set[tuple[int, ...]] = set()
        for low in sorted({c[2] for c in columns}, reverse=True):
            for due in sorted({c[3] for c in columns}):
                inside = [c for c in columns if c[2] >= low and c[3] <= due]
                key = tuple(c[0] for c in inside)
                length = due - low
                # The same runs in a shorter interval say more; those come first.
                if len(inside) < 1 or length <= 0 or key in seen:
                    continue
                seen.add(key)
                row = {column: elapsed for column, elapsed, _, _ in inside}
                self._windows[len(self.rows)] = (low, due, None)
                self.rows.append(({**row, count: -float(length)}, -inf, 0.0))
                for parts in (2, 3):
                    # Of runs longer than a half (a third) of it, one (two) a machine.
                    long = {c[0]: 1.0 for c in inside if c[1] * parts > length + EPSILON}
                    if len(long) > 1:
                        self.rows.append(({**long, count: -float(parts - 1)}, -inf, 0.0))

    def _add_rentals(self, done: Mapping[str, dict[int, float]]) -> None:
        problem = self.problem
        cents = rented_run_cents(problem)
        for e in problem.experiments:
            for year in range(problem.years):
                rental = cheapest_rental(problem, e, year, cents)
                if rental is None:
                    continue
                column = self._column(e.runs, cost=cents[rental.rental_id, e.model] / 100)
                self._spend(column, year)
                self.rent[e.experiment_id, rental.rental_id, year] = column
                done[e.experiment_id][column] = 1.0

    def _add_limits(self) -> None:
        problem = self.problem
        if problem.budget_cents is not None:
            spent = {i: cost for i, cost in enumerate(self.cost) if cost}
            self.rows.append((spent, -inf, problem.budget_cents / 100))
        if problem.year_budget_cents is not None:
            spent, limit = {}, 0
            for by_year, cents in zip(self._by_year, problem.year_budget_cents, strict=True):
                if problem.carry_over:
                    spent, limit = {**spent, **by_year}, limit + cents
                else:
                    spent, limit = by_year, cents
                self.rows.append((dict(spent), -inf, limit / 100))
        bought: dict[int, float] = {}
        upgrades: dict[str, dict[int, float]] = {}
        for group in self.groups:
            if group.year < 0 or group.key not in self.count:
                continue
            owned = group.machine.upgrade_of
            of = bought if owned is None else upgrades.setdefault(owned, {})
            of[self.count[group.key]] = 1.0
        if problem.max_machines is not None and bought:
            self.rows.append((bought, -inf, problem.max_machines))
        self.rows += [(once, -inf, 1.0) for once in upgrades.values()]
        if problem.require_gpu is not None:
            wanted = {
                self.count[g.key]: 1.0
                for g in self.groups
                if g.year >= 0 and g.machine.gpu_id == problem.require_gpu and g.key in self.count
            }
            self.rows.append((wanted or {0: 0.0}, 1.0, inf))
        if problem.min_runs is not None:
            values = {self.skip[e.experiment_id]: float(e.value) for e in problem.experiments}
            most = sum(e.runs * e.value for e in problem.experiments)
            self.rows.append((values, -inf, most - problem.min_runs))

    def _add_cut(self, cut: Cut) -> None:
        """Either more machines, or fewer of at least one of these runs."""
        for group in self.groups:
            same = group.machine.machine_id == cut.machine_id and group.year >= cut.year
            count = self.count.get(group.key)
            if not same or count is None:
                continue
            columns = [
                (self.work.get((experiment, *group.key)), runs) for experiment, runs in cut.runs
            ]
            if any(column is None for column, _ in columns):
                continue
            flags: dict[int, float] = {}
            for column, runs in columns:
                assert column is not None
                flag = self._column(1)
                slack = max(self.upper[column] - (runs - 1), 0.0)
                self.rows.append(({column: 1.0, flag: -slack}, -inf, runs - 1))
                flags[flag] = 1.0
            flag = self._column(1)
            # flag is 1 where the group has no more machines than failed.
            self.rows.append(({count: 1.0, flag: float(cut.count + 1)}, cut.count + 1, inf))
            flags[flag] = 1.0
            self.rows.append((flags, -inf, len(flags) - 1))

    def constraints(self) -> Any:
        """Matrix and bounds of the rows, made once."""
        import numpy as np
        from scipy.sparse import csr_array

        if self._matrix is None:
            starts = [0]
            columns: list[int] = []
            values: list[float] = []
            for row, _, _ in self.rows:
                columns.extend(row)
                values.extend(row.values())
                starts.append(len(columns))
            shape = (len(self.rows), len(self.cost))
            self._matrix = (
                csr_array((values, columns, starts), shape=shape),
                np.array([low for _, low, _ in self.rows]),
                np.array([high for _, _, high in self.rows]),
            )
        return self._matrix

    def solve(
        self,
        goal: Sequence[float],
        time_limit_s: float,
        *,
        only: Collection[tuple[str, int]] | None = None,
        below: float | None = None,
        presolve: bool = True,
    ) -> Any:
        """The answer of scipy's milp for the given costs of the columns.

        ``only``: nothing is bought but from these groups; ``below``: nothing dearer than this.
        """
        import numpy as np
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array, vstack

        matrix, low, high = self.constraints()
        costs, upper = np.array(goal), np.array(self.upper)
        if only is not None:
            for key, column in self.count.items():
                if key[1] >= 0 and key not in only:
                    upper[column] = 0.0
        if below is not None:
            matrix = vstack([matrix, csr_array(costs[np.newaxis, :])])
            low, high = np.append(low, -inf), np.append(high, below)
        return milp(
            costs,
            integrality=np.ones(len(costs)),
            bounds=Bounds(np.array(self.lower), upper),
            constraints=LinearConstraint(matrix, low, high),
            options={
                "time_limit": max(time_limit_s, 0.1),
                "mip_rel_gap": 0.0,
                "presolve": presolve,
            },
        )

    def counts_of(self, plan: Plan) -> list[int] | None:
        """What the columns are in a plan made for a like problem; None where it breaks a row."""
        counts = [0] * len(self.cost)
        rent = {(e, year): column for (e, _, year), column in self.rent.items()}
        chosen: list[tuple[int | None, int]] = [
            (self.count.get((p.machine_id, p.year)), p.count) for p in plan.purchases
        ]
        chosen += [
            (self.work.get((w.experiment_id, w.machine_id, w.year)), w.runs) for w in plan.work
        ]
        chosen += [(rent.get((r.experiment_id, r.year)), r.runs) for r in plan.rented]
        chosen += [(self.skip.get(e), runs) for e, runs in plan.left_out.items()]
        chosen += [
            (self.count[g.key], g.machine.owned)
            for g in self.groups
            if g.machine.owned and g.key in self.count
        ]
        for column, count in chosen:
            if column is None:
                return None
            counts[column] += count
        matrix, low, high = self.constraints()
        sums = matrix @ counts
        kept = (sums >= low - EPSILON).all() and (sums <= high + EPSILON).all()
        bounds = zip(self.lower, counts, self.upper, strict=True)
        within = all(least <= count <= most for least, count, most in bounds)
        return counts if kept and within else None
