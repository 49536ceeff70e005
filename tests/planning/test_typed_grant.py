"""Numbers of a grant that are written as texts mean what they mean on the command line."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from advisor.planning.grant.grant_keys import GrantFile
from advisor.planning.grant.toml_reader import read_toml
from advisor.planning.plan_grant import grant_at
from advisor.store import Store
from advisor.typed_input import InputError
from tests.planning.forms_for_tests import grant_head
from tests.planning.grant_files import refused

GRANT = """
[grant]
start = 2027-01-01
years = 3
[[experiments]]
model = "pythia-1b"
"""
OWNED = '[[owned]]\ngpu = "H100"\n'
HOURS = '[[allocations]]\ngpu = "H100"\n'


def read(folder: Path, text: str) -> GrantFile:
    path = folder / "grant.toml"
    path.write_text(GRANT + text)
    return read_toml(path, GrantFile, "write one")


@pytest.mark.parametrize(
    ("text", "place", "number"),
    [
        ('runs = "1.5k"', "experiments[0].runs", 1500),
        ('runs = "3 runs"', "experiments[0].runs", 3),
        ("runs = 3.0", "experiments[0].runs", 3),
        ('[running]\nutilisation = "80 %"', "running.utilisation", 0.8),
        ('[running]\nslack = "0.2"', "running.slack", 0.2),
        ('[running]\nlongest_run_days = "8w"', "running.longest_run_days", 56),
        (
            '[running]\nutilisation_by_year = ["60%", 0.8, "0.8"]',
            "running.utilisation_by_year[0]",
            0.6,
        ),
        ('[purchases]\nprice_change = "-10%"', "purchases.price_change", -0.1),
        ('[electricity]\nusd_per_kwh = "$0.15"', "electricity.usd_per_kwh", 0.15),
        ('[electricity]\nhost_watts = "0.3 kW"', "electricity.host_watts", 300),
        ('[institution]\noverhead_rate = "61.5 %"', "institution.overhead_rate", 0.615),
        ('[institution]\nlife_months = "4 years"', "institution.life_months", 48),
        (f'{OWNED}gpu_count = "2"\nhost_memory_gib = "1TB"', "owned[0].host_memory_gib", 1024),
        (f'{HOURS}gpu_hours_a_year = "3,000 GPU hours"', "allocations[0].gpu_hours_a_year", 3000),
        (f'{HOURS}max_job_days = "48h"', "allocations[0].max_job_days", 2),
        (f'{HOURS}odds = "50%"', "allocations[0].odds", 0.5),
    ],
)
def test_a_number_is_read_as_a_flag_reads_it(
    tmp_path: Path, text: str, place: str, number: float
) -> None:
    found: Any = read(tmp_path, text)
    for step in place.replace("[", ".").replace("]", "").split("."):
        found = found[int(step)] if step.isdigit() else getattr(found, step)
    assert float(found) == pytest.approx(number)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('runs = "three"', "experiments[1].runs: must be a whole number from 1 to 10000"),
        ('runs = "1.5"', "experiments[1].runs: must be a whole number"),
        ('[running]\nslack = "95%"', "running.slack: must be a number from 0 to 0.9"),
        ('[running]\nlongest_run_days = "0,5"', "has a comma for the decimal point: write 0.5"),
        (f'{OWNED}gpu_count = 1\nhost_memory_gib = "64 days"', "host_memory_gib: must be a number"),
        ('[electricity]\nusd_per_kwh = "€0.15"', "usd_per_kwh: must be a number above 0"),
        ('[electricity]\npue = "150%"', "pue: must be a number from 1 to 5"),
        ('[budget]\nvat = "1e999"', "vat: must be a number from 0 to 0.5"),
        ('[procurement]\ncountry = "UK"', "procurement.country: 'UK' is GB in ISO 3166: write GB"),
    ],
)
def test_what_is_not_read_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_day_before_all_prices_is_refused(tmp_path: Path, store_path: Path) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(f'{GRANT}[evidence]\nprices = "2010-01-01"\n')
    with pytest.raises(InputError) as caught:
        grant_at(Store(store_path), path, objective=None, today=date(2026, 11, 26))
    assert str(caught.value) == (
        "grant.toml, evidence.prices: no price of 1 January 2010 or before is known: the first is "
        "of 1 July 2017; write a later day, or latest"
    )


def test_a_funder_in_a_longer_name_is_meant(tmp_path: Path) -> None:
    said = refused(tmp_path, grant_head(more='funder = "NSF CAREER"\n'))
    assert "did you mean 'nsf' or" in said
