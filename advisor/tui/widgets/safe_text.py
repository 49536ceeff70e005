"""Strings from vendors and files are data: nothing in them may steer the terminal."""

from __future__ import annotations

import re
from unicodedata import category

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_VARIANTS = re.compile("[\ufe00-\ufe0f]")
"""Marks without a width of their own that terminals disagree about."""


def safe_text(text: str) -> str:
    """One line of text that steers no terminal: without control characters, and without the marks
    that are not seen but reorder what follows them."""
    clean = text if text.isprintable() else "".join(map(_shown, text))
    return clean if clean.isascii() else _VARIANTS.sub("", clean)


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    if character.isspace():
        return " "
    return "" if category(character) == "Cf" else "\ufffd"


def shorten(text: str, width: int) -> str:
    """Text of at most this many cells, with an ellipsis where something was left out."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…" if width > 0 else ""


def fit(text: str, width: int) -> str:
    """Any string as one harmless line of at most this many cells."""
    return shorten(safe_text(text), width)


class SafeFilter(LineFilter):
    """The last look at what the program draws, whichever screen wrote it."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments without characters that would steer the terminal."""
        if all(text.isprintable() or control for text, _, control in segments):
            return segments
        return [
            segment
            if segment.control or segment.text.isprintable()
            else Segment(_same_width(segment.text), segment.style)
            for segment in segments
        ]


def _same_width(text: str) -> str:
    """The text with what steers left out, as wide as what it was laid out for."""
    clean = safe_text(text)
    width = cell_len(text)
    return clean if cell_len(clean) == width else set_cell_size(clean, width)
