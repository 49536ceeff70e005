"""What the funder reads: the budget in the lines of its form, and a justification to paste."""

from __future__ import annotations

from collections.abc import Callable

from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.funder import FunderForm
from advisor.planning.report.award_years import LINES, Entry, entries, year_spans
from advisor.planning.report.justification import justification, listed, runs_done
from advisor.planning.report.material import Material
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.report import (
    Bullets,
    Cell,
    Paragraph,
    ReportTable,
    Section,
    Words,
)
from advisor.planning.solver.charges import overhead_rate


def funder_sections(given: Material, form: FunderForm) -> tuple[Section, ...]:
    """Request and budget, justification, quotes."""
    found = entries(given)
    to = _in_currency(given)

    def local(words: Words) -> Paragraph:
        """In the currency of the grant, as the table is."""
        return Paragraph(
            words=tuple(
                to(word) if not isinstance(word, str) and word.unit == "usd" else word
                for word in words
            )
        )

    budget = budget_table(given, form, found)
    names = {str(getattr(form.lines, kind)): kind for kind in LINES}
    by_line = {
        names[row[0]]: row[-1]
        for row in budget.rows
        if isinstance(row[0], str) and row[0] in names and isinstance(row[-1], Num)
    }
    total = budget.rows[-1][-1]
    assert total is not None and not isinstance(total, str)  # a sum, always
    return (
        Section(
            title="Request",
            blocks=(
                local(_request(given, total)),
                budget,
                *(local(words) for words in _budget_notes(given, form, total)),
            ),
        ),
        Section(
            title="Justification",
            blocks=tuple(local(words) for words in justification(given, by_line) if words),
        ),
        *([_quotes(given)] if given.costs.equipment else []),
    )


def budget_table(given: Material, form: FunderForm, found: list[Entry]) -> ReportTable:
    """A row a line, equipment a row an item; a column an award year."""
    to = _in_currency(given)
    names = {kind: str(getattr(form.lines, kind)) for kind in LINES}
    years = range(len(year_spans(given)))
    rows: list[tuple[Cell, ...]] = []
    direct: dict[int, list[Num]] = {year: [] for year in years}

    def row(name: str, by_year: list[Num]) -> tuple[Cell, ...]:
        return (name, *by_year, given.ledger.total(by_year, f"{name}, in all", by_year[0].unit))

    def summed(name: str, nums: Callable[[int], list[Num]]) -> list[Num]:
        return [
            to(given.ledger.total(nums(year), f"{name}, award year {year + 1}")) for year in years
        ]

    for kind in LINES:
        here = [entry for entry in found if entry.line == kind]
        items = dict.fromkeys(e.item for e in here) if kind in ("equipment", "supplies") else [""]
        for item in items:
            mine = [e for e in here if item in ("", e.item)]
            if not mine:
                continue
            name = f"{names[kind]}: {item}" if item else names[kind]

            def directs(year: int, mine: list[Entry] = mine) -> list[Num]:
                return [e.direct for e in mine if e.year == year]

            by_year = summed(name, directs)
            for year, num in zip(years, by_year, strict=True):
                direct[year].append(num)
            rows.append(row(name, by_year))
    unit = given.loaded.grant.currency.code
    unit = "usd" if unit == "USD" else unit
    directs_all = [
        given.ledger.total(direct[year], f"direct costs, award year {year + 1}", unit)
        for year in years
    ]
    indirect = summed(
        str(form.lines.indirect), lambda year: [e.indirect for e in found if e.year == year]
    )
    totals = [
        given.ledger.total([a, b], f"requested, award year {year + 1}", unit)
        for year, a, b in zip(years, directs_all, indirect, strict=True)
    ]
    rows += [
        row(str(form.lines.direct), directs_all),
        row(str(form.lines.indirect), indirect),
        row(str(form.lines.total), totals),
    ]
    return ReportTable(
        name="Budget",
        columns=(form.name, *(f"year {year + 1}" for year in years), "all years"),
        rows=tuple(rows),
        total=True,
    )


def _in_currency(given: Material) -> Callable[[Num], Num]:
    """From US dollars to the grant's currency, to the hundredth."""
    currency = given.loaded.grant.currency
    if currency.code == "USD":
        return lambda num: num
    rate = given.book.setting(
        "budget.usd_per_unit", currency.usd_per_unit, "usd", f"US dollars a {currency.code}"
    )

    def converted(num: Num) -> Num:
        label = f"in {currency.code}, row {num.row}"
        return given.ledger.compute("ratio", [num, rate], currency.code, label, decimals=2)

    return converted


def _budget_notes(given: Material, form: FunderForm, total: Num) -> list[Words]:
    spans = "; ".join(
        f"year {n} from {first} to {last}" for n, (first, last) in enumerate(year_spans(given), 1)
    )
    words: list[str | Num] = [f"Award years: {spans}."]
    rules = given.loaded.problem.rules
    if rules.vat and (given.costs.equipment or any(r.rented for r in given.costs.running)):
        vat = given.book.setting("budget.vat", rules.vat, "share", "value-added tax")
        words += [" Prices of machines and rent include ", vat, " value-added tax."]
    if form.pays is not None:
        share = given.ledger.leaf(
            "setting", form.pays, "share", "what the funder pays", key="form.pays"
        )
        paid = given.ledger.compute(
            "product", [total, share], total.unit, "paid by the funder", decimals=2
        )
        rest = given.ledger.compute("difference", [total, paid], total.unit, "the remainder")
        words += [" The funder pays ", share, " of the total: ", paid, ". The remainder, ", rest]
        words.append(", is the institution's.")
    one_rate = rules.overhead_rate_cloud is None and rules.overhead_rate_electricity is None
    if given.costs.indirect.value and one_rate:
        rate = overhead_rate(given.ledger, rules)
        words += [" Indirect costs are ", rate, " of ", given.costs.base]
        words.append(f", the part of direct costs that they are charged on by {_house(given)}.")
    if given.loaded.grant.currency.note is not None:
        words.append(f" {given.loaded.grant.currency.note}")
    return [tuple(words)]


def _house(given: Material) -> str:
    return f"the rules of {given.loaded.grant.institution.name}"


def _request(given: Material, total: Num) -> Words:
    between = f" between {given.loaded.grant.start} and {year_spans(given)[-1][1]}."
    items = [(e.count, f" ({e.machine.label})") for e in given.costs.equipment]
    rented = dict.fromkeys(r.label for r in given.costs.running if r.rented)
    parts: list[Words] = [*items, *([(f"time on {listed(rented)}",)] if rented else [])]
    if not parts and not total.value:
        return ("We ask for no money: the machines that we have train ", runs_done(given), between)
    words: list[str | Num] = ["We ask for ", total]
    for n, part in enumerate(parts):
        words += [": " if n == 0 else "; ", *part]
    if not parts:
        words.append(": the machines that we have do the work")
    return (*words, ", to train ", runs_done(given), between)


def _quotes(given: Material) -> Section:
    rows: list[tuple[Cell, ...]] = [
        (
            p.line.label,
            p.quantity,
            p.price,
            p.line.vendor,
            p.line.quote_kind.replace("-", " "),
            str(p.line.quoted_on),
        )
        for e in given.costs.equipment
        for p in e.lines
    ]
    oldest = min(p.line.quoted_on for e in given.costs.equipment for p in e.lines)
    words = (
        f"The oldest of these prices is of {oldest}. Before the order each vendor is asked for a "
        "written quote of the same item that is valid on that day.",
    )
    return Section(
        title="Quotes",
        blocks=(
            ReportTable(
                name="Quotes",
                columns=("item", "pieces", "each", "vendor", "kind of price", "of"),
                rows=tuple(dict.fromkeys(rows)),
            ),
            Paragraph(words=words),
        ),
    )


def to_check_section(given: Material, form: FunderForm) -> Section:
    """For the lab, not for the funder: what to look at before the form is sent."""
    items: list[Words] = [
        *((str(text),) for text in form.before_you_send.values()),
        *((text,) for text in cautions(given.loaded.grant, given.loaded.problem, given.plan)),
    ]
    if form.depreciates and given.loaded.problem.rules.life_months is None:
        items.insert(
            0, ("Equipment stands here at its whole price, which this funder does not pay.",)
        )
    return Section(title="Before you send it", blocks=(Bullets(items=tuple(items)),))
