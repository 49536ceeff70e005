"""Rules of the solver in small plans: what a limit counts, whose hours a run uses, who must run."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from advisor.planning.solver.problem import Allocation, PlanningProblem, Rules
from advisor.planning.solver.search_clock import NoPlan
from advisor.planning.solver.solve import is_feasible, solve
from tests.plans_for_tests import make_experiment, make_machine, make_problem, make_rental


@pytest.mark.parametrize("queue", ["0", "12"])
def test_days_in_a_queue_are_no_part_of_a_run(queue: str) -> None:
    """A run of 85 days is within 90, though it waits for 12 before it begins."""
    machine = make_machine("m", "5000", {"a": 85.0})
    rental = replace(make_rental("r", "1", {"b": 85.0}), queue_days=Decimal(queue))
    problem = make_problem(
        year_days=(0, 200),
        experiments=(make_experiment("e", "a", 1, 0, 200), make_experiment("f", "b", 1, 0, 200)),
        machines=(machine,),
        rentals=(rental,),
        rules=Rules(longest_run_days=Decimal(90), queue_days=Decimal(queue)),
    )
    assert solve(problem).runs == 2
    limit = replace(problem.rules, longest_run_days=Decimal(84))
    with pytest.raises(NoPlan):
        solve(replace(problem, rules=limit))


def granted(hours: int, *, last_day: int | None) -> PlanningProblem:
    """Three runs of 10 days on 4 GPUs of an allocation that begins in the middle of year 1."""
    rental = replace(make_rental("g", "0", {"a": 10.0}), allocation="x", in_base=False, gpu_count=4)
    allocation = Allocation(
        allocation_id="x",
        name="x",
        gpu_hours_a_year=Decimal(hours),
        first_day=180,
        last_day=last_day,
        year_shares=(Decimal(1), Decimal(1), Decimal("0.1")),
    )
    return make_problem(
        year_days=(0, 365, 730, 766),
        experiments=(
            make_experiment("e", "a", 2, 0, 365),
            make_experiment("f", "a", 1, 400, 540),
        ),
        rentals=(rental,),
        allocations=(allocation,),
    )


def test_an_allocation_of_one_year_is_one_pool_over_the_turn_of_the_award_year() -> None:
    enough = 3 * 10 * 24 * 4
    assert solve(granted(enough, last_day=545)).runs == 3
    with pytest.raises(NoPlan):
        solve(granted(enough - 1, last_day=545))
    # A longer one has its hours in each award year.
    yearly = granted(enough - 1, last_day=None)
    assert solve(yearly).runs == 3
    # Unless they are hours in all.
    (every_year,) = yearly.allocations
    for hours in (enough, enough - 1):
        in_all = replace(every_year, gpu_hours_a_year=None, gpu_hours=Decimal(hours))
        assert is_feasible(replace(yearly, allocations=(in_all,))) is (hours == enough)
