"""What a script reads of a plan: every number that its first line says."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.answers.plan.plan_sentence import plan_sentence
from advisor.answers.plan.plan_verdict import no_plan_verdict, plan_verdict
from advisor.costs.amount_words import day_words
from advisor.planning.report.formats.markdown_csv_json import to_json_text
from advisor.planning.report.formats.write_report import write_planned
from advisor.planning.sensitivity.solved_amounts import Finding, money
from tests.answers.test_plan_doubts import NO_RENT, ONE_RUN, planned_of

SHARED = 'cost_share = 0.25\ncost_share_by = "the physics lab"\n'
HORIZON = 'start = 2027-01-01\nfunder = "horizon"\n'


@pytest.mark.parametrize("written_off", [False, True])
def test_the_first_line_says_nothing_that_json_has_not(
    written_off: bool, store_path: Path, tmp_path: Path
) -> None:
    text = ONE_RUN.format(model="pythia-410m", buys="true") + NO_RENT
    if written_off:
        text = text.replace("start = 2027-01-01\n", HORIZON)
    else:
        text = text.replace("allowed = true\n", f"allowed = true\n{SHARED}")
    found = planned_of(store_path, tmp_path, text)
    assert found.plan is not None
    said = plan_sentence(found.loaded, found.plan)
    verdict = plan_verdict(found, "advisor plan", quick=True)
    grant = found.loaded.grant
    for key in ("total", "paid_beside_it"):
        assert grant.currency.written(verdict[key]) in said
    if verdict["budget"] is not None:
        assert f" of {grant.currency.written(verdict['budget'])} " in said
    assert day_words(date.fromisoformat(verdict["done_by"])) in said
    assert verdict["runs"] == verdict["runs_asked"] == found.plan.runs
    assert (verdict["left_out"], verdict["runs_only_if_awarded"]) == ({}, 0)
    # The budget of the report has the same, to the cent, with the row that it comes from.
    report, _ = write_planned(found, [], force=False)
    beside = json.loads(to_json_text(report))["budget"]["paid_beside_it"]
    assert Decimal(str(beside["amount"]["value"])) == verdict["paid_beside_it"]
    assert beside["amount"]["row"]
    assert beside["by"] == (None if written_off else "the physics lab")


def test_of_runs_that_are_left_out_json_has_how_many(store_path: Path, tmp_path: Path) -> None:
    text = ONE_RUN.format(model="pythia-410m", buys="false")
    found = planned_of(store_path, tmp_path, text)
    assert found.plan is not None
    (name,) = {each.experiment_id for each in found.loaded.problem.experiments}
    left = replace(found, plan=replace(found.plan, left_out={name: 2}, proven=False, gap=0.04))
    verdict = plan_verdict(left, "advisor plan", quick=True)
    assert list(verdict["left_out"].values()) == [2]
    assert (verdict["proven"], verdict["gap"]) == (False, 0.04)
    assert verdict["paid_beside_it"] is verdict["at_most_from_others"] is None


def test_where_there_is_no_plan_json_has_the_ways_out(store_path: Path, tmp_path: Path) -> None:
    found = planned_of(store_path, tmp_path, ONE_RUN.format(model="pythia-410m", buys="false"))
    way = Finding(
        words=("with ", money(120_000_00, {"budget_cents": 1}, "cost"), " it is possible")
    )
    none = replace(found, plan=None, explanation=None, ways_out=(way,))
    (told,) = no_plan_verdict(none)["ways_out"]
    assert told == {
        "words": "with $120,000 it is possible",
        "numbers": [{"value": Decimal(120_000), "unit": "usd"}],
    }
