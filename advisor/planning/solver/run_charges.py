"""What runs are charged: electricity on a machine of the lab, or rent (pure; US dollars)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from advisor.planning.solver.arithmetic import Arithmetic, N
from advisor.planning.solver.charges import DAYS_PER_YEAR, Charge, overhead_rate
from advisor.planning.solver.prices import with_vat
from advisor.planning.solver.problem import Machine, Rental, Rules, RunTime

HOURS_PER_DAY = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCharge(Charge[N]):
    """What runs cost, by what one of them uses."""

    amount: N
    """kWh, or hours, of one run."""
    price: N
    """Per kWh or hour."""


def days_of_a_run(on: Arithmetic[N], time: RunTime, rules: Rules, label: str) -> N:
    """Days that one run trains, what is trained again after failures included."""
    days = run_days(on, time, label)
    if not rules.failures:
        return days
    share = on.leaf(
        "setting", rules.failures, "share", "allowance for failures", key="running.failures"
    )
    again = on.compute("product", [days, share], "days", f"trained again, {label}")
    return on.compute("sum", [days, again], "days", f"days with failures, {label}")


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
    model_name: str = "",
    year: str = "",
) -> RunCharge[N]:
    """Electricity of so many runs on a machine of the lab that draws ``watts`` at the wall.

    One run takes W / 1000 x 24 x days x PUE kWh.
    """
    assert rules.usd_per_kwh is not None
    label, called = machine.label, model_name or model
    days = days_of_a_run(on, machine.times[model], rules, f"{called} on {label}")
    kilo = watts_in_a_kilowatt(on)
    kw = on.compute("ratio", [watts, kilo], "kW", f"power of {label}")
    pue = on.leaf("setting", rules.pue, "factor", "PUE", key="electricity.pue")
    kwh = on.compute(
        "product",
        [kw, hours_in_a_day(on), days, pue],
        "kwh",
        f"energy of {called} on {label}",
    )
    key = "electricity.usd_per_kwh"
    price = on.leaf("setting", rules.usd_per_kwh, "usd-per-kwh", "electricity", key=key)
    if rules.electricity_change:
        change = on.leaf(
            "setting",
            rules.electricity_change,
            "share",
            "change of electricity a year",
            key="electricity.price_change",
        )
        half = Decimal(rules.grant_months * DAYS_PER_YEAR) / 24
        middle = on.leaf("unit", half, "days", "days until the middle of the grant", name="middle")
        factor = on.compute("growth", [change, middle], "factor", "electricity, mean of the grant")
        price = on.compute("product", [price, factor], "usd-per-kwh", "electricity, mean price")
    what = f"{name} on {label}"
    rate = overhead_rate(on, rules, "electricity") if rules.electricity_in_base else None
    return _of_runs(on, kwh, price, count, rate, what, year)


def rental_charge(
    on: Arithmetic[N],
    rental: Rental,
    model: str,
    rules: Rules,
    count: N,
    *,
    name: str = "",
    model_name: str = "",
    year: str = "",
    day: int,
) -> RunCharge[N]:
    """So many runs on a rented instance that start in a year of the grant: hours x price."""
    label = rental.label
    days = days_of_a_run(on, rental.times[model], rules, f"{model_name or model} on {label}")
    hours = on.compute("product", [days, hours_in_a_day(on)], "hours", f"hours, {name}")
    price = _price_an_hour(on, rental)
    terms: list[N] = []
    # An allocation's rate is the grant's own word, as it is paid in every year.
    market = rental.allocation is None
    if market and rules.rent_change and day:
        change = on.leaf(
            "setting",
            rules.rent_change,
            "share",
            "change of rents a year",
            key="rentals.price_change",
        )
        days_on = on.leaf(
            "unit",
            day,
            "days",
            f"days until the year begins, {day}",
            name="days until the year",
        )
        terms.append(on.compute("growth", [change, days_on], "factor", f"rents from day {day} on"))
    if market and rules.vat:
        terms.append(with_vat(on, rules))
    if terms:
        words = f"{label}, from day {day} on"
        price = on.compute("product", [price, *terms], "usd-per-hour", words)
    in_base = rules.cloud_in_base if rental.in_base is None else rental.in_base
    rate = overhead_rate(on, rules, "cloud", day) if in_base else None
    return _of_runs(on, hours, price, count, rate, f"{name} on {label}", year)


def _price_an_hour(on: Arithmetic[N], rental: Rental) -> N:
    """Of a quote, or of the grant's own word on an allocation."""
    if rental.allocation is None:
        return on.leaf(
            "rental",
            rental.usd_per_hour,
            "usd-per-hour",
            f"{rental.label}, {rental.priced_on}",
            rental_id=rental.rental_id,
        )
    number = rental.allocation.partition(":")[2]
    each = on.leaf(
        "setting",
        rental.usd_per_hour / rental.gpu_count,
        "usd-per-hour",
        f"a GPU-hour of {rental.provider}",
        key=f"allocations[{number}].usd_per_gpu_hour",
    )
    words = f"an hour of {rental.label}"
    return on.compute("product", [each, gpus_of_a_job(on, rental)], "usd-per-hour", words)


def gpus_of_a_job(on: Arithmetic[N], rental: Rental) -> N:
    """A number of pieces."""
    return on.leaf(
        "unit",
        rental.gpu_count,
        "pieces",
        f"GPUs of a job on {rental.label}",
        name="GPUs of a job",
        rental_id=rental.rental_id,
    )


def _of_runs(
    on: Arithmetic[N], amount: N, price: N, count: N, rate: N | None, what: str, year: str
) -> RunCharge[N]:
    each = on.compute("product", [amount, price], "usd", f"one run, {what}", decimals=2)
    direct = on.compute("product", [count, each], "usd", f"{what}, {year}")
    none = one = on.compute("sum", [], "usd", "nothing")
    if rate is not None:
        label = f"overhead on one run, {what}"
        one = on.compute("product", [each, rate], "usd", label, decimals=2)
    return RunCharge(
        each=each,
        direct=direct,
        base=none if rate is None else direct,
        indirect=on.compute("product", [count, one], "usd", f"overhead on {what}, {year}"),
        rate=rate,
        amount=amount,
        price=price,
    )
