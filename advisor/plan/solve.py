"""Solves a problem to a proven optimum, or says how far from one it may be.

The program of `model.py` is solved; its runs are packed on machines day by day; where a packing
fails, what was learnt is added and it is solved again. The bound of every round is valid, so the
first plan that packs is optimal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from advisor.plan.model import EPSILON, Cut, Group, Program
from advisor.plan.money import kept_value_usd, purchase_charge, rental_charge, run_charge
from advisor.plan.place import Job, pack, schedule
from advisor.plan.problem import Placed, Plan, Problem, Purchase, Rented, Work

DEFAULT_SECONDS = 60.0


class NoPlan(Exception):
    """No plan meets every constraint."""


class OutOfTime(Exception):
    """No plan was found in the time given; whether there is one is not known."""


@dataclass(slots=True)
class _Clock:
    end: float

    @property
    def left(self) -> float:
        return self.end - monotonic()


def solve(problem: Problem, seconds: float = DEFAULT_SECONDS) -> Plan:
    """The best plan for the problem's objective. Raises NoPlan or OutOfTime."""
    began = monotonic()
    clock = _Clock(began + seconds)
    if problem.objective == "soonest":
        plan = _soonest(problem, clock)
    elif problem.objective == "most-runs":
        plan = _most_runs(problem, clock)
    else:
        plan = _optimise(problem, clock, "judged")
    return replace(plan, seconds=monotonic() - began)


def _most_runs(problem: Problem, clock: _Clock) -> Plan:
    """As much value as possible, then as cheaply as possible."""
    if _weight(problem) is not None:
        return _optimise(problem, clock, "value, then judged")
    most = _optimise(problem, clock, "value")
    fixed = replace(problem, min_runs=max(most.value, problem.min_runs or 0))
    try:
        plan = _optimise(fixed, clock, "judged")
    except OutOfTime:
        return replace(most, proven=False, gap=None)
    return plan if most.proven else replace(plan, proven=False, gap=most.gap)


def _weight(problem: Problem) -> float | None:
    """Dollars above what any plan may cost, so that one run counts for more than all the money.

    None where there is no such amount, or it is too large to compute with.
    """
    limits = [problem.budget_cents]
    if problem.year_budget_cents is not None:
        limits.append(sum(problem.year_budget_cents))
    known = [cents for cents in limits if cents is not None]
    if not known or problem.rules.lifetime_years is not None:
        return None
    weight = min(known) / 100 + 1
    return weight if weight * sum(e.runs * e.value for e in problem.experiments) < 1e8 else None


def cheapest_with_runs(problem: Problem, seconds: float = DEFAULT_SECONDS) -> Plan:
    """The cheapest plan that does runs of the value ``min_runs``. Raises NoPlan or OutOfTime."""
    return _optimise(problem, _Clock(monotonic() + seconds), "judged")


def is_feasible(problem: Problem, seconds: float = DEFAULT_SECONDS) -> bool:
    """Whether any plan does everything. Raises OutOfTime."""
    try:
        _optimise(replace(problem, objective="cheapest"), _Clock(monotonic() + seconds), "none")
    except NoPlan:
        return False
    return True


def _soonest(problem: Problem, clock: _Clock) -> Plan:
    """The earliest whole day by which everything can be over, then the cheapest way to it."""
    everything = replace(problem, objective="cheapest")
    best = _optimise(everything, clock, "none")
    low, high = 0, int(-(-best.finish_day // 1))
    proven = True
    while low < high:
        middle = (low + high) // 2
        try:
            _optimise(replace(everything, finish_day=max(middle, 1)), clock, "none")
            high = middle
        except NoPlan:
            low = middle + 1
        except OutOfTime:
            proven = False
            break
    plan = _optimise(replace(everything, finish_day=max(high, 1)), clock, "judged")
    return plan if proven else replace(plan, proven=False, gap=(high - low) / max(high, 1))


def _optimise(problem: Problem, clock: _Clock, goal: str) -> Plan:
    cuts: list[Cut] = []
    rounds = 0
    while True:
        rounds += 1
        program = Program(problem, cuts)
        costs = _goal(program, goal)
        answer = program.solve(costs, clock.left)
        if answer.status == 2:
            raise NoPlan
        if answer.x is None:
            raise OutOfTime
        counts = [round(value) for value in answer.x]
        placed, failed = _place(program, counts)
        if not failed:
            return _plan(program, counts, placed, answer, rounds)
        cuts.extend(failed)
        if clock.left <= 0:
            raise OutOfTime


def _goal(program: Program, goal: str) -> Sequence[float]:
    if goal == "judged":
        return program.judged
    costs = [0.0] * len(program.cost)
    if goal.startswith("value"):
        weight = 1.0
        if goal == "value, then judged":
            weight = _weight(program.problem) or 1.0
            costs = list(program.judged)
        for e in program.problem.experiments:
            costs[program.skip[e.experiment_id]] = weight * e.value
    return costs


def _place(program: Program, counts: Sequence[int]) -> tuple[list[Placed], list[Cut]]:
    """Every run on a day, and what was learnt where that fails."""
    problem = program.problem
    placed: list[Placed] = []
    failed: list[Cut] = []
    numbers: Counter[str] = Counter()
    for group in program.groups:
        if group.key not in program.count:
            continue
        jobs = _jobs(program, group, counts, numbers)
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


def _jobs(
    program: Program, group: Group, counts: Sequence[int], numbers: Counter[str]
) -> list[Job]:
    problem = program.problem
    jobs = []
    for e in problem.experiments:
        column = program.work.get((e.experiment_id, *group.key))
        if column is None:
            continue
        for _ in range(counts[column]):
            numbers[e.experiment_id] += 1
            jobs.append(
                Job(
                    due=problem.due(e),
                    low=max(e.release_day, group.from_day),
                    days=problem.elapsed(group.machine.times[e.model]),
                    experiment_id=e.experiment_id,
                    run=numbers[e.experiment_id],
                )
            )
    return jobs


def _plan(
    program: Program, counts: Sequence[int], placed: list[Placed], answer: Any, rounds: int
) -> Plan:
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
    gap = float(answer.mip_gap) if answer.mip_gap is not None else None
    proven = answer.status == 0 and (gap is None or gap <= EPSILON)
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
        proven=proven,
        gap=None if proven else gap,
        rounds=rounds,
    )


def cost_of(
    problem: Problem,
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
        cents += p.count * purchase_charge(machines[p.machine_id], rules).cents
        kept += p.count * int(kept_value_usd(machines[p.machine_id], p.year, problem) * 100)
    for w in work:
        machine = machines[w.machine_id]
        time = machine.times[models[w.experiment_id]]
        cents += w.runs * run_charge(machine, time, rules).cents
    for r in rented:
        rental = rentals[r.rental_id]
        time = rental.times[models[r.experiment_id]]
        cents += r.runs * rental_charge(rental, time, rules).cents
    return cents, cents - kept
