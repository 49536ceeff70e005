"""Large grants whose runs all have windows of their own, or far more machines than a plan needs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import product
from math import inf
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.solver.dividing import Divided
from advisor.planning.solver.large import Learnt, large_plan, with_parts
from advisor.planning.solver.milp import Program
from advisor.planning.solver.money.cents import cents_by_year, within_year_budgets
from advisor.planning.solver.problem import Allocation, PlanningProblem, Rules
from advisor.planning.solver.refilling import NOWHERE, Key, Refilling
from advisor.planning.solver.repacking import Repacking
from advisor.planning.solver.schedule import Job, schedule
from advisor.planning.solver.search_clock import NoPlan, Progress, clock_of
from advisor.planning.solver.solve import solve
from advisor.planning.solver.widened import widened
from tests.planning.test_plan_solve import check_placement
from tests.planning.test_plan_terms import part
from tests.plans_for_tests import (
    every_random_problem,
    make_experiment,
    make_machine,
    make_problem,
    make_rental,
)


def every_window_its_own(runs: int, *, allocation: bool) -> PlanningProblem:
    random = Random(1)
    days = {"a": 30.0, "b": 45.0, "c": 70.0}
    experiments = []
    for n in range(runs):
        length = random.randrange(120, 600)
        low = random.randrange(0, 1095 - length)
        experiments.append(make_experiment(f"e{n}", random.choice("abc"), 1, low, low + length))
    whole = make_machine("m", "20000", {model: each / 3 for model, each in days.items()})
    rent = make_rental("r", "6", {model: each / 3 for model, each in days.items()})
    granted = replace(
        make_rental("g", "0", {model: each / 3 for model, each in days.items()}),
        allocation="campus",
        in_base=False,
    )
    hours = Allocation(allocation_id="campus", name="campus", gpu_hours_a_year=Decimal(2000))
    return make_problem(
        year_days=(0, 365, 730, 1095),
        experiments=tuple(experiments),
        machines=(whole, part(whole, 1, days)),
        rentals=(rent, granted) if allocation else (rent,),
        allocations=(hours,) if allocation else (),
        max_machines=1 if allocation else None,
        rules=Rules(slack=Decimal("0.15"), lead_days=30),
    )


@pytest.mark.parametrize("allocation", [False, True])
def test_runs_with_windows_of_their_own_have_a_plan_near_a_bound(allocation: bool) -> None:
    problem = every_window_its_own(80, allocation=allocation)
    program = Program(problem)
    best, bound = large_plan(program, program.judged, clock_of(60), Learnt())
    assert best is not None and bound is not None
    cost, plan = best
    check_placement(problem, plan)
    assert round(cost * 100) == plan.judged_cents
    assert bound <= cost + 1e-6
    assert cost <= bound * 1.05
    if allocation:
        year_hours: dict[int, Decimal] = {}
        for placed in plan.placed:
            if placed.machine_id == "g":
                length = Decimal(placed.pieces[0][1] - placed.pieces[0][0])
                hours = year_hours.get(placed.order, Decimal(0))
                year_hours[placed.order] = hours + length * 24 * problem.rentals[1].gpu_count
        assert year_hours and float(max(year_hours.values())) <= 2000 + 1e-6


def test_runs_are_dealt_to_machines_where_years_have_money() -> None:
    """Money for one machine in the first year and for one in the second: with every run paid as
    soon as it may start there is a plan near the bound, and it keeps to each year."""
    problem = every_window_its_own(80, allocation=False)
    problem = replace(problem, year_budget_cents=(26_000_00, 20_000_00, 10_000_00), paid_early=True)
    program = Program(problem)
    keys = {("m", 0), ("m", 1)}
    found = Divided(program, program.judged, keys).search(clock_of(20))
    assert found is not None
    check_placement(problem, found[1])
    assert {p.order for p in found[1].purchases} == {0, 1}
    paid = cents_by_year(problem, found[1].purchases, found[1].placed)
    assert within_year_budgets(problem, paid)


def test_wider_windows_cost_no_more() -> None:
    for number, random_one in enumerate(every_random_problem(24)):
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
        if number % 3:
            continue
        few = Program(wide)
        machines = few.solve(few.judged, 5, whole=few.machines)
        _, least = with_parts(few, machines, clock_of(5))
        assert machines.fun - 1e-4 <= least <= cost / 100 + 1e-4


def test_thousands_of_owned_machines_are_no_obstacle() -> None:
    problem = make_problem(
        year_days=(0, 365),
        experiments=(make_experiment("e", "a", 5000, 0, 365),),
        machines=(make_machine("own", None, {"a": 80.0}, owned=4000),),
    )
    plan = solve(problem, clock=clock_of(30))
    assert plan.proven
    assert plan.cost_cents == 0
    assert len(plan.placed) == 5000


def test_a_bound_that_is_no_money_is_not_told_as_money() -> None:
    problem = replace(every_window_its_own(24, allocation=False), objective="most-runs")
    heard: list[Progress] = []
    plan = solve(replace(problem, budget_cents=15_000_00), clock=clock_of(20, hear=heard.append))
    assert 0 < plan.runs < 24
    assert heard and all(said.bound_usd is None for said in heard)


@dataclass
class _Machine:
    jobs: list[Job] = field(default_factory=list)


@pytest.mark.parametrize("kind", [Refilling, Repacking])
def test_what_is_dealt_better_is_cheaper_and_still_fits(
    kind: type[Refilling[_Machine]] | type[Repacking[_Machine]],
) -> None:
    """Runs dealt in the worst order, to two machines that hold about half of them."""
    random = Random(1)
    places = [_Machine(), _Machine()]
    ways: dict[tuple[str, int], list[tuple[_Machine, Job, float]]] = {}
    elsewhere: dict[tuple[str, int], float] = {}
    for run in range(20):
        low, days = random.uniform(0, 300), random.uniform(20, 60)
        key = ("e", run)
        job = Job(low=low, due=low + 4 * days, days=days, experiment_id="e", run=run)
        ways[key] = [(place, job, 10.0 + number) for number, place in enumerate(places)]
        elsewhere[key] = 10.0 + random.uniform(1, 5) * days
    left = []
    for key in sorted(elsewhere, key=lambda key: elsewhere[key]):
        place = next(
            (place for place, job, _ in ways[key] if schedule([job, *place.jobs]) is not None), None
        )
        if place is None:
            left.append(key)
        else:
            place.jobs.append(ways[key][0][1])

    def paid(left: list[tuple[str, int]]) -> float:
        dealt = sum(10.0 + n for n, place in enumerate(places) for _ in place.jobs)
        return dealt + sum(elsewhere[key] for key in left)

    before = paid(left)
    search = kind(places, ways, elsewhere, left)
    search.search(clock_of(60))
    assert paid(search.left) < before
    assert all(schedule(place.jobs) is not None for place in places)
    on = [("e", job.run) for place in places for job in place.jobs]
    assert sorted([*on, *search.left]) == sorted(ways), "each run is once somewhere"
    none = kind(places, ways, elsewhere, search.left)
    after = paid(search.left)
    none.search(clock_of(0))
    assert paid(none.left) == after, "without time nothing changes"


@given(
    runs=st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 6), st.integers(5, 30), st.integers(1, 90)),
        min_size=1,
        max_size=7,
    )
)
@settings(max_examples=12, deadline=None)
def test_packed_anew_on_two_machines_is_the_best_of_all_ways(
    runs: list[tuple[int, int, int, int]],
) -> None:
    """Against every way to put each run on one of two machines or on none; one that nobody rents
    out has a place before all others."""
    places = [_Machine(), _Machine()]
    ways: dict[Key, list[tuple[_Machine, Job, float]]] = {}
    elsewhere: dict[Key, float] = {}
    for run, (low, slack, days, saved) in enumerate(runs):
        job = Job(low=low, due=low + days + slack, days=days, experiment_id="e", run=run)
        # The second machine is slower, and dearer to run.
        slow = replace(job, days=days * 1.25)
        ways["e", run] = [(places[0], job, 1.0), (places[1], slow, 1.5)]
        elsewhere["e", run] = NOWHERE if saved > 80 else 1.0 + saved
    search = Repacking(places, ways, elsewhere, list(ways))
    search.search(clock_of(60))
    cost = sum(elsewhere[key] for key in search.left)
    cost += sum(1.0 + 0.5 * n for n, place in enumerate(places) for _ in place.jobs)
    best = inf
    for choice in product((0, 1, 2), repeat=len(runs)):
        on = [
            [ways[key][n][1] for key, at in zip(ways, choice, strict=True) if at == n]
            for n in (0, 1)
        ]
        if all(schedule(jobs) is not None for jobs in on):
            rest = sum(elsewhere[key] for key, at in zip(ways, choice, strict=True) if at == 2)
            best = min(best, rest + sum(1.0 + 0.5 * n for n in (0, 1) for _ in on[n]))
    assert cost == pytest.approx(best, abs=0.02)
