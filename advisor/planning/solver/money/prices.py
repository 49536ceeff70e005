"""What a machine costs its buyers, and what of it the grant is charged (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Generic

from advisor.planning.solver.money.arithmetic import Arithmetic, N, setting
from advisor.planning.solver.problem import BUY_IN, Machine, MachineExtra, PriceLine, Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedLine(Generic[N]):
    """A line of a machine's price."""

    line: PriceLine
    quantity: N
    price: N
    """Of one piece."""
    amount: N
    """Of all."""


def price_lines(on: Arithmetic[N], machine: Machine, rules: Rules) -> list[PricedLine[N]]:
    """What a machine is bought from."""
    found = []
    for line in machine.lines:
        words = f"price of {line.label}, {line.vendor}, {line.quoted_on}"
        if line.quote_kind == BUY_IN:
            price = setting(on, line.quote_id, line.unit_price, "money", words)
        elif line.quoted_usd is not None:
            own = on.leaf("quote", line.quoted_usd, "usd", words, quote_id=line.quote_id)
            price = converted(on, own, rules, "money", words, rules.currency.decimals)
        else:
            price = on.leaf("quote", line.unit_price, "money", words, quote_id=line.quote_id)
        if line.tax:  # it is added with the other terms of an order
            of, words = [price, with_vat(on, rules)], f"{words}, before its tax"
            price = on.compute("ratio", of, "money", words, decimals=rules.currency.decimals)
        words, name = f"{line.label} in {machine.label}", "pieces of a machine"
        origin = {"machine_id": machine.machine_id, "item_id": line.item_id}
        quantity = on.leaf("unit", line.quantity, "pieces", words, name=name, **origin)
        amount = on.compute(
            "product", [quantity, price], "money", f"{line.label} for {machine.label}"
        )
        found.append(PricedLine(line=line, quantity=quantity, price=price, amount=amount))
    return found


def converted(on: Arithmetic[N], usd: N, rules: Rules, unit: str, words: str, decimals: int) -> N:
    """A price in US dollars in the grant's currency."""
    rate, code = rules.currency.usd_per_unit, rules.currency.code
    key = "budget.usd_per_unit"
    per = setting(on, key, rate, "factor", f"US dollars a {code}")
    return on.compute("ratio", [usd, per], unit, f"{words}, in {code}", decimals=decimals)


def rounded(on: Arithmetic[N], of: Sequence[N], label: str, rules: Rules) -> N:
    """The product of numbers as an amount, rounded as an invoice is."""
    return on.compute("product", of, "money", label, decimals=rules.currency.decimals)


def machine_price(on: Arithmetic[N], machine: Machine, lines: Sequence[PricedLine[N]]) -> N:
    """One machine, before overhead."""
    return on.compute("sum", [line.amount for line in lines], "money", f"price of {machine.label}")


def equipment_base(
    on: Arithmetic[N],
    machine: Machine,
    lines: Sequence[PricedLine[N]],
    unit: N,
    rules: Rules,
    day: int,
) -> N:
    """The part of what a machine costs, ``unit``, that overhead is charged on: equipment at or
    above the threshold is outside the base. Where a machine that is put together from parts does
    not count as one piece of equipment, each line is held against the threshold by its own price.
    """
    key, label = "institution.equipment_threshold", f"overhead base of {machine.label}, day {day}"
    threshold = setting(on, key, rules.equipment_threshold, "money", "equipment threshold")
    if rules.fabrication_is_equipment:
        return on.compute("below", [unit, threshold], "money", label)
    parts = []
    for each in lines:
        name = each.line.label
        below = on.compute("below", [each.price, threshold], "money", f"{name} in the base")
        words = f"{name}, all, in the base"
        parts.append(on.compute("product", [each.quantity, below], "money", words))
    base = on.compute("sum", parts, "money", f"overhead base of the lines of {machine.label}")
    terms = price_terms(on, rules, day) if machine.share_of is None else []
    return on.compute("product", [base, *terms], "money", label) if terms else base


def paid_price(on: Arithmetic[N], machine: Machine, rules: Rules, day: int) -> N:
    """What one machine that is ordered on ``day`` of the grant costs its buyers, extras and tax
    included: its price itself where nothing changes that."""
    price = machine_price(on, machine, price_lines(on, machine, rules))
    if machine.share_of is not None:
        return price
    own = with_terms(on, machine, price, rules, day)
    extras = [
        extra_amount(on, machine, own, extra, rules)
        for extra in extras_of(machine, rules)
        if not extra.apart
    ]
    words = f"{machine.label} with what belongs to it"
    return on.compute("sum", [own, *extras], "money", words) if extras else own


def with_terms(on: Arithmetic[N], machine: Machine, price: N, rules: Rules, day: int) -> N:
    """A price of a machine by the terms of an order; itself where there are none."""
    terms = price_terms(on, rules, day)
    label = f"{machine.label} with its terms, day {day}"
    return rounded(on, [price, *terms], label, rules) if terms else price


def extras_of(machine: Machine, rules: Rules) -> tuple[MachineExtra, ...]:
    """What is paid with a machine; nothing with GPUs for one that is there, nor with a share."""
    bare = machine.upgrade_of is not None or machine.share_of is not None
    return () if bare else rules.machine_extras


def extra_amount(
    on: Arithmetic[N], machine: Machine, price: N, extra: MachineExtra, rules: Rules
) -> N:
    """What it costs with one machine, whose price with its terms that is."""
    if extra.amount is not None:
        return setting(on, extra.key, extra.amount, "money", extra.name)
    assert extra.share_of_price is not None
    share = setting(on, extra.key, extra.share_of_price, "share", extra.name)
    words = f"{extra.name} of {machine.label}"
    return rounded(on, [price, share], words, rules)


def apart_amounts(
    on: Arithmetic[N], machine: Machine, rules: Rules, day: int
) -> list[tuple[MachineExtra, N]]:
    """What is paid with one machine and has a line of its own."""
    found = [extra for extra in extras_of(machine, rules) if extra.apart]
    if not found:
        return []
    price = machine_price(on, machine, price_lines(on, machine, rules))
    own = with_terms(on, machine, price, rules, day)
    return [(extra, extra_amount(on, machine, own, extra, rules)) for extra in found]


def price_terms(on: Arithmetic[N], rules: Rules, day: int) -> list[N]:
    """Factors of a price: change until the order, discount, tax."""
    found: list[N] = []
    if rules.price_change and day > 0:
        change = setting(
            on, "purchases.price_change", rules.price_change, "share", "change of prices a year"
        )
        days = on.leaf("unit", day, "days", f"days until the order, {day}", name="order day")
        found.append(on.compute("growth", [change, days], "factor", f"prices on day {day}"))
    if rules.discount:
        key = "purchases.educational_discount"
        share = setting(on, key, rules.discount, "share", "educational discount")
        found.append(on.compute("rest", [share], "factor", "price after the discount"))
    if rules.vat:
        found.append(with_vat(on, rules))
    return found


def with_vat(on: Arithmetic[N], rules: Rules) -> N:
    """A factor of a price."""
    one = on.leaf("unit", 1, "factor", "the price itself", name="one")
    vat = setting(on, "budget.vat", rules.vat, "share", "value-added tax")
    return on.compute("sum", [one, vat], "factor", "price with tax")


def charged_share(on: Arithmetic[N], rules: Rules, day: int) -> list[N]:
    """Factors that make of a paid price what the grant is charged: none where it is the same."""
    found: list[N] = []
    if rules.cost_share:
        share = setting(on, "purchases.cost_share", rules.cost_share, "share", "paid by others")
        found.append(on.compute("rest", [share], "factor", "share of the grant"))
    if rules.life_months is not None:
        within, life = months_charged(on, rules, day)
        found.append(on.compute("ratio", [within, life], "share", f"depreciated from day {day} on"))
        if rules.use_share != 1:
            found.append(share_of_use(on, rules))
    return found


def months_charged(on: Arithmetic[N], rules: Rules, day: int) -> tuple[N, N]:
    """Of a machine ordered on ``day``: its months within the grant, and those of its life. It is
    written off from the day on which it can be used."""
    assert rules.life_months is not None
    life = setting(on, "institution.life_months", rules.life_months, "months", "life")
    ready = day + rules.lead_days
    months, words = months_in_grant(rules, ready), f"months of the grant from day {ready} on"
    left = on.leaf("unit", months, "months", words, name="months in the grant", day=ready)
    return on.compute("least", [left, life], "months", f"months charged from day {ready} on"), life


def share_of_use(on: Arithmetic[N], rules: Rules) -> N:
    """Of a machine that is charged by its depreciation."""
    key = "institution.use_share"
    return setting(on, key, rules.use_share, "share", "share of use")


def months_in_grant(rules: Rules, day: int) -> int:
    """Months of the grant from a day on; the month of that day counts whole."""
    first = rules.first_day
    if first is None:
        return max(rules.grant_months - int(day * 12 // Decimal("365.25")), 0)
    order = first + timedelta(days=day)
    gone = (order.year - first.year) * 12 + order.month - first.month - (order.day < first.day)
    return max(rules.grant_months - gone, 0)
