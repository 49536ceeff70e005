"""The figure of owning against renting, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from advisor.costs.amount_words import usd_tick
from advisor.costs.rental import BreakEven, chart_of
from advisor.planning.report.pictures import exported

if TYPE_CHECKING:
    from advisor.answers.prices.ownership import Ownership

COLOURS = {"own": "#000000", "on-demand": "#0072B2", "spot": "#009E73", "reserved": "#D55E00"}
"""Okabe and Ito's, which colour-blind people tell apart; the lines carry their names as well."""
DASHES = {"own": "-", "on-demand": "--", "spot": ":", "reserved": "-."}
HEIGHT = 4.2
"""Inches."""


def break_even_figure(owned: Ownership, evens: Sequence[BreakEven], form: str) -> bytes:
    """Training runs across, US dollars up, as ``svg`` or ``png``. Raises InputError where
    matplotlib is not installed."""
    lines, meets, most_runs, most_usd = chart_of(owned.own, owned.training_days, evens)

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.set_title(owned.heading.replace(": ", "\n", 1), loc="left", parse_math=False)
        for line in lines:
            ends = [line.usd(0), line.usd(most_runs)]
            style = {"color": COLOURS[line.name], "linestyle": DASHES[line.name]}
            axes.plot([0, most_runs], ends, **style)
            axes.annotate(
                line.label,
                (most_runs, ends[1]),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                color=COLOURS[line.name],
                annotation_clip=False,
            )
        for name, runs, usd in meets:
            axes.plot(runs, usd, "o", color=COLOURS[name])
            axes.annotate(
                f"{runs:.1f} runs",
                (runs, usd),
                xytext=(-6, 6),
                textcoords="offset points",
                ha="right",
                color=COLOURS[name],
            )
        axes.set(xlim=(0, most_runs), ylim=(0, most_usd), xlabel="training runs")
        axes.yaxis.set_major_formatter(lambda usd, _: usd_tick(usd))

    return exported(draw, HEIGHT, form)
