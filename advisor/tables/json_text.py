"""Values and rows as JSON: money as plain numbers, days as ISO dates, never NaN."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from operator import itemgetter
from typing import Any

from advisor.tables.plain_values import (
    ALIKE_IF_EQUAL,
    PIECE,
    Columns,
    all_have,
    is_flat,
    json_escaped,
)


def to_json(value: Any) -> str:
    """JSON with money as plain numbers and days of the calendar as ISO dates; never NaN.

    What could steer a terminal is written as JSON's own escapes.
    """
    return json_escaped(_flat_json(value) or _indented(value))


def _indented(value: Any) -> str:
    return json.dumps(value, default=_plain, indent=2, **_STRICT)


_STRICT: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False}
_CELL_ENDS = "\n"
"""What separates encoded cells; a text in JSON has no line feed, so nothing else can."""


def _flat_json(value: Any) -> str | None:
    """The same as with ``indent=2`` for a list of flat rows of one kind, many times as fast. None
    for anything else."""
    if type(value) is not list or not value or not all(type(row) is dict and row for row in value):
        return None
    names = list(value[0])
    if not all(type(name) is str for name in names) or not all_have(names, value):
        return None
    columns = {name: list(map(itemgetter(name), value)) for name in names}
    return "".join(json_pieces(columns)) if is_flat(columns) else None


def json_pieces(columns: Columns) -> Iterator[str]:
    """`_flat_json` of flat columns, piece by piece: the encoder in C cannot indent, but takes a
    column at once."""
    encode = json.JSONEncoder(default=_plain, separators=(_CELL_ENDS, ": "), **_STRICT).encode
    starts = [f"{encode(name)}: " for name in columns]
    before = "[\n  {\n    "
    for at in range(0, len(next(iter(columns.values()))), PIECE):
        texts = []
        for start, whole in zip(starts, columns.values(), strict=True):
            column = whole[at : at + PIECE]
            kinds = set(map(type, column))
            if kinds == {Decimal}:
                column = list(map(float, column))
            if kinds <= {str} and column.count(column[0]) == len(column):
                texts.append([start + encode(column[0])] * len(column))
                continue
            # Most columns of a long table are one text, or few texts or days, many times over.
            few = set(column) if kinds <= ALIKE_IF_EQUAL else column
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


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")
