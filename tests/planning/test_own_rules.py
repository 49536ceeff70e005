"""What a grant says of its own institution, and the example that has every key."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from pathlib import Path

from msgspec import inspect

from advisor.planning.grant.candidates.cost_lines import fixed_costs
from advisor.planning.grant.grant_keys import GrantFile
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.problem_of_grant import rules_of
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant
from advisor.planning.report.number_ledger import NumberLedger
from advisor.planning.solver.money.arithmetic import PLAIN
from advisor.planning.solver.money.cents import purchase_cents, rental_cents
from advisor.planning.solver.money.charges import fixed_amount
from advisor.planning.solver.problem import Rules
from advisor.store import Store
from advisor.typed_input import InputError
from tests.planning.forms_for_tests import SMALL
from tests.planning.forms_for_tests import read as read_text
from tests.plans_for_tests import make_machine, make_rental


def read(tmp_path: Path, text: str) -> Grant:
    """What this says after the small head."""
    return read_text(tmp_path, SMALL + text)


def test_a_rate_agreement_is_written_in_the_grant(tmp_path: Path) -> None:
    """No file of rules need be copied."""
    rules = '[institution]\nrules = "us-equipment-10000"\n'
    grant = read(
        tmp_path,
        f'{rules}name = "State University"\noverhead_rate = 0.55\nequipment_threshold = "$5,000"\n'
        'cloud_as = "waived"\nsource = "agreement of 2026-03-01"\n',
    )
    house = grant.institution
    assert (house.name, house.note) == ("State University", None)
    assert house.sources["overhead_rate"] == "agreement of 2026-03-01"
    assert "89 FR 30136" not in house.sources["equipment_threshold"]
    used = rules_of(grant)
    assert purchase_cents(make_machine("m", "5000", {}), used) == 5000_00
    assert purchase_cents(make_machine("m", "4000", {}), used) == 6200_00
    assert rental_cents(make_rental("r", "1", {"a": 1.0}), "a", used) == 24_00
    alone = read(tmp_path, "[institution]\noverhead_rate = 0.5\nequipment_threshold = 100\n")
    assert purchase_cents(make_machine("m", "99", {}), rules_of(alone)) == 148_50


def test_a_rate_of_each_year_is_charged_on_what_is_paid_in_it(tmp_path: Path) -> None:
    grant = read(
        tmp_path,
        '[institution]\nrules = "us-equipment-10000"\noverhead_rate_by_year = [0.5, 0.6]\n'
        '[[costs]]\nname = "disks"\nkind = "storage"\namount = 1000\nper = "year"\n'
        "price_change = 0.1\n"
        '[[costs]]\nname = "rack"\nkind = "racks"\namount = 1000\nyear = 2\noverhead = 0.26\n',
    )
    rules = rules_of(grant)
    machine, rental = make_machine("m", "1000", {}), make_rental("r", "1", {"a": 1.0})
    assert [purchase_cents(machine, rules, day) for day in (0, 364, 366)] == [
        1500_00,
        1500_00,
        1600_00,
    ]
    assert [rental_cents(rental, "a", rules, day) for day in (0, 366)] == [36_00, 38_40]
    assert grant.institution.overhead_rate == Decimal("0.549932")  # by 366 and 365 days
    first, second, rack = fixed_costs(grant)
    assert [fixed_amount(PLAIN, each, Rules()) for each in (first, second)] == [1000, 1100]
    # A sheet follows where the first year's amount is changed.
    ledger = NumberLedger()
    later = ledger.rows[fixed_amount(ledger, second, Rules()).row - 1]
    assert later.operation == "product" and ledger.rows[later.of[0] - 1].origin == {
        "key": "costs[1].amount"
    }
    assert second.rate is None
    assert (rack.amount, rack.rate, rack.rate_key) == (1000, Decimal("0.26"), "costs[2].overhead")


def test_the_example_names_every_key() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    parts = re.split(r"^(?:# )?\[\[?(\w+)\]\]?", text, flags=re.MULTILINE)
    said: dict[str, str] = {}
    for table, lines in zip(parts[1::2], parts[2::2], strict=True):
        said[table] = said.get(table, "") + lines
    info = inspect.type_info(GrantFile)
    assert isinstance(info, inspect.StructType)
    missing = []
    for field in info.fields:
        kind = field.type.item_type if isinstance(field.type, inspect.VarTupleType) else field.type
        assert isinstance(kind, inspect.StructType)
        missing += [
            f"{field.name}.{key.name}"
            for key in kind.fields
            if not re.search(rf"\b{key.name} = ", said[field.name])
        ]
    assert missing == []


WANT_MORE = (
    "remove one of the two",
    "either amount",
    "is there twice",
    "in dollars, and the grant",
    "must pay it",
    "must say who pays",
    "names who pays, but no sum is there",
    "pays nothing",
    "written off",
    "needs a currency",
    "needs its day",
    "says something of a rate",
    "is of fine-tuning",
)
"""What is said of a line that wants another changed as well."""


def test_every_line_of_the_example_that_is_commented_out_can_be_put_in(tmp_path: Path) -> None:
    """One at a time; one that stands instead of another says so."""
    lines = EXAMPLE.read_text(encoding="utf-8").split("\n")
    keys = [n for n, line in enumerate(lines) if re.match(r"# \w+ = ", line)]
    assert len(keys) > 25
    tables = {n for n, line in enumerate(lines) if line.startswith("# [[")}
    path = tmp_path / "grant.toml"
    for n in keys:
        header = max((t for t in range(n) if re.match(r"(# )?\[", lines[t])), default=0)
        put_in = {n, header} if header in tables else {n}
        if header in tables:  # with the keys that its table needs
            put_in |= {k for k in keys if header < k and _table(lines, k) == header}
        made = [line.removeprefix("# ") if k in put_in else line for k, line in enumerate(lines)]
        path.write_text("\n".join(made))
        try:
            read_grant(path)
        except InputError as error:
            told = str(error)
            assert any(words in told for words in WANT_MORE), told


def _table(lines: list[str], number: int) -> int:
    return max(t for t in range(number) if re.match(r"(# )?\[", lines[t]))


# Prices in dollars and in the grant's currency


EUROS = '[budget]\ncurrency = "EUR"\nusd_per_unit = 1.25\nusd_per_unit_on = 2026-11-02\n'
HOURS = '[[allocations]]\nname = "Campus"\ngpu = "H100"\n'


def priced(grant: Grant, store_path: Path) -> Decimal:
    """What an hour of one GPU of the only allocation costs."""
    loaded = load_grant(Store(store_path), grant, date(2026, 11, 22))
    (rental,) = (r for r in loaded.problem.rentals if r.allocation and r.gpu_count == 1)
    return rental.price_per_hour


def test_dollars_stay_dollars_in_a_grant_in_euros(tmp_path: Path, store_path: Path) -> None:
    """Rates of campuses and programmes are published in dollars."""
    dollars = read(tmp_path, f"{EUROS}{HOURS}usd_per_gpu_hour = 2\n")
    euros = read(tmp_path, f"{EUROS}{HOURS}price_per_gpu_hour = 2\n")
    assert priced(dollars, store_path) == Decimal("1.6")
    assert priced(euros, store_path) == 2
    power = '[electricity]\npaid_by = "grant"\n'
    assert read(tmp_path, f"{EUROS}{power}usd_per_kwh = 0.2\n").price_per_kwh == Decimal("0.16")
    assert read(tmp_path, f"{EUROS}{power}price_per_kwh = 0.2\n").price_per_kwh == Decimal("0.2")
    assert [v.key for v in euros.allocation_values if "hour" in v.key] == ["price_per_gpu_hour"]


def test_a_cloud_s_credit_is_hours_that_the_grant_does_not_pay(
    tmp_path: Path, store_path: Path
) -> None:
    credit = 'kind = "cloud-credit"\ncredit = "$5,000"\nusd_per_gpu_hour = 2.5\n'
    grant = read(tmp_path, HOURS + credit)
    assert priced(grant, store_path) == 0
    (said,) = (v for v in grant.allocation_values if "gpu_hours" in v.key)
    assert said[1:] == ("gpu_hours", "2000", "a credit of 5,000 at 2.5 a GPU-hour")
    # One pot: what is not used in one year is there in the next.
    loaded = load_grant(Store(store_path), grant, date(2026, 11, 22))
    (allocation,) = loaded.problem.allocations
    assert [allocation.pool_of(year) for year in range(2)] == [(0, 2000)] * 2


def test_a_year_that_is_cut_short_has_its_share_of_hours(tmp_path: Path, store_path: Path) -> None:
    """A grant of two years from March has three calendar years, and the hours of two."""

    def hours(text: str) -> list[Decimal]:
        loaded = load_grant(Store(store_path), cut(text), date(2026, 11, 22))
        (allocation,) = loaded.problem.allocations
        return [allocation.pool_of(year)[1] or Decimal(0) for year in range(loaded.problem.years)]

    def cut(text: str) -> Grant:
        path = tmp_path / "grant.toml"
        path.write_text(SMALL.replace("years = 2", 'years = 2\naward_years = "calendar"') + text)
        return read_grant(path)

    own = hours(f"{HOURS}gpu_hours_a_year = 3650\n")
    assert [round(each) for each in own] == [3060, 3650, 590]
