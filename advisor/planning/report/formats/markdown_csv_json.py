"""A report as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from advisor.costs.amount_words import WHOLE, day_words
from advisor.planning.report.document import (
    Block,
    Cell,
    Picture,
    Report,
    ReportTable,
    Section,
    in_prose,
    shown,
    words_of,
)
from advisor.planning.report.number_ledger import LedgerRow, Num
from advisor.tables.plain_values import to_json
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
    "setting": "a setting of the grant, its institution or its funder's form",
    "plan": "chosen by the plan",
    "solve": "planned again with one change",
    "unit": "by definition, or estimated where the row says so",
}
"""Each kind of leaf, for a reader."""
_RECORDS = ("quote_id", "rental_id", "measurement_id", "key")
"""What finds a row again in the store or in the grant."""


def record_of(row: LedgerRow) -> str:
    """What the store or the grant's file calls a row; for a sheet, where a reader asks for it."""
    return next((str(row.origin[key]) for key in _RECORDS if key in row.origin), "")


def unit_words(unit: str) -> str:
    """``USD an hour`` for ``usd-per-hour``."""
    money, _, each = unit.partition("-per-")
    money = "USD" if money == "usd" else money
    each = {"hour": " an hour", "kwh": " a kWh"}.get(each, "")
    return {"kwh": "kWh", "gpu-hours": "GPU-hours"}.get(unit, f"{money}{each}")


def origin_words(row: LedgerRow) -> str:
    """Where a row comes from, in one line; sheets and JSON have what the store calls it."""
    if row.operation is None:
        return _FROM[row.kind]
    of = ", ".join(f"[{number}]" for number in row.of) or "nothing"
    to = {None: "", 0: ", rounded to whole units", 2: ", rounded to the cent"}
    return f"{row.operation} of {of}{to.get(row.decimals, f', rounded to {row.decimals} decimals')}"


def ledger_value(row: LedgerRow) -> str:
    """To ten decimals, for a reader; the sheet and JSON have it whole."""
    text = format(row.value, "f")
    return text if len(text.partition(".")[2]) <= 10 else f"{row.value:.10f}"


def to_markdown(report: Report, figures: str | None = None) -> str:
    """Markdown; its pictures are in the folder ``figures``, or are only named."""
    cite = bool(report.rows)
    lines = [f"# {markdown_text(report.title)}", "", f"Made on {day_words(report.made_on)}."]
    if cite:
        lines[-1] += " A number in brackets is the row of the ledger at the end that the"
        lines.append("number before it comes from.")
    for section in report.sections:
        lines += ["", f"## {markdown_text(section.title)}"]
        for block in section.blocks:
            lines += ["", *_markdown(block, figures, cite=cite)]
    if cite:
        lines += ["", "## Ledger", "", "| row | what | value | unit | from |"]
        lines.append("| ---: | --- | ---: | --- | --- |")
    for row in report.rows:
        value = ledger_value(row)
        cells = (str(row.number), row.label, value, unit_words(row.unit), origin_words(row))
        lines.append(_line(map(markdown_text, cells)))
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: Cell, *, cite: bool, table: ReportTable | None = None) -> str:
    if isinstance(cell, str):
        return markdown_text(cell)
    if table is not None:
        text = table.shown(cell)
    else:
        text = shown(cell) if cell is None else in_prose(cell)
    return text + (f" [{cell.row}]" if cell is not None and cite else "")


def _markdown(block: Block, figures: str | None, *, cite: bool) -> list[str]:
    if isinstance(block, str):
        return ["".join(_cell(word, cite=cite) for word in words_of(block))]
    if isinstance(block, tuple):
        return [f"- {''.join(_cell(w, cite=cite) for w in words_of(item))}" for item in block]
    if isinstance(block, Picture):
        caption = markdown_text(block.caption)
        if figures is None:
            return [f"*Picture {block.name}: {caption}*"]
        target = quote(f"{figures}/{block.name}.svg")
        return [f"![{caption}]({target})", "", f"*{caption}*"]
    lines = [f"**{markdown_text(block.name)}**", "", _line(map(markdown_text, block.columns))]
    lines.append(_line("---:" if right else "---" for right in block.numeric()))
    for row in block.rows:
        cells = (_cell(cell, cite=cite, table=block) for cell in row)
        # A source's page is the one address that is a link; one in a name is none.
        given = zip(block.columns, row, cells, strict=True)
        lines.append(_line(f"<{c}>" if n == "page" and _is_page(c) else t for n, c, t in given))
    return lines


def _is_page(cell: Cell) -> bool:
    return isinstance(cell, str) and re.fullmatch(r"https?://[^\s<>|]+", cell) is not None


def to_csv_text(report: Report) -> str:
    """The budget as a grants office opens it: a row a line, a column an award year, and the
    currency of its amounts with the rate that prices were converted at. Where offices write 1,50
    for one and a half, their spreadsheet parts cells at semicolons, and so does this."""
    table = next(table for table in report.tables() if table.name == "Budget")
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
        "form": list(map(_json_section, report.form)),
        "sections": list(map(_json_section, report.sections)),
        "rows": list(map(_json_row, report.rows)),
    }
    return to_json(found) + "\n"


def _json_section(section: Section) -> dict[str, Any]:
    return {"title": section.title, "blocks": list(map(_json_block, section.blocks))}


def _json_value(value: Any) -> Any:
    """Objects and lists as they are, their numbers with unit and row."""
    if isinstance(value, dict):
        return {key: _json_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_json_value, value))
    if isinstance(value, Num):
        return {"value": value.value, "unit": value.unit, "row": value.row}
    return value


def _json_row(row: LedgerRow) -> dict[str, Any]:
    values = {key: getattr(row, key) for key in ROW_KEYS}
    return values | {"of": list(row.of), "origin": dict(row.origin)}


def _json_block(block: Block) -> dict[str, Any]:
    if isinstance(block, str):
        return {"text": _json_value(words_of(block))}
    if isinstance(block, tuple):
        return {"list": [_json_value(words_of(item)) for item in block]}
    if isinstance(block, Picture):
        return {"picture": block.name, "caption": block.caption}
    return {
        "table": block.name,
        "columns": list(block.columns),
        "lines": _json_value(block.rows),
    }
