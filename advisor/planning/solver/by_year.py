"""In which year of the grant what is paid falls: purchases by their order, or their months where
they are written off; runs by their days."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from advisor.planning.solver.plan import Placed, Plan, Purchase
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.whole_cents import fixed_cents, rental_cents, run_cents
from advisor.planning.solver.written_off import purchase_by_year


def whole_budget_cents(problem: PlanningProblem) -> int | None:
    """The budget, or what its years have together where that is less; None: there is no limit."""
    years = problem.year_budget_cents
    limits = (problem.budget_cents, None if years is None else sum(years))
    return min((cents for cents in limits if cents is not None), default=None)


def shares_by_year(problem: PlanningProblem, placed: Placed) -> dict[int, Fraction]:
    """The part of a run that is in each year of the grant; together 1."""
    days: dict[int, Fraction] = {}
    for start, end in placed.pieces:
        for year in range(problem.year_of(start), problem.years):
            last = year + 1 == problem.years
            low = max(start, problem.year_days[year])
            high = end if last else min(end, problem.year_days[year + 1])
            if high > low:
                days[year] = days.get(year, Fraction(0)) + Fraction(high) - Fraction(low)
    total = sum(days.values(), Fraction(0))
    if not total:
        return {problem.year_of(placed.pieces[0][0]): Fraction(1)}
    return {year: part / total for year, part in sorted(days.items())}


def run_cost_cents(problem: PlanningProblem, placed: Placed) -> int:
    """What one run costs: electricity or rent, with overhead."""
    model = next(e.model for e in problem.experiments if e.experiment_id == placed.experiment_id)
    for rental in problem.rentals:
        if rental.rental_id == placed.machine_id:
            return rental_cents(rental, model, problem.rules, problem.year_days[placed.order])
    machine = next(m for m in problem.machines if m.machine_id == placed.machine_id)
    return run_cents(machine, model, problem.rules)


def cents_by_year(
    problem: PlanningProblem, purchases: Iterable[Purchase], placed: Sequence[Placed]
) -> list[int]:
    """What is paid in each year of the grant, in whole cents; together what the plan costs.

    A run that goes on into another year is paid in both, by its days in each.
    """
    exact = [Fraction(cents) for cents in fixed_cents(problem)]
    for year, cents in enumerate(_bought_by_year(problem, purchases)):
        exact[year] += cents
    cost: dict[tuple[str, str, int], int] = {}
    for each in placed:
        key = (each.experiment_id, each.machine_id, each.order)
        if key not in cost:
            cost[key] = run_cost_cents(problem, each)
        if cost[key]:
            for year, share in shares_by_year(problem, each).items():
                exact[year] += share * cost[key]
    return _in_whole_cents(exact)


def bought_cents_by_year(problem: PlanningProblem, purchases: Iterable[Purchase]) -> list[int]:
    """What machines are charged in each year of the grant, in whole cents."""
    return _in_whole_cents(_bought_by_year(problem, purchases))


def _bought_by_year(problem: PlanningProblem, purchases: Iterable[Purchase]) -> list[Fraction]:
    machines = {m.machine_id: m for m in problem.machines}
    found = [Fraction(0)] * problem.years
    for p in purchases:
        charged = purchase_by_year(problem, machines[p.machine_id], problem.orders[p.order])
        for year, cents in charged.items():
            found[year] += p.count * cents
    return found


def _in_whole_cents(exact: Iterable[Fraction]) -> list[int]:
    """Amounts of years, of which as many as have passed are rounded together."""
    found: list[int] = []
    total, before = Fraction(0), 0
    for amount in exact:
        total += amount
        until = round(total)
        found.append(until - before)
        before = until
    return found


def within_year_budgets(problem: PlanningProblem, cents: Sequence[int]) -> bool:
    """Whether what is paid in each year may be."""
    limits = problem.year_budget_cents
    if limits is None:
        return True
    if not problem.carry_over:
        return all(a <= b for a, b in zip(cents, limits, strict=True))
    ahead = 0
    for paid, limit in zip(cents, limits, strict=True):
        ahead += limit - paid
        if ahead < 0:
            return False
    return True


def within_budgets(problem: PlanningProblem, plan: Plan) -> bool:
    """Whether a plan keeps the budget, and that of each year."""
    if problem.budget_cents is not None and plan.cost_cents > problem.budget_cents:
        return False
    return within_year_budgets(problem, cents_by_year(problem, plan.purchases, plan.placed))
