"""Words filled into lines, by one rule for answers and screens. Imports nothing of the program, so
that widgets may."""

from __future__ import annotations

import re
import textwrap
from typing import Any

_PERCENT = re.compile(r"(?<=\d) %")


def fill(text: str, width: int, **options: Any) -> str:
    """Text in lines, as `textwrap.fill` does; a number keeps its per cent sign, and a count what it
    counts."""
    kept = _PERCENT.sub("\u00a0%", text).replace(" × ", "\u00a0×\u00a0")
    return textwrap.fill(kept, width, **options).replace("\u00a0", " ")
