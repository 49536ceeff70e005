"""The budget of a request: its lines, who pays what of it, and the limits of its funder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from advisor.planning.grant.funder import Limit, LimitOf
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.budget_entries import LINES, Entry, entries, paid_beside, year_spans
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.phrases import capital, shared_by_year, shared_num
from advisor.planning.report.plan_costs import Material, material_of
from advisor.planning.report.report import (
    Cell,
    ReportTable,
    plain_text,
)
from advisor.planning.sensitivity.explain import Explanation
from advisor.planning.solver.money.prices import machine_price, paid_price
from advisor.planning.solver.plan import Plan
from price_catalog.model import OWN_QUOTE

ITEMISED = ("equipment", "supplies", "other")
"""Lines that have a row an item; what is other says nothing without its name."""
BY_PARTS = ", by parts"
"""In the name of a machine that is put together; its price says the same."""


def for_funder(text: str) -> str:
    """Text without marks that only the lab reads."""
    return text.replace(f" ({OWN_QUOTE})", "").replace(BY_PARTS, "")


def table_for_funder(table: ReportTable) -> ReportTable:
    """Each text of a table without them."""
    rows = (
        tuple(for_funder(cell) if isinstance(cell, str) else cell for cell in row)
        for row in table.rows
    )
    return replace(table, rows=tuple(rows))


def line_names(given: Material) -> dict[str, str]:
    """What each kind of line is called; where a funder pays depreciation the line of equipment
    says whether that is what it holds."""
    names = {kind: str(getattr(given.form.lines, kind) or "") for kind in LINES}
    if given.form.depreciates:
        part = given.loaded.problem.rules.life_months is not None
        names["equipment"] += " (depreciation)" if part else " (whole price)"
    return names


def budget_table(given: Material) -> ReportTable:
    """A row a line, equipment a row an item; a column an award year."""
    form, found = given.form, entries(given)
    names = line_names(given)
    years = range(len(year_spans(given)))
    rows: list[tuple[Cell, ...]] = []
    direct: dict[int, list[Num]] = {year: [] for year in years}

    def row(name: str, by_year: list[Num]) -> tuple[Cell, ...]:
        return (name, *by_year, given.ledger.total(by_year, f"{name}, in all", by_year[0].unit))

    def summed(name: str, nums: Callable[[int], list[Num]]) -> list[Num]:
        return [given.ledger.total(nums(year), f"{name}, award year {year + 1}") for year in years]

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
    directs_all = [
        given.ledger.total(direct[year], f"direct costs, award year {year + 1}") for year in years
    ]
    indirect = summed(
        str(form.lines.indirect), lambda year: [e.indirect for e in found if e.year == year]
    )
    totals = [
        given.ledger.total([a, b], f"requested, award year {year + 1}")
        for year, a, b in zip(years, directs_all, indirect, strict=True)
    ]
    rows += [
        row(str(form.lines.direct), directs_all),
        row(str(form.lines.indirect), indirect),
        row(_called_total(given), totals),
    ]
    columns = (str(form.name), *(f"year {year + 1}" for year in years), "all years")
    return table_for_funder(ReportTable.of("Budget", columns, rows, total=True))


def _called_total(given: Material) -> str:
    """What others pay a part of is not requested as a whole."""
    name = str(given.form.lines.total)
    shared = given.loaded.grant.shared_by is not None
    return "Total cost" if shared and "request" in name.lower() else name


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoPays:
    """The amounts of a budget, in the currency of the grant."""

    direct: Num
    total: Num
    asked: Num
    """Of the funder, as its form asks for it: without what it adds by itself."""
    theirs: Num | None = None
    """What ``shared_by`` pays, at most what there is to pay."""
    by_year: tuple[tuple[Num, Num], ...] = ()
    """Of each award year, what they pay and what is asked for, where the grant says when."""
    share: Num | None = None
    """The share of the total that the funder pays, where it does not pay all."""
    rest: Num | None = None
    """What the institution pays then."""
    added: Num | None = None
    """With what the funder adds by itself to what is asked for."""


def who_pays(given: Material, budget: ReportTable) -> WhoPays:
    """Of a budget whose last rows are direct costs, indirect costs and their total."""
    ledger, form = given.ledger, given.form
    *directs, direct = _nums(budget.rows[-3])
    *_, indirect = _nums(budget.rows[-2])
    *totals, total = _nums(budget.rows[-1])

    def less(a: Num, b: Num, words: str) -> Num:
        return ledger.compute("difference", [a, b], a.unit, words)

    def by_others(most: Num, years: list[Num]) -> tuple[Num | None, list[Num]]:
        """In all and, where the grant says when they pay, in each year: what they pay later is
        not there for an earlier year's costs."""
        grant, found = given.loaded.grant, []
        if grant.shared_by is None:
            return None, []
        left: Num | None = None
        sums = shared_by_year(given.loaded, ledger)
        for n, (usd, cost) in enumerate(zip(sums, years, strict=bool(sums)), start=1):
            there = usd
            if left is not None and grant.carry_over:
                there = ledger.total([left, there], f"of others, until year {n}", most.unit)
            words = f"paid by others, year {n}"
            found.append(ledger.compute("least", [there, cost], most.unit, words))
            left = less(there, found[-1], f"of others, left after year {n}")
        if found:
            paid = ledger.total(found, "paid by others, in their years", most.unit)
        else:
            paid = shared_num(given.loaded, ledger)
        words = "paid by others, at most all"
        return ledger.compute("least", [paid, most], most.unit, words), found

    def asked_of(years: list[Num], theirs: list[Num]) -> tuple[tuple[Num, Num], ...]:
        pairs = enumerate(zip(years, theirs, strict=bool(theirs)), start=1)
        return tuple((paid, less(cost, paid, f"asked for, year {n}")) for n, (cost, paid) in pairs)

    if form.pays is not None:
        share = ledger.leaf("setting", form.pays, "share", "what the funder pays", key="form.pays")
        decimals = given.loaded.grant.currency.decimals
        asked = ledger.compute(
            "product", [total, share], total.unit, "paid by the funder", decimals=decimals
        )
        rest = less(total, asked, "the remainder")
        rests = [
            less(
                num,
                ledger.compute("product", [num, share], num.unit, words, decimals=decimals),
                rest_words,
            )
            for num, words, rest_words in (
                (num, f"paid by the funder, year {n}", f"the remainder, year {n}")
                for n, num in enumerate(totals, start=1)
            )
        ]
        theirs, _ = by_others(rest, rests)
        if theirs is not None:
            rest = less(rest, theirs, "the remainder that the institution pays")
        return WhoPays(
            direct=direct, total=total, asked=asked, theirs=theirs, share=share, rest=rest
        )
    if not form.adds_indirect:
        theirs, when = by_others(total, totals)
        asked = total if theirs is None else less(total, theirs, "asked for")
        years = asked_of(totals, when)
        return WhoPays(direct=direct, total=total, asked=asked, theirs=theirs, by_year=years)
    theirs, when = by_others(direct, directs)
    if theirs is None or not direct.value:
        return WhoPays(direct=direct, total=total, asked=direct, theirs=theirs, added=total)
    # The funder adds to what it pays, not to what others do.
    asked = less(direct, theirs, "asked for")
    part = ledger.compute("ratio", [asked, direct], "share", "asked for, of direct costs")
    added = ledger.compute(
        "product",
        [indirect, part],
        total.unit,
        "added by the funder",
        decimals=given.loaded.grant.currency.decimals,
    )
    whole = ledger.total([asked, added], "asked for, with what the funder adds", total.unit)
    return WhoPays(
        direct=direct,
        total=total,
        asked=asked,
        theirs=theirs,
        added=whole,
        by_year=asked_of(directs, when),
    )


def _nums(row: tuple[Cell, ...]) -> list[Num]:
    """Of a row of a budget, years and all of them."""
    return [cell for cell in row if isinstance(cell, Num)]


def with_payers(budget: ReportTable, paid: WhoPays, by: str | None) -> ReportTable:
    """The budget with who pays its total below it, where the funder is not asked for all of it."""
    if paid.asked.value == paid.total.value:
        return budget
    told = [
        (f"Paid by {by}", paid.theirs),
        ("Paid by the institution", paid.rest),
        ("Asked of the funder", paid.asked),
    ]
    if paid.theirs is not None and paid.added is not None:
        told.append(("Asked of the funder, with what it adds", paid.added))
    years = len(budget.columns) - 2
    paid_by, asked_by = zip(*paid.by_year, strict=True) if paid.by_year else ((), ())

    def in_years(num: Num) -> Sequence[Cell]:
        if num in (paid.theirs, paid.asked) and paid.by_year:
            return paid_by if num is paid.theirs else asked_by
        return [num] if years == 1 else [""] * years

    rows: list[tuple[Cell, ...]] = [
        (name, *in_years(num), num) for name, num in told if num is not None
    ]
    return replace(budget, rows=(*budget.rows, *rows), after=len(rows))


def note_words(given: Material, paid: WhoPays) -> str:
    """Who pays what, for the notes below a budget."""
    by = given.loaded.grant.shared_by
    if not paid.total.value:
        return ""
    if paid.share is not None and paid.rest is not None:
        start = f" The funder pays {paid.share} of the total: {paid.asked}. "
        if paid.theirs is None:
            return f"{start}The institution pays the remainder, {paid.rest}."
        if not paid.rest.value:
            return f"{start}{capital(str(by))} pays the remainder, {paid.theirs}."
        both = f"{by} pays {paid.theirs} and the institution {paid.rest}"
        return f"{start}Of the remainder {both}."
    if paid.theirs is None or by is None:
        return ""
    of = "direct costs" if paid.added is not None else "the total"
    asked = f"{paid.asked} is" if paid.asked.value else "nothing is"
    return f" {capital(by)} pays {paid.theirs} of {of}, and {asked} asked for."


def asked_words(given: Material, paid: WhoPays) -> str:
    """How a request begins: what is asked for, and what that is of."""
    by = given.loaded.grant.shared_by
    if paid.share is not None:
        return f"We ask for {paid.asked}, which is {paid.share} of the full cost of {paid.total}"
    if paid.theirs is None or by is None:
        return f"We ask for {paid.asked}"
    full = f"full cost of {paid.total}"
    if paid.added is not None:
        full = f"direct cost of {paid.direct}"
    if not paid.asked.value:
        return f"We ask for no money: {by} pays the {full}"
    return f"We ask for {paid.asked}, which is the {full} less {paid.theirs} that {by} pays"


def added_words(given: Material, paid: WhoPays) -> str:
    """What the request comes to with what the funder adds by itself."""
    if paid.added is None or paid.added.value == paid.asked.value:
        return ""
    name = str(given.form.lines.indirect)
    return f" With the {name[0].lower()}{name[1:]}, which the funder adds, it is {paid.added}."


UNEXPLAINED = Explanation(alternatives=(), binds=(), thresholds=(), ask=())


def asked_and_beside(loaded: Loaded, plan: Plan) -> tuple[Decimal, Decimal]:
    """What the funder is asked for of a plan's cost, as its form asks for it, and what machines
    cost beyond that cost, which others must pay."""
    given = material_of(loaded, plan, UNEXPLAINED)
    beside = paid_beside(given)
    asked = who_pays(given, budget_table(given)).asked
    return asked.value, Decimal(0) if beside is None else beside.value


def beyond_limits(given: Material, paid: WhoPays) -> list[str]:
    """Each limit of the form that the request is beyond, with the amount that is."""
    amounts: Mapping[LimitOf, tuple[str, Callable[[], Num | None]]] = {
        "asked": ("This request asks for {}", lambda: paid.asked),
        "system": ("The machines cost {} before tax", lambda: _system(given)),
        "item": ("The dearest machine costs {}", lambda: _dearest(given)),
        "years": ("This grant is for {} years", lambda: _years(given)),
    }
    found = []
    for limit in given.form.limits:
        if limit.currency not in (None, given.loaded.grant.currency.code):
            continue
        words, amount = amounts[limit.of]
        num = amount()
        if num is not None and _is_beyond(limit, num.value):
            found.append(f"{words.format(num)}: {limit.says}")
    return found


def limits_told(loaded: Loaded, plan: Plan) -> list[str]:
    """The same as sentences, for who plans."""
    given = material_of(loaded, plan, UNEXPLAINED)
    paid = who_pays(given, budget_table(given))
    return list(map(plain_text, beyond_limits(given, paid)))


def _is_beyond(limit: Limit, value: Decimal) -> bool:
    over = limit.above is not None and value > limit.above
    return over or (limit.below is not None and value < limit.below)


def _years(given: Material) -> Num:
    return given.book.years()


def _dearest(given: Material) -> Num | None:
    nums = [num for num, _ in _paid_for(given, taxed=True)]
    return max(nums, key=lambda num: num.value, default=None)


def _system(given: Material) -> Num | None:
    nums = [
        given.ledger.compute("product", [count, num], "money", "machines before tax")
        for num, count in _paid_for(given, taxed=False)
    ]
    if not nums:
        return None
    return given.ledger.total(nums, "all machines, before tax", nums[0].unit)


def _paid_for(given: Material, *, taxed: bool) -> list[tuple[Num, Num]]:
    """What one machine costs its buyers, and how many there are; no share of a campus's."""
    rules = given.loaded.problem.rules
    rules = rules if taxed else replace(rules, vat=Decimal(0))
    found = []
    for e in given.costs.equipment:
        if e.machine.share_of is None:
            price = machine_price(given.ledger, e.machine, e.lines)
            day = given.loaded.problem.orders[e.order]
            found.append((paid_price(given.ledger, e.machine, price, rules, day)[0], e.count))
    return found
