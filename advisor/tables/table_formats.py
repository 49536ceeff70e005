"""Rows as CSV or Markdown, and in whichever format is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from advisor.tables.plain_values import Row, harmless, to_json
from advisor.tables.text_table import cell_words, to_table
from bench_runner.untrusted_text import printable

_FORMULA = re.compile(r"""'*+(?:[\t\r\n]|[\s"']*+[=+\-@＝＋－＠])""")
"""What a spreadsheet may run: also after blanks and quotes, which some drop, and full-width."""


_PARTED = re.compile(r"""([;|\t\n][ \u00a0"]*)('*+[=+\-@＝＋－＠])""")
"""The same behind what some spreadsheets part cells at, where they do not heed our quotes."""
_GUARDED = re.compile(_PARTED.pattern.replace("('*+", "'('*+"))


def guarded(text: str) -> str:
    """Text that a spreadsheet would run as a formula, with an apostrophe that keeps it text."""
    parted = _PARTED.sub(r"\1'\2", text)
    return f"'{parted}" if _FORMULA.match(text) else parted


def unguarded(text: str) -> str:
    """The text that `guarded` was given."""
    parted = _GUARDED.sub(r"\1\2", text)
    return parted[1:] if parted.startswith("'") and _FORMULA.match(parted[1:]) else parted


def to_csv(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """CSV with a header, also where there are no rows; None is an empty cell."""
    cells = [[_csv_text(row.get(column)) for column in columns] for row in rows]
    if len(columns) == 1:  # a line without anything would be no row
        cells = [[text or '""'] for [text] in cells]
    return "\n".join(map(",".join, [map(_csv_text, columns), *cells]))


def _csv_text(value: Any) -> str:
    """A cell with the quotes that it needs."""
    cell = _csv_cell(value)
    text = "" if cell is None else str(cell)
    # Some spreadsheets part cells at semicolons and tabs, too: in quotes they are none.
    if any(mark in text for mark in ',;\t"\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _csv_cell(value: Any) -> Any:
    if isinstance(value, (dict, list, tuple)):
        value = to_json(value).replace("\n", "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return guarded(harmless(value.replace("\r\n", "\n").replace("\r", "\n")))
    return value


TABLE_FORMATS = {".csv": "csv", ".md": "markdown", ".json": "json"}
"""The format that a file's ending asks for."""


_MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\|*_[]>#~"})
_MARKUP |= str.maketrans({"<": "&lt;", "&": "&amp;", "`": "&grave;"})
_MATHS = re.compile(r"(?<=[^\s(≈–-])\$|\$(?!\d)")
"""A dollar sign that no amount follows could begin or end a formula; before one it begins none."""
_ADDRESS = re.compile(r":(?=//)|(?<=\w)\.(?=[a-z]{2})|(?<=\bwww)\.", re.IGNORECASE)
"""Where Markdown's readers see a web address that nobody marked as one."""
_MAIL = re.compile(r"(?:[\w.+-]|\\[_.])+@[\w.\\-]+")
"""An address of mail, in text whose marks are escaped."""


def to_markdown(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """A Markdown table with a header, also where there are no rows; None shows as "no data"."""
    lines = [[_markdown_cell(column) for column in columns], ["---"] * len(columns)]
    lines += [[_markdown_cell(row.get(column)) for column in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _markdown_cell(value: Any) -> str:
    """A cell is data: what would be markup is escaped, what would break the line is not kept."""
    return markdown_text(str(value) if isinstance(value, float) else cell_words(value))


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is: no markup, mathematics, link, picture or tag, and no new
    line."""
    escaped = _MATHS.sub(r"\\$", printable(text, " ").translate(_MARKUP))
    escaped = _ADDRESS.sub(r"\\\g<0>", escaped)
    if "@" not in escaped:
        return escaped
    # GitHub links these whatever is escaped, but in code.
    return _MAIL.sub(lambda found: f"`{found[0].replace(chr(92), '')}`", escaped)


def render_rows(
    rows: Sequence[Row],
    form: str,
    columns: Sequence[str] | None = None,
    *,
    width: int | None = None,
    spare: Sequence[str] = (),
) -> str:
    """Rows as ``table``, ``json``, ``csv`` or ``markdown``, in these columns or those of the first;
    only a table knows a width."""
    named = list(columns) if columns is not None else list(rows[0]) if rows else []
    if form == "json":
        return to_json([{name: row.get(name) for name in columns or row} for row in rows])
    if form == "csv":
        return to_csv(rows, named)
    if form == "markdown":
        return to_markdown(rows, named).removesuffix("\n")
    return to_table(rows, named, width=width, spare=spare)
