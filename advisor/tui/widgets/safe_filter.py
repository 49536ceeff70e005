"""What is drawn is looked at once more: nothing in it may steer the terminal."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from advisor.tui.widgets.safe_text import safe_text


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
