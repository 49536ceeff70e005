"""The justification of a request: what it says of prices, rent, granted hours and upkeep."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec import structs

from advisor.planning.grant.candidates.grant_machines import LeftOut
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.report.formats.markdown_csv_json import to_markdown
from advisor.planning.sensitivity.explain import Alternative
from advisor.store import Store
from price_catalog.model import OWN_QUOTE
from tests.planning.forms_for_tests import GRANT, TODAY, grant_head, read, report_for
from tests.planning.grant_files import changed


def test_a_funder_is_not_told_whose_quote_yours_is(planned: Planned) -> None:
    problem = planned.loaded.problem
    machines = tuple(
        replace(m, lines=tuple(replace(x, vendor=f"{x.vendor} ({OWN_QUOTE})") for x in m.lines))
        for m in problem.machines
    )
    first, *others = planned.loaded.grant.experiments
    alone = replace(planned.loaded.grant, experiments=(first, structs.replace(others[0], who=None)))
    loaded = replace(planned.loaded, problem=replace(problem, machines=machines), grant=alone)
    funder, annex = map(to_markdown, report_for(replace(planned, loaded=loaded)).parts())
    assert OWN_QUOTE not in funder
    assert OWN_QUOTE in annex
    # What nobody in particular asked for is not said to be for the group beside it.
    need = funder.partition("Need. ")[2].partition(" runs in all")[0]
    assert re.search(rf"tokens\) for {first.who} and [^)]+, 300 billion tokens\): \d+$", need), need
    # Days of an estimate have no more digits than they are worth.
    assert re.search(r"takes \d+ days \(an estimate: \d+ days to \d+ days\)", funder)


GRANTED = f"""{GRANT.format(funder="nsf")}each_year = true
[purchases]
allowed = false
[[allocations]]
name = "Campus"
kind = "campus"
gpu = "H100"
max_gpus = 4
gpu_hours_a_year = 3000
usd_per_gpu_hour = 0
"""


def test_hours_that_may_not_be_awarded_are_not_called_granted(
    store_path: Path, tmp_path: Path
) -> None:
    """Odds make it an application; so does a national programme whose odds nobody states."""
    path = tmp_path / "grant.toml"
    national = GRANTED.replace('kind = "campus"', 'kind = "national"')
    assert national != GRANTED
    for text, sure in (
        (GRANTED, True),
        (GRANTED + "odds = 0.5\n", False),
        (national, False),
        (national + "odds = 1\n", True),
    ):
        path.write_text(text, encoding="utf-8")
        planned = plan_loaded(
            load_grant(Store(store_path), read_grant(path), TODAY), 60, quick=True
        )
        assert planned.plan is not None and planned.explanation is not None
        problem = planned.loaded.problem
        dearer = replace(planned.plan, cost_cents=123_45)
        change = {"without_allocation": problem.allocations[0].allocation_id}
        fewer = replace(dearer, placed=dearer.placed[:1])
        for plan, told in (
            (dearer, " Without Campus the same work costs $123 in all; this request is $0."),
            (fewer, " Without Campus we can do 1 run, for $123 in all; this request is $0."),
            (None, " Without Campus this work is not done in time."),
        ):
            other = Alternative(name="not awarded", change=change, plan=plan, over_budget=False)
            found = replace(planned.explanation, alternatives=(other,))
            part = to_markdown(report_for(replace(planned, explanation=found)).parts()[0])
            assert ("on granted hours between" in part) is sure
            assert ("on hours that we apply for between" in part) is not sure
            assert ("Granted hours. 3 runs" in part) is sure
            assert ("Hours that we apply for. 3 runs" in part) is not sure
            assert (told in part) is not sure


def test_what_is_rented_has_the_range_of_its_time_and_one_value_added_tax(
    store_path: Path, tmp_path: Path
) -> None:
    """Rents are added up by hand with the least and the most days; rates are all with VAT."""
    text = grant_head("vit", more='funder = "ukri"\n') + "[purchases]\nallowed = false\n"
    grant = changed(read(tmp_path, text), vat=Decimal("0.2"))
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    assert planned.plan is not None
    report, problem = report_for(planned), planned.loaded.problem
    (rental,) = (r for r in problem.rentals if r.rental_id in planned.plan.rented)
    time = rental.times["vit"]
    assert time.basis == "predicted" and time.days_low and time.days_high
    hour = rental.price_per_hour * Decimal("1.2")
    asked = planned.plan.runs * 24 * hour * funder_form("ukri").pays
    words = to_markdown(report.parts()[0])
    ends = [asked * Decimal(str(days)) for days in (time.days_low, time.days_high)]
    told = re.search(r"the shortest it is GBP ([\d,]+), with the longest GBP ([\d,]+)\.", words)
    assert told is not None, words
    shown = [Decimal(each.replace(",", "")) for each in told.groups()]
    assert all(abs(a - b) < 2 for a, b in zip(shown, ends, strict=True))
    rates = [Decimal(each) for each in re.findall(r"GBP ([\d.]+) an hour", words)]
    low, high = (rental.offers[at].price_per_hour * Decimal("1.2") for at in (0, -1))
    assert all(
        abs(a - b) < Decimal("0.0001") for a, b in zip(rates, (hour, low, high), strict=True)
    )


def test_what_needs_a_quote_and_costs_less_is_named(planned: Planned) -> None:
    less = LeftOut(label="Cheaper", reason="a sum", needs_quote=True, saves=Decimal(84))
    loaded = replace(planned.loaded, left_out=(less,))
    told = to_markdown(report_for(replace(planned, loaded=loaded)).parts()[0])
    assert (
        "that we compared and that the rules of this grant allow does this work for less." in told
    )
    assert "With Cheaper the whole would cost $84 less, but a sum." in told


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
        name="buy nothing, rent instead",
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


SOON = f"""{GRANT.format(funder="ukri")}each_year = true
[[owned]]
gpu = "RTX A6000"
gpu_count = 4
[purchases]
allowed = false
"""


def test_what_is_planned_for_the_earliest_end_is_not_compared_by_its_cost_alone(
    store_path: Path, tmp_path: Path
) -> None:
    """Nor is a limit on a run said to make the plan dearer where it does not decide."""
    path = tmp_path / "grant.toml"
    path.write_text(SOON.replace("[grant]\n", '[grant]\nobjective = "soonest"\n'), encoding="utf-8")
    planned = plan_loaded(load_grant(Store(store_path), read_grant(path), TODAY), 60, quick=True)
    assert planned.plan is not None and planned.explanation is not None and planned.plan.rented
    assert all(
        other.label.endswith(", as soon as possible") for other in planned.explanation.alternatives
    )
    text = to_markdown(report_for(planned).parts()[0])
    assert "has all runs done the soonest" in text
    assert "the same work on machines of our own" not in text
    assert "slower computers, which cost less" not in text
