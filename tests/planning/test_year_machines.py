"""Machines by the money of each year: the bound holds, and what is found keeps each year."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.solver.money.cents import cents_by_year, within_budgets
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.search_clock import NoPlan, clock_of
from advisor.planning.solver.solve import solve
from advisor.planning.solver.year_machines import plan_of_years
from tests.planning.test_own_windows import every_window_its_own
from tests.planning.test_plan_solve import check_placement
from tests.plans_for_tests import plan_or_none, random_problem


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000), st.booleans(), st.floats(0.3, 1.5))
def test_no_plan_is_below_its_bound_and_its_own_keeps_each_year(
    seed: int, carry_over: bool, share: float
) -> None:
    problem = replace(random_problem(seed), objective="cheapest")
    free = plan_or_none(replace(problem, year_budget_cents=None, budget_cents=None))
    if free is None:
        return
    each = int(free.cost_cents * share / problem.years) + 1
    problem = replace(
        problem,
        budget_cents=None,
        carry_over=carry_over,
        year_budget_cents=(each,) * problem.years,
    )
    best = plan_or_none(problem)
    try:
        plan, bound = plan_of_years(problem, clock_of(20))
    except NoPlan:
        assert best is None
        return
    if best is not None:
        assert bound <= best.judged_cents + 1
    if plan is not None:
        assert best is not None and plan.judged_cents >= best.judged_cents
        check_placement(problem, plan)
        assert within_budgets(problem, plan)


def by_thirds(share: str, *, carry_over: bool) -> PlanningProblem:
    """Runs with windows of their own over three years, and for each a third of what they cost
    where it does not matter when that is paid, times so much."""
    problem = every_window_its_own(60, allocation=False)
    problem = replace(problem, rules=replace(problem.rules, usd_per_kwh=Decimal("0.3")))
    free = solve(problem, 20)
    assert max(cents_by_year(problem, free.purchases, free.placed)) > free.cost_cents // 2
    each = int(free.cost_cents * Decimal(share)) // 3
    return replace(problem, carry_over=carry_over, year_budget_cents=(each,) * 3)


@pytest.mark.parametrize("carry_over", [False, True])
def test_a_large_grant_by_thirds_has_a_plan_near_its_bound(carry_over: bool) -> None:
    problem = by_thirds("1.6", carry_over=carry_over)
    plan, bound = plan_of_years(problem, clock_of(60))
    assert plan is not None
    check_placement(problem, plan)
    assert within_budgets(problem, plan)
    assert bound <= plan.judged_cents <= bound * 1.05


def test_where_the_money_of_a_year_is_too_little_that_is_known_at_once() -> None:
    problem = by_thirds("0.4", carry_over=False)
    with pytest.raises(NoPlan):
        plan_of_years(problem, clock_of(60))
