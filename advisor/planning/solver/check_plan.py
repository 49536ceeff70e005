"""Checks a plan against its problem by itself, without the program that found it: money in whole
cents, hours as decimals, and every run on a day."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import pairwise
from math import inf

from advisor.planning.solver.money.cents import (
    cents_by_year,
    rent_cents_by_gpu,
    within_budgets,
)
from advisor.planning.solver.money.charges import HOURS_PER_DAY
from advisor.planning.solver.plan import MINUTE, Placed, Plan
from advisor.planning.solver.problem import Experiment, Machine, PlanningProblem, Rental


def broken_rule(problem: PlanningProblem, plan: Plan) -> str | None:
    """What a plan breaks, in words; None where it keeps every rule."""
    paid = cents_by_year(problem, plan.purchases, plan.placed)
    if sum(paid) != plan.cost_cents or not within_budgets(problem, plan):
        return "the money"
    machines = {m.machine_id: m for m in problem.machines}
    bought = [(machines[p.machine_id], p) for p in plan.purchases]
    number = sum(p.count for machine, p in bought if not machine.upgrade_of)
    if problem.max_machines is not None and number > problem.max_machines:
        return "the number of machines"
    years = {problem.year_of(problem.orders[p.order]) for p in plan.purchases}
    if problem.buy_years is not None and not years <= {*problem.buy_years}:
        return "the years to buy in"
    if problem.require_gpu not in (None, *(machine.gpu_id for machine, _ in bought)):
        return "the GPU that must be bought"
    if problem.min_runs is not None and plan.value < problem.min_runs:
        return "the least number of runs"
    done = Counter(p.experiment_id for p in plan.placed)
    for e in problem.experiments:
        left = e.runs - done[e.experiment_id]
        most = e.runs - e.min_runs if problem.objective == "most-runs" else 0
        if left != plan.left_out.get(e.experiment_id, 0) or not 0 <= left <= most:
            return f"the runs of {e.name}"
    rent = rent_cents_by_gpu(problem, (p.place for p in plan.placed))
    if any(rent.get(limit.gpu_id, 0) > limit.cents for limit in problem.rent_limits):
        return "what may be paid for rent"
    return _hours(problem, plan) or _days(problem, plan)


def _hours(problem: PlanningProblem, plan: Plan) -> str | None:
    """Whether every allocation has the GPU-hours that are used of it."""
    rentals = {r.rental_id: r for r in problem.rentals}
    granted = {a.allocation_id: a for a in problem.allocations}
    models = {e.experiment_id: e.model for e in problem.experiments}
    used: dict[tuple[str, int], Decimal] = {}
    for placed in plan.placed:
        rental = rentals.get(placed.machine_id)
        if rental is None or rental.allocation is None:
            continue
        pool, limit = granted[rental.allocation].pool_of(placed.order)
        days = Decimal(str(rental.times[models[placed.experiment_id]].days))
        hours = days * (1 + problem.rules.failures) * HOURS_PER_DAY * rental.gpu_count
        key = rental.allocation, pool
        used[key] = used.get(key, Decimal(0)) + hours
        if limit is not None and used[key] > limit:
            return f"the hours of {granted[rental.allocation].name}"
    return None


def _days(problem: PlanningProblem, plan: Plan) -> str | None:
    """Whether each run is within its window, whole, and alone on machines that are there."""
    experiments = {e.experiment_id: e for e in problem.experiments}
    options, machines = problem.options(), {m.machine_id: m for m in problem.machines}
    ready = {(name, -1): machine.ready_day for name, machine in machines.items()}
    there = {(name, -1): machine.owned for name, machine in machines.items()}
    ends: dict[str, int] = {}
    for p in plan.purchases:
        day = problem.orders[p.order] + problem.rules.lead_days
        ready[p.machine_id, p.order] = day
        there[p.machine_id, p.order] = p.count
        upgraded = machines[p.machine_id].upgrade_of
        if upgraded is not None:
            ends[upgraded] = day
    lanes: dict[tuple[str, int, int], list[tuple[float, float]]] = {}
    for run in plan.placed:
        e, option = experiments[run.experiment_id], options[run.machine_id]
        first, last = run.pieces[0][0], run.pieces[-1][1]
        low, due = float(e.release_day), float(problem.due(e))
        if isinstance(option, Machine):
            whole = problem.whole(run.machine_id)
            low = max(low, ready.get((whole, run.order), inf))
            due = min(due, ends.get(whole, inf))
            lanes.setdefault((run.machine_id, run.order, run.unit), []).extend(run.pieces)
        if (
            first < low - MINUTE
            or last > due + MINUTE
            or abs(_lacks(problem, e, option, run)) > MINUTE
        ):
            return f"the days of a run of {e.name}"
    gpus: Counter[tuple[str, int]] = Counter()
    for (machine_id, order, _), pieces in lanes.items():
        if any(a[1] > b[0] + MINUTE for a, b in pairwise(sorted(pieces))):
            return f"one run at a time on {options[machine_id].label}"
        gpus[problem.whole(machine_id), order] += machines[machine_id].gpu_count
    for (whole, order), number in gpus.items():
        if number > there.get((whole, order), 0) * machines[whole].gpu_count:
            return f"the number of {options[whole].label}"
    return None


def _lacks(problem: PlanningProblem, e: Experiment, option: Machine | Rental, run: Placed) -> float:
    """The days of its run that it does not have, counted as its machine works."""
    if isinstance(option, Machine):
        spans = [problem.worked(end) - problem.worked(start) for start, end in run.pieces]
        return problem.elapsed(option.times[e.model]) - sum(spans)
    return problem.rented_days(option, e.model) - sum(b - a for a, b in run.pieces)
