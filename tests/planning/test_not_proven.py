"""What is said of plans that were not proven to be the best of their kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from advisor.answers.plan.plan_lines import explained_text
from advisor.answers.plan.plan_sentence import plan_sentence
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.planned import Planned
from advisor.planning.report.formats.markdown_csv_json import to_markdown
from advisor.planning.sensitivity.explain import Alternative
from advisor.store import Store
from tests.planning.forms_for_tests import TODAY, report_for


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (0.5, "Why not rent. Doing the same work on rented computers costs at least $500,000 in"),
        (0.05, "Why not rent. Doing the same work on rented computers costs at least $950,000 in"),
        (0.9999, None),  # it might cost nearly nothing
        (None, None),
    ],
)
def test_a_poor_plan_of_another_kind_says_only_what_is_sure(
    planned: Planned, gap: float | None, words: str | None
) -> None:
    plan = planned.plan
    assert plan is not None and planned.explanation is not None
    rent = replace(plan, proven=False, gap=gap, cost_cents=1_000_000_00, judged_cents=1_000_000_00)
    other = Alternative(
        label="buy nothing, rent instead",
        change={"no_purchases": True},
        plan=rent,
        over_budget=False,
        proven=False,
    )
    told = replace(planned, explanation=replace(planned.explanation, alternatives=(other,)))
    report = report_for(told, rent=True)
    text, annex = (to_markdown(part) for part in report.parts())
    assert "1,000,000" not in text
    untold = "There was no time to work out what renting would cost"
    assert ("Why not rent" in text) is (words is not None) is (untold not in annex)
    assert words is None or words in text
    assert "more, by the best that was found. " in annex
    assert "the best found, not proven" in explained_text(told)
    # A plan that is nearly the best says what such plans cost, also where this one costs more.
    near = replace(rent, gap=0.05, cost_cents=plan.cost_cents, judged_cents=plan.cost_cents)
    close = replace(other, plan=near)
    told = replace(planned, explanation=replace(planned.explanation, alternatives=(close,)))
    text = to_markdown(report_for(told, rent=True).parts()[0])
    assert "By the best plan that was found, doing the same work on rented computers" in text


@pytest.mark.parametrize(
    ("gap", "words"),
    [(0.5, "at least $500,000; renting costs"), (0.9999999, None), (None, None)],
)
def test_rented_runs_are_held_against_what_is_sure_of_machines(
    store_path: Path, gap: float | None, words: str | None
) -> None:
    grant = read_grant(EXAMPLE)
    experiment = structs.replace(grant.experiments[1], each_year=False, runs=1)
    grant = replace(grant, experiments=(experiment,), owned=())
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    assert planned.plan is not None and planned.explanation is not None and planned.plan.rented
    bought = replace(
        planned.plan, proven=False, gap=gap, cost_cents=1_000_000_00, judged_cents=1_000_000_00
    )
    change = {"no_rentals": True, "only_runs": ((experiment.name, 1),)}
    other = Alternative(
        label="buy for them", change=change, plan=bought, over_budget=False, proven=False
    )
    told = replace(planned, explanation=replace(planned.explanation, alternatives=(other,)))
    text, annex = (to_markdown(part) for part in report_for(told).parts())
    assert "1,000,000" not in text
    assert ("Machines of our own for these runs would cost" in text) is (words is not None)
    assert words is None or words in text
    untold = "There was no time to work out what machines of your own would cost"
    assert (untold in annex) is (words is None)


def test_no_bound_at_all_is_no_distance(planned: Planned) -> None:
    assert planned.plan is not None
    for gap, words in ((1.0, "found, not proven"), (0.128, "at most 12.8 % from the best")):
        plan = replace(planned.plan, proven=False, gap=gap)
        assert words in plan_sentence(planned.loaded, plan)
        annex = to_markdown(report_for(replace(planned, plan=plan)).parts()[1])
        assert ("the time for the search ran out" in annex) is (gap == 1)


def test_the_first_line_holds_a_plan_against_the_money_that_there_is(planned: Planned) -> None:
    """That of the years together, where the whole budget is larger."""
    assert planned.plan is not None
    for total in (20_000_000_00, None):
        problem = replace(
            planned.loaded.problem,
            budget_cents=total,
            year_budget_cents=(90_000_00, 70_000_00, 40_000_00),
        )
        words = plan_sentence(replace(planned.loaded, problem=problem), planned.plan)
        assert " of $200,000" in words
