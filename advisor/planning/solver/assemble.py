"""From the solver's integers to a plan: runs on machines day by day, and what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from advisor.planning.solver.charges import (
    kept_value_usd,
    purchase_cents,
    rental_cents,
    run_cents,
)
from advisor.planning.solver.groups import Group
from advisor.planning.solver.milp import Cut, Program
from advisor.planning.solver.problem import Placed, Plan, PlanningProblem, Purchase, Rented, Work
from advisor.planning.solver.schedule import Job, pack, schedule


def place(program: Program, counts: Sequence[int]) -> tuple[list[Placed], list[Cut]]:
    """Every run on a day, and what was learnt where that fails."""
    problem = program.problem
    ends = _ends(program, counts)
    placed: list[Placed] = []
    failed: list[Cut] = []
    numbers: Counter[str] = Counter()
    for group in program.groups:
        if group.key not in program.count:
            continue
        jobs = _jobs(program, group, counts, numbers, ends.get(group.machine.machine_id))
        if not jobs:
            continue
        machines = counts[program.count[group.key]]
        units = pack(jobs, machines)
        if units is None:
            runs = Counter(job.experiment_id for job in jobs)
            failed.append(
                Cut(
                    group.machine.machine_id,
                    group.year,
                    machines,
                    tuple(sorted(runs.items())),
                )
            )
            continue
        for number, taken in enumerate(sorted(filter(None, units)), start=1):
            times = schedule(taken)
            assert times is not None  # pack has checked it
            placed.extend(
                Placed(
                    experiment_id=job.experiment_id,
                    run=job.run,
                    machine_id=group.machine.machine_id,
                    year=group.year,
                    unit=number,
                    pieces=tuple(pieces),
                )
                for job, pieces in times.items()
            )
    experiments = {e.experiment_id: e for e in problem.experiments}
    rentals = {r.rental_id: r for r in problem.rentals}
    for (experiment_id, rental_id, year), column in program.rent.items():
        e = experiments[experiment_id]
        start = float(max(e.release_day, problem.year_days[year]))
        days = rentals[rental_id].times[e.model].days
        for unit in range(1, counts[column] + 1):
            numbers[experiment_id] += 1
            placed.append(
                Placed(
                    experiment_id=experiment_id,
                    run=numbers[experiment_id],
                    machine_id=rental_id,
                    year=year,
                    unit=unit,
                    pieces=((start, start + days),),
                )
            )
    placed.sort(key=lambda p: (p.machine_id, p.year, p.unit, p.pieces, p.experiment_id, p.run))
    return placed, failed


def _ends(program: Program, counts: Sequence[int]) -> dict[str, int]:
    """The day on which an owned machine becomes another one."""
    return {
        group.machine.upgrade_of: group.from_day
        for group in program.groups
        if group.machine.upgrade_of is not None
        and group.key in program.count
        and counts[program.count[group.key]]
    }


def _jobs(
    program: Program,
    group: Group,
    counts: Sequence[int],
    numbers: Counter[str],
    end: int | None,
) -> list[Job]:
    problem = program.problem
    last = problem.year_days[-1] if end is None else end
    jobs = []
    for e in problem.experiments:
        column = program.work.get((e.experiment_id, *group.key))
        if column is None:
            continue
        for _ in range(counts[column]):
            numbers[e.experiment_id] += 1
            jobs.append(
                Job(
                    due=min(problem.due(e), last),
                    low=max(e.release_day, group.from_day),
                    days=problem.elapsed(group.machine.times[e.model]),
                    experiment_id=e.experiment_id,
                    run=numbers[e.experiment_id],
                )
            )
    return jobs


def plan_of(program: Program, counts: Sequence[int], placed: Sequence[Placed]) -> Plan:
    """The plan that these integers stand for; whether it is the best is not said yet."""
    problem = program.problem
    purchases = tuple(
        Purchase(machine_id=machine_id, year=year, count=counts[column])
        for (machine_id, year), column in sorted(program.count.items())
        if year >= 0 and counts[column]
    )
    work = tuple(
        Work(experiment_id=key[0], machine_id=key[1], year=key[2], runs=counts[column])
        for key, column in sorted(program.work.items())
        if counts[column]
    )
    rented = tuple(
        Rented(experiment_id=key[0], rental_id=key[1], year=key[2], runs=counts[column])
        for key, column in sorted(program.rent.items())
        if counts[column]
    )
    left_out = {e: counts[column] for e, column in program.skip.items() if counts[column]}
    cents, judged = cost_of(problem, purchases, work, rented)
    limit = problem.budget_cents
    if limit is not None and cents > limit:
        raise AssertionError(f"the solver's plan costs {cents - limit} cents more than it may")
    values = {e.experiment_id: e.value for e in problem.experiments}
    done = {e.experiment_id: e.runs - left_out.get(e.experiment_id, 0) for e in problem.experiments}
    return Plan(
        purchases=purchases,
        work=work,
        rented=rented,
        placed=tuple(placed),
        left_out=left_out,
        cost_cents=cents,
        judged_cents=judged,
        runs=sum(done.values()),
        value=sum(values[e] * runs for e, runs in done.items()),
        finish_day=max((p.pieces[-1][1] for p in placed), default=0.0),
        proven=False,
        gap=None,
    )


def cost_of(
    problem: PlanningProblem,
    purchases: Sequence[Purchase],
    work: Sequence[Work],
    rented: Sequence[Rented],
) -> tuple[int, int]:
    """What is paid, and what the plan is judged by, in cents; exact, from the integers alone."""
    machines = {m.machine_id: m for m in problem.machines}
    rentals = {r.rental_id: r for r in problem.rentals}
    models = {e.experiment_id: e.model for e in problem.experiments}
    rules = problem.rules
    cents = kept = 0
    for p in purchases:
        cents += p.count * purchase_cents(machines[p.machine_id], rules)
        kept += p.count * int(kept_value_usd(machines[p.machine_id], p.year, problem) * 100)
    for w in work:
        cents += w.runs * run_cents(machines[w.machine_id], models[w.experiment_id], rules)
    for r in rented:
        cents += r.runs * rental_cents(rentals[r.rental_id], models[r.experiment_id], rules)
    return cents, cents - kept
