"""Amounts of a report in the currency of the grant: one sum, wherever it stands."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("typst")
pytest.importorskip("xlsxwriter")

from advisor.planning.currency import Currency
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.report.build_report import build_report
from advisor.planning.report.document import ReportTable
from advisor.planning.report.formats.markdown_csv_json import to_csv_text, to_json_text, to_markdown
from advisor.planning.report.formats.xlsx import to_xlsx
from advisor.planning.report.number_ledger import Num, NumberLedger
from advisor.planning.sensitivity.changes import vary
from advisor.planning.solver.money.cents import purchase_cents
from advisor.store import Store
from tests.planning.forms_for_tests import TODAY, grant_head, read, report_for


def amounts(table: ReportTable) -> list[list[Decimal]]:
    """The amounts of a table whose rows add up to its last one."""
    found = [
        [c.value for c in row if isinstance(c, Num) and c.unit in ("usd", "EUR", "JPY")]
        for row in table.rows
    ]
    assert all(len(row) == len(found[-1]) for row in found)
    return found


@pytest.mark.parametrize("code", ["USD", "EUR", "JPY"])
def test_every_table_adds_up_in_the_currency_of_the_grant(planned: Planned, code: str) -> None:
    """To the cent, or the yen, which has none: converted are prices and settings, and the rest is
    computed from them."""
    usd = Decimal("0.0067") if code == "JPY" else Decimal("1.1403")
    rate = Currency(code=code, usd_per_unit=usd, on=date(2026, 9, 25), source="ECB")
    price = {"EUR": Decimal("0.22"), "JPY": Decimal(22)}
    changes = {} if code == "USD" else {"currency": rate, "price_per_kwh": price[code]}
    report = report_for(planned, funder="horizon", **changes)
    tables = {table.name: table for table in report.tables()}
    *lines, direct, indirect, total = amounts(tables["Budget"])
    assert [sum(column) for column in zip(*lines, strict=True)] == direct
    assert [a + b for a, b in zip(direct, indirect, strict=True)] == total
    for row in (*lines, direct, indirect, total):
        assert sum(row[:-1]) == row[-1]
    # The same total wherever it stands.
    (recommended,) = [c.value for c in tables["Alternatives"].rows[0] if isinstance(c, Num)][:1]
    assert recommended == total[-1]
    # As a spreadsheet reads it where 1,50 is one and a half.
    cells = list(csv.DictReader(io.StringIO(to_csv_text(report)), delimiter=";"))[-1]
    assert (Decimal(cells["all years"].replace(",", ".")), cells["currency"]) == (total[-1], code)
    told = f"{code} 1 = USD {usd}, the rate of 25 September 2026 (ECB)"
    assert (told in cells.get("converted", "")) is (code != "USD")
    found = json.loads(to_json_text(report), parse_float=Decimal)
    assert Decimal(str(found["budget"]["lines"][-1]["total"]["value"])) == total[-1]
    assert ("exchange_rate" in found) is (code != "USD")
    annex = to_markdown(report.parts()[1]).partition("## Ledger")[0]
    quoted = r"## Rules and settings.*?## Sources"  # what others wrote of their own settings
    left = re.sub(quoted, "", annex, flags=re.DOTALL)
    assert ("$" in left) is (code == "USD")
    if code == "JPY":
        assert all(str(cells[name]).isdigit() for name in cells if name.endswith("years"))
        assert all(value == value.to_integral_value() for row in lines for value in row)
        assert re.search(r"JPY [\d,]+\.\d\d(?!\d| a)", annex) is None
    sheets = pytest.importorskip("openpyxl").load_workbook(io.BytesIO(to_xlsx(report)))
    wanted = {"EUR": '"EUR" #,##0.00', "JPY": '"JPY" #,##0', "USD": "$#,##0.00"}[code]
    last = sheets["Budget"].cell(len(tables["Budget"].rows) + 1, 2)
    assert last.number_format == wanted
    told = [cell.value for (cell,) in sheets["Report"].iter_rows(max_col=1)]
    assert any(str(text).startswith("Justification\nNeed. ") for text in told)
    assert any(str(text).startswith("Choice. ") for text in told)
    for sheet in sheets:  # a long label goes on in its cell, where its neighbour would cut it
        long = [c for row in sheet.iter_rows() for c in row if len(str(c.value)) > 80]
        assert all(c.alignment.wrap_text for c in long if c.data_type == "s"), sheet.title


def test_nothing_is_zero_of_each_currency_apart() -> None:
    ledger = NumberLedger()
    assert [ledger.total([], "nothing", unit).unit for unit in ("usd", "EUR")] == ["usd", "EUR"]


def test_what_is_asked_in_the_grants_currency_stays_what_it_is(
    store_path: Path, tmp_path: Path
) -> None:
    """Whatever rate the price list and the grant have; in dollars it is what the list says."""
    text = (
        grant_head("pythia-1b") + '[purchases]\ngpus = ["RTX 5090"]\n[rentals]\nallowed = false\n'
    )
    euros = 'currency = "EUR"\nusd_per_unit = 1.25\nusd_per_unit_on = 2026-11-02\n'
    tax = "[budget]\nvat = 0.19\n"
    for money, unit in ((f"{tax}{euros}", "EUR"), (tax, "USD")):
        loaded = load_grant(Store(store_path), read(tmp_path, text + money), TODAY)
        kiebel = [m for m in loaded.problem.machines if m.label.startswith("Kiebel workstation, 2")]
        (line,) = kiebel[0].lines
        quote = loaded.quotes[line.quote_id]
        assert quote.price_quoted is not None and quote.currency == "EUR"
        loaded = replace(loaded, problem=replace(loaded.problem, machines=tuple(kiebel)))
        found = plan_loaded(loaded, 30, quick=True)
        assert found.plan is not None and found.explanation is not None
        report = build_report(found.loaded, found.plan, found.explanation)
        (bought,) = json.loads(to_json_text(report))["purchases"]
        (priced,) = bought["quotes"]
        asked = quote.price_quoted if unit == "EUR" else quote.price_usd
        for key in ("price", "lowest", "highest"):
            amount = priced[key]
            assert (Decimal(str(amount["value"])), amount["unit"].upper()) == (asked, unit)
        paid = (asked * Decimal("1.19")).quantize(Decimal("0.01"))
        assert Decimal(str(bought["each"]["value"])) == paid
        assert Decimal(found.plan.cost_cents) / 100 == paid
        assert (f" {quote.price_quoted:,} " in to_markdown(report)) is (unit == "EUR")
        # Of another price it is not asked.
        usd = str(quote.price_usd / 2)
        other = vary(found.loaded.problem, {"price": (line.quote_id, usd)})
        assert purchase_cents(other.machines[0], other.rules, 0) < purchase_cents(
            kiebel[0], other.rules, 0
        )


RENTED = """
[grant]
start = 2027-01-01
years = 3
[budget]
total = "{total}"
currency = "{code}"
usd_per_unit = {rate}
usd_per_unit_on = 2026-11-02
shared = 500
shared_by = "the faculty"
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


@pytest.mark.parametrize(
    ("code", "rate"), [("GBP", "1.3565"), ("EUR", "1.0937"), ("JPY", "0.0067")]
)
def test_the_award_is_enough_and_the_smallest_coin_less_is_not(
    store_path: Path, tmp_path: Path, code: str, rate: str
) -> None:
    """The solver counts what the report adds up, so no second reckoning is needed; what is
    proposed instead is enough, as it is typed."""

    def planned_with(total: object) -> Planned:
        grant = read(tmp_path, RENTED.format(total=total, code=code, rate=rate))
        return plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)

    free = planned_with("900k" if code != "JPY" else "90M")
    assert free.plan is not None
    coin = Decimal(1).scaleb(-free.loaded.grant.currency.decimals)
    needed = Decimal(free.plan.cost_cents) / 100 - 500
    exact = planned_with(needed)
    assert exact.plan is not None and exact.plan.proven
    assert exact.plan.cost_cents == free.plan.cost_cents
    none = planned_with(needed - coin)
    assert none.plan is None
    written = none.loaded.grant.currency.exactly
    words = f"raise the budget by {written(coin)}, to {written(needed)}"
    assert none.ways_out[0].text(written) == words
