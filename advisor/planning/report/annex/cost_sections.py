"""The section of a report about its money: equipment, running costs, by fiscal year."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from advisor.costs.amounts import age_words, day_words
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.phrases import kind_of_price
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report import Block, Cell, ReportTable, Section
from price_catalog.builds import rack_units_of


def money_section(given: Material) -> Section:
    """Equipment, running costs, by fiscal year, direct and indirect."""
    blocks: list[Block] = []
    equipment: list[tuple[Cell, ...]] = []
    parts: list[tuple[Cell, ...]] = []
    for e in given.costs.equipment:
        for line, quantity, price in ((p.line, p.quantity, p.price) for p in e.lines):
            pieces = given.ledger.compute(
                "product", [e.count, quantity], "pieces", f"{line.label}, pieces"
            )
            amount = given.ledger.compute(
                "product", [pieces, price], "usd", f"{line.label}, all pieces"
            )
            equipment.append(
                (
                    line.label,
                    pieces,
                    price,
                    amount,
                    kind_of_price(line.quote_kind),
                    line.vendor,
                    day_words(line.quoted_on),
                )
            )
            for n, (role, detail, usd, day) in enumerate(line.parts):
                cost = given.ledger.leaf(
                    "part",
                    usd,
                    "usd",
                    f"{role} of {line.label}",
                    host_id=line.item_id,
                    position=n,
                )
                parts.append((line.label, role, detail, cost, day_words(day)))
    if equipment:
        total = given.ledger.total(
            [row[3] for row in equipment if isinstance(row[3], Num)], "machines, direct"
        )
        # Tax, a discount or what others pay stand between it and what is asked for.
        charged = sum((e.charge.direct.value for e in given.costs.equipment), Decimal(0))
        name = "total" if charged == total.value else "total, as quoted"
        equipment.append((name, "", "", total, "", "", ""))
        blocks.append(
            ReportTable(
                name="Machines",
                columns=("item", "pieces", "each", "all", "kind of price", "vendor", "date"),
                rows=tuple(equipment),
                total=True,
            )
        )
    asked = asked_of(given)
    if asked:
        blocks.append(
            ReportTable(
                name="Asked",
                columns=(
                    "item",
                    "price used",
                    "lowest",
                    "highest",
                    "quotes",
                    "age",
                    "newer, not used",
                    "from",
                ),
                rows=tuple(
                    (a.item, a.counts, *a.ends, a.age, a.newer or "none", a.newer_of)
                    for a in asked.values()
                ),
            )
        )
    if parts:
        blocks.append(
            ReportTable(
                name="Parts",
                columns=("machine", "part", "what", "price", "date"),
                rows=tuple(parts),
            )
        )
    delivered = _delivered(given)
    if delivered:
        blocks.append(
            ReportTable(
                name="Delivered",
                columns=("machine", "delivery", "warranty", "place", "memory", "noise", "weight"),
                rows=tuple(delivered),
            )
        )
    running = [
        (
            given.book.experiments[r.experiment_id].name,
            r.label,
            r.fiscal_year,
            r.runs,
            r.charge.amount,
            r.charge.price,
            r.charge.each,
            r.charge.direct,
        )
        for r in given.costs.running
    ]
    if running:
        total = given.ledger.total(
            [r.charge.direct for r in given.costs.running], "running, direct"
        )
        blocks.append(
            ReportTable(
                name="Running",
                columns=(
                    "experiment",
                    "machine",
                    "starts in",
                    "runs",
                    "use of a run",
                    "at",
                    "a run",
                    "all runs",
                ),
                rows=(*running, ("total", "", "", "", "", "", "", total)),
                total=True,
            )
        )
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


class Asked(NamedTuple):
    """A price of the plan among the quotes that are as good; amounts in USD a piece."""

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

        def asked(
            what: str,
            value: Decimal | int,
            column: str,
            key: tuple[str, str] = key,
            label: str = line.label,
            own: tuple[Decimal, Num] | None = None
            if line.asked is None
            else (quote.price_usd, priced.price),
        ) -> Num:
            if own is not None and value == own[0]:  # of its own currency, as it is asked
                return own[1]
            unit = "usd" if column.endswith("_usd") else column
            origin = {"item_kind": key[0], "item": key[1], "column": column}
            return given.ledger.leaf("asked", value, unit, f"{what} {label}", **origin)

        span, newer = book.ranges.get(key), book.newer.get(key)
        found[line.quote_id] = Asked(
            line.label,
            priced.price,
            (None, None, None)
            if span is None
            else (
                asked("lowest price asked for", span.low_usd, "low_usd"),
                asked("highest price asked for", span.high_usd, "high_usd"),
                asked("quotes as good for", span.quotes, "quotes"),
            ),
            age_words(line.quoted_on, loaded.today),
            None
            if newer is None
            else asked("newer price, not used, of", newer.price_usd, "newer_usd"),
            ""
            if newer is None
            else f"{newer.label}, {newer.kind.replace('-', ' ')}, {day_words(newer.quoted_on)}",
        )
    return found


NOT_STATED = "not stated"


def _delivered(given: Material) -> list[tuple[Cell, ...]]:
    """What a buyer asks beside the price, a row a machine, in the words of vendor and maker."""
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
    kinds: list[tuple[str, list[tuple[str, Num]]]] = [
        (
            "machines",
            [(given.book.fiscal_year(e.bought_on), e.charge.direct) for e in given.costs.equipment],
        ),
        ("rental", [(r.fiscal_year, r.charge.direct) for r in given.costs.running if r.rented]),
        (
            "electricity",
            [(r.fiscal_year, r.charge.direct) for r in given.costs.running if not r.rented],
        ),
    ]
    indirect = [
        (given.book.fiscal_year(e.bought_on), e.charge.indirect) for e in given.costs.equipment
    ]
    indirect += [(r.fiscal_year, r.charge.indirect) for r in given.costs.running]
    indirect += [(f.fiscal_year, f.charge.indirect) for f in given.costs.fixed]
    for name in dict.fromkeys(f.fixed.name for f in given.costs.fixed):
        lines = [f for f in given.costs.fixed if f.fixed.name == name]
        kinds.append((name, [(f.fiscal_year, f.charge.direct) for f in lines]))
    kinds.append(("indirect", indirect))
    total = given.ledger.total
    rows: list[tuple[Cell, ...]] = []
    columns: dict[str, list[Num]] = {year: [] for year in given.costs.years}
    for kind, amounts in kinds:
        if not any(usd.value for _, usd in amounts):
            continue
        cells = []
        for year in given.costs.years:
            num = total([usd for y, usd in amounts if y == year], f"{kind}, {year}")
            columns[year].append(num)
            cells.append(num)
        rows.append((kind, *cells, total(cells, f"{kind}, all years")))
    ends = [total(columns[year], f"all, {year}") for year in given.costs.years]
    rows.append(("total", *ends, total(ends, "all, all years")))
    return ReportTable(
        name="By fiscal year",
        columns=("cost", *given.costs.years, "all years"),
        rows=tuple(rows),
        total=True,
    )
