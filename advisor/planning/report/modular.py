"""NIH's modular budget: direct costs in modules, and the one thing that must be justified there."""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate

from advisor.planning.grant.checked_toml import exact
from advisor.planning.grant.funder import FunderForm
from advisor.planning.report.award_years import entries
from advisor.planning.report.material import Material
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.report import Paragraph, ReportTable, Section, Words
from advisor.planning.report.sentences import listed
from advisor.planning.report.who_pays import WhoPays


def modular_section(
    given: Material, form: FunderForm, budget: ReportTable, paid: WhoPays
) -> tuple[Section, ...]:
    """Modules by year, where the form has them and no year's direct costs are above its most;
    not where others pay a part, for nobody says of which costs and in which year."""
    rule, ledger = form.modular, given.ledger
    row = [cell for cell in budget.rows[-3][1:] if isinstance(cell, Num)]
    *directs, whole = row
    if rule is None or given.loaded.grant.currency.code != "USD" or not whole.value:
        return ()
    if paid.theirs is not None or max(num.value for num in directs) > rule.most_direct_usd:
        return ()
    size = ledger.leaf("setting", exact(rule.usd), "usd", "a module", key="form.modular.usd")
    by_year = modules_of(given, directs, whole, size)

    def amount(modules: Num, when: str) -> Num:
        return ledger.compute("product", [modules, size], "usd", f"in modules, {when}")

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
    over = "year by year" if len({num.value for num in by_year}) > 1 else "over all years"
    if whole.value and max(num.value for num in directs) < size.value:
        return (Section(title="Modular budget", blocks=(Paragraph(words=_part_of_one(size)),)),)
    begins = (
        "NIH's modular form takes the direct costs of the whole application in modules of ",
        size,
        f". Those of this budget alone, rounded up {over}, come to the modules below. The "
        "modular form has no detailed budget, and its justification names no amounts: the budget "
        "above, the justification and the quotes below stay in our office.",
    )
    paragraphs = (begins, _narrative(given, by_year))
    first, last = (Paragraph(words=words) for words in paragraphs)
    return (Section(title="Modular budget", blocks=(first, table, last)),)


def modules_of(given: Material, directs: list[Num], whole: Num, size: Num) -> list[Num]:
    """The same number each year, unless an early year's costs come before the modules that would
    pay for them."""
    ledger = given.ledger
    years = ledger.compute("count", directs, "years", "award years with modules")
    mean = ledger.compute("ratio", [whole, years], "usd", "direct costs a year, mean")
    same = ledger.compute("rounded-up ratio", [mean, size], "modules", "modules a year")
    spent = accumulate(num.value for num in directs)
    if all(cost <= n * same.value * size.value for n, cost in enumerate(spent, start=1)):
        return [same] * len(directs)
    return [
        ledger.compute("rounded-up ratio", [num, size], "modules", f"modules, year {n}")
        for n, num in enumerate(directs, start=1)
    ]


def _narrative(given: Material, by_year: list[Num]) -> Words:
    """What NIH asks to be explained of the number of modules."""
    least = min(num.value for num in by_year)
    more = [(year, num) for year, num in enumerate(by_year) if num.value > least]
    words: list[str | Num] = ["Additional narrative justification. "]
    if not more:
        words.append("None is needed: every year has the same number of modules.")
        return tuple(words)
    found = entries(given)
    for year, num in more:
        bought = [
            f"{'' if e.item[:1].isdigit() else 'the '}{e.item}"
            for e in found
            if e.year == year and e.line in ("equipment", "supplies") and e.direct.value
        ]
        why = f"we buy {listed(bought)}" if bought else "most of the training is done then"
        words += [f"Year {year + 1} has ", num, f" {_called(num)}, because {why}. "]
    base = next(num for num in by_year if num.value == least)
    others = "Each other year has " if len(by_year) - len(more) > 1 else "The other year has "
    return (*words, others, base, f" {_called(base)}.")


def _part_of_one(size: Num) -> Words:
    """Where a budget alone fills no module."""
    return (
        "NIH's modular form takes the direct costs of the whole application in modules of ",
        size,
        ". This budget is less than one of them in every year: add it to the other direct costs "
        "before you count modules. The modular form has no detailed budget, and its justification "
        "names no amounts: the budget above, the justification and the quotes below stay in our "
        "office.",
    )


def _called(num: Num) -> str:
    return "module" if num.value == Decimal(1) else "modules"
