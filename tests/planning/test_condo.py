"""A share of a campus condo that grant money buys: its charge, its words, its refusals."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.planning.solver.money.cents import kept_value, purchase_cents, run_cents
from advisor.planning.solver.problem import BUY_IN, MachineExtra, Rules
from price_catalog.power import PowerFigures
from tests.planning.forms_for_tests import GRANT
from tests.planning.grant_files import refused
from tests.plans_for_tests import make_machine, make_problem

SHARE = """
[[allocations]]
name = "Campus condo"
gpu = "RTX A6000"
max_gpus = 8
buy_in = "$40,000"
buy_in_on = 2026-11-02
lasts_years = 5
"""


def test_a_share_is_paid_as_stated_and_powered_by_the_campus() -> None:
    machine = make_machine("m", "40000", {"a": 10.0})
    line = replace(machine.lines[0], quote_kind=BUY_IN)
    no_power = PowerFigures(gpu_w=None, gpu_count=8, stated_w=Decimal(0))
    share = replace(machine, lines=(line,), power=no_power, share_of="Campus condo")
    rules = Rules(
        equipment_threshold=Decimal(10_000),
        overhead_rate=Decimal("0.5"),
        overhead_rate_cloud=Decimal("0.25"),
        discount=Decimal("0.1"),
        vat=Decimal("0.2"),
        price_change=Decimal("-0.1"),
        cost_share=Decimal("0.5"),
        price_per_kwh=Decimal("0.15"),
        machine_extras=(MachineExtra(key="costs[1]", name="Rack", amount=Decimal(500)),),
    )
    charged = [(None, 40_000_00), (True, 50_000_00), (False, 40_000_00)]
    for in_base, cents in charged:
        bought = replace(share, in_base=in_base)
        assert purchase_cents(bought, rules, 365) == cents
        # A service is paid when it is bought, equipment as it is written off.
        months = replace(rules, life_months=80, grant_months=40)
        half = 2 if in_base is None else 1
        assert purchase_cents(bought, months, 0) == cents // half
    assert run_cents(share, "a", rules) == 0
    problem = make_problem(rules=replace(rules, lifetime_years=Decimal(9)))
    assert kept_value(machine, 0, problem) > kept_value(share, 0, problem) == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("buy_in_on = 2026-11-02\n", "", "buy_in_on: must be the day of that price"),
        ("lasts_years = 5\n", "", "lasts_years: must be the years that the share is served"),
        ("lasts_years = 5", "lasts_years = 2", "lasts_years: must be at least 3: a share that"),
        ("max_gpus = 8\n", "", "max_gpus: must be the GPUs in one share"),
        ('buy_in = "$40,000"\n', "", "buy_in_on: belongs to a share that is bought"),
        ("max_gpus", 'kind = "campus"\nmax_gpus', 'kind: must be "condo"'),
        ("max_gpus", "odds = 0.5\nmax_gpus", "odds: stands beside buy_in, which buys machines"),
        ("max_gpus", "gpu_hours_a_year = 9\nmax_gpus", "gpu_hours_a_year: stands beside buy_in"),
        ('"$40,000"', "-1", "buy_in: "),
        ("max_gpus", 'programme = "caltech-hpc"\nmax_gpus', "programme: stands beside buy_in"),
    ],
)
def test_what_is_wrong_with_a_share_is_one_line(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    said = refused(tmp_path, GRANT.format(funder="nsf") + SHARE.replace(old, new))
    assert f"allocations[1].{words}" in said
