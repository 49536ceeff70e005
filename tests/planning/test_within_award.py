"""What is asked for is never more than the award, to the hundredth, whatever rounding does."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.planned import Planned
from advisor.planning.report.budget import asked_amounts
from advisor.planning.within_award import within_award
from advisor.store import Store
from tests.planning.forms_for_tests import TODAY, read

RENTED = """
[grant]
start = 2027-01-01
years = 3
[budget]
total = "{total}"
currency = "{code}"
usd_per_unit = {rate}
usd_per_unit_on = 2026-11-02
[[experiments]]
model = "pythia-410m"
each_year = true
[[experiments]]
model = "vit"
each_year = true
[purchases]
allowed = false
[[costs]]
name = "Storage"
kind = "storage"
amount = "123"
per = "year"
price_change = 0.03
[institution]
rules = "us-equipment-10000"
"""


def planned_with(store_path: Path, folder: Path, **words: object) -> Planned:
    grant = read(folder, RENTED.format(**words))
    return plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)


@pytest.mark.parametrize(
    ("code", "rate"), [("GBP", "1.3565"), ("EUR", "1.0937"), ("EUR", "1.1531")]
)
def test_the_award_is_enough_and_a_hundredth_less_is_not(
    store_path: Path, tmp_path: Path, code: str, rate: str
) -> None:
    """Of a sum of converted lines, which is some hundredths off the converted sum."""
    free = planned_with(store_path, tmp_path, total="900k", code=code, rate=rate)
    assert free.plan is not None
    asked = asked_amounts(free.loaded, free.plan).total
    exact = planned_with(store_path, tmp_path, total=asked, code=code, rate=rate)
    assert exact.plan is not None and exact.plan.proven
    assert asked_amounts(exact.loaded, exact.plan).total == asked
    less = asked - Decimal("0.01")
    none = planned_with(store_path, tmp_path, total=less, code=code, rate=rate)
    assert none.plan is None
    # What is proposed is enough, as it is typed.
    sign = {"GBP": "£", "EUR": "€"}[code]
    assert none.ways_out[0].text(none.loaded.grant.currency.exactly) == (
        f"raise the budget by {sign}0.01, to {sign}{asked:,}"
    )


def test_a_year_that_asks_for_more_than_it_has_has_less(planned: Planned) -> None:
    """Its report parts runs by year and rounds each part, in US dollars as well."""
    assert planned.plan is not None
    asked = asked_amounts(planned.loaded, planned.plan)
    for carry_over in (False, True):
        for less in (Decimal(0), Decimal("0.01")):
            years = (asked.by_year[0] - less, *asked.by_year[1:])
            grant = replace(planned.loaded.grant, year_budget_usd=years, carry_over=carry_over)
            cents = tuple(int(usd * 100) for usd in years)
            problem = replace(
                planned.loaded.problem, year_budget_cents=cents, carry_over=carry_over
            )
            loaded = replace(planned.loaded, grant=grant, problem=problem)
            tighter = within_award(loaded, problem, planned.plan)
            assert (tighter is None) is (less == 0)
            if tighter is not None:
                assert tighter.year_budget_cents is not None
                assert tighter.year_budget_cents[0] < cents[0]


def test_a_raised_budget_is_told_without_what_others_pay(store_path: Path, tmp_path: Path) -> None:
    """What stands in the file as the total, which is what somebody will type."""
    text = RENTED.format(total="{total}", code="EUR", rate="1.1531")
    text = text.replace("[budget]", '[budget]\nshared = 500\nshared_by = "the faculty"')

    def planned_of(total: str) -> Planned:
        grant = read(tmp_path, text.format(total=total))
        return plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)

    free = planned_of("900k")
    assert free.plan is not None
    needed = asked_amounts(free.loaded, free.plan).total - 500
    none = planned_of("1000")
    assert none.plan is None
    assert none.ways_out[0].text(none.loaded.grant.currency.exactly) == (
        f"raise the budget by €{needed - 1000:,}, to €{needed:,}"
    )
    assert planned_of(str(needed)).plan is not None
