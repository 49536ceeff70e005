"""The cheapest plan within a budget, looked for as if there were none."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.solver import solve as solver
from advisor.planning.solver import without_budget
from advisor.planning.solver.search_clock import OutOfTime, Progress, clock_of
from tests.planning.test_plan_solve import check_against_search, check_placement
from tests.plans_for_tests import (
    best_by_trying_everything,
    check_bound,
    make_experiment,
    make_machine,
    make_problem,
    plan_or_none,
    random_problem,
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 100_000), st.booleans())
def test_within_a_budget_no_search_finds_a_better_plan(seed: int, hard: bool) -> None:
    """The money is what the best plan costs without a budget, a cent less, or anything."""
    free = replace(
        random_problem(seed), objective="cheapest", budget_cents=None, year_budget_cents=None
    )
    plan = plan_or_none(free)
    budget = Random(seed).randint(1, 60) * 1000_00
    if plan is not None:
        budget = Random(seed).choice([budget, plan.cost_cents, plan.cost_cents - 1])
    problem = replace(free, budget_cents=budget)
    heard: list[Progress] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(without_budget, "LARGE", -1)
        if not hard:
            check_against_search(problem)
            return
        patch.setattr(solver, "HARD", -1)
        try:
            found = plan_or_none(problem, clock=clock_of(30, hear=heard.append))
        except OutOfTime:
            return
    best = best_by_trying_everything(problem)
    if found is None or best is None:
        assert found is best is None
        return
    check_placement(problem, found)
    check_bound(found, best[0])
    assert found.cost_cents <= budget
    assert all(said.plan is None or said.plan.cost_cents <= budget for said in heard)


def test_the_best_plan_within_the_budget_is_kept_where_a_dearer_one_came_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = make_problem(
        experiments=(make_experiment("e", "a", 1, 0, 100),),
        machines=(make_machine("m", "1000", {"a": 30.0}),),
    )
    plan = plan_or_none(problem)
    assert plan is not None
    dear = replace(plan, cost_cents=plan.cost_cents * 3, judged_cents=plan.judged_cents * 3)

    def find(asked: object, clock: object, known: object) -> object:
        clock.tell("one", plan=plan, bound_usd=plan.judged_cents / 200)  # type: ignore[attr-defined]
        clock.tell("another", plan=dear)  # type: ignore[attr-defined]
        return replace(dear, proven=False, gap=0.9)

    monkeypatch.setattr(without_budget, "LARGE", -1)
    asked = replace(problem, budget_cents=plan.cost_cents)
    found = without_budget.without_budget(asked, clock_of(9), (), find)  # type: ignore[arg-type]
    assert found.cost_cents == plan.cost_cents
    assert not found.proven
    assert found.gap == pytest.approx(0.5)
