"""From where on the decision changes is told to the cent."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.planning.plan_grant import grant_at, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.sensitivity.change_point import Input, change_point
from advisor.planning.sensitivity.thresholds import inputs_of
from advisor.planning.sensitivity.trials import Trials, decision
from advisor.planning.solver.search_clock import clock_of
from advisor.store import Store
from tests.planning.grant_files import grant_file

GRANT = """
[grant]
start = 2027-01-01
years = 2
[budget]
total = "{total}"
[rentals]
{rentals}
[[experiments]]
model = "pythia-1b"
runs = {runs}
"""


def trials_of(found: Planned) -> tuple[Trials, list[Input]]:
    assert found.plan is not None and found.explanation is not None
    others = [each.plan for each in found.explanation.alternatives if each.plan is not None]
    problem = found.loaded.problem
    trials = Trials(problem, found.plan, clock_of(120), (found.plan,), lambda _: None)
    trials.learn(others)
    return trials, inputs_of(problem, found.plan, others)


def is_same(trials: Trials, each: Input, value: Decimal) -> bool:
    other = trials.solve(each.change(value))
    return other is not None and decision(other) == decision(trials.plan)


@pytest.mark.parametrize(
    ("total", "runs", "rentals"),
    [
        ("$40,000", 6, 'gpus = ["H100"]'),
        ("$60,000", 6, "allowed = false"),  # from some days on six runs take too long
    ],
)
def test_the_decision_changes_there_and_not_a_cent_before(
    tmp_path: Path, store_path: Path, total: str, runs: int, rentals: str
) -> None:
    path = grant_file(tmp_path, GRANT.format(total=total, runs=runs, rentals=rentals))
    loaded = grant_at(Store(store_path), path, objective=None, today=date(2026, 11, 26))
    trials, inputs = trials_of(plan_loaded(loaded, 60, quick=True))
    found = {each.row: (each, change_point(trials, each)) for each in inputs}
    assert any(at is not None for _, at in found.values())
    for each, at in found.values():
        if at is None:
            assert is_same(trials, each, each.far)
            continue
        assert not is_same(trials, each, at)
        assert is_same(trials, each, at + each.quantum * (1 if each.here > each.far else -1))
