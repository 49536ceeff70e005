"""The budget of a request: its lines, who pays what of it, and the limits of its funder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from advisor.planning.grant.funder import LimitOf
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.budget_entries import LINES, entries, paid_beside, year_spans
from advisor.planning.report.document import Cell, ReportTable, plain_text
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report_numbers import shared_by_year, shared_num
from advisor.planning.sensitivity.explain import Explanation
from advisor.planning.solver.money.prices import paid_price
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Rental
from price_catalog.model import OWN_QUOTE

ITEMISED = ("equipment", "supplies", "other")
"""Lines that have a row an item; what is other says nothing without its name."""


def for_funder(text: str) -> str:
    """Text without marks that only the lab reads, and without what the price says by itself."""
    return text.replace(f" ({OWN_QUOTE})", "").replace(", by parts", "")


def line_names(given: Material) -> dict[str, str]:
    """What each kind of line is called; where a funder pays depreciation the line of equipment
    says whether that is what it holds."""
    names = {kind: str(getattr(given.form.lines, kind) or "") for kind in LINES}
    if given.form.depreciates:
        part = given.problem.rules.life_months is not None
        names["equipment"] += " (depreciation)" if part else " (whole price)"
    return names


def budget_table(given: Material) -> ReportTable:
    """A row a line, equipment a row an item; a column an award year."""
    lines, ledger, names = given.form.lines, given.ledger, line_names(given)
    found, years = entries(given), range(len(year_spans(given)))

    def in_years(name: str, nums: Callable[[int], list[Num]]) -> list[Num]:
        return [ledger.total(nums(year), f"{name}, award year {year + 1}") for year in years]

    def row(name: object, by_year: list[Num]) -> tuple[Cell, ...]:
        return (str(name), *by_year, ledger.total(by_year, f"{name}, in all"))

    by_line: dict[tuple[str, str], list[list[Num]]] = {}
    for e in found:
        key = e.line, f": {for_funder(e.item)}" if e.line in ITEMISED else ""
        by_line.setdefault(key, [[] for _ in years])[e.year].append(e.direct)
    rows, direct = [], list[list[Num]]()
    for (line, item), nums in by_line.items():
        by_year = in_years(f"{names[line]}{item}", nums.__getitem__)
        if any(num.value for num in by_year):  # else hours that are granted free of charge
            direct.append(by_year)
            rows.append(row(f"{names[line]}{item}", by_year))
    directs = in_years("direct costs", lambda year: [each[year] for each in direct])
    charged = str(lines.indirect)
    indirect = in_years(charged, lambda year: [e.indirect for e in found if e.year == year])
    totals = in_years("requested", lambda year: [directs[year], indirect[year]])
    rows += [
        row(lines.direct, directs),
        row(lines.indirect, indirect),
        row(_called_total(given), totals),
    ]
    columns = (str(given.form.name), *(f"year {year + 1}" for year in years), "all years")
    return ReportTable.of("Budget", columns, rows, total=True)


def _called_total(given: Material) -> str:
    """What others pay a part of is not requested as a whole."""
    name = str(given.form.lines.total)
    shared = given.grant.shared_by is not None
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
    ledger, form, decimals = given.ledger, given.form, given.grant.currency.decimals
    *directs, direct = _nums(budget.rows[-3])
    *_, indirect = _nums(budget.rows[-2])
    *totals, total = _nums(budget.rows[-1])

    def less(a: Num, b: Num, words: str) -> Num:
        return ledger.compute("difference", [a, b], "money", words)

    def part(whole: Num, share: Num, words: str) -> Num:
        return ledger.compute("product", [whole, share], "money", words, decimals=decimals)

    if form.pays is not None:
        share = ledger.leaf("setting", form.pays, "share", "what the funder pays", key="form.pays")
        asked = part(total, share, "paid by the funder")
        rest = less(total, asked, "the remainder")
        rests = [
            less(num, part(num, share, f"paid by the funder, year {n}"), f"the remainder, year {n}")
            for n, num in enumerate(totals, start=1)
        ]
        theirs, _ = _by_others(given, rest, rests)
        if theirs is not None:
            rest = less(rest, theirs, "the remainder that the institution pays")
        return WhoPays(
            direct=direct, total=total, asked=asked, theirs=theirs, share=share, rest=rest
        )
    most, costs = (direct, directs) if form.adds_indirect else (total, totals)
    theirs, when = _by_others(given, most, costs)
    asked = most if theirs is None else less(most, theirs, "asked for")
    pairs = enumerate(zip(costs, when, strict=bool(when)), start=1)
    by_year = tuple((paid, less(cost, paid, f"asked for, year {n}")) for n, (cost, paid) in pairs)
    added = None
    if form.adds_indirect:
        added = total
        if theirs is not None and direct.value:
            # The funder adds to what it pays, not to what others do.
            words = "asked for, of direct costs"
            own = ledger.compute("ratio", [asked, direct], "share", words)
            more = part(indirect, own, "added by the funder")
            added = ledger.total([asked, more], "asked for, with what the funder adds")
    return WhoPays(
        direct=direct, total=total, asked=asked, theirs=theirs, added=added, by_year=by_year
    )


def _by_others(given: Material, most: Num, years: list[Num]) -> tuple[Num | None, list[Num]]:
    """What they pay in all and, where the grant says when, in each year: what they pay later is
    not there for an earlier year's costs."""
    grant, ledger, found = given.grant, given.ledger, list[Num]()
    if grant.shared_by is None:
        return None, []
    left: Num | None = None
    sums = shared_by_year(given.loaded, ledger)
    for n, (there, cost) in enumerate(zip(sums, years, strict=bool(sums)), start=1):
        if left is not None and grant.carry_over:
            there = ledger.total([left, there], f"of others, until year {n}")
        found.append(ledger.compute("least", [there, cost], "money", f"paid by others, year {n}"))
        words = f"of others, left after year {n}"
        left = ledger.compute("difference", [there, found[-1]], "money", words)
    paid = shared_num(given.loaded, ledger)
    if found:
        paid = ledger.total(found, "paid by others, in their years")
    return ledger.compute("least", [paid, most], "money", "paid by others, at most all"), found


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


UNEXPLAINED = Explanation(alternatives=(), binds=(), thresholds=(), ask=())


def asked_and_beside(loaded: Loaded, plan: Plan) -> tuple[Decimal, Decimal]:
    """What the funder is asked for of a plan's cost, as its form asks for it, and what machines
    cost beyond that cost, which others must pay."""
    given = Material(loaded, plan, UNEXPLAINED)
    beside = paid_beside(given)
    asked = who_pays(given, budget_table(given)).asked
    return asked.value, Decimal(0) if beside is None else beside.value


def beyond_limits(given: Material, paid: WhoPays) -> list[str]:
    """Each limit of the form that the request is beyond, with the amount that is."""
    ledger, found = given.ledger, []
    gross, net = (_paid_for(given, taxed=taxed) for taxed in (True, False))
    sums = [
        ledger.compute("product", [count, num], "money", "machines before tax")
        for num, count in net
    ]
    dearest = max((num for num, _ in gross), key=lambda num: num.value, default=None)
    amounts: dict[LimitOf, tuple[str, Num | None]] = {
        "asked": ("This request asks for {}", paid.asked),
        "system": (
            "The machines cost {} before tax",
            ledger.total(sums, "all machines, before tax") if sums else None,
        ),
        "item": ("The dearest machine costs {}", dearest),
        "years": ("This grant is for {} years", given.years()),
    }
    for limit in given.form.limits:
        words, num = amounts[limit.of]
        if limit.currency in (None, given.grant.currency.code) and num is not None:
            over = limit.above is not None and num.value > limit.above
            if over or (limit.below is not None and num.value < limit.below):
                found.append(f"{words.format(num)}: {limit.says}")
    return found


def eligibility(loaded: Loaded, plan: Plan) -> str:
    """What the funder does not pay among what is asked for; "" where nothing is known of that."""
    return of_this(Material(loaded, plan, UNEXPLAINED)).get("eligible", "")


def limits_told(loaded: Loaded, plan: Plan) -> list[str]:
    """Each limit that the request is beyond, as sentences, for who plans."""
    given = Material(loaded, plan, UNEXPLAINED)
    paid = who_pays(given, budget_table(given))
    return list(map(plain_text, beyond_limits(given, paid)))


def of_this(given: Material) -> dict[str, str]:
    """What the funder asks of such a request: of machines where some are bought."""
    grant, form = given.grant, given.form
    has: set[str] = {entry.line for entry in entries(given) if entry.direct.value}
    has |= {"owned"} if grant.owned else set()
    has |= {"tax"} if grant.vat else set()
    used = {rental.provider for rental in paid_rentals(given)}
    has |= {each.kind for each in grant.allocations if each.name in used}
    return {
        key: str(text)
        for key, text in form.before_you_send.items()
        if key not in form.only_with or has.intersection(form.only_with[key])
    }


def paid_rentals(given: Material) -> list[Rental]:
    """What is rented for money."""
    names = [r.placed[0].machine_id for r in given.costs.running if r.charge.direct.value]
    return [given.rentals[name] for name in names if name in given.rentals]


def _paid_for(given: Material, *, taxed: bool) -> list[tuple[Num, Num]]:
    """What one machine costs its buyers, and how many there are; no share of a campus's."""
    rules = given.problem.rules
    rules = rules if taxed else replace(rules, vat=Decimal(0))
    found = []
    for e in given.costs.equipment:
        if e.machine.share_of is None:
            day = given.problem.orders[e.order]
            found.append((paid_price(given.ledger, e.machine, rules, day), e.count))
    return found
