"""What a purchase, a run and a rental are charged, overhead included (pure; whole cents).

Every amount is rounded once, where an invoice would be, so that sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from advisor.planning.solver.problem import Machine, PlanningProblem, Rental, Rules, RunTime

CENT = Decimal("0.01")
HOURS_PER_DAY = 24
DAYS_PER_YEAR = 365


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A direct cost and the overhead on it, in US dollars to the cent."""

    direct_usd: Decimal
    base_usd: Decimal
    """The part of it that overhead is charged on."""
    indirect_usd: Decimal

    @property
    def total_usd(self) -> Decimal:
        return self.direct_usd + self.indirect_usd

    @property
    def cents(self) -> int:
        return int(self.total_usd * 100)


def to_cent(usd: Decimal) -> Decimal:
    """Rounded to the cent, halves up."""
    return usd.quantize(CENT, rounding=ROUND_HALF_UP)


def charge(direct_usd: Decimal, base_usd: Decimal, rules: Rules) -> Charge:
    """A direct cost with the overhead on its base."""
    return Charge(
        direct_usd=direct_usd,
        base_usd=base_usd,
        indirect_usd=to_cent(base_usd * rules.overhead_rate),
    )


def equipment_base_usd(machine: Machine, rules: Rules) -> Decimal:
    """The part of a machine's price that overhead is charged on.

    Equipment at or above the threshold is outside the base, unless the institution says
    otherwise. Where a machine that is put together from parts does not count as one piece of
    equipment, each line is held against the threshold by its own unit price.
    """
    if rules.equipment_in_base:
        return machine.price_usd
    threshold = rules.equipment_threshold_usd
    if rules.fabrication_is_equipment:
        return Decimal(0) if machine.price_usd >= threshold else machine.price_usd
    return sum(
        (line.unit_usd * line.quantity for line in machine.lines if line.unit_usd < threshold),
        Decimal(0),
    )


def purchase_charge(machine: Machine, rules: Rules) -> Charge:
    """One machine."""
    return charge(machine.price_usd, equipment_base_usd(machine, rules), rules)


def run_kwh(machine: Machine, time: RunTime, rules: Rules) -> Decimal:
    """Energy of one run in kWh: W / 1000 x 24 x days x PUE."""
    watts = None if machine.power is None else machine.power.wall_w
    assert watts is not None  # no machine without one is planned with where electricity is charged
    days = Decimal(str(time.days))
    return watts / 1000 * HOURS_PER_DAY * days * rules.pue


def run_charge(machine: Machine, time: RunTime, rules: Rules) -> Charge:
    """Electricity of one run on a machine of the lab, where the grant pays it."""
    if rules.usd_per_kwh is None:
        return charge(Decimal(0), Decimal(0), rules)
    direct = to_cent(run_kwh(machine, time, rules) * rules.usd_per_kwh)
    return charge(direct, direct if rules.electricity_in_base else Decimal(0), rules)


def rental_charge(rental: Rental, time: RunTime, rules: Rules) -> Charge:
    """One run on a rented instance: hours x price per hour."""
    direct = to_cent(Decimal(str(time.days)) * HOURS_PER_DAY * rental.usd_per_hour)
    return charge(direct, direct if rules.cloud_in_base else Decimal(0), rules)


def kept_value_usd(machine: Machine, year: int, problem: PlanningProblem) -> Decimal:
    """What a machine bought in ``year`` is still worth after the grant, straight over its life."""
    lifetime = problem.rules.lifetime_years
    if lifetime is None:
        return Decimal(0)
    used = problem.year_days[-1] - problem.year_days[year] - problem.rules.lead_days
    left = 1 - Decimal(used) / (lifetime * DAYS_PER_YEAR)
    return to_cent(machine.price_usd * max(left, Decimal(0)))
