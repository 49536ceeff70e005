"""A report as PDF, set by the package typst."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from unicodedata import category

from advisor.costs.amounts import day_words
from advisor.parse import InputError
from advisor.planning.report.formats.markdown_csv_json import ledger_value, origin_words, unit_words
from advisor.planning.report.number_ledger import Num
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
from bench_runner.leftovers import in_use, sweep
from bench_runner.outside import printable

TEXT_POINTS, NAME_POINTS, MARK_POINTS = 487, 95, 17
"""Of a page between its margins, of a line's name where names are long, and of a number's row."""
WIDE = 0.49
"""A letter of an amount against its height, at most: digits, capitals and marks together."""
MOST_UNBROKEN = 8
"""Lines of a table that is not parted at the end of a page."""
LINES_A_ROW = 2
"""Where its columns are too narrow for their text."""
ANNEX_POINTS, FUNDER_POINTS = 7.4, 8.5
"""The size of what stands in tables."""
MARGIN = "2cm"
LOOSE, TIGHT = (0.6, 1.2, 1.4), (0.54, 0.9, 1.1)
"""Between lines, paragraphs and sections, in heights of a letter: as a rule, and where that spares
what the funder reads a last page of a few lines."""
LEAST_DRAWN = 0.7
"""Of its size a picture has at least so much, so that it need not wait for the next page."""
MARKS = (
    "A small number in brackets is the row of the ledger, at the end, that the number before it "
)
MARKS += "comes from."

_HEAD = """\
#set document(title: {title}, author: "GPU grant advisor", date: datetime({date}))
#set page(paper: "{paper}", margin: (x: 1.9cm, y: {margin}),
  footer: context align(center, text(size: 8pt, fill: luma(110),
    [#counter(page).display() / #counter(page).final().first()])))
#set text(font: ("Libertinus Serif", "New Computer Modern"), size: 10pt, lang: "en")
#set par(justify: false, leading: {leading}em, spacing: {apart}em)
#show heading.where(level: 2): it => block(above: {above}em, below: 0.7em,
  text(size: 12.5pt, weight: "bold", fill: rgb("#00507e"), it.body))
#let r(n) = link(label("r" + str(n)), text(size: 6.5pt, fill: rgb("#0072B2"), " [" + str(n) + "]"))
#let grid-table(name, columns, aligns, head, cells) = {{
  block(sticky: true, above: 1.2em, below: 0.5em, text(size: 9pt, weight: "bold", name))
  set text(size: {cells}pt)
  table(columns: columns, align: aligns, stroke: none, inset: (x: 3pt, y: 2.4pt),
    table.hline(stroke: 0.8pt), table.header(..head.map(c => strong(c))),
    table.hline(stroke: 0.5pt), ..cells, table.hline(stroke: 0.8pt))
}}
#let drawn(name, section, caption) = {{
  let drawing(part, words) = figure(image(name, width: 100% * part), caption: words,
    supplement: none, numbering: none)
  block(height: 0pt, above: 0pt, below: 0pt)[#metadata(name)#label(name)]
  context {{
    let from = query(label(name)).first().location().position()
    let whole = measure(block(width: page.width - 3.8cm, drawing(1, caption))).height
    let left = page.height - {margin} - from.y - {room}
    // At the head of the very page that its text is on it takes the room below that text.
    let drawn = query(label(name + "-drawn"))
    if drawn.len() > 0 {{
      let at = drawn.first().location().position()
      if at.page == from.page and at.y < from.y {{ left = left + whole }}
    }}
    // A little smaller it may stand below its text; else it waits at the head of the next page,
    // where it says what it belongs to, and text flows on.
    if left >= whole {{ block(above: 1em, drawing(1, caption)) }}
    else if left > {least} * whole {{
      block(above: 1em, drawing((left - {words}) / (whole - {words}), caption))
    }}
    else {{ place(top, float: true,
      [#metadata(name)#label(name + "-drawn")#drawing(1, section + ". " + caption)]) }}
  }}
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
    made = _set(report, LOOSE)
    if not report.rows and _pages(made) > 1:
        denser = _set(report, TIGHT)
        if _pages(denser) < _pages(made):
            return denser
    return made


def _pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def _set(report: Report, spacing: tuple[float, float, float]) -> bytes:
    import typst

    noon = datetime(report.made_on.year, report.made_on.month, report.made_on.day, 12, tzinfo=UTC)
    source = to_typst(report, spacing)
    drawn = [b for section in report.sections for b in section.blocks if isinstance(b, Picture)]
    sweep(Path(tempfile.gettempdir()), r"advisor-report-\w{8}")
    with tempfile.TemporaryDirectory(prefix="advisor-report-") as folder, in_use(Path(folder)):
        root = Path(folder)
        try:
            (root / "report.typ").write_text(source, encoding="utf-8")
            for picture in drawn:
                (root / f"{picture.name}.svg").write_text(picture.svg, encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"a PDF is made in the folder for temporary files, {root.parent}, and that failed "
                f"({error.strerror or error}): free some space there, or set TMPDIR to another "
                "folder"
            ) from None
        made = typst.compile(str(root / "report.typ"), root=folder, timestamp=int(noon.timestamp()))
    assert isinstance(made, bytes)
    return made


def to_typst(report: Report, spacing: tuple[float, float, float] = LOOSE) -> str:
    """The Typst source; pictures lie beside it."""
    made = report.made_on
    leading, apart, above = spacing
    head = _HEAD.format(
        title=quoted(report.title),
        date=f"year: {made.year}, month: {made.month}, day: {made.day}",
        made_on=day_words(made),
        paper=report.paper,
        marks=f" {MARKS}" if report.rows else "",
        cells=ANNEX_POINTS if report.rows else FUNDER_POINTS,
        margin=MARGIN,
        leading=leading,
        apart=apart,
        above=above,
        room="24pt",
        words="24pt",
        least=LEAST_DRAWN,
    )
    parts = [head]
    for section in report.sections:
        parts.append(f"== #{quoted(section.title)}")
        # Pictures come after what they show.
        blocks = sorted(section.blocks, key=lambda block: isinstance(block, Picture))
        parts += [
            _picture(block, section.title)
            if isinstance(block, Picture)
            else _block(block, cite=bool(report.rows))
            for block in blocks
        ]
    if not report.rows:
        return _with_caution(parts, report)
    parts.append('== #"Ledger"')
    cells = []
    for row in report.rows:
        cells.append(f"[#{quoted(str(row.number))} #label({quoted(f'r{row.number}')})]")
        cells += [
            quoted(text)
            for text in (row.label, ledger_value(row), unit_words(row.unit), origin_words(row))
        ]
    head_cells = ", ".join(map(quoted, ("row", "what", "value", "unit", "from")))
    parts.append(
        '#grid-table("Every number and where it comes from", (auto, 2fr, auto, auto, 3fr), '
        "(right, left, right, left, left), "
        f"({head_cells}), ({', '.join(cells)},))"
    )
    return _with_caution(parts, report)


def _with_caution(parts: list[str], report: Report) -> str:
    """The source; letters that no font here has are told of, never printed as boxes alone."""
    drawn = [b.svg for section in report.sections for b in section.blocks if isinstance(b, Picture)]
    caution = missing_words(missing_letters("".join([*parts, *drawn])))
    if caution:
        parts.insert(1, f'#text(size: 9pt, weight: "bold", {quoted(caution)})')
    return "\n\n".join(parts) + "\n"


def _words(words: Words, *, cite: bool) -> str:
    return "".join(
        f"#{quoted(w)}"
        if isinstance(w, str)
        # An amount is not broken at its space.
        else f"#box({quoted(shown(w))})" + (f"#r({w.row})" if cite else "")
        for w in words
    )


def _cell(cell: Cell, table: ReportTable, *, cite: bool) -> str:
    text = quoted(table.shown(cell))
    return f"[#{text}#r({cell.row})]" if isinstance(cell, Num) and cite else text


def _block(block: Block, *, cite: bool) -> str:
    if isinstance(block, Paragraph):
        words = _words(block.words, cite=cite)
        # What introduces a list stays with it.
        ends = block.words[-1]
        introduces = isinstance(ends, str) and ends.endswith(":")
        return f"#block(sticky: true)[{words}]" if introduces else words
    if isinstance(block, Bullets):
        return "\n".join(f"- {_words(words, cite=cite)}" for words in block.items)
    assert isinstance(block, ReportTable)
    return _table(block, cite=cite)


def _picture(block: Picture, section: str) -> str:
    return f"#drawn({quoted(block.name + '.svg')}, {quoted(section)}, {quoted(block.caption)})"


def _table(table: ReportTable, *, cite: bool) -> str:
    return "\n\n".join(_piece(piece, cite=cite) for piece in table.pieces(_most(table, cite=cite)))


def _most(table: ReportTable, *, cite: bool) -> int:
    """Columns of amounts that stand beside each other on a page, by their longest amount."""
    longest = max((len(table.shown(cell)) for row in table.rows for cell in row[1:]), default=1)
    points = ANNEX_POINTS if cite else FUNDER_POINTS
    wide = longest * points * WIDE + 6 + (MARK_POINTS if cite else 0)
    names = max((len(str(row[0])) for row in (table.columns, *table.rows)), default=0)
    named = min(names * points * WIDE + 6, NAME_POINTS)
    return max(int((TEXT_POINTS - named) // wide), 2)


def _piece(table: ReportTable, *, cite: bool) -> str:
    numeric = table.numeric()
    points = ANNEX_POINTS if cite else FUNDER_POINTS
    lengths = [
        max((len(table.shown(row[at])) for row in table.rows), default=0)
        for at in range(len(table.columns))
    ]
    wide = sum(
        max(length, len(column)) * points * WIDE + 6 + (MARK_POINTS if right and cite else 0)
        for length, column, right in zip(lengths, table.columns, numeric, strict=True)
    )
    widths = [
        # Where all of it fits in a line, no column needs to be wider than its text.
        "auto"
        if right or wide <= TEXT_POINTS or length <= (24 if at == 0 else len("30 September 2026"))
        else f"{min(length, 60)}fr"
        for at, (right, length) in enumerate(zip(numeric, lengths, strict=True))
    ]
    aligns = ", ".join("right" if right else "left" for right in numeric)
    head = ", ".join(map(quoted, table.columns))
    lines = []
    for number, row in enumerate(table.rows, start=1):
        strong = table.strong(number)
        for cell in row:
            text = _cell(cell, table, cite=cite)
            lines.append(f"strong({text})" if strong else text)
    cells = f"({', '.join(lines)},)" if lines else "()"
    text = (
        f"#grid-table({quoted(table.name)}, ({', '.join(widths)},), ({aligns},), ({head},), "
        f"{cells})"
    )
    lines_in_all = len(table.rows) * (LINES_A_ROW if wide > TEXT_POINTS else 1)
    return f"#block(breakable: false)[{text}]" if lines_in_all <= MOST_UNBROKEN else text


_OWN = 0x0530
"""Below it the fonts that come with the typesetter have every letter: Latin, Greek, Cyrillic."""
MOST_NAMED = 5
_ASKED = """\
#let wide(font, letter) = measure(text(font: font, letter)).width
#let lacks(letter) = ("Libertinus Serif", "DejaVu Sans Mono").all(
  font => wide(font, letter) == wide(font, "\\u{10FFFF}"))
#context [#metadata(%s.filter(lacks)) <lacking>]
"""
"""A letter that no font has is as wide as one that cannot be, in two fonts whose boxes differ."""


def foreign_letters(text: str) -> list[str]:
    """Letters and signs that only some fonts have, each once, in their order."""
    return [
        letter
        for letter in dict.fromkeys(text)
        if ord(letter) >= _OWN and letter.isprintable() and category(letter)[0] in "LNS"
    ]


def missing_letters(text: str, *, of_system: bool = True) -> list[str]:
    """Letters of the text that no font has, in their order; without ``of_system`` by the fonts
    that come with the typesetter alone."""
    wanted = foreign_letters(text)
    if not wanted:
        return []
    import typst

    # As JSON has them they are Typst's own texts in a list, but for its brackets.
    listed = json.dumps(wanted, ensure_ascii=False).removeprefix("[").removesuffix("]")
    found = typst.query(
        (_ASKED % f"({listed},)").encode(),
        "<lacking>",
        field="value",
        one=True,
        ignore_system_fonts=not of_system,
    )
    lacking: list[str] = json.loads(found)
    return lacking


def missing_words(missing: Iterable[str]) -> str:
    """What to do about them; empty where none are missing. The letters themselves cannot be
    printed, so they are told by their codes."""
    codes = [f"U+{ord(letter):04X}" for letter in missing]
    if not codes:
        return ""
    more = f" and {len(codes) - MOST_NAMED} more" if len(codes) > MOST_NAMED else ""
    return (
        f"This computer has no font for {len(codes)} of the letters below "
        f"({', '.join(codes[:MOST_NAMED])}{more}), so they are printed as empty boxes. Install a "
        "font that has them, such as Noto Sans CJK, and make the file again, or write it as .xlsx."
    )
