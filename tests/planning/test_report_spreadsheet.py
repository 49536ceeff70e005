"""The report as a spreadsheet: a program that computes it finds the same totals."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("typst")
pytest.importorskip("xlsxwriter")

from advisor.planning.planned_grant import Planned
from advisor.planning.report.document import Report
from advisor.planning.report.formats.xlsx import to_xlsx
from advisor.planning.solver.money.cents import purchase_cents
from tests.planning.forms_for_tests import report_for


@pytest.fixture(scope="module")
def planned(bought: Planned) -> Planned:
    return bought


@pytest.fixture(scope="module")
def report(planned: Planned) -> Report:
    return report_for(planned, pictures=True)


def rounded(number: float, digits: int) -> float:
    """Halves away from nought, as spreadsheets round."""
    step = Decimal(1).scaleb(-digits)
    return float(Decimal(repr(number)).quantize(step, rounding=ROUND_HALF_UP))


def computed(path: Path) -> dict[str, list[list[str]]]:
    """Every sheet, each formula computed anew from the cells that it names: cells, + - * / ^, and
    the functions that the sheets use."""
    book = pytest.importorskip("openpyxl").load_workbook(path)
    known: dict[tuple[str, str], Any] = {}

    def value(sheet: str, cell: str) -> Any:
        if (sheet, cell) not in known:
            found = book[sheet][cell].value
            if isinstance(found, str) and book[sheet][cell].data_type == "f":
                found = of(sheet, found)
            known[sheet, cell] = found
        return known[sheet, cell]

    def of(sheet: str, formula: str) -> Any:
        text = re.sub(
            r"(?:(\w+)!)?\$([A-Z]+)\$?(\d+)",
            lambda m: f"value({m[1] or sheet!r}, '{m[2]}{m[3]}')",
            formula.removeprefix("="),
        )
        assert not re.search(r"[A-Z]{2,}(?<!ROUND)(?<!COUNT)(?<!MIN)(?<!IF)\(", text), formula
        functions = {
            "value": value,
            "ROUND": rounded,
            "MIN": min,
            "IF": lambda test, a, b: a if test else b,
            "COUNT": lambda *cells: sum(isinstance(each, int | float) for each in cells),
        }
        return eval(text.replace("^", "**"), {"__builtins__": {}}, functions)

    return {
        sheet.title: [
            ["" if c.value is None else str(value(sheet.title, c.coordinate)) for c in row]
            for row in sheet.iter_rows()
        ]
        for sheet in book
    }


def test_a_spreadsheet_program_computes_the_same_totals(
    report: Report, planned: Planned, tmp_path: Path
) -> None:
    assert planned.plan is not None
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "r.xlsx"
    # openpyxl keeps no computed values, so that the program has to compute them all.
    book = openpyxl.load_workbook(io.BytesIO(to_xlsx(report)))
    book.save(path)
    sheets = computed(path)
    total = float(sheets["Budget"][-1][-1])
    assert total == pytest.approx(planned.plan.cost_cents / 100, abs=1e-6)
    assert len(report.rows) > 150
    for row in report.rows:
        text = sheets["Ledger"][row.number + 1][2]
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        assert value == pytest.approx(float(row.value))


def test_a_price_that_the_office_changes_moves_the_total(
    report: Report, planned: Planned, tmp_path: Path
) -> None:
    """A card that the plan buys becomes $200 dearer: the sheet adds it up as the plan would."""
    assert planned.plan is not None
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "dearer.xlsx"
    book = openpyxl.load_workbook(io.BytesIO(to_xlsx(report)))
    machines = {each.machine_id: each for each in planned.loaded.problem.machines}
    line = machines[planned.plan.purchases[0].machine_id].lines[0]
    row = next(r for r in report.rows if r.kind == "quote" and r.value == line.unit_price)
    book["Ledger"].cell(row.number + 2, 3).value = float(line.unit_price) + 200
    book.save(path)
    total = float(computed(path)["Budget"][-1][-1])
    rules, dearer_cents = planned.loaded.problem.rules, 0
    for purchase in planned.plan.purchases:
        machine = machines[purchase.machine_id]
        lines = tuple(
            replace(each, unit_price=each.unit_price + 200)
            if each.quote_id == line.quote_id
            else each
            for each in machine.lines
        )
        more = purchase_cents(replace(machine, lines=lines), rules) - purchase_cents(machine, rules)
        dearer_cents += more * purchase.count
    assert dearer_cents >= 20_000
    assert total == pytest.approx((planned.plan.cost_cents + dearer_cents) / 100)
