"""Each kind of grant of examples/grants: it is planned within its money, and reported."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.report.build_report import build_report
from advisor.planning.report.formats.markdown_csv_json import to_markdown
from advisor.planning.solver.money.cents import (
    fixed_cents,
    purchase_cents,
    rental_cents,
    run_cents,
)
from advisor.planning.solver.problem import Machine, PlanningProblem
from advisor.store import Store
from tests.planning.forms_for_tests import TODAY
from tests.plans_for_tests import fits_one_machine

GRANTS = sorted((Path(__file__).parents[2] / "examples" / "grants").glob("*.toml"))
Window = tuple[float, float, float]
"""From which day to which a run may be, and its days."""


def by_hand(problem: PlanningProblem, bought: Machine | None, count: int) -> tuple[int, int] | None:
    """The value left out and the cost where machines of one kind are bought at once, or none: each
    run goes on the first machine with room, dear to rent ones first, and the rest is rented."""
    rules, models = problem.rules, {e.model for e in problem.experiments}
    cents = sum(fixed_cents(problem))
    cents += 0 if bought is None else count * purchase_cents(bought, rules)
    wholes = [m for m in problem.machines if m.owned and m.part_of is None for _ in range(m.owned)]
    lanes: list[tuple[Machine, float, list[Window]]] = [(m, m.ready_day, []) for m in wholes]
    first = float(problem.orders[0] + rules.lead_days)
    lanes += [(bought, first, []) for _ in range(count) if bought is not None]
    market = [r for r in problem.rentals if r.allocation is None]
    rents = {
        model: min(
            (
                (rental_cents(r, model, rules), problem.rented_days(r, model))
                for r in market
                if model in r.times and not problem.too_long(r, model)
            ),
            default=None,
        )
        for model in models
    }
    left = 0
    runs = [e for e in problem.experiments for _ in range(e.runs)]
    for e in sorted(runs, key=lambda e: (-e.value, -(rents[e.model] or (10**12, 0))[0])):
        low, due = float(e.release_day), float(problem.due(e))
        for machine, ready, lane in lanes:
            if e.model not in machine.times or problem.too_long(machine, e.model):
                continue
            window = (max(low, ready), due, problem.elapsed(machine.times[e.model]))
            if fits_one_machine([*lane, window], problem.usable(1.0)):
                lane.append(window)
                cents += run_cents(machine, e.model, rules)
                break
        else:
            rent = rents[e.model]
            most = problem.budget_cents
            if (
                rent
                and rent[1] <= problem.usable(due - low)
                and (problem.objective != "most-runs" or most is None or cents + rent[0] <= most)
            ):
                cents += rent[0]
            elif problem.objective == "most-runs":
                left += e.value
            else:
                return None
    over = problem.budget_cents is not None and cents > problem.budget_cents
    return None if over else (left, cents)


def best_by_hand(problem: PlanningProblem) -> tuple[int, int]:
    """Of nothing bought, and of one to three machines of each kind."""
    kinds = [m for m in problem.machines if m.lines and not (m.part_of or m.upgrade_of)]
    most = min(3, problem.max_machines or 3)
    tried = [by_hand(problem, None, 0)]
    tried += [by_hand(problem, m, n) for m in kinds for n in range(1, most + 1)]
    return min(filter(None, tried))


@pytest.mark.parametrize("path", GRANTS, ids=lambda path: path.stem)
def test_it_is_planned_within_its_money(path: Path, store_path: Path) -> None:
    grant = read_grant(path)
    found = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    assert found.plan is not None and found.explanation is not None, found.ways_out
    plan, problem = found.plan, found.loaded.problem
    assert plan.runs and plan.proven
    if problem.budget_cents is not None:
        assert plan.cost_cents <= problem.budget_cents
    every = sum(e.runs * e.value for e in problem.experiments)
    # Where rent is limited, by hand nothing is rented.
    left, cents = best_by_hand(replace(problem, rentals=()) if problem.rent_limits else problem)
    assert (every - plan.value, plan.judged_cents) <= (left, cents)
    for e in problem.experiments:
        assert plan.left_out.get(e.experiment_id, 0) <= e.runs - e.min_runs
    report = build_report(found.loaded, plan, found.explanation, pictures=False)
    funder, annex = map(to_markdown, report.parts())
    for text in (funder, annex):
        assert "None" not in text and "nan" not in text.split()
        assert not [line for line in text.split("\n") if "  " in line and not line.startswith("|")]
    budget = next(table for table in report.tables() if table.name == "Budget")
    assert grant.currency.unit in {c.unit for row in budget.rows for c in row if hasattr(c, "unit")}
    total = Decimal(plan.cost_cents) / 100
    rows = (
        row for row in budget.rows if str(row[0]).lower().startswith(("l. ", "i. tot", "total"))
    )
    assert total in [getattr(row[-1], "value", None) for row in rows] or path.stem in (
        *("dfg", "ukri", "erc", "nserc_rti"),
    )
