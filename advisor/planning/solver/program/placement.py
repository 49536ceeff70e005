"""From the integers of a program to a plan, and back: runs on machines day by day, and its cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from advisor.planning.solver.machines import Group
from advisor.planning.solver.money.cents import (
    cents_by_year,
    fixed_cents,
    kept_value,
    purchase_cents,
    run_costs,
    within_year_budgets,
)
from advisor.planning.solver.plan import Placed, Plan, Purchase, by_place
from advisor.planning.solver.problem import EPSILON, PlanningProblem
from advisor.planning.solver.program.integer_program import Cut, Program
from advisor.planning.solver.program.packing import (
    Bundle,
    Job,
    Pieces,
    Undecided,
    pack,
    schedule,
)
from advisor.planning.solver.rentals import instances_at_once, rented_ways

Values = Sequence[float]
"""Of the program's columns: whole ones where they count things."""


def place(program: Program, counts: Values) -> tuple[list[Placed] | None, list[Cut]]:
    """Every run on a day, None where some have no place or no way was found to keep to the money of
    every year; and what was learnt from that."""
    found, cuts = _place(program, counts, by_year=False)
    if found is None or _within_years(program, counts, found):
        return found, cuts
    again, _ = _place(program, counts, by_year=True)
    kept = again is not None and _within_years(program, counts, again)
    return again if kept else None, []


def _within_years(program: Program, counts: Values, placed: Sequence[Placed]) -> bool:
    problem = program.problem
    if problem.year_budget_cents is None:
        return True
    paid = cents_by_year(problem, purchases_of(program, counts), placed)
    return within_year_budgets(problem, paid)


def _place(
    program: Program, counts: Values, *, by_year: bool
) -> tuple[list[Placed] | None, list[Cut]]:
    problem = program.problem
    ends = ends_of_owned(program, counts)
    found, cuts, failed = list[Placed](), list[Cut](), False
    numbers: Counter[str] = Counter()
    for group in program.groups:
        column = program.wholes.get(group.key, program.count.get(group.key))
        if column is None:
            continue
        end = ends.get(group.machine.machine_id)
        runs = runs_of(program, group, counts, numbers, end, by_year)
        if not runs:
            continue
        machines, machine_id = round(counts[column]), group.machine.machine_id
        units = None
        try:
            units = pack(runs, machines)
            if units is None:
                done = tuple(sorted(Counter(run[0].experiment_id for run in runs).items()))
                cuts.append(Cut(machine_id, group.order, machines, done))
        except Undecided:
            pass
        failed |= units is None
        for number, taken in enumerate(sorted(filter(None, units or ())), start=1):
            for (experiment_id, run), pieces in calendar(problem, taken).items():
                found.append(
                    Placed(
                        experiment_id=experiment_id,
                        run=run,
                        machine_id=machine_id,
                        order=group.order,
                        unit=number,
                        pieces=tuple(pieces),
                    )
                )
    for key, column in program.rent.items():
        found += rented_runs(program, key, round(counts[column]), counts, numbers, by_year)
    return None if failed else found, cuts


def calendar(problem: PlanningProblem, taken: Sequence[Bundle]) -> dict[tuple[str, int], Pieces]:
    """When each run is on one machine, in days of the calendar; what is kept free is left over."""
    share = problem.usable(1.0)
    jobs = [
        job if job.whole is not None else replace(job, days=job.days * share)
        for run in taken
        for job in run
    ]
    times = schedule(jobs)
    assert times is not None  # pack has checked it
    merged: dict[tuple[str, int], Pieces] = {}
    for job, pieces in sorted(times.items(), key=lambda each: each[1]):
        whole = merged.setdefault((job.experiment_id, job.run), [])
        for start, end in pieces:
            if whole and abs(whole[-1][1] - start) <= EPSILON:
                whole[-1] = (whole[-1][0], end)
            else:
                whole.append((start, end))
    return {
        run: [(problem.day_when(start), problem.day_when(end)) for start, end in pieces]
        for run, pieces in merged.items()
    }


def rented_runs(
    program: Program,
    key: tuple[str, str, int],
    runs: int,
    counts: Values,
    numbers: Counter[str],
    by_year: bool,
) -> Iterator[Placed]:
    """The runs on one rental that start in one year, each as early as it can."""
    experiment_id, rental_id, year = key
    start, days = program.ways[key].low, program.ways[key].days
    split = program.days.get(key)
    if by_year and split is not None and runs:
        first = counts[split[year]] / runs
        if first < days - EPSILON:
            start = program.problem.year_days[year + 1] - first
    for unit in range(1, runs + 1):
        numbers[experiment_id] += 1
        yield Placed(
            experiment_id=experiment_id,
            run=numbers[experiment_id],
            machine_id=rental_id,
            order=year,
            unit=unit,
            pieces=((start, start + days),),
            rented=True,
        )


def ends_of_owned(program: Program, counts: Values) -> dict[str, int]:
    """The day on which an owned machine becomes another one."""
    return {
        group.machine.upgrade_of: group.from_day
        for group in program.groups
        if group.machine.upgrade_of is not None
        and group.machine.part_of is None
        and group.key in program.count
        and round(counts[program.count[group.key]])
    }


def runs_of(
    program: Program,
    group: Group,
    counts: Values,
    numbers: Counter[str],
    end: int | None,
    by_year: bool,
) -> list[Bundle]:
    """The runs of a group, each as long as it is with what must stay free, in days of mean
    utilisation; by year each is the pieces of it that the program has in every year."""
    problem = program.problem
    last = problem.year_days[-1] if end is None else end
    share = problem.usable(1.0)
    found: list[Bundle] = []
    for e in problem.experiments:
        key = (e.experiment_id, *group.key)
        column = program.work.get(key)
        if column is None:
            continue
        runs = round(counts[column])
        low, due = max(e.release_day, group.from_day), min(problem.due(e), last)
        elapsed = problem.elapsed(group.machine.times[e.model])
        years: dict[int, tuple[float, float]] = {}
        each: list[dict[int, float]] = []
        if by_year and key in program.days:
            for year in program.days[key]:
                start, over = problem.year_days[year], problem.year_days[year + 1]
                years[year] = problem.worked(max(low, start)), problem.worked(min(due, over))
            days = {year: counts[column] for year, column in program.days[key].items()}
            most = {year: over - start for year, (start, over) in years.items()}
            each = days_of_each(days, most, elapsed, runs)
        for n in range(runs):
            numbers[e.experiment_id] += 1
            run = numbers[e.experiment_id]
            whole = Job(
                due=problem.worked(due),
                low=problem.worked(low),
                days=elapsed / share,
                experiment_id=e.experiment_id,
                run=run,
            )
            if each:
                bundle = tuple(
                    replace(whole, low=years[year][0], due=years[year][1], days=takes, whole=whole)
                    for year, takes in each[n].items()
                )
            else:
                bundle = (replace(whole, days=elapsed, whole=whole) if by_year else whole,)
            found.append(bundle)
    return found


def days_of_each(
    days: Mapping[int, float], most: Mapping[int, float], elapsed: float, runs: int
) -> list[dict[int, float]]:
    """How the days that runs take together in every year are dealt to each: one run after the
    other, or all the same where a year is too short for that."""
    left, found = dict(days), []
    for _ in range(runs):
        need, takes = elapsed, {}
        for year in left:
            takes[year] = min(left[year], need, most[year])
            left[year] -= takes[year]
            need -= takes[year]
        if need > EPSILON * max(runs, 1):
            same = {year: total / runs for year, total in days.items() if total / runs > EPSILON}
            return [same] * runs
        found.append({year: n for year, n in takes.items() if n > EPSILON})
    return found


def purchases_of(program: Program, counts: Values) -> tuple[Purchase, ...]:
    """What these integers buy."""
    parts = {m.machine_id for m in program.problem.machines if m.part_of is not None}
    return tuple(
        Purchase(machine_id=machine_id, order=order, count=round(counts[column]))
        for (machine_id, order), column in sorted(program.count.items())
        if order >= 0 and machine_id not in parts and round(counts[column])
    )


def plan_of(
    problem: PlanningProblem, purchases: tuple[Purchase, ...], placed: Sequence[Placed]
) -> Plan:
    """The plan with these purchases and runs, at what it costs; whether it is the best is not said
    yet."""
    cents, judged = cost_of(problem, purchases, placed)
    done = Counter(p.experiment_id for p in placed)
    left_out = {e.experiment_id: e.runs - done[e.experiment_id] for e in problem.experiments}
    return Plan(
        purchases=purchases,
        placed=tuple(sorted(instances_at_once(placed), key=by_place)),
        left_out={e: runs for e, runs in left_out.items() if runs > 0},
        cost_cents=cents,
        judged_cents=judged,
        value=sum(e.value * min(done[e.experiment_id], e.runs) for e in problem.experiments),
        proven=False,
        gap=None,
    )


def cost_of(
    problem: PlanningProblem, purchases: Sequence[Purchase], placed: Sequence[Placed]
) -> tuple[int, int]:
    """What is paid, and what the plan is judged by, in cents."""
    machines = {m.machine_id: m for m in problem.machines}
    kept = 0
    cents = sum(fixed_cents(problem))
    for p in purchases:
        machine = machines[p.machine_id]
        cents += p.count * purchase_cents(machine, problem.rules, problem.orders[p.order])
        kept += p.count * int(kept_value(machine, p.order, problem) * 100)
    costs = run_costs(problem, placed)
    cents += sum(costs[p.place] for p in placed)
    return cents, cents - kept + _risk_cents(problem, placed)


def _risk_cents(problem: PlanningProblem, placed: Sequence[Placed]) -> int:
    """What runs on allocations are judged dearer by, since these may not be awarded."""
    unsure = {a.allocation_id for a in problem.allocations if a.odds < 1}
    granted = {r.rental_id for r in problem.rentals if r.allocation in unsure}
    hoped = [p.place for p in placed if p.machine_id in granted]
    risk = {way.key: way.risk_cents for way in (rented_ways(problem) if hoped else ())}
    return sum(risk.get(place, 0) for place in hoped)


def counted_again(problem: PlanningProblem, plan: Plan) -> Plan | None:
    """A plan made for a like problem, at what it costs here; None where it buys or rents what this
    problem has not."""
    options = problem.options()
    models = {e.experiment_id: e.model for e in problem.experiments}
    if any(p.machine_id not in options or p.order >= len(problem.orders) for p in plan.purchases):
        return None
    for p in plan.placed:
        option = options.get(p.machine_id)
        if option is None or models.get(p.experiment_id) not in option.times:
            return None
    return plan_of(problem, plan.purchases, plan.placed)
