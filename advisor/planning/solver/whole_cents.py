"""What a purchase, a run and a rental cost in whole cents, as the integer program counts (pure)."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from advisor.planning.solver.arithmetic import PLAIN
from advisor.planning.solver.charges import DAYS_PER_YEAR, Charge, fixed_charge, purchase_charge
from advisor.planning.solver.prices import machine_price, paid_price, price_lines
from advisor.planning.solver.problem import Machine, PlanningProblem, Rental, Rules
from advisor.planning.solver.run_charges import rental_charge, run_charge

CENT = Decimal("0.01")
_ONE = Decimal(1)


def purchase_cents(machine: Machine, rules: Rules, day: int = 0) -> int:
    """One machine ordered on a day of the grant, overhead included, in whole cents."""
    return _cents(purchase_charge(PLAIN, machine, rules, _ONE, day))


def paid_and_charged(machine: Machine, rules: Rules, day: int) -> tuple[Decimal, Decimal]:
    """What one machine ordered on a day costs its buyers, and what of that the grant is charged."""
    price = machine_price(PLAIN, machine, price_lines(PLAIN, machine))
    paid, _ = paid_price(PLAIN, machine, price, rules, day)
    charge = purchase_charge(PLAIN, machine, rules, _ONE, day)
    return paid, charge.each - sum((each.each for each in charge.apart), Decimal(0))


def run_cents(machine: Machine, model: str, rules: Rules) -> int:
    """Electricity of one run on a machine of the lab, in whole cents; 0 where it is not charged."""
    if rules.usd_per_kwh is None:
        return 0
    watts = machine.running_w
    assert watts is not None  # no machine without one is planned with where electricity is charged
    return _cents(run_charge(PLAIN, machine, model, rules, _ONE, watts=watts))


def rental_cents(rental: Rental, model: str, rules: Rules, day: int = 0) -> int:
    """One run on a rented instance that starts in a year of the grant, in whole cents."""
    return _cents(rental_charge(PLAIN, rental, model, rules, _ONE, day=day))


def fixed_cents(problem: PlanningProblem) -> list[int]:
    """What is paid in each year whatever is bought, in whole cents, overhead included."""
    found = [0] * problem.years
    for fixed in problem.fixed:
        found[fixed.year] += _cents(fixed_charge(PLAIN, fixed, problem.rules))
    return found


def _cents(charge: Charge[Decimal]) -> int:
    return int((charge.direct + charge.indirect) * 100)


def kept_value_usd(machine: Machine, order: int, problem: PlanningProblem) -> Decimal:
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
