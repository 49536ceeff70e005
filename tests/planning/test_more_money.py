"""More money, in all or in any year, never does fewer runs, costs more, or ends later."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.solver.money.cents import cents_by_year, within_budgets
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from tests.planning.test_plan_solve import check_placement, reached
from tests.planning.test_year_money import kept_free
from tests.plans_for_tests import plan_or_none, random_problem


def better_or_equal(less: PlanningProblem, more: PlanningProblem) -> None:
    before, after = kept(less), kept(more)
    if before is None:
        return
    assert after is not None
    assert reached(more, after) <= reached(less, before)


def kept(problem: PlanningProblem) -> Plan | None:
    """The plan, which keeps every rule of money and time."""
    plan = plan_or_none(problem)
    if plan is not None:
        assert plan.proven
        check_placement(problem, plan)
        assert within_budgets(problem, plan)
        assert sum(cents_by_year(problem, plan.purchases, plan.placed)) == plan.cost_cents
    return plan


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000), st.integers(1, 20_000_00))
def test_a_larger_budget_is_never_worse(seed: int, more_cents: int) -> None:
    problem = replace(random_problem(seed), year_budget_cents=None)
    if problem.budget_cents is not None:
        more = replace(problem, budget_cents=problem.budget_cents + more_cents)
        better_or_equal(problem, more)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000), st.integers(1, 8_000_00), st.booleans())
def test_more_money_in_one_year_is_never_worse(seed: int, more_cents: int, first: bool) -> None:
    problem = kept_free(seed)
    assert problem.year_budget_cents is not None
    one, other = problem.year_budget_cents
    budgets = (one + more_cents, other) if first else (one, other + more_cents)
    better_or_equal(problem, replace(problem, year_budget_cents=budgets))
