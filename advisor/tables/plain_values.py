"""JSON, text without characters that steer a terminal, text filled into lines, and names cut.

Imports nothing of the program, so that widgets may use it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
"""Control and direction characters, and letters that are not shown; tab and line feed are none."""


def harmless(text: str) -> str:
    """Text in which nothing moves the cursor, turns the line round or hides."""
    return _STEERS.sub("?", text)


def to_json(value: Any) -> str:
    """JSON with money as plain numbers and days of the calendar as ISO dates; never NaN.

    What could steer a terminal is written as JSON's own escapes.
    """
    import json  # late: most answers are a table

    text = json.dumps(value, default=_plain, indent=2, ensure_ascii=False, allow_nan=False)
    return _STEERS.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")


Row = Mapping[str, Any]
_PERCENT = re.compile(r"(?<=\d) %")


def fill(text: str, width: int, **options: Any) -> str:
    """Text in lines, as `textwrap.fill` does; a number keeps its per cent sign, a count what it
    counts, and a name its hyphens, so that it can be copied."""
    kept = _PERCENT.sub("\u00a0%", text).replace(" × ", "\u00a0×\u00a0")
    return textwrap.fill(kept, width, break_on_hyphens=False, **options).replace("\u00a0", " ")


def cut_words(names: Sequence[str], width: int) -> list[str]:
    """Names cut to a width. Those that would look alike lose their middle instead of their end."""
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
        for i in group:
            cut[i] = f"{names[i][:head]}…{names[i][-tail:]}"
    return cut
