"""What a purchase and a yearly line are charged, overhead included (pure; US dollars).

Each formula is there once, for the solver and for the report. Every amount is rounded to the cent
once, where an invoice would be, so that sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Generic, Literal

from advisor.planning.solver.arithmetic import Arithmetic, N
from advisor.planning.solver.prices import (
    apart_amounts,
    charged_share,
    equipment_base,
    machine_price,
    paid_price,
    price_lines,
    price_terms,
    threshold_usd,
)
from advisor.planning.solver.problem import FixedCost, Machine, MachineExtra, Rules

DAYS_PER_YEAR = 365
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
    """What so many machines or runs that are alike cost, in US dollars."""

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
    """What of it stands on other lines of the budget than the machine."""


Kind = Literal["equipment", "cloud", "electricity"]
"""What overhead may be charged on, each by a rate of its own."""


def overhead_rate(
    on: Arithmetic[N], rules: Rules, kind: Kind = "equipment", day: int | None = None
) -> N:
    """Indirect cost on each dollar of the base that is paid on ``day`` of the grant; without a
    day, by the mean rate."""
    own = {"cloud": rules.overhead_rate_cloud, "electricity": rules.overhead_rate_electricity}
    rate = own.get(kind)
    if rate is None and rules.year_overhead is not None and day is not None:
        year = max(n for n, (first, _) in enumerate(rules.year_overhead) if first <= day or not n)
        key = f"institution.overhead_rate_by_year[{year + 1}]"
        words = f"{BY_YEAR}award year {year + 1}"
        return on.leaf("setting", rules.year_overhead[year][1], "share", words, key=key)
    if rate is None:
        key = "institution.overhead_rate"
        return on.leaf("setting", rules.overhead_rate, "share", "overhead rate", key=key)
    key = f"institution.overhead_rate_{kind}"
    return on.leaf("setting", rate, "share", f"overhead rate on {kind}", key=key)


def purchase_charge(
    on: Arithmetic[N], machine: Machine, rules: Rules, count: N, day: int = 0
) -> Charge[N]:
    """So many machines of a kind, ordered on a day of the grant."""
    label = machine.label
    lines = price_lines(on, machine)
    price = machine_price(on, machine, lines)
    unit, changed = paid_price(on, machine, price, rules, day)
    service = machine.in_base is not None
    if machine.in_base is False:
        base = on.compute("sum", [], "usd", "nothing")
    elif service:
        base = unit
    elif changed and rules.fabrication_is_equipment and not rules.equipment_in_base:
        base = on.compute(
            "below", [unit, threshold_usd(on, rules)], "usd", f"overhead base of {label}, day {day}"
        )
    elif rules.equipment_in_base:
        base = unit
    else:
        base = equipment_base(on, machine, lines, rules)
        terms = price_terms(on, rules, day) if machine.share_of is None else []
        if terms:
            base = on.compute("product", [base, *terms], "usd", f"base of {label}, day {day}")
    shares = [] if service else charged_share(on, rules_on(machine, rules), day)
    if shares:
        words = f"{label}, charged, day {day}"
        unit = on.compute("product", [unit, *shares], "usd", words, decimals=2)
        base = on.compute("product", [base, *shares], "usd", f"base of {words}", decimals=2)
    rate = overhead_rate(on, rules, "cloud" if service else "equipment", day)
    one = on.compute("product", [base, rate], "usd", f"overhead on {label}", decimals=2)
    apart = [
        _apart(on, machine, extra, amount, rate, count)
        for extra, amount in apart_amounts(on, machine, price, rules, day)
    ]

    def with_apart(own: N, parts: list[N], what: str) -> N:
        return own if not parts else on.compute("sum", [own, *parts], "usd", what)

    direct = on.compute("product", [count, unit], "usd", f"{label}, all")
    base = on.compute("product", [count, base], "usd", f"overhead base of {label}, all")
    indirect = on.compute("product", [count, one], "usd", f"overhead on {label}, all")
    beside, directs = f"{label} with what is beside it", [each.direct for each in apart]
    return Charge(
        each=with_apart(unit, [each.each for each in apart], beside),
        direct=with_apart(direct, directs, f"{beside}, all"),
        base=with_apart(base, directs, f"overhead base of {beside}, all"),
        indirect=with_apart(
            indirect, [each.indirect for each in apart], f"overhead on {beside}, all"
        ),
        rate=rate,
        apart=tuple(apart),
    )


def _apart(
    on: Arithmetic[N], machine: Machine, extra: MachineExtra, amount: N, rate: N, count: N
) -> Apart[N]:
    """It bears overhead, whatever the machine does."""
    name = f"{extra.name} of {machine.label}"
    one = on.compute("product", [amount, rate], "usd", f"overhead on {name}", decimals=2)
    return Apart(
        extra=extra,
        each=amount,
        direct=on.compute("product", [count, amount], "usd", f"{name}, all"),
        indirect=on.compute("product", [count, one], "usd", f"overhead on {name}, all"),
    )


def rules_on(machine: Machine, rules: Rules) -> Rules:
    """Those of a machine: nobody shares the cost of a share of a condo, which is stated."""
    if machine.share_of is None or not rules.cost_share:
        return rules
    return replace(rules, cost_share=Decimal(0))


def fixed_charge(on: Arithmetic[N], fixed: FixedCost, rules: Rules) -> Charge[N]:
    """What is paid whatever is bought."""
    label = f"{fixed.name}, year {fixed.year + 1}"
    usd = fixed_amount(on, fixed)
    none = indirect = on.compute("sum", [], "usd", "nothing")
    rate: N | None = None
    if fixed.in_base and fixed.rate is not None:
        rate = on.leaf("setting", fixed.rate, "share", f"overhead on {label}", key=fixed.rate_key)
    elif fixed.in_base:
        rate = overhead_rate(on, rules, day=fixed.day)
    if rate is not None:
        indirect = on.compute("product", [usd, rate], "usd", f"overhead on {label}", decimals=2)
    base = usd if fixed.in_base else none
    return Charge(each=usd, direct=usd, base=base, indirect=indirect, rate=rate)


def fixed_amount(on: Arithmetic[N], fixed: FixedCost) -> N:
    """What a line costs in its year: what its file says, changed from year to year, and of a year
    cut short its share."""
    label = f"{fixed.name}, year {fixed.year + 1}"
    changes = bool(fixed.change and fixed.year)
    first = label if not changes and fixed.days is None else f"{fixed.name}, a year"
    usd = on.leaf("setting", fixed.usd, "usd", first, key=fixed.key)
    if changes:
        key = f"{fixed.key.removesuffix('.amount')}.price_change"
        words = f"{fixed.name}, change a year"
        change = on.leaf("setting", fixed.change, "share", words, key=key)
        days = on.leaf(
            "unit",
            DAYS_PER_YEAR * fixed.year,
            "days",
            f"days in the years before year {fixed.year + 1}",
            name="days in the years before",
        )
        words = f"{fixed.name}, change until year {fixed.year + 1}"
        factor = on.compute("growth", [change, days], "factor", words)
        words = label if fixed.days is None else f"{label}, a whole year"
        usd = on.compute("product", [usd, factor], "usd", words, decimals=2)
    if fixed.days is None:
        return usd
    share = on.compute(
        "ratio",
        [
            on.leaf(
                "unit", fixed.days, "days", f"days of year {fixed.year + 1}", name="days of it"
            ),
            on.leaf("unit", DAYS_PER_YEAR, "days", "days in a year", name="days in a year"),
        ],
        "share",
        f"year {fixed.year + 1} of a whole year",
    )
    return on.compute("product", [usd, share], "usd", label, decimals=2)
