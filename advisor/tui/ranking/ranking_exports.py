"""What the main screen saves and copies: rows, and the figure that matplotlib draws."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from textwrap import fill
from typing import Any

from advisor.answers.ranking.rank_json_csv import flat_object
from advisor.planning.report.pictures import (
    LEGEND_POINTS,
    LETTER,
    MARKERS,
    columns_that_fit,
    exported,
)
from advisor.tui.pages.export_page import Exportable
from advisor.tui.program.answer import Answer, plot_data
from advisor.tui.ranking.ranking_rows import RankedRows
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.scale import format_usd
from advisor.tui.widgets.plot.style import OKABE_ITO
from advisor.tui.widgets.rank_table import RankTable


def exportable(
    answer: Answer, selected: int | None, sentence: str, table: RankTable, first: str
) -> Exportable:
    """What the screen can save: the table as it stands there, and the picture with the answer above
    it; ``first`` is the kind of file that is offered first."""
    shown = table.source
    assert isinstance(shown, RankedRows)
    return Exportable(
        name=ranking_name(answer),
        rows=lambda: ranking_rows(answer, map(shown.build_index, range(len(shown)))),
        picture=lambda form: ranking_picture(answer, selected, sentence, form),
        seen=table,
        first=first,
    )


def ranking_rows(answer: Answer, builds: Iterable[int]) -> list[dict[str, Any]]:
    """These ranked builds, each once, in this order."""
    return [
        flat_object(answer.ranking.machine(i)) | {"on_pareto_front": i in answer.front}
        for i in dict.fromkeys(builds)
    ]


def ranking_name(answer: Answer) -> str:
    """A file's name for a ranking: the model and the budget."""
    budget = answer.ranking.question.budget_usd
    amount = "any-budget" if budget is None else f"{budget:.0f}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{answer.ranking.candidates.model.recipe_id}-{amount}")


def ranking_picture(answer: Answer, selected: int | None, sentence: str, form: str) -> bytes:
    """The picture as a file that says what was asked, when, and by which prices."""
    from advisor.answers.ranking.question_words import headline

    ranking = answer.ranking
    rule = answer.prices if isinstance(answer.prices, str) else answer.prices.isoformat()
    return cost_time_figure(
        plot_data(answer),
        sentence,
        f"{headline(ranking, rule)} · {date.today():%d %B %Y}",
        form,
        selected=None if selected is None else answer.points.at.get(selected),
    )


HEIGHT = 5.2
"""Inches."""
HEADING_LETTERS = 84
PLACES = ((5, 4, "left"), (-5, 4, "right"), (5, -10, "left"), (-5, -10, "right"))
"""Beside a point, in points; the first that no other name takes."""


def cost_time_figure(
    data: PlotData,
    heading: str,
    remark: str,
    form: str,
    *,
    selected: int | None,
) -> bytes:
    """The figure as ``svg`` or ``png``. Raises InputError where matplotlib is not installed."""

    def draw(figure: Any) -> None:
        from matplotlib.ticker import LogLocator, NullLocator

        axes = figure.subplots()
        axes.set(xscale="log", yscale="log", ylabel=data.y_title)
        axes.set_xlabel(f"{data.x_title}\n{remark}", parse_math=False)
        for axis, form_of in ((axes.xaxis, format_usd), (axes.yaxis, data.time)):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(lambda value, _, form_of=form_of: form_of(value))
        axes.set_title(fill(heading, HEADING_LETTERS), loc="left", parse_math=False)
        named = list(dict.fromkeys([*data.named(), *([] if selected is None else [selected])]))
        _draw_points(axes, data, named)
        limit = {"color": "#a4262c", "linestyle": "--", "linewidth": 1.2}
        if data.budget_usd is not None:
            axes.axvline(data.budget_usd, label=f"budget {format_usd(data.budget_usd)}", **limit)
        if data.max_time is not None:
            axes.axhline(data.max_time, label=f"limit {data.time(data.max_time)}", **limit)
        if selected is not None:
            at = data.x_usd[selected], data.y_times[selected]
            axes.plot(*at, "o", markersize=12, fillstyle="none", color="black")
        _write_names(axes, data.labels(named), data)
        labels = axes.get_legend_handles_labels()[1]
        if labels:
            columns = columns_that_fit(labels, 4)
            figure.legend(loc="outside lower left", ncols=columns, fontsize=LEGEND_POINTS)

    return exported(draw, HEIGHT, form)


def _draw_points(axes: Any, data: PlotData, named: Sequence[int]) -> None:
    """Every build as a dot; the named ones with glyph, interval and name; the front as steps."""
    axes.plot(data.x_usd, data.y_times, ".", color="#999999", markersize=2.5, zorder=1)
    front = sorted((data.x_usd[i], data.y_times[i]) for i in data.flagged(PointFlag.FRONT))
    if front:
        axes.step(
            *zip(*front, strict=True),
            where="post",
            color="black",
            linewidth=1,
            label="Pareto front",
        )
    for name, days in data.on_axis:
        axes.annotate(f"◂ {name}", (0, days), xycoords=("axes fraction", "data"), parse_math=False)
    in_legend: set[int] = set()
    for i in named:
        x_usd, days, series, slot = data.x_usd[i], data.y_times[i], data.series[i], data.slot(i)
        low, high = data.interval(i)
        colour = OKABE_ITO[slot % len(OKABE_ITO)]
        look = {"color": colour, "alpha": 0.45 if data.is_out(i) else 1}
        if low is not None and high is not None:
            axes.plot([x_usd, x_usd], [low, high], linewidth=0.8, **look)
        axes.plot(
            x_usd,
            days,
            MARKERS[slot % len(MARKERS)],
            markerfacecolor="white" if data.has(i, PointFlag.PREDICTED) else colour,
            label=None if series in in_legend else data.series_names[series],
            **look,
        )
        in_legend.add(series)
    if any(data.has(i, PointFlag.PREDICTED) for i in named):
        axes.plot([], [], "o", color="black", fillstyle="none", label="estimate, not measured")


def _write_names(axes: Any, labels: Mapping[int, str], data: PlotData) -> None:
    """The names, the most important first, where they cover no other name."""
    points = 72 / axes.figure.dpi
    taken: list[tuple[float, float, float, float]] = []
    for i, text in labels.items():
        at = data.x_usd[i], data.y_times[i]
        x, y = axes.transData.transform(at) * points
        width = len(text) * LEGEND_POINTS * LETTER
        for right, up, side in PLACES:
            left = x + right - (width if side == "right" else 0)
            box = (left, y + up, left + width, y + up + LEGEND_POINTS)
            if not any(
                box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
                for other in taken
            ):
                taken.append(box)
                axes.annotate(
                    text,
                    at,
                    xytext=(right, up),
                    textcoords="offset points",
                    ha=side,
                    fontsize=LEGEND_POINTS,
                    parse_math=False,
                )
                break
