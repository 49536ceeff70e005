"""What a funder reads: its own lines, by award year, without marks, on at most four pages."""

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
from msgspec import structs

pytest.importorskip("matplotlib")
pytest.importorskip("typst")
pytest.importorskip("xlsxwriter")

from advisor.parse import InputError
from advisor.planning.grant.currency import Currency
from advisor.planning.grant.funder import FOLDER, FUNDERS, funder_form
from advisor.planning.grant.grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, Planned, load_grant, plan_loaded
from advisor.planning.report.award_years import entries
from advisor.planning.report.html import to_html
from advisor.planning.report.markdown_csv_json import to_csv_text, to_json_text, to_markdown
from advisor.planning.report.material import material_of
from advisor.planning.report.number_ledger import Num, NumberLedger
from advisor.planning.report.pdf import to_pdf
from advisor.planning.report.report import Report, ReportTable
from advisor.planning.report.sections import build_report
from advisor.planning.report.write import check_targets, write_report
from advisor.planning.report.xlsx import to_xlsx
from advisor.planning.solver.by_year import cents_by_year
from advisor.planning.solver.problem import MachineExtra
from advisor.store import Store
from price_catalog.model import OWN_QUOTE

TODAY = date(2026, 11, 22)


@pytest.fixture(scope="module")
def planned(store_path: Path) -> Planned:
    """Two models of the example: one machine is bought, runs go over the turn of a year."""
    grant = read_grant(EXAMPLE)
    grant = replace(grant, experiments=grant.experiments[:2], owned=(), rent=False)
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60)
    assert planned.plan is not None
    return planned


def report_for(planned: Planned, **changes: object) -> Report:
    grant = replace(planned.loaded.grant, **changes)  # type: ignore[arg-type]
    loaded = replace(planned.loaded, grant=grant)
    assert planned.plan is not None and planned.explanation is not None
    return build_report(loaded, planned.plan, planned.explanation, pictures=False)


@pytest.mark.parametrize("funder", FUNDERS)
def test_each_form_has_its_lines_its_paper_and_few_pages(planned: Planned, funder: str) -> None:
    form = funder_form(funder)  # type: ignore[arg-type]
    report = report_for(planned, funder=funder)
    part, annex = report.parts()
    table = part.tables()[0]
    assert table.columns[0] == form.name
    names = [str(row[0]) for row in table.rows]
    assert names[-3:] == [form.lines.direct, form.lines.indirect, form.lines.total]
    assert any(name.startswith(form.lines.equipment) for name in names)
    pdf = to_pdf(part)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 4
    width = 612 if form.paper == "us-letter" else 595
    assert re.search(rb"/MediaBox\s*\[\s*0 0 %d" % width, pdf)
    for text in (to_html(part), to_markdown(part)):
        assert not re.search(r"\[\d+\]|Ledger", text)
    assert "Ledger" in to_html(annex)
    assert not any(str(text) in to_markdown(part) for text in form.before_you_send.values())


def test_the_years_of_the_form_are_those_that_the_solver_kept_to(planned: Planned) -> None:
    plan, problem = planned.plan, planned.loaded.problem
    assert plan is not None and planned.explanation is not None
    found = entries(material_of(planned.loaded, plan, planned.explanation))
    by_year = cents_by_year(problem, plan.purchases, plan.placed)
    for year, cents in enumerate(by_year):
        asked = sum(e.direct.value + e.indirect.value for e in found if e.year == year)
        assert abs(asked * 100 - cents) <= len(found), year
    whole = sum(e.direct.value + e.indirect.value for e in found)
    assert whole * 100 == plan.cost_cents


def test_a_cheap_computer_is_supplies_in_table_and_text(planned: Planned) -> None:
    plan, problem = planned.plan, planned.loaded.problem
    assert plan is not None
    rules = replace(problem.rules, equipment_threshold_usd=Decimal(1_000_000))
    loaded = replace(planned.loaded, problem=replace(problem, rules=rules))
    report = report_for(replace(planned, loaded=loaded), funder="nsf")
    text = to_markdown(report.parts()[0])
    assert "D. Equipment" not in text and "G1. Materials and supplies: " in text
    assert "counted as supplies, below the threshold" in text


def test_another_currency_stands_in_table_and_note(planned: Planned) -> None:
    euro = Currency(code="EUR", usd_per_unit=Decimal("1.25"), on=date(2026, 11, 1), source="a bank")
    report = report_for(planned, currency=euro, funder="horizon")
    table = report.tables()[0]
    dollars = report_for(planned, funder="horizon").tables()[0]
    total, in_dollars = table.rows[-1][-1], dollars.rows[-1][-1]
    assert not isinstance(total, str | None) and not isinstance(in_dollars, str | None)
    assert total.unit == "EUR"
    assert abs(total.value * Decimal("1.25") - in_dollars.value) < Decimal("0.2")
    assert "$1.25 a EUR of 2026-11-01 (a bank)" in to_markdown(report.parts()[0])


def test_what_the_institution_pays_is_not_in_a_budget_of_the_nsf(store_path: Path) -> None:
    grant = read_grant(EXAMPLE)
    grant = replace(
        grant, experiments=grant.experiments[:1], pays_electricity=False, usd_per_kwh=None
    )
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60)
    text = to_markdown(report_for(planned, funder="nsf").parts()[0])
    assert "lectricity" not in text


@pytest.mark.parametrize("only", ["rented", "owned"])
def test_a_grant_that_buys_nothing_has_its_report_in_every_form(
    store_path: Path, tmp_path: Path, only: str
) -> None:
    """Costs of nothing at all have no place on a log axis."""
    grant = read_grant(EXAMPLE)
    experiment = structs.replace(grant.experiments[1], each_year=False, runs=1)
    grant = replace(grant, experiments=(experiment,), buy=False, rent=only == "rented")
    if only == "rented":
        grant = replace(grant, owned=())
    else:
        grant = replace(grant, pays_electricity=False, usd_per_kwh=None)
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60)
    assert planned.plan is not None and planned.explanation is not None
    assert not planned.plan.purchases
    assert bool(planned.plan.rented) == (only == "rented")
    report = build_report(planned.loaded, planned.plan, planned.explanation)
    names = [str(tmp_path / f"r.{ending}") for ending in ("pdf", "html", "md")]
    written = write_report(report, check_targets(names, force=False), force=False)
    assert {path.name for path in written} >= {"r.pdf", "r.html", "r.md"}
    assert all(path.stat().st_size > 500 for path in written)


def test_json_has_the_plan_as_objects(planned: Planned) -> None:
    found = json.loads(to_json_text(report_for(planned)))
    assert {"purchases", "rentals", "schedule", "budget", "form", "sections"} <= set(found)
    assert found["budget"]["years"][0]["from"] == "2027-01-01"
    assert found["purchases"][0]["quotes"][0]["vendor"]
    assert len(found["schedule"]) == planned.plan.runs  # type: ignore[union-attr]
    last = found["budget"]["lines"][-1]
    assert sum(cell["value"] for cell in last["by_year"]) == pytest.approx(last["total"]["value"])


def test_the_annex_lies_beside_the_report_and_is_not_overwritten(
    planned: Planned, tmp_path: Path
) -> None:
    names = [str(tmp_path / f"r.{ending}") for ending in ("pdf", "html", "md", "csv")]
    written = write_report(report_for(planned), check_targets(names, force=False), force=False)
    assert {path.name for path in written} == {
        *("r.pdf", "r-annex.pdf", "r.html", "r-annex.html", "r.md", "r-annex.md", "r.csv"),
    }
    (tmp_path / "r.pdf").unlink()
    with pytest.raises(InputError, match=r"r-annex\.pdf.*is there already.*--force"):
        check_targets(names[:1], force=False)


def test_every_rule_of_a_form_has_its_source() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(FUNDERS)
    for funder in FUNDERS:
        form = funder_form(funder)
        assert set(form.before_you_send) <= set(form.sources), funder


def test_what_is_read_is_in_the_currency_of_the_grant(planned: Planned) -> None:
    euro = Currency(code="EUR", usd_per_unit=Decimal("1.25"), on=date(2026, 11, 1), source="a bank")
    text = to_markdown(report_for(planned, currency=euro, funder="dfg").parts()[0])
    asked = re.search(r"We ask for (EUR [\d,.]+)", text)
    assert asked is not None and text.count(asked[1].rstrip(",.:")) >= 2  # in the table, too
    before, _, quotes = text.partition("## Quotes")
    assert "$" not in re.sub(r"\$1\.25 a EUR|from \$10,000", "", before)
    assert "$" in quotes and "each, EUR" in quotes  # as the vendor quotes it, and converted


def amounts(table: ReportTable) -> list[list[Decimal]]:
    """The amounts of a table whose rows add up to its last one."""
    found = [
        [c.value for c in row if isinstance(c, Num) and c.unit in ("usd", "EUR")]
        for row in table.rows
    ]
    assert all(len(row) == len(found[-1]) for row in found)
    return found


@pytest.mark.parametrize("code", ["USD", "EUR"])
def test_every_table_adds_up_in_the_currency_of_the_grant(planned: Planned, code: str) -> None:
    """To the cent: converted are prices and settings, and the rest is computed from them."""
    rate = Currency(code="EUR", usd_per_unit=Decimal("1.1403"), on=date(2026, 9, 25), source="ECB")
    changes = {"currency": rate} if code == "EUR" else {}
    report = report_for(planned, funder="horizon", **changes)
    tables = {table.name: table for table in report.tables()}
    *lines, direct, indirect, total = amounts(tables["Budget"])
    years = amounts(tables["By fiscal year"])
    assert [sum(column) for column in zip(*lines, strict=True)] == direct
    assert [a + b for a, b in zip(direct, indirect, strict=True)] == total
    assert [sum(column) for column in zip(*years[:-1], strict=True)] == years[-1]
    for row in (*lines, direct, indirect, total, *years):
        assert sum(row[:-1]) == row[-1]
    # The same total wherever it stands.
    assert years[-1][-1] == total[-1]
    (recommended,) = [c.value for c in tables["Alternatives"].rows[0] if isinstance(c, Num)][:1]
    assert recommended == total[-1]
    cells = list(csv.DictReader(io.StringIO(to_csv_text(report))))[-1]
    assert (Decimal(cells["all years"]), cells["currency"]) == (total[-1], code)
    assert ("$1.1403 a EUR of 2026-09-25 (ECB)" in cells.get("converted", "")) is (code == "EUR")
    found = json.loads(to_json_text(report), parse_float=Decimal)
    assert Decimal(str(found["budget"]["lines"][-1]["total"]["value"])) == total[-1]
    assert ("exchange_rate" in found) is (code == "EUR")
    annex = to_markdown(report.parts()[1]).partition("## Ledger")[0]
    left = re.sub(r"\$1\.1403 a EUR|## Rules and settings.*?## Limits", "", annex, flags=re.DOTALL)
    assert ("$" in left) is (code == "USD")
    sheets = pytest.importorskip("openpyxl").load_workbook(io.BytesIO(to_xlsx(report)))
    wanted = '"EUR" #,##0.00' if code == "EUR" else "$#,##0.00"
    last = sheets["Budget"].cell(len(tables["Budget"].rows) + 1, 2)
    assert last.number_format == wanted
    told = [cell.value for (cell,) in sheets["Report"].iter_rows(max_col=1)]
    assert "Justification" in told and any(str(text).startswith("Choice. ") for text in told)
    for sheet in sheets:  # a long label goes on in its cell, where its neighbour would cut it
        long = [c for row in sheet.iter_rows() for c in row if len(str(c.value)) > 80]
        assert all(c.alignment.wrap_text for c in long if c.data_type == "s"), sheet.title


def test_nothing_is_zero_of_each_currency_apart() -> None:
    ledger = NumberLedger()
    assert [ledger.total([], "nothing", unit).unit for unit in ("usd", "EUR")] == ["usd", "EUR"]


def test_what_is_rented_says_its_hours_its_rates_and_their_age(store_path: Path) -> None:
    grant = read_grant(EXAMPLE)
    experiment = structs.replace(grant.experiments[1], each_year=False, runs=1)
    grant = replace(grant, experiments=(experiment,), buy=False, owned=(), vat=Decimal("0.19"))
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    report = report_for(planned, funder="nsf")
    text = to_markdown(report.parts()[0])
    assert re.search(r"Rented computers\. \$[\d,.]+ pays for [\d,]+ hours on 1 × .+ at \w+ ", text)
    (rates,) = [table for table in report.tables() if table.name == "Rates"]
    _, _, rate, paid, day, age = rates.rows[0]
    assert isinstance(rate, Num) and isinstance(paid, Num)
    asked = report.tables()[0].rows[0][-1]
    assert isinstance(asked, Num) and asked.value == paid.value
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(day)) and re.search(r"\d+ (days|months)", str(age))
    assert f"The oldest of these rates is of {day}." in text and "listed rate is looked up" in text


def test_a_funder_is_not_told_whose_quote_yours_is(planned: Planned) -> None:
    problem = planned.loaded.problem
    machines = tuple(
        replace(m, lines=tuple(replace(x, vendor=f"{x.vendor} ({OWN_QUOTE})") for x in m.lines))
        for m in problem.machines
    )
    loaded = replace(planned.loaded, problem=replace(problem, machines=machines))
    funder, annex = report_for(replace(planned, loaded=loaded)).parts()
    assert OWN_QUOTE not in to_markdown(funder)
    assert OWN_QUOTE in to_markdown(annex)


def test_depreciation_tax_and_the_share_of_the_funder_stand_as_arithmetic(
    store_path: Path,
) -> None:
    grant = read_grant(EXAMPLE)
    house = replace(grant.institution, equipment_as="depreciated", life_months=60)
    house = replace(house, use_share=Decimal("0.8"), equipment_in_base=True)
    grant = replace(grant, experiments=grant.experiments[1:2], owned=(), rent=False)
    grant = replace(grant, institution=house, vat=Decimal("0.2"), usd_per_kwh=None)
    loaded = load_grant(Store(store_path), replace(grant, pays_electricity=False), TODAY)
    planned = plan_loaded(loaded, 60, quick=True)
    assert planned.plan is not None
    machine_id = planned.plan.purchases[0].machine_id
    price = next(m for m in loaded.problem.machines if m.machine_id == machine_id).price_usd
    text = to_markdown(report_for(planned, funder="ukri").parts()[0])
    assert f"at ${price * Decimal('1.2'):,.2f}".removesuffix(".00") in text
    assert f"quoted at ${price:,.2f}".removesuffix(".00") in text
    assert "36 of 60 months at 80 % use" in text
    charged = (price * Decimal("1.2") * 36 / 60 * Decimal("0.8")).quantize(Decimal("0.01"))
    assert f"use: ${charged:,.2f}".removesuffix(".00") in text
    cost = Decimal(planned.plan.cost_cents) / 100
    paid = (cost * Decimal("0.8")).quantize(Decimal("0.01"))
    assert f"pays 80 % of the total: ${paid:,.2f}".removesuffix(".00") in text
    assert "include 20 % value-added tax" in text


def test_warranty_within_a_price_is_named_and_no_paragraph_is_empty(planned: Planned) -> None:
    extra = MachineExtra(key="costs[1]", name="Three years of support", usd=Decimal(100))
    problem = planned.loaded.problem
    rules = replace(problem.rules, machine_extras=(extra,))
    loaded = replace(planned.loaded, problem=replace(problem, rules=rules))
    text = to_markdown(report_for(replace(planned, loaded=loaded)).parts()[0])
    assert "In the price of each machine: Three years of support." in text
    assert not re.search(r"^(Upkeep|Data|Need|Choice)\.\s*$", text, re.MULTILINE)


def test_every_sheet_prints_on_the_paper_of_the_funder(planned: Planned) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    for funder, paper in (("nsf", 1), ("dfg", 9)):
        report = replace(report_for(planned, funder=funder), title="2 & more")
        book = openpyxl.load_workbook(io.BytesIO(to_xlsx(report)))
        for sheet in book:
            setup = sheet.page_setup
            assert (setup.paperSize, setup.fitToHeight) == (paper, 0), sheet.title
            assert sheet.sheet_properties.pageSetUpPr.fitToPage
            assert "2 && more" in sheet.oddFooter.left.text or "2 &" in sheet.oddFooter.left.text
            assert (setup.orientation == "landscape") is (sheet.title != "Report")
            assert bool(sheet.print_title_rows) is (sheet.title != "Report")
