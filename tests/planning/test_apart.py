"""What is paid with a machine and has a line of its own on the funder's form, as a warranty."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.report.formats.markdown_csv_json import to_markdown
from advisor.planning.solver.money.cents import paid_and_charged, purchase_cents
from advisor.planning.solver.problem import MachineExtra, Rules
from advisor.store import Store
from tests.planning.forms_for_tests import report_for
from tests.plans_for_tests import make_machine

GRANT = """
[grant]
title = "One machine"
start = 2027-01-01
years = 3
objective = "cheapest"
funder = "{funder}"
[budget]
total = "$60,000"
[[experiments]]
name = "Pythia 410M"
model = "pythia-410m"
[rentals]
allowed = false
[purchases]
gpus = ["RTX PRO 6000"]
[institution]
rules = "us-equipment-10000"
overhead_rate = 0.5
[[costs]]
name = "Extended warranty"
kind = "warranty"
per = "machine"
amount = "$900"
"""


@pytest.mark.parametrize(
    ("price", "cents"),
    [
        ("12000", (12_000 + 900 + 450) * 100),  # equipment bears no overhead, the warranty does
        ("9500", (9_500 + 4_750 + 900 + 450) * 100),  # with it the machine is no equipment
    ],
)
def test_it_bears_overhead_and_lifts_no_machine_over_the_threshold(price: str, cents: int) -> None:
    warranty = MachineExtra(
        key="costs[1].amount", name="Warranty", kind="warranty", amount=Decimal(900), apart=True
    )
    rules = Rules(
        overhead_rate=Decimal("0.5"),
        equipment_threshold=Decimal(10_000),
        machine_extras=(warranty,),
    )
    machine = make_machine("m", price, {"a": 10.0})
    assert purchase_cents(machine, rules) == cents
    paid, charged = paid_and_charged(machine, rules, 0)
    assert paid == charged
    inside = replace(rules, machine_extras=(replace(warranty, apart=False),))
    assert purchase_cents(machine, inside) != cents


@pytest.mark.parametrize(
    ("funder", "line"),
    [
        ("nsf", "| G6. Other: warranty and support | $900 | $0 | $0 | $900 |"),
        ("nih", "| F8. Other: warranty and support | $900 | $0 | $0 | $900 |"),
        ("dfg", None),
    ],
)
def test_the_funders_file_decides_on_which_line_it_stands(
    funder: str, line: str | None, store_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(GRANT.format(funder=funder), encoding="utf-8")
    loaded = load_grant(Store(store_path), read_grant(path), date(2026, 11, 22))
    planned = plan_loaded(loaded, 60, quick=True)
    assert planned.plan is not None and planned.plan.purchases
    funders, annex = map(to_markdown, report_for(planned).parts())
    # NIH takes modules: the lines stay in the office.
    text = re.sub(r" \\?\[\d+\\?\]", "", annex) if funder == "nih" else funders
    plain = text.replace(".00", "")
    if line is None:
        assert "$900 for warranty and support (Extended warranty)" in plain
        assert "warranty and support |" not in plain
    else:
        assert line in plain
        assert "we ask for $900 for warranty and support (Extended warranty), on its own" in plain
        assert "Beside each machine: warranty and support (Extended warranty)." in plain
