"""Tiny grants with everything at once - a server that runs share, hours of an allocation, money by
the year, windows of their own - against a search that tries everything."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from advisor.planning.solver import two_stage
from advisor.planning.solver.money.cents import cents_by_year, purchase_cents, within_year_budgets
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Allocation, Machine, PlanningProblem, Rules
from advisor.planning.solver.search_clock import NoPlan, OutOfTime, Progress, clock_of
from advisor.planning.solver.solve import solve
from price_catalog.power import PowerFigures
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

CENT = 0.01
YEAR = 100
DIVISIONS = {1: ((1,),), 2: ((2,), (1, 1)), 3: ((3,), (2, 1), (1, 1, 1))}
Days = dict[int, dict[str, float]]
"""Of one run, by how many GPUs it uses and the model."""


class Tiny(NamedTuple):
    """A grant, and how long runs take on some of the GPUs of its server."""

    problem: PlanningProblem
    days: Days


def _watts(watts: float) -> PowerFigures:
    return PowerFigures(gpu_w=Decimal(600), gpu_count=1, stated_w=Decimal(str(watts)))


def tiny(seed: int) -> Tiny:
    """A server of two or three GPUs to buy, an instance to rent, an allocation, two years."""
    random = Random(seed)
    gpus = random.choice([2, 3])
    days: Days = {
        n: {m: round(random.uniform(20, 70) / n**0.9, 1) for m in "ab"} for n in range(1, gpus + 1)
    }
    watts = 600.0 * gpus
    price = str(random.randint(2, 16) * 500)
    whole = make_machine("buy", price, days[gpus], gpu_count=gpus, power=_watts(watts))
    parts = [part_of(whole, n, days[n]) for n in range(1, gpus)]
    rent = make_rental("rent", f"{random.uniform(2, 9):.2f}", {m: days[1][m] / 2 for m in "ab"})
    granted = replace(
        make_rental("grant", f"{random.uniform(0, 1):.2f}", {m: days[1][m] * 0.7 for m in "ab"}),
        allocation="campus",
        in_base=False,
    )
    experiments = []
    for number in range(random.randint(2, 3)):
        low = random.randrange(0, 120)
        length = random.randrange(45, 120)
        runs = 2 if number == 0 and random.random() < 0.4 else 1
        due = min(low + length, 2 * YEAR)
        experiments.append(make_experiment(f"e{number}", random.choice("ab"), runs, low, due))
    hours = Decimal(random.choice([0, 300, 600, 900]))
    money = tuple(random.randint(2, 18) * 500_00 for _ in range(2))
    problem = make_problem(
        year_days=(0, YEAR, 2 * YEAR),
        experiments=tuple(experiments),
        machines=(whole, *parts),
        rentals=(rent, granted),
        allocations=(Allocation(allocation_id="campus", name="campus", gpu_hours_a_year=hours),),
        budget_cents=random.choice([None, sum(money) * 3 // 4]),
        year_budget_cents=money,
        carry_over=random.random() < 0.5,
        max_machines=1,
        rules=Rules(
            price_per_kwh=Decimal("0.4"),
            lead_days=random.choice([0, 10]),
            overhead_rate=Decimal(random.choice(["0", "0.5"])),
            equipment_threshold=Decimal(5000),
        ),
    )
    return Tiny(problem, days)


def best_of(grant: Tiny) -> int | None:
    """What the best plan costs, in cents: no server, or one of either year, divided in any way."""
    problem = grant.problem
    nothing = best_by_trying_everything(replace(problem, machines=()))
    found = [] if nothing is None else [nothing[0]]
    whole = problem.machines[0]
    assert whole.power is not None and problem.year_budget_cents is not None
    for year in range(problem.years):
        price = purchase_cents(whole, problem.rules, problem.year_days[year])
        money = list(problem.year_budget_cents)
        money[year] -= price
        if money[year] < 0 and not (problem.carry_over and sum(money[: year + 1]) >= 0):
            continue
        for division in DIVISIONS[whole.gpu_count]:
            best = best_by_trying_everything(
                replace(
                    problem,
                    machines=tuple(
                        _alone(grant, number, gpus, problem.year_days[year])
                        for number, gpus in enumerate(division)
                    ),
                    year_budget_cents=tuple(money),
                    budget_cents=problem.budget_cents and problem.budget_cents - price,
                )
            )
            if best is not None:
                found.append(best[0] + price)
    return None if not found else round(min(found))


def _alone(grant: Tiny, number: int, gpus: int, day: int) -> Machine:
    """Some of the GPUs as a machine of the lab."""
    return make_machine(
        f"p{number}",
        None,
        grant.days[gpus],
        power=_watts(600.0 * gpus),
        ready_day=day + grant.problem.rules.lead_days,
    )


def check(grant: Tiny, plan: Plan) -> None:
    """It keeps every rule of the grant."""
    problem = grant.problem
    check_placement(problem, plan)
    assert within_year_budgets(problem, cents_by_year(problem, plan.purchases, plan.placed))
    hours: dict[int, float] = {}
    gpus: dict[tuple[str, int], int] = {}
    sizes = {m.machine_id: m.gpu_count for m in problem.machines}
    for placed in plan.placed:
        if placed.machine_id == "grant":
            days = sum(end - start for start, end in placed.pieces)
            hours[placed.order] = hours.get(placed.order, 0.0) + 24 * days
        elif placed.machine_id in sizes:
            gpus[placed.machine_id, placed.unit] = sizes[placed.machine_id]
    limit = problem.allocations[0].gpu_hours_a_year
    assert limit is not None and max(hours.values(), default=0.0) <= float(limit) + 1e-6
    assert sum(gpus.values()) <= sizes["buy"] * sum(p.count for p in plan.purchases)


@settings(max_examples=16, deadline=None)
@given(st.integers(0, 100_000))
@example(1029)
@example(1328)
def test_with_everything_at_once_no_search_finds_a_better_plan(seed: int) -> None:
    grant = tiny(seed)
    best = best_of(grant)
    heard: list[Progress] = []
    try:
        plan = solve(grant.problem, clock=clock_of(3000, on_progress=heard.append))
    except NoPlan:
        assert best is None
        return
    check(grant, plan)
    assert plan.proven
    assert plan.judged_cents == best
    for said in heard:
        assert said.bound_usd is None or said.bound_usd <= best / 100 + CENT


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100_000))
@example(370)
def test_on_the_ways_of_large_grants_the_bound_holds(seed: int) -> None:
    """The same, found as the plan of a grant with thousands of columns is."""
    grant = tiny(seed)
    best = best_of(grant)
    heard: list[Progress] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_stage, "LARGE", -1)
        try:
            plan = solve(grant.problem, clock=clock_of(300, on_progress=heard.append))
        except NoPlan:
            assert best is None
            return
        except OutOfTime:
            return
    check(grant, plan)
    assert best is not None
    check_bound(plan, best)
    for said in heard:
        assert said.bound_usd is None or said.bound_usd <= best / 100 + CENT
