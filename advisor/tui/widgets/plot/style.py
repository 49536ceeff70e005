"""Which glyph and which colour stand for which GPU type, so that no two share both."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

OKABE_ITO = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#0072B2")
"""Okabe and Ito's palette without black, distinguishable with any common colour blindness."""
ANSI_COLOURS = ("yellow", "cyan", "green", "magenta", "bright_yellow", "red", "blue")
"""The same order in a terminal's own sixteen colours, for terminal-native themes."""

FILLED = "●■▲◆▼▮►◄"
"""One cell wide everywhere: none of these has a second form as an emoji, nor is any the star, which
marks the Pareto front and what counts."""
HOLLOW = "○□△◇▽▯▻◅"
"""Drawn for predicted times; same order as ``FILLED``."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Without Unicode, or without colour and with more types than glyphs; lower case is hollow."""


MORE_LETTERS = LETTERS + "ΓΔΘΛΞΠΣΦΨΩБДЖИЦЧШЩЭЮЯÐÞØÆÑ"
"""As many as the catalogue has GPUs, each with a lower case and unlike the others."""


class SeriesMark(NamedTuple):
    """How one GPU type is drawn."""

    filled: str
    hollow: str
    colour: int
    """An index into the palette."""


def series_marks(
    count: int,
    *,
    ascii_only: bool = False,
    coloured: bool = True,
    slots: Sequence[int] = (),
) -> list[SeriesMark]:
    """A mark for each GPU type.

    Eight glyphs and seven colours have no common factor, so stepping through both at once gives
    56 pairs before one comes again. Without colours, letters tell 26 types apart. With ``slots``,
    a type's place in the catalogue, it looks the same whatever else is drawn, without colours as
    one of more letters; ASCII has too few, and takes those that are drawn in that order.
    """
    letters = ascii_only or (not coloured and (bool(slots) or count > len(FILLED)))
    many = LETTERS if ascii_only or not slots else MORE_LETTERS
    filled = many if letters else FILLED
    hollow = many.lower() if letters else HOLLOW
    places = list(slots) or list(range(count))
    if ascii_only:
        order = {slot: at for at, slot in enumerate(sorted(set(places)))}
        places = [order[slot] for slot in places]
    return [
        SeriesMark(
            filled=filled[i % len(filled)],
            hollow=hollow[i % len(hollow)],
            colour=i % len(OKABE_ITO),
        )
        for i in places
    ]


@lru_cache(maxsize=16)
def palette(background: str, contrast: float) -> tuple[str, ...]:
    """The colours as ``#rrggbb``, moved towards black or white until they stand out enough.

    ``contrast`` is WCAG's ratio against the background: 3 for glyphs, 4.5 for text.
    """
    behind = _rgb(background)
    target = (255, 255, 255) if _luminance(behind) < 0.18 else (0, 0, 0)
    return tuple(_hex(_readable(_rgb(c), behind, target, contrast)) for c in OKABE_ITO)


RGB = tuple[int, int, int]


def _readable(colour: RGB, behind: RGB, target: RGB, contrast: float) -> RGB:
    for step in range(21):
        mixed = _mix(colour, target, step / 20)
        if _ratio(mixed, behind) >= contrast:
            return mixed
    return target


def _mix(one: RGB, other: RGB, share: float) -> RGB:
    r, g, b = (round(a + (c - a) * share) for a, c in zip(one, other, strict=True))
    return r, g, b


def _rgb(colour: str) -> RGB:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _hex(colour: RGB) -> str:
    red, green, blue = colour
    return f"#{red:02x}{green:02x}{blue:02x}"


def _ratio(one: RGB, other: RGB) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Sequence[int]) -> float:
    red, green, blue = (
        c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
