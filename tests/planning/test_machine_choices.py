"""What no plan is below, found by looking at few choices of machines: against every plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.solver import large, machine_choices
from advisor.planning.solver.machine_choices import Choices
from advisor.planning.solver.machine_days import MachineDays
from advisor.planning.solver.milp import Program
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.schedule import Job, schedule
from advisor.planning.solver.search_clock import Clock as SearchClock
from advisor.planning.solver.search_clock import clock_of
from advisor.planning.solver.solve import solve
from advisor.planning.solver.widened import widened
from tests.planning.test_everything_at_once import best_of, tiny
from tests.planning.test_own_windows import every_window_its_own
from tests.plans_for_tests import (
    best_by_trying_everything,
    every_random_problem,
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
)

CENT = 0.01


def looked_at(problem: PlanningProblem, below: float = inf, seconds: float = 60) -> Choices:
    """Until nothing more is found out."""
    few = Program(widened(problem, 1))
    choices = Choices(Program(problem), few, below, clock_of(60))
    choices.search(clock_of(seconds), lambda: False)
    return choices


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 100_000))
def test_no_plan_is_below_the_bound_of_all_choices(seed: int) -> None:
    grant = tiny(seed)
    problem = replace(grant.problem, year_budget_cents=(10**9, 10**9), budget_cents=None)
    best = best_of(grant._replace(problem=problem))
    if best is not None:
        assert looked_at(problem).bound <= best / 100 + CENT


def test_the_bound_is_mostly_what_the_best_plan_costs() -> None:
    """With whole runs on each machine; in some random grants what runs of several windows need of
    two machines stays unseen."""
    seen, exact = 0, 0
    for random_one in every_random_problem(60):
        problem = replace(
            random_one, objective="cheapest", year_budget_cents=None, budget_cents=None
        )
        best = best_by_trying_everything(problem)
        if best is None:
            continue
        bound = looked_at(problem).bound
        assert bound <= best[0] / 100 + CENT
        seen += 1
        exact += bound >= best[0] / 100 - CENT - 1e-5 * abs(best[0] / 100)
    assert seen >= 30
    assert exact >= 0.8 * seen


def test_windows_as_they_are_say_more_than_wider_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """One machine, for runs that come in bursts: over all days it would have time for each."""
    random = Random(1)
    days = {"a": 20.0, "b": 35.0}
    runs = []
    for n in range(24):
        low = 300 * (n % 3) + random.randrange(0, 20)
        runs.append(make_experiment(f"e{n}", random.choice("ab"), 1, low, low + 60 + 2 * n))
    problem = make_problem(
        year_days=(0, 365, 730, 1095),
        experiments=tuple(runs),
        machines=(make_machine("m", "9000", days),),
        rentals=(make_rental("r", "2", days),),
        max_machines=1,
    )
    wide = Program(widened(problem, 1))
    loose = wide.solve(wide.judged, 20, whole=wide.numbers).fun
    whole = looked_at(problem).bound
    monkeypatch.setattr(machine_choices, "SHARPEN_SECONDS", 0.0)
    in_parts = looked_at(problem).bound
    assert loose * 1.01 < in_parts < whole <= solve(problem).judged_cents / 100 + CENT


def test_where_runs_may_be_left_out_no_choice_is_bounded_by_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The cheapest that does four of 24 runs, which are rented: all of them would buy a machine."""
    days = {"a": 20.0, "b": 35.0}
    problem = make_problem(
        objective="most-runs",
        min_runs=4,
        budget_cents=2_000_000,
        year_days=(0, 365, 730, 1095),
        experiments=tuple(make_experiment(f"e{n}", "ab"[n % 2], 1, 0, 1095) for n in range(24)),
        machines=(make_machine("m", "9000", days),),
        rentals=(make_rental("r", "2", days),),
        max_machines=1,
    )
    program = Program(problem)
    least = program.solve(program.judged, 20).fun
    assert looked_at(problem).bound > 2 * least  # which is why a search does not ask it
    monkeypatch.setattr(large, "packed_plan", lambda *_: None)  # else it is the best at once
    best, bound = large.large_plan(program, program.judged, clock_of(20), large.Learnt())
    assert best is not None and best[0] == pytest.approx(least)
    assert bound is None or bound <= least + CENT


def test_where_all_runs_are_done_a_large_plan_is_bounded_by_its_choices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    class Asked(Choices):
        def search(self, clock: SearchClock, enough: Callable[[], bool]) -> None:
            asked.append(True)
            super().search(clock, enough)

    monkeypatch.setattr(large, "Choices", Asked)
    monkeypatch.setattr(large, "_near", lambda *_: False)
    program = Program(every_window_its_own(80, allocation=False))
    large.large_plan(program, program.judged, clock_of(5), large.Learnt())
    assert asked


def test_of_plans_that_are_dearer_nothing_is_said() -> None:
    """Where one is known already, the bound is no more than what it costs."""
    problem = every_window_its_own(24, allocation=False)
    bound = looked_at(problem).bound
    assert looked_at(problem, below=bound / 2).bound == pytest.approx(bound / 2)


def test_the_pairs_of_days_that_are_broken_are_those_of_runs_that_do_not_fit() -> None:
    random = Random(1)
    for _ in range(60):
        jobs = []
        for run in range(random.randint(1, 7)):
            low, days = random.uniform(0, 60), random.uniform(5, 25)
            due = low + days + random.uniform(0, 30)
            jobs.append(Job(low=low, due=due, days=days, experiment_id="e", run=run))
        days_of = MachineDays(jobs)
        broken = days_of.broken([1.0] * len(jobs))
        assert bool(broken) == (schedule(jobs) is None)
        for pair in broken:
            within, taken, most = days_of.row(pair)
            assert len(within) and taken.sum() > most
