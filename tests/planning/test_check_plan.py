"""A plan that breaks a rule is seen without the program that made it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from advisor.planning.solver.check_plan import broken_rule
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.solve import solve
from tests.plans_for_tests import own_windows


def _moved(plan: Plan, days: float) -> Plan:
    first = plan.placed[0]
    pieces = tuple((start + days, end + days) for start, end in first.pieces)
    return replace(plan, placed=(replace(first, pieces=pieces), *plan.placed[1:]))


CHANGES: list[tuple[Callable[[Plan], Plan], str]] = [
    (lambda plan: replace(plan, cost_cents=plan.cost_cents - 1), "the money"),
    (lambda plan: replace(plan, placed=plan.placed[1:]), "the runs of"),
    (lambda plan: _moved(plan, -900.0), "the days of a run"),
    (lambda plan: _moved(plan, 900.0), "the days of a run"),
    (
        lambda plan: replace(
            plan,
            placed=tuple(
                replace(each, pieces=plan.placed[0].pieces, unit=plan.placed[0].unit)
                if each.experiment_id == plan.placed[1].experiment_id
                else each
                for each in plan.placed
            ),
        ),
        "",
    ),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_a_broken_rule_is_named(change: Callable[[Plan], Plan], words: str) -> None:
    problem = own_windows(20, allocation=False)
    plan = solve(problem)
    assert broken_rule(problem, plan) is None
    found = broken_rule(problem, change(plan))
    assert found is not None and words in found
