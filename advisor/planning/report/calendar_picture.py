"""The picture of a plan on the calendar: a line a machine, and lines that look the same once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from datetime import date, timedelta
from typing import Any

from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.document import Picture
from advisor.planning.report.pictures import (
    BEHIND_WORDS,
    LEGEND_POINTS,
    OKABE_ITO,
    columns_that_fit,
    in_two_lines,
    svg_of,
)
from advisor.planning.solver.plan import Placed, Plan

LABEL_POINTS = 7.0
LANE_IN, AROUND_IN, MOST_HIGH_IN = 0.38, 1.3, 8.4
"""Heights in inches: of a line of the calendar, of its margins, and of the picture at most."""
MOST_DATES = 6
"""On the axis of the calendar, at most."""
DELIVERY: Any = {"facecolor": "white", "edgecolor": "#888888", "hatch": "////", "linewidth": 0.5}


def lanes_of(placed: Sequence[Placed], machines: Set[str]) -> list[tuple[str, int, list[Placed]]]:
    """Runs line by line: a line is a machine with its order, or a rented one, which runs that do
    not overlap share over all years."""
    own: dict[tuple[str, int, int], list[Placed]] = {}
    rented: dict[str, list[list[Placed]]] = {}
    for p in sorted(placed, key=lambda p: p.pieces[0][0]):
        if p.machine_id in machines:
            own.setdefault((p.machine_id, p.order, p.unit), []).append(p)
            continue
        lines = rented.setdefault(p.machine_id, [])
        free = (line for line in lines if line[-1].pieces[-1][1] <= p.pieces[0][0])
        if (line := next(free, None)) is not None:
            line.append(p)
        else:
            lines.append([p])
    found = [(key[0], key[1], own[key]) for key in sorted(own)]
    return found + [(name, -1, line) for name, lines in rented.items() for line in lines]


Lane = tuple[str, int, list[Placed], int]
"""A machine or rental, its order, its runs, and how many machines look the same."""


def merge_alike(
    lanes: Sequence[tuple[str, int, list[Placed]]], models: Mapping[str, str]
) -> list[Lane]:
    """Lines that look the same are one: thirty instances rented at once fill no page."""
    found: dict[object, Lane] = {}
    for name, order, runs in lanes:
        look = tuple((models[p.experiment_id], p.pieces) for p in runs)
        *_, first, count = found.get((name, order, look), (runs, 0))
        found[name, order, look] = (name, order, first, count + 1)
    return list(found.values())


def draw_plan(loaded: Loaded, plan: Plan) -> Picture:
    """Machines against time, with runs, delivery and due days."""
    problem = loaded.problem
    options, last_day = problem.options(), problem.year_days[-1]
    model_of = {e.experiment_id: e.model for e in problem.experiments}
    colours = {
        m: OKABE_ITO[n % len(OKABE_ITO)] for n, m in enumerate(dict.fromkeys(model_of.values()))
    }
    owned = {
        m.machine_id
        for m in problem.machines
        if problem.whole(m.machine_id).startswith("owned:") and m.upgrade_of is None
    }
    bought = {m.machine_id for m in problem.machines} - owned
    lanes = merge_alike(lanes_of(plan.placed, owned | bought), model_of)
    lanes.sort(key=lambda lane: (lane[0] not in owned, lane[0] not in bought, lane[:2]))
    each_in = min(LANE_IN, (MOST_HIGH_IN - AROUND_IN) / max(len(lanes), 1))
    delivered = bool(problem.rules.lead_days) and any(lane[0] in bought for lane in lanes)

    def short(day: float) -> str:
        on: date = problem.start + timedelta(days=day)
        return f"{on.day} {on:%b %Y}"

    def draw(figure: Any) -> None:
        from matplotlib.patches import Patch

        axes = figure.add_subplot()
        labels = []
        for at, (option_id, order, runs, count) in enumerate(lanes):
            if option_id in bought:
                days = problem.rules.lead_days
                axes.barh(at, days, left=problem.orders[order], height=0.8, **DELIVERY)
            for p in runs:
                for start, end in p.pieces:
                    colour = colours[model_of[p.experiment_id]]
                    # A run of days in a grant of years is all edge: it keeps its colour.
                    edge = "white" if end - start > last_day / 100 else colour
                    bar: Any = {"color": colour, "edgecolor": edge, "linewidth": 0.8}
                    axes.barh(at, end - start, left=start, height=0.8, **bar)
            label = options[option_id].label
            alike = [n for n, lane in enumerate(lanes) if lane[:2] == (option_id, order)]
            number = f" #{alike.index(at) + 1}" if len(alike) > 1 else ""
            labels.append(in_two_lines(f"{count} × ({label})" if count > 1 else label) + number)
        for day in problem.year_days:
            axes.axvline(day, color="#444444", linewidth=0.8)
        top = _draw_due_days(axes, loaded, short)
        axes.set_yticks(range(len(lanes)), labels, fontsize=LABEL_POINTS * each_in / LANE_IN)
        axes.set_ylim(len(lanes) - 0.4, -0.9 - 0.35 * top)
        ticks = problem.year_days[:: -(-len(problem.year_days) // MOST_DATES)]
        axes.set_xticks(ticks, list(map(short, ticks)))
        axes.grid(False)
        used = {model_of[p.experiment_id] for p in plan.placed}
        handles = [
            Patch(color=colour, label=loaded.models[model].name)
            for model, colour in colours.items()
            if model in used
        ]
        if delivered:
            handles.append(Patch(**DELIVERY, label="delivery"))
        fit = columns_that_fit([str(each.get_label()) for each in handles], 4)
        where = "outside lower center"
        figure.legend(handles=handles, loc=where, ncols=fit, fontsize=LEGEND_POINTS)

    return Picture(
        name="plan",
        caption="Machines against time." + " Hatched: from the order to the first run." * delivered,
        svg=svg_of(draw, AROUND_IN + each_in * max(len(lanes), 1)),
    )


def _draw_due_days(axes: Any, loaded: Loaded, short: Any) -> int:
    """A line for each deadline within a year; how many stand above each other at most."""
    years = loaded.problem.year_days
    top = high = 0
    last: int | None = None
    for day in sorted({e.due_day for e in loaded.problem.experiments} - set(years)):
        # Words that would lie on those before them stand a line higher.
        high = high + 1 if last is not None and day - last < years[-1] / 5 else 0
        last, top = day, max(top, high)
        axes.axvline(day, color="#D55E00", linewidth=1, linestyle="--")
        axes.annotate(
            f"due {short(day)}",
            (day, -0.7 - 0.35 * high),
            fontsize=6,
            color="#D55E00",
            ha="right" if day > years[-1] * 0.85 else "left",
            bbox=BEHIND_WORDS,
        )
    return top
