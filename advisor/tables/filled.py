"""Words filled into lines, by one rule for answers and screens. Imports nothing of the program, so
that widgets may."""

from __future__ import annotations

import re
import textwrap
from typing import Any

_PERCENT = re.compile(r"(?<=\d) %")


def fill(text: str, width: int, **options: Any) -> str:
    """Text in lines, as `textwrap.fill` does; a number keeps its per cent sign, a count what it
    counts, and a name its hyphens, so that it can be copied."""
    kept = _PERCENT.sub("\u00a0%", text).replace(" × ", "\u00a0×\u00a0")
    return textwrap.fill(kept, width, break_on_hyphens=False, **options).replace("\u00a0", " ")
