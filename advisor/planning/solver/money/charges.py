"""What purchases, runs and yearly lines are charged, overhead included.

Each formula is there once, for the solver and for the report. Every amount is rounded to the cent
once, where an invoice would be, so that sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Generic, Literal

from advisor.planning.currency import RATE_DECIMALS
from advisor.planning.solver.money.arithmetic import Arithmetic, N, setting
from advisor.planning.solver.money.prices import (
    apart_amounts,
    charged_share,
    converted,
    equipment_base,
    paid_price,
    price_lines,
    rounded,
    with_vat,
)
from advisor.planning.solver.problem import FixedCost, Machine, MachineExtra, Rental, Rules, RunTime

DAYS_PER_YEAR = 365
HOURS_PER_DAY = 24
BY_YEAR = "overhead rate of "
"""What the label of a rate begins with that holds for one award year."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart(Generic[N]):
    """What is paid with machines and has a line of its own, as a warranty: in all of its charge."""

    extra: MachineExtra
    each: N
    direct: N
    indirect: N


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge(Generic[N]):
    """What a number of identical machines or runs cost."""

    each: N
    """Direct cost of one."""
    direct: N
    base: N
    """The part of ``direct`` that overhead is charged on."""
    indirect: N
    """The overhead, rounded to the cent for one of them."""
    rate: N | None = None
    """Of that overhead; None where none is charged."""
    apart: tuple[Apart[N], ...] = ()
    """The part that is on other budget lines than the machine."""
    alone: Charge[N] | None = None
    """The same without that part, where there is one."""


Kind = Literal["equipment", "cloud", "electricity"]
"""What overhead may be charged on, each by a rate of its own."""


def overhead_rate(
    on: Arithmetic[N], rules: Rules, kind: Kind = "equipment", day: int | None = None
) -> N:
    """Indirect cost on each dollar of the base that is paid on ``day`` of the grant; without a
    day, by the mean rate."""
    own = {"cloud": rules.overhead_rate_cloud, "electricity": rules.overhead_rate_electricity}
    key, words, rate = "institution.overhead_rate", "overhead rate", own.get(kind)
    if rate is not None:
        key, words = f"{key}_{kind}", f"{words} on {kind}"
    elif rules.year_overhead is not None and day is not None:
        year = max(n for n, (first, _) in enumerate(rules.year_overhead) if first <= day or not n)
        key, words = f"{key}_by_year[{year + 1}]", f"{BY_YEAR}award year {year + 1}"
        rate = rules.year_overhead[year][1]
    return setting(on, key, rules.overhead_rate if rate is None else rate, "share", words)


def purchase_charge(
    on: Arithmetic[N], machine: Machine, rules: Rules, count: N, day: int = 0
) -> Charge[N]:
    """A number of machines of a kind, ordered on a day of the grant."""
    label = machine.label
    lines = price_lines(on, machine, rules)
    unit = paid_price(on, machine, rules, day)
    service = machine.in_base is not None
    if machine.in_base is False:
        base = on.compute("sum", [], "money", "nothing")
    elif service or rules.equipment_in_base:
        base = unit
    else:
        base = equipment_base(on, machine, lines, unit, rules, day)
    shares = [] if service else charged_share(on, rules_on(machine, rules), day)
    if shares:
        words = f"{label}, charged, day {day}"
        unit = rounded(on, [unit, *shares], words, rules)
        base = rounded(on, [base, *shares], f"base of {words}", rules)
    rate = overhead_rate(on, rules, "cloud" if service else "equipment", day)
    one = rounded(on, [base, rate], f"overhead on {label}", rules)
    apart = []
    for extra, amount in apart_amounts(on, machine, rules, day):
        name = f"{extra.name} of {label}"
        more = rounded(
            on, [amount, rate], f"overhead on {name}", rules
        )  # whatever the machine does
        charged = on.compute("product", [count, amount], "money", f"{name}, all")
        overhead = on.compute("product", [count, more], "money", f"overhead on {name}, all")
        apart.append(Apart(extra=extra, each=amount, direct=charged, indirect=overhead))
    direct = on.compute("product", [count, unit], "money", f"{label}, all")
    base = on.compute("product", [count, base], "money", f"overhead base of {label}, all")
    indirect = on.compute("product", [count, one], "money", f"overhead on {label}, all")
    alone = Charge(each=unit, direct=direct, base=base, indirect=indirect, rate=rate)
    if not apart:
        return alone
    beside, directs = f"{label} with what is beside it", [each.direct for each in apart]
    overheads = [indirect, *(each.indirect for each in apart)]
    return Charge(
        each=on.compute("sum", [unit, *(each.each for each in apart)], "money", beside),
        direct=on.compute("sum", [direct, *directs], "money", f"{beside}, all"),
        base=on.compute("sum", [base, *directs], "money", f"overhead base of {beside}, all"),
        indirect=on.compute("sum", overheads, "money", f"overhead on {beside}, all"),
        rate=rate,
        apart=tuple(apart),
        alone=alone,
    )


def rules_on(machine: Machine, rules: Rules) -> Rules:
    """Those of a machine: the cost of a condo share is paid as stated."""
    if machine.share_of is None or not rules.cost_share:
        return rules
    return replace(rules, cost_share=Decimal(0))


def fixed_charge(on: Arithmetic[N], fixed: FixedCost, rules: Rules) -> Charge[N]:
    """A fixed cost."""
    label = f"{fixed.name}, year {fixed.year + 1}"
    amount = fixed_amount(on, fixed, rules)
    none = indirect = on.compute("sum", [], "money", "nothing")
    rate: N | None = None
    if fixed.in_base and fixed.rate is not None:
        rate = setting(on, fixed.rate_key, fixed.rate, "share", f"overhead on {label}")
    elif fixed.in_base:
        rate = overhead_rate(on, rules, day=fixed.day)
    if rate is not None:
        indirect = rounded(on, [amount, rate], f"overhead on {label}", rules)
    base = amount if fixed.in_base else none
    return Charge(each=amount, direct=amount, base=base, indirect=indirect, rate=rate)


def fixed_amount(on: Arithmetic[N], fixed: FixedCost, rules: Rules) -> N:
    """What a line costs in its year: what its file says, changed from year to year, and of a year
    cut short its share."""
    label = f"{fixed.name}, year {fixed.year + 1}"
    changes = bool(fixed.change and fixed.year)
    first = label if not changes and fixed.days is None else f"{fixed.name}, a year"
    amount = setting(on, fixed.key, fixed.amount, "money", first)
    if changes:
        key = f"{fixed.key.removesuffix('.amount')}.price_change"
        words = f"{fixed.name}, change a year"
        change = setting(on, key, fixed.change, "share", words)
        before, words = DAYS_PER_YEAR * fixed.year, "days in the years before"
        days = on.leaf("unit", before, "days", f"{words} year {fixed.year + 1}", name=words)
        words = f"{fixed.name}, change until year {fixed.year + 1}"
        factor = on.compute("growth", [change, days], "factor", words)
        words = label if fixed.days is None else f"{label}, a whole year"
        amount = rounded(on, [amount, factor], words, rules)
    if fixed.days is None:
        return amount
    words = f"days of year {fixed.year + 1}"
    of_it = on.leaf("unit", fixed.days, "days", words, name="days of it")
    whole = on.leaf("unit", DAYS_PER_YEAR, "days", "days in a year", name="days in a year")
    words = f"year {fixed.year + 1} of a whole year"
    share = on.compute("ratio", [of_it, whole], "share", words)
    return rounded(on, [amount, share], label, rules)


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
    share = setting(on, "running.failures", rules.failures, "share", "allowance for failures")
    again = on.compute("product", [days, share], "days", f"trained again, {label}")
    return on.compute("sum", [days, again], "days", f"days with failures, {label}")


def run_days(
    on: Arithmetic[N],
    time: RunTime,
    label: str,
    what: str = "training days",
    column: str = "training_days",
) -> N:
    """Days of one run, from a column of its measurement."""
    words, origin = f"{what}, {label}", {"measurement_id": time.measurement_id, "column": column}
    if time.whole is None:
        return on.leaf("time", time.days, "days", words, **origin)
    days, share = time.whole
    recipe = on.leaf("time", days, "days", f"{words}, of the recipe", **origin)
    part = setting(on, "experiments.tokens", share, "share", f"tokens, {label}")
    return on.compute("product", [recipe, part], "days", words)


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
    """Electricity of a number of runs on a machine of the lab that draws ``watts`` at the wall.

    One run takes W / 1000 x 24 x days x PUE kWh.
    """
    assert rules.price_per_kwh is not None
    label, called = machine.label, model_name or model
    days = days_of_a_run(on, machine.times[model], rules, f"{called} on {label}")
    kilo = watts_in_a_kilowatt(on)
    kw = on.compute("ratio", [watts, kilo], "kW", f"power of {label}")
    pue = setting(on, "electricity.pue", rules.pue, "factor", "PUE")
    words = f"energy of {called} on {label}"
    kwh = on.compute("product", [kw, hours_in_a_day(on), days, pue], "kwh", words)
    key = "electricity.price_per_kwh"
    price = setting(on, key, rules.price_per_kwh, "money-per-kwh", "electricity")
    if rules.electricity_change:
        key, words = "electricity.price_change", "change of electricity a year"
        change = setting(on, key, rules.electricity_change, "share", words)
        half = Decimal(rules.grant_months * DAYS_PER_YEAR) / 24
        middle = on.leaf("unit", half, "days", "days until the middle of the grant", name="middle")
        factor = on.compute("growth", [change, middle], "factor", "electricity, mean of the grant")
        price = on.compute("product", [price, factor], "money-per-kwh", "electricity, mean price")
    what = f"{name} on {label}"
    rate = overhead_rate(on, rules, "electricity") if rules.electricity_in_base else None
    return _of_runs(on, kwh, price, count, rate, what, year, rules)


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
    """A number of runs on a rented instance that start in a year of the grant: hours x price."""
    label = rental.label
    days = days_of_a_run(on, rental.times[model], rules, f"{model_name or model} on {label}")
    hours = on.compute("product", [days, hours_in_a_day(on)], "hours", f"hours, {name}")
    price = paid_rate(on, rental, rules, day)
    in_base = rules.cloud_in_base if rental.in_base is None else rental.in_base
    rate = overhead_rate(on, rules, "cloud", day) if in_base else None
    return _of_runs(on, hours, price, count, rate, f"{name} on {label}", year, rules)


def paid_rate(on: Arithmetic[N], rental: Rental, rules: Rules, day: int = 0) -> N:
    """An hour's price from a day of the grant on, with value-added tax."""
    price = hourly_rate(on, rental, rules)
    terms: list[N] = []
    # An allocation's rate is the grant's own word, as it is paid in every year.
    market = rental.allocation is None
    if market and rules.rent_change and day:
        words = "change of rents a year"
        change = setting(on, "rentals.price_change", rules.rent_change, "share", words)
        words = f"days until the year begins, {day}"
        days_on = on.leaf("unit", day, "days", words, name="days until the year")
        terms.append(on.compute("growth", [change, days_on], "factor", f"rents from day {day} on"))
    if market and rules.vat:
        terms.append(with_vat(on, rules))
    if terms:
        words = f"{rental.label}, from day {day} on"
        price = on.compute("product", [price, *terms], "money-per-hour", words)
    return price


def hourly_rate(on: Arithmetic[N], rental: Rental, rules: Rules) -> N:
    """Of a quote, or of the grant's own word on an allocation."""
    if rental.allocation is None:
        words, unit = f"{rental.label}, {rental.priced_on}", "money-per-hour"
        row, times = rental.row_of_one or rental.rental_id, 1
        if rental.row_of_one:
            words, times = f"one GPU of {words}", rental.gpu_count
        if rental.quoted_usd is None:
            price = on.leaf("rental", rental.price_per_hour / times, unit, words, rental_id=row)
        else:
            quoted = rental.quoted_usd / times
            own = on.leaf("rental", quoted, "usd-per-hour", words, rental_id=row)
            price = converted(on, own, rules, unit, words, RATE_DECIMALS)
        if times == 1:
            return price
        words = f"an hour of {rental.label}"
        return on.compute("product", [price, gpus_of_a_job(on, rental)], unit, words)
    number = rental.allocation.partition(":")[2]
    key, unit = f"allocations[{number}].price_per_gpu_hour", "money-per-hour"
    rate, words = rental.price_per_hour / rental.gpu_count, f"a GPU-hour of {rental.provider}"
    each = setting(on, key, rate, unit, words)
    words = f"an hour of {rental.label}"
    return on.compute("product", [each, gpus_of_a_job(on, rental)], unit, words)


def gpus_of_a_job(on: Arithmetic[N], rental: Rental) -> N:
    """A number of pieces."""
    words, origin = "GPUs of a job", {"rental_id": rental.rental_id}
    label = f"{words} on {rental.label}"
    return on.leaf("unit", rental.gpu_count, "pieces", label, name=words, **origin)


def _of_runs(
    on: Arithmetic[N],
    amount: N,
    price: N,
    count: N,
    rate: N | None,
    what: str,
    year: str,
    rules: Rules,
) -> RunCharge[N]:
    each = rounded(on, [amount, price], f"one run, {what}", rules)
    direct = on.compute("product", [count, each], "money", f"{what}, {year}")
    none = one = on.compute("sum", [], "money", "nothing")
    if rate is not None:
        label = f"overhead on one run, {what}"
        one = rounded(on, [each, rate], label, rules)
    return RunCharge(
        each=each,
        direct=direct,
        base=none if rate is None else direct,
        indirect=on.compute("product", [count, one], "money", f"overhead on {what}, {year}"),
        rate=rate,
        amount=amount,
        price=price,
    )
