"""What is said of plans that were not proven to be the best of their kind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.planning.planned_grant import Planned
from advisor.planning.report.formats.markdown_csv_json import to_markdown
from advisor.planning.sensitivity.explain import Alternative
from tests.planning.forms_for_tests import report_for


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
    report = report_for(told, rentals={"allowed": True})
    text, annex = (to_markdown(part) for part in report.parts())
    assert "1,000,000" not in text
    untold = "There was no time to work out what renting would cost"
    assert ("Why not rent" in text) is (words is not None) is (untold not in annex)
    assert words is None or words in text
    assert "more, by the best that was found. " in annex
    # A plan that is nearly the best says what such plans cost, also where this one costs more.
    near = replace(rent, gap=0.05, cost_cents=plan.cost_cents, judged_cents=plan.cost_cents)
    close = replace(other, plan=near)
    told = replace(planned, explanation=replace(planned.explanation, alternatives=(close,)))
    text = to_markdown(report_for(told, rentals={"allowed": True}).parts()[0])
    assert "By the best plan that was found, doing the same work on rented computers" in text
