"""A plan that pays too early is put on other days, where that is enough; else it stays as it is."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.solver.money.cents import cents_by_year, within_budgets, within_year_budgets
from advisor.planning.solver.problem import PlanningProblem, Rules
from advisor.planning.solver.retimed import retimed
from advisor.planning.solver.search_clock import clock_of
from tests.planning.test_plan_solve import check_placement
from tests.planning.test_year_money import kept_free
from tests.plans_for_tests import (
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    plan_or_none,
)


def two_years(*budgets: int, upgraded: bool = False) -> PlanningProblem:
    """Four runs of 40 days on a machine, 24 dollars a day, and one rented for as much."""
    days = {"a": 60.0 if upgraded else 40.0}
    machine = make_machine("m", None if upgraded else "1000", days)
    more = make_machine("more", "1000", {"a": 40.0}, upgrade_of="m")
    return make_problem(
        year_days=(0, 100, 200),
        experiments=(make_experiment("e", "a", 4, 0, 200), make_experiment("f", "b", 1, 0, 200)),
        machines=(machine, more) if upgraded else (machine,),
        rentals=(make_rental("r", "1", {"b": 50.0}),),
        year_budget_cents=budgets,
        carry_over=False,
        rules=Rules(usd_per_kwh=Decimal("1"), slack=Decimal("0.15")),
    )


@pytest.mark.parametrize("upgraded", [False, True])
def test_a_plan_that_pays_too_early_is_put_on_other_days(upgraded: bool) -> None:
    asked = two_years(0, 10_000_00, upgraded=upgraded)
    free = replace(asked, year_budget_cents=None)
    plan = plan_or_none(free)
    assert plan is not None and plan.purchases
    paid = cents_by_year(free, plan.purchases, plan.placed)
    early = sum(p.count for p in plan.purchases) * 1000_00
    assert early < paid[0]
    # Sixty days at least of the 160 on the machine are in the first year.
    budgets = (early + 60 * 24_00, sum(paid) - early - 60 * 24_00)
    problem = replace(asked, year_budget_cents=budgets)
    assert not within_year_budgets(problem, paid)
    found = retimed(problem, plan, clock_of(20))
    assert found is not None
    check_placement(problem, found)
    assert within_budgets(problem, found)
    assert found.purchases == plan.purchases
    assert found.judged_cents == plan.judged_cents
    none = replace(problem, year_budget_cents=(early + 59 * 24_00, sum(paid)))
    assert retimed(none, plan, clock_of(20)) is None


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000))
def test_what_is_put_on_other_days_keeps_every_rule(seed: int) -> None:
    problem = replace(kept_free(seed), objective="cheapest")
    plan = plan_or_none(replace(problem, year_budget_cents=None))
    if plan is None:
        return
    found = retimed(problem, plan, clock_of(20))
    if found is None:
        return
    check_placement(problem, found)
    assert within_budgets(problem, found)
    assert found.runs == plan.runs
    best = plan_or_none(problem)
    assert best is not None and best.judged_cents <= found.judged_cents
