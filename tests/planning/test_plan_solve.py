"""The solver against a search that tries everything, and against plans known by hand."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest

from advisor.planning.solver.problem import Plan, PlanningProblem
from advisor.planning.solver.solve import NoPlan, solve
from tests.plans_for_tests import (
    best_by_trying_everything,
    crowded_problem,
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    random_problem,
    upgradable_problem,
)


def reached(problem: PlanningProblem, plan: Plan) -> tuple[float, ...]:
    if problem.objective == "most-runs":
        return (-plan.value, plan.judged_cents)
    if problem.objective == "soonest":
        return (-(-(plan.finish_day - 1e-6) // 1), plan.judged_cents)
    return (plan.judged_cents,)


def check_against_search(problem: PlanningProblem) -> None:
    best = best_by_trying_everything(problem)
    try:
        plan = solve(problem)
    except NoPlan:
        assert best is None
        return
    assert plan.proven
    assert best is not None
    assert reached(problem, plan) == best
    check_placement(problem, plan)


def check_placement(problem: PlanningProblem, plan: Plan) -> None:
    """Every run is done, whole, inside its window, and no machine does two at once."""
    experiments = {e.experiment_id: e for e in problem.experiments}
    options = {m.machine_id: m for m in problem.machines}
    rentals = {r.rental_id: r for r in problem.rentals}
    lanes: dict[tuple[str, int, int], list[tuple[float, float]]] = {}
    bought_on = {p.machine_id: problem.year_days[p.year] for p in plan.purchases}
    ends = {
        options[name].upgrade_of: day + problem.rules.lead_days for name, day in bought_on.items()
    }
    for p in plan.placed:
        e = experiments[p.experiment_id]
        if p.machine_id in rentals:
            days = rentals[p.machine_id].times[e.model].days
        else:
            machine = options[p.machine_id]
            days = problem.elapsed(machine.times[e.model])
            lanes.setdefault((p.machine_id, p.year, p.unit), []).extend(p.pieces)
            assert p.pieces[-1][1] <= ends.get(p.machine_id, problem.year_days[-1]) + 1e-5
            if p.year >= 0:
                ready = problem.year_days[p.year] + problem.rules.lead_days
                assert p.pieces[0][0] >= ready - 1e-6
        assert sum(end - start for start, end in p.pieces) == pytest.approx(days)
        assert p.pieces[0][0] >= e.release_day - 1e-6
        assert p.pieces[-1][1] <= problem.due(e) + 1e-5
    for pieces in lanes.values():
        pieces.sort()
        for before, after in pairwise(pieces):
            assert before[1] <= after[0] + 1e-6
    for e in problem.experiments:
        done = sum(p.experiment_id == e.experiment_id for p in plan.placed)
        assert done == e.runs - plan.left_out.get(e.experiment_id, 0)
    bought = {(p.machine_id, p.year): p.count for p in plan.purchases}
    for machine_id, year, unit in lanes:
        owned = options[machine_id].owned
        assert unit <= (owned or bought[machine_id, year])


@pytest.mark.parametrize("block", range(10))
def test_no_search_finds_a_better_plan(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        check_against_search(random_problem(seed))


@pytest.mark.parametrize("block", range(4))
def test_no_search_finds_a_better_plan_where_machines_are_packed(block: int) -> None:
    for seed in range(block * 15, block * 15 + 15):
        check_against_search(crowded_problem(seed))


@pytest.mark.parametrize("block", range(4))
def test_no_search_finds_a_better_plan_where_a_machine_may_be_upgraded(block: int) -> None:
    upgraded = 0
    for seed in range(block * 30, block * 30 + 30):
        problem = upgradable_problem(seed)
        check_against_search(problem)
        with suppress(NoPlan):
            upgraded += any(p.machine_id.startswith("more") for p in solve(problem).purchases)
    assert upgraded > 3


def test_plans_of_like_problems_change_no_answer() -> None:
    """With known plans, good or bad, the same is proven as without."""
    problems = [replace(random_problem(seed), objective="cheapest") for seed in range(60)]
    for problem in problems:
        dearer = replace(problem, rules=replace(problem.rules, utilisation=Decimal("0.7")))
        try:
            plan, other = solve(problem), solve(dearer)
        except NoPlan:
            continue
        again = solve(problem, known=(other, plan))
        assert (again.judged_cents, again.proven) == (plan.judged_cents, True)


def test_a_failed_packing_is_learnt_from() -> None:
    """In some of these the days suffice by their sum, and no way of packing them does."""
    plans = []
    for seed in range(30):
        try:
            plans.append(solve(crowded_problem(seed)))
        except NoPlan:
            continue
    assert any(plan.rounds > 1 for plan in plans)
    assert all(plan.proven for plan in plans)


def test_the_owned_machine_is_used_before_money() -> None:
    problem = make_problem(
        experiments=(make_experiment("e", "a", 1, 0, 100),),
        machines=(make_machine("own", None, {"a": 90.0}), make_machine("buy", "1", {"a": 1.0})),
    )
    plan = solve(problem)
    assert plan.cost_cents == 0
    assert plan.placed[0].machine_id == "own"


def test_overhead_decides_between_equipment_and_cloud() -> None:
    """$10,000 of equipment outside the base against $8,000 of cloud inside it."""
    problem = make_problem(
        experiments=(make_experiment("e", "a", 1, 0, 100),),
        machines=(make_machine("buy", "10000", {"a": 50.0}),),
        rentals=(make_rental("rent", "10.00", {"a": 100 / 3}),),
    )
    rules = replace(
        problem.rules, overhead_rate=Decimal("0.5"), equipment_threshold_usd=Decimal(5000)
    )
    assert solve(problem).rented
    assert solve(replace(problem, rules=rules)).purchases
    assert solve(replace(problem, rules=replace(rules, cloud_in_base=False))).rented
    assert solve(
        replace(problem, rules=replace(rules, equipment_threshold_usd=Decimal(20000)))
    ).rented


def test_a_rented_run_may_start_in_a_later_year_to_meet_that_year_s_money() -> None:
    problem = make_problem(
        year_days=(0, 100, 200),
        experiments=(make_experiment("e", "a", 2, 0, 200),),
        rentals=(make_rental("rent", "1.00", {"a": 10.0}),),
        year_budget_cents=(300_00, 300_00),
        carry_over=False,
    )
    assert sorted(r.year for r in solve(problem).rented) == [0, 1]


def test_the_soonest_finish_takes_the_money_there_is() -> None:
    problem = make_problem(
        experiments=(make_experiment("e", "a", 4, 0, 100),),
        machines=(make_machine("buy", "1000", {"a": 20.0}),),
        objective="soonest",
        budget_cents=2500_00,
    )
    assert solve(problem).finish_day == pytest.approx(40)
    richer = solve(replace(problem, budget_cents=4000_00))
    assert (richer.finish_day, richer.cost_cents) == (pytest.approx(20), 4000_00)


def test_most_runs_leaves_out_what_counts_least() -> None:
    problem = make_problem(
        experiments=(
            make_experiment("dear", "a", 1, 0, 100, value=3),
            make_experiment("cheap", "b", 2, 0, 100),
        ),
        machines=(make_machine("buy", "1000", {"a": 90.0, "b": 45.0}),),
        objective="most-runs",
        budget_cents=1000_00,
    )
    plan = solve(problem)
    assert plan.left_out == {"cheap": 2}
    assert (plan.runs, plan.value) == (1, 3)


def test_nothing_works() -> None:
    problem = make_problem(experiments=(make_experiment("e", "a", 1, 0, 100),))
    with pytest.raises(NoPlan):
        solve(problem)


def test_an_answer_is_the_same_every_time() -> None:
    problem = crowded_problem(7)
    assert solve(problem) == solve(problem)


def test_what_machines_keep_can_count() -> None:
    """A dear machine that lasts is judged by what it loses; what is paid stays whole."""
    problem = make_problem(
        year_days=(0, 365),
        experiments=(make_experiment("e", "a", 1, 0, 365),),
        machines=(make_machine("buy", "10000", {"a": 10.0}),),
        rentals=(make_rental("rent", "25.00", {"a": 10.0}),),
    )
    assert solve(problem).rented
    kept = replace(problem, rules=replace(problem.rules, lifetime_years=Decimal(5)))
    plan = solve(kept)
    assert plan.purchases
    assert (plan.cost_cents, plan.judged_cents) == (10000_00, 2000_00)
    with pytest.raises(NoPlan):
        solve(replace(kept, budget_cents=5000_00))
