"""A report as PDF, set by Typst (the package of that name; no program of the system is needed)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from unicodedata import category

from advisor.costs.amount_words import day_words
from advisor.planning.report.document import (
    Block,
    Cell,
    Picture,
    Report,
    ReportTable,
    in_prose,
    words_of,
)
from advisor.planning.report.formats.markdown_csv_json import ledger_value, origin_words, unit_words
from advisor.planning.report.number_ledger import Num
from bench_runner.untrusted_text import printable

TEXT_POINTS, NAME_POINTS, MARK_POINTS, PADDING = 487, 95, 17, 6
"""Widths on a page: between its margins, of a long name of a line, of the row of a number, and
around a cell."""
LETTER = 0.49
"""The width of a letter of an amount against its height, at most."""
SUSPECTS = b"/Suspects false"
MOST_UNBROKEN = 8
"""A table of at most this many lines is not parted at the end of a page."""
ANNEX_POINTS, FUNDER_POINTS, LEAST_POINTS = 7.4, 8.5, 6.0
"""The size of text in tables, and the least that can be read on paper."""
MARKS = (
    "A small number in brackets is the row of the ledger, at the end, that the number before it "
    "comes from."
)
_HEAD = """\
#set document(title: {title}, author: "GPU grant advisor", date: datetime({date}))
#set page(paper: "{paper}", margin: (x: 1.9cm, y: 2cm),
  footer: context align(center, text(size: 8pt, fill: luma(110),
    [#counter(page).display() / #counter(page).final().first()])))
#set text(font: ("Libertinus Serif", "New Computer Modern"), size: 10pt, lang: "en")
#set par(justify: false, leading: 0.6em, spacing: 1.2em)
#show heading.where(level: 2): it => block(above: 1.4em, below: 0.7em,
  text(size: 12.5pt, weight: "bold", fill: rgb("#00507e"), it.body))
#let r(n) = link(label("r" + str(n)), text(size: 6.5pt, fill: rgb("#0072B2"), " [" + str(n) + "]"))
#let grid-table(name, columns, aligns, head, points, cells) = {{
  block(sticky: true, above: 1.2em, below: 0.5em, text(size: 9pt, weight: "bold", name))
  set text(size: points * 1pt)
  table(columns: columns, align: aligns, stroke: none, inset: (x: 3pt, y: 2.4pt),
    table.hline(stroke: 0.8pt), table.header(..head.map(c => strong(c))),
    table.hline(stroke: 0.5pt), ..cells, table.hline(stroke: 0.8pt))
}}
= #{title}
#text(fill: luma(90), size: 9pt)[Made on {made_on}.{marks}]
"""


def quoted(text: str) -> str:
    """``text`` as a Typst string: data is never markup."""
    clean = printable(text, " ")
    return '"' + clean.replace("\\", "\\\\").replace('"', '\\"') + '"'


def to_pdf(report: Report) -> bytes:
    """The PDF; the same bytes for the same report."""
    import typst

    made_on = report.made_on
    noon = datetime(made_on.year, made_on.month, made_on.day, 12, tzinfo=UTC)
    made = typst.compile(to_typst(report).encode(), timestamp=int(noon.timestamp()))
    assert isinstance(made, bytes)
    # Poppler takes this key, which says what is so without it, for a mistake.
    return made.replace(SUSPECTS, b" " * len(SUSPECTS))


def to_typst(report: Report) -> str:
    """The Typst source, with its pictures in it."""
    made, cite = report.made_on, bool(report.rows)
    head = _HEAD.format(
        title=quoted(report.title),
        date=f"year: {made.year}, month: {made.month}, day: {made.day}",
        made_on=day_words(made),
        paper=report.paper,
        marks=f" {MARKS}" if cite else "",
    )
    parts = [head]
    for section in report.sections:
        parts.append(f"== #{quoted(section.title)}")
        parts += [_block(block, cite=cite) for block in section.blocks]
    if cite:
        parts.append(_ledger(report))
    # Letters that no font here has are named: they would be printed as empty boxes.
    caution = missing_words(missing_letters("".join(parts)))
    if caution:
        parts.insert(1, f'#text(size: 9pt, weight: "bold", {quoted(caution)})')
    return "\n\n".join(parts) + "\n"


def _ledger(report: Report) -> str:
    cells = []
    for row in report.rows:
        cells.append(f"[#{quoted(str(row.number))} #label({quoted(f'r{row.number}')})]")
        words = (row.label, ledger_value(row), unit_words(row.unit), origin_words(row))
        cells += map(quoted, words)
    head = ", ".join(map(quoted, ("row", "what", "value", "unit", "from")))
    return (
        '== #"Ledger"\n\n#grid-table("Every number and where it comes from", '
        "(auto, 2fr, auto, auto, 3fr), (right, left, right, left, left), "
        f"({head}), {ANNEX_POINTS}, ({', '.join(cells)},))"
    )


def _text(text: str, *, cite: bool) -> str:
    return "".join(
        f"#{quoted(word)}"
        if isinstance(word, str)
        # An amount is not broken at its space.
        else f"#box({quoted(in_prose(word))})" + (f"#r({word.row})" if cite else "")
        for word in words_of(text)
    )


def _block(block: Block, *, cite: bool) -> str:
    if isinstance(block, str):
        text = _text(block, cite=cite)
        # What introduces a list stays with it.
        return f"#block(sticky: true)[{text}]" if block.endswith(":") else text
    if isinstance(block, tuple):
        return "\n".join(f"- {_text(item, cite=cite)}" for item in block)
    if isinstance(block, Picture):
        return (
            f'#figure(image(bytes({quoted(block.svg)}), format: "svg", width: 100%), '
            f"caption: {quoted(block.caption)}, supplement: none, numbering: none)"
        )
    return "\n\n".join(_table(part, cite=cite) for part in _readable(block, cite=cite))


def _points(table: ReportTable, *, cite: bool) -> float:
    """The size of a table's text: smaller where its columns of amounts take more than a page."""
    points = ANNEX_POINTS if cite else FUNDER_POINTS
    if not all(table.numeric()[1:]):
        return points
    letters = max((len(table.shown(cell)) for row in table.rows for cell in row[1:]), default=1)
    column = letters * points * LETTER + PADDING + MARK_POINTS * cite
    return points * min((TEXT_POINTS - NAME_POINTS) / (column * (len(table.columns) - 1)), 1)


def _readable(table: ReportTable, *, cite: bool) -> Iterator[ReportTable]:
    """The table; where its text would be too small, its columns in two parts, each with the first
    column."""
    if _points(table, cite=cite) >= LEAST_POINTS or len(table.columns) < 3:
        yield table
        return
    half = len(table.columns) // 2 + 1
    for first, last in ((1, half), (half, None)):
        columns = (table.columns[0], *table.columns[first:last])
        rows = tuple((row[0], *row[first:last]) for row in table.rows)
        name = f"{table.name}, {columns[1]} to {columns[-1]}"
        yield from _readable(replace(table, name=name, columns=columns, rows=rows), cite=cite)


def _table(table: ReportTable, *, cite: bool) -> str:
    numeric, widths = table.numeric(), []
    for at, right in enumerate(numeric):
        longest = max((len(table.shown(row[at])) for row in table.rows), default=0)
        widths.append("auto" if right or longest <= 24 else f"{min(longest, 60)}fr")
    cells = []
    for number, row in enumerate(table.rows, start=1):
        texts = (_cell(cell, table, cite=cite) for cell in row)
        cells += [f"strong({text})" if table.strong(number) else text for text in texts]
    aligns = ", ".join("right" if right else "left" for right in numeric)
    head = ", ".join(map(quoted, table.columns))
    text = (
        f"#grid-table({quoted(table.name)}, ({', '.join(widths)},), ({aligns},), ({head},), "
        f"{_points(table, cite=cite):.2f}, ({', '.join(cells)}{',' * bool(cells)}))"
    )
    return f"#block(breakable: false)[{text}]" if len(table.rows) <= MOST_UNBROKEN else text


def _cell(cell: Cell, table: ReportTable, *, cite: bool) -> str:
    text = quoted(table.shown(cell))
    return f"[#{text}#r({cell.row})]" if isinstance(cell, Num) and cite else text


FONTS_HAVE_BELOW = 0x0530
"""The fonts that come with the typesetter have every letter below: Latin, Greek, Cyrillic."""
_ASKED = """\
#let wide(font, letter) = measure(text(font: font, letter)).width
#let lacks(letter) = ("Libertinus Serif", "DejaVu Sans Mono").all(
  font => wide(font, letter) == wide(font, "\\u{10FFFF}"))
#context [#metadata(%s.filter(lacks)) <lacking>]
"""
"""A letter that no font has is as wide as a letter that does not exist, in two fonts whose boxes
differ in width."""


def missing_letters(text: str) -> list[str]:
    """Letters of the text that no font of the typesetter or the system has, in their order."""
    foreign = [
        letter
        for letter in dict.fromkeys(text)
        if ord(letter) >= FONTS_HAVE_BELOW and letter.isprintable() and category(letter)[0] in "LNS"
    ]
    if not foreign:
        return []
    import typst

    # JSON writes them as Typst writes a list of texts, but for its brackets.
    listed = json.dumps(foreign, ensure_ascii=False)[1:-1]
    asked = (_ASKED % f"({listed},)").encode()
    found: list[str] = json.loads(typst.query(asked, "<lacking>", field="value", one=True))
    return found


def missing_words(missing: Sequence[str]) -> str:
    """What to do about letters that cannot be printed, by their codes; empty where none are."""
    if not missing:
        return ""
    codes = ", ".join(f"U+{ord(letter):04X}" for letter in missing[:5])
    more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
    return (
        f"This computer has no font for {len(missing)} of the letters below ({codes}{more}), so "
        "they are printed as empty boxes. Install a font that has them, such as Noto Sans CJK, and "
        "make the file again, or write it as .xlsx."
    )
