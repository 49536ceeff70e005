"""GPUs that the lab has and a plan leaves unused are told of, with the reason."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from advisor.planning.solver.problem import Allocation, PlanningProblem, Rules
from advisor.planning.solver.solve import solve
from advisor.planning.unused_gpus import unused_gpus, unused_line
from tests.plans_for_tests import make_experiment, make_machine, make_problem, make_rental, part_of

LAB = replace(
    make_machine("owned:1:a6000:3", None, {}, gpu_count=3), label="3 × A6000 (owned)", owned=1
)


def lab(**runs_of: int) -> PlanningProblem:
    """Three cards, of which a run takes two: nobody timed three, nor one."""
    return make_problem(
        year_days=(0, 365),
        experiments=tuple(make_experiment(m, m, runs, 0, 365) for m, runs in runs_of.items()),
        machines=(LAB, part_of(LAB, 2, {"a": 100.0})),
        rentals=(make_rental("r", "2", {"a": 30.0, "b": 30.0}),),
    )


def told(problem: PlanningProblem) -> list[str]:
    return [unused_line(each) for each in unused_gpus(problem, solve(problem))]


def test_a_card_that_no_run_is_timed_on_is_told_of() -> None:
    assert told(lab(a=3)) == [
        "Unused: 1 of the 3 GPUs of 3 × A6000, since no time is known for a run on it."
    ]


def test_machines_of_which_none_is_needed() -> None:
    one = make_machine("owned:1:x:1", None, {"a": 100.0}, label="1 × X (owned)", owned=3)
    problem = replace(lab(a=2), machines=(one,))
    (enough,) = told(problem)
    assert enough.endswith("since the runs need no more.")
    dear = replace(problem, rules=Rules(price_per_kwh=Decimal(50)))
    assert told(dear) == [
        "Unused: 3 GPUs of 3 × (1 × X), since work on them would not make the plan cheaper."
    ]


@pytest.mark.parametrize(
    ("days", "reason"),
    [
        (400.0, "a run on them takes 400 days or more, which is after its deadline"),
        (
            340.0,
            "a run on them takes 340 days or more, and 15 % of the days before every deadline "
            "stay free. slack under [running] changes that",
        ),
        (
            148.0,
            "a run on them takes 148 days or more, and no run may take more than 90 days. "
            "longest_run_days under [running] changes that",
        ),
        (30.0, None),
    ],
)
def test_a_machine_that_is_too_slow(days: float, reason: str | None) -> None:
    slow = make_machine("owned:1:x:2", None, {"a": days}, label="2 × X (owned)", gpu_count=2)
    rules = Rules(slack=Decimal("0.15"), longest_run_days=Decimal(90))
    found = told(replace(lab(a=1), machines=(slow,), rules=rules))
    assert found == ([] if reason is None else [f"Unused: 2 GPUs of 2 × X, since {reason}."])


def test_a_paid_run_that_is_too_slow_for_them_is_the_reason() -> None:
    """Though another run, which costs nothing elsewhere, would fit."""
    own = make_machine("owned:1:x:2", None, {"a": 100.0, "b": 9.0}, label="2 × X (owned)")
    free = replace(make_rental("free", "0", {"b": 9.0}), allocation="hours")
    problem = replace(lab(a=1, b=1), machines=(replace(own, gpu_count=2),))
    problem = replace(
        problem,
        rentals=(*problem.rentals, free),
        allocations=(Allocation(allocation_id="hours", name="Hours", gpu_hours_a_year=None),),
        rules=Rules(longest_run_days=Decimal(90), price_per_kwh=Decimal(1)),
    )
    assert told(problem) == [
        "Unused: 2 GPUs of 2 × X, since a run of a on them takes 100 days or more, and no run may "
        "take more than 90 days. longest_run_days under [running] changes that."
    ]
