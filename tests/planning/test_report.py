"""The report: what an office asks for, every form opened, the same bytes twice."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("typst")
pytest.importorskip("xlsxwriter")

from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE
from advisor.planning.planned import Planned
from advisor.planning.report.document import Picture, Report
from advisor.planning.report.formats.markdown_csv_json import to_csv_text, to_json_text, to_markdown
from advisor.planning.report.formats.pdf import to_pdf
from advisor.planning.report.formats.xlsx import to_xlsx
from tests.planning.example_reports import planned_from, report_of


@pytest.fixture(scope="module")
def planned(bought: Planned) -> Planned:
    return bought


@pytest.fixture(scope="module")
def report(planned: Planned) -> Report:
    return report_of(planned)


def test_the_same_inputs_give_the_same_bytes(store_path: Path) -> None:
    """Read, solved and explained anew: two models, of which one is trained every year."""
    wanted = read_grant(EXAMPLE).experiments[3:5]
    report, again = (report_of(planned_from(store_path, experiments=wanted)) for _ in range(2))
    for form in (to_markdown, to_csv_text, to_json_text, to_pdf, to_xlsx):
        assert form(report) == form(again), form.__name__


def test_the_report_has_what_an_office_asks_for(report: Report) -> None:
    titles = [section.title for section in report.sections]
    assert titles == [
        "Before you send it",
        "The plan",
        "What it costs",
        "Runners-up, and why not",
        "How firm this is",
        "Evidence and its limits",
        "Rules and settings",
        "Sources and versions",
    ]
    tables = {table.name: table for table in report.tables()}
    assert {"Budget", "Prices", "Running", "Schedule", "Times", "Sources"} <= set(tables)
    pictures = [b.name for s in report.sections for b in s.blocks if isinstance(b, Picture)]
    assert pictures == ["plan", "break-even"]


def test_what_others_wrote_is_data_in_every_form(report: Report) -> None:
    """A vendor's text cannot become markup, a formula or a directive."""
    evil = '=HYPERLINK("x")<script>#panic("x")\\|*_`$'
    hurt = replace(report, title=evil)
    section = replace(report.sections[0], title=evil)
    hurt = replace(hurt, sections=(section, *report.sections[1:]))
    assert to_pdf(hurt).startswith(b"%PDF")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(to_xlsx(hurt)))
    assert book["Report"]["A1"].data_type == "s"


def test_csv_is_the_budget_and_markdown_names_the_row_of_each_number(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv_text(report))))
    years = [name for name in rows[0] if name.startswith("year")]
    for row in rows:
        assert sum(Decimal(row[year]) for year in years) == Decimal(row["all years"])
    *items, direct, indirect, total = rows
    for year in (*years, "all years"):
        assert sum(Decimal(row[year]) for row in items) == Decimal(direct[year])
        assert Decimal(direct[year]) + Decimal(indirect[year]) == Decimal(total[year])
    (whole,) = [row for row in report.rows if row.label == "total cost"]
    assert Decimal(total["all years"]) == whole.value
    assert f"| {whole.number} | total cost |" in to_markdown(report)
    assert re.search(rf"\[{whole.number}\]", to_markdown(report))


def test_the_ledger_refuses_an_unknown_kind() -> None:
    from advisor.planning.report.number_ledger import NumberLedger

    with pytest.raises(ValueError, match="rumour"):
        NumberLedger().leaf("rumour", 1, "usd", "heard of")


def test_every_setting_of_an_institution_is_explained() -> None:
    from advisor.planning.grant.institution import Institution, meanings

    names = {field.name for field in fields(Institution)}
    by_year = {"overhead_rate_by_year"}  # a row a year, which says itself which
    assert (
        set(meanings("institution"))
        == names - {"name", "file", "note", "sources", "threshold_in", "procurement"} - by_year
    )
