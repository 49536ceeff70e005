"""A report as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import re
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from advisor.costs.amounts import WHOLE, day_words
from advisor.planning.report.number_ledger import LedgerRow, Num
from advisor.planning.report.report import (
    Block,
    Bullets,
    Cell,
    Paragraph,
    Picture,
    Report,
    ReportTable,
    Section,
    shown,
)
from advisor.tables.json_text import to_json
from advisor.tables.table_formats import markdown_text, to_csv

CENT = Decimal("0.01")
ROW_KEYS = ("number", "label", "unit", "value", "kind", "operation", "of", "decimals", "origin")


_FROM = {
    "quote": "a quote",
    "asked": "the quotes of the item",
    "part": "a quote of parts",
    "rental": "a listed rent",
    "time": "a training time",
    "gpu": "the catalogue of GPUs",
    "host": "the catalogue of machines",
    "model": "the model's definition",
    "setting": "a setting",
    "plan": "chosen by the plan",
    "solve": "planned again with one change",
    "unit": "by definition, or estimated where the row says so",
}
"""Each kind of leaf, for a reader."""
_SETTINGS = {
    "grant": "of the grant",
    "budget": "of the grant's budget",
    "experiments": "of the experiments",
    "owned": "of the machines of the lab",
    "purchases": "of purchases",
    "rentals": "of rented computers",
    "running": "of how runs are planned",
    "electricity": "of electricity",
    "institution": "of the institution's rules",
    "allocations": "of granted hours",
    "costs": "of the grant's other costs",
    "form": "of the funder's form",
}
"""What a setting belongs to, by the table of the grant's file."""
_RECORDS = ("quote_id", "rental_id", "measurement_id", "key")
"""What finds a row again in the store or in the grant."""


def record_of(row: LedgerRow) -> str:
    """What the store or the grant's file calls a row; for a sheet, where a reader asks for it."""
    return next((str(row.origin[key]) for key in _RECORDS if key in row.origin), "")


def unit_words(unit: str) -> str:
    """``USD an hour`` for ``usd-per-hour``."""
    money, _, each = unit.partition("-per-")
    money = "USD" if money == "usd" else money
    each = {"hour": " an hour", "kwh": " a kWh"}.get(each, f" a {each}" if each else "")
    return {"kwh": "kWh", "gpu-hours": "GPU-hours"}.get(unit, f"{money}{each}")


def origin_words(row: LedgerRow) -> str:
    """Where a row comes from, in one line; sheets and JSON have what the store calls it."""
    if row.operation is not None:
        of = ", ".join(f"[{number}]" for number in row.of) or "nothing"
        return f"{row.operation} of {of}{_rounded(row.decimals)}"
    if row.kind != "setting":
        return _FROM[row.kind]
    table = str(row.origin.get("key", "")).partition(".")[0].partition("[")[0]
    return " ".join(filter(None, (_FROM[row.kind], _SETTINGS.get(table, ""))))


def _rounded(decimals: int | None) -> str:
    if decimals is None:
        return ""
    to = {0: "to whole units", 2: "to the cent"}.get(decimals, f"to {decimals} decimals")
    return f", rounded {to}"


def ledger_value(row: LedgerRow) -> str:
    """To ten decimals, for a reader; the sheet and JSON have it whole."""
    text = format(row.value, "f")
    return text if len(text.partition(".")[2]) <= 10 else f"{row.value:.10f}"


def to_markdown(report: Report, figures: str | None = None) -> str:
    """Markdown; its pictures lie beside it in the folder ``figures``, or are only named."""
    cite = bool(report.rows)
    lines = [f"# {_safe(report.title)}", "", f"Made on {day_words(report.made_on)}."]
    if cite:
        lines[-1] += " A number in brackets is the row of the ledger at the end that the"
        lines.append("number before it comes from.")
    for section in report.sections:
        lines += ["", f"## {_safe(section.title)}"]
        for block in section.blocks:
            lines += ["", *_markdown(block, figures, cite=cite)]
    if not cite:
        return "\n".join(lines) + "\n"
    lines += [
        "",
        "## Ledger",
        "",
        "| row | what | value | unit | from |",
        "| ---: | --- | ---: | --- | --- |",
    ]
    for row in report.rows:
        value = ledger_value(row)
        cells = (str(row.number), row.label, value, unit_words(row.unit), origin_words(row))
        lines.append("| " + " | ".join(map(_safe, cells)) + " |")
    return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    return markdown_text(text)


def _cell(cell: Cell, *, cite: bool, table: ReportTable | None = None) -> str:
    if isinstance(cell, str):
        return _safe(cell)
    text = shown(cell) if table is None else table.shown(cell)
    return text + (f" [{cell.row}]" if cell is not None and cite else "")


def _markdown(block: Block, figures: str | None, *, cite: bool) -> list[str]:
    if isinstance(block, Paragraph):
        return ["".join(_cell(word, cite=cite) for word in block.words)]
    if isinstance(block, Bullets):
        return [f"- {''.join(_cell(w, cite=cite) for w in words)}" for words in block.items]
    if isinstance(block, Picture):
        if figures is None:
            return [f"*Picture {block.name}: {_safe(block.caption)}*"]
        target = quote(f"{figures}/{block.name}.svg")
        return [f"![{_safe(block.caption)}]({target})", "", f"*{_safe(block.caption)}*"]
    lines = [
        f"**{_safe(block.name)}**",
        "",
        "| " + " | ".join(map(_safe, block.columns)) + " |",
        "| " + " | ".join("---:" if right else "---" for right in block.numeric()) + " |",
    ]
    for row in block.rows:
        lines.append("| " + " | ".join(_cell(each, cite=cite, table=block) for each in row) + " |")
    return lines


def to_csv_text(report: Report) -> str:
    """The budget as a grants office opens it: a row a line, a column an award year, and the
    currency of its amounts with the rate that prices were converted at. Where offices write 1,50
    for one and a half, their spreadsheet parts cells at semicolons, and so does this."""
    table = report.tables()[0]
    told = {"currency": report.currency, "form": table.columns[0]}
    if report.converted is not None:
        told["converted"] = report.converted
    columns = ("line", *table.columns[1:], *told)
    rows = [
        dict(zip(columns, (*(_plain(cell) for cell in row), *told.values()), strict=True))
        for row in table.rows
    ]
    text = to_csv(rows, columns) + "\n"
    return _semicolons(text) if report.decimal_comma else text


def _plain(cell: Cell) -> Any:
    if not isinstance(cell, Num):
        return cell
    return cell.value.quantize(Decimal(1) if cell.unit in WHOLE else CENT)


_AMOUNT = re.compile(r"-?\d+\.\d+")


def _semicolons(text: str) -> str:
    """The same table parted at semicolons, its amounts with a decimal comma."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";", lineterminator="\n")
    for row in csv.reader(io.StringIO(text)):
        writer.writerow([(_AMOUNT.fullmatch(c) and c.replace(".", ",")) or c for c in row])
    return out.getvalue()


def to_json_text(report: Report) -> str:
    """Everything but the pictures. Every number outside ``rows`` names its row."""
    found = {
        "title": report.title,
        "made_on": report.made_on,
        **{name: _json_value(value) for name, value in report.objects.items()},
        "form": [_json_section(section) for section in report.form],
        "sections": [_json_section(section) for section in report.sections],
        "rows": [_json_row(row) for row in report.rows],
    }
    return to_json(found) + "\n"


def _json_section(section: Section) -> dict[str, Any]:
    return {"title": section.title, "blocks": [_json_block(block) for block in section.blocks]}


def _json_value(value: Any) -> Any:
    """Objects and lists as they are, their numbers with unit and row."""
    if isinstance(value, dict):
        return {key: _json_value(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_json_value(each) for each in value]
    return _json_cell(value)


def _json_row(row: LedgerRow) -> dict[str, Any]:
    values = {key: getattr(row, key) for key in ROW_KEYS}
    values["of"] = list(row.of)
    values["origin"] = dict(row.origin)
    return values


def _json_cell(cell: Cell) -> Any:
    if isinstance(cell, Num):
        return {"value": cell.value, "unit": cell.unit, "row": cell.row}
    return cell


def _json_block(block: Block) -> dict[str, Any]:
    if isinstance(block, Paragraph):
        return {"text": [_json_cell(word) for word in block.words]}
    if isinstance(block, Bullets):
        return {"list": [[_json_cell(word) for word in words] for words in block.items]}
    if isinstance(block, Picture):
        return {"picture": block.name, "caption": block.caption}
    assert isinstance(block, ReportTable)
    return {
        "table": block.name,
        "columns": list(block.columns),
        "lines": [[_json_cell(cell) for cell in row] for row in block.rows],
    }
