"""In which years of the grant a machine is charged: when it is ordered or, where it is written off,
as its months go by (pure)."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from advisor.planning.solver.arithmetic import PLAIN
from advisor.planning.solver.charges import purchase_charge
from advisor.planning.solver.prices import months_in_grant
from advisor.planning.solver.problem import Machine, PlanningProblem
from advisor.planning.solver.whole_cents import purchase_cents


def is_written_off(problem: PlanningProblem, machine: Machine) -> bool:
    """Whether a machine is charged by the month; a share of a condo that is a service is not."""
    return problem.rules.life_months is not None and machine.in_base is None


def months_by_year(problem: PlanningProblem, day: int) -> dict[int, int]:
    """Of a machine ordered on ``day``: how many months it is charged for in each year of the grant.
    The month of the day from which it can be used is whole."""
    rules, found = problem.rules, dict[int, int]()
    assert rules.life_months is not None
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
    costs. What stands on a line of its own, as a warranty, is paid with the order."""
    ordered_in = problem.year_of(day)
    cents = purchase_cents(machine, problem.rules, day)
    if not cents or not is_written_off(problem, machine):
        return {ordered_in: Fraction(cents)}
    apart = purchase_charge(PLAIN, machine, problem.rules, Decimal(1), day).apart
    at_once = int(sum((each.direct + each.indirect for each in apart), Decimal(0)) * 100)
    months = months_by_year(problem, day)
    if not months:  # it is delivered after the grant
        return {ordered_in: Fraction(cents)}
    each_month = Fraction(cents - at_once, sum(months.values()))
    found = {year: each_month * number for year, number in months.items()}
    if at_once:
        found[ordered_in] = found.get(ordered_in, Fraction(0)) + at_once
    return found
