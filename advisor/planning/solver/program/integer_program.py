"""A problem as a mixed-integer program.

Machines that are alike and were ordered on one day form a group. How many are bought and how many
runs of each experiment a group does are integers. A group has time for its runs when, for every
interval of days from a release to a due day, the runs whose windows lie inside it need no more
days than its machines have: for one machine this is exact (earliest due date first, runs pause at
a checkpoint). For several machines it is necessary; what does not pack is learnt (`Cut`).

Some of the GPUs of a machine, and two machines together, are groups of their own, whose number is
limited by the GPUs of the machines that there are. Where money is given by the year, how much of a
run falls in each year is a column too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, inf

from advisor.planning.solver.machines import Group, groups, runs_that_fit
from advisor.planning.solver.money.cents import (
    fixed_cents,
    kept_value,
    purchase_by_year,
    purchase_cents,
    rent_cents_by_gpu,
    run_cents,
)
from advisor.planning.solver.problem import EPSILON, Experiment, PlanningProblem
from advisor.planning.solver.program.highs import HighsProgram
from advisor.planning.solver.program.packing import Load, within_moments
from advisor.planning.solver.rentals import Way, rented_ways

ROUNDED = 0.49
"""Cents that a year's money may be exceeded by before it is rounded."""
FIRST_DAYS = 1.0
"""A rented run takes at least this many days of the year whose rate it is charged at."""


@dataclass(frozen=True, slots=True)
class Cut:
    """These runs do not fit on so few machines of a group: learnt from a failed packing."""

    machine_id: str
    order: int
    count: int
    runs: tuple[tuple[str, int], ...]


class Program(HighsProgram):
    """The columns and rows, and what each column means."""

    def __init__(self, problem: PlanningProblem) -> None:
        super().__init__()
        self.problem = problem
        self.judged: list[float] = []
        """What each column counts where plans are compared: its cost less kept value."""
        self.count: dict[tuple[str, int], int] = {}
        self.wholes: dict[tuple[str, int], int] = {}
        """Of machines that have parts: how many are used whole."""
        self.work: dict[tuple[str, str, int], int] = {}
        self.rent: dict[tuple[str, str, int], int] = {}
        self.skip: dict[str, int] = {}
        self.ways: dict[tuple[str, str, int], Way] = {}
        """By the keys of ``rent``."""
        self.days: dict[tuple[str, str, int], dict[int, int]] = {}
        """Of work and rent: columns of the days that they run in each year, where that counts."""
        self._windows: dict[int, tuple[float, float, float | None]] = {}
        """Of rows that hold a machine's time: the interval; days a run where they count runs."""
        self.machines: dict[tuple[str, int], int] = {}
        """The columns that count what is bought, by machine and order."""
        self._owned_rows: dict[str, range] = {}
        self._by_year: list[dict[int, float]] = [{} for _ in range(problem.years)]
        self.groups = groups(problem)
        done: dict[str, dict[int, float]] = {e.experiment_id: {} for e in problem.experiments}
        wholes: list[list[Group]] = []
        for group in self.groups:  # the parts of a machine come after it
            if group.machine.part_of is None:
                wholes.append([])
            wholes[-1].append(group)
        for whole, *parts in wholes:
            self._add_machine(whole, parts, done)
        for whole, *_ in wholes:
            self._end_owned(whole)
        self._add_rentals(done)
        for e in problem.experiments:
            most = e.runs - e.min_runs if problem.objective == "most-runs" else 0
            column = self.column(most)
            self.skip[e.experiment_id] = column
            self.rows.append(({**done[e.experiment_id], column: 1.0}, e.runs, e.runs))
        self._add_limits()

    def column(
        self, upper: float, *, cost: float = 0.0, whole: bool = True, judged: float | None = None
    ) -> int:
        """A new column from 0 to ``upper``: its number."""
        self.judged.append(cost if judged is None else judged)
        return super().column(upper, cost=cost, whole=whole)

    def _spend(self, column: int, year: int) -> None:
        if self.cost[column]:
            self._by_year[year][column] = self.cost[column]

    def _add_machine(
        self, group: Group, parts: Sequence[Group], done: Mapping[str, dict[int, float]]
    ) -> None:
        """A group of whole machines with the parts that runs may take of them."""
        problem, machine = self.problem, group.machine
        first_row = len(self.rows)
        jobs = {
            each.key: [
                (e, n) for e in problem.experiments if (n := runs_that_fit(problem, each, e))
            ]
            for each in (group, *parts)
        }
        """By group, the experiments that one machine has time for, and for how many runs."""
        if not any(jobs.values()):
            return
        if machine.owned:
            count = self.column(machine.owned)
            self.lower[count] = machine.owned
        else:
            day = problem.orders[group.order]
            dollars = purchase_cents(machine, problem.rules, day) / 100
            kept = float(kept_value(machine, group.order, problem))
            most = sum(e.runs for each in jobs.values() for e, _ in each)
            widest = max([1, *(-(-p.machine.gpu_count // machine.gpu_count) for p in parts)])
            most = most * widest if machine.upgrade_of is None else 1
            count = self.column(most, cost=dollars, judged=dollars - kept)
            for year, cents in purchase_by_year(problem, machine, day).items():
                self._by_year[year][count] = float(cents) / 100
        self.count[group.key] = count
        taken: dict[int, float] = {}
        for each in (group, *parts):
            if not jobs[each.key]:
                continue
            number = count
            if parts:
                number = self.column(sum(e.runs for e, _ in jobs[each.key]))
                taken[number] = float(each.machine.gpu_count)
                if each is not group:
                    self.count[each.key] = number
                else:
                    self.wholes[group.key] = number
            self._add_runs(each, number, jobs[each.key], done)
        if parts:
            gpus = machine.gpu_count
            self.rows.append(({**taken, count: -float(gpus)}, -inf, 0.0))
            biggest = {c: float(-(-g // gpus)) for c, g in taken.items() if g * 2 > gpus}
            if len(biggest) > 1:  # no two of these on one machine
                self.rows.append(({**biggest, count: -1.0}, -inf, 0.0))
        if machine.owned:
            self._owned_rows[machine.machine_id] = range(first_row, len(self.rows))
        else:
            self.machines[group.key] = count

    def _add_runs(
        self,
        group: Group,
        count: int,
        fitting: Sequence[tuple[Experiment, int]],
        done: Mapping[str, dict[int, float]],
    ) -> None:
        problem, machine = self.problem, group.machine
        models = dict.fromkeys(e.model for e, _ in fitting)
        run_usd = {model: run_cents(machine, model, problem.rules) / 100 for model in models}
        jobs: list[Load] = []
        pieces: list[Load] = []
        for e, fits in fitting:
            low, due = max(e.release_day, group.from_day), problem.due(e)
            elapsed = problem.elapsed(machine.times[e.model])
            column = self.column(e.runs, cost=run_usd[e.model])
            self.work[e.experiment_id, *group.key] = column
            done[e.experiment_id][column] = 1.0
            self._windows[len(self.rows)] = (low, due, elapsed)
            self.rows.append(({column: 1.0, count: -float(fits)}, -inf, 0.0))
            jobs.append(Load(column, elapsed, low, due))
            first, last = problem.year_of(low), problem.year_of(due - EPSILON)
            if problem.year_budget_cents is None or not run_usd[e.model]:
                pieces.append(jobs[-1])
            elif first == last or problem.paid_early:
                for year in [first] if problem.carry_over else range(first, last + 1):
                    self._spend(column, year)
                pieces.append(jobs[-1])
            else:
                share = run_usd[e.model] / elapsed
                split = self._split(column, elapsed, e.runs, range(first, last + 1), share)
                self.days[e.experiment_id, *group.key] = split
                for year, days in split.items():
                    start = max(low, problem.year_days[year])
                    over = min(due, problem.year_days[year + 1])
                    pieces.append(Load(days, 1.0, start, over))
                    # One run is on one machine at a time; the end of a year is no deadline.
                    most = min(self._worked(start, over), elapsed)
                    self.rows.append(({days: 1.0, column: -most}, -inf, 0.0))
        self._add_intervals(count, jobs, pieces)

    def _split(
        self, column: int, elapsed: float, runs: int, years: Sequence[int], usd_a_day: float
    ) -> dict[int, int]:
        """Columns of the days that runs of a column take in each of these years."""
        split = {year: self.column(runs * elapsed, whole=False) for year in years}
        self.rows.append(({**dict.fromkeys(split.values(), 1.0), column: -elapsed}, 0.0, 0.0))
        for year, days in split.items():
            self._by_year[year][days] = usd_a_day
        return split

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
            length = self._usable(low, due)
            lost = length - self._usable(low, min(max(low, upgrade.from_day), due))
            row = self.rows[number][0]
            if lost > 0 and elapsed is not None:  # counted in runs, not in days
                fits = -row[self.count[owned, -1]]
                lost = max(fits - max(floor((length - lost + EPSILON) / elapsed), 0), 0.0)
            if lost > 0:
                row[column] = lost

    def _usable(self, low: float, due: float) -> float:
        return self.problem.usable(self._worked(low, due))

    def _worked(self, low: float, due: float) -> float:
        return self.problem.worked(due) - self.problem.worked(low)

    def _add_intervals(self, count: int, jobs: Sequence[Load], pieces: Sequence[Load]) -> None:
        """What machines have time for from a release to a due day; a year's end is no deadline."""
        import numpy as np

        apart = self.problem.rules.slack > 0 and jobs != pieces
        lows, dues, days = np.array([(each.low, each.due, each.days) for each in jobs]).T
        seen: set[tuple[int, ...]] = set()
        for loads in (jobs, pieces) if apart else (pieces,):
            by_year = apart and loads is pieces
            for low, due, within in within_moments(loads, len(self.groups)):
                row = {loads[n].column: loads[n].days for n in within}
                # The same runs in a shorter interval say more; those come first.
                if tuple(row) in seen:
                    continue
                seen.add(tuple(row))
                length = (self._worked if by_year else self._usable)(low, due)
                self._windows[len(self.rows)] = (low, due, None)
                self.rows.append(({**row, count: -length}, -inf, 0.0))
                whole = (lows >= low) & (dues <= due)
                for parts in () if by_year else (2, 3):
                    # Of runs longer than a half (a third) of it, one (two) a machine.
                    long = (whole & (days * parts > length + EPSILON)).nonzero()[0].tolist()
                    if len(long) > 1:
                        one = {jobs[n].column: 1.0 for n in long}
                        self.rows.append(({**one, count: -float(parts - 1)}, -inf, 0.0))

    def _add_rentals(self, done: Mapping[str, dict[int, float]]) -> None:
        problem = self.problem
        granted = {a.allocation_id: a for a in problem.allocations}
        hours: dict[tuple[str, int], tuple[float, dict[int, float]]] = {}
        for way in rented_ways(problem):
            e, rental = way.experiment, way.rental
            usd = way.cents / 100
            column = self.column(e.runs, cost=usd, judged=usd + way.risk_cents / 100)
            key = way.key
            self.rent[key] = column
            self.ways[key] = way
            done[e.experiment_id][column] = 1.0
            if rental.allocation is not None:
                pool, limit = granted[rental.allocation].pool_of(way.year)
                if limit is not None:
                    _, used = hours.setdefault((rental.allocation, pool), (float(limit), {}))
                    used[column] = way.gpu_hours
            ends_in = way.year if problem.carry_over and problem.paid_early else way.ends_in
            if problem.year_budget_cents is None or ends_in == way.year or problem.paid_early:
                for year in range(way.year, ends_in + 1):
                    self._spend(column, year)
                continue
            years = range(way.year, way.ends_in + 1)
            split = self._split(column, way.days, e.runs, years, usd / way.days)
            self.days[key] = split
            for year, days in split.items():
                start = max(way.low, problem.year_days[year])
                most = min(min(way.last, problem.year_days[year + 1]) - start, way.days)
                self.rows.append(({days: 1.0, column: -most}, -inf, 0.0))
                if year == way.year:
                    self.rows.append(({days: -1.0, column: min(most, FIRST_DAYS)}, -inf, 0.0))
        self.rows += [(used, -inf, limit) for limit, used in hours.values()]
        paid: dict[str, dict[int, float]] = {limit.gpu_id: {} for limit in problem.rent_limits}
        for key, column in self.rent.items() if paid else ():
            for gpu_id, cents in rent_cents_by_gpu(problem, [key]).items():
                paid.setdefault(gpu_id, {})[column] = cents
        self.rows += [(paid[limit.gpu_id], -inf, limit.cents) for limit in problem.rent_limits]

    def _add_limits(self) -> None:
        problem = self.problem
        fixed = fixed_cents(problem)
        if problem.budget_cents is not None:
            spent = {i: cost for i, cost in enumerate(self.cost) if cost}
            self.rows.append((spent, -inf, (problem.budget_cents - sum(fixed)) / 100))
        if problem.year_budget_cents is not None:
            spent, limit = {}, 0
            for year, by_year in enumerate(self._by_year):
                if not problem.carry_over:
                    spent, limit = {}, 0
                limit += problem.year_budget_cents[year] - fixed[year]
                for column, usd in by_year.items():
                    spent[column] = spent.get(column, 0.0) + usd
                self.rows.append((dict(spent), -inf, (limit + ROUNDED) / 100))
        bought, wanted = dict[int, float](), dict[int, float]()
        upgrades: dict[str, dict[int, float]] = {}
        machines = {m.machine_id: m for m in problem.machines}
        for (machine_id, _), column in self.machines.items():
            owned = machines[machine_id].upgrade_of
            of = bought if owned is None else upgrades.setdefault(owned, {})
            of[column] = 1.0
            if machines[machine_id].gpu_id == problem.require_gpu:
                wanted[column] = 1.0
        if problem.max_machines is not None and bought:
            self.rows.append((bought, -inf, problem.max_machines))
        self.rows += [(once, -inf, 1.0) for once in upgrades.values()]
        if problem.require_gpu is not None:
            self.rows.append((wanted or {0: 0.0}, 1.0, inf))
        if problem.min_runs is not None:
            values = {self.skip[e.experiment_id]: float(e.value) for e in problem.experiments}
            most = sum(e.runs * e.value for e in problem.experiments)
            self.rows.append((values, -inf, most - problem.min_runs))

    def add_cut(self, cut: Cut) -> None:
        """Either more machines, or fewer of at least one of these runs."""
        for group in self.groups:
            same = group.machine.machine_id == cut.machine_id and group.order >= cut.order
            count = self.wholes.get(group.key, self.count.get(group.key))
            columns = [self.work.get((e, *group.key), -1) for e, _ in cut.runs]
            if not same or count is None or -1 in columns:
                continue
            flags: dict[int, float] = {}
            for column, (_, runs) in zip(columns, cut.runs, strict=True):
                flag = self.column(1)
                slack = max(self.upper[column] - (runs - 1), 0.0)
                self.rows.append(({column: 1.0, flag: -slack}, -inf, runs - 1))
                flags[flag] = 1.0
            flag = self.column(1)
            # flag is 1 where the group has no more machines than failed.
            self.rows.append(({count: 1.0, flag: float(cut.count + 1)}, cut.count + 1, inf))
            self.rows.append(({**flags, flag: 1.0}, -inf, len(flags)))
