"""What the funder reads: the budget in the lines of its form, and a justification to paste."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from advisor.costs.amounts import day_words
from advisor.planning.grant.cost_lines import line_words
from advisor.planning.grant.funder import FunderForm
from advisor.planning.grant.institution import NO_RULES
from advisor.planning.report.asked_prices import quotes_sections
from advisor.planning.report.award_years import LINES, Entry, entries, year_spans
from advisor.planning.report.hours_words import called_hours, rented_name
from advisor.planning.report.in_currency import InCurrency
from advisor.planning.report.justification import (
    asked_for,
    justification,
    runs_done,
)
from advisor.planning.report.material import Material
from advisor.planning.report.modular import modular_section
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.report import (
    Block,
    Cell,
    Paragraph,
    ReportTable,
    Section,
    Words,
    joined,
)
from advisor.planning.report.sentences import listed
from advisor.planning.report.who_pays import (
    WhoPays,
    added_words,
    asked_words,
    note_words,
    with_payers,
)
from advisor.planning.solver.charges import BY_YEAR, Charge
from advisor.planning.solver.problem import Allocation
from price_catalog.model import OWN_QUOTE

CENT = Decimal("0.01")
ITEMISED = ("equipment", "supplies", "other")
"""Lines that have a row an item; what is other says nothing without its name."""
BY_PARTS = ", by parts"
"""In the name of a machine that is put together: how it is priced is said beside its price."""


def funder_sections(
    given: Material, form: FunderForm, to: InCurrency, budget: ReportTable, paid: WhoPays
) -> tuple[Section, ...]:
    """Request and budget, justification, quotes."""

    def local(words: Words) -> Paragraph:
        """In the currency of the grant, as the table is."""
        return Paragraph(words=to.words(words))

    names = {line: kind for kind, line in _lines(given, form).items()}
    by_line = {
        names[row[0]]: row[-1]
        for row in budget.rows
        if isinstance(row[0], str) and row[0] in names and isinstance(row[-1], Num)
    }
    sections = (
        Section(
            title="Request",
            blocks=(
                local(_request(given, form, paid)),
                with_payers(budget, paid, given.loaded.grant.shared_by),
                *(local(words) for words in _budget_notes(given, form, paid, to)),
            ),
        ),
        *modular_section(given, form, budget, paid),
        Section(
            title="Justification",
            blocks=tuple(
                local(words)
                for words in justification(given, by_line, asks=bool(paid.asked.value))
                if words
            ),
        ),
        *quotes_sections(given, to),
    )
    return tuple(map(_as_theirs, sections))


def _theirs(word: Any) -> Any:
    """Text without those marks; a number as it is."""
    if not isinstance(word, str):
        return word
    return word.replace(f" ({OWN_QUOTE})", "").replace(BY_PARTS, "")


def _as_theirs(section: Section) -> Section:
    """Without what marks an item for its user alone: a funder asks whose quote yours is."""

    blocks: list[Block] = []
    for block in section.blocks:
        if isinstance(block, Paragraph):
            blocks.append(Paragraph(words=tuple(map(_theirs, block.words))))
        elif isinstance(block, ReportTable):
            rows = tuple(tuple(map(_theirs, row)) for row in block.rows)
            blocks.append(replace(block, rows=rows))
        else:
            blocks.append(block)
    return replace(section, blocks=tuple(blocks))


def _lines(given: Material, form: FunderForm) -> dict[str, str]:
    """What each kind of line is called; where a funder pays depreciation the line of equipment
    says whether that is what it holds."""
    names = {kind: str(getattr(form.lines, kind) or "") for kind in LINES}
    if form.depreciates:
        part = given.loaded.problem.rules.life_months is not None
        names["equipment"] += " (depreciation)" if part else " (whole price)"
    return names


def budget_table(given: Material, form: FunderForm, to: InCurrency) -> ReportTable:
    """A row a line, equipment a row an item; a column an award year."""
    found: list[Entry] = entries(given)
    names = _lines(given, form)
    years = range(len(year_spans(given)))
    rows: list[tuple[Cell, ...]] = []
    direct: dict[int, list[Num]] = {year: [] for year in years}

    def row(name: str, by_year: list[Num]) -> tuple[Cell, ...]:
        return (name, *by_year, given.ledger.total(by_year, f"{name}, in all", by_year[0].unit))

    def summed(name: str, nums: Callable[[int], list[Num]]) -> list[Num]:
        return [
            to.num(given.ledger.total(nums(year), f"{name}, award year {year + 1}"))
            for year in years
        ]

    for kind in LINES:
        here = [entry for entry in found if entry.line == kind]
        items = dict.fromkeys(e.item for e in here) if kind in ITEMISED else [""]
        for item in items:
            mine = [e for e in here if item in ("", e.item)]
            if not mine:
                continue
            name = f"{names[kind]}: {item}" if item else names[kind]

            def directs(year: int, mine: list[Entry] = mine) -> list[Num]:
                return [e.direct for e in mine if e.year == year]

            by_year = summed(name, directs)
            if not any(num.value for num in by_year):
                continue  # hours that are granted free of charge
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
        row(_called_total(given, form), totals),
    ]
    return ReportTable(
        name="Budget",
        columns=(form.name, *(f"year {year + 1}" for year in years), "all years"),
        rows=tuple(tuple(map(_theirs, row)) for row in rows),
        total=True,
    )


def _called_total(given: Material, form: FunderForm) -> str:
    """What others pay a part of is not requested as a whole."""
    name = str(form.lines.total)
    shared = given.loaded.grant.shared_by is not None
    return "Total cost" if shared and "request" in name.lower() else name


def _budget_notes(given: Material, form: FunderForm, paid: WhoPays, to: InCurrency) -> list[Words]:
    words: list[str | Num] = [_award_years(year_spans(given))]
    rules = given.loaded.problem.rules
    rentals = given.book.rentals
    bare = any(
        r.rented and rentals[r.placed[0].machine_id].allocation is None for r in given.costs.running
    )
    own = any(e.machine.share_of is None for e in given.costs.equipment)
    taxed = ["machines"] * own + ["rented computers"] * bare
    if rules.vat and taxed:
        vat = given.book.setting("budget.vat", rules.vat, "share", "value-added tax")
        words += [f" Prices of {listed(taxed)} include ", vat, " value-added tax."]
    written_off = any(e.machine.in_base is None for e in given.costs.equipment)
    if rules.life_months is not None and written_off:
        life = given.book.setting("institution.life_months", rules.life_months, "months", "life")
        words += [" Machines are written off over ", life, " months, and the months within the "]
        words.append("project are charged.")
    words += note_words(given, paid)
    if given.costs.indirect.value:
        words += _indirect(given, form, to)
    if given.loaded.grant.currency.note is not None and _is_converted(given):
        words.append(f" {given.loaded.grant.currency.note}")
    return [tuple(words)]


def _is_converted(given: Material) -> bool:
    """Whether anything that is asked for has its price in US dollars."""
    grant = given.loaded.grant
    power = "electricity.usd_per_kwh" not in grant.stated
    own = {each.name for each in grant.allocations if each.price_per_gpu_hour is not None}
    return any(e.machine.share_of is None for e in given.costs.equipment) or any(
        given.book.rentals[r.placed[0].machine_id].provider not in own if r.rented else power
        for r in given.costs.running
        if r.charge.direct.value
    )


def _award_years(spans: list[tuple[date, date]]) -> str:
    """When each begins and ends; once for all of them where they are twelve months each."""
    (first, last), *later = spans
    whole = f"{day_words(first)} to {day_words(last)}"
    if not later:
        return f"The award year is {whole}."
    # Each later year begins on one day; only the first and the last may be cut short.
    begins = later[0][0]
    since = f"each later year begins on {begins.day} {begins:%B}"
    if (first.day, first.month) == (begins.day, begins.month):
        return f"Year 1 is {whole}, and {since}."
    return f"Year 1 is {whole}, {since}, and the last ends on {day_words(later[-1][1])}."


def _indirect(given: Material, form: FunderForm, to: InCurrency) -> Words:
    """Each rate with the base that it is charged on; what a funder adds by its own name."""
    name = str(form.lines.indirect)
    start = f"The {name[0].lower()}{name[1:]} is" if form.adds_indirect else "Indirect costs are"
    costs, ledger = given.costs, given.ledger
    rules, power = given.loaded.problem.rules, "electricity"
    if rules.year_overhead is not None and rules.overhead_rate_electricity is None:
        power += ", at the mean of the years' rates"
    bases: list[tuple[str, Charge[Num]]] = [
        *(("rented computers", r.charge) for r in costs.running if r.rented),
        *((power, r.charge) for r in costs.running if not r.rented),
        *(("the rest", e.charge) for e in costs.equipment),
        *((f.fixed.name if f.fixed.rate_key else "the rest", f.charge) for f in costs.fixed),
    ]
    by_rate: dict[Decimal, tuple[Num, list[str], list[Num]]] = {}
    for called, charge in bases:
        if charge.rate is not None and charge.indirect.value:
            rate = charge.rate
            label = ledger.rows[rate.row - 1].label
            if label.startswith(BY_YEAR):
                called = label.removeprefix(BY_YEAR)
            _, names, found = by_rate.setdefault(rate.value, (rate, [], []))
            if called not in names:
                names.append(called)
            found.append(charge.base)
    words: list[str | Num] = [f" {start} "]
    off, bases_in_all = -to.num(costs.indirect).value, Decimal(0)
    for n, (rate, names, nums) in enumerate(by_rate.values(), start=1):
        base = ledger.total(nums, f"overhead base, {listed(names)}")
        mark = "" if n == 1 else " and " if n == len(by_rate) else ", "
        words += [mark, rate, " of ", base]
        if len(by_rate) > 1:
            words.append(f" ({listed(names)})")
        off += to.num(base).value * rate.value
        bases_in_all += base.value
    whole = bases_in_all == costs.direct.value
    by = f", by {_house(given)}."
    if whole and len(by_rate) == 1:
        words = [f" {start} ", rate, " of all direct costs", by]
    else:
        words.append(f", the direct costs that overhead is charged on{by}")
    if abs(off) > CENT / 2:
        they = "It is" if form.adds_indirect else "They are"
        words.append(f" {they} rounded item by item, so the sum can differ slightly.")
    return tuple(words)


def _house(given: Material) -> str:
    name = given.loaded.grant.institution.name
    if name == NO_RULES.name:
        return "the settings of this grant"
    shipped_for_many = given.loaded.grant.institution.file.startswith("us-")
    return f"the rules of {'our institution' if shipped_for_many else name.partition(' (')[0]}"


def _request(given: Material, form: FunderForm, paid: WhoPays) -> Words:
    grant = given.loaded.grant
    between = f" between {day_words(grant.start)} and {day_words(year_spans(given)[-1][1])}."
    items = [asked_for(given, e) for e in given.costs.equipment]
    running = given.costs.running
    rented = [rented_name(given, r) for r in running if r.rented and r.charge.direct.value]
    parts: list[Words] = [*items, *([(f"time on {listed(rented)}",)] if rented else [])]
    own = not parts
    if any(not r.rented for r in running):
        parts.append(("electricity",))
    others = [line_words(f.fixed.kind, f.fixed.name) for f in given.costs.fixed if f.fixed.usd]
    parts += [(name,) for name in dict.fromkeys(others)]
    where = _where(given)
    if not parts and not given.plan.runs:
        return (f"No run can be done with this money{between}",)
    if not parts and not paid.total.value:
        done = runs_done(given)
        return ("We ask for no money. We do ", done, f" of training on {where}{between}")
    words: list[str | Num] = [*asked_words(given, paid)]
    begins = ": " if paid.asked.value else " for "
    joined_by = [" and " in joined(part) for part in parts]
    for n, part in enumerate(parts):
        last = " and " if len(parts) == 2 and not any(joined_by) else "; and "
        words += [begins if n == 0 else last if n == len(parts) - 1 else "; ", *part]
    besides = [] if own else _besides(given)
    does = f". With {listed(besides)}, that is enough for " if besides else ". It pays for "
    if not besides and not paid.asked.value:
        does = ". That is enough for "
    elif own and all(r.rented for r in running):
        does = ". Beside it we do "  # what trains costs nothing
    words += [does, runs_done(given), " of training"]
    if own and where:
        words.append(f" on {where}")
    words.append(between)
    return (*words, *added_words(form, paid))


def _where(given: Material) -> str:
    """On what runs are done that nothing is bought or rented for."""
    rented = {p.machine_id in given.book.rentals for p in given.plan.placed}
    return listed(
        [*["the machines that we have"] * (False in rented), *called_hours(given, _used(given))]
    )


def _used(given: Material, *, free: bool = False) -> list[Allocation]:
    """The allocations whose hours the plan takes; with ``free`` those that cost it nothing."""
    costs = {r.placed[0].machine_id: r.charge.direct.value for r in given.costs.running}
    used = {
        given.book.rentals[p.machine_id].allocation
        for p in given.plan.placed
        if p.machine_id in given.book.rentals and not (free and costs[p.machine_id])
    }
    return [each for each in given.loaded.problem.allocations if each.allocation_id in used]


def _besides(given: Material) -> list[str]:
    """What does some of the runs beside what is asked for."""
    bought = {e.machine.machine_id for e in given.costs.equipment}
    placed = {p.machine_id for p in given.plan.placed}
    rented = placed & given.book.rentals.keys()
    mine = {given.book.problem.whole(name) for name in placed - rented} - bought
    return [
        *["the machines that we have"] * bool(mine),
        *called_hours(given, _used(given, free=True)),
    ]
