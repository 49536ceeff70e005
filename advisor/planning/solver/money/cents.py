"""What purchases, runs and rentals cost in whole cents, and in which year of the grant they are
paid: a purchase with its order or, where it is written off, as its months go by; a run by its
days in each year."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import accumulate, pairwise

from advisor.planning.solver.money.arithmetic import PLAIN
from advisor.planning.solver.money.charges import (
    DAYS_PER_YEAR,
    Charge,
    fixed_charge,
    purchase_charge,
    rental_charge,
    run_charge,
)
from advisor.planning.solver.money.prices import (
    months_in_grant,
    paid_price,
)
from advisor.planning.solver.plan import Placed, Plan, Purchase
from advisor.planning.solver.problem import FixedCost, Machine, PlanningProblem, Rental, Rules

CENT = Decimal("0.01")
_ONE = Decimal(1)


def purchase_cents(machine: Machine, rules: Rules, day: int = 0) -> int:
    """One machine ordered on a day of the grant, overhead included, in whole cents."""
    return _cents(purchase_charge(PLAIN, machine, rules, _ONE, day))


def paid_and_charged(machine: Machine, rules: Rules, day: int) -> tuple[Decimal, Decimal]:
    """What one machine ordered on a day costs its buyers, and what of that the grant is charged."""
    charge = purchase_charge(PLAIN, machine, rules, _ONE, day)
    paid = paid_price(PLAIN, machine, rules, day)
    return paid, charge.each - sum((each.each for each in charge.apart), Decimal(0))


def run_cents(machine: Machine, model: str, rules: Rules) -> int:
    """Electricity of one run on a machine of the lab, in whole cents; 0 where it is not charged."""
    if rules.price_per_kwh is None:
        return 0
    watts = machine.running_w
    assert watts is not None  # no machine without one is planned with where electricity is charged
    return _cents(run_charge(PLAIN, machine, model, rules, _ONE, watts=watts))


def rental_cents(rental: Rental, model: str, rules: Rules, day: int = 0) -> int:
    """One run on a rented instance that starts in a year of the grant, in whole cents."""
    return _cents(rental_charge(PLAIN, rental, model, rules, _ONE, day=day))


def rent_cents_by_gpu(
    problem: PlanningProblem, places: Iterable[tuple[str, str, int]]
) -> dict[str, int]:
    """What runs, by `Placed.place`, cost of rent on the open market, by GPU, without overhead."""
    rentals = {r.rental_id: r for r in problem.rentals if r.allocation is None}
    models = {e.experiment_id: e.model for e in problem.experiments}
    found: dict[str, int] = {}
    for (experiment, rental_id, year), runs in Counter(places).items():
        if (rental := rentals.get(rental_id)) is not None:
            day = problem.year_days[year]
            charge = rental_charge(PLAIN, rental, models[experiment], problem.rules, _ONE, day=day)
            found[rental.gpu_id] = found.get(rental.gpu_id, 0) + runs * int(charge.direct * 100)
    return found


def fixed_cost_cents(fixed: FixedCost, rules: Rules) -> int:
    """One fixed cost in whole cents, overhead included."""
    return _cents(fixed_charge(PLAIN, fixed, rules))


def fixed_cents(problem: PlanningProblem) -> list[int]:
    """Fixed costs of each year, in whole cents, overhead included."""
    found = [0] * problem.years
    for fixed in problem.fixed:
        found[fixed.year] += fixed_cost_cents(fixed, problem.rules)
    return found


def _cents(charge: Charge[Decimal]) -> int:
    return int((charge.direct + charge.indirect) * 100)


def kept_value(machine: Machine, order: int, problem: PlanningProblem) -> Decimal:
    """Of what the grant is charged for a machine ordered so, without overhead and what has a line
    of its own, the part that is still there after the grant, straight over its life."""
    rules = problem.rules
    if rules.lifetime_years is None or rules.life_months is not None:
        return Decimal(0)  # charged as it is written off, it keeps nothing of what was charged
    if machine.share_of is not None:
        return Decimal(0)  # it stays the campus's
    day = problem.orders[order]
    charge = purchase_charge(PLAIN, machine, rules, _ONE, day)
    paid = charge.each - sum((each.each for each in charge.apart), Decimal(0))
    used = max(problem.year_days[-1] - day - rules.lead_days, 0)
    left = 1 - Decimal(used) / (rules.lifetime_years * DAYS_PER_YEAR)
    return (paid * max(left, Decimal(0))).quantize(CENT, rounding=ROUND_HALF_UP)


def months_by_year(problem: PlanningProblem, machine: Machine, day: int) -> dict[int, int]:
    """Of a machine that is written off and ordered on ``day``: how many months it is charged for in
    each year of the grant. The month of the day from which it can be used is whole. A share of a
    condo that is a service is not written off."""
    rules, found = problem.rules, dict[int, int]()
    if rules.life_months is None or machine.in_base is not None:
        return found
    ready = day + rules.lead_days
    within = min(months_in_grant(rules, ready), rules.life_months)
    first = problem.start + timedelta(days=ready)
    for month in range(first.month - 1, first.month - 1 + within):
        begins = date(first.year + month // 12, month % 12 + 1, min(first.day, 28))
        year = problem.year_of((begins - problem.start).days)
        found[year] = found.get(year, 0) + 1
    return found


def purchase_by_year(problem: PlanningProblem, machine: Machine, day: int) -> dict[int, Fraction]:
    """What one machine ordered on ``day`` is charged in each year, in cents; together what it
    costs. What has a line of its own, such as a warranty, is paid with the order."""
    ordered_in = problem.year_of(day)
    charge = purchase_charge(PLAIN, machine, problem.rules, _ONE, day)
    months = months_by_year(problem, machine, day)
    if not months:  # or it is delivered after the grant
        return {ordered_in: Fraction(_cents(charge))}
    at_once = sum(int((each.direct + each.indirect) * 100) for each in charge.apart)
    each_month = Fraction(_cents(charge) - at_once, sum(months.values()))
    found = {year: each_month * number for year, number in months.items()}
    if at_once:
        found[ordered_in] = found.get(ordered_in, Fraction(0)) + at_once
    return found


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


def run_costs(
    problem: PlanningProblem, placed: Iterable[Placed]
) -> dict[tuple[str, str, int], int]:
    """What one run costs, electricity or rent with overhead, by `Placed.place`."""
    models = {e.experiment_id: e.model for e in problem.experiments}
    options, rules, found = problem.options(), problem.rules, dict[tuple[str, str, int], int]()
    for place in {each.place for each in placed}:
        option, model = options[place[1]], models[place[0]]
        if isinstance(option, Machine):
            found[place] = run_cents(option, model, rules)
        else:
            found[place] = rental_cents(option, model, rules, problem.year_days[place[2]])
    return found


def cents_by_year(
    problem: PlanningProblem, purchases: Iterable[Purchase], placed: Sequence[Placed]
) -> list[int]:
    """What is paid in each year of the grant, in whole cents; together what the plan costs.

    A run that goes on into another year is paid in both, by its days in each.
    """
    exact = [Fraction(cents) for cents in fixed_cents(problem)]
    machines = {m.machine_id: m for m in problem.machines}
    for p in purchases:
        charged = purchase_by_year(problem, machines[p.machine_id], problem.orders[p.order])
        for year, cents in charged.items():
            exact[year] += p.count * cents
    costs = run_costs(problem, placed)
    for each in placed:
        for year, share in shares_by_year(problem, each).items() if costs[each.place] else ():
            exact[year] += share * costs[each.place]
    # As many years as have passed are rounded together.
    until = [0, *map(round, accumulate(exact))]
    return [b - a for a, b in pairwise(until)]


def within_year_budgets(problem: PlanningProblem, cents: Sequence[int]) -> bool:
    """Whether what is paid in each year may be."""
    limits = problem.year_budget_cents
    if limits is None:
        return True
    if not problem.carry_over:
        return all(a <= b for a, b in zip(cents, limits, strict=True))
    left = accumulate(limit - paid for paid, limit in zip(cents, limits, strict=True))
    return all(cents >= 0 for cents in left)


def within_budgets(problem: PlanningProblem, plan: Plan) -> bool:
    """Whether a plan keeps the budget, and that of each year."""
    if problem.budget_cents is not None and plan.cost_cents > problem.budget_cents:
        return False
    return within_year_budgets(problem, cents_by_year(problem, plan.purchases, plan.placed))
