"""Each kind of grant of examples/grants: it is planned within its money, and reported."""

from __future__ import annotations

from decimal import Decimal
from math import ceil
from pathlib import Path

import pytest

from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.report.build_report import build_report
from advisor.planning.report.formats.markdown_csv_json import to_markdown
from advisor.planning.solver.money.cents import purchase_cents, rental_cents
from advisor.planning.solver.problem import PlanningProblem
from advisor.store import Store
from tests.planning.forms_for_tests import TODAY

GRANTS = sorted((Path(__file__).parents[2] / "examples" / "grants").glob("*.toml"))
ONE_EXPERIMENT = {"nih_supplement", "nserc_rti", "seed"}


def cheapest_by_hand(problem: PlanningProblem) -> int:
    """All runs of the only experiment on one kind of machine or instance, the cheapest of all."""
    (e,) = problem.experiments
    days = problem.usable(e.due_day - e.release_day)
    found = []
    for machine in problem.machines:
        time = machine.times.get(e.model)
        if time is None or not machine.lines or problem.too_long(machine, e.model):
            continue
        each = int((days - problem.rules.lead_days) / problem.elapsed(time))
        most = problem.max_machines or e.runs
        if each and ceil(e.runs / each) <= most:
            found.append(ceil(e.runs / each) * purchase_cents(machine, problem.rules))
    for rental in problem.rentals:
        if e.model not in rental.times or problem.too_long(rental, e.model):
            continue
        if problem.rented_days(rental, e.model) <= days:
            found.append(e.runs * rental_cents(rental, e.model, problem.rules))
    return min(found)


@pytest.mark.parametrize("path", GRANTS, ids=lambda path: path.stem)
def test_it_is_planned_within_its_money(path: Path, store_path: Path) -> None:
    grant = read_grant(path)
    found = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    assert found.plan is not None and found.explanation is not None, found.ways_out
    plan, problem = found.plan, found.loaded.problem
    assert plan.runs and plan.proven
    if problem.budget_cents is not None:
        assert plan.cost_cents <= problem.budget_cents
    if path.stem in ONE_EXPERIMENT:
        assert plan.cost_cents <= cheapest_by_hand(problem)
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
