"""Money by the year: what is found keeps to it, and its bound holds."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from advisor.planning.solver import two_stage
from advisor.planning.solver.money.cents import (
    cents_by_year,
    purchase_by_year,
    within_budgets,
    within_year_budgets,
)
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import MachineExtra, PlanningProblem, Rules
from advisor.planning.solver.search_clock import NoPlan, Progress, clock_of
from advisor.planning.solver.solve import solve
from tests.planning.test_plan_solve import check_against_search, check_placement
from tests.plans_for_tests import (
    check_bound,
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    own_windows,
    plan_or_none,
    random_problem,
)


def keeps(problem: PlanningProblem, plan: Plan) -> bool:
    return within_year_budgets(problem, cents_by_year(problem, plan.purchases, plan.placed))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.floats(0.2, 1.3))
def test_planned_in_two_stages_it_keeps_each_year_and_its_bound_holds(
    seed: int, carry_over: bool, share: float
) -> None:
    problem = replace(random_problem(seed), objective="cheapest")
    freely = replace(problem, year_budget_cents=None, budget_cents=None)
    free = plan_or_none(freely, clock=clock_of(300))
    if free is None:
        return
    each = int(free.cost_cents * share / problem.years) + 1
    problem = replace(
        problem,
        budget_cents=None,
        carry_over=carry_over,
        year_budget_cents=(each * 2, *[each] * (problem.years - 1)),
    )
    best = plan_or_none(problem, clock=clock_of(300))
    heard: list[Progress] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_stage, "LARGE", -1)
        found = plan_or_none(problem, clock=clock_of(300, on_progress=heard.append))
    if found is None or best is None:
        assert found is best is None
        return
    assert best.proven
    assert keeps(problem, found)
    assert all(keeps(problem, said.plan) for said in heard if said.plan is not None)
    assert found.proven or found.gap is not None
    check_bound(found, best.judged_cents)


def test_a_rented_run_has_the_rate_of_a_year_in_which_it_is() -> None:
    """Year 1 charges less overhead and has no money: a run waits for year 2, and for its rate."""
    rates = ((0, Decimal("0.1")), (365, Decimal("0.6")))
    problem = make_problem(
        year_days=(0, 365, 730),
        experiments=(make_experiment("e", "a", 2, 0, 730),),
        machines=(),
        rentals=(make_rental("r", "2", {"a": 40.0}),),
        year_budget_cents=(100, 20_000_00),
        carry_over=True,
        rules=Rules(year_overhead=rates),
    )
    plan = solve(problem)
    assert [placed.order for placed in plan.placed] == [1, 1]
    assert all(placed.pieces[0][0] >= 365 for placed in plan.placed)
    assert plan.cost_cents == 2 * 40 * 24 * 2_00 * 16 // 10


def test_days_are_kept_free_before_deadlines_and_not_at_the_end_of_a_year() -> None:
    """Three runs take 93 days of a year of 100, and are due a year later: no day of the next is
    needed, which has no money."""
    problem = make_problem(
        year_days=(0, 100, 200),
        experiments=(make_experiment("e", "a", 3, 0, 200),),
        machines=(make_machine("m", "1000", {"a": 31.0}),),
        year_budget_cents=(2_000_00, 0),
        carry_over=False,
        rules=Rules(slack=Decimal("0.15"), price_per_kwh=Decimal("0.2")),
    )
    plan = solve(problem)
    assert plan.proven
    assert cents_by_year(problem, plan.purchases, plan.placed)[1] == 0
    # A fourth does not end in the first year, and nothing else is possible.
    with pytest.raises(NoPlan):
        solve(replace(problem, experiments=(make_experiment("e", "a", 4, 0, 200),)))


def kept_free(seed: int) -> PlanningProblem:
    """Two years that each have money of their own, dear electricity, and days that stay free before
    every deadline."""
    random = Random(seed)
    problem = random_problem(seed)
    by_year = (0, 100, 200)
    return replace(
        problem,
        objective="most-runs" if problem.objective == "most-runs" else "cheapest",
        year_days=by_year,
        rules=replace(
            problem.rules,
            price_per_kwh=Decimal(random.choice(["1.5", "4", "12"])),
            slack=Decimal(random.choice(["0.1", "0.2", "0.3"])),
        ),
        year_budget_cents=tuple(random.randint(1, 12) * 1000_00 for _ in range(2)),
        budget_cents=None,
        carry_over=random.random() < 0.5,
    )


@settings(max_examples=16, deadline=None)
@given(st.integers(0, 100_000))
@example(92)
@example(280)
@example(2869)
def test_with_days_kept_free_and_money_by_year_no_search_finds_a_better_plan(seed: int) -> None:
    """The pieces of a run in each year are placed where days are kept free before its deadline, and
    not at the end of a year."""
    check_against_search(kept_free(seed))


def test_a_plan_s_money_by_year_as_it_is_told_is_enough_for_it() -> None:
    """A third of a run's 72.01 dollars is paid in the first year: 24.0033, told as 24.00."""
    problem = make_problem(
        year_days=(0, 100, 200),
        experiments=(make_experiment("e", "a", 1, 99, 102),),
        rentals=(make_rental("r", "1.0001", {"a": 3.0}),),
    )
    plan = solve(problem)
    told = cents_by_year(problem, plan.purchases, plan.placed)
    assert told == [24_00, 48_01]
    for carry_over in (False, True):
        asked = replace(problem, carry_over=carry_over, year_budget_cents=tuple(told))
        again = solve(asked)
        assert again.cost_cents == plan.cost_cents
        with pytest.raises(NoPlan):
            solve(replace(asked, year_budget_cents=(23_99, 48_01)))


def test_a_machine_that_is_written_off_takes_the_money_of_the_years_of_its_months() -> None:
    """$6,000 over 60 months, of which the grant has 35 from February 2027 on: 11, 12 and 12."""
    problem = make_problem(
        year_days=(0, 365, 731, 1096),
        experiments=(make_experiment("e", "a", 1, 0, 365),),
        machines=(make_machine("m", "6000", {"a": 31.0}),),
        rules=Rules(
            lead_days=45,
            life_months=60,
            grant_months=36,
            overhead_rate=Decimal("0.25"),
            equipment_in_base=True,
        ),
    )
    plan = solve(problem)
    assert plan.cost_cents == 35 * 125_00
    by_month = (11 * 125_00, 12 * 125_00, 12 * 125_00)
    assert cents_by_year(problem, plan.purchases, plan.placed) == list(by_month)
    for carry_over in (False, True):
        asked = replace(problem, carry_over=carry_over, year_budget_cents=by_month)
        assert solve(asked).purchases == plan.purchases
        # With a dollar less in its last year it is not paid, unless some was left over.
        more = by_month[0] if carry_over else 10**7
        with pytest.raises(NoPlan):
            solve(replace(asked, year_budget_cents=(more, by_month[1], by_month[2] - 1_00)))


def test_what_is_bought_beside_a_machine_is_paid_with_its_order() -> None:
    """A warranty of $600 in 2027; the machine by its months. A service is paid whole."""
    extra = MachineExtra(key="costs[1].amount", name="warranty", amount=Decimal(600), apart=True)
    machine = make_machine("m", "6000", {"a": 31.0})
    problem = make_problem(
        year_days=(0, 365, 731, 1096),
        experiments=(make_experiment("e", "a", 1, 0, 365),),
        machines=(machine,),
        rules=Rules(lead_days=45, life_months=60, grant_months=36, machine_extras=(extra,)),
    )
    assert purchase_by_year(problem, machine, 0) == {0: 1_700_00, 1: 1_200_00, 2: 1_200_00}
    # Delivered after the grant: no month of it is charged, what is bought beside it all the same.
    assert purchase_by_year(problem, machine, 1090) == {2: 600_00}
    service = replace(machine, in_base=True, share_of="condo")
    assert set(purchase_by_year(problem, service, 365)) == {1}


def test_a_large_grant_by_thirds_has_a_plan_near_its_bound() -> None:
    """Runs with windows of their own, and for each of three years a third of what they cost where
    it does not matter when that is paid, times 1.6; with 0.4 there is no plan."""
    problem = own_windows(60, allocation=False)
    problem = replace(problem, rules=replace(problem.rules, price_per_kwh=Decimal("0.3")))
    free = solve(problem, 300)
    assert max(cents_by_year(problem, free.purchases, free.placed)) > free.cost_cents // 2

    def by_thirds(share: Decimal) -> PlanningProblem:
        each = int(free.cost_cents * share) // 3
        return replace(problem, carry_over=True, year_budget_cents=(each,) * 3)

    asked = by_thirds(Decimal("1.6"))
    plan = solve(asked, 300)
    check_placement(asked, plan)
    assert within_budgets(asked, plan)
    assert plan.proven or (plan.gap is not None and plan.gap <= 0.1)
    with pytest.raises(NoPlan):
        solve(by_thirds(Decimal("0.4")), 300)
