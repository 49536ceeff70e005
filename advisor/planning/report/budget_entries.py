"""The money of a plan by award year and by the funder's lines, each amount with its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import get_args

from advisor.planning.grant.grant_keys import CostKind
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import EquipmentCost, Material, RunningCost
from advisor.planning.solver.money.cents import months_by_year, shares_by_year
from advisor.planning.solver.money.charges import Apart, Charge
from advisor.planning.solver.money.prices import months_charged, paid_price

_FIRST = (
    *("staff", "equipment", "supplies", "computer_services"),
    *("storage", "facility", "electricity"),
)
LINES = (*_FIRST, *(kind for kind in get_args(CostKind) if kind not in _FIRST))
"""The kinds of lines of a funder's budget, in the order of the forms: people, equipment, supplies,
computer services with their storage, and what is itemised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is asked for on one line in one year."""

    line: str
    """One of LINES."""
    item: str
    year: int
    """From 0."""
    direct: Num
    indirect: Num


def year_spans(given: Material) -> list[tuple[date, date]]:
    """First and last day of every award year."""
    days = given.grant.year_dates
    return [(a, b - timedelta(days=1)) for a, b in pairwise(days)]


def entries(given: Material) -> list[Entry]:
    """Everything that the grant pays; together the plan's cost."""
    found = [entry for e in given.costs.equipment for entry in _bought(given, e)]
    found += [entry for r in given.costs.running for entry in _run(given, r)]
    found += [_entry(each.kind, each.name, each.year, charge) for each, charge in given.costs.fixed]
    return sorted(found, key=lambda entry: (LINES.index(entry.line), entry.year, entry.item))


def is_equipment(given: Material, e: EquipmentCost) -> bool:
    """Whether a machine counts as equipment, by the threshold and what it costs its buyers:
    discount, tax and what belongs to it counted, as overhead is charged."""
    if e.machine.in_base is not None:
        return False  # a service
    rules = given.problem.rules
    day = given.problem.orders[e.order]
    return paid_price(given.ledger, e.machine, rules, day).value >= rules.equipment_threshold


def _entry(line: str, item: str, year: int, charge: Charge[Num] | Apart[Num]) -> Entry:
    return Entry(line=line, item=item, year=year, direct=charge.direct, indirect=charge.indirect)


def _bought(given: Material, e: EquipmentCost) -> Iterator[Entry]:
    year = given.problem.year_of(given.problem.orders[e.order])
    for each in e.charge.apart:
        yield _entry(each.extra.kind, each.extra.name, year, each)
    rules, charge, label = given.problem.rules, machine_alone(e), e.machine.label
    if e.machine.in_base is not None:
        line = "computer_services" if given.form.lines.facility is None else "facility"
        yield _entry(line, label, year, charge)
        return
    line = "equipment" if is_equipment(given, e) else "supplies"
    by_parts = not (rules.fabrication_is_equipment or rules.equipment_in_base)
    parts = [(line, charge.direct, charge.indirect)]
    if by_parts and not charge.base.value:
        parts = [("equipment", charge.direct, charge.indirect)]
    elif by_parts:
        # Each part by its own price: what is in the base is supplies, the rest is equipment.
        of, words = [charge.direct, charge.base], f"equipment in {label}"
        rest = given.ledger.compute("difference", of, "money", words)
        none = given.ledger.total([], "nothing")
        parts = [("equipment", rest, none)] if rest.value else []
        parts.append(("supplies", charge.base, charge.indirect))
    for line, direct, indirect in parts:
        for at, own, overhead in _by_year(given, e, direct, indirect):
            yield Entry(line=line, item=label, year=at, direct=own, indirect=overhead)


def machine_alone(e: EquipmentCost) -> Charge[Num]:
    """Its charge without extras that have lines of their own."""
    return e.charge.alone or e.charge


def paid_beside(given: Material) -> Num | None:
    """What machines cost beyond what the budget has: their price without the grant's part of
    it, or of their life; None where they cost no more."""
    problem, ledger, rests = given.problem, given.ledger, []
    if not problem.rules.cost_share and problem.rules.life_months is None:
        return None
    for e in given.costs.equipment:
        label, day = f"{e.machine.label}, beside the budget", problem.orders[e.order]
        paid = paid_price(ledger, e.machine, problem.rules, day)
        charged = machine_alone(e).each
        rest = ledger.compute("difference", [paid, charged], "money", f"{label}, each")
        rests.append(ledger.compute("product", [e.count, rest], "money", label))
    total = ledger.total(rests, "machines, beside the budget")
    return total if total.value else None


def _by_year(
    given: Material, e: EquipmentCost, cost: Num, overhead: Num
) -> Iterator[tuple[int, Num, Num]]:
    """In which years a part of a machine is charged: when it is ordered, or by the months of each
    year where it is written off, as the solver counts them."""
    problem, ledger = given.problem, given.ledger
    day = problem.orders[e.order]
    months = months_by_year(problem, e.machine, day)
    if not months:  # what is delivered after the grant has none either
        yield problem.year_of(day), cost, overhead
        return
    within, _ = months_charged(ledger, problem.rules, day)
    label, amounts = e.machine.label, {"cost": cost, "overhead": overhead}
    *before, last = months
    for at in before:
        year = f"award year {at + 1}"
        words = f"months of {year} in the life of {label}"
        origin = {"name": "months of a year", "day": day, "award_year": at}
        n = ledger.leaf("unit", months[at], "months", words, **origin)
        share = ledger.compute("ratio", [n, within], "share", f"written off in {year}")
        parts = []
        for what, whole in (("cost", cost), ("overhead", overhead)):
            words = f"{what} of {label}, {year}"
            parts.append(_part(given, whole, share, words))
            left = [amounts[what], parts[-1]]
            words = f"left after {label}, {year}"
            amounts[what] = ledger.compute("difference", left, "money", words)
        yield at, parts[0], parts[1]
    yield last, amounts["cost"], amounts["overhead"]


def _part(given: Material, whole: Num, share: Num, words: str) -> Num:
    decimals = given.grant.currency.decimals
    return given.ledger.compute("product", [whole, share], "money", words, decimals=decimals)


def _run(given: Material, r: RunningCost) -> Iterator[Entry]:
    """Runs are paid in the years in which they run, by their days in each."""
    shares: dict[int, Fraction] = {}
    for placed in r.placed:
        for year, share in shares_by_year(given.problem, placed).items():
            shares[year] = shares.get(year, Fraction(0)) + share
    line = "computer_services" if r.rented else "electricity"
    direct = _split(given, r, shares, r.charge.direct, "cost")
    indirect = _split(given, r, shares, r.charge.indirect, "overhead")
    for year in shares:
        yield Entry(
            line=line, item=r.label, year=year, direct=direct[year], indirect=indirect[year]
        )


def _split(
    given: Material, r: RunningCost, shares: dict[int, Fraction], total: Num, what: str
) -> dict[int, Num]:
    """An amount over the years; the last takes what rounding leaves."""
    *first, last = shares
    label = f"{what} of {given.experiments[r.experiment_id].name} on {r.label}"
    found: dict[int, Num] = {}
    for year in first:
        part = shares[year] / len(r.placed)
        share = given.ledger.leaf(
            "plan",
            Decimal(part.numerator) / Decimal(part.denominator),
            "share",
            f"part of the runs of year {r.year + 1} that is in award year {year + 1}",
            what="share of runs in an award year",
            experiment_id=r.experiment_id,
            option_id=r.placed[0].machine_id,
            starts_in=r.year,
            award_year=year,
        )
        found[year] = _part(given, total, share, f"{label}, award year {year + 1}")
    rest = total
    if first:
        before = given.ledger.total([found[year] for year in first], f"{label}, years before")
        words = f"{label}, award year {last + 1}"
        rest = given.ledger.compute("difference", [total, before], "money", words)
    return {**found, last: rest}
