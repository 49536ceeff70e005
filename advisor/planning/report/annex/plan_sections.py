"""The sections about the plan itself: the question, what to do, its calendar, the runners-up."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal

from advisor.costs.amount_words import day_words
from advisor.planning.grant.candidates.cost_lines import line_words
from advisor.planning.grant.candidates.grant_machines import unquoted
from advisor.planning.grant.candidates.sums import is_summed
from advisor.planning.grant.problem_of_grant import called_by
from advisor.planning.report.budget_entries import machine_alone
from advisor.planning.report.phrases import (
    budget_num,
    capital,
    cost_of_other,
    runs_done,
    solve_num,
    why_not,
)
from advisor.planning.report.plan_costs import Material, RunningCost
from advisor.planning.report.report import Block, Cell, ReportTable, Section
from advisor.planning.sensitivity.explain import Alternative
from advisor.planning.solver.plan import Plan, last_day
from advisor.planning.solver.problem import Machine

OBJECTIVE_WORDS = {
    "cheapest": "the cheapest plan that does everything in time",
    "most-runs": "the most runs within the budget",
    "soonest": "the soonest finish within the budget",
}


def question_section(given: Material) -> Section:
    """What was wanted."""
    grant, setting = given.loaded.grant, given.book.setting
    length = setting("grant.months", grant.months, "months", "the grant")
    unit = "months"
    if grant.months % 12 == 0:
        length, unit = given.book.years(), "years" if grant.months > 12 else "year"
    text = (
        f"Goal: {OBJECTIVE_WORDS[grant.objective]}, over {length} {unit} from "
        f"{day_words(grant.start)} on"
    )
    if grant.budget is not None:
        text += f", with {budget_num(given.loaded, given.ledger)}"
    if grant.lifetime_years is not None:
        key, label = "purchases.lifetime_years", "life of a machine"
        life = setting(key, grant.lifetime_years, "years", label)
        text += (
            "; plans are compared by what their machines lose in value until the end, over a life "
            f"of {life} {'year' if grant.lifetime_years == 1 else 'years'}, not by what is paid"
        )
    rows: list[tuple[Cell, ...]] = []
    for n, wanted in enumerate(grant.experiments, start=1):
        model = given.loaded.model_of(wanted)
        since = "every year" if wanted.each_year else day_words(wanted.not_before or grant.start)
        due = (
            "each year's end" if wanted.each_year else day_words(wanted.by or grant.year_dates[-1])
        )
        runs = setting(f"experiments[{n}].runs", wanted.runs, "runs", f"{wanted.name}: runs")
        name = called_by(wanted, model)
        rows.append((name, model.name, runs, since, due, wanted.who or "not said"))
    columns = ("experiment", "model", "runs", "from", "to be done by", "for whom")
    table = ReportTable.of("Experiments", columns, rows)
    blocks: list[Block] = [f"{text}.", table]
    if grant.owned:
        items = []
        for n, own in enumerate(grant.owned, start=1):
            machines = given.loaded.problem.machines
            label = next(m.label for m in machines if m.machine_id.startswith(f"owned:{n}:"))
            count = setting(f"owned[{n}].machines", own.machines, "machines", label)
            item = f"{count}: {label}"
            if own.free_slots:
                key = f"owned[{n}].free_slots"
                room = setting(key, own.free_slots, "GPUs", f"room in {label}")
                item += f", with room for {room} more in each"
            items.append(item)
        blocks += ["The lab has:", tuple(items)]
    if grant.year_budget is not None:
        blocks.append(
            tuple(
                f"{setting(f'budget.per_year[{n}]', usd, 'usd', f'budget of year {n}')} in year {n}"
                for n, usd in enumerate(grant.year_budget, start=1)
            )
        )
    return Section(title="The question", blocks=tuple(blocks))


def _first(machine: Machine) -> str:
    """What to do before an order that has no quote, or no known seller."""
    if not machine.on_sale:
        return " Find a seller first: none is known."
    line = unquoted(machine)
    if line is None and len(machine.lines) > 1 and is_summed(machine):
        return " First ask a builder of such machines to quote the whole."
    return "" if line is None else f" First ask {line.vendor} to quote it."


def recommendation_section(given: Material) -> Section:
    """What to do, and how sure that is."""
    plan, ledger = given.plan, given.ledger
    items = []
    for e in given.costs.equipment:
        do = "Buy" if e.machine.upgrade_of is None else "Upgrade"
        each = machine_alone(given, e).charge.each
        beside = "".join(
            f", and {b.each} for {line_words(b.extra.kind, b.extra.name)}" for b in e.charge.apart
        )
        what = f"{do} {e.count} on {day_words(e.bought_on)}: {e.machine.label}"
        items.append(f"{what}, {each} each{beside}.{_first(e.machine)}")
    by_label: dict[str, list[RunningCost]] = {}
    for r in given.costs.running:
        if r.rented:
            by_label.setdefault(r.label, []).append(r)
    granted = {r.label for r in given.loaded.problem.rentals if r.allocation is not None}
    for label, rented in by_label.items():
        runs = ledger.total([r.runs for r in rented], f"runs rented on {label}", "runs")
        usd = ledger.total([r.charge.direct for r in rented], f"rent of {label}")
        verb = "Use" if label in granted else "Rent"
        items.append(f"{verb} {label} for {runs}: {usd} before overhead.")
    if not items and plan.runs:
        items.append("Buy nothing and rent nothing: the machines of the lab do it all.")
    for e_id, left in plan.left_out.items():
        label = f"{e_id}: runs left out"
        number = ledger.leaf("plan", left, "runs", label, experiment_id=e_id, what="left out")
        items.append(f"Leave out {given.book.experiments[e_id].name}: {number}.")
    days = round(plan.finish_day, 2)
    end = ledger.leaf("plan", days, "days", "last day of the plan", what="finish")
    overhead = "overhead included" if given.loaded.grant.charges_overhead else "no overhead"
    text = (
        f"{runs_done(given)} for {given.costs.total}, {overhead}. The last run ends on "
        f"{_when(given, plan)}, after {end}. "
    )
    if plan.proven:
        text += "No better plan exists under these settings: optimality is proven."
    elif plan.gap is not None and plan.gap < 1:
        label = "gap to the best bound"
        gap = ledger.leaf("plan", round(plan.gap, 6), "share", label, what="gap")
        text += f"Optimality is not proven: a better plan by up to {gap} may exist."
    else:
        text += "Optimality is not proven: the time for the search ran out."
    return Section(title="Recommendation", blocks=(text, tuple(items)))


def schedule_section(given: Material, pictures: bool) -> Section:
    """Which run goes where and when; runs that do the same on the same days are one line."""
    book, options = given.book, given.loaded.problem.options()
    alike: Counter[tuple[str, str, date, date]] = Counter()
    # By machine before the run's number: which of two like runs is where is the solver's chance.
    placed = sorted(
        given.plan.placed, key=lambda p: (p.pieces[0][0], p.experiment_id, p.machine_id, p.run)
    )
    for p in placed:
        first, last = book.day(p.pieces[0][0]), book.day(last_day(p.pieces[-1][1]))
        alike[p.experiment_id, p.machine_id, first, last] += 1
    rows: list[tuple[Cell, ...]] = []
    for (experiment_id, option_id, first, last), runs in alike.items():
        e, option = book.experiments[experiment_id], options[option_id]
        number: Cell = "one"
        if runs > 1:
            origin = {"experiment_id": experiment_id, "option_id": option_id}
            origin |= {"starts": str(first), "ends": str(last)}
            label = f"{e.name} on {option.label}, from {day_words(first)}"
            what = "runs on the same days"
            number = given.ledger.leaf("plan", runs, "runs", label, what=what, **origin)
        due = book.day(given.loaded.problem.due(e))
        time = book.time(option.times[e.model], f"{e.model_name or e.model} on {option.label}")
        days = (day_words(first), day_words(last), day_words(due))
        rows.append((e.name, option.label, number, *days, time))
    blocks: list[Block] = []
    if pictures:
        from advisor.planning.report.calendar_picture import draw_plan

        blocks.append(draw_plan(given.loaded, given.plan))
    blocks.append(
        ReportTable.of(
            "Schedule",
            ("experiment", "machine", "runs", "starts", "ends", "due", "training"),
            rows,
        )
    )
    return Section(title="The plan on the calendar", blocks=tuple(blocks))


def alternatives_section(given: Material, pictures: bool, total: Decimal) -> Section:
    """The runners-up with why not."""
    rows: list[tuple[Cell, ...]] = [
        ("recommended", given.costs.total, runs_done(given), _when(given, given.plan))
    ]
    notes = []
    for other in given.explanation.alternatives:
        rows.append((other.label, *_figures(given, other)))
        why = why_not(given.loaded, given.ledger, given.plan, given.costs.total, other)
        found = "" if other.plan is None or other.proven else ", by the best that was found"
        notes.append(f"{other.label}: {why}{found}. {_takes(given, other)}")
    columns = ("plan", "cost", "runs", "done by")
    table = ReportTable.of("Alternatives", columns, rows)
    blocks: list[Block] = [table, tuple(notes)]
    if pictures:
        from advisor.planning.report.pictures import draw_alternatives, draw_break_even

        beside = draw_alternatives(given.loaded, given.plan, given.explanation, total)
        even = draw_break_even(given.loaded, given.plan)
        blocks = [*([beside] if beside else []), *blocks, *([even] if even else [])]
    return Section(title="Runners-up, and why not", blocks=tuple(blocks))


def _when(given: Material, plan: Plan) -> str:
    return day_words(given.book.day(last_day(plan.finish_day)))


def _figures(given: Material, other: Alternative) -> tuple[Cell, Cell, Cell]:
    """What another plan costs, its runs, and when it is over."""
    plan = other.plan
    if plan is None:
        return None, None, ""
    cost = cost_of_other(given.ledger, other)
    runs = solve_num(given.ledger, other.change, plan.runs, "runs", f"runs, {other.label}", "runs")
    return cost, runs, _when(given, plan)


def _takes(given: Material, other: Alternative) -> str:
    """What another plan buys and rents."""
    plan = other.plan
    if plan is None:
        return ""
    bought = []
    for p in plan.purchases:
        label = given.book.machines[p.machine_id].label
        words, origin = f"{other.label}: {label}", {"machine_id": p.machine_id, "order": p.order}
        count = solve_num(
            given.ledger, other.change, p.count, "machines", words, "bought", **origin
        )
        day = day_words(given.book.day(given.loaded.problem.orders[p.order]))
        bought.append(f"{count} ({label}) on {day}")
    hired = [given.book.rentals[name] for name in dict.fromkeys(r.rental_id for r in plan.rented)]
    parts = [f"it buys {'; '.join(bought)}"] if bought else []
    for verb, labels in (
        ("rents", [r.label for r in hired if r.allocation is None]),
        ("uses", [r.label for r in hired if r.allocation is not None]),
    ):
        if labels:
            parts.append(f"it {verb} {'; '.join(labels)}")
    return f"{capital('; '.join(parts) or 'it takes what is owned')}."
