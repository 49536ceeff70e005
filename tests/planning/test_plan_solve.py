"""The solver against a search that tries everything, and against plans known by hand."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from advisor.planning.solver.money.cents import cents_by_year, within_year_budgets
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem, Rules
from advisor.planning.solver.search_clock import NoPlan
from advisor.planning.solver.solve import solve
from tests.plans_for_tests import (
    best_by_trying_everything,
    crowded_problem,
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    plan_or_none,
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
    best, plan = best_by_trying_everything(problem), plan_or_none(problem)
    if plan is None or best is None:
        assert plan is best is None
        return
    assert plan.proven
    assert reached(problem, plan) == best
    check_placement(problem, plan)
    paid = cents_by_year(problem, plan.purchases, plan.placed)
    assert sum(paid) == plan.cost_cents
    assert within_year_budgets(problem, paid)


def check_placement(problem: PlanningProblem, plan: Plan) -> None:
    """Every run is done, whole, inside its window, and no machine does two at once."""
    experiments = {e.experiment_id: e for e in problem.experiments}
    options = {m.machine_id: m for m in problem.machines}
    rentals = {r.rental_id: r for r in problem.rentals}
    lanes: dict[tuple[str, int, int], list[tuple[float, float]]] = {}
    bought_on = {p.machine_id: problem.orders[p.order] for p in plan.purchases}
    ends = {
        options[name].upgrade_of: day + problem.rules.lead_days for name, day in bought_on.items()
    }
    for p in plan.placed:
        e = experiments[p.experiment_id]
        if p.machine_id in rentals:
            days = problem.rented_days(rentals[p.machine_id], e.model)
            assert p.pieces[0][0] >= problem.year_days[p.order] - 1e-6
            assert p.pieces[0][0] < problem.year_days[p.order + 1] - 1e-3
        else:
            machine = options[p.machine_id]
            days = problem.elapsed(machine.times[e.model])
            lanes.setdefault((p.machine_id, p.order, p.unit), []).extend(p.pieces)
            assert p.pieces[-1][1] <= ends.get(p.machine_id, problem.year_days[-1]) + 1e-5
            if p.order >= 0:
                ready = problem.orders[p.order] + problem.rules.lead_days
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
    bought = {(p.machine_id, p.order): p.count for p in plan.purchases}
    for machine_id, year, unit in lanes:
        if options[machine_id].part_of is None:
            owned = options[machine_id].owned
            assert unit <= (owned or bought[machine_id, year])


@pytest.mark.parametrize("block", range(2))
def test_no_search_finds_a_better_plan(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        check_against_search(random_problem(seed))


@pytest.mark.parametrize("block", range(3))
def test_no_search_finds_a_better_plan_where_each_year_has_its_rate(block: int) -> None:
    changes = [("0", "0"), ("-0.9", "1"), ("1", "-0.9")][block]
    for seed in range(block * 20, block * 20 + 20):
        problem = random_problem(seed)
        rates = [Decimal(each) / 10 for each in (9, 0, 4)]
        days = problem.year_days[:-1]
        rules = replace(
            problem.rules,
            year_overhead=tuple(zip(days, rates[: len(days)], strict=True)),
            equipment_in_base=bool(seed % 2),
            price_change=Decimal(changes[0]),
            rent_change=Decimal(changes[1]),
        )
        check_against_search(replace(problem, rules=rules))


@pytest.mark.parametrize("block", range(2))
def test_no_search_finds_a_better_plan_where_machines_are_packed(block: int) -> None:
    for seed in range(block * 10, block * 10 + 10):
        check_against_search(crowded_problem(seed))


@pytest.mark.parametrize("block", range(2))
def test_no_search_finds_a_better_plan_where_a_machine_may_be_upgraded(block: int) -> None:
    upgraded = 0
    for seed in range(block * 15, block * 15 + 15):
        problem = upgradable_problem(seed)
        check_against_search(problem)
        with suppress(NoPlan):
            upgraded += any(p.machine_id.startswith("more") for p in solve(problem).purchases)
    assert upgraded


def test_plans_of_like_problems_change_no_answer() -> None:
    """With known plans, good or bad, the same is proven as without."""
    problems = [replace(random_problem(seed), objective="cheapest") for seed in range(20)]
    for problem in problems:
        dearer = replace(problem, rules=replace(problem.rules, utilisation=Decimal("0.7")))
        try:
            plan, other = solve(problem), solve(dearer)
        except NoPlan:
            continue
        again = solve(problem, known=(other, plan))
        assert (again.judged_cents, again.proven) == (plan.judged_cents, True)


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
    rules = replace(problem.rules, overhead_rate=Decimal("0.5"), equipment_threshold=Decimal(5000))
    assert solve(problem).rented
    assert solve(replace(problem, rules=rules)).purchases
    assert solve(replace(problem, rules=replace(rules, cloud_in_base=False))).rented
    assert solve(replace(problem, rules=replace(rules, equipment_threshold=Decimal(20000)))).rented


def test_a_rented_run_may_start_in_a_later_year_to_meet_that_year_s_money() -> None:
    problem = make_problem(
        year_days=(0, 100, 200),
        experiments=(make_experiment("e", "a", 2, 0, 200),),
        rentals=(make_rental("rent", "1.00", {"a": 10.0}),),
        year_budget_cents=(300_00, 300_00),
        carry_over=False,
    )
    plan = solve(problem)
    paid = cents_by_year(problem, plan.purchases, plan.placed)
    assert sum(paid) == plan.cost_cents == 480_00
    assert max(paid) <= 300_00


def year_money(**changes: Any) -> PlanningProblem:
    """One machine of the lab, at $1 an hour, over two years of 100 days; two runs of 36 days."""
    given: dict[str, Any] = {
        "year_days": (0, 100, 200),
        "experiments": (make_experiment("e", "a", 2, 0, 200),),
        "machines": (make_machine("own", None, {"a": 36.0}),),
        "rules": Rules(price_per_kwh=Decimal(1)),
        "carry_over": False,
    }
    return make_problem(**(given | changes))


def test_a_run_s_money_counts_in_the_year_in_which_it_runs() -> None:
    """Both can run in the second year, whose money is enough, though both may start in the
    first; and a year of $1 pays for none."""
    late = year_money(year_budget_cents=(100, 2000_00))
    plan = solve(late)
    paid = cents_by_year(late, plan.purchases, plan.placed)
    assert (plan.proven, sum(paid), paid[0] <= 100) == (True, 2 * 864_00, True)
    with pytest.raises(NoPlan):
        solve(year_money(year_budget_cents=(100, 100)))
    with pytest.raises(NoPlan):
        solve(year_money(year_budget_cents=(864_00, 100)))
    early = solve(year_money(year_budget_cents=(2000_00, 100), carry_over=True))
    assert early.finish_day == pytest.approx(72)


def test_a_run_that_goes_on_into_another_year_is_paid_in_both() -> None:
    problem = year_money(
        experiments=(make_experiment("e", "a", 1, 70, 200),), year_budget_cents=(700_00, 200_00)
    )
    plan = solve(problem)
    paid = cents_by_year(problem, plan.purchases, plan.placed)
    assert sum(paid) == 864_00
    assert paid[0] <= 700_00
    assert paid[1] <= 200_00
    rented = replace(problem, machines=(), rentals=(make_rental("rent", "1.00", {"a": 36.0}),))
    plan = solve(rented)
    paid = cents_by_year(rented, plan.purchases, plan.placed)
    assert (sum(paid), paid[1] <= 200_00, paid[0] <= 700_00) == (864_00, True, True)
    with pytest.raises(NoPlan):
        solve(replace(rented, year_budget_cents=(500_00, 300_00)))


def test_ties_go_to_the_earlier_finish_the_earlier_purchase_and_fewer_machines() -> None:
    """A year later costs the same; so does a machine that is done later."""
    problem = make_problem(
        year_days=(0, 100, 200),
        experiments=(make_experiment("e", "a", 2, 100, 200),),
        machines=(make_machine("buy", "1000", {"a": 40.0}),),
        rules=Rules(lead_days=10),
    )
    plan = solve(problem)
    assert [(p.order, p.count) for p in plan.purchases] == [(0, 1)]
    assert plan.finish_day == pytest.approx(180)
    free = replace(
        problem,
        experiments=(make_experiment("e", "a", 2, 0, 200),),
        machines=(make_machine("own", None, {"a": 40.0}, owned=2),),
    )
    assert solve(free).finish_day == pytest.approx(40)


def test_a_rented_run_that_may_start_in_any_year_starts_in_the_first() -> None:
    """What is rented each year decides when all is over: the rest has no reason to wait."""
    years = (0, 100, 200, 300)
    problem = make_problem(
        year_days=years,
        experiments=(
            *(make_experiment(f"y{n}", "a", 1, years[n], years[n + 1]) for n in range(3)),
            make_experiment("any", "b", 2, 0, 300),
        ),
        rentals=(
            make_rental("rent", "2", {"a": 20.0, "b": 90.0}),
            make_rental("fast", "8", {"a": 16.0, "b": 14.0}),
        ),
    )
    plan = solve(problem)
    assert plan.proven
    assert plan.finish_day == pytest.approx(220)
    starts = [(p.order, p.pieces[0][0]) for p in plan.placed if p.experiment_id == "any"]
    assert sorted(starts) == [(0, 0), (0, 14)]


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
