"""Which glyph and colour stand for which GPU type, and the inks as styles of the theme."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.color import BLACK, WHITE, Color
from textual.strip import Strip
from textual.widget import Widget

from advisor.tui.widgets.plot.canvas import BLANK, Ink

OKABE_ITO = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#0072B2")
"""Okabe and Ito's palette without black, distinguishable with any common colour blindness."""
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


@lru_cache(maxsize=16)
def palette(background: str, contrast: float) -> tuple[str, ...]:
    """The colours as ``#rrggbb``, moved towards black or white until they stand out enough.

    ``contrast`` is WCAG's ratio against the background: 3 for glyphs, 4.5 for text.
    """
    behind = _luminance(Color.parse(background))
    target = WHITE if behind < 0.18 else BLACK

    def readable(colour: Color) -> Color:
        for step in range(21):
            mixed = colour.blend(target, step / 20)
            low, high = sorted((_luminance(mixed), behind))
            if (high + 0.05) / (low + 0.05) >= contrast:
                return mixed
        return target

    return tuple(readable(Color.parse(colour)).hex6.lower() for colour in OKABE_ITO)


def _luminance(colour: Color) -> float:
    red, green, blue = (
        c / 12.92 if c <= 0.04 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


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
        if self._widget.app.native_ansi_color:
            return ANSI_COLOURS[number]
        background = self._widget.background_colors[1]
        contrast = 3.0 if ink.role == "point" else 4.5
        colour = palette(background.hex6, contrast)[number]
        return background.blend(Color.parse(colour), DIMMED).hex6 if ink.dim else colour
