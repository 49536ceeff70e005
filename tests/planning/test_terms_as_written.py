"""The terms of a grant as its file writes them: currencies, days and years, and wrong ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.planning.grant.candidates.cost_lines import order_days
from advisor.planning.grant.read_grant import check_grant
from advisor.planning.plan_grant import EXAMPLE
from advisor.planning.solver.solve import solve
from advisor.typed_input import InputError
from tests.planning.forms_for_tests import SMALL, read
from tests.planning.grant_files import refused
from tests.plans_for_tests import make_experiment, make_machine, make_problem


def test_a_grant_in_euros_has_a_rate_with_its_day(tmp_path: Path) -> None:
    grant = read(tmp_path, SMALL + '[budget]\ncurrency = "EUR"\ntotal = "100k"\n')
    assert grant.budget == 100_000
    assert grant.currency.in_usd(grant.budget) == 114_030
    assert grant.currency.written(grant.budget) == "€100,000"
    assert "1.1403" in grant.currency.note
    assert "25 September 2026" in grant.currency.note
    with pytest.raises(
        InputError, match=r"budget\.currency: no rate of JPY ships.*usd_per_unit_on"
    ):
        read(tmp_path, SMALL + '[budget]\ncurrency = "JPY"\n')
    rate = "usd_per_unit = 1e-300\nusd_per_unit_on = 2026-11-01\n"
    with pytest.raises(
        InputError, match=r"usd_per_unit: must be a number from 0\.000001 to 1000000"
    ):
        read(tmp_path, SMALL + f'[budget]\ncurrency = "JPY"\n{rate}')


@pytest.mark.parametrize(("code", "usd"), [("GBP", "135650"), ("CHF", "123900"), ("CAD", "72630")])
def test_the_currencies_of_the_forms_have_a_rate_with_day_and_source(
    tmp_path: Path, code: str, usd: str
) -> None:
    grant = read(tmp_path, SMALL + f'[budget]\ncurrency = "{code}"\ntotal = "100k"\n')
    assert grant.currency.in_usd(grant.budget) == Decimal(usd)
    assert grant.currency.note is not None
    assert "9 September 2026" in grant.currency.note
    assert "ECB" in grant.currency.note


def test_machines_may_be_ordered_on_days_that_are_named(tmp_path: Path) -> None:
    text = SMALL + "[purchases]\norder_on = [2028-02-10, 2027-05-15]\n"
    grant = read(tmp_path, text)
    assert order_days(grant) == (75, 346)
    halves = read(tmp_path, f"{SMALL}[purchases]\norder_every_months = 6\n")
    assert order_days(halves) == (0, 184, 366, 550)
    for bad, words in (
        ("order_on = [2031-01-01]", "2031-01-01 is outside the grant"),
        ("order_on = [2027-05-15]\norder_every_months = 3", "remove one of the two"),
    ):
        with pytest.raises(InputError, match=words):
            read(tmp_path, SMALL + f"[purchases]\n{bad}\n")
    machine = make_machine("m", "1000", {"a": 100.0})
    problem = make_problem(
        year_days=(0, 365), experiments=(make_experiment("e", "a", 2, 0, 365),), machines=(machine,)
    )
    late = replace(problem, order_days=(75,))
    first = min(start for p in solve(late).placed for start, _ in p.pieces)
    assert first >= 75


def test_a_threshold_holds_only_from_its_day_on(tmp_path: Path) -> None:
    early = SMALL.replace("2027-03-01", "2024-03-01")
    rules = '[institution]\nrules = "us-equipment-10000"\n'
    assert read(tmp_path, SMALL + rules).institution.threshold_valid_from == date(2024, 10, 1)
    with pytest.raises(InputError, match=r"institution\.rules: .*\$10,000 holds from 2024-10-01"):
        read(tmp_path, early + rules)
    # What is ordered after that day may count by it; where nothing is bought it does not matter.
    read(tmp_path, early + rules + "[purchases]\norder_on = [2025-01-10]\n")
    read(tmp_path, early + rules + "[purchases]\nallowed = false\n")
    read(tmp_path, early + rules.replace("10000", "5000"))


def test_award_years_are_cut_as_the_funder_counts_them(tmp_path: Path) -> None:
    text = SMALL.replace("years = 2", 'years = 2\naward_years = "calendar"')
    assert read(tmp_path, text).year_dates == (
        date(2027, 3, 1),
        date(2028, 1, 1),
        date(2029, 1, 1),
        date(2029, 3, 1),
    )
    with pytest.raises(InputError, match=r"2 amounts for 3 calendar years \(award_years"):
        read(tmp_path, text + '[budget]\nper_year = ["1k", "1k"]\n')


WON = 'currency = "KRW"\nusd_per_unit = 0.00068\nusd_per_unit_on = 2026-11-02\n'
HOURS = '[[allocations]]\nname = "Campus"\ngpu = "H100"\n'
HOUSE = '[institution]\nrules = "us-equipment-10000"\n'
STAFF = '[[costs]]\nname = "x"\nkind = "staff"\namount = 1\n'
HOURLY = 'name = "campus"\ngpu = "H100"\nprice_per_gpu_hour = '


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("1_500_000_000", 1_500_000_000),
        ('"KRW 1,500,000,000"', 1_500_000_000),
        ('"1500M KRW"', 1_500_000_000),
        ('"₩40k"', 40_000),
        ('"KRW 0"', 0),
        ("0.0", 0),
    ],
)
def test_an_amount_has_its_own_currency(tmp_path: Path, written: str, amount: int) -> None:
    hours = f"[[allocations]]\n{HOURLY}4500\n[electricity]\nprice_per_kwh = 1200\n"
    grant = read(tmp_path, f"{SMALL}[budget]\ntotal = {written}\n{WON}{hours}")
    assert grant.budget == amount


@pytest.mark.parametrize(
    ("written", "code", "amount"),
    [
        ("C$150,000", "CAD", "150000"),
        ("CA$150k", "CAD", "150000"),
        ("$150,000", "CAD", "150000"),
        ("CHF 90'000", "CHF", "90000"),
        ("€90.000,00", "EUR", "90000"),
        ("90.000,50 €", "EUR", "90000.50"),
        ("90 000,00 €", "EUR", "90000"),
        ("1.234.567", "EUR", "1234567"),
        ("£0", "GBP", "0"),
    ],
)
def test_an_amount_is_read_as_it_is_written_where_its_currency_is_used(
    tmp_path: Path, written: str, code: str, amount: str
) -> None:
    text = f'{SMALL}[budget]\ntotal = "{written}"\ncurrency = "{code}"\n'
    assert read(tmp_path, text).budget == Decimal(amount)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[purchases]\ncost_share = 0.5\n", "purchases.cost_share_by"),
        ('[purchases]\ncost_share_by = "x"\n', "purchases.cost_share_by: pays nothing"),
        ('[electricity]\npaid_by = "grant"\n', "electricity.usd_per_kwh: is missing: write what"),
        ("[running]\nutilisation_by_year = [0.5]\n", "running.utilisation_by_year"),
        ('[[costs]]\nname = "x"\nkind = "storage"\n', "costs[1]: needs either amount"),
        ('[[costs]]\nname = "x"\nkind = "storag"\namount = 1\n', "did you mean 'storage'"),
        ('[[allocations]]\nname = "x"\ngpu = "H100"\nodds = 0\n', "allocations[1].odds"),
        ('[[allocations]]\nname = "x"\n', "allocations[1].gpu"),
        ("[purchases]\norder_every_months = 2\n", "one of 1, 3, 6, 12"),
        ('[budget]\ncurrency = "EUR"\ntotal = "$40k"\n', "budget.total: is in dollars, and the"),
        ('[budget]\ncurrency = "GBP"\nper_year = ["1k", "$1k", 1]\n', "budget.per_year[2]: is in"),
        ('[budget]\ntotal = "40k euros"\n', 'USD: write it in USD, or currency = "EUR"'),
        (
            '[budget]\ntotal = "kEUR 40"\n',
            "'kEUR 40' is not an amount: write one such as 40000, 40k or EUR 40,000",
        ),
        ('[budget]\ntotal = "€€5"\n', "budget.total: '€€5' has its currency twice: write it like"),
        ('[budget]\ntotal = "€5 $"\n', "budget.total: '€5 $' has two currencies: write it like"),
        ('[budget]\ntotal = "C$"\n', "budget.total: 'C$' has no amount: write it like 40k CAD"),
        ('[budget]\ntotal = "C$ 5k"\n', "is in CAD, and the grant is in USD: write it"),
        ('[budget]\ntotal = "US$5k"\ncurrency = "CAD"\n', "is in USD, and the grant is in CAD"),
        ('[budget]\ntotal = "€40,000"\n', ', or currency = "EUR" under [budget]'),
        (f"[budget]\ntotal = 1_600_000_000_000\n{WON}", "budget.total: is over $1,000,000,000"),
        (f"[budget]\ntotal = 1\n{WON}[[allocations]]\n{HOURLY}2e6\n", "is over $1,000: write it"),
        (
            f'[budget]\n{WON}[[allocations]]\n{HOURLY}1\ncredit = "€5"\n',
            "allocations[1].credit: is in EUR, and the price of an hour in KRW: write both in one",
        ),
        (
            '[[allocations]]\nname = "c"\ngpu = "H100"\nmax_job_days = 5e-324\n',
            "allocations[1].max_job_days: must be a number from 0.01 to 365",
        ),
        (
            '[purchases]\nlifetime_years = 5\n[institution]\nrules = "horizon-europe"\n',
            "purchases.lifetime_years: the rules of Horizon Europe (",
        ),
        (
            '[[owned]]\ngpu = "H100"\ngpu_count = 1\nusable_from = 2040-01-01\n',
            "owned[1].usable_from: 2040-01-01 is after the grant, which ends on 2029-03-01: mend",
        ),
        (
            '[[costs]]\nname = "x"\nkind = "other"\namount = 1\nshare_of_price = 0.1\n',
            "costs[1]: needs either amount or share_of_price, and has both",
        ),
        ("[budget]\ncurrency = 5\n", 'must be text: write it between quotes, like "EUR"'),
        ("[institution]\nfiscal_year_start = 2027-07-01\n", 'between quotes, like "07-01"'),
        ("[rentals]\nkinds = [1]\n", "must be one of on-demand, peer, spot, between quotes"),
        ("[evidence]\ntimes = 5\n", "must be one of published, sound, between quotes"),
        ("[running]\n[running]\n", "a key or a table is there twice (at line"),
        ("[running]\nslack = 0\nslack = 0\n", "column 10): remove one of the two"),
        (
            "[running]\nutilisation = 0.5\nutilisation_by_year = [0.5, 0.6]\n",
            "running.utilisation_by_year: stands beside utilisation, and only one can count",
        ),
        (
            "[electricity]\nusd_per_kwh = 0.1\nprice_per_kwh = 0.1\n",
            "electricity.price_per_kwh: stands beside usd_per_kwh",
        ),
        (
            "[institution]\noverhead_rate = 0.5\noverhead_rate_by_year = [0.5, 0.6]\n",
            "institution.overhead_rate_by_year: stands beside overhead_rate",
        ),
        ("[budget]\nusd_per_unit_on = 2026-09-25\n", "usd_per_unit_on: says something of a rate"),
        ('[[allocations]]\nresource = "x"\n', "resource: belongs to a programme: write programme"),
        ('[budget]\nper_year = "10k"\n', 'per_year: must be a list of amounts, like ["40k"'),
        ("[foo]\nx = 1\n", "foo: this key is not known; known: allocations, budget, costs"),
        ("[grantt]\nx = 1\n", "grantt: this key is not known; did you mean 'grant'?"),
        (f"{HOUSE}overhead_rate_by_year = [0.5]\n", "has 1 rate for 2 years: write one for each"),
        (f"{HOUSE}overhead_rate_by_year = 0.5\n", "must be a list of numbers from 0 to 2"),
        (f"{HOUSE}overhead_rate_by_year = [0.5, 57]\n", "overhead_rate_by_year[2]: must be a"),
        (f"{HOUSE}overhead_rate = 55\n", "must be a number from 0 to 2: 55 % is 0.55"),
        (f'{HOUSE}overhead_rate = "615 %"\n', "must be a number from 0 to 2"),
        ("[budget]\nvat = 19\n", "budget.vat: must be a number from 0 to 0.5: 19 % is 0.19"),
        ("[budget]\nvat = 90\n", "budget.vat: must be a number from 0 to 0.5"),
        (f"{HOUSE}life_months = 60\n", "is for equipment that is written off"),
        (f'{HOUSE}fiscal_year_start = "31-12"\n', "fiscal_year_start: '31-12' is not a day"),
        ("[institution]\noverhead_rate = 0.5\n", "institution.equipment_threshold: overhead needs"),
        (
            '[institution]\nrules = "horizon-europe"\noverhead_rate_by_year = [0.25, 0.25]\n',
            "one rate: write overhead_rate",
        ),
        (
            '[institution]\nrules = "horizon-europe"\nequipment_threshold = "$5k"\n',
            "institution.equipment_threshold: is in dollars, and the grant is in EUR",
        ),
        ("[running]\nutilisation_by_year = 0.5\n", "must be a list of numbers above 0 and at most"),
        ("[purchases]\norder_on = 2027-08-01\n", "must be a list of dates, without quotes"),
        (
            f'{STAFF}overhead = "no"\n',
            "costs[1].overhead: must be true, false or a rate from 0 to 2",
        ),
        (
            f"{STAFF}overhead = nan\n",
            "costs[1].overhead: must be true, false or a rate from 0 to 2",
        ),
        (
            f'{STAFF}per = "machine"\noverhead = 0.1\n',
            "costs[1].overhead: what is paid with a machine bears overhead as that does",
        ),
        (
            f"{STAFF}price_change = 0.1\n",
            'costs[1].price_change: is for an amount of every year: write per = "year"',
        ),
        (
            f'{STAFF}per = "year"\nyear = 2\n',
            'costs[1].year: is for what is paid once: write per = "grant"',
        ),
        (f"{HOURS}credit = 5000\n", "allocations[1].credit: needs the price of an hour"),
        (f"{HOURS}credit = 5000\nusd_per_gpu_hour = 0\n", "needs the price of an hour"),
        (
            f"{HOURS}credit = 5000\nusd_per_gpu_hour = 1\ngpu_hours_a_year = 9\n",
            "remove one of the two",
        ),
        (f"{HOURS}gpu_hours = 9\ngpu_hours_a_year = 9\n", "remove one of"),
        (
            f'{HOURS}kind = "campus"\n',
            "gpu_hours_a_year: is missing: write it, or the",
        ),
        (f"{HOURS}usd_per_gpu_hour = 1\nprice_per_gpu_hour = 1\n", "remove one of the two"),
        (
            f'{HOURS}credit = "$5k"\nprice_per_gpu_hour = 1\n',
            "allocations[1].credit: is in dollars",
        ),
        (
            f"{HOURS}credit = 5000\nusd_per_gpu_hour = 1e-9\n",
            "allocations[1].credit: is 5,000,000,000,000 GPU-hours",
        ),
        (f"{HOURS}credit = -5\nusd_per_gpu_hour = 1\n", "allocations[1].credit: "),
    ],
)
def test_what_is_wrong_with_a_term_is_said(tmp_path: Path, text: str, words: str) -> None:
    assert words in refused(tmp_path, SMALL + text)


def test_every_field_that_is_wrong_is_named(tmp_path: Path) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert check_grant(text, EXAMPLE)[0] is not None
    broken = text.replace("years = 3", "years = 99").replace("utilisation = 0.8", "utilisation = 4")
    _, errors = check_grant(broken.replace("by = 2027-06-01", 'by = "soon"'), EXAMPLE)
    assert set(errors) == {"grant.years", "running.utilisation", "experiments[5].by"}
    assert set(check_grant("[grant", EXAMPLE)[1]) == {""}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 4000), st.integers(0, 30), st.text(max_size=5))
def test_no_text_is_a_traceback(at: int, length: int, instead: str) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    grant, errors = check_grant(text[:at] + instead + text[at + length :], EXAMPLE)
    assert (grant is None) == bool(errors)
