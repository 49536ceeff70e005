"""Facts of a request: what is asked for, what it pays for, and the notes below its budget."""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate
from typing import Any

from advisor.costs.amount_words import day_words
from advisor.planning.grant.candidates.cost_lines import line_words
from advisor.planning.grant.institution import NO_RULES
from advisor.planning.report.budget import WhoPays
from advisor.planning.report.budget_entries import entries, year_spans
from advisor.planning.report.document import Cell, ReportTable, listed
from advisor.planning.report.facts.hours import called_hours, rented_name
from advisor.planning.report.facts.justification import asked_for
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report_numbers import runs_done
from advisor.planning.solver.money.charges import BY_YEAR, Charge
from advisor.planning.solver.problem import Allocation

CENT = Decimal("0.01")
ENDS = "shortest", "longest"


def request_facts(given: Material, paid: WhoPays) -> dict[str, Any]:
    """What the section of that name says."""
    grant, running = given.grant, given.costs.running
    rented = [rented_name(given, r) for r in running if r.rented and r.charge.direct.value]
    parts = [asked_for(given, e) for e in given.costs.equipment]
    parts += [f"time on {listed(rented)}"] if rented else []
    does_it = bool(parts)
    parts += ["electricity"] if any(not r.rented for r in running) else []
    fixed = [each for each, _ in given.costs.fixed if each.amount]
    parts += dict.fromkeys(line_words(each.kind, each.name) for each in fixed)
    end = " and " if len(parts) == 2 and " and " not in "".join(parts) else "; and "
    return {
        "runs": runs_done(given),
        "nothing": not given.plan.runs,
        "paid": paid,
        "by": grant.shared_by,
        "by_time": _by_time(given, paid),
        "first": day_words(grant.start),
        "last": day_words(year_spans(given)[-1][1]),
        "parts": end.join(filter(None, ("; ".join(parts[:-1]), parts[-1]))) if parts else "",
        "does_it": does_it,
        "besides": _others_that_run(given, bought=does_it),
        "indirect_line": str(given.form.lines.indirect),
    }


def _by_time(given: Material, paid: WhoPays) -> dict[str, Any] | None:
    """What is asked for with the shortest and the longest time of each rented run; the full cost
    where others pay a part. None where every time is measured."""
    ledger, adds = given.ledger, given.form.adds_indirect
    whole, now = paid.direct if adds else paid.total, list[Num]()
    ends: tuple[list[Num], list[Num]] = [], []
    for r in given.costs.running:
        placed, charge = r.placed[0], r.charge
        model, rental = given.model_of(placed), given.rentals.get(placed.machine_id)
        if rental is None or not charge.direct.value or rental.times[model].basis != "predicted":
            continue
        time, words = rental.times[model], f"{given.loaded.models[model].name} on {rental.label}"
        parts = [charge.direct] if adds else [charge.direct, charge.indirect]
        rent = f"{given.experiments[r.experiment_id].name} on {r.label}, year {r.year + 1}"
        now.append(ledger.total(parts, rent))
        days = given.time(time, words)
        for found, end, which in zip(ends, given.time_ends(time, words), ENDS, strict=True):
            label = f"{which} time of {words}, of its time"
            share = ledger.compute("ratio", [end or days, days], "share", label)
            label = f"{rent}, {which} time"
            found.append(ledger.compute("product", [now[-1], share], "money", label))
    if not now:
        return None
    of = [whole, ledger.total(now, "rent of which the time is an estimate")]
    rest = ledger.compute("difference", of, "money", "all but that rent")
    both = [
        ledger.total([rest, *found], f"in all, {which} times")
        for found, which in zip(ends, ENDS, strict=True)
    ]
    if paid.share is not None:
        both = [
            ledger.compute("product", [num, paid.share], "money", f"asked for, {which} times")
            for num, which in zip(both, ENDS, strict=True)
        ]
    what = f"the {'direct' if adds else 'full'} cost" if paid.theirs is not None else "it"
    return {"what": what, "ends": [num.about for num in both]}


def _others_that_run(given: Material, *, bought: bool) -> list[str]:
    """On what runs are done that nothing is bought or rented for; hours that are paid for are
    among them only where there is nothing else."""
    rentals, plan = given.rentals, given.plan
    costs = {r.placed[0].machine_id: r.charge.direct.value for r in given.costs.running}
    own = {e.machine.machine_id for e in given.costs.equipment}
    placed = {p.machine_id for p in plan.placed}
    mine = {given.problem.whole(name) for name in placed - rentals.keys()} - own
    hours = {
        rentals[name].allocation for name in placed & rentals.keys() if not (bought and costs[name])
    }
    used: list[Allocation] = [
        each for each in given.problem.allocations if each.allocation_id in hours
    ]
    return [*["the machines that we have"] * bool(mine), *called_hours(given, used)]


def budget_notes(given: Material) -> dict[str, Any]:
    """What stands below a budget."""
    rules, rentals = given.problem.rules, given.rentals
    rented = [rentals[r.placed[0].machine_id] for r in given.costs.running if r.rented]
    machines = [e.machine for e in given.costs.equipment]
    taxed = ["machines"] * any(machine.share_of is None for machine in machines)
    taxed += ["rented computers"] * any(rental.allocation is None for rental in rented)
    foreign = any(line.quoted_usd is not None for m in machines for line in m.lines)
    foreign = foreign or any(rental.quoted_usd is not None for rental in rented)
    vat = None
    if rules.vat and taxed:
        vat = given.setting("budget.vat", rules.vat, "share", "value-added tax")
    return {
        "years": year_spans(given),
        "taxed": taxed,
        "vat": vat,
        "overhead": _overhead(given) if given.costs.indirect.value else None,
        "rate_note": given.grant.currency.note if foreign else None,
    }


def _overhead(given: Material) -> dict[str, Any]:
    """Each rate with the base that it is charged on, and whose rule that is."""
    costs, ledger, house = given.costs, given.ledger, given.grant.institution
    rules, power = given.problem.rules, "electricity"
    if rules.year_overhead is not None and rules.overhead_rate_electricity is None:
        power += ", at the mean of the years' rates"
    bases: list[tuple[str, Charge[Num]]] = [
        *(("rented computers", r.charge) for r in costs.running if r.rented),
        *((power, r.charge) for r in costs.running if not r.rented),
        *(("the rest", e.charge) for e in costs.equipment),
        *((each.name if each.rate_key else "the rest", charge) for each, charge in costs.fixed),
    ]
    by_rate: dict[Decimal, tuple[Num, dict[str, None], list[Num]]] = {}
    for called, charge in bases:
        if charge.rate is not None and charge.indirect.value:
            label = ledger.rows[charge.rate.row - 1].label
            called = label.removeprefix(BY_YEAR) if label.startswith(BY_YEAR) else called
            _, names, found = by_rate.setdefault(charge.rate.value, (charge.rate, {}, []))
            names[called] = None
            found.append(charge.base)
    rates, off, whole = [], -costs.indirect.value, Decimal(0)
    for value, (rate, names, nums) in by_rate.items():
        base = ledger.total(nums, f"overhead base, {listed(names)}")
        rates.append(f"{rate} of {base}" + (f" ({listed(names)})" if len(by_rate) > 1 else ""))
        off += base.value * value
        whole += base.value
    of_all = whole == costs.direct.value and len(by_rate) == 1
    by = f"the rules of {house.name.partition(' (')[0]}"
    if house.file.startswith("us-"):
        by = "the rules of our institution"
    elif house.name == NO_RULES.name:
        by = "the settings of this grant"
    return {
        "adds": given.form.adds_indirect,
        "rates": f"{rate} of all direct costs" if of_all else " and ".join(rates),
        "of_all": of_all,
        "by": by,
        "rounded": abs(off) > CENT / 2,
    }


def modular_budget(
    given: Material, budget: ReportTable, paid: WhoPays
) -> tuple[ReportTable, dict[str, Any]] | None:
    """Modules by year, where the form has them and no year's direct costs are above its most;
    not where others pay a part, for nobody says of which costs and in which year."""
    rule, ledger = given.form.modular, given.ledger
    *directs, whole = row = [cell for cell in budget.rows[-3][1:] if isinstance(cell, Num)]
    if rule is None or given.grant.currency.code != "USD" or paid.theirs is not None:
        return None
    if not rule.usd <= max(num.value for num in directs) <= rule.most_direct_usd:
        return None  # too little for one of them: see what is said before the form is sent
    size = ledger.leaf("setting", rule.usd, "money", "a module", key="form.modular.usd")
    by_year = modules_of(given, directs, whole, size)
    counted = [*by_year, ledger.total(by_year, "modules, all years", "modules")]
    amounts = [
        ledger.compute("product", [num, size], "money", f"in modules, {name}")
        for num, name in zip(counted, budget.columns[1:], strict=True)
    ]
    rows: list[tuple[Cell, ...]] = [
        ("Direct costs of the budget above", *row),
        ("Modules", *counted),
        ("Direct costs in modules", *amounts),
    ]
    columns = ("modular budget", *budget.columns[1:])
    least = min(by_year, key=lambda num: num.value)
    more = [
        (year + 1, num, _bought_in(given, year))
        for year, num in enumerate(by_year)
        if num.value > least.value
    ]
    facts = {
        "size": size,
        "by_year": len({num.value for num in directs}) > 1,
        "more": more,
        "least": least,
        "others": len(by_year) - len(more),
    }
    return ReportTable.of("Modules", columns, rows, total=True), facts


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


def _bought_in(given: Material, year: int) -> list[str]:
    """Machines that are paid in a year."""
    return [
        f"{'' if e.item[:1].isdigit() else 'the '}{e.item}"
        for e in entries(given)
        if e.year == year and e.line in ("equipment", "supplies") and e.direct.value
    ]
