"""A report as a workbook whose numbers are live: change a price, and the totals follow.

The sheet "Ledger" holds every row: leaves as values, the rest as formulas over other rows. The
other sheets show the report's tables, each number as a reference to its row.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import datetime
from typing import Any

from advisor.costs.amount_words import WHOLE, day_words, usd_and_cents
from advisor.planning.report.document import Cell, Report, ReportTable, plain_text, shown
from advisor.planning.report.formats.markdown_csv_json import origin_words, record_of, unit_words
from advisor.planning.report.number_ledger import LedgerRow, Num

LEDGER = "Ledger"
_FIRST = 3
"""Row 1 holds the hint, row 2 the header."""
PAPERS = {"us-letter": 1, "a4": 9}
"""The numbers that spreadsheets have for them."""
TEXT_WIDE = 72
"""Characters of a line of running text: what paper has room for, upright and unscaled, also in the
wide letters that a program takes where it has not the font."""
WIDEST = 46
"""Characters of a column; longer text goes on in the next line of its cell."""
_FORMATS = {
    "usd": "$#,##0.00",
    "usd-per-hour": "$#,##0.0000",
    "usd-per-kwh": "$#,##0.0000",
    "share": "0.00%",
    "kwh": "#,##0.0",
    "hours": "#,##0.0",
    "gpu-hours": "#,##0.0",
    "parameters": "#,##0",
    "tokens": "#,##0",
    "images": "#,##0",
    "steps": "#,##0",
    "days": "#,##0.##",
}


_SPELT = {
    "hours": '" hours"',
    "kwh": '" kWh"',
    "days": '" days"',
    "hour": '" an hour"',
}
"""What follows a number of that unit, or a rate per that unit."""


def to_xlsx(report: Report) -> bytes:
    """The workbook; the same bytes for the same report."""
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False})
    book.set_properties(
        {
            "title": report.title,
            "created": datetime(report.made_on.year, report.made_on.month, report.made_on.day),
        }
    )
    formats = _Formats(book)
    _text_sheet(book, formats, report)
    for table in report.tables():
        _table_sheet(book, formats, report, table)
    _ledger_sheet(book, formats, report)
    book.close()
    return out.getvalue()


class _Formats:
    """Formats of a workbook, each made once."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._known: dict[str, Any] = {}

    def of(self, **style: Any) -> Any:
        """Text goes on in its cell; in a row of several lines each cell is aligned to the first."""
        style = {"text_wrap": True, "valign": "top"} | style
        if (key := str(style)) not in self._known:
            self._known[key] = self._book.add_format(style)
        return self._known[key]

    def number(self, unit: str, *, spelt: bool = False, **style: Any) -> Any:
        """The format of a number; ``spelt`` adds its unit, where no column names it."""
        code, _, rate = unit.partition("-per-")
        own = "General"
        if len(code) == 3 and code.isupper():
            digits = "." + "0" * 6 if rate else "" if code in WHOLE else ".00"
            own = f'"{code}" #,##0{digits}'
        spelling = _SPELT.get(rate or unit, "") if spelt else ""
        return self.of(num_format=_FORMATS.get(unit, own) + spelling, text_wrap=False, **style)


LEFT = {"align": "left", "indent": 1}
"""Of text beside numbers. Programs ignore the indent where only the top alignment is set."""
HEAD: dict[str, Any] = {"bold": True, "bottom": 1}
TOTAL: dict[str, Any] = {"bold": True, "top": 1}
YELLOW: dict[str, Any] = {"bg_color": "#FFF6CC"}


def _to_print(sheet: Any, report: Report, *, head: int | None, wide: bool = True) -> None:
    """Paper of the funder's country, one page wide, its head on every page and numbered."""
    if wide:
        sheet.set_landscape()
    sheet.set_paper(PAPERS[report.paper])
    sheet.fit_to_pages(1, 0)
    sheet.set_margins(left=0.5, right=0.5, top=0.6, bottom=0.7)
    # In a footer & begins a code: the title is data.
    title = report.title[:80].replace("&", "&&")
    sheet.set_footer(f"&L&8{' ' if title[:1].isdigit() else ''}{title}&C&8&A&R&8&P / &N")
    if head is not None:
        sheet.repeat_rows(head)


def _text_sheet(book: Any, formats: _Formats, report: Report) -> None:
    sheet = book.add_worksheet("Report")
    _to_print(sheet, report, head=None, wide=False)
    sheet.set_column(0, 0, TEXT_WIDE)
    bold, wrap = formats.of(bold=True, text_wrap=False), formats.of()
    sheet.write_string(0, 0, report.title, bold)
    hint = (
        f"Made on {day_words(report.made_on)}. Prices and settings on the sheet {LEDGER} (yellow) "
        "may be changed: every total follows. Sentences on this sheet stay as they were written."
    )
    sheet.write_string(1, 0, hint, wrap)
    at = 3
    for section in (*report.form, *report.sections):
        texts = []
        for block in section.blocks:
            if isinstance(block, str):
                texts.append(plain_text(block))
            elif isinstance(block, tuple):
                texts += [f"• {plain_text(item)}" for item in block]
        if not texts:
            continue
        # In one cell, so that no page ends with a heading.
        sheet.write_rich_string(at, 0, bold, section.title, f"\n{texts[0]}", wrap)
        for line, text in enumerate(texts[1:], start=at + 1):
            sheet.write_string(line, 0, text, wrap)
        at += len(texts) + 1


def _reference(row: int) -> str:
    return f"{LEDGER}!$C${row + _FIRST - 1}"


def _table_sheet(book: Any, formats: _Formats, report: Report, table: ReportTable) -> None:
    sheet = book.add_worksheet(table.name[:31])
    _to_print(sheet, report, head=0)
    sheet.freeze_panes(1, 0)
    numeric = table.numeric()
    for at, column in enumerate(table.columns):
        beside = {"align": "right"} if numeric[at] else {"indent": 1} if at else {}
        sheet.write_string(0, at, column, formats.of(**HEAD, **beside))
        longest = max([len(column), *(_width(row[at]) for row in table.rows)])
        sheet.set_column(at, at, min(max(longest + 3, 8), WIDEST))
    for line, row in enumerate(table.rows, start=1):
        total = TOTAL if table.strong(line) else {}
        for at, cell in enumerate(row):
            if isinstance(cell, Num):
                style = formats.number(cell.unit, spelt=True, **total)
                sheet.write_formula(line, at, f"={_reference(cell.row)}", style, float(cell.value))
            else:
                style = formats.of(bold=True) if total else formats.of(**(LEFT if at else {}))
                sheet.write_string(line, at, shown(cell), style)


def _width(cell: Cell) -> int:
    """Characters of a cell as the sheet shows it, where dollars always have cents and rates six
    digits behind the point."""
    if isinstance(cell, Num) and "-per-" in cell.unit:
        return len(shown(cell)) + 4
    if isinstance(cell, Num) and cell.unit == "usd":
        return len(usd_and_cents(cell.value))
    return len(shown(cell))


def _ledger_sheet(book: Any, formats: _Formats, report: Report) -> None:
    sheet, wrap = book.add_worksheet(LEDGER), formats.of()
    _to_print(sheet, report, head=1)
    sheet.freeze_panes(2, 0)
    sheet.write_string(0, 0, "Yellow: prices and settings that may be changed, and sums follow.")
    counted = _counted(report)
    heads: dict[str, Any] = {"value": {"align": "right"}, "unit": {"indent": 1}}
    for at, (column, width) in enumerate(
        (("row", 6), ("what", 60), ("value", 16), ("unit", 12), ("from", 50), ("record", 40))
    ):
        sheet.write_string(1, at, column, formats.of(**HEAD, **heads.get(column, {})))
        sheet.set_column(at, at, width)
    for row in report.rows:
        line = row.number + _FIRST - 2
        sheet.write_number(line, 0, row.number, formats.of(align="left"))
        sheet.write_string(line, 1, row.label, wrap)
        if row.operation is None:
            editable = row.kind in ("quote", "rental", "setting") and row.number in counted
            style = formats.number(row.unit, **(YELLOW if editable else {}))
            sheet.write_number(line, 2, float(row.value), style)
        else:
            style = formats.number(row.unit)
            sheet.write_formula(line, 2, _formula(row), style, float(row.value))
        sheet.write_string(line, 3, unit_words(row.unit), formats.of(**LEFT))
        sheet.write_string(line, 4, origin_words(row), wrap)
        sheet.write_string(line, 5, record_of(row), wrap)


def _counted(report: Report) -> set[int]:
    """The rows that a number of some table is computed from: to change another moves nothing."""
    rows = {row.number: row for row in report.rows}
    cells = (c for table in report.tables() for row in table.rows for c in row)
    todo = [cell.row for cell in cells if isinstance(cell, Num)]
    found: set[int] = set()
    while todo:
        new = set(rows[todo.pop()].of) - found
        found |= new
        todo += new
    return found


_FORMULAS: dict[str, Callable[[list[str]], str]] = {
    "sum": lambda of: "+".join(of) or "0",
    "product": "*".join,
    "difference": "-".join,
    "ratio": "/".join,
    # A sum of cents may be a hair more than it is.
    "rounded-up ratio": lambda of: f"ROUNDUP(ROUND({'/'.join(of)},9),0)",
    "growth": lambda of: f"(1+{of[0]})^({of[1]}/365)",
    "rest": lambda of: "-".join(["1", *of]),
    "least": lambda of: f"MIN({','.join(of)})",
    "count": lambda of: f"COUNT({','.join(of)})",
    "at-the-wall": lambda of: "/".join([f"({of[0]}*{of[1]}+{of[2]})", *of[3:]]),
    "below": lambda of: f"IF({of[0]}<{of[1]},{of[0]},0)",
}
"""Each operation of the ledger on cells."""


def _formula(row: LedgerRow) -> str:
    assert row.operation is not None
    text = _FORMULAS[row.operation]([f"$C${number + _FIRST - 1}" for number in row.of])
    return f"=ROUND({text},{row.decimals})" if row.decimals is not None else f"={text}"
