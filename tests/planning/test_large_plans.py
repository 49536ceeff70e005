"""Large grants: like experiments as one, rows that packing needs, and a gap that is stated."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import floor
from typing import Any

import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.solver import counted_spans, large, schedule
from advisor.planning.solver.alike import alike
from advisor.planning.solver.filling import dealing
from advisor.planning.solver.large import Learnt, large_plan, strengthened
from advisor.planning.solver.milp import Program
from advisor.planning.solver.one_by_one import dealt_one_by_one
from advisor.planning.solver.packing_rows import broken_rows, whole_sets
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.relaxation import Relaxation
from advisor.planning.solver.rest_rented import with_rest_rented
from advisor.planning.solver.search_clock import NoPlan, Progress, clock_of
from advisor.planning.solver.solve import solve
from tests.plans_for_tests import (
    every_random_problem,
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    random_problem,
)


@settings(deadline=None)
@given(st.lists(st.floats(0.11, 1.0), min_size=1, max_size=4, unique=True))
def test_the_sets_of_runs_on_one_machine_are_all_that_fit(sizes: list[float]) -> None:
    ordered = tuple(sorted(sizes, reverse=True))
    large, sets = whole_sets(ordered)
    assert large == len(ordered)
    kept = {tuple(int(n) for n in row) for row in sets}
    for tried in product(*(range(floor(1 / size) + 1) for size in ordered)):
        if sum(n * size for n, size in zip(tried, ordered, strict=True)) <= 1:
            assert any(all(a <= b for a, b in zip(tried, one, strict=True)) for one in kept)


def test_no_relaxation_is_given_more_time_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    linprog = scipy.optimize.linprog

    def noted(*words: Any, **more: Any) -> Any:
        if len(words[0]) == len(program.cost):  # not the small ones, of rows to learn
            given.append(more["options"]["time_limit"])
        return linprog(*words, **more)

    monkeypatch.setattr(scipy.optimize, "linprog", noted)
    program, clock = Program(random_problem(5)), clock_of(5)
    Relaxation(program, program.judged, clock).solve()
    strengthened(program, program.judged, Learnt(), clock)
    assert len(given) >= 2
    assert max(given) <= 5


def test_runs_need_whole_machines_where_few_fit_on_one() -> None:
    learnt = Learnt()
    mixed = make_problem(
        year_days=(0, 365),
        experiments=(make_experiment("e", "a", 4, 0, 365), make_experiment("f", "b", 4, 0, 365)),
        machines=(make_machine("m", "1000", {"a": 146.0, "b": 110.0}),),
    )
    program = Program(mixed)
    weak = Relaxation(program, program.judged, clock_of(20)).solve()
    strong = strengthened(program, program.judged, learnt, clock_of(20)).solve()
    # One machine does two runs in a year, or three of the short ones: 2.8 machines by days.
    assert weak.x[program.count["m", 0]] == pytest.approx(1024 / 365)
    assert strong.x[program.count["m", 0]] == pytest.approx(4 / 2 + 4 / 3)
    assert learnt.rows
    assert not list(broken_rows(program.rooms, strong.x))


def test_like_experiments_are_planned_as_one_and_told_apart() -> None:
    every = tuple(make_experiment(f"e{n}", "a", 2, 0, 365) for n in range(3))
    other = make_experiment("f", "a", 1, 0, 300)
    machine = make_machine("m", "1000", {"a": 60.0})
    problem = make_problem(year_days=(0, 365), experiments=(*every, other), machines=(machine,))
    few = alike(problem)
    assert few is not None
    assert [e.runs for e in few.problem.experiments] == [6, 1]
    plan = solve(problem)
    done = {e.experiment_id: 0 for e in problem.experiments}
    for placed in plan.placed:
        done[placed.experiment_id] += 1
        assert placed.run == done[placed.experiment_id]
    assert done == {"e0": 2, "e1": 2, "e2": 2, "f": 1}
    assert sum(w.runs for w in plan.work) == 7
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
    plan = solve(problem, clock=clock_of(60, hear=heard.append))
    assert plan.runs == 300
    assert plan.proven or (plan.gap is not None and plan.gap <= 0.01)
    assert any(said.plan is not None for said in heard)


def test_dealing_to_machines_one_by_one_packs() -> None:
    days = {"a": 100.0, "b": 70.0}
    problem = make_problem(
        year_days=(0, 365, 730),
        experiments=(
            make_experiment("e", "a", 4, 0, 365),
            make_experiment("f", "b", 8, 0, 730),
            make_experiment("g", "a", 3, 200, 730),
        ),
        machines=(make_machine("m", "3000", days),),
        rentals=(make_rental("r", "5", days),),
    )
    program = Program(problem)
    counts = [0.0] * len(program.cost)
    counts[program.count["m", 0]] = 2.0
    found = dealt_one_by_one(program, program.judged, counts, clock_of(20))
    assert found is not None
    cost, plan = found
    assert [p.count for p in plan.purchases] == [2]
    assert plan.runs == 15
    assert round(cost * 100) == plan.judged_cents
    best, bound = large_plan(program, program.judged, clock_of(20), Learnt())
    assert best is not None and bound is not None
    assert bound <= best[0] + 1e-6
    assert best[0] <= cost + 1e-6


def test_with_few_of_the_intervals_the_best_plan_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problems = list(every_random_problem(12))
    whole = [cost_of(problem) for problem in problems]
    monkeypatch.setattr(counted_spans, "MOST_INTERVALS", 1)
    monkeypatch.setattr(counted_spans, "SOME_MOMENTS", 1)
    assert [cost_of(problem) for problem in problems] == whole


def cost_of(problem: PlanningProblem) -> tuple[int, float] | None:
    """What its plan costs and how much it leaves out; None where there is none."""
    try:
        plan = solve(problem, settle=False)
    except NoPlan:
        return None
    assert plan.proven
    return plan.judged_cents, plan.value


def test_what_finds_no_place_on_a_machine_is_rented() -> None:
    problem = make_problem(
        year_days=(0, 365),
        experiments=(make_experiment("e", "a", 3, 0, 365),),
        machines=(make_machine("m", "1000", {"a": 150.0}),),
        rentals=(make_rental("dear", "3", {"a": 100.0}), make_rental("cheap", "1", {"a": 100.0})),
    )
    program = Program(problem)
    counts = [0.0] * len(program.cost)
    counts[program.count["m", 0]] = 1.0
    counts[program.work["e", "m", 0]] = 3.0
    found = with_rest_rented(program, counts)
    assert found is not None
    assert found[program.work["e", "m", 0]] == 2
    rented = {key[1]: found[column] for key, column in program.rent.items() if found[column]}
    assert rented == {"cheap": 1}
    nothing = Program(replace(problem, rentals=()))
    assert with_rest_rented(nothing, [*counts[: len(nothing.cost)]]) is None


def test_a_packing_that_was_not_decided_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two machines suffice for these six, and filling them with the longest first does not find it.
    days = (50.0, 40.0, 40.0, 30.0, 20.0, 20.0)
    experiments = tuple(make_experiment(f"e{n}", f"m{n}", 1, 0, 100) for n in range(len(days)))
    machine = make_machine("m", "1000", {f"m{n}": each for n, each in enumerate(days)})
    problem = make_problem(year_days=(0, 100), experiments=experiments, machines=(machine,))
    assert solve(problem).cost_cents == 2 * 1000_00
    monkeypatch.setattr(schedule, "MOST_NUMBERS", 0)
    plan = solve(problem, settle=False)
    assert not plan.proven
    assert plan.cost_cents == 3 * 1000_00


def test_machines_of_which_the_relaxation_has_a_part_alone_are_bought_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The money of the second year rents seven runs of ten, and a third of a machine does three."""
    days = {"a": 30.0}
    problem = make_problem(
        year_days=(0, 365, 730),
        experiments=(make_experiment("e", "a", 10, 365, 730),),
        machines=(make_machine("m", "3800", days),),
        rentals=(make_rental("r", "0.5", days),),
        year_budget_cents=(4_000_00, 2_500_00),
        carry_over=False,
        paid_early=True,
    )
    program = Program(problem)
    monkeypatch.setattr(large, "ROUNDS", 0)
    best, _ = large_plan(program, program.judged, clock_of(20), Learnt())
    assert best is not None
    assert [p.count for p in best[1].purchases] == [1]


def test_a_deal_that_lacks_money_says_how_much() -> None:
    """It is dealt on: it may be found cheaper."""
    days = {"a": 150.0}
    problem = make_problem(
        year_days=(0, 365),
        experiments=(make_experiment("e", "a", 3, 0, 365),),
        machines=(make_machine("m", "1000", days),),
        rentals=(make_rental("r", "1", days),),
        budget_cents=10_000_00,
    )
    costs = []
    for budget in (10_000_00, 4_000_00):
        program = Program(replace(problem, budget_cents=budget))
        x = [0.0] * len(program.cost)
        x[program.count["m", 0]] = 1.0
        deal = dealing(program, program.judged, x)
        assert deal is not None
        deal.refill(clock_of(5), 10)
        found = deal.plan()
        assert found is not None
        cost, plan = found
        assert (plan is not None) is (budget == 10_000_00)
        costs.append(cost)
    # Two runs on the machine, one rented for 150 days.
    assert costs == pytest.approx([4_600, 4_600 + 600])
