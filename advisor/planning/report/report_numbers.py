"""Numbers that several sections of a report share, as rows of its ledger."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.number_ledger import Num, NumberLedger
from advisor.planning.report.plan_costs import Material
from advisor.planning.sensitivity.changes import Change
from advisor.planning.sensitivity.explain import Alternative
from advisor.planning.sensitivity.solved_amounts import Finding, Value
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import BUY_IN, Machine, RunTime

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


def runs_done(given: Material) -> Num:
    """Of the plan."""
    return given.ledger.leaf("plan", given.plan.runs, "runs", "runs done", what="runs")


def ends_today(given: Material, machine: Machine) -> list[Num] | None:
    """Between what a machine's price lies if it is ordered today, in 9 of 10 cases, with as many
    digits as an estimate is worth; None where no price is known to move."""
    ends, label = given.loaded.ordered_today(machine), f"price of {machine.label} if ordered today"
    if ends is None:
        return None
    origin = {"name": "if ordered today", "machine_id": machine.machine_id}
    return [
        given.ledger.leaf("unit", value, "money", f"{label}, {end}", **origin, end=end).about
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


def cost_of_other(ledger: NumberLedger, other: Alternative) -> Num:
    """What another plan costs."""
    assert other.plan is not None
    cost = Decimal(other.plan.cost_cents) / 100
    return solve_num(ledger, other.change, cost, "money", f"cost, {other.label}", "cost")


def runs_of_other(ledger: NumberLedger, other: Alternative) -> Num:
    """How many runs another plan does."""
    assert other.plan is not None
    label = f"runs, {other.label}"
    return solve_num(ledger, other.change, other.plan.runs, "runs", label, "runs")


def budget_num(loaded: Loaded, ledger: NumberLedger) -> Num:
    """What there is."""
    grant = loaded.grant
    assert grant.budget is not None
    budget = ledger.leaf("setting", grant.budget, "money", "budget", key="budget.total")
    if grant.shared and grant.shared_reach:
        both = [budget, shared_num(loaded, ledger)]
        budget = ledger.total(both, "budget, with what others pay")
    if grant.reach == 1:
        return budget
    factor = ledger.leaf("unit", grant.reach, "factor", "with what the funder adds", name="reach")
    return ledger.compute("product", [budget, factor], "money", "budget, as far as it reaches")


def shared_num(loaded: Loaded, ledger: NumberLedger) -> Num:
    """What others pay of all costs."""
    by_year, label = shared_by_year(loaded, ledger), "paid by others"
    if by_year:
        return ledger.total(by_year, label)
    return ledger.leaf("setting", loaded.grant.shared, "money", label, key="budget.shared")


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
        option, model = options[placed.machine_id], models[placed.experiment_id]
        time = option.times[model]
        used = (loaded.models[model].name, option.label, time)
        found.setdefault(f"{time.measurement_id} {option.label}", used)
    return sorted(found.values(), key=lambda each: each[:2])
