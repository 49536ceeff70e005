"""Values of a table, text without characters that steer a terminal, and text filled into lines.

Imports nothing of the program, so that widgets may use it.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

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


def json_escaped(text: str) -> str:
    """JSON in which all of that is written as its own escapes."""
    if text.isascii() and "\x7f" not in text:  # JSON itself escapes the other control characters
        return text
    return _STEERS.sub(lambda found: json.dumps(found[0])[1:-1], text)


Row = Mapping[str, Any]
Columns = Mapping[str, Sequence[Any]]
"""A table by its columns, all as long: of 100,000 rows much lighter than the rows."""
ALIKE_IF_EQUAL = {str, date, type(None)}
"""What is written alike where it is equal; 1, 1.0 and True are not."""
PIECE = 5_000
"""So many rows at once: what is made of them on the way stays small."""


def is_flat(columns: Columns) -> bool:
    """Whether no value holds others."""
    kinds = {kind for values in columns.values() for kind in set(map(type, values))}
    return not any(issubclass(kind, (dict, list, tuple)) for kind in kinds)


def all_have(names: list[str], rows: Sequence[Row]) -> bool:
    """Whether each row has these keys, in this order, and no others."""
    return all(list(row) == names for row in rows)


_PERCENT = re.compile(r"(?<=\d) %")


def fill(text: str, width: int, **options: Any) -> str:
    """Text in lines, as `textwrap.fill` does; a number keeps its per cent sign, a count what it
    counts, and a name its hyphens, so that it can be copied."""
    kept = _PERCENT.sub("\u00a0%", text).replace(" × ", "\u00a0×\u00a0")
    return textwrap.fill(kept, width, break_on_hyphens=False, **options).replace("\u00a0", " ")
