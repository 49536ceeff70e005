"""Phrases and numbers that several sections of a report share, and the limits of its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from advisor.costs.amount_words import day_words
from advisor.planning.grant.candidates.cost_lines import not_asked_for
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.number_ledger import Num, NumberLedger
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.templates import filled_lines
from advisor.planning.sensitivity.changes import Change
from advisor.planning.sensitivity.explain import Alternative, worse_by
from advisor.planning.sensitivity.solved_amounts import Finding, Value
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import BUY_IN, Machine, RunTime
from advisor.ranking.times import uneven_words

KINDS_OF_PRICE = {
    "list": "list price",
    "street": "street price",
    "secondary": "reported by others",
    "parts-list": "added up, not quoted",
    BUY_IN: "price of a share",
}
"""Where the name of the kind does not say it."""


def kind_of_price(kind: str) -> str:
    """What a reader calls it."""
    return KINDS_OF_PRICE.get(kind, kind.replace("-", " "))


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return f"{text[:1].upper()}{text[1:]}"


def listed(names: Iterable[str]) -> str:
    """``A, B and C``; with semicolons where the names have commas."""
    every = list(dict.fromkeys(names))
    mark, end = ("; ", "; and ") if any(", " in name for name in every) else (", ", " and ")
    if len(every) < 2:
        return "".join(every)
    return f"{mark.join(every[:-1])}{end}{every[-1]}"


def runs_done(given: Material) -> Num:
    """Of the plan."""
    return given.ledger.leaf("plan", given.plan.runs, "runs", "runs done", what="runs")


def ends_today(given: Material, machine: Machine, ends: tuple[Decimal, Decimal]) -> list[Num]:
    """Of `Loaded.ordered_today`, with as many digits as an estimate is worth."""
    return [
        replace(
            given.ledger.leaf(
                "unit",
                value,
                "money",
                f"price of {machine.label} if ordered today, {end}",
                name="if ordered today",
                machine_id=machine.machine_id,
                end=end,
            ),
            estimate=True,
        )
        for end, value in zip(("low", "high"), ends, strict=True)
    ]


def solve_num(
    ledger: NumberLedger,
    change: Change,
    value: Value,
    unit: str,
    label: str,
    reads: str,
    **origin: Any,
) -> Num:
    """A number that was found by solving again, as a row: how it was found can be done again."""
    # With lists for tuples, as JSON has them.
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in change.items()}
    return ledger.leaf("solve", value, unit, label, change=plain, reads=reads, **origin)


def finding_text(ledger: NumberLedger, finding: Finding) -> str:
    """A finding with its numbers as rows."""
    label = finding.text(lambda _: "an amount")  # in whichever currency
    return "".join(
        word
        if isinstance(word, str)
        else str(solve_num(ledger, word.change, word.value, word.unit, label, word.reads))
        for word in finding.words
    )


def why_not(
    loaded: Loaded, ledger: NumberLedger, plan: Plan, total: Num, other: Alternative
) -> str:
    """What is worse about another plan, against a plan and its ``total``: a difference is of the
    two amounts that are shown, in whichever currency they are."""
    if other.plan is None:
        return "no plan of this kind meets every date"
    change, label = other.change, other.label
    budget = loaded.problem.budget_cents
    if other.over_budget and budget is not None and other.plan.cost_cents > budget:
        of = [cost_of_other(ledger, other), budget_num(loaded, ledger)]
        over = ledger.compute("difference", of, "money", f"{label}: over the budget")
        return f"{over} over the budget"
    found = []
    more = other.plan.cost_cents - plan.cost_cents
    if more:
        two = [cost_of_other(ledger, other), total]
        of = two if more > 0 else two[::-1]
        cost = ledger.compute("difference", of, "money", f"{label}: difference in cost")
        by = worse_by(loaded.problem, plan, other.plan)
        yet = f", yet dearer {' and '.join(by)}" if by else ""
        found.append(f"{cost} more" if more > 0 else f"{cost} less{yet}")
    left = other.plan.runs - plan.runs
    if left < 0:
        fewer = solve_num(ledger, change, -left, "runs", f"{label}: fewer runs", "fewer-runs")
        found.append(f"{fewer} fewer")
    later = round(other.plan.finish_day - plan.finish_day)
    if later > 0:
        days = solve_num(ledger, change, later, "days", f"{label}: later", "later")
        found.append(f"done {days} later")
    return ", ".join(found) or "as good by this measure"


def cost_of_other(ledger: NumberLedger, other: Alternative) -> Num:
    """What another plan costs."""
    assert other.plan is not None
    usd = Decimal(other.plan.cost_cents) / 100
    return solve_num(ledger, other.change, usd, "money", f"cost, {other.label}", "cost")


def budget_num(loaded: Loaded, ledger: NumberLedger) -> Num:
    """What there is."""
    amount = loaded.grant.budget
    assert amount is not None
    budget = ledger.leaf("setting", amount, "money", "budget", key="budget.total")
    grant = loaded.grant
    if grant.shared and grant.shared_reach:
        both = [budget, shared_num(loaded, ledger)]
        budget = ledger.total(both, "budget, with what others pay")
    if grant.reach == 1:
        return budget
    factor = ledger.leaf("unit", grant.reach, "factor", "with what the funder adds", name="reach")
    return ledger.compute("product", [budget, factor], "money", "budget, as far as it reaches")


def shared_num(loaded: Loaded, ledger: NumberLedger) -> Num:
    """What others pay of all costs."""
    by_year = shared_by_year(loaded, ledger)
    if by_year:
        return ledger.total(by_year, "paid by others")
    return ledger.leaf(
        "setting", loaded.grant.shared, "money", "paid by others", key="budget.shared"
    )


def shared_by_year(loaded: Loaded, ledger: NumberLedger) -> list[Num]:
    """The same in each award year; empty where the grant has one sum for all of them."""
    return [
        ledger.leaf(
            "setting",
            amount,
            "money",
            f"paid by others, award year {n}",
            key=f"budget.shared_per_year[{n}]",
        )
        for n, amount in enumerate(loaded.grant.shared_by_year or (), start=1)
    ]


def used_times(loaded: Loaded, plan: Plan) -> list[tuple[str, str, RunTime]]:
    """Model, machine and time of everything that the plan runs; each measurement once."""
    options = loaded.problem.options()
    models = {e.experiment_id: e.model for e in loaded.problem.experiments}
    found: dict[str, tuple[str, str, RunTime]] = {}
    for placed in plan.placed:
        option = options[placed.machine_id]
        model = models[placed.experiment_id]
        time = option.times[model]
        label = loaded.models[model].name
        found.setdefault(f"{time.measurement_id} {option.label}", (label, option.label, time))
    return sorted(found.values(), key=lambda each: (each[0], each[1]))


def count_of_times(number: Num, whole: Num, one: str, more: str) -> str:
    """How many of the training times are something, as a person counts."""
    if number.value == whole.value == 1:
        return f"The training time is {one}"
    if number.value == whole.value == 2:
        return f"Both training times are {more}"
    if number.value == whole.value:
        return f"All {number} training times are {more}"
    return (
        f"{number} of {whole} training times {f'is {one}' if number.value == 1 else f'are {more}'}"
    )


def uneven_batches(loaded: Loaded, plan: Plan) -> list[str]:
    """Which runs are timed with another batch, since their GPUs do not share it evenly."""
    options = loaded.problem.options()
    models = {e.experiment_id: e.model for e in loaded.problem.experiments}
    pairs = {(models[p.experiment_id], options[p.machine_id].gpu_count) for p in plan.placed}
    told = (
        (loaded.models[model].name, uneven_words(loaded.models[model], count))
        for model, count in sorted(pairs)
    )
    return [f"{name}: {words}." for name, words in told if words is not None]


def limits(given: Material) -> list[str]:
    """What the evidence cannot say, counted from the rows that are used."""
    loaded, book, grant = given.loaded, given.book, given.loaded.grant
    times = used_times(loaded, given.plan)
    unsure = [t for t in times if t[2].timing != "synchronised" and t[2].basis == "measured"]
    doubtful = [t for t in times if t[2].verdict == "doubtful"]
    predicted = [t for t in times if t[2].basis == "predicted"]

    def counted(rows: Sequence[tuple[str, str, RunTime]], label: str) -> Num:
        nums = {book.time(t, f"{m} on {o}").row: book.time(t, f"{m} on {o}") for m, o, t in rows}
        return given.ledger.compute("count", list(nums.values()), "times", label)

    whole = counted(times, "training times used")
    days = [each.line.quoted_on for e in given.costs.equipment for each in e.lines]
    every = {1: "month", 3: "quarter", 6: "half-year", 12: "year of the grant"}
    return filled_lines(
        "limits.txt",
        grant=grant,
        whole=whole,
        count=lambda number, one, more: count_of_times(number, whole, one, more),
        unsure=counted(unsure, "times measured without synchronising") if unsure else None,
        doubtful=counted(doubtful, "doubtful times") if doubtful else None,
        predicted=counted(predicted, "predicted times") if predicted else None,
        uneven=uneven_batches(loaded, given.plan),
        oldest=day_words(min(days)) if days else None,
        every=every[grant.order_every_months],
        upgraded=any(e.machine.upgrade_of is not None for e in given.costs.equipment),
        rented=any(r.rented for r in given.costs.running),
        left=[
            *["failures"] * (not book.problem.rules.failures),
            *not_asked_for(grant),
            *["tax"] * (not book.problem.rules.vat),
            "what the machines bring when they are sold",
        ],
    )
