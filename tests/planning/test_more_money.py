"""More money, in all or in any year, or more to choose from, never does fewer runs, costs more, or
ends later; where a plan is the best of a part alone, its sentence says of which."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.answers.plan.plan_sentence import plan_sentence
from advisor.planning.plan_grant import grant_at, plan_loaded
from advisor.planning.solver.money.cents import cents_by_year, within_budgets
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from advisor.store import Store
from tests.planning.grant_files import grant_file
from tests.planning.test_plan_solve import check_placement, reached
from tests.planning.test_year_money import kept_free
from tests.plans_for_tests import plan_or_none, random_problem


def better_or_equal(less: PlanningProblem, more: PlanningProblem) -> None:
    before, after = kept(less), kept(more)
    if before is None:
        return
    assert after is not None
    assert reached(more, after) <= reached(less, before)


def kept(problem: PlanningProblem) -> Plan | None:
    """The plan, which keeps every rule of money and time."""
    plan = plan_or_none(problem)
    if plan is not None:
        assert plan.proven
        check_placement(problem, plan)
        assert within_budgets(problem, plan)
        assert sum(cents_by_year(problem, plan.purchases, plan.placed)) == plan.cost_cents
    return plan


@settings(max_examples=16, deadline=None)
@given(st.integers(0, 100_000), st.integers(1, 20_000_00))
def test_a_larger_budget_is_never_worse(seed: int, more_cents: int) -> None:
    problem = replace(random_problem(seed), year_budget_cents=None)
    if problem.budget_cents is not None:
        more = replace(problem, budget_cents=problem.budget_cents + more_cents)
        better_or_equal(problem, more)


@settings(max_examples=16, deadline=None)
@given(st.integers(0, 100_000), st.integers(1, 8_000_00), st.booleans())
def test_more_money_in_one_year_is_never_worse(seed: int, more_cents: int, first: bool) -> None:
    problem = kept_free(seed)
    assert problem.year_budget_cents is not None
    one, other = problem.year_budget_cents
    budgets = (one + more_cents, other) if first else (one, other + more_cents)
    better_or_equal(problem, replace(problem, year_budget_cents=budgets))


@settings(max_examples=16, deadline=None)
@given(st.integers(0, 100_000), st.data())
def test_more_to_choose_from_is_never_worse(seed: int, data: st.DataObject) -> None:
    problem = random_problem(seed)
    kept = data.draw(st.sets(st.sampled_from([m.machine_id for m in problem.machines])))
    few = tuple(m for m in problem.machines if m.owned or m.machine_id in kept)
    rentals = problem.rentals if data.draw(st.booleans()) else ()
    better_or_equal(replace(problem, machines=few, rentals=rentals), problem)


TWO_MODELS = """
[grant]
start = 2027-01-01
years = 1
objective = "{objective}"
[budget]
total = "{total}"
[[experiments]]
name = "a"
model = "pythia-160m"
runs = 10
min_runs = 1
[[experiments]]
name = "b"
model = "vit"
runs = 10
min_runs = 1
value = 2
[rentals]
allowed = false
"""
ALONE = (["RTX 4090", "RTX 5090"], ["RTX 3090", "RTX 5090"], ["RTX 5090"])


def test_a_part_of_the_gpus_is_better_only_than_what_is_said_to_be_a_part(
    tmp_path: Path, store_path: Path
) -> None:
    """What is not proven ``among`` some is of every GPU and every smaller budget."""
    proven: list[tuple[int, int]] = []
    for total in ("$4,000", "$9,000", "$10,800", "$13,500"):
        text = TWO_MODELS.format(total=total, objective="most-runs")
        for gpus in (*ALONE, None):
            some = "" if gpus is None else f"[purchases]\ngpus = {gpus}\n"
            path = grant_file(tmp_path, text + some)
            loaded = grant_at(Store(store_path), path, objective=None, today=date(2026, 11, 26))
            found = plan_loaded(loaded, 60, quick=True)
            if found.plan is None:
                continue
            reached = -found.plan.value, found.plan.cost_cents
            sentence = plan_sentence(found.loaded, found.plan)
            if gpus is None and " among " not in sentence:
                assert all(reached <= each for each in proven), sentence
            proven.append(reached)
            bought = {each.machine_id for each in found.plan.purchases}
            sold = all(m.on_sale for m in found.loaded.problem.machines if m.machine_id in bought)
            assert sold or gpus is not None  # they do the work, for more money
            assert " among what is on sale" in sentence or not sold
    assert proven


FREE_SLOTS = """
[grant]
start = 2027-01-01
years = 3
objective = "{objective}"
[budget]
total = "{total}"
[[owned]]
gpu = "RTX A6000"
gpu_count = 2
free_slots = 2
[rentals]
allowed = false
[[experiments]]
model = "pythia-1b"
runs = 12
"""


@pytest.mark.parametrize("objective", ["cheapest", "most-runs"])
def test_what_needs_a_quote_is_named_at_every_budget(
    tmp_path: Path, store_path: Path, objective: str
) -> None:
    """What can be ordered, and the best that is named in the answer, only get better."""
    ordered: list[tuple[int, int]] = []
    named: list[tuple[int, int]] = []
    without: list[bool] = []
    for total in ("$2,000", "$12,000", "$16,000", "$30,000", "$80,000"):
        path = grant_file(tmp_path, FREE_SLOTS.format(total=total, objective=objective))
        loaded = grant_at(Store(store_path), path, objective=None, today=date(2026, 11, 26))
        found = plan_loaded(loaded, 60, quick=True)
        if found.plan is None or not found.plan.runs:
            asked = [x.label for x in found.loaded.left_out if x.needs_quote and x.more_runs]
            text = found.ways_out[0].text()
            assert not asked or text.startswith(f"get a quote for {'; '.join(asked)}")
            without.append(bool(asked))
            continue
        cents, runs = found.plan.cost_cents, found.plan.runs
        machines = {m.machine_id: m for m in found.loaded.problem.machines}
        assert all(machines[p.machine_id].on_sale for p in found.plan.purchases)
        ordered.append((-runs, cents))
        quoted = next((x for x in found.loaded.left_out if x.saves or x.more_runs), None)
        if quoted is not None:
            cents -= int((quoted.saves or 0) * 100)
            runs += quoted.more_runs or 0
        named.append((-runs, cents))
    assert without == sorted(without) and any(without)
    for values in (ordered, named):
        assert values
        every = values if objective == "cheapest" else [(runs, 0) for runs, _ in values]
        assert every == sorted(every, reverse=True)
