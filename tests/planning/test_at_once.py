"""How many of a rented machine run at the same time, whoever's runs they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from advisor.planning.solver.plan import Placed, Plan
from advisor.planning.solver.rentals import instances_at_once
from advisor.planning.solver.solve import solve
from tests.plans_for_tests import make_experiment, make_problem, make_rental


def most_at_once(placed: Sequence[Placed]) -> int:
    """By counting on every day that a run begins."""
    pieces = [each.pieces[0] for each in placed]
    return max(sum(a <= day < b for a, b in pieces) for day, _ in pieces)


def check(plan: Plan) -> None:
    for name in {each.rental_id for each in plan.rented}:
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
        )
        for n, (low, days) in enumerate(spans)
    ]
    found = instances_at_once(placed, {"cloud"})
    assert [each.experiment_id for each in found] == [each.experiment_id for each in placed]
    assert max(each.unit for each in found) == most_at_once(placed)
    for unit in {each.unit for each in found}:
        runs = sorted(each.pieces[0] for each in found if each.unit == unit)
        assert all(a[1] <= b[0] for a, b in pairwise(runs))
    assert instances_at_once(placed, {"another"}) == placed
