"""Whose money rules count, and what the lab is told about them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.planning.grant.candidates.cost_lines import fixed_costs
from advisor.planning.grant.grant_keys import CostLine
from advisor.planning.grant.institution import find_institution, read_institution, shipped
from advisor.planning.grant.problem_of_grant import rules_of
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.grant.toml_reader import AmountOrZero
from advisor.planning.plan_grant import EXAMPLE, load_grant
from advisor.planning.planned_grant import Planned
from advisor.planning.report.budget import UNEXPLAINED
from advisor.planning.report.facts.evidence import NO_SOURCE, settings_table
from advisor.planning.report.plan_costs import Material
from advisor.planning.solver.money.arithmetic import PLAIN
from advisor.planning.solver.money.charges import fixed_amount
from advisor.planning.solver.problem import Rules
from advisor.store import Store
from advisor.typed_input import InputError
from tests.planning.forms_for_tests import GRANT, TODAY, cautions_of


@pytest.mark.parametrize(
    ("funder", "rate", "threshold", "currency"),
    [
        ("dfg", "0.25", 10_000, "EUR"),
        ("horizon", "0.25", 0, "EUR"),
        ("ukri", "0", 25_000, "GBP"),
        ("nserc", "0", 0, "CAD"),
    ],
)
def test_the_flat_rate_of_a_funder_counts_where_no_rules_are_named(
    store_path: Path, tmp_path: Path, funder: str, rate: str, threshold: int, currency: str
) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(GRANT.format(funder=funder), encoding="utf-8")
    grant = read_grant(path)
    house = grant.institution
    assert (house.overhead_rate, grant.currency.code) == (Decimal(rate), currency)
    assert house.equipment_threshold == Decimal(threshold)
    assert house.sources["overhead_rate"] and house.sources["equipment_threshold"]
    assert rules_of(grant).life_months == (60 if funder == "horizon" else None)
    house_said = [text for text in cautions_of(grant) if text.startswith("Counted by the rules of")]
    assert len(house_said) == 1 and f"overhead of {float(rate) * 100:.3g} %" in house_said[0]
    # Who writes dollars is answered in dollars.
    text = GRANT.format(funder=funder) + '[budget]\ntotal = "$60,000"\n'
    path.write_text(text, encoding="utf-8")
    read = read_grant(path)
    if currency == "CAD":  # whose own sign it is
        assert (read.currency.code, read.budget) == (
            "CAD",
            Decimal(60_000),
        )
    else:
        assert (read.currency.code, read.budget) == ("USD", 60_000)
    # A rate of the grant's own does not move the threshold; rules of its own go before.
    rate = {"CAD": "0.8", "GBP": "1.3"}.get(currency, "0.95")
    own = '[budget]\ncurrency = "{}"\nusd_per_unit = {}\nusd_per_unit_on = 2026-11-01\n'
    path.write_text(GRANT.format(funder=funder) + own.format(currency, rate), encoding="utf-8")
    assert read_grant(path).institution.equipment_threshold == threshold
    if funder == "dfg":  # a rate of a day that is not yet is nobody's
        with pytest.raises(InputError, match=r"usd_per_unit_on: 2026-11-01 is in the future"):
            load_grant(Store(store_path), read_grant(path), date(2026, 10, 31))
        with pytest.raises(InputError, match=r"usd_per_unit_on: 2026-11-01 is in the future"):
            read_grant(path, date(2026, 10, 31))  # before a store is opened
    rules = '[institution]\nrules = "us-equipment-10000"\n'
    path.write_text(GRANT.format(funder=funder) + rules, encoding="utf-8")
    assert read_grant(path).institution.overhead_rate == Decimal("0.15")
    (abroad,) = [text for text in cautions_of(read_grant(path)) if "Counted by" in text]
    assert f'write rules = "{house.file[:-5]}" under [institution]' in abroad


def test_rules_state_one_threshold(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    both = "equipment_threshold = 1\nequipment_threshold_usd = 1\n"
    for text in ("", both):
        path.write_text(f'name = "H"\noverhead_rate = 0.1\n{text}', encoding="utf-8")
        with pytest.raises(InputError, match=r"equipment_threshold_usd: .*one of the two"):
            read_institution(path)


def test_a_yearly_line_is_paid_once_for_two_halves_of_a_year() -> None:
    grant = read_grant(EXAMPLE)
    storage = CostLine(name="Disks", kind="storage", amount=AmountOrZero(1200), per="year")
    grant = replace(grant, costs=(storage,), award_years="fiscal")  # from July
    paid = [fixed_amount(PLAIN, each, Rules()) for each in fixed_costs(grant)]
    assert len(paid) == grant.months // 12 + 1 and sum(paid) == 100 * grant.months
    assert paid[0] == (Decimal(1200) * 181 / 365).quantize(Decimal("0.01"))


def test_what_is_wanted_every_year_is_wanted_every_twelve_months(
    store_path: Path, tmp_path: Path
) -> None:
    """Where a fiscal year cuts the money of two years in three, no half year is left without."""
    path = tmp_path / "grant.toml"
    text = GRANT.format(funder="plain").replace("years = 3", 'years = 2\naward_years = "calendar"')
    path.write_text(text.replace("2027-01-01", "2027-07-01") + "each_year = true\n")
    loaded = load_grant(Store(store_path), read_grant(path), TODAY)
    wanted = loaded.problem.experiments
    assert [(e.release_day, e.due_day) for e in wanted] == [(0, 366), (366, 731)]
    assert [e.name for e in wanted] == ["Pythia 410M, year 1", "Pythia 410M, year 2"]
    assert [e.experiment_id for e in wanted] == ["pythia-410m, year 1", "pythia-410m, year 2"]
    assert loaded.problem.year_days == (0, 184, 550, 731)


@pytest.mark.parametrize("rules", sorted(shipped()))
def test_every_setting_of_shipped_rules_has_its_source(planned: Planned, rules: str) -> None:
    """The annex shows each with where it comes from."""
    assert planned.plan is not None
    house = find_institution(rules, EXAMPLE)
    grant = replace(planned.loaded.grant, institution=house)
    given = Material(replace(planned.loaded, grant=grant), planned.plan, UNEXPLAINED)
    table = settings_table(given)
    assert len(table.rows) > 8
    assert [row[0] for row in table.rows if row[2] == NO_SOURCE] == []
