"""Reports of one small plan for a funder, and what a grant alone is cautioned of."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from advisor.planning.currency import Currency
from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.problem_of_grant import Loaded, rules_of
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.report.build_report import build_report
from advisor.planning.report.document import Report
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from advisor.store import Store
from tests.planning.grant_files import changed
from tests.plans_for_tests import make_problem

TODAY = date(2026, 11, 22)


def in_currency(loaded: Loaded, currency: Currency) -> Loaded:
    """The same with its market prices in another currency."""
    problem = loaded.problem
    machines = tuple(
        replace(
            machine,
            lines=tuple(
                replace(
                    line,
                    unit_price=currency.of_usd(loaded.quotes[line.quote_id].price_usd),
                    quoted_usd=loaded.quotes[line.quote_id].price_usd,
                )
                for line in machine.lines
            ),
        )
        for machine in problem.machines
    )
    rules = replace(problem.rules, currency=currency)
    if currency == problem.rules.currency:
        return loaded
    problem = replace(problem, machines=machines, rules=rules)
    return replace(loaded, problem=problem, grant=replace(loaded.grant, currency=currency))


def planned_from(store_path: Path, **changes: Any) -> Planned:
    """The worked example with other values, solved and explained."""
    loaded = load_grant(Store(store_path), changed(read_grant(EXAMPLE), **changes), TODAY)
    planned = plan_loaded(loaded, 300)
    assert planned.plan is not None
    return planned


def report_for(planned: Planned, *, pictures: bool = False, **changes: object) -> Report:
    grant = changed(planned.loaded.grant, **changes)
    loaded = replace(in_currency(planned.loaded, grant.currency), grant=grant)
    assert planned.plan is not None and planned.explanation is not None
    return build_report(loaded, planned.plan, planned.explanation, pictures=pictures)


NOTHING = Plan(
    purchases=(),
    placed=(),
    left_out={},
    cost_cents=0,
    judged_cents=0,
    value=0,
    proven=True,
    gap=None,
)


def cautions_of(grant: Grant) -> list[str]:
    """Of the settings alone: nothing is bought or run."""
    return cautions(loaded_of(grant, make_problem(rules=rules_of(grant))), NOTHING)


def loaded_of(grant: Grant, problem: PlanningProblem) -> Loaded:
    """A problem of a test's own, without the rows that its numbers come from."""
    return Loaded(
        grant=grant,
        problem=problem,
        snapshot=None,  # type: ignore[arg-type]
        models={},
        quotes={},
        rentals={},
        builds={},
        left_out=(),
        today=TODAY,
    )


def grant_head(
    model: str = "pythia-410m", *, start: str = "2027-01-01", years: int = 1, more: str = ""
) -> str:
    """A grant for one run of a model; ``more`` are further lines of its first table."""
    table = f"[grant]\nstart = {start}\nyears = {years}\n{more}"
    return f'\n{table}[[experiments]]\nmodel = "{model}"\n'


GRANT = grant_head(years=3, more='funder = "{funder}"\n')
SMALL = grant_head(start="2027-03-01", years=2)
"""The head of a grant of nobody's form, which a test writes on."""


def read(folder: Path, text: str) -> Grant:
    """The grant that a file of this text is."""
    path = folder / "grant.toml"
    path.write_text(text, encoding="utf-8")
    return read_grant(path)
