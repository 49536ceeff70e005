"""The section of a report about its money: equipment, running costs, by fiscal year."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from advisor.costs.amount_words import age_words, day_words
from advisor.costs.cost_of_owning import CostTerms
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.phrases import kind_of_price
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report import Block, Cell, ReportTable, Section
from advisor.planning.runs_on_bought_machines import costs_of_runs
from advisor.planning.solver.money.prices import PricedLine
from price_catalog.builds import rack_units_of

TERMS = {
    "lifetime_years": ("years of life", "years"),
    "utilisation": ("share of that time in use", "share"),
    "electricity_usd_per_kwh": ("electricity, a kWh", "money"),
    "pue": ("PUE", "factor"),
    "hosting_usd_per_u_month": ("hosting, a rack unit and month", "money"),
    "staff_usd_per_year": ("staff, a year", "money"),
    "resale_share": ("what it brings at the end, of its price", "share"),
    "financing_rate": ("interest, a year", "share"),
}
"""What a run is counted by, and its unit."""


def money_section(given: Material) -> Section:
    """Equipment, running costs, by fiscal year, direct and indirect."""
    blocks: list[Block] = []
    columns: tuple[str, ...]
    machines, parts = _machines_and_parts(given)
    if machines:
        columns = ("item", "pieces", "each", "all", "kind of price", "vendor", "date")
        blocks.append(ReportTable.of("Machines", columns, machines, total=True))
    asked = asked_of(given)
    if asked:
        columns = ("item", "price used", "lowest", "highest", "quotes", "age", "newer, not used")
        rows = (
            (a.item, a.counts, *a.ends, a.age, a.newer or "none", a.newer_of)
            for a in asked.values()
        )
        blocks.append(ReportTable.of("Asked", (*columns, "from"), rows))
    if parts:
        columns = ("machine", "part", "what", "price", "date")
        blocks.append(ReportTable.of("Parts", columns, parts))
    if delivered := _delivered(given):
        columns = ("machine", "delivery", "warranty", "place", "memory", "noise", "weight")
        blocks.append(ReportTable.of("Delivered", columns, delivered))
    running: list[tuple[Cell, ...]] = []
    for r in given.costs.running:
        name, charge = given.book.experiments[r.experiment_id].name, r.charge
        cost = (charge.amount, charge.price, charge.each, charge.direct)
        running.append((name, r.label, r.fiscal_year, r.runs, *cost))
    if running:
        directs = [r.charge.direct for r in given.costs.running]
        total = given.ledger.total(directs, "running, direct")
        running.append(("total", "", "", "", "", "", "", total))
        columns = ("experiment", "machine", "starts in", "runs", "use of a run", "at", "a run")
        blocks.append(ReportTable.of("Running", (*columns, "all runs"), running, total=True))
    blocks += _a_run(given)
    blocks.append(_by_year(given))
    if given.loaded.grant.institution.fiscal_year_start != (1, 1):
        blocks.append(
            "A fiscal year (FY) has the number of the year in which it ends. Amounts are "
            "counted in the year in which a machine is bought or a run starts."
        )
    if given.loaded.problem.rules.life_months is not None and given.costs.equipment:
        blocks.append(
            "Here the depreciation of a machine stands whole in the year of its order; the "
            "budget has it by the months of each year."
        )
    return Section(title="What it costs", blocks=tuple(blocks))


def _a_run(given: Material) -> list[Block]:
    """What a run costs of the life of what is bought."""
    terms, rows = given.loaded.grant.terms, list[tuple[Cell, ...]]()
    for run in costs_of_runs(given.loaded, given.plan):
        label = f"{given.loaded.models[run.model].name} on {run.machine}"
        origin = {"name": "a run", "machine_id": run.machine_id, "model": run.model}
        cost = given.ledger.leaf("unit", run.cost, "money", f"a run of {label}", **origin)
        time = given.book.time(given.book.machines[run.machine_id].times[run.model], label)
        rows.append((given.loaded.models[run.model].name, run.machine, time, cost))
    if not rows:
        return []
    counted = []
    for name, (label, unit) in TERMS.items():
        value = getattr(terms, name)
        if value != getattr(CostTerms(), name) or name in ("lifetime_years", "utilisation"):
            origin = {"name": "assumption", "term": name}
            value = given.loaded.grant.currency.rate_of_usd(value) if unit == "money" else value
            words = f"{label}, for the cost of a run"
            counted.append(f"{label}: {given.ledger.leaf('unit', value, unit, words, **origin)}")
    table = ReportTable.of("A run", ("model", "machine", "training", "a run"), rows)
    words = "A run costs its part of the machine's life, as a ranking counts it. Counted are:"
    return [table, words, tuple(counted)]


def _machines_and_parts(given: Material) -> tuple[list[tuple[Cell, ...]], list[tuple[Cell, ...]]]:
    """Each price of what is bought, with their total, and the parts that prices are sums of."""
    ledger = given.ledger
    machines: list[tuple[Cell, ...]] = []
    parts: list[tuple[Cell, ...]] = []
    amounts = []
    priced = [(e.count, p) for e in given.costs.equipment for p in e.lines]
    for count, p in priced:
        line = p.line
        of = [count, p.quantity]
        pieces = ledger.compute("product", of, "pieces", f"{line.label}, pieces")
        amounts.append(
            ledger.compute("product", [pieces, p.price], "money", f"{line.label}, all pieces")
        )
        words = (kind_of_price(line.quote_kind), line.vendor, day_words(line.quoted_on))
        machines.append((line.label, pieces, p.price, amounts[-1], *words))
        for n, (role, detail, usd, day) in enumerate(line.parts):
            label, origin = f"{role} of {line.label}", {"host_id": line.item_id, "position": n}
            cost = given.book.own(ledger.leaf("part", usd, "usd", label, **origin), label)
            parts.append((line.label, role, detail, cost, day_words(day)))
    if machines:
        total = ledger.total(amounts, "machines, direct")
        # Tax, a discount or what others pay stand between it and what is asked for.
        charged = sum((e.charge.direct.value for e in given.costs.equipment), Decimal(0))
        name = "total" if charged == total.value else "total, as quoted"
        machines.append((name, "", "", total, "", "", ""))
    return machines, parts


class Asked(NamedTuple):
    """A price of the plan among the quotes that are as good; amounts a piece."""

    item: str
    counts: Num
    ends: tuple[Num, Num, Num] | tuple[None, None, None]
    """The lowest, the highest, and how many quotes there are; None where no range is kept."""
    age: str
    newer: Num | None
    """What a quote of a later day asks that does not count."""
    newer_of: str
    """Its vendor, kind and day."""


def asked_of(given: Material) -> dict[str, Asked]:
    """What the quotes of each item that is bought ask, by the id of the one that counts."""
    loaded = given.loaded
    book = loaded.snapshot.prices(loaded.grant.prices, today=loaded.today)
    found: dict[str, Asked] = {}
    for priced in (p for e in given.costs.equipment for p in e.lines):
        line, quote = priced.line, loaded.quotes[priced.line.quote_id]
        key = (quote.item_kind, quote.item_id)

        def asked(what: str, value: Decimal | int, column: str, p: PricedLine[Num] = priced) -> Num:
            quote = loaded.quotes[p.line.quote_id]
            unit = "usd" if column.endswith("_usd") else column
            origin = {"item_kind": quote.item_kind, "item": quote.item_id, "column": column}
            words = f"{what} {p.line.label}"
            if p.line.quoted_usd is None and unit == "usd" and value == quote.price_usd:
                value = p.price.value  # of its own currency, as it is asked
                return given.ledger.leaf("asked", value, "money", words, **origin)
            num = given.ledger.leaf("asked", value, unit, words, **origin)
            return given.book.own(num, words) if unit == "usd" else num

        span, newer = book.ranges.get(key), book.newer.get(key)
        ends: tuple[Num, Num, Num] | tuple[None, None, None] = (None, None, None)
        if span is not None:
            ends = (
                asked("lowest price asked for", span.low_usd, "low_usd"),
                asked("highest price asked for", span.high_usd, "high_usd"),
                asked("quotes as good for", span.quotes, "quotes"),
            )
        later, later_of = None, ""
        if newer is not None:
            later = asked("newer price, not used, of", newer.price_usd, "newer_usd")
            kind = newer.kind.replace("-", " ")
            later_of = f"{newer.label}, {kind}, {day_words(newer.quoted_on)}"
        age = age_words(line.quoted_on, loaded.today)
        found[line.quote_id] = Asked(line.label, priced.price, ends, age, later, later_of)
    return found


NOT_STATED = "not stated"


def _delivered(given: Material) -> list[tuple[Cell, ...]]:
    """Delivery, warranty and size, a row a machine, in the words of vendor and maker."""
    rows: dict[str, tuple[Cell, ...]] = {}
    for e in given.costs.equipment:
        build = given.loaded.builds.get(e.machine.machine_id)
        if build is None:  # cards for a machine that is there
            continue
        quotes = [given.loaded.quotes[p.line.quote_id] for p in e.lines]
        host, units = build.host, rack_units_of(build.host)
        place = NOT_STATED if units is None else f"{units:g} U" if units else "on the floor"
        figures = ((host.memory_gib, "GiB"), (host.noise_dba, "dB(A)"), (host.weight_kg, "kg"))
        rows[e.machine.machine_id] = (
            e.machine.label,
            next((quote.delivery for quote in quotes if quote.delivery), NOT_STATED),
            next((quote.warranty for quote in quotes if quote.warranty), NOT_STATED),
            place,
            *(NOT_STATED if value is None else f"{value:g} {unit}" for value, unit in figures),
        )
    return list(rows.values())


def _by_year(given: Material) -> ReportTable:
    costs, fiscal, total = given.costs, given.book.fiscal_year, given.ledger.total
    charges = [
        *(("machines", fiscal(e.bought_on), e.charge) for e in costs.equipment),
        *(
            ("rental" if r.rented else "electricity", r.fiscal_year, r.charge)
            for r in costs.running
        ),
        *((f.fixed.name, f.fiscal_year, f.charge) for f in costs.fixed),
    ]
    kinds: dict[str, list[tuple[str, Num]]] = {
        kind: [] for kind in ("machines", "rental", "electricity")
    }
    for kind, year, charge in charges:
        kinds.setdefault(kind, []).append((year, charge.direct))
    kinds["indirect"] = [(year, charge.indirect) for _, year, charge in charges]
    rows: list[tuple[Cell, ...]] = []
    columns: dict[str, list[Num]] = {year: [] for year in costs.years}
    for kind, amounts in kinds.items():
        if not any(usd.value for _, usd in amounts):
            continue
        cells = []
        for year in costs.years:
            num = total([usd for y, usd in amounts if y == year], f"{kind}, {year}")
            columns[year].append(num)
            cells.append(num)
        rows.append((kind, *cells, total(cells, f"{kind}, all years")))
    ends = [total(columns[year], f"all, {year}") for year in costs.years]
    rows.append(("total", *ends, total(ends, "all, all years")))
    return ReportTable.of("By fiscal year", ("cost", *costs.years, "all years"), rows, total=True)
