"""The solver against a search that tries everything, and against plans known by hand."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

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
