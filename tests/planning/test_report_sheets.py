"""What a grants office opens: sheets, CSV and pictures."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("typst")
pytest.importorskip("xlsxwriter")

from advisor.planning.currency import Currency
from advisor.planning.grant.candidates.cost_lines import fixed_costs
from advisor.planning.grant.grant_keys import CostLine
from advisor.planning.grant.toml_reader import AmountOrZero
from advisor.planning.planned_grant import Planned
from advisor.planning.report.calendar_lanes import calendar_lanes
from advisor.planning.report.document import Report, ReportTable, Section
from advisor.planning.report.formats.pdf import missing_letters, to_typst
from advisor.planning.report.formats.write_report import write_report
from advisor.planning.report.formats.xlsx import to_xlsx
from advisor.planning.report.number_ledger import Num
from advisor.planning.sensitivity.solved_amounts import number_words
from advisor.planning.solver.plan import Placed
from tests.planning.forms_for_tests import NOTHING, in_currency, report_for
from tests.plans_for_tests import make_machine, make_problem, make_rental


def planned_quote(planned: Planned) -> str:
    """The quote of the first machine that is bought."""
    assert planned.plan is not None
    bought = planned.plan.purchases[0].machine_id
    machine = next(m for m in planned.loaded.problem.machines if m.machine_id == bought)
    return machine.lines[0].quote_id


def test_runs_rented_year_after_year_share_a_line_of_the_calendar() -> None:
    def placed(machine: str, unit: int, first: float, last: float) -> Placed:
        return Placed(
            experiment_id="a",
            run=1,
            machine_id=machine,
            order=0,
            unit=unit,
            pieces=((first, last),),
        )

    def lines(*runs: Placed) -> list[tuple[int, int, int]]:
        plan = replace(NOTHING, placed=runs)
        return [(x.rank, len(x.runs), x.count) for x in calendar_lanes(problem, plan)]

    problem = make_problem(
        machines=(make_machine("m", "1", {"a": 9.0}),), rentals=(make_rental("r", "1", {"a": 9.0}),)
    )
    runs = [placed("r", 1, 0, 70), placed("r", 2, 0, 70), placed("r", 1, 365, 400)]
    runs += [placed("m", 1, 0, 9), placed("m", 1, 400, 409)]
    assert lines(*runs) == [(1, 2, 1), (2, 2, 1), (2, 1, 1)]
    # What looks the same is drawn once, and says how often it is there.
    alike = [placed("r", unit, 0, 70) for unit in range(1, 31)] + [placed("r", 31, 0, 71)]
    assert lines(*alike) == [(2, 1, 30), (2, 1, 1)]


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
        # A column that is too narrow for its number shows hashes in its place.
        prices = book["Prices"]
        (at,) = [c.column for c in prices[1] if c.value == "each"]
        (width,) = [d.width for d in prices.column_dimensions.values() if d.min <= at <= d.max]
        price = planned.loaded.quotes[planned_quote(planned)].price_usd
        assert width > len(f"${price:,.2f}")


def test_a_yellow_cell_moves_a_number(planned: Planned) -> None:
    """What no table follows from is not offered to be changed: neither a setting that decides the
    plan."""
    storage = CostLine(name="Disks", kind="storage", amount=AmountOrZero(1000), per="year")
    euro = Currency(code="EUR", usd_per_unit=Decimal("1.25"), on=date(2026, 11, 1), source="a bank")
    there = in_currency(planned.loaded, euro)
    grant = replace(there.grant, costs=(storage,))
    loaded = replace(there, grant=grant, problem=replace(there.problem, fixed=fixed_costs(grant)))
    report = report_for(replace(planned, loaded=loaded))
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(to_xlsx(report)))
    sheet = book["Ledger"]
    yellow = {
        (row[1].value, row[3].value)
        for row in sheet.iter_rows(min_row=3)
        if str(row[2].fill.fgColor.rgb).endswith("FFF6CC")
    }
    assert ("Disks, year 1", "EUR") in yellow
    assert not any(what.startswith("Disks") and unit == "USD" for what, unit in yellow)
    labels = {what for what, _ in yellow}
    assert "value-added tax" not in labels and "US dollars a EUR" in labels
    assert not labels & {"years of the grant", "budget", "the longest that one run may take"}
    formulas = {
        ref
        for name in book.sheetnames
        for row in book[name].iter_rows()
        for cell in row
        if isinstance(cell.value, str) and cell.value.startswith("=")
        for ref in re.findall(r"\$C\$(\d+)", cell.value)
    }
    assert all(
        str(row[2].row) in formulas
        for row in sheet.iter_rows(min_row=3)
        if (row[1].value, row[3].value) in yellow
    )


def test_the_mean_of_yearly_rates_follows_from_them_in_the_sheet(planned: Planned) -> None:
    problem = planned.loaded.problem
    rates = [Decimal("0.5"), Decimal("0.56"), Decimal("0.57")]
    days = [b - a for a, b in pairwise(problem.year_days)]
    mean = sum(r * d for r, d in zip(rates, days, strict=True)) / sum(days)
    rules = replace(
        problem.rules,
        year_overhead=tuple(zip(problem.year_days, rates, strict=False)),
        overhead_rate=Decimal(mean).quantize(Decimal("0.000001")),
    )
    loaded = replace(planned.loaded, problem=replace(problem, rules=rules))
    rows = report_for(replace(planned, loaded=loaded)).rows
    (found,) = [row for row in rows if row.label == "overhead rate, mean of the years"]
    assert found.value == rules.overhead_rate and found.operation == "ratio"
    assert any(found.number in row.of for row in rows), "electricity bears overhead by it"
    of, leaves = list(found.of), set[str]()
    while of:
        row = rows[of.pop() - 1]
        of += row.of
        leaves.add(str(row.origin.get("key")))
    assert {f"institution.overhead_rate_by_year[{n}]" for n in (1, 2, 3)} <= leaves
    leaf = {"key": "institution.overhead_rate"}
    assert not any(row.origin == leaf and row.value == found.value for row in rows)


def test_a_table_with_cents_has_them_everywhere_and_a_rate_is_short() -> None:
    amounts = [Num(value=Decimal(text), unit="usd", row=1) for text in ("3432", "2565.3")]
    table = ReportTable(name="B", columns=("a", "b"), rows=(tuple(amounts),))
    assert [table.shown(cell) for cell in table.rows[0]] == ["$3,432.00", "$2,565.30"]
    for value, unit, text in (
        ("0.1833435421066194", "EUR-per-kwh", "EUR 0.1833 a kWh"),
        ("1.8", "usd-per-hour", "$1.80 an hour"),
        ("2.05254", "usd-per-hour", "$2.0525 an hour"),
        ("0.00001234", "usd-per-kwh", "$0.00001234 a kWh"),
    ):
        assert number_words(Decimal(value), unit) == text


def test_a_budget_of_many_years_is_parted_on_paper() -> None:
    nums = [Num(value=Decimal(12_345), unit="EUR", row=n) for n in range(1, 14)]
    years = (*(f"year {n}" for n in range(1, 13)), "all years")
    for count, parts in ((5, 1), (13, 2)):
        columns = ("lines of the form", *years[-count:])
        table = ReportTable.of("Budget", columns, [("total", *nums[-count:])], total=True)
        section = Section(title="Request", blocks=(table,))
        report = Report(title="a", made_on=date(2026, 11, 22), sections=(section,), rows=())
        source = to_typst(report)
        tables = source.split("#grid-table(")[1:]
        assert len(tables) == parts
        assert [year for year in columns if f'"{year}"' not in source] == []
        assert source.count("12,345") == count
        assert all(float(re.findall(r"\), ([\d.]+), \(", each)[-1]) >= 6 for each in tables)


def test_a_spreadsheet_reads_the_csv_as_utf_8(planned: Planned, tmp_path: Path) -> None:
    for funder, mark in (("nsf", b"line,"), ("dfg", b"\xef\xbb\xbfline;")):
        path = tmp_path / f"{funder}.csv"
        write_report(report_for(planned, funder=funder), [path], force=False)
        assert path.read_bytes().startswith(mark)
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    (first, *_) = csv.DictReader(lines, delimiter=";")
    assert first["line"].startswith("Equipment above the limit (Geräte)")
    assert first["form"] == "DFG, by funding year"
    assert re.fullmatch(r"\d+,\d\d", first["all years"])
    assert all(len(row) == len(lines[0].split(";")) for row in csv.reader(lines, delimiter=";"))


def test_what_no_font_has_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    typst = pytest.importorskip("typst")
    monkeypatch.setattr(typst, "query", partial(typst.query, ignore_system_fonts=True))
    assert missing_letters("王小 and 王") == ["王", "小"]
    sections = (Section(title="Who", blocks=("for 王小",)),)
    report = Report(title="A plan", made_on=date(2026, 11, 24), sections=sections, rows=())
    source = to_typst(report)
    assert "no font for 2 of the letters below (U+738B, U+5C0F)" in source
    assert "Noto Sans CJK" in source
    assert source.index("no font for 2") < source.index("for 王小")
    assert "no font" not in to_typst(replace(report, sections=()))
