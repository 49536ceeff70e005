"""How far a plan may be from the best is a share of all that it costs, what is paid whatever is
bought included."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from advisor.planning.solver import two_stage
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import FixedCost, PlanningProblem
from advisor.planning.solver.search_clock import Progress, clock_of
from advisor.planning.solver.solve import gap_of, solve
from advisor.planning.solver.two_stage import Goal, Search
from tests.plans_for_tests import make_experiment, make_machine, make_problem, make_rental

BESIDE_USD = 1_000_000


@pytest.fixture
def problem() -> PlanningProblem:
    """Five runs for some thousand dollars beside a million for staff."""
    days = {"a": 60.0}
    staff = FixedCost(
        name="staff", kind="staff", key="k", year=0, amount=Decimal(BESIDE_USD), in_base=False
    )
    return make_problem(
        year_days=(0, 365, 730),
        experiments=(make_experiment("e", "a", 5, 0, 365), make_experiment("f", "a", 2, 0, 730)),
        machines=(make_machine("m", "3000", days), make_machine("n", "5000", {"a": 40.0})),
        rentals=(make_rental("r", "2", days),),
        fixed=(staff,),
    )


def gap(problem: PlanningProblem, goal: Goal, plan: Plan, cost: float, bound: float) -> float:
    return gap_of(Search(problem, goal, clock_of(0), cost=cost, bound=bound), plan)


def test_a_gap_is_a_share_of_all_that_is_paid(problem: PlanningProblem) -> None:
    plan = solve(problem)
    bought_usd = plan.judged_cents / 100 - BESIDE_USD
    found = gap(problem, "judged", plan, bought_usd, bought_usd / 2)
    assert found == pytest.approx(bought_usd / 2 * 100 / plan.judged_cents)


@pytest.mark.parametrize("large", [3000, -1])
def test_what_no_plan_is_below_has_what_is_paid_whatever_is_bought(
    problem: PlanningProblem, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(two_stage, "LARGE", large)
    heard: list[Progress] = []
    plan = solve(problem, clock=clock_of(300, on_progress=heard.append))
    bounds = [said.bound_usd for said in heard if said.bound_usd is not None]
    assert bounds
    assert all(BESIDE_USD <= bound <= plan.judged_cents / 100 + 0.01 for bound in bounds)


def test_of_the_most_runs_the_gap_is_a_share_of_those_that_could_be_done(
    problem: PlanningProblem,
) -> None:
    """Of seven runs three are left out, and one must be: of six that could be done two are not."""
    asked = replace(problem, objective="most-runs", budget_cents=BESIDE_USD * 100 + 5_000_00)
    plan = replace(solve(asked), value=4, left_out={"e": 3})
    assert gap(asked, "value", plan, 3.0, 0.2) == pytest.approx(2 / 6)
