"""From where on the decision changes is told to the cent, or to a round value."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.planning.plan_grant import grant_at, plan_loaded
from advisor.planning.planned import Planned
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
    ("total", "runs", "rentals", "has_round"),
    [
        ("$40,000", 6, 'gpus = ["H100"]', False),
        ("$60,000", 6, "allowed = false", True),  # from some days on six runs take too long
    ],
)
def test_where_the_decision_changes_is_exact_or_round(
    tmp_path: Path, store_path: Path, total: str, runs: int, rentals: str, has_round: bool
) -> None:
    path = grant_file(tmp_path, GRANT.format(total=total, runs=runs, rentals=rentals))
    loaded = grant_at(Store(store_path), path, objective=None, today=date(2026, 11, 26))
    trials, inputs = trials_of(plan_loaded(loaded, 60, quick=True))
    exact, round_ = 0, 0
    for each in inputs:
        found = change_point(trials, each)
        if found is None:
            assert is_same(trials, each, each.here)
            continue
        assert not is_same(trials, each, found.at)
        nearer = 1 if each.here > each.far else -1
        if found.exact:
            exact += 1
            assert is_same(trials, each, found.at + nearer * each.quantum)
            continue
        round_ += 1
        step = Decimal(1).scaleb((abs(each.far - each.here) / 20).adjusted())
        assert found.at % step == 0
        before = found.at + nearer * step
        assert (each.here - before) * nearer < 0 or is_same(trials, each, before)
    assert exact
    assert bool(round_) == has_round
