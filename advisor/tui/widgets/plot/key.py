"""How each GPU type is drawn, and the legend that says so."""

from __future__ import annotations

from typing import NamedTuple

from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.frame import LEGEND_NAME_WIDTH, LegendItem
from advisor.tui.widgets.plot.line_characters import ASCII, UNICODE
from advisor.tui.widgets.plot.style import SeriesMark, series_marks
from advisor.tui.widgets.safe_text import ascii_text, safe_text, shorten


class PlotKey(NamedTuple):
    """Glyphs, colours and legend of one set of data."""

    data: PlotData
    """What it was made for."""
    present: frozenset[int]
    """Every combination of flags that some point has."""
    ascii_only: bool
    coloured: bool
    marks: list[SeriesMark]
    types: list[LegendItem]
    """The part of the legend that names GPU types."""
    signs: list[LegendItem]
    """The part that says what the signs mean."""

    @property
    def legend(self) -> list[LegendItem]:
        """Both parts."""
        return self.types + self.signs

    @classmethod
    def of(
        cls, data: PlotData, *, ascii_only: bool, coloured: bool, old: PlotKey | None = None
    ) -> PlotKey:
        """The key to this data, for a terminal with or without Unicode and colours.

        What still holds of the ``old`` key is kept: at a key press the types stay and at most the
        flags change.
        """
        present = frozenset(data.flags)
        if old is not None and old._has_types_of(data, ascii_only, coloured):
            if old.present == present:
                return old
            marks, types = old.marks, old.types
        else:
            marks = series_marks(
                len(data.series_names),
                ascii_only=ascii_only,
                coloured=coloured,
                slots=data.series_slots,
            )
            types = _types(data, marks, ascii_only)
        return cls(
            data=data,
            present=present,
            ascii_only=ascii_only,
            coloured=coloured,
            marks=marks,
            types=types,
            signs=_flags(present, marks, ascii_only),
        )

    def _has_types_of(self, data: PlotData, ascii_only: bool, coloured: bool) -> bool:
        return (
            self.data.series is data.series
            and self.data.series_names is data.series_names
            and (self.ascii_only, self.coloured) == (ascii_only, coloured)
        )


def _types(data: PlotData, marks: list[SeriesMark], ascii_only: bool) -> list[LegendItem]:
    clean = ascii_text if ascii_only else safe_text
    return [
        LegendItem(
            glyph=marks[series].filled,
            text=shorten(clean(data.series_names[series]), LEGEND_NAME_WIDTH),
            series=series,
            colour=marks[series].colour,
        )
        for series in sorted(set(data.series))
    ]


def _flags(present: frozenset[int], marks: list[SeriesMark], ascii_only: bool) -> list[LegendItem]:
    lines = ASCII if ascii_only else UNICODE
    hollow = marks[0].hollow if marks else ""
    if hollow.isalpha():
        hollow = "a-z"  # alone, it would read as the article
    return [
        LegendItem(glyph=glyph, text=text)
        for flag, glyph, text in (
            (PointFlag.FRONT, lines.front_x + lines.front_corner, "Pareto front"),
            (PointFlag.PREDICTED, hollow, "estimate"),
            (PointFlag.DOUBTFUL, "?", "doubtful"),
            (PointFlag.EXCLUDED, "( )", "left out"),
            (PointFlag.UNSOLD, "+" if ascii_only else "†", "no seller known"),
        )
        if any(byte & flag for byte in present)
    ]
