"""Machines divided into parts, and bounds, against a search that tries everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.solver import dividing
from advisor.planning.solver.dividing import Divided
from advisor.planning.solver.filling import Deal
from advisor.planning.solver.large import Learnt, large_plan
from advisor.planning.solver.milp import Program
from advisor.planning.solver.problem import Machine, PlanningProblem, Rules
from advisor.planning.solver.search_clock import Clock, NoPlan, clock_of
from tests.planning.test_plan_solve import check_placement
from tests.plans_for_tests import (
    best_by_trying_everything,
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
    random_problem,
)

CENT = 0.01


def part_of(whole: Machine, gpus: int, days: dict[str, float]) -> Machine:
    part = make_machine(f"{whole.machine_id}:{gpus}", None, days, gpu_count=gpus, owned=0)
    return replace(part, part_of=whole.machine_id, whole_gpus=whole.gpu_count)


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


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000))
def test_no_plan_with_any_division_is_below_the_bound(seed: int) -> None:
    problem, days = divided_problem(seed)
    best = min(
        found[0] for each in undivided(problem, days) if (found := best_by_trying_everything(each))
    )
    program = Program(problem)
    _, bound = large_plan(program, program.judged, clock_of(20), Learnt())
    assert bound is None or bound <= best / 100 + CENT
    found = Divided(program, program.judged, ()).search(clock_of(20))
    assert found is not None
    cost, plan = found
    assert round(cost * 100) == plan.judged_cents
    assert plan.judged_cents >= best
    check_placement(problem, plan)
    taken = {(p.machine_id, p.unit) for p in plan.placed if p.machine_id != "rent"}
    gpus = {m.machine_id: m.gpu_count for m in problem.machines}
    assert sum(gpus[machine_id] for machine_id, _ in taken) <= 3


@pytest.mark.parametrize("block", range(3))
def test_no_plan_that_a_search_finds_is_below_the_bound(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        problem = replace(random_problem(seed), objective="cheapest", year_budget_cents=None)
        best = best_by_trying_everything(problem)
        program = Program(problem)
        try:
            found, bound = large_plan(program, program.judged, clock_of(20), Learnt())
        except NoPlan:
            assert best is None
            continue
        if best is None:
            assert found is None
            continue
        assert bound is None or bound <= best[0] / 100 + CENT
        keys = set(program.block.values())
        for each in (found, Divided(program, program.judged, keys).search(clock_of(20))):
            if each is not None:
                assert each[1].judged_cents >= best[0]
                check_placement(problem, each[1])


def four_gpus() -> PlanningProblem:
    """Four runs, each of which takes one GPU of four for all its window."""
    own = make_machine("own", None, {"b": 1.0}, gpu_count=4)
    return make_problem(
        experiments=(make_experiment("e", "a", 4, 0, 100),),
        machines=(own, part_of(own, 1, {"a": 100.0}), part_of(own, 2, {"a": 90.0})),
        rentals=(make_rental("rent", "9", {"a": 10.0}),),
    )


def test_gpus_that_no_part_has_are_used() -> None:
    """From parts of 1 and 2 GPUs that leave one: none of the four is rented in the end."""
    program = Program(four_gpus())
    first = {("own", -1, False): 1.0, ("own:1", -1, False): 1.0, ("own:2", -1, False): 1.0}
    found = Divided(program, program.judged, ()).search(clock_of(20), [first])
    assert found is not None
    cost, plan = found
    assert cost == 0
    assert {(p.machine_id, p.unit) for p in plan.placed} == {("own:1", n) for n in (1, 2, 3, 4)}


def test_without_time_to_deal_again_runs_stay_on_their_machines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dividing, "ROUNDS_TIME", 0.0)
    waiting: list[int] = []

    def repack(deal: Deal, clock: Clock) -> None:
        waiting.append(len(deal.left))

    monkeypatch.setattr(Deal, "repack", repack)
    program = Program(four_gpus())
    found = Divided(program, program.judged, ()).search(clock_of(20))
    assert found is not None
    assert found[0] == 0
    assert waiting == [0]
