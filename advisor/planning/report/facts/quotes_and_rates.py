"""Facts and tables of prices: what each rests on, how old it is, and how it is renewed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from advisor.costs.amount_words import age_words, day_words
from advisor.planning.grant.allocation_programmes import ASSUMED, OWN_WORD
from advisor.planning.report.document import Cell, ReportTable
from advisor.planning.report.facts.hours import hours_of, rented_name
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import Material, RunningCost
from advisor.planning.report.report_numbers import ends_today, kind_of_price
from advisor.planning.solver.money.charges import paid_rate
from advisor.planning.solver.money.prices import PricedLine
from advisor.planning.solver.problem import BUY_IN, Rental

_NOBODY_ASKS = ("secondary", "used", "rounded")
"""Prices that others tell of, or that used ones were sold at."""
ASKED = ("lowest", "highest", "quotes_as_good", "newer_not_used", "newer_of")


def prices_table(given: Material) -> ReportTable | None:
    """Each price that something is bought at, as the vendor quotes it and in the grant's
    currency."""
    priced: dict[str, tuple[PricedLine[Num], list[Num]]] = {}
    for e in given.costs.equipment:
        for p in e.lines:
            of, words = [e.count, p.quantity], f"{p.line.label}, pieces"
            pieces = given.ledger.compute("product", of, "pieces", words)
            priced.setdefault(p.line.quote_id, (p, []))[1].append(pieces)
    code, today = given.grant.currency.code, given.loaded.today
    rows: list[tuple[Cell, ...]] = []
    for p, nums in priced.values():
        line = p.line
        pieces = given.ledger.total(nums, f"{line.label}, pieces in all", "pieces")
        each = [p.price]
        if code != "USD":
            quoted, label = p.price, f"price of {line.label}"
            if line.quoted_usd is not None:
                origin = {"quote_id": line.quote_id}
                quoted = given.ledger.leaf("quote", line.quoted_usd, "usd", label, **origin)
            each = [quoted, p.price]
        day = (day_words(line.quoted_on), age_words(line.quoted_on, today))
        rows.append((line.label, pieces, *each, line.vendor, kind_of_price(line.quote_kind), *day))
    if not rows:
        return None
    amounts = ("each",) if code == "USD" else ("each, as quoted", f"each, {code}")
    columns = ("item", "pieces", *amounts, "vendor", "kind of price", "date", "age")
    return ReportTable.of("Prices", columns, rows)


def price_facts(given: Material) -> dict[str, Any]:
    """What each machine costs if it is ordered today, and whom we ask for which quote: who sells a
    part sells no machine of such parts, and who tells of a price sells nothing."""
    bought, ask = given.costs.equipment, set[str]()
    for e in bought:
        for line in (p.line for p in e.lines):
            if line.quote_kind == BUY_IN:
                ask.add("campus")
            elif line.quote_kind == "parts-list" and len(e.lines) > 1:
                ask.add("builder")
            else:
                ask.add("seller" if line.quote_kind in _NOBODY_ASKS else "vendor")
    machines = {e.machine.machine_id: e.machine for e in bought}.values()
    ends = [(machine.label, ends_today(given, machine)) for machine in machines]
    return {"today": [(label, *both) for label, both in ends if both is not None], "ask": ask}


def rates(given: Material) -> tuple[ReportTable, dict[str, Any]] | None:
    """Each rate that is paid for rented computers, and what is known of it."""
    ledger, rules = given.ledger, given.problem.rules
    by_rate: dict[tuple[str, Num], list[RunningCost]] = {}
    for r in given.costs.running:
        if r.rented and r.charge.direct.value:
            by_rate.setdefault((r.placed[0].machine_id, r.charge.price), []).append(r)
    if not by_rate:
        return None
    rows: list[tuple[Cell, ...]] = []
    used = {name: given.rentals[name] for name, _ in by_rate}
    for (rental_id, price), mine in by_rate.items():
        rental, name, label = used[rental_id], rented_name(given, mine[0]), mine[0].label
        if rules.rent_change and not rental.allocation:
            name += f", year {mine[0].year + 1}"
        day = (day_words(rental.priced_on), age_words(rental.priced_on, given.loaded.today))
        if rental.allocation:
            day = (_source_of_rate(given, rental.provider), "")
        time = hours_of(given, mine, f"hours of {label}")
        paid = ledger.total([r.charge.direct for r in mine], label)
        rows.append((name, time, price, paid, *day))
    market = [rental for rental in used.values() if not rental.allocation]
    change = None
    if rules.rent_change:
        words = "change of rents"
        change = given.setting("rentals.price_change", rules.rent_change, "share", words)
    table = ReportTable.of("Rates", ("rented", "time", "rate", "all", "date", "age"), rows)
    return table, {
        "change": change,
        "medians": [(each.gpus, _median(given, each)) for each in market],
        "agreed": [rental.provider for rental in used.values() if rental.allocation],
    }


def _median(given: Material, rental: Rental) -> dict[str, Any] | None:
    """Of how many providers a rate is the median, and between what they ask; None of one alone."""
    if len(rental.offers) < 2:
        return None
    ledger, rules = given.ledger, given.problem.rules
    asked = [paid_rate(ledger, each, rules) for each in rental.offers]
    low, high = rental.offers[0], rental.offers[-1]
    return {
        "count": ledger.compute("count", asked, "providers", f"providers of {rental.gpus}"),
        "low": asked[0],
        "lowest": f"{low.who}, {day_words(low.priced_on)}",
        "high": asked[-1],
        "highest": f"{high.who}, {day_words(high.priced_on)}",
    }


def _source_of_rate(given: Material, allocation: str) -> str:
    """Who says what an hour costs."""
    keys = ("usd_per_gpu_hour", "price_per_gpu_hour")
    told = given.grant.allocation_values
    sources = (x.source for x in told if x.allocation == allocation and x.key in keys)
    source = next(sources, OWN_WORD)
    return "as agreed" if source in (OWN_WORD, ASSUMED) else source


def asked_of(given: Material) -> dict[str, dict[str, Any]]:
    """What the quotes of each item that is bought ask a piece, by the id of the one that counts:
    from the lowest to the highest, and a newer one that does not count."""
    loaded = given.loaded
    book = loaded.snapshot.prices(loaded.grant.prices, today=loaded.today)
    found: dict[str, dict[str, Any]] = {}
    for p in (p for e in given.costs.equipment for p in e.lines):
        quote = loaded.quotes[p.line.quote_id]
        key = (quote.item_kind, quote.item_id)
        span, newer = book.ranges.get(key), book.newer.get(key)
        asked: dict[str, Any] = dict.fromkeys(ASKED)
        if span is not None:
            low, high, number = span.low_usd, span.high_usd, span.quotes
            asked["lowest"] = _asked(given, p, "lowest price asked for", low, "low_usd")
            asked["highest"] = _asked(given, p, "highest price asked for", high, "high_usd")
            asked["quotes_as_good"] = _asked(given, p, "quotes as good for", number, "quotes")
        if newer is not None:
            words, kind = "newer price, not used, of", newer.kind.replace("-", " ")
            asked["newer_not_used"] = _asked(given, p, words, newer.price_usd, "newer_usd")
            asked["newer_of"] = f"{newer.label}, {kind}, {day_words(newer.quoted_on)}"
        found[p.line.quote_id] = asked
    return found


def _asked(
    given: Material, p: PricedLine[Num], what: str, value: Decimal | int, column: str
) -> Num:
    quote, words = given.loaded.quotes[p.line.quote_id], f"{what} {p.line.label}"
    unit = "usd" if column.endswith("_usd") else column
    origin = {"item_kind": quote.item_kind, "item": quote.item_id, "column": column}
    own = p.line.quoted_usd is None and not p.line.tax
    if own and unit == "usd" and value == quote.price_usd:
        # Of its own currency, as it is asked.
        return given.ledger.leaf("asked", p.price.value, "money", words, **origin)
    num = given.ledger.leaf("asked", value, unit, words, **origin)
    return given.own(num, words) if unit == "usd" else num


def asked_table(given: Material) -> ReportTable | None:
    """The same, a row an item."""
    lines = {p.line.quote_id: p for e in given.costs.equipment for p in e.lines}
    rows: list[tuple[Cell, ...]] = []
    for quote_id, asked in asked_of(given).items():
        *ends, newer, of = (asked[key] for key in ASKED)
        priced = lines[quote_id]
        rows.append((priced.line.label, priced.price, *ends, newer or "none", of or ""))
    columns = ("item", "price used", "lowest", "highest", "quotes", "newer, not used", "from")
    return ReportTable.of("Asked", columns, rows) if rows else None


def parts_table(given: Material) -> ReportTable | None:
    """The parts that a price is the sum of."""
    rows: list[tuple[Cell, ...]] = []
    for line in (p.line for e in given.costs.equipment for p in e.lines):
        for n, (role, detail, usd, day) in enumerate(line.parts):
            label, origin = f"{role} of {line.label}", {"host_id": line.item_id, "position": n}
            cost = given.own(given.ledger.leaf("part", usd, "usd", label, **origin), label)
            rows.append((line.label, role, detail, cost, day_words(day)))
    columns = ("machine", "part", "what", "price", "date")
    return ReportTable.of("Parts", columns, rows) if rows else None
