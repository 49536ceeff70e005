"""Which glyph and colour stand for which GPU type, and the inks as styles of the theme."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.strip import Strip
from textual.widget import Widget

from advisor.tui.widgets.plot.canvas import BLANK, Ink

OKABE_ITO = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#0072B2")
"""Okabe and Ito's palette without black, distinguishable with any common colour blindness."""
ON_DARK = (*OKABE_ITO[:6], "#2687BD")
ON_LIGHT = ("#7E5700", "#2F6380", "#006E50", "#844E6C", "#605B1A", "#9F4600", "#0066A0")
"""The same as text on a theme's background, with a contrast of 4.5 by WCAG."""
ANSI_COLOURS = ("yellow", "cyan", "green", "magenta", "bright_yellow", "red", "blue")
"""The same order in a terminal's own sixteen colours, for terminal-native themes."""
FILLED = "●■▲◆▼▮►◄"
"""One cell wide everywhere: none of these has a second form as an emoji, nor is any the star, which
marks the Pareto front and what counts."""
HOLLOW = "○□△◇▽▯▻◅"
"""Drawn for estimates; same order as ``FILLED``."""
DIMMED = 0.6
"""How much of its colour a point keeps that is left out or over a limit."""
PARTS = (
    *("axis", "grid", "value", "title", "front", "budget", "limit-name", "crosshair", "legend"),
    *("point", "dot", "interval", "label", "message"),
)
"""Roles of an ink; each is the component class ``plot--ROLE``."""
CSS = """
CostTimePlot {
    width: 1fr;
    height: 1fr;
    min-height: 1;
    .plot--axis { color: $foreground 60%; }
    .plot--grid { color: $foreground 16%; }
    .plot--value { color: $foreground; }
    .plot--title { color: $foreground; text-style: bold; }
    .plot--front { color: $foreground 55%; }
    .plot--budget, .plot--limit-name { color: $text-error; }
    .plot--crosshair { color: $foreground; }
    .plot--dot { color: $foreground 35%; }
    .plot--interval { color: $foreground 50%; }
    .plot--message { color: $foreground 70%; }
    &:focus .plot--title { text-style: bold underline; }
    &:ansi {
        .plot--grid { color: ansi_bright_black; text-style: dim; }
        .plot--axis, .plot--front { color: ansi_default; }
        .plot--dot, .plot--interval { color: ansi_bright_black; }
        .plot--budget, .plot--limit-name { color: ansi_red; }
    }
}
"""


class SeriesMark(NamedTuple):
    """How one GPU type is drawn."""

    filled: str
    hollow: str
    colour: int
    """An index into the palette."""


def series_marks(slots: Sequence[int]) -> list[SeriesMark]:
    """A mark for each GPU type, by its place in the catalogue.

    Eight glyphs and seven colours have no common factor, so stepping through both at once gives
    56 pairs before one comes again.
    """
    return [
        SeriesMark(FILLED[i % len(FILLED)], HOLLOW[i % len(HOLLOW)], i % len(OKABE_ITO))
        for i in slots
    ]


def palette(app: App[Any]) -> Sequence[str]:
    """The colours of GPU types in the theme of now."""
    if app.native_ansi_color:
        return ANSI_COLOURS
    return ON_DARK if app.current_theme.dark else ON_LIGHT


class ThemedInks:
    """The styles of one widget's inks, from its component classes; forgotten with the theme."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[Ink, Style] = {}

    def forget(self) -> None:
        self._styles = {}

    def strip(self, runs: Iterable[tuple[str, Ink]], width: int) -> Strip:
        """One row of a canvas."""
        return Strip([Segment(text, self._style(ink)) for text, ink in runs], width)

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
        colour, app = palette(self._widget.app)[number], self._widget.app
        if app.native_ansi_color or not ink.dim:
            return colour
        return self._widget.background_colors[1].blend(Color.parse(colour), DIMMED).hex6
