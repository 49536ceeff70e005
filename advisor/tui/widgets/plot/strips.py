"""The picture's cells as a terminal's strips, in the colours of the present theme."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from advisor.tui.widgets.plot.canvas import BLANK, Ink
from advisor.tui.widgets.plot.style import ANSI_COLOURS, palette

DIMMED = 0.6
"""How much of its colour a point keeps that is left out or over a limit."""


class ThemedInks:
    """The styles of one widget's inks, from its component classes; forgotten with the theme."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[Ink, Style] = {}

    def forget(self) -> None:
        """The theme is another one."""
        self._styles = {}

    def strip(self, runs: Iterable[tuple[str, Ink]], width: int) -> Strip:
        """One row of a canvas."""
        return Strip([Segment(text, self._style(ink)) for text, ink in runs], width)

    def message(self, text: str, size: Size) -> list[Strip]:
        """One line in the middle of as many empty ones as there is room for."""
        empty = self._widget.rich_style
        rows = [Strip.blank(size.width, empty)] * size.height
        if rows:
            line = Strip([Segment(text, self._style(Ink("message")))])
            line = line.text_align(size.width, "center").apply_style(empty)
            rows[(size.height - 1) // 2] = line
        return rows

    def _style(self, ink: Ink) -> Style:
        if ink not in self._styles:
            self._styles[ink] = self._new(ink)
        return self._styles[ink]

    def _new(self, ink: Ink) -> Style:
        if ink == BLANK:
            return self._widget.rich_style
        style = self._widget.get_component_rich_style(f"plot--{ink.role}")
        if ink.colour is not None:
            dim = ink.dim and self._widget.app.native_ansi_color
            style += Style(color=self._colour(ink, ink.colour), dim=dim)
        return style + Style(bold=ink.bold or None, reverse=ink.reverse or None)

    def _colour(self, ink: Ink, number: int) -> str:
        if self._widget.app.native_ansi_color:
            return ANSI_COLOURS[number]
        background = self._widget.background_colors[1]
        contrast = 3.0 if ink.role == "point" else 4.5
        colour = palette(background.hex6, contrast)[number]
        if ink.dim:
            return background.blend(Color.parse(colour), DIMMED).hex6
        return colour
