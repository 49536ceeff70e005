"""How many of a rented machine run at the same time, whoever's runs they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from advisor.planning.solver.check_plan import broken_rule
from advisor.planning.solver.plan import Placed, Plan
from advisor.planning.solver.rentals import instances_at_once
from advisor.planning.solver.solve import solve
from tests.plans_for_tests import make_experiment, make_problem, make_rental


def most_at_once(placed: Sequence[Placed]) -> int:
    """By counting on every day that a run begins."""
    pieces = [each.pieces[0] for each in placed]
    return max(sum(a <= day < b for a, b in pieces) for day, _ in pieces)


def check(plan: Plan) -> None:
    for name in plan.rented:
        mine = [each for each in plan.placed if each.machine_id == name]
        assert plan.at_once(name) == most_at_once(mine)
        for unit in {each.unit for each in mine}:
            runs = sorted(each.pieces[0] for each in mine if each.unit == unit)
            assert all(a[1] <= b[0] + 1e-6 for a, b in pairwise(runs))


def test_runs_of_two_experiments_take_two_instances() -> None:
    """And so do those that go on over the turn of a year; one after the other they share one."""
    rental = make_rental("cloud", "1", {"a": 20.0, "b": 30.0})
    for windows, most in (
        (((0, 20), (0, 30)), 5),
        (((0, 20), (20, 50)), 3),
        (((85, 105), (95, 125)), 5),
    ):
        a, b = windows
        experiments = (make_experiment("a", "a", 2, *a), make_experiment("b", "b", 3, *b))
        plan = solve(
            make_problem(experiments=experiments, rentals=(rental,), year_days=(0, 100, 200))
        )
        assert plan.at_once("cloud") == most
        check(plan)


def test_short_rents_are_one_after_the_other() -> None:
    """No second instance is needed for what one does within a month."""
    for days, due, most in ((5.0, 200, 1), (5.0, 10, 2), (10.0, 200, 4)):
        rental = make_rental("cloud", "1", {"a": days})
        experiments = (make_experiment("a", "a", 4, 0, due),)
        plan = solve(make_problem(experiments=experiments, rentals=(rental,), year_days=(0, 200)))
        assert plan.at_once("cloud") == most
        check(plan)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), min_size=1, max_size=12))
def test_as_few_instances_as_run_at_once(spans: list[tuple[int, int]]) -> None:
    placed = [
        Placed(
            experiment_id=f"e{n}",
            run=1,
            machine_id="cloud",
            order=low // 50,
            unit=1,
            pieces=((float(low), float(low + days)),),
            rented=True,
        )
        for n, (low, days) in enumerate(spans)
    ]
    found = instances_at_once(placed)
    assert [each.experiment_id for each in found] == [each.experiment_id for each in placed]
    assert max(each.unit for each in found) == most_at_once(placed)
    for unit in {each.unit for each in found}:
        runs = sorted(each.pieces[0] for each in found if each.unit == unit)
        assert all(a[1] <= b[0] for a, b in pairwise(runs))


@given(
    st.lists(st.tuples(st.integers(0, 90), st.integers(1, 120)), min_size=5, max_size=9),
    st.floats(0.1, 30),
)
def test_many_runs_follow_one_another_as_far_as_their_deadlines_let_them(
    spans: list[tuple[int, int]], days: float
) -> None:
    """Where all may start on the first day, as many instances as a deadline needs."""
    experiments = tuple(
        make_experiment(f"e{n}", "a", 1, low, min(low + length, 99))
        for n, (low, length) in enumerate(spans)
        if min(low + length, 99) - low >= days
    )
    rental = make_rental("cloud", "1", {"a": days})
    if not experiments:
        return
    problem = make_problem(experiments=experiments, rentals=(rental,), year_days=(0, 100))
    plan = solve(problem)
    assert broken_rule(problem, plan) is None
    check(plan)
    if all(e.release_day == 0 for e in experiments):  # then the nearest deadline first is best
        due = sorted(e.due_day for e in experiments)
        most = max(n / (end // days) for n, end in enumerate(due, start=1))
        assert plan.at_once("cloud") <= max(4, ceil(most))
