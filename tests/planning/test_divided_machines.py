"""Machines that runs share, against a search that tries every division of their GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.solver import two_stage
from advisor.planning.solver.problem import PlanningProblem, Rules
from advisor.planning.solver.search_clock import clock_of
from advisor.planning.solver.solve import solve
from tests.planning.test_plan_solve import check_placement
from tests.plans_for_tests import (
    best_by_trying_everything,
    check_bound,
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    part_of,
)


def divided_problem(seed: int) -> tuple[PlanningProblem, dict[int, dict[str, float]]]:
    """A machine of the lab with three GPUs, of which runs may use some, beside a rented one; and
    how long runs take on how many of its GPUs."""
    random = Random(seed)
    days = {
        gpus: {m: round(random.uniform(20, 60) / gpus**0.9, 1) for m in "ab"} for gpus in (1, 2, 3)
    }
    own = make_machine("own", None, days[3], gpu_count=3)
    experiments = tuple(
        make_experiment(f"e{n}", random.choice("ab"), random.randint(1, 2), low, low + length)
        for n, (low, length) in enumerate(
            (random.choice([0, 20]), random.choice([40, 60, 80])) for _ in range(2)
        )
    )
    problem = make_problem(
        experiments=experiments,
        machines=(own, part_of(own, 1, days[1]), part_of(own, 2, days[2])),
        rentals=(make_rental("rent", "9", {m: random.uniform(10, 20) for m in "ab"}),),
        rules=Rules(),
    )
    return problem, days


def undivided(
    problem: PlanningProblem, days: dict[int, dict[str, float]]
) -> Iterator[PlanningProblem]:
    """The same with every division of the machine, its parts as machines of their own."""
    for parts in ((3,), (2, 1), (1, 1, 1)):
        machines = tuple(make_machine(f"p{n}", None, days[g]) for n, g in enumerate(parts))
        yield replace(problem, machines=machines)


@pytest.mark.parametrize("large", [2000, -1])
@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000))
def test_no_plan_with_any_division_is_better(large: int, seed: int) -> None:
    problem, days = divided_problem(seed)
    best = min(
        found[0] for each in undivided(problem, days) if (found := best_by_trying_everything(each))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_stage, "LARGE", large)
        plan = solve(problem, clock=clock_of(300))
    check_bound(plan, best)
    assert plan.proven or large < 0
    check_placement(problem, plan)
    taken = {(p.machine_id, p.unit) for p in plan.placed if p.machine_id != "rent"}
    gpus = {m.machine_id: m.gpu_count for m in problem.machines}
    assert sum(gpus[machine_id] for machine_id, _ in taken) <= 3


def test_each_gpu_of_a_machine_takes_a_run_of_its_own() -> None:
    """Four runs, each of which takes one GPU of four for all its window: none is rented."""
    own = make_machine("own", None, {"b": 1.0}, gpu_count=4)
    problem = make_problem(
        experiments=(make_experiment("e", "a", 4, 0, 100),),
        machines=(own, part_of(own, 1, {"a": 100.0}), part_of(own, 2, {"a": 90.0})),
        rentals=(make_rental("rent", "9", {"a": 10.0}),),
    )
    plan = solve(problem)
    assert plan.cost_cents == 0
    assert len({(p.machine_id, p.unit) for p in plan.placed}) == 4
