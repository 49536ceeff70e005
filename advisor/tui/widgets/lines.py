"""Lines of a page: their kinds, and how they wrap."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.tables.filled import fill

HEADING = "heading"


STRONG = "strong"


WARNING = "warning"


FAINT = "faint"


PLAIN = ""


Line = tuple[str, str]
"""A line of text and its role, one of the above. Text is data: never markup."""


def wrapped(lines: Iterable[Line], width: int) -> list[Line]:
    """The lines broken at ``width`` cells, each piece keeping its indent and its role."""
    out: list[Line] = []
    for text, role in lines:
        clean = "".join(ch if ch.isprintable() else " " for ch in text)
        indent = " " * (len(clean) - len(clean.lstrip()))
        # Flags and ids have hyphens: "--gpu rtx-" would be another command.
        pieces = fill(clean, max(width, 10), subsequent_indent=indent)
        out += [(piece, role) for piece in pieces.split("\n")]
    return out
