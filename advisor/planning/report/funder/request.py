"""What the funder reads: the budget in the lines of its form, and the paragraphs around it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import accumulate

from advisor.costs.amount_words import day_words
from advisor.planning.grant.candidates.cost_lines import line_words
from advisor.planning.grant.institution import NO_RULES
from advisor.planning.report.budget import (
    WhoPays,
    added_words,
    asked_words,
    for_funder,
    line_names,
    note_words,
    table_for_funder,
    with_payers,
)
from advisor.planning.report.budget_entries import entries, year_spans
from advisor.planning.report.funder.computing_hours import called_hours, rented_name
from advisor.planning.report.funder.justification import (
    asked_for,
    justification,
)
from advisor.planning.report.funder.quotes_section import quotes_sections
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.phrases import listed, runs_done
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report import ReportTable, Section
from advisor.planning.solver.money.charges import BY_YEAR, Charge
from advisor.planning.solver.problem import Allocation

CENT = Decimal("0.01")


def funder_sections(
    given: Material, budget: ReportTable, paid: WhoPays
) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
    """Request and budget, justification, quotes; and those of them that stay in the office, where
    the funder takes a modular budget."""
    names = {line: kind for kind, line in line_names(given).items()}
    by_line = {
        names[row[0]]: row[-1]
        for row in budget.rows
        if isinstance(row[0], str) and row[0] in names and isinstance(row[-1], Num)
    }
    table = with_payers(budget, paid, given.loaded.grant.shared_by)
    request = _request(given, paid), table, _budget_notes(given, paid)
    modular = modular_section(given, budget, paid)
    paragraphs = justification(given, by_line, asks=bool(paid.asked.value))
    detailed = (
        Section(title="Request", blocks=request),
        Section(title="Justification", blocks=tuple(paragraphs)),
        *quotes_sections(given),
    )
    detailed, modular = (tuple(map(_section_for_funder, each)) for each in (detailed, modular))
    return (modular, detailed) if modular else (detailed, ())


def _section_for_funder(section: Section) -> Section:
    """Without marks that only the lab reads, such as "yours" for its own quotes."""
    blocks = []
    for block in section.blocks:
        if isinstance(block, str):
            block = for_funder(block)
        elif isinstance(block, ReportTable):
            block = table_for_funder(block)
        blocks.append(block)
    return replace(section, blocks=tuple(blocks))


def _budget_notes(given: Material, paid: WhoPays) -> str:
    text = _award_years(year_spans(given))
    rules = given.loaded.problem.rules
    rentals = given.book.rentals
    bare = any(
        r.rented and rentals[r.placed[0].machine_id].allocation is None for r in given.costs.running
    )
    own = any(e.machine.share_of is None for e in given.costs.equipment)
    taxed = ["machines"] * own + ["rented computers"] * bare
    if rules.vat and taxed:
        vat = given.book.setting("budget.vat", rules.vat, "share", "value-added tax")
        text += f" Prices of {listed(taxed)} include {vat} value-added tax."
    written_off = any(e.machine.in_base is None for e in given.costs.equipment)
    if rules.life_months is not None and written_off:
        life = given.book.setting("institution.life_months", rules.life_months, "months", "life")
        text += (
            f" Machines are written off over {life} months, and the months within the project are "
            "charged."
        )
    text += note_words(given, paid)
    if given.costs.indirect.value:
        text += _indirect(given)
    if given.loaded.grant.currency.note is not None and _is_converted(given):
        text += f" {given.loaded.grant.currency.note}"
    return text


def _is_converted(given: Material) -> bool:
    """Whether anything that is asked for has its price in US dollars."""
    rentals = given.book.rentals
    return any(
        p.line.quoted_usd is not None for e in given.costs.equipment for p in e.lines
    ) or any(
        rentals[r.placed[0].machine_id].quoted_usd is not None
        for r in given.costs.running
        if r.rented
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


def _indirect(given: Material) -> str:
    """Each rate with the base that it is charged on; what a funder adds by its own name."""
    adds, name = given.form.adds_indirect, str(given.form.lines.indirect)
    start = f"The {name[0].lower()}{name[1:]} is" if adds else "Indirect costs are"
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
    told = []
    off, bases_in_all = -costs.indirect.value, Decimal(0)
    for rate, names, nums in by_rate.values():
        base = ledger.total(nums, f"overhead base, {listed(names)}")
        told.append(f"{rate} of {base}" + (f" ({listed(names)})" if len(by_rate) > 1 else ""))
        off += base.value * rate.value
        bases_in_all += base.value
    of = f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else told[0]
    if bases_in_all == costs.direct.value and len(by_rate) == 1:
        text = f" {start} {rate} of all direct costs, by {_house(given)}."
    else:
        text = f" {start} {of}, the direct costs that overhead is charged on, by {_house(given)}."
    if abs(off) > CENT / 2:
        they = "It is" if adds else "They are"
        text += f" {they} rounded item by item, so the sum can differ slightly."
    return text


def _house(given: Material) -> str:
    name = given.loaded.grant.institution.name
    if name == NO_RULES.name:
        return "the settings of this grant"
    shipped_for_many = given.loaded.grant.institution.file.startswith("us-")
    return f"the rules of {'our institution' if shipped_for_many else name.partition(' (')[0]}"


def _request(given: Material, paid: WhoPays) -> str:
    grant = given.loaded.grant
    between = f" between {day_words(grant.start)} and {day_words(year_spans(given)[-1][1])}."
    running = given.costs.running
    parts = [asked_for(given, e) for e in given.costs.equipment]
    rented = [rented_name(given, r) for r in running if r.rented and r.charge.direct.value]
    parts += [f"time on {listed(rented)}"] if rented else []
    own = not parts
    if any(not r.rented for r in running):
        parts.append("electricity")
    others = [line_words(f.fixed.kind, f.fixed.name) for f in given.costs.fixed if f.fixed.amount]
    parts += dict.fromkeys(others)
    where = _where(given)
    if not parts and not given.plan.runs:
        return f"No run can be done with this money{between}"
    if not parts and not paid.total.value:
        return f"We ask for no money. We do {runs_done(given)} of training on {where}{between}"
    text = asked_words(given, paid)
    if parts:
        last = " and " if len(parts) == 2 and " and " not in "".join(parts) else "; and "
        text += ": " if paid.asked.value else " for "
        text += f"{'; '.join(parts[:-1])}{last}{parts[-1]}" if len(parts) > 1 else parts[0]
    besides = [] if own else _besides(given)
    does = f". With {listed(besides)}, that is enough for" if besides else ". It pays for"
    if not besides and not paid.asked.value:
        does = ". That is enough for"
    elif own and all(r.rented for r in running):
        does = ". Beside it we do"  # what trains costs nothing
    on = f" on {where}" if own and where else ""
    return f"{text}{does} {runs_done(given)} of training{on}{between}{added_words(given, paid)}"


def _where(given: Material) -> str:
    """On what runs are done that nothing is bought or rented for."""
    rented = {p.machine_id in given.book.rentals for p in given.plan.placed}
    return listed(
        [*["the machines that we have"] * (False in rented), *called_hours(given, _used(given))]
    )


def _used(given: Material, *, free: bool = False) -> list[Allocation]:
    """The allocations that the plan uses; with ``free`` those that cost nothing."""
    costs = {r.placed[0].machine_id: r.charge.direct.value for r in given.costs.running}
    used = {
        given.book.rentals[p.machine_id].allocation
        for p in given.plan.placed
        if p.machine_id in given.book.rentals and not (free and costs[p.machine_id])
    }
    return [each for each in given.loaded.problem.allocations if each.allocation_id in used]


def _besides(given: Material) -> list[str]:
    """What else does some of the runs."""
    bought = {e.machine.machine_id for e in given.costs.equipment}
    placed = {p.machine_id for p in given.plan.placed}
    rented = placed & given.book.rentals.keys()
    mine = {given.book.problem.whole(name) for name in placed - rented} - bought
    return [
        *["the machines that we have"] * bool(mine),
        *called_hours(given, _used(given, free=True)),
    ]


def modular_section(given: Material, budget: ReportTable, paid: WhoPays) -> tuple[Section, ...]:
    """Modules by year, where the form has them and no year's direct costs are above its most;
    not where others pay a part, for nobody says of which costs and in which year."""
    rule, ledger = given.form.modular, given.ledger
    row = [cell for cell in budget.rows[-3][1:] if isinstance(cell, Num)]
    *directs, whole = row
    if rule is None or given.loaded.grant.currency.code != "USD" or not whole.value:
        return ()
    if paid.theirs is not None or max(num.value for num in directs) > rule.most_direct_usd:
        return ()
    size = ledger.leaf("setting", rule.usd, "money", "a module", key="form.modular.usd")
    by_year = modules_of(given, directs, whole, size)

    def amount(modules: Num, when: str) -> Num:
        return ledger.compute("product", [modules, size], "money", f"in modules, {when}")

    names = budget.columns[1:]
    in_all = ledger.total(by_year, "modules, all years", "modules")
    counted = [*by_year, in_all]
    table = ReportTable(
        name="Modules",
        columns=("modular budget", *names),
        rows=(
            ("Direct costs of the budget above", *row),
            ("Modules", *counted),
            (
                "Direct costs in modules",
                *(amount(num, name) for num, name in zip(counted, names, strict=True)),
            ),
        ),
        total=True,
    )
    if max(num.value for num in directs) < size.value:
        return ()  # too little for one of them: see what is said before the form is sent
    over = "year by year" if len({num.value for num in by_year}) > 1 else "over all years"
    text = (
        f"Direct costs of the whole application in modules of {size}. Those of the computing "
        f"alone, rounded up {over}, come to the modules below."
    )
    return (Section(title="Modular budget", blocks=(text, table, _narrative(given, by_year))),)


def modules_of(given: Material, directs: list[Num], whole: Num, size: Num) -> list[Num]:
    """The same number each year, unless an early year's costs come before the modules that would
    pay for them."""
    ledger = given.ledger
    years = ledger.compute("count", directs, "years", "award years with modules")
    mean = ledger.compute("ratio", [whole, years], "money", "direct costs a year, mean")
    same = ledger.compute("rounded-up ratio", [mean, size], "modules", "modules a year")
    spent = accumulate(num.value for num in directs)
    if all(cost <= n * same.value * size.value for n, cost in enumerate(spent, start=1)):
        return [same] * len(directs)
    return [
        ledger.compute("rounded-up ratio", [num, size], "modules", f"modules, year {n}")
        for n, num in enumerate(directs, start=1)
    ]


def _narrative(given: Material, by_year: list[Num]) -> str:
    """What NIH asks to be explained of the number of modules."""
    least = min(num.value for num in by_year)
    more = [(year, num) for year, num in enumerate(by_year) if num.value > least]
    text = "Additional narrative justification. "
    if not more:
        return text + "None is needed: every year has the same number of modules."
    found = entries(given)
    for year, num in more:
        bought = [
            f"{'' if e.item[:1].isdigit() else 'the '}{e.item}"
            for e in found
            if e.year == year and e.line in ("equipment", "supplies") and e.direct.value
        ]
        why = f"we buy {listed(bought)}" if bought else "most of the training is done then"
        text += f"Year {year + 1} has {num} {_called(num)}, because {why}. "
    base = next(num for num in by_year if num.value == least)
    others = "Each other year has" if len(by_year) - len(more) > 1 else "The other year has"
    return f"{text}{others} {base} {_called(base)}."


def _called(num: Num) -> str:
    return "module" if num.value == 1 else "modules"
