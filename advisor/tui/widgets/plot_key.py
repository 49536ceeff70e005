"""How each GPU type is drawn, and the legend that says so."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.tui.widgets.plot_data import PlotData, PointFlag
from advisor.tui.widgets.plot_frame import LEGEND_NAME_WIDTH, LegendItem
from advisor.tui.widgets.plot_paint import ASCII, UNICODE
from advisor.tui.widgets.plot_style import SeriesMark, series_marks
from advisor.tui.widgets.safe_text import ascii_text, safe_text, shorten


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotKey:
    """Glyphs, colours and legend of one set of data."""

    made_for: tuple[PlotData, bool, bool]
    marks: list[SeriesMark]
    legend: list[LegendItem]

    @classmethod
    def of(cls, data: PlotData, *, ascii_only: bool, coloured: bool) -> PlotKey:
        """The key to this data, for a terminal with or without Unicode and colours."""
        marks = series_marks(len(data.series_names), ascii_only=ascii_only, coloured=coloured)
        clean = ascii_text if ascii_only else safe_text
        legend = [
            LegendItem(
                glyph=marks[series].filled,
                text=shorten(clean(data.series_names[series]), LEGEND_NAME_WIDTH),
                series=series,
                colour=marks[series].colour,
            )
            for series in sorted(set(data.series))
        ]
        lines = ASCII if ascii_only else UNICODE
        present = set(data.flags)
        for flag, glyph, text in (
            (PointFlag.FRONT, lines.front_x + lines.front_corner, "Pareto front"),
            (PointFlag.PREDICTED, marks[0].hollow if marks else "", "predicted"),
            (PointFlag.DOUBTFUL, "?", "doubtful"),
            (PointFlag.EXCLUDED, "( )", "left out"),
        ):
            if any(byte & flag for byte in present):
                legend.append(LegendItem(glyph=glyph, text=text))
        return cls(made_for=(data, ascii_only, coloured), marks=marks, legend=legend)
