"""The money of a plan is one sum: what the solver counts, what each line asks, what the years add
up to, in whatever currency and by whatever rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.currency import Currency
from advisor.planning.grant.grant_keys import FUNDERS
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant
from advisor.planning.report.budget import UNEXPLAINED, budget_table
from advisor.planning.report.budget_entries import entries
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import Material
from advisor.planning.solver.money.cents import cents_by_year
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import FixedCost, MachineExtra
from advisor.planning.solver.program.placement import cost_of
from advisor.planning.solver.solve import solve
from advisor.store import Store

TODAY = date(2026, 11, 22)


class Solved:
    """A plan with what it is made from; small in the message of a test that fails."""

    def __init__(self, loaded: Loaded, plan: Plan) -> None:
        self.loaded, self.plan = loaded, plan


@pytest.fixture(scope="module")
def solved(store_path: Path) -> Solved:
    """Something bought in the first year, something rented in each of three: two plans in one,
    so that every kind of line is there."""
    grant = read_grant(EXAMPLE)
    wanted = grant.experiments
    few = replace(grant, experiments=(wanted[1], wanted[4]), owned=())
    loaded = load_grant(Store(store_path), few, TODAY)
    buys = solve(replace(loaded.problem, rentals=()))
    rents = solve(replace(loaded.problem, machines=()))
    kept = {p.experiment_id for p in rents.placed[::2]}
    both = replace(
        buys,
        placed=(
            *(p for p in buys.placed if p.experiment_id not in kept),
            *(p for p in rents.placed if p.experiment_id in kept),
        ),
    )
    years = {p.order for p in both.placed if p.rented}
    assert both.purchases and len(both.rented) < len(both.placed) and len(years) > 1
    return Solved(loaded, both)


def shares(most: str = "0.9") -> st.SearchStrategy[Decimal]:
    return st.decimals(0, Decimal(most), places=3)


RATES = st.one_of(st.none(), shares("1.2"))
TERMS = st.fixed_dictionaries(
    {
        "equipment_threshold": st.sampled_from([Decimal(n) for n in (0, 5000, 10_000, 10**6)]),
        "equipment_in_base": st.booleans(),
        "fabrication_is_equipment": st.booleans(),
        "cloud_in_base": st.booleans(),
        "electricity_in_base": st.booleans(),
        "overhead_rate": shares("1.2"),
        "overhead_rate_cloud": RATES,
        "overhead_rate_electricity": RATES,
        "discount": shares("0.4"),
        "vat": shares("0.3"),
        "price_change": st.decimals(Decimal("-0.3"), Decimal("0.3"), places=2),
        "rent_change": st.decimals(Decimal("-0.3"), Decimal("0.3"), places=2),
        "electricity_change": shares("0.1"),
        "cost_share": shares("0.9"),
        "life_months": st.one_of(st.none(), st.integers(1, 90)),
        "use_share": st.sampled_from([Decimal(1), Decimal("0.37")]),
        "machine_extras": st.sampled_from(
            [
                (),
                (
                    MachineExtra(key="costs[1].amount", name="a rack", amount=Decimal("777.77")),
                    MachineExtra(
                        key="costs[2].share_of_price",
                        name="a warranty",
                        share_of_price=Decimal("0.093"),
                    ),
                ),
            ]
        ),
    }
)
LINE = st.tuples(st.integers(1, 10**7), st.booleans(), RATES)


@settings(max_examples=60, deadline=None)
@given(
    terms=TERMS,
    yearly=st.one_of(st.none(), st.tuples(*[shares("1.2")] * 3)),
    lines=st.lists(LINE, max_size=3),
    usd=st.sampled_from(["1", "1.1403", "0.0067", "0.7211"]),
    funder=st.sampled_from(FUNDERS),
)
def test_solver_report_lines_and_years_are_one_sum(
    solved: Solved,
    terms: dict[str, Any],
    yearly: tuple[Decimal, ...] | None,
    lines: list[tuple[int, bool, Decimal | None]],
    usd: str,
    funder: Any,
) -> None:
    loaded, plan = solved.loaded, solved.plan
    problem = loaded.problem
    if yearly is not None and terms["life_months"] is None:
        terms = terms | {
            "year_overhead": tuple(zip(problem.year_days[:-1], yearly, strict=True)),
        }
    code = {"1": "USD", "1.1403": "EUR", "0.0067": "JPY", "0.7211": "CAD"}[usd]
    currency = Currency(code=code, usd_per_unit=Decimal(usd))
    fixed = tuple(
        FixedCost(
            key=f"costs[{n}].amount",
            name=f"line {n}",
            kind="staff",
            year=year,
            amount=currency.rounded(Decimal(cents) / 100),
            in_base=charged,
            rate=rate,
            rate_key="" if rate is None else f"costs[{n}].overhead",
            day=problem.year_days[year],
        )
        for n, (cents, charged, rate) in enumerate(lines, start=3)
        for year in range(problem.years)
    )
    rules = replace(problem.rules, **terms, currency=currency)
    problem = replace(problem, rules=rules, fixed=fixed)
    grant = replace(loaded.grant, funder=funder, currency=currency)
    changed = replace(loaded, problem=problem, grant=grant)
    material = Material(changed, plan, UNEXPLAINED)
    cents, _ = cost_of(problem, plan.purchases, plan.placed)

    assert material.costs.total.value * 100 == cents
    assert sum(cents_by_year(problem, plan.purchases, plan.placed)) == cents
    found = entries(material)
    assert sum(e.direct.value + e.indirect.value for e in found) * 100 == cents
    # Each item is rounded by itself, what the solver counts together.
    told = cents_by_year(problem, plan.purchases, plan.placed)
    for year, by_solver in enumerate(told):
        mine = [e.direct.value + e.indirect.value for e in found if e.year == year]
        assert abs(sum(mine) * 100 - by_solver) <= 2 * len(found) * 100 ** (code == "JPY"), year
    table = budget_table(material)
    rows = [[c.value for c in row if isinstance(c, Num)] for row in table.rows]
    *each, direct, indirect, total = rows
    if each:
        assert [sum(column) for column in zip(*each, strict=True)] == direct
    assert [a + b for a, b in zip(direct, indirect, strict=True)] == total
    assert all(sum(row[:-1]) == row[-1] for row in rows)
    assert total[-1] * 100 == cents
    # What is charged by each year's own rate is charged that, to the cent an item.
    if yearly is not None and terms["life_months"] is None:
        for year, (rate, (first, last)) in enumerate(
            zip(yearly, pairwise(problem.year_days), strict=True)
        ):
            bought = [
                e for e in material.costs.equipment if first <= problem.orders[e.order] < last
            ]
            for e in bought:
                assert e.charge.rate is not None and e.charge.rate.value == rate, year
