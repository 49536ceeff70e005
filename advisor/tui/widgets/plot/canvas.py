"""A rectangle of character cells to draw on, read back as runs of one ink."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from rich.cells import get_character_cell_size

from advisor.tui.widgets.safe_text import safe_text

Cell = tuple[int, int]
"""Column and row of the canvas."""


class Ink(NamedTuple):
    """What a cell stands for; the widget turns it into a style, and knows the theme."""

    role: str
    """``axis``, ``point``, ``label`` and so on: one of ``style.PARTS``."""
    colour: int | None = None
    """A GPU type's colour, or None for the role's own."""
    bold: bool = False
    dim: bool = False
    reverse: bool = False


BLANK = Ink("blank")


class Canvas:
    """Cells with a character and an ink each; whatever is drawn outside is cut off."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._characters = [[" "] * width for _ in range(height)]
        self._inks = [[BLANK] * width for _ in range(height)]

    def put(self, x: int, y: int, character: str, ink: Ink) -> None:
        """Draw one character that is one cell wide."""
        if not (0 <= x < self.width and 0 <= y < self.height):
            return
        self._characters[y][x] = character
        self._inks[y][x] = ink

    def horizontal(self, x_from: int, x_to: int, y: int, character: str, ink: Ink) -> None:
        """Draw a line over the cells ``x_from <= x < x_to``."""
        for x in range(max(0, x_from), min(self.width, x_to)):
            self.put(x, y, character, ink)

    def vertical(self, x: int, y_from: int, y_to: int, character: str, ink: Ink) -> None:
        """Draw a line over the cells ``y_from <= y < y_to``."""
        for y in range(max(0, y_from), min(self.height, y_to)):
            self.put(x, y, character, ink)

    def write(self, x: int, y: int, text: str, ink: Ink) -> int:
        """Write text (data, never markup) and return its width; a character of another width than
        one cell is left out."""
        shown = [each for each in safe_text(text) if get_character_cell_size(each) == 1]
        for at, character in enumerate(shown, x):
            self.put(at, y, character, ink)
        return len(shown)

    def role(self, x: int, y: int) -> str | None:
        """What this cell was last drawn as; None outside."""
        inside = 0 <= x < self.width and 0 <= y < self.height
        return self._inks[y][x].role if inside else None

    def runs(self, y: int) -> Iterator[tuple[str, Ink]]:
        """One row as pieces of text with the same ink; together exactly ``width`` cells wide."""
        characters, start = self._characters[y], 0
        for ink, run in groupby(self._inks[y]):
            stop = start + sum(1 for _ in run)
            yield "".join(characters[start:stop]), ink
            start = stop
