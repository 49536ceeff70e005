"""Large grants: hundreds of runs, windows of their own, thousands of machines."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from advisor.planning.solver.experiments import merge_alike, widened
from advisor.planning.solver.program import each_machine, packing
from advisor.planning.solver.program.integer_program import Program
from advisor.planning.solver.program.placement import place
from advisor.planning.solver.search_clock import NoPlan, Progress, clock_of
from advisor.planning.solver.solve import solve
from tests.planning.test_plan_solve import check_placement
from tests.plans_for_tests import (
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    own_windows,
    random_problem,
)


def test_like_experiments_are_planned_as_one_and_told_apart() -> None:
    every = tuple(make_experiment(f"e{n}", "a", 2, 0, 365) for n in range(3))
    other = make_experiment("f", "a", 1, 0, 300)
    machine = make_machine("m", "1000", {"a": 60.0})
    problem = make_problem(year_days=(0, 365), experiments=(*every, other), machines=(machine,))
    few = merge_alike(problem)
    assert [e.runs for e in few.problem.experiments] == [6, 1]
    plan = solve(problem)
    done = {e.experiment_id: 0 for e in problem.experiments}
    for placed in plan.placed:
        done[placed.experiment_id] += 1
        assert placed.run == done[placed.experiment_id]
    assert done == {"e0": 2, "e1": 2, "e2": 2, "f": 1}
    assert sum(not p.rented for p in plan.placed) == 7
    again = few.told_apart(few.joined(plan))
    assert again == plan
    # No plan of theirs is dearer than that of one experiment of as many runs.
    assert plan.cost_cents == solve(few.problem).cost_cents


def test_a_plan_leaves_out_the_last_of_like_experiments() -> None:
    every = tuple(make_experiment(f"e{n}", "a", 1, 0, 365) for n in range(3))
    problem = make_problem(
        year_days=(0, 365),
        experiments=every,
        machines=(make_machine("m", "1000", {"a": 150.0}),),
        objective="most-runs",
        budget_cents=1_500_00,
    )
    plan = solve(problem)
    assert plan.runs == 2
    assert plan.left_out == {"e2": 1}


def test_three_hundred_runs_of_a_few_models_have_a_small_gap() -> None:
    """Machines filled to the brim, deadlines within years, rent as the way out."""
    days = {"a": 21.0, "b": 34.0, "c": 55.0}
    machines = tuple(
        make_machine(
            f"m{n}", str(9000 * 1.9**n), {model: each / 1.75**n for model, each in days.items()}
        )
        for n in range(6)
    )
    experiments = tuple(
        make_experiment(
            f"e{n}", "abc"[n % 3], 5, 365 * (n % 5), 365 * (n % 5) + (365 if n % 2 else 270)
        )
        for n in range(60)
    )
    assert sum(e.runs for e in experiments) == 300
    heard: list[Progress] = []
    problem = make_problem(
        year_days=tuple(365 * year for year in range(6)),
        experiments=experiments,
        machines=machines,
        rentals=(make_rental("r", "12", {model: each / 4 for model, each in days.items()}),),
    )
    plan = solve(problem, clock=clock_of(60, on_progress=heard.append))
    assert plan.runs == 300
    assert plan.proven or (plan.gap is not None and plan.gap <= 0.01)
    assert any(said.plan is not None for said in heard)


@pytest.mark.parametrize("allocation", [False, True])
def test_runs_with_windows_of_their_own_have_a_plan_near_a_bound(allocation: bool) -> None:
    problem = own_windows(80, allocation=allocation)
    plan = solve(problem, clock=clock_of(300))
    check_placement(problem, plan)
    assert plan.proven or (plan.gap is not None and plan.gap <= 0.05)
    if allocation:
        year_hours: dict[int, Decimal] = {}
        for placed in plan.placed:
            if placed.machine_id == "g":
                length = Decimal(placed.pieces[0][1] - placed.pieces[0][0])
                hours = year_hours.get(placed.order, Decimal(0))
                year_hours[placed.order] = hours + length * 24 * problem.rentals[1].gpu_count
        assert year_hours and float(max(year_hours.values())) <= 2000 + 1e-6


def test_what_one_machine_has_time_for_fits_on_it_however_many_windows_there_are() -> None:
    problem = own_windows(50, allocation=False)
    machine = make_machine("own", None, {"a": 7.0, "b": 10.5, "c": 16.1}, owned=1)
    experiments = tuple(replace(e, runs=3) for e in problem.experiments)
    program = Program(replace(problem, machines=(machine,), experiments=experiments))
    answer = program.solve(program.judged, 60, gap=0.001)
    assert answer.x is not None and place(program, answer.x)[0] is not None


def test_wider_windows_cost_no_more() -> None:
    for number in range(24):
        random_one = random_problem(number)
        slack = Decimal("0.15") if number % 2 else Decimal(0)
        problem = replace(
            random_one,
            objective="cheapest",
            year_budget_cents=None,
            rules=replace(random_one.rules, slack=slack),
        )
        try:
            cost = solve(problem, settle=False).judged_cents
        except NoPlan:
            continue
        wide = widened(problem, 1)
        assert all(e.release_day <= 100 for e in wide.experiments)
        assert solve(wide, settle=False).judged_cents <= cost


def test_thousands_of_owned_machines_are_no_obstacle() -> None:
    problem = make_problem(
        year_days=(0, 365),
        experiments=(make_experiment("e", "a", 5000, 0, 365),),
        machines=(make_machine("own", None, {"a": 80.0}, owned=4000),),
    )
    plan = solve(problem, clock=clock_of(300))
    assert plan.proven
    assert plan.cost_cents == 0
    assert len(plan.placed) == 5000


def test_a_bound_that_is_no_money_is_not_told_as_money() -> None:
    problem = replace(own_windows(24, allocation=False), objective="most-runs")
    heard: list[Progress] = []
    plan = solve(
        replace(problem, budget_cents=15_000_00), clock=clock_of(300, on_progress=heard.append)
    )
    assert 0 < plan.runs < 24
    assert heard and all(said.bound_usd is None for said in heard)


def test_a_packing_that_was_not_decided_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two machines suffice for these six, and filling them with the longest first does not find it.
    days = (50.0, 40.0, 40.0, 30.0, 20.0, 20.0)
    experiments = tuple(make_experiment(f"e{n}", f"m{n}", 1, 0, 100) for n in range(len(days)))
    machine = make_machine("m", "1000", {f"m{n}": each for n, each in enumerate(days)})
    problem = make_problem(year_days=(0, 100), experiments=experiments, machines=(machine,))
    assert solve(problem).cost_cents == 2 * 1000_00
    monkeypatch.setattr(packing, "MOST_NUMBERS", 0)
    plan = solve(problem, settle=False)
    assert plan.proven and plan.cost_cents == 2 * 1000_00, "each machine by itself"
    monkeypatch.setattr(each_machine, "MOST_COLUMNS", 0)
    plan = solve(problem, settle=False)
    assert not plan.proven
    assert plan.cost_cents == 3 * 1000_00
