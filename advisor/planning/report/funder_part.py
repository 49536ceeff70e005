"""What the funder reads: the budget in the lines of its form, and a justification to paste."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.funder import FunderForm
from advisor.planning.report.award_years import LINES, Entry, entries, is_equipment, year_spans
from advisor.planning.report.material import Material
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.report import (
    Block,
    Bullets,
    Cell,
    Paragraph,
    ReportTable,
    Section,
    Words,
)
from advisor.planning.report.sentences import solve_num
from advisor.planning.solver.charges import overhead_rate


def funder_sections(given: Material, form: FunderForm) -> tuple[Section, ...]:
    """Request and budget, justification, quotes."""
    found = entries(given)
    return (
        Section(
            title="Request",
            blocks=(
                Paragraph(words=_request(given)),
                budget_table(given, form, found),
                *_budget_notes(given),
            ),
        ),
        Section(
            title="Justification",
            blocks=tuple(Paragraph(words=words) for words in justification(given) if words),
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


def _budget_notes(given: Material) -> list[Block]:
    spans = "; ".join(
        f"year {n}: {first} to {last}" for n, (first, last) in enumerate(year_spans(given), 1)
    )
    words: list[str | Num] = [f"Award years are {spans}."]
    rules = given.loaded.problem.rules
    one_rate = rules.overhead_rate_cloud is None and rules.overhead_rate_electricity is None
    if given.costs.indirect.value and one_rate:
        rate = overhead_rate(given.ledger, rules)
        words += [" Indirect costs are ", rate, " of ", given.costs.base]
        words.append(f", the part of direct costs that they are charged on by {_house(given)}.")
    if given.loaded.grant.currency.note is not None:
        words.append(f" {given.loaded.grant.currency.note}")
    return [Paragraph(words=tuple(words))]


def _house(given: Material) -> str:
    return f"the rules of {given.loaded.grant.institution.name}"


def _request(given: Material) -> Words:
    words: list[str | Num] = ["We ask for ", given.costs.total]
    items = [(e.count, f" ({e.machine.label})") for e in given.costs.equipment]
    rented = dict.fromkeys(r.label for r in given.costs.running if r.rented)
    parts: list[Words] = [*items, *((f"time on {label}",) for label in rented)]
    for n, part in enumerate(parts):
        words += [": " if n == 0 else ", ", *part]
    if not parts:
        words.append(": the machines that we have do the work")
    words += [", to train ", _runs(given), f" between {given.loaded.grant.start} and "]
    words.append(f"{year_spans(given)[-1][1]}.")
    return tuple(words)


def _runs(given: Material) -> Num:
    return given.ledger.leaf("plan", given.plan.runs, "runs", "runs done", what="runs")


def justification(given: Material) -> list[Words]:
    """A short paragraph a question: need, choice, what exists, cloud, quotes, upkeep, data."""
    return [
        _need(given),
        *_choices(given),
        _existing(given),
        _renting(given),
        _upkeep(given),
        _data(given),
    ]


def _need(given: Material) -> Words:
    wanted = given.loaded.grant.experiments
    models = dict.fromkeys(given.loaded.snapshot.model(each.model).name for each in wanted)
    groups = dict.fromkeys(each.who for each in wanted if each.who is not None)
    words: list[str | Num] = ["Need. The project trains ", ", ".join(models)]
    if groups:
        words.append(f" for {', '.join(groups)}")
    words += [": ", _runs(given), " in all"]
    if given.plan.left_out:
        left = given.ledger.leaf(
            "plan", sum(given.plan.left_out.values()), "runs", "runs left out", what="left out"
        )
        words += [", and ", left, " more for which the money does not reach"]
    words.append(". Each run trains the whole model once, from random weights.")
    return tuple(words)


def _choices(given: Material) -> list[Words]:
    found: list[Words] = []
    options = given.loaded.problem.options()
    for e in given.costs.equipment:
        runs = [
            p
            for p in given.plan.placed
            if (given.book.problem.whole(p.machine_id), p.order) == (e.machine.machine_id, e.order)
        ]
        models = [given.book.experiments[p.experiment_id].model for p in runs]
        names = ", ".join(dict.fromkeys(given.loaded.models[model].name for model in models))
        words: list[str | Num] = ["Choice. ", e.count, f" ({e.machine.label}) at ", e.charge.each]
        words.append(" each")
        kind = "equipment" if is_equipment(given, e) else "supplies, below the threshold"
        words.append(f", counted as {kind}. ")
        if names:
            words.append(f"It trains {names}. ")
            times = [
                (options[p.machine_id].times[given.book.experiments[p.experiment_id].model], p)
                for p in runs
            ]
            time, longest = max(times, key=lambda each: each[0].days)
            model = given.book.experiments[longest.experiment_id].model
            how = "an estimate" if time.basis == "predicted" else "measured"
            words += [
                f"The longest of these runs ({given.loaded.models[model].name}) takes ",
                given.book.time(time, f"{model} on {options[longest.machine_id].label}"),
                f" ({how}). ",
            ]
        words.append("No other plan that was compared does this work for less." * _cheapest(given))
        found.append(tuple(words))
    return found


def _cheapest(given: Material) -> bool:
    return given.plan.proven and given.loaded.problem.objective == "cheapest"


def _existing(given: Material) -> Words:
    owned = given.loaded.grant.owned
    if not owned:
        return ("What exists. We have no machine for this work.",)
    labels = [
        next(
            m.label for m in given.loaded.problem.machines if m.machine_id.startswith(f"owned:{n}:")
        )
        for n in range(1, len(owned) + 1)
    ]
    mine = {
        m.machine_id
        for m in given.loaded.problem.machines
        if given.loaded.problem.whole(m.machine_id).startswith("owned:")
    }
    done = sum(p.machine_id in mine for p in given.plan.placed)
    count = given.ledger.leaf(
        "plan", done, "runs", "runs on machines of the lab", what="runs on owned machines"
    )
    words: list[str | Num] = [f"What exists. We have {', '.join(labels)}, used for ", count, "."]
    if given.costs.equipment and done < given.plan.runs and _cheapest(given):
        words.append(" It cannot take the others in time, or only at a higher cost.")
    return tuple(words)


def _renting(given: Material) -> Words:
    rented = [r for r in given.costs.running if r.rented]
    if rented:
        total = given.ledger.total([r.charge.direct for r in rented], "rental, direct")
        labels = ", ".join(dict.fromkeys(r.label for r in rented))
        return ("Rented computers. ", total, f" pays for time on {labels}.")
    for other in given.explanation.alternatives:
        if other.change.get("no_purchases") and other.plan is not None:
            usd = solve_num(
                given.ledger,
                other.change,
                Decimal(other.plan.cost_cents) / 100,
                "usd",
                f"cost, {other.label}",
                "cost",
            )
            return ("Why not rent. Doing the same work on rented computers costs ", usd, ".")
        if other.change.get("no_purchases"):
            return ("Why not rent. Rented computers alone do not do this work in time.",)
    return ()


def _upkeep(given: Material) -> Words:
    kept = [f for f in given.costs.fixed if f.fixed.kind in ("warranty", "staff", "racks")]
    words: list[str | Num] = ["Upkeep. "]
    power = [r for r in given.costs.running if not r.rented]
    if power:
        total = given.ledger.total([r.charge.direct for r in power], "electricity, direct")
        words += ["Electricity costs ", total, ", at ", power[0].charge.price, ". "]
    if kept:
        total = given.ledger.total([f.charge.direct for f in kept], "upkeep, direct")
        names = ", ".join(dict.fromkeys(f.fixed.name for f in kept))
        words += [f"{names} cost ", total, "."]
    elif not given.loaded.problem.rules.machine_extras:
        words.append("No warranty, rack space or staff is asked for.")
    return tuple(words)


def _data(given: Material) -> Words:
    kept = [f for f in given.costs.fixed if f.fixed.kind == "storage"]
    if not kept:
        return ("Data. No storage is asked for.",)
    total = given.ledger.total([f.charge.direct for f in kept], "storage, direct")
    names = ", ".join(dict.fromkeys(f.fixed.name for f in kept))
    return (f"Data. {names}: ", total, ".")


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
