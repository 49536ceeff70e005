"""Money by the year in large programs: what is found keeps to it, and its bound holds."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.solver import year_money
from advisor.planning.solver.by_year import cents_by_year, within_year_budgets
from advisor.planning.solver.problem import Plan, PlanningProblem
from advisor.planning.solver.search_clock import NoPlan, Progress, clock_of
from advisor.planning.solver.solve import solve
from tests.plans_for_tests import random_problem


def keeps(problem: PlanningProblem, plan: Plan) -> bool:
    return within_year_budgets(problem, cents_by_year(problem, plan.purchases, plan.placed))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.floats(0.2, 1.3))
def test_what_is_found_step_by_step_keeps_each_year_and_its_bound_holds(
    seed: int, carry_over: bool, share: float
) -> None:
    problem = replace(random_problem(seed), objective="cheapest")
    try:
        free = solve(replace(problem, year_budget_cents=None, budget_cents=None), 20)
    except NoPlan:
        return
    each = int(free.cost_cents * share / problem.years) + 1
    problem = replace(
        problem,
        budget_cents=None,
        carry_over=carry_over,
        year_budget_cents=(each * 2, *[each] * (problem.years - 1)),
    )
    best: Plan | None = None
    with suppress(NoPlan):
        best = solve(problem, 20)
    heard: list[Progress] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(year_money, "LARGE", -1)
        try:
            found = solve(problem, clock=clock_of(20, hear=heard.append))
        except NoPlan:
            assert best is None
            return
    assert best is not None and best.proven
    assert keeps(problem, found)
    assert all(keeps(problem, said.plan) for said in heard if said.plan is not None)
    assert found.judged_cents >= best.judged_cents
    if found.proven:
        assert found.judged_cents == best.judged_cents
    else:
        assert found.gap is not None
        assert found.judged_cents * (1 - found.gap) <= best.judged_cents + 1
