"""Pictures and their style: the plan on the calendar."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.calendar_lanes import calendar_lanes
from advisor.planning.report.document import Picture
from advisor.planning.solver.plan import Plan
from advisor.typed_input import InputError, install_words

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
"""Okabe and Ito's palette, which colour-blind readers can tell apart; markers differ as well."""
LETTER = 0.6
"""A letter of a label against its size, at most on average."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_STYLE: Any = {
    "svg.hashsalt": "gpu-grant-advisor",
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}
PNG_DPI = 200
WIDE, LEGEND_POINTS, LABEL_POINTS = 7.2, 7.0, 7.0
"""The width of a picture in inches, and the size of its legend and of its labels in points."""
LANE_IN, AROUND_IN, MOST_HIGH_IN = 0.38, 1.3, 8.4
"""Heights in inches: of a line of the calendar, of its margins, and of the picture at most."""
MOST_DATES = 6
"""On the axis of the calendar, at most."""
BEHIND_WORDS = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
"""No line goes through words."""
DELIVERY: Any = {"facecolor": "white", "edgecolor": "#888888", "hatch": "////", "linewidth": 0.5}
Draw = Callable[[Any], None]


def _drawn(draw: Draw, height: float, form: str, letters: str) -> tuple[bytes, bool]:
    """A figure of that height in inches, ``letters`` as a ``path`` or as text (``none``), and
    whether the font has every letter of it."""
    # Where its cache may not be written matplotlib says so, and draws all the same.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    import matplotlib
    from matplotlib.figure import Figure

    out, about = io.BytesIO(), {"Date": None, "Creator": None} if form == "svg" else None
    with (
        matplotlib.rc_context(_STYLE | {"svg.fonttype": letters}),
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        figure = Figure(figsize=(WIDE, height))
        draw(figure)
        figure.savefig(out, format=form, dpi=PNG_DPI, metadata=about)
    return out.getvalue(), not any("missing from font" in str(each.message) for each in said)


def svg_of(draw: Draw, height: float) -> str:
    """What ``draw`` puts on a figure of that height in inches, as SVG. A name in letters that its
    font has not is text: whoever shows the picture has fonts of its own."""
    svg, all_drawn = _drawn(draw, height, "svg", "path")
    if not all_drawn:
        svg, _ = _drawn(draw, height, "svg", "none")
    # matplotlib ends lines with spaces; the same text without them.
    return "\n".join(line.rstrip() for line in svg.decode().splitlines()) + "\n"


def exported(draw: Draw, height: float, form: str) -> bytes:
    """What ``draw`` puts on a figure of that height in inches, as an ``svg`` (its words stay
    text) or a ``png``. Raises InputError where matplotlib is not installed."""
    try:
        return _drawn(draw, height, form, "none")[0]
    except ImportError:
        raise InputError(
            f"a picture is drawn with matplotlib, which is not installed; {install_words('report')}"
        ) from None


def columns_that_fit(labels: Sequence[str], most: int) -> int:
    """The columns of a legend that fit under a picture; a mark and the space around it are four
    letters wide."""
    wide = (max(map(len, labels), default=0) + 4) * LEGEND_POINTS * LETTER
    return max(min(most, int(WIDE * 72 // wide)), 1)


def draw_plan(loaded: Loaded, plan: Plan) -> Picture:
    """Machines against time, with runs, delivery and due days."""
    problem = loaded.problem
    end, lead = problem.year_days[-1], problem.rules.lead_days
    model_of = {e.experiment_id: e.model for e in problem.experiments}
    used = {model_of[p.experiment_id] for p in plan.placed}
    models = [model for model in dict.fromkeys(model_of.values()) if model in used]
    colours = {model: OKABE_ITO[n % len(OKABE_ITO)] for n, model in enumerate(models)}
    lanes = calendar_lanes(problem, plan)
    each_in = min(LANE_IN, (MOST_HIGH_IN - AROUND_IN) / max(len(lanes), 1))
    delivered = bool(lead) and any(lane.rank == 1 for lane in lanes)

    def short(day: float) -> str:
        on = problem.start + timedelta(days=day)
        return f"{on.day} {on:%b %Y}"

    def draw(figure: Any) -> None:
        from matplotlib.patches import Patch

        axes, labels = figure.add_subplot(), []
        for at, lane in enumerate(lanes):
            if lane.rank == 1:
                axes.barh(at, lead, left=problem.orders[lane.order], height=0.8, **DELIVERY)
            for p in lane.runs:
                colour = colours[model_of[p.experiment_id]]
                for start, stop in p.pieces:
                    # A run of days in a grant of years is all edge: it keeps its colour.
                    edge = "white" if stop - start > end / 100 else colour
                    bar: Any = {"color": colour, "edgecolor": edge, "linewidth": 0.8}
                    axes.barh(at, stop - start, left=start, height=0.8, **bar)
            label = (
                lane.option.label if lane.count == 1 else f"{lane.count} × ({lane.option.label})"
            )
            number = f" #{lane.number}" if lane.number else ""
            labels.append(label.replace(" in ", "\nin ", 1) + number)
        for day in problem.year_days:
            axes.axvline(day, color="#444444", linewidth=0.8)
        top = high = last = 0
        for day in sorted({e.due_day for e in problem.experiments} - set(problem.year_days)):
            # Words that would lie on those before them stand a line higher.
            high = high + 1 if last and day - last < end / 5 else 0
            last, top, side = day, max(top, high), "right" if day > end * 0.85 else "left"
            axes.axvline(day, color="#D55E00", linewidth=1, linestyle="--")
            words: Any = {"fontsize": 6, "color": "#D55E00", "ha": side, "bbox": BEHIND_WORDS}
            axes.annotate(f"due {short(day)}", (day, -0.7 - 0.35 * high), **words)
        axes.set_yticks(range(len(lanes)), labels, fontsize=LABEL_POINTS * each_in / LANE_IN)
        axes.set_ylim(len(lanes) - 0.4, -0.9 - 0.35 * top)
        ticks = problem.year_days[:: -(-len(problem.year_days) // MOST_DATES)]
        axes.set_xticks(ticks, list(map(short, ticks)))
        axes.grid(False)
        names = {model: loaded.models[model].name for model in models}
        handles = [Patch(color=colours[model], label=name) for model, name in names.items()]
        handles += [Patch(**DELIVERY, label="delivery")] * delivered
        fit = columns_that_fit(list(names.values()), 4)
        where: Any = {"loc": "outside lower center", "ncols": fit, "fontsize": LEGEND_POINTS}
        figure.legend(handles=handles, **where)

    return Picture(
        name="plan",
        caption="Machines against time." + " Hatched: from the order to the first run." * delivered,
        svg=svg_of(draw, AROUND_IN + each_in * max(len(lanes), 1)),
    )
