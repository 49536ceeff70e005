"""What a purchase, a run and a rental are charged, overhead included (pure; US dollars).

Each formula is there once, for the solver and for the report. Every amount is rounded to the cent
once, where an invoice would be, so that sums are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Generic

from advisor.planning.solver.arithmetic import PLAIN, Arithmetic, N
from advisor.planning.solver.problem import (
    Machine,
    PlanningProblem,
    PriceLine,
    Rental,
    Rules,
    RunTime,
)

CENT = Decimal("0.01")
HOURS_PER_DAY = 24
DAYS_PER_YEAR = 365


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge(Generic[N]):
    """What so many machines or runs that are alike cost, in US dollars."""

    each: N
    """Direct cost of one."""
    direct: N
    base: N
    """The part of ``direct`` that overhead is charged on."""
    indirect: N
    """The overhead, rounded to the cent for one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCharge(Charge[N]):
    """What runs cost, by what one of them uses."""

    amount: N
    """kWh, or hours, of one run."""
    price: N
    """Per kWh or hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedLine(Generic[N]):
    """A line of a machine's price."""

    line: PriceLine
    quantity: N
    price: N
    """Of one piece."""
    amount: N
    """Of all."""


def overhead_rate(on: Arithmetic[N], rules: Rules) -> N:
    """Indirect cost on each dollar of the base."""
    key = "institution.overhead_rate"
    return on.leaf("setting", rules.overhead_rate, "share", "overhead rate", key=key)


def run_days(on: Arithmetic[N], time: RunTime, label: str) -> N:
    """Days of one run, from its measurement."""
    return on.leaf(
        "time",
        time.days,
        "days",
        f"training days, {label}",
        measurement_id=time.measurement_id,
        column="training_days",
    )


def price_lines(on: Arithmetic[N], machine: Machine) -> list[PricedLine[N]]:
    """What a machine is bought from."""
    found = []
    for line in machine.lines:
        price = on.leaf(
            "quote",
            line.unit_usd,
            "usd",
            f"price of {line.label}, {line.vendor}, {line.quoted_on}",
            quote_id=line.quote_id,
        )
        quantity = on.leaf(
            "unit",
            line.quantity,
            "pieces",
            f"{line.label} in {machine.label}",
            name="pieces of a machine",
            machine_id=machine.machine_id,
            item_id=line.item_id,
        )
        amount = on.compute(
            "product", [quantity, price], "usd", f"{line.label} for {machine.label}"
        )
        found.append(PricedLine(line=line, quantity=quantity, price=price, amount=amount))
    return found


def machine_price(on: Arithmetic[N], machine: Machine, lines: Sequence[PricedLine[N]]) -> N:
    """One machine, before overhead."""
    return on.compute("sum", [line.amount for line in lines], "usd", f"price of {machine.label}")


def equipment_base(
    on: Arithmetic[N], machine: Machine, lines: Sequence[PricedLine[N]], rules: Rules
) -> N:
    """The part of a machine's price that overhead is charged on.

    Equipment at or above the threshold is outside the base, unless the institution says
    otherwise. Where a machine that is put together from parts does not count as one piece of
    equipment, each line is held against the threshold by its own unit price.
    """
    unit = machine_price(on, machine, lines)
    if rules.equipment_in_base:
        return unit
    threshold = on.leaf(
        "setting",
        rules.equipment_threshold_usd,
        "usd",
        "equipment threshold",
        key="institution.equipment_threshold_usd",
    )
    label = f"overhead base of {machine.label}"
    if rules.fabrication_is_equipment:
        return on.compute("below", [unit, threshold], "usd", label)
    parts = []
    for each in lines:
        name = each.line.label
        below = on.compute("below", [each.price, threshold], "usd", f"{name} in the base")
        parts.append(
            on.compute("product", [each.quantity, below], "usd", f"{name}, all, in the base")
        )
    return on.compute("sum", parts, "usd", label)


def purchase_charge(on: Arithmetic[N], machine: Machine, rules: Rules, count: N) -> Charge[N]:
    """So many machines of a kind."""
    label = machine.label
    lines = price_lines(on, machine)
    unit = machine_price(on, machine, lines)
    base = equipment_base(on, machine, lines, rules)
    rate = overhead_rate(on, rules)
    one = on.compute("product", [base, rate], "usd", f"overhead on {label}", decimals=2)
    return Charge(
        each=unit,
        direct=on.compute("product", [count, unit], "usd", f"{label}, all"),
        base=on.compute("product", [count, base], "usd", f"overhead base of {label}, all"),
        indirect=on.compute("product", [count, one], "usd", f"overhead on {label}, all"),
    )


def hours_in_a_day(on: Arithmetic[N]) -> N:
    """A factor."""
    return on.leaf("unit", HOURS_PER_DAY, "hours", "hours in a day", name="hours in a day")


def watts_in_a_kilowatt(on: Arithmetic[N]) -> N:
    """A factor."""
    return on.leaf("unit", 1000, "W", "watts in a kilowatt", name="W in a kW")


def run_charge(
    on: Arithmetic[N],
    machine: Machine,
    model: str,
    rules: Rules,
    count: N,
    *,
    watts: N,
    name: str = "",
    year: str = "",
) -> RunCharge[N]:
    """Electricity of so many runs on a machine of the lab that draws ``watts`` at the wall.

    One run takes W / 1000 x 24 x days x PUE kWh.
    """
    assert rules.usd_per_kwh is not None
    label = machine.label
    days = run_days(on, machine.times[model], f"{model} on {label}")
    kilo = watts_in_a_kilowatt(on)
    kw = on.compute("ratio", [watts, kilo], "kW", f"power of {label}")
    pue = on.leaf("setting", rules.pue, "factor", "PUE", key="electricity.pue")
    kwh = on.compute(
        "product",
        [kw, hours_in_a_day(on), days, pue],
        "kwh",
        f"energy of {model} on {label}",
    )
    key = "electricity.usd_per_kwh"
    price = on.leaf("setting", rules.usd_per_kwh, "usd-per-kwh", "electricity", key=key)
    in_base = rules.electricity_in_base
    return _of_runs(on, kwh, price, rules, count, in_base, f"{name} on {label}", year)


def rental_charge(
    on: Arithmetic[N],
    rental: Rental,
    model: str,
    rules: Rules,
    count: N,
    *,
    name: str = "",
    year: str = "",
) -> RunCharge[N]:
    """So many runs on a rented instance: hours x price per hour."""
    label = rental.label
    days = run_days(on, rental.times[model], f"{model} on {label}")
    hours = on.compute("product", [days, hours_in_a_day(on)], "hours", f"hours, {name}")
    price = on.leaf(
        "rental",
        rental.usd_per_hour,
        "usd-per-hour",
        f"{label}, {rental.priced_on}",
        rental_id=rental.rental_id,
    )
    return _of_runs(on, hours, price, rules, count, rules.cloud_in_base, f"{name} on {label}", year)


def _of_runs(
    on: Arithmetic[N],
    amount: N,
    price: N,
    rules: Rules,
    count: N,
    in_base: bool,
    what: str,
    year: str,
) -> RunCharge[N]:
    each = on.compute("product", [amount, price], "usd", f"one run, {what}", decimals=2)
    direct = on.compute("product", [count, each], "usd", f"{what}, {year}")
    none = one = on.compute("sum", [], "usd", "nothing")
    if in_base:
        rate = overhead_rate(on, rules)
        label = f"overhead on one run, {what}"
        one = on.compute("product", [each, rate], "usd", label, decimals=2)
    return RunCharge(
        each=each,
        direct=direct,
        base=direct if in_base else none,
        indirect=on.compute("product", [count, one], "usd", f"overhead on {what}, {year}"),
        amount=amount,
        price=price,
    )


_ONE = Decimal(1)


def purchase_cents(machine: Machine, rules: Rules) -> int:
    """One machine, overhead included, in whole cents."""
    return _cents(purchase_charge(PLAIN, machine, rules, _ONE))


def run_cents(machine: Machine, model: str, rules: Rules) -> int:
    """Electricity of one run on a machine of the lab, in whole cents; 0 where it is not charged."""
    if rules.usd_per_kwh is None:
        return 0
    watts = None if machine.power is None else machine.power.wall_w
    assert watts is not None  # no machine without one is planned with where electricity is charged
    return _cents(run_charge(PLAIN, machine, model, rules, _ONE, watts=watts))


def rental_cents(rental: Rental, model: str, rules: Rules) -> int:
    """One run on a rented instance, in whole cents."""
    return _cents(rental_charge(PLAIN, rental, model, rules, _ONE))


def _cents(charge: Charge[Decimal]) -> int:
    return int((charge.direct + charge.indirect) * 100)


def kept_value_usd(machine: Machine, year: int, problem: PlanningProblem) -> Decimal:
    """What a machine bought in ``year`` is still worth after the grant, straight over its life."""
    lifetime = problem.rules.lifetime_years
    if lifetime is None:
        return Decimal(0)
    used = problem.year_days[-1] - problem.year_days[year] - problem.rules.lead_days
    left = 1 - Decimal(used) / (lifetime * DAYS_PER_YEAR)
    return (machine.price_usd * max(left, Decimal(0))).quantize(CENT, rounding=ROUND_HALF_UP)
