"""Grants that may order on many days, at prices that change, written off or not: against every
plan; and large ones, with hundreds of kinds and days."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.search_clock import clock_of
from advisor.planning.solver.solve import solve
from tests.planning.test_plan_solve import check_against_search
from tests.plans_for_tests import quarters, random_problem


def ordered(seed: int) -> PlanningProblem:
    """Two or three days to order on; prices rise or fall; what is written off, over months."""
    random = Random(seed)
    problem = replace(random_problem(seed), objective="cheapest", max_machines=2)
    end = problem.year_days[-1]
    days = (0, *sorted(random.sample(range(10, end - 30, 10), random.choice([1, 2]))))
    return replace(
        problem,
        order_days=days,
        year_budget_cents=problem.year_budget_cents if seed % 2 else None,
        rules=replace(
            problem.rules,
            price_change=Decimal(random.choice(["0", "0.6", "-0.6"])),
            life_months=random.choice([None, 6, 12]),
            use_share=Decimal(random.choice(["1", "0.7"])),
            grant_months=round(end * 12 / 365),
        ),
    )


@settings(max_examples=16, deadline=None)
@given(st.integers(0, 100_000))
@example(104)  # its machine is cheapest on a later day of the year
def test_with_several_days_to_order_on_no_search_finds_a_better_plan(seed: int) -> None:
    check_against_search(ordered(seed))


def test_a_plan_that_is_known_is_not_lost_where_no_time_is_left() -> None:
    problem = quarters(3)
    plan = solve(problem, clock=clock_of(300))
    assert plan.purchases
    again = solve(problem, clock=clock_of(0), known=(plan,))
    assert again.judged_cents <= plan.judged_cents
    assert not again.proven
