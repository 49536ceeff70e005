"""How far a plan may be from the best is a share of all that it costs, what is paid whatever is
bought included, by whatever way it was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from advisor.planning.solver import narrowed, year_money
from advisor.planning.solver import solve as solver
from advisor.planning.solver.first_plans import Found
from advisor.planning.solver.large import Learnt, large_plan
from advisor.planning.solver.milp import Program
from advisor.planning.solver.plan import against_bound, least_cents
from advisor.planning.solver.problem import FixedCost, PlanningProblem
from advisor.planning.solver.search_clock import Clock, Progress, clock_of
from advisor.planning.solver.solve import solve
from tests.plans_for_tests import make_experiment, make_machine, make_problem, make_rental

BESIDE_USD = 1_000_000
MISSING = 0.5
"""Of what is bought and run the bound says so much less may do."""


@pytest.fixture
def problem() -> PlanningProblem:
    """Five runs for some thousand dollars beside a million for staff."""
    days = {"a": 60.0}
    staff = FixedCost(
        name="staff", kind="staff", key="k", year=0, usd=Decimal(BESIDE_USD), in_base=False
    )
    return make_problem(
        year_days=(0, 365, 730),
        experiments=(make_experiment("e", "a", 5, 0, 365), make_experiment("f", "a", 2, 0, 730)),
        machines=(make_machine("m", "3000", days), make_machine("n", "5000", {"a": 40.0})),
        rentals=(make_rental("r", "2", days),),
        fixed=(staff,),
    )


def bought_usd(judged_cents: int) -> float:
    return judged_cents / 100 - BESIDE_USD


@pytest.mark.parametrize("way", ["large", "few groups", "by year"])
def test_a_gap_is_a_share_of_all_that_is_paid(
    problem: PlanningProblem, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found_half_bounded(
        program: Program, costs: Sequence[float], clock: Clock, learnt: Learnt
    ) -> tuple[Found | None, float | None]:
        best, _ = large_plan(program, costs, clock, learnt)
        assert best is not None
        return best, best[0] * MISSING

    monkeypatch.setattr(solver, "HARD", -1)
    monkeypatch.setattr(solver, "HUGE", -1)
    monkeypatch.setattr(solver, "large_plan", found_half_bounded)
    if way == "few groups":
        monkeypatch.setattr(narrowed, "MANY_GROUPS", -1)
        monkeypatch.setattr(narrowed, "ENOUGH", 1.0)
    if way == "by year":
        monkeypatch.setattr(year_money, "LARGE", -1)
        problem = replace(problem, year_budget_cents=(2_000_000_00, 2_000_000_00))
    plan = solve(problem, settle=False)
    assert not plan.proven
    assert plan.gap == pytest.approx(
        MISSING * bought_usd(plan.judged_cents) * 100 / plan.judged_cents
    )
    assert against_bound(least_cents(plan), plan).gap == pytest.approx(plan.gap)


@pytest.mark.parametrize("way", ["large", "few groups"])
def test_what_no_plan_is_below_has_what_is_paid_whatever_is_bought(
    problem: PlanningProblem, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solver, "HARD", -1)
    if way == "few groups":
        monkeypatch.setattr(narrowed, "MANY_GROUPS", -1)
    heard: list[Progress] = []
    plan = solve(problem, clock=clock_of(30, hear=heard.append))
    bounds = [said.bound_usd for said in heard if said.bound_usd is not None]
    assert bounds
    assert all(BESIDE_USD <= bound <= plan.judged_cents / 100 + 0.01 for bound in bounds)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_of_the_most_runs_the_gap_is_a_share_of_those_that_could_be_done(
    problem: PlanningProblem, one_by_one: bool
) -> None:
    """Of seven runs three are left out, and one must be: of six that could be done two are not."""
    asked = replace(problem, objective="most-runs", budget_cents=BESIDE_USD * 100 + 5_000_00)
    plan = replace(solve(asked), value=4, left_out={"e": 3})
    program, weight = Program(asked), BESIDE_USD + 5_000 + 1.0
    goal: solver.Goal = "value" if one_by_one else "value, then judged"
    cost, bound = (3.0, 0.2) if one_by_one else (3 * weight + 900, weight + 100)
    assert solver._gap(program, goal, (cost, plan), bound) == pytest.approx(2 / 6)
