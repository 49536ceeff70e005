"""Strings from vendors and files are data: nothing in them may steer the terminal."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_SHOWN_AS_SPACE = "\t\n\r\v\f\u0085\u2028\u2029"
_CONTROLS = dict.fromkeys((*range(0x00, 0x20), *range(0x7F, 0xA0)), "\ufffd")
# Marks that reorder what follows them, and widthless ones that terminals disagree about.
_INVISIBLE = dict.fromkeys(
    (
        0xAD,
        *range(0x200B, 0x2010),
        0x61C,
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
        0xFEFF,
        *range(0xE0000, 0xE0080),
    )
)
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_TABLE = {
    **_CONTROLS,
    **_SURROGATES,
    **_INVISIBLE,
    **dict.fromkeys(map(ord, _SHOWN_AS_SPACE), " "),
}


def safe_text(text: str) -> str:
    """One line of text without control characters, for a terminal."""
    return text if text.isascii() and text.isprintable() else text.translate(_TABLE)


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
