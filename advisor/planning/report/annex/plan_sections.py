"""The sections about the plan itself: the question, what to do, its calendar, the runners-up."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from typing import Any

from advisor.costs.amounts import day_words
from advisor.planning.grant.candidates.cost_lines import line_words
from advisor.planning.grant.candidates.on_sale import unquoted
from advisor.planning.grant.problem_of_grant import called_by
from advisor.planning.report.budget_entries import machine_alone
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.phrases import (
    alternative_words,
    budget_num,
    cost_of_other,
    solve_num,
)
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report import (
    Block,
    Bullets,
    Cell,
    Paragraph,
    ReportTable,
    Section,
    Words,
)
from advisor.planning.sensitivity.explain import Alternative
from advisor.planning.solver.plan import Plan, last_day
from advisor.planning.solver.problem import Machine

OBJECTIVE_WORDS = {
    "cheapest": "the cheapest plan that does everything in time",
    "most-runs": "the most runs within the budget",
    "soonest": "the soonest finish within the budget",
}


def _budget(given: Material) -> Num | None:
    if given.loaded.grant.budget_usd is None:
        return None
    return budget_num(given.loaded, given.ledger)


LIFETIME_WORDS = (
    "; plans are compared by what their machines lose in value until the end, over a life of ",
    ", not by what is paid",
)


def question_section(given: Material) -> Section:
    """What was wanted."""
    grant, problem = given.loaded.grant, given.loaded.problem
    words: list[str | Num] = [
        f"Goal: {OBJECTIVE_WORDS[grant.objective]}, over ",
        given.book.setting("grant.years", grant.years, "years", "years of the grant"),
        f" {'year' if grant.years == 1 else 'years'} from {day_words(grant.start)} on",
    ]
    budget = _budget(given)
    if budget is not None:
        words += [", with ", budget]
    if grant.lifetime_years is not None:
        life = given.book.setting(
            "purchases.lifetime_years", grant.lifetime_years, "years", "life of a machine"
        )
        years = " year" if grant.lifetime_years == 1 else " years"
        words += [LIFETIME_WORDS[0], life, years + LIFETIME_WORDS[1]]
    words.append(".")
    rows: list[tuple[Cell, ...]] = [
        (
            called_by(wanted, given.loaded.snapshot.model(wanted.model)),
            given.loaded.snapshot.model(wanted.model).name,
            given.book.setting(
                f"experiments[{n}].runs", wanted.runs, "runs", f"{wanted.name}: runs"
            ),
            "every year" if wanted.each_year else day_words(wanted.not_before or grant.start),
            "each year's end" if wanted.each_year else day_words(wanted.by or grant.year_dates[-1]),
            wanted.who or "not said",
        )
        for n, wanted in enumerate(grant.experiments, start=1)
    ]
    blocks: list[Block] = [
        Paragraph(words=tuple(words)),
        ReportTable(
            name="Experiments",
            columns=("experiment", "model", "runs", "from", "to be done by", "for whom"),
            rows=tuple(rows),
        ),
    ]
    if grant.owned:
        items: list[Words] = []
        for n, own in enumerate(grant.owned, start=1):
            label = next(
                m.label for m in problem.machines if m.machine_id.startswith(f"owned:{n}:")
            )
            count = given.book.setting(f"owned[{n}].machines", own.machines, "machines", label)
            words = [count, f": {label}"]
            if own.free_slots:
                room = given.book.setting(
                    f"owned[{n}].free_slots", own.free_slots, "GPUs", f"room in {label}"
                )
                words += [", with room for ", room, " more in each"]
            items.append(tuple(words))
        blocks += [Paragraph(words=("The lab has:",)), Bullets(items=tuple(items))]
    if grant.year_budget_usd is not None:
        nums = [
            (
                given.book.setting(f"budget.per_year[{n}]", usd, "usd", f"budget of year {n}"),
                f" in year {n}",
            )
            for n, usd in enumerate(grant.year_budget_usd, start=1)
        ]
        blocks.append(Bullets(items=tuple(nums)))
    return Section(title="The question", blocks=tuple(blocks))


def _runs(given: Material) -> Num:
    return given.ledger.leaf("plan", given.plan.runs, "runs", "runs done", what="runs")


def _first(machine: Machine) -> str:
    """What comes before an order of what nobody quoted, or is known to sell."""
    if not machine.on_sale:
        return " Find a seller first: none is known."
    line = unquoted(machine)
    return "" if line is None else f" First ask {line.vendor} to quote it."


def recommendation_section(given: Material) -> Section:
    """What to do, and how sure that is."""
    plan = given.plan
    items: list[Words] = []
    for e in given.costs.equipment:
        do = "Buy " if e.machine.upgrade_of is None else "Upgrade "
        bought: list[str | Num] = [do, e.count]
        bought += [f" on {day_words(e.bought_on)}: {e.machine.label}, "]
        bought += [machine_alone(given, e).charge.each, " each"]
        for beside in e.charge.apart:
            name = line_words(beside.extra.kind, beside.extra.name)
            bought += [", and ", beside.each, f" for {name}"]
        items.append((*bought, f".{_first(e.machine)}"))
    by_label: dict[str, list[Any]] = {}
    for r in given.costs.running:
        if r.rented:
            by_label.setdefault(r.label, []).append(r)
    granted = {r.label for r in given.loaded.problem.rentals if r.allocation is not None}
    for label, rented in by_label.items():
        runs = given.ledger.total([r.runs for r in rented], f"runs rented on {label}", "runs")
        usd = given.ledger.total([r.charge.direct for r in rented], f"rent of {label}")
        verb = "Use" if label in granted else "Rent"
        items.append((f"{verb} {label} for ", runs, ": ", usd, " before overhead."))
    if not items and plan.runs:
        items.append(("Buy nothing and rent nothing: the machines of the lab do it all.",))
    for e_id, left in plan.left_out.items():
        number = given.ledger.leaf(
            "plan", left, "runs", f"{e_id}: runs left out", experiment_id=e_id, what="left out"
        )
        items.append((f"Leave out {given.book.experiments[e_id].name}: ", number, "."))
    end = given.ledger.leaf(
        "plan", round(plan.finish_day, 2), "days", "last day of the plan", what="finish"
    )
    words: list[str | Num] = [_runs(given), " for ", given.costs.total]
    words.append(", overhead included" if given.loaded.grant.charges_overhead else ", no overhead")
    words += [f". The last run ends on {_when(given, plan)}, after ", end, ". "]
    if plan.proven:
        words.append("No better plan exists under these settings: optimality is proven.")
    elif plan.gap is not None and plan.gap < 1:
        gap = given.ledger.leaf(
            "plan", round(plan.gap, 6), "share", "gap to the best bound", what="gap"
        )
        words += ["Optimality is not proven: a better plan by up to ", gap, " may exist."]
    else:
        words.append("Optimality is not proven: the time for the search ran out.")
    return Section(
        title="Recommendation",
        blocks=(Paragraph(words=tuple(words)), Bullets(items=tuple(items))),
    )


def schedule_section(given: Material, pictures: bool) -> Section:
    """Which run goes where and when; runs that do the same on the same days are one line."""
    book, options = given.book, given.loaded.problem.options()
    alike: Counter[tuple[str, str, date, date]] = Counter()
    for p in sorted(given.plan.placed, key=lambda p: (p.pieces[0][0], p.experiment_id, p.run)):
        first, last = book.day(p.pieces[0][0]), book.day(last_day(p.pieces[-1][1]))
        alike[p.experiment_id, p.machine_id, first, last] += 1
    rows: list[tuple[Cell, ...]] = []
    for (experiment_id, option_id, first, last), runs in alike.items():
        e, option = book.experiments[experiment_id], options[option_id]
        number: Cell = "one"
        if runs > 1:
            number = given.ledger.leaf(
                "plan",
                runs,
                "runs",
                f"{e.name} on {option.label}, from {day_words(first)}",
                what="runs on the same days",
                experiment_id=experiment_id,
                option_id=option_id,
                starts=str(first),
                ends=str(last),
            )
        due = book.day(given.loaded.problem.due(e))
        time = book.time(option.times[e.model], f"{e.model_name or e.model} on {option.label}")
        days = (day_words(first), day_words(last), day_words(due))
        rows.append((e.name, option.label, number, *days, time))
    blocks: list[Block] = []
    if pictures:
        from advisor.planning.report.calendar_picture import draw_plan

        blocks.append(draw_plan(given.loaded, given.plan))
    blocks.append(
        ReportTable(
            name="Schedule",
            columns=("experiment", "machine", "runs", "starts", "ends", "due", "training"),
            rows=tuple(rows),
        )
    )
    return Section(title="The plan on the calendar", blocks=tuple(blocks))


def alternatives_section(given: Material, pictures: bool, total: Decimal) -> Section:
    """The runners-up with why not."""
    rows: list[tuple[Cell, ...]] = [
        ("recommended", given.costs.total, _runs(given), _when(given, given.plan))
    ]
    notes: list[Words] = []
    for other in given.explanation.alternatives:
        rows.append((other.label, *_figures(given, other)))
        why = alternative_words(given.loaded, given.ledger, given.plan, given.costs.total, other)
        found = "" if other.plan is None or other.proven else ", by the best that was found"
        notes.append((f"{other.label}: ", *why, f"{found}. ", *_takes(given, other)))
    blocks: list[Block] = [
        ReportTable(
            name="Alternatives",
            columns=("plan", "cost", "runs", "done by"),
            rows=tuple(rows),
        ),
        Bullets(items=tuple(notes)),
    ]
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


def _takes(given: Material, other: Alternative) -> Words:
    """What another plan buys and rents."""
    plan = other.plan
    if plan is None:
        return ()
    words: list[str | Num] = []
    for p in plan.purchases:
        label = given.book.machines[p.machine_id].label
        count = solve_num(
            given.ledger,
            other.change,
            p.count,
            "machines",
            f"{other.label}: {label}",
            "bought",
            machine_id=p.machine_id,
            order=p.order,
        )
        day = day_words(given.book.day(given.loaded.problem.orders[p.order]))
        words += ["; " if words else "It buys ", count, f" ({label}) on {day}"]
    hired = [given.book.rentals[name] for name in dict.fromkeys(r.rental_id for r in plan.rented)]
    for verb, labels in (
        ("rents", [r.label for r in hired if r.allocation is None]),
        ("uses", [r.label for r in hired if r.allocation is not None]),
    ):
        if labels:
            words.append(f"{'; it' if words else 'It'} {verb} {'; '.join(labels)}")
    return (*words, ".") if words else ("It takes what is owned.",)
