"""What each price of a request rests on, how old it is, and how it is renewed."""

from __future__ import annotations

from datetime import date

from advisor.costs.amount_words import age_words, day_words
from advisor.planning.grant.problem_of_grant import STALE_DAYS
from advisor.planning.grant.programmes import ASSUMED, OWN_WORD
from advisor.planning.report.funder.computing_hours import rented_name
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.phrases import ends_today, kind_of_price, listed
from advisor.planning.report.plan_costs import Material, RunningCost
from advisor.planning.report.report import Block, Cell, ReportTable, Section
from advisor.planning.solver.money.charges import hourly_rate
from advisor.planning.solver.money.prices import PricedLine
from advisor.planning.solver.problem import BUY_IN

_NOBODY_ASKS = ("secondary", "used", "rounded")
"""Prices that others tell of, or that used ones were sold at."""
_ASKED = {
    "vendor": "Before the order we ask each vendor for a written quote of the same item, valid on "
    "the day of the order.",
    "builder": "For a machine that is added up from parts we ask a builder of such machines for a "
    "written quote of the whole before we order it.",
    "seller": "Where only others tell of a price we ask a seller of the item for a written quote "
    "before we order it.",
    "campus": "Before we buy a share we ask the campus for a written quote of it.",
}
"""How each kind of price is renewed."""


def quotes_sections(given: Material) -> list[Section]:
    """What each price rests on, how old it is, and how it is renewed."""
    today, foreign = given.loaded.today, given.loaded.grant.currency.code != "USD"
    blocks: list[Block] = []
    days = [p.line.quoted_on for e in given.costs.equipment for p in e.lines]
    if days:
        # As the vendor quotes it, and in the grant's currency.
        rows: list[tuple[Cell, ...]] = [
            (
                p.line.label,
                pieces,
                _as_quoted(given, p),
                *([p.price] if foreign else []),
                p.line.vendor,
                kind_of_price(p.line.quote_kind),
                day_words(p.line.quoted_on),
                age_words(p.line.quoted_on, today),
            )
            for p, pieces in _priced(given)
        ]
        each = (
            ("each, as quoted", f"each, {given.loaded.grant.currency.code}")
            if foreign
            else ("each",)
        )
        columns = ("item", "pieces", *each, "vendor", "kind of price", "date", "age")
        blocks.append(ReportTable.of("Prices", columns, rows))
        blocks.append(_renewed(given, min(days)))
    rented = [r for r in given.costs.running if r.rented and r.charge.direct.value]
    if rented:
        blocks += _rates(given, rented)
    return [Section(title="Quotes", blocks=tuple(blocks))] if blocks else []


def _as_quoted(given: Material, priced: PricedLine[Num]) -> Num:
    """In the currency in which it is asked: dollars, or the grant's own."""
    line = priced.line
    if line.quoted_usd is None or given.loaded.grant.currency.code == "USD":
        return priced.price
    return given.ledger.leaf(
        "quote", line.quoted_usd, "usd", f"price of {line.label}", quote_id=line.quote_id
    )


def _priced(given: Material) -> list[tuple[PricedLine[Num], Num]]:
    """Each price once, and how many pieces are bought at it, of all machines together."""
    found: dict[str, tuple[PricedLine[Num], list[Num]]] = {}
    for e in given.costs.equipment:
        for p in e.lines:
            words = f"{p.line.label}, pieces"
            pieces = given.ledger.compute("product", [e.count, p.quantity], "pieces", words)
            found.setdefault(p.line.quote_id, (p, []))[1].append(pieces)
    return [
        (p, given.ledger.total(nums, f"{p.line.label}, pieces in all", "pieces"))
        for p, nums in found.values()
    ]


def _renewed(given: Material, oldest: date) -> str:
    """How old the prices are, which ones were not quoted, and how each is renewed."""
    today = given.loaded.today
    lines = {p.line.quote_id: p.line for e in given.costs.equipment for p in e.lines}
    old = [x.label for x in lines.values() if (today - x.quoted_on).days > STALE_DAYS]
    summed = [x.label for x in lines.values() if x.quote_kind == "parts-list"]
    which = "This price" if len(lines) == 1 else "The oldest of these prices"
    words = [f"{which} is of {day_words(oldest)}."]
    if old:
        words.append(f"Older than a year: {listed(old)}.")
    if summed:
        words.append(
            f"Added up from the prices of parts and options, and not quoted as a whole: "
            f"{listed(summed)}."
        )
    told = [x.label for x in lines.values() if x.quote_kind == "secondary"]
    if told:
        words.append(f"Told by others, and not quoted by who sells it: {listed(told)}.")
    return " ".join([*words, *_if_ordered_today(given), *_renewals(given)])


def _if_ordered_today(given: Material) -> list[str]:
    """Between what the price of each machine lies today, by how far others have moved."""
    found = {}
    for machine in (e.machine for e in given.costs.equipment):
        ends = given.loaded.ordered_today(machine)
        if ends is not None:
            low, high = ends_today(given, machine, ends)
            each = "" if machine.label[:1].isdigit() else "the "
            found[machine.machine_id] = (
                f"If {each}{machine.label} is ordered today, its price is {low} to {high} in 9 of "
                "10 cases, by how far other prices have moved."
            )
    return [*found.values()]


def _renewals(given: Material) -> list[str]:
    """Whom we ask for which quote: who sells a part sells no machine of such parts, and who tells
    of a price sells nothing."""
    asked: dict[str, None] = {}
    for e in given.costs.equipment:
        for line in (p.line for p in e.lines):
            if line.quote_kind == BUY_IN:
                asked["campus"] = None
            elif line.quote_kind == "parts-list" and len(e.lines) > 1:
                asked["builder"] = None
            else:
                asked["seller" if line.quote_kind in _NOBODY_ASKS else "vendor"] = None
    return [words for key, words in _ASKED.items() if key in asked]


def _rates(given: Material, rented: list[RunningCost]) -> list[Block]:
    rows: list[tuple[Cell, ...]] = []
    listed_days, agreed = [], dict[str, None]()
    changing = given.loaded.problem.rules.rent_change
    for rate in dict.fromkeys((r.placed[0].machine_id, r.charge.price) for r in rented):
        mine = [r for r in rented if (r.placed[0].machine_id, r.charge.price) == rate]
        rental = given.book.rentals[rate[0]]
        hours = [
            given.ledger.compute("product", [r.runs, r.charge.amount], "hours", "hours rented")
            for r in mine
        ]
        day = None if rental.allocation else rental.priced_on
        listed_days += [day] if day else []
        if rental.allocation:
            agreed[rental.provider] = None
        told = _source_of_rate(given, rental.provider)
        name = rented_name(given, mine[0])
        if changing and not rental.allocation:
            name += f", year {mine[0].placed[0].order + 1}"
        rows.append(
            (
                name,
                given.ledger.total(hours, f"hours of {mine[0].label}", "hours"),
                rate[1],
                given.ledger.total([r.charge.direct for r in mine], mine[0].label),
                day_words(day) if day else told,
                age_words(day, given.loaded.today) if day else "",
            )
        )
    table = ReportTable.of("Rates", ("rented", "time", "rate", "all", "date", "age"), rows)
    again = f"Before the first hour we ask {listed(agreed)} for the rate of that day."
    if not listed_days:
        return [table, again]
    text = "Hours are shown rounded, and amounts are of the exact hours. "
    if changing:
        share = given.book.setting("rentals.price_change", changing, "share", "change of rents")
        text += f"Rates of later years are the listed ones with a change of {share} a year. "
    which = "This rate" if len(rows) == 1 else "The oldest of these rates"
    text += (
        f"{which} is of {day_words(min(listed_days))}. Before the first hour we look up the "
        "provider's rate again and keep a copy of its page."
    )
    text += _medians(given, rented)
    return [table, f"{text} {again}" if agreed else text]


def _medians(given: Material, rented: list[RunningCost]) -> str:
    """Of each instance how many providers' median its rate is, and what the cheapest asks."""
    words = ""
    for name in dict.fromkeys(r.placed[0].machine_id for r in rented):
        rental = given.book.rentals[name]
        if rental.allocation is not None:
            continue
        if len(rental.offers) < 2:
            words += f" No other provider's rate of {rental.gpus} is known."
            continue
        rates = [
            hourly_rate(given.ledger, each, given.loaded.problem.rules) for each in rental.offers
        ]
        count = given.ledger.compute("count", rates, "providers", f"providers of {rental.gpus}")
        low, high = rental.offers[0], rental.offers[-1]
        words += (
            f" The rate of {rental.gpus} is the median of {count} providers, which ask from "
            f"{rates[0]} ({low.who}, {day_words(low.priced_on)}) to {rates[-1]} ({high.who}, "
            f"{day_words(high.priced_on)})."
        )
    return words


def _source_of_rate(given: Material, allocation: str) -> str:
    """Who says what an hour costs."""
    source = next(
        (
            each.source
            for each in given.loaded.grant.allocation_values
            if each.allocation == allocation
            and each.key in ("usd_per_gpu_hour", "price_per_gpu_hour")
        ),
        OWN_WORD,
    )
    return "as agreed" if source in (OWN_WORD, ASSUMED) else source
