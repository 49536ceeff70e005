"""Rows as CSV or Markdown, and in whichever format is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from advisor.tables.json_text import json_pieces, to_json
from advisor.tables.plain_values import (
    ALIKE_IF_EQUAL,
    PIECE,
    Columns,
    Row,
    all_have,
    harmless,
    is_flat,
    json_escaped,
)
from advisor.tables.text_table import to_table
from bench_runner.untrusted_text import printable

_FORMULA = re.compile(r"""'*+(?:[\t\r\n]|[\s"']*+[=+\-@＝＋－＠])""")
"""What a spreadsheet may run: also after blanks and quotes, which some drop, and full-width."""


def guarded(text: str) -> str:
    """Text that a spreadsheet would run as a formula, with an apostrophe that keeps it text."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """The text that `guarded` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text[1:]) else text


def to_csv(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """CSV with a header, also where there are no rows; None is an empty cell."""
    values: Iterable[Sequence[Any]]
    if all_have(list(columns), rows):
        values = zip(*(row.values() for row in rows), strict=True)
    else:
        values = ([row.get(column) for row in rows] for column in columns)
    return "\n".join([",".join(map(_csv_text, columns)), *_csv_lines(values)])


def _csv_lines(columns: Iterable[Sequence[Any]]) -> Iterator[str]:
    cells = list(map(_csv_column, columns))
    if len(cells) == 1:  # a line without anything would be no row
        cells = [[text or '""' for text in column] for column in cells]
    return map(",".join, zip(*cells, strict=True))


def _csv_column(values: Sequence[Any]) -> list[str]:
    """`_csv_text` of each; what most columns of a long table are, few days, numbers, or texts with
    nothing in them that needs care, at once."""
    kinds = set(map(type, values))
    if kinds <= {Decimal, type(None)}:
        return ["" if value is None else str(value) for value in values]
    if kinds <= {str, type(None)}:
        texts = [value or "" for value in values]
        if _all_plain(texts):
            return texts
    if kinds <= ALIKE_IF_EQUAL or kinds <= {bool, type(None)}:
        known = {value: _csv_text(value) for value in set(values)}
        return [known[value] for value in values]
    return list(map(_csv_text, values))


_PLAIN_BYTES = bytes(code for code in range(ord(" "), 127) if chr(code) not in ',;"')
_ODD_START = re.compile(rb"\0[^0-9A-Za-z\0]")


def _all_plain(texts: Sequence[str]) -> bool:
    """Whether each is empty, or ASCII that begins with a letter or digit and has no comma,
    semicolon, quote or hidden sign: such cells need nothing."""
    joined = "".join(["\0", "\0".join(texts)])
    if not joined.isascii():
        return False
    raw = joined.encode("ascii")
    return len(raw.translate(None, _PLAIN_BYTES)) == len(texts) and not _ODD_START.search(raw)


def _csv_text(value: Any) -> str:
    """A cell with the quotes that it needs."""
    if type(value) is str and value.isalnum():
        return value
    cell = _csv_cell(value)
    text = "" if cell is None else str(cell)
    # Some spreadsheets part cells at semicolons and tabs, too: in quotes they are none.
    if any(mark in text for mark in ',;\t"\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _csv_cell(value: Any) -> Any:
    if type(value) is str and value[:1].isalnum() and value.isprintable():
        return value  # most cells of a long table: nothing in it steers, runs or breaks a line
    if isinstance(value, (dict, list, tuple)):
        return to_json(value).replace("\n", "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return guarded(harmless(value.replace("\r\n", "\n").replace("\r", "\n")))
    return value


def render_rows(
    rows: Sequence[Row],
    form: str,
    columns: Sequence[str] | None = None,
    *,
    width: int | None = None,
    spare: Sequence[str] = (),
) -> str:
    """Rows in one of the formats ``table``, ``json`` and ``csv``; only a table knows a width."""
    if form == "json":
        return to_json([row if type(row) is dict else dict(row) for row in rows])
    named = list(columns) if columns is not None else list(rows[0]) if rows else []
    if form == "csv":
        return to_csv(rows, named)
    return to_table(rows, named, width=width, spare=spare)


def column_pieces(columns: Columns, form: str) -> Iterator[str]:
    """`render_rows` in ``json`` or ``csv`` of a table by its columns, piece by piece."""
    count = len(next(iter(columns.values()), ()))
    if form == "csv":
        yield ",".join(map(_csv_text, columns))
        for at in range(0, count, PIECE):
            piece = [values[at : at + PIECE] for values in columns.values()]
            yield "\n" + "\n".join(_csv_lines(piece))
    elif not count:
        yield "[]"
    elif is_flat(columns):
        yield from map(json_escaped, json_pieces(columns))
    else:
        rows = zip(*columns.values(), strict=True)
        yield to_json([dict(zip(columns, row, strict=True)) for row in rows])


TABLE_FORMATS = {".csv": "csv", ".md": "markdown", ".json": "json"}
"""The format that a file's ending asks for."""


_MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\|`*_[]>#~"} | {"<": "&lt;", "&": "&amp;"})


def to_markdown(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """A Markdown table with a header, also where there are no rows; None shows as "no data"."""
    lines = [[_markdown_cell(column) for column in columns], ["---"] * len(columns)]
    lines += [[_markdown_cell(row.get(column)) for column in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _markdown_cell(value: Any) -> str:
    """A cell is data: what would be markup is escaped, what would break the line is not kept."""
    if value is None or value == "":
        return "no data"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = to_json(value) if isinstance(value, (dict, list, tuple)) else str(value)
    return markdown_text(text)


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is: no markup, link, picture or tag, and no new line."""
    return printable(text, " ").translate(_MARKUP)


def table_text(rows: Sequence[Row], columns: Sequence[str], form: str) -> str:
    """Rows in ``csv``, ``markdown`` or ``json``, ending in a line feed."""
    if form == "csv":
        return to_csv(rows, columns) + "\n"
    if form == "markdown":
        return to_markdown(rows, columns)
    if form == "json":
        return to_json([{column: row.get(column) for column in columns} for row in rows]) + "\n"
    raise ValueError(f"format '{form}' is not known: write csv, markdown or json")
