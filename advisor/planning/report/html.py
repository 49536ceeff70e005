"""A report as one HTML file: no scripts, nothing from outside, pictures inside."""

from __future__ import annotations

import re
from calendar import month_name
from html import escape

from advisor.costs.amounts import day_words
from advisor.planning.grant.funder import Paper
from advisor.planning.report.markdown_csv_json import ledger_value, origin_words, unit_words
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.pdf import MARKS
from advisor.planning.report.report import (
    Block,
    Bullets,
    Cell,
    Paragraph,
    Picture,
    Report,
    ReportTable,
    Words,
    shown,
)

MOST_COLUMNS = 6
"""Columns of amounts that are printed beside each other."""
DAY = re.compile(rf"\b\d{{1,2}} (?:{'|'.join(month_name[1:])}) \d{{4}}\b")
UNBROKEN = re.compile(rf"{DAY.pattern}|\b[A-Z]{{3}} -?\d[\d,.]*(?<=\d)|\b\d[\d,.]* %")
"""A date, an amount or a share in a sentence or a cell: not broken at its spaces."""
_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 "Segoe UI", system-ui, "DejaVu Sans", sans-serif; color: #1a1a1a;
       max-width: 62rem; margin: 2rem auto; padding: 0 1.2rem; background: #fff; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; }
h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 2px solid #0072B2;
     padding-bottom: .2rem; }
p.made { color: #555; margin-top: 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .82rem; margin: .8rem 0; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
.d { white-space: nowrap; }
th { text-align: left; border-bottom: 1.5px solid #333; vertical-align: bottom; }
th, td { padding: .25rem .6rem; }
td { border-bottom: 1px solid #e3e3e3; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.total td { font-weight: 600; border-top: 1.5px solid #333; border-bottom: none; }
a.r { color: #0072B2; font-size: .68rem; text-decoration: none; }
figure { margin: 1rem 0; } figure svg { max-width: 100%%; height: auto; }
figcaption { font-size: .82rem; color: #444; }
@media screen and (max-width: 40rem) {
  figure { overflow-x: auto; } figure svg { max-width: none; min-width: 36rem; }
  td:first-child { min-width: 8rem; }
}
tr:target td { background: #fff3c4; }
@page { size: %s; margin: 1.8cm 1.6cm; }
@media print {
  body { margin: 0; padding: 0; max-width: none; font-size: 9pt; }
  h1 { font-size: 15pt; } h2 { font-size: 11.5pt; margin-top: 1.2rem; break-after: avoid; }
  .wide { overflow: visible; } caption { break-after: avoid; }
  table { font-size: 7.2pt; } th, td { padding: .12rem .28rem; } a.r { font-size: 5.5pt; }
  tr, figure { break-inside: avoid; } li, p { orphans: 2; widows: 2; }
}
"""
SIZES: dict[Paper, str] = {"a4": "A4", "us-letter": "letter"}
"""What style sheets call them."""


def to_html(report: Report) -> str:
    """The whole report; each number links to its row of the ledger at the end."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">",
        f"<title>{escape(report.title)}</title>",
        f"<style>{_STYLE % SIZES[report.paper]}</style></head><body>",
        f"<h1>{escape(report.title)}</h1>",
        f'<p class="made">Made on {day_words(report.made_on)}.'
        f"{f' {MARKS}' if report.rows else ''}</p>",
    ]
    cite = bool(report.rows)
    for section in report.sections:
        parts.append(f"<section><h2>{escape(section.title)}</h2>")
        parts += [_block(block, cite=cite) for block in section.blocks]
        parts.append("</section>")
    if not cite:
        return "\n".join([*parts, "</body></html>"]) + "\n"
    parts.append('<section><h2>Ledger</h2><div class="wide"><table><thead><tr>')
    parts.append('<th class="n">row</th><th>what</th><th class="n">value</th><th>unit</th>')
    parts.append("<th>from</th></tr></thead><tbody>")
    for row in report.rows:
        parts.append(
            f'<tr id="r{row.number}"><td class="n">{row.number}</td><td>{escape(row.label)}</td>'
            f'<td class="n">{ledger_value(row)}</td><td>{escape(unit_words(row.unit))}</td>'
            f"<td>{escape(origin_words(row))}</td></tr>"
        )
    parts.append("</tbody></table></div></section></body></html>")
    return "\n".join(parts) + "\n"


def _words(words: Words, *, cite: bool) -> str:
    return "".join(
        _cited(word, shown(word), cite=cite) if isinstance(word, Num) else _unbroken(escape(word))
        for word in words
    )


def _unbroken(text: str) -> str:
    return UNBROKEN.sub(r'<span class="d">\g<0></span>', text)


def _cited(cell: Cell, shown_as: str, *, cite: bool) -> str:
    text = _unbroken(escape(shown_as))
    if not isinstance(cell, Num) or not cite:
        return text
    return f'{text} <a class="r" href="#r{cell.row}">[{cell.row}]</a>'


def _block(block: Block, *, cite: bool) -> str:
    if isinstance(block, Paragraph):
        return f"<p>{_words(block.words, cite=cite)}</p>"
    if isinstance(block, Bullets):
        return (
            "<ul>"
            + "".join(f"<li>{_words(words, cite=cite)}</li>" for words in block.items)
            + "</ul>"
        )
    if isinstance(block, Picture):
        svg = block.svg[block.svg.index("<svg") :]
        return f"<figure>{svg}<figcaption>{escape(block.caption)}</figcaption></figure>"
    # Paper does not scroll.
    return "".join(_table(piece, cite=cite) for piece in block.pieces(MOST_COLUMNS))


def _table(table: ReportTable, *, cite: bool) -> str:
    marks = [' class="n"' if right else "" for right in table.numeric()]
    head = "".join(f"<th{m}>{escape(c)}</th>" for m, c in zip(marks, table.columns, strict=True))
    lines = []
    for number, row in enumerate(table.rows, start=1):
        total = ' class="total"' if table.strong(number) else ""
        cells = "".join(
            f"<td{_DATE if _is_short(cell) else m}>"
            f"{_cited(cell, table.shown(cell), cite=cite)}</td>"
            for m, cell in zip(marks, row, strict=True)
        )
        lines.append(f"<tr{total}>{cells}</tr>")
    body = "".join(lines)
    rows = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    caption = f"<caption>{escape(table.name)}</caption>"
    return f'<div class="wide"><table>{caption}{rows}</table></div>'


_DATE = ' class="d"'


def _is_short(cell: Cell) -> bool:
    """Dates and the like are not broken."""
    return isinstance(cell, str) and (len(cell) <= 10 or DAY.fullmatch(cell) is not None)
