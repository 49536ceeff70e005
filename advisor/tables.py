"""Rows as an aligned text table, JSON or CSV. Knows nothing of what the rows mean."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import takewhile
from operator import itemgetter
from typing import Any

Row = Mapping[str, Any]
Columns = Mapping[str, Sequence[Any]]
"""A table by its columns, all as long: of 100,000 rows much lighter than the rows."""
_PERCENT = re.compile(r"(?<=\d) %")
_FORMULA = re.compile(r"""'*+(?:[\t\r\n]|[\s"']*+[=+\-@＝＋－＠])""")
"""What a spreadsheet may run: also after blanks and quotes, which some drop, and full-width."""


_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
"""Control and direction characters, and letters that are not shown; tab and line feed are none."""
_STEERING_BYTES = bytes(code for code in range(128) if _STEERS.match(chr(code)))
_LONG = 100_000
"""From so many characters on it is worth asking first, in one pass, whether anything is wrong."""


def harmless(text: str) -> str:
    """Text in which nothing moves the cursor, turns the line round or hides."""
    if len(text) > _LONG and text.isascii():
        pieces = (text[at : at + _LONG].encode("ascii") for at in range(0, len(text), _LONG))
        if all(len(raw.translate(None, _STEERING_BYTES)) == len(raw) for raw in pieces):
            return text
    return _STEERS.sub("?", text)


def fill(text: str, width: int, **options: Any) -> str:
    """Text in lines, as `textwrap.fill` does; a number keeps its per cent sign."""
    kept = textwrap.fill(_PERCENT.sub("\u00a0%", text), width, **options)
    return kept.replace("\u00a0%", " %")


def to_json(value: Any) -> str:
    """JSON with money as plain numbers and days of the calendar as ISO dates; never NaN.

    What could steer a terminal is written as JSON's own escapes.
    """
    return _steering_escaped(_flat_json(value) or _indented(value))


def _indented(value: Any) -> str:
    return json.dumps(value, default=_plain, indent=2, **_STRICT)


def _steering_escaped(text: str) -> str:
    if text.isascii() and "\x7f" not in text:  # JSON itself escapes the other control characters
        return text
    return _STEERS.sub(lambda found: json.dumps(found[0])[1:-1], text)


_STRICT: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False}
_CELL_ENDS = "\n"
"""What separates encoded cells; a text in JSON has no line feed, so nothing else can."""


def _flat_json(value: Any) -> str | None:
    """The same as with ``indent=2`` for a list of flat rows of one kind, many times as fast. None
    for anything else."""
    if type(value) is not list or not value or not all(type(row) is dict and row for row in value):
        return None
    names = list(value[0])
    if not all(type(name) is str for name in names) or not _all_have(names, value):
        return None
    columns = {name: list(map(itemgetter(name), value)) for name in names}
    return "".join(_json_pieces(columns)) if _is_flat(columns) else None


def _is_flat(columns: Columns) -> bool:
    kinds = {kind for values in columns.values() for kind in set(map(type, values))}
    return not any(issubclass(kind, (dict, list, tuple)) for kind in kinds)


def _json_pieces(columns: Columns) -> Iterator[str]:
    """`_flat_json` of flat columns, piece by piece: the encoder in C cannot indent, but takes a
    column at once."""
    encode = json.JSONEncoder(default=_plain, separators=(_CELL_ENDS, ": "), **_STRICT).encode
    starts = [f"{encode(name)}: " for name in columns]
    before = "[\n  {\n    "
    for at in range(0, len(next(iter(columns.values()))), _PIECE):
        texts = []
        for start, whole in zip(starts, columns.values(), strict=True):
            column = whole[at : at + _PIECE]
            kinds = set(map(type, column))
            if kinds == {Decimal}:
                column = list(map(float, column))
            if kinds <= {str} and column.count(column[0]) == len(column):
                texts.append([start + encode(column[0])] * len(column))
                continue
            # Most columns of a long table are one text, or few texts or days, many times over.
            few = set(column) if kinds <= _ALIKE_IF_EQUAL else column
            if len(few) > len(column) // 2:
                few = column
            cells = [start + text for text in encode(list(few))[1:-1].split(_CELL_ENDS)]
            if few is not column:
                text_of = dict(zip(few, cells, strict=True))
                cells = [text_of[cell] for cell in column]
            texts.append(cells)
        lines = map(",\n    ".join, zip(*texts, strict=True))
        yield before + "\n  },\n  {\n    ".join(lines)
        before = "\n  },\n  {\n    "
    yield "\n  }\n]"


def _all_have(names: list[str], rows: Sequence[Row]) -> bool:
    """Whether each row has these keys, in this order, and no others."""
    return all(list(row) == names for row in rows)


_ALIKE_IF_EQUAL = {str, date, type(None)}
"""What is written alike where it is equal; 1, 1.0 and True are not."""
_PIECE = 5_000
"""So many rows at once: what is made of them on the way stays small."""


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def guarded(text: str) -> str:
    """Text that a spreadsheet would run as a formula, with an apostrophe that keeps it text."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """The text that `guarded` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text[1:]) else text


def to_csv(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """CSV with a header, also where there are no rows; None is an empty cell."""
    values: Iterable[Sequence[Any]]
    if _all_have(list(columns), rows):
        values = zip(*(row.values() for row in rows), strict=True)
    else:
        values = ([row.get(column) for row in rows] for column in columns)
    return _csv_of(columns, values)


def _csv_of(names: Sequence[str], columns: Iterable[Sequence[Any]]) -> str:
    return "\n".join([",".join(map(_csv_text, names)), *_csv_lines(columns)])


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
    if kinds <= _ALIKE_IF_EQUAL or kinds <= {bool, type(None)}:
        known = {value: _csv_text(value) for value in set(values)}
        return [known[value] for value in values]
    return list(map(_csv_text, values))


_PLAIN_BYTES = bytes(code for code in range(ord(" "), 127) if chr(code) not in ',"')
_ODD_START = re.compile(rb"\0[^0-9A-Za-z\0]")


def _all_plain(texts: Sequence[str]) -> bool:
    """Whether each is empty, or ASCII that begins with a letter or digit and has no comma, quote
    or hidden sign: such cells need nothing."""
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
    if "," in text or '"' in text or "\n" in text:
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


def to_table(
    rows: Sequence[Row],
    columns: Sequence[str],
    right: frozenset[str] | None = None,
    *,
    width: int | None = None,
    spare: Sequence[str] = (),
) -> str:
    """Aligned columns; those named in ``right`` are flush right, else those of numbers alone. None
    shows as "no data". Where they are wider than ``width``, the longest texts are cut; where that
    is not enough, columns are left out: those in ``spare`` in their order, then from the last."""
    values = {column: [row.get(column) for row in rows] for column in columns}
    return to_table_of(values, right, width=width, spare=spare)


def to_table_of(
    columns: Columns,
    right: frozenset[str] | None = None,
    *,
    width: int | None = None,
    spare: Sequence[str] = (),
) -> str:
    """`to_table` of columns."""
    cells, numbers = [], []
    for column, values in columns.items():
        numbers.append(column in right if right is not None else _all_numbers(values))
        cells.append([column, *_shown_column(values)])
    if width is not None:
        _leave_out(width, list(columns), cells, numbers, spare)
        _cut_to(width, cells, numbers)
    widths = [max(map(len, texts)) for texts in cells]
    line = "  ".join(
        f"%{wide}s" if number else f"%-{wide}s"
        for wide, number in zip(widths, numbers, strict=True)
    )
    return "\n".join([(line % texts).rstrip() for texts in zip(*cells, strict=True)])


LEAST = 12
"""Characters that a cut text keeps at least."""


FIRST_LEAST = 18
"""The same of the first column, which says what a row is of; an id there stays whole, where it
leaves room for two figures."""
ROOM = 24


def _leave_out(
    width: int,
    columns: list[str],
    cells: list[list[str]],
    numbers: list[bool],
    spare: Sequence[str],
) -> None:
    """Leave out columns until the rest fits with its texts cut; the first stays."""
    least = []
    for i, (texts, number) in enumerate(zip(cells, numbers, strict=True)):
        wide = max(map(len, texts))
        most = FIRST_LEAST if i == 0 else LEAST
        if i == 0 and not any(" " in text for text in texts[1:]):
            most = max(width - ROOM, LEAST)
        least.append(wide if number else min(wide, most))
    while len(columns) > 1 and sum(least) + 2 * (len(least) - 1) > width:
        named = next((name for name in spare if name in columns[1:]), columns[-1])
        at = columns.index(named)
        for each in (columns, cells, numbers, least):
            del each[at]


def _cut_to(width: int, cells: list[list[str]], numbers: list[bool]) -> None:
    """Cut the longest texts so far that a line fits, or as far as they can be read."""
    widths = [max(map(len, texts)) for texts in cells]
    over = sum(widths) + 2 * (len(widths) - 1) - width
    # What has blanks gives way first: half an id is none.
    texts = [i for i, number in enumerate(numbers) if not number and widths[i] > LEAST]
    blanks = [i for i in texts if any(" " in text for text in cells[i])]
    for group in (blanks, [i for i in texts if i not in blanks]):
        while over > 0 and group:
            *rest, longest = sorted(group, key=lambda i: widths[i])
            if widths[longest] == LEAST:
                break
            next_to_it = max(widths[rest[-1]] if rest else 0, LEAST)
            less = min(over, max(widths[longest] - next_to_it, 1))
            widths[longest] -= less
            over -= less
    for i in texts:
        known = list(dict.fromkeys(cells[i]))
        short = dict(zip(known, cut_words(known, widths[i]), strict=True))
        cells[i] = [short[text] for text in cells[i]]


def cut_words(names: Sequence[str], width: int, *, keep: int = 0) -> list[str]:
    """Names cut to a width. Those that would look alike lose their middle instead of their end or,
    where their ends are alike too, what stands before the first word that tells them apart. The
    first ``keep`` characters stay as far as the rest still tells the names apart."""
    cut = [name if len(name) <= width else f"{name[: width - 1]}…" for name in names]
    alike: dict[str, list[int]] = {}
    for i, short in enumerate(cut):
        if len(names[i]) > width:
            alike.setdefault(short, []).append(i)
    tail = width // 2
    head = width - tail - 1
    for group in alike.values():
        if len(group) == 1:
            continue
        different = len({names[i] for i in group})
        ends = [f"{names[i][:head]}…{names[i][-tail:]}" for i in group]
        for kept in range(min(keep, width - 2), head, -1):
            longer = [f"{names[i][:kept]}…{names[i][kept + 1 - width :]}" for i in group]
            if len(set(longer)) == different:
                ends = longer
                break
        if len(set(ends)) < different:
            columns = zip(*(names[i] for i in group), strict=False)
            shared = sum(1 for _ in takewhile(lambda signs: len(set(signs)) == 1, columns))
            start = names[group[0]].rfind(" ", 0, shared) + 1
            words = [f"{names[i][:head]}…{names[i][start : start + tail]}" for i in group]
            ends = words if len(set(words)) > len(set(ends)) else ends
        for i, end in zip(group, ends, strict=True):
            cut[i] = end
    return cut


def _shown_column(values: Sequence[Any]) -> list[str]:
    """`_shown` of each; a column of one kind of value, as of 100,000 rows most are, at once."""
    kinds = set(map(type, values))
    if kinds == {str} and "" not in values and "".join(values).isprintable():
        return list(values)
    if kinds == {Decimal}:
        return list(map(str, values))
    if kinds == {date} or kinds == {bool}:
        texts = {value: _shown(value) for value in set(values)}
        return [texts[value] for value in values]
    return list(map(_shown, values))


def _all_numbers(values: Sequence[Any]) -> bool:
    """Whether there are numbers among them, and neither text nor yes and no."""
    kinds = set(map(type, values))
    return any(issubclass(kind, (int, float, Decimal)) for kind in kinds) and not any(
        issubclass(kind, (str, bool)) for kind in kinds
    )


def _shown(value: Any) -> str:
    if type(value) is str and value and value.isprintable():  # most cells of a long table
        return value
    if value is None or value == "":
        return "no data"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e6 else f"{value:.3e}"
    if isinstance(value, (dict, list, tuple)):
        return to_json(value).replace("\n", "")
    # What others wrote must not move the cursor or break the line.
    text = str(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


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
        for at in range(0, count, _PIECE):
            piece = [values[at : at + _PIECE] for values in columns.values()]
            yield "\n" + "\n".join(_csv_lines(piece))
    elif not count:
        yield "[]"
    elif _is_flat(columns):
        yield from map(_steering_escaped, _json_pieces(columns))
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
    return "".join(ch if ch.isprintable() else " " for ch in text).translate(_MARKUP)


def table_text(rows: Sequence[Row], columns: Sequence[str], form: str) -> str:
    """Rows in ``csv``, ``markdown`` or ``json``, ending in a line feed."""
    if form == "csv":
        return to_csv(rows, columns) + "\n"
    if form == "markdown":
        return to_markdown(rows, columns)
    if form == "json":
        return to_json([{column: row.get(column) for column in columns} for row in rows]) + "\n"
    raise ValueError(f"format '{form}' is not known: write csv, markdown or json")
