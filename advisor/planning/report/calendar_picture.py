"""The picture of a plan on the calendar: a line a machine, and runs that look the same once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from datetime import timedelta
from typing import Any

from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.pictures import (
    BEHIND_WORDS,
    LEGEND_POINTS,
    LETTER,
    OKABE_ITO,
    WIDE,
    columns_that_fit,
    in_two_lines,
    short_day,
    svg_of,
)
from advisor.planning.report.report import Picture
from advisor.planning.solver.plan import Placed, Plan

LABEL_POINTS, NAME_POINTS, MARGIN_LETTERS = 7.0, 5.5, 8
"""The size of a machine's label and of a run's name; what stands free around a picture, in letters
of a label."""
MOST_DATES = 6
"""Beside each other under the calendar."""
LANE_IN, AROUND_IN, MOST_HIGH_IN = 0.38, 1.3, 8.4
"""Inches of a line of the calendar, of what stands around all, and of a page's height at most."""


def told_apart(days: Sequence[int]) -> list[int]:
    """First and last, and of those between as many as there is room for to write the day."""
    first, *between, last = days
    room, found = (last - first) / MOST_DATES, [first]
    for day in between:
        if day - found[-1] >= room and last - day >= room:
            found.append(day)
    return [*found, last]


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
        for line in lines:
            if line[-1].pieces[-1][1] <= p.pieces[0][0]:
                line.append(p)
                break
        else:
            lines.append([p])
    found = [(key[0], key[1], own[key]) for key in sorted(own)]
    return found + [(name, -1, line) for name, lines in rented.items() for line in lines]


Lane = tuple[str, int, list[Placed], int]
"""A line, and how many machines it stands for."""


def told_once(
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
    options = problem.options()
    experiments = {e.experiment_id: e for e in problem.experiments}
    models = list(dict.fromkeys(e.model for e in problem.experiments))
    owned = {
        m.machine_id
        for m in problem.machines
        if problem.whole(m.machine_id).startswith("owned:") and m.upgrade_of is None
    }
    bought = {m.machine_id for m in problem.machines} - owned
    of = {e.experiment_id: e.model for e in problem.experiments}
    lanes = told_once(lanes_of(plan.placed, owned | bought), of)
    days_wide = problem.year_days[-1]
    each_in = min(LANE_IN, (MOST_HIGH_IN - AROUND_IN) / max(len(lanes), 1))
    delivered = bool(problem.rules.lead_days) and any(lane[0] in bought for lane in lanes)
    lanes.sort(key=lambda lane: (lane[0] not in owned, lane[0] not in bought, lane[:2]))
    beside = max(
        (len(line) for lane in lanes for line in in_two_lines(options[lane[0]].label).split("\n")),
        default=0,
    )
    day_points = (WIDE * 72 - (beside + MARGIN_LETTERS) * LABEL_POINTS * LETTER) / days_wide

    def fits(days: float, name: str) -> bool:
        """Whether the longest word of a name stands within a bar."""
        longest = max(map(len, name.split()))
        return days * day_points > longest * NAME_POINTS * LETTER

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for at, (option_id, year, runs, _) in enumerate(lanes):
            if option_id in bought:
                start = problem.orders[year]
                axes.barh(
                    at,
                    problem.rules.lead_days,
                    left=start,
                    height=0.8,
                    color="white",
                    edgecolor="#888888",
                    hatch="////",
                    linewidth=0.5,
                )
            for p in runs:
                model = experiments[p.experiment_id].model
                colour = OKABE_ITO[models.index(model) % len(OKABE_ITO)]
                for start_day, end_day in p.pieces:
                    axes.barh(
                        at,
                        end_day - start_day,
                        left=start_day,
                        height=0.8,
                        color=colour,
                        # A run of days in a grant of years is all edge: it keeps its colour.
                        edgecolor="white" if end_day - start_day > days_wide / 100 else colour,
                        linewidth=0.8,
                    )
                    name = loaded.models[model].name
                    if fits(end_day - start_day, name) and each_in > 0.7 * LANE_IN:
                        axes.text(
                            (start_day + end_day) / 2,
                            at,
                            name.replace(" ", "\n"),
                            ha="center",
                            va="center",
                            fontsize=NAME_POINTS,
                            color="black"
                            if colour in ("#F0E442", "#E69F00", "#56B4E9")
                            else "white",
                        )
        for day in problem.year_days:
            axes.axvline(day, color="#444444", linewidth=0.8)
        deadlines = {e.due_day for e in problem.experiments if e.due_day not in problem.year_days}
        top = high = 0
        last: int | None = None
        for day in sorted(deadlines):
            # Words that would lie on those before them stand a line higher.
            near = last is not None and day - last < problem.year_days[-1] / 5
            high, last = high + 1 if near else 0, day
            top = max(top, high)
            axes.axvline(day, color="#D55E00", linewidth=1, linestyle="--")
            axes.annotate(
                f"due {short_day(problem.start + timedelta(days=day))}",
                (day, -0.7 - 0.35 * high),
                fontsize=6,
                color="#D55E00",
                ha="right" if day > problem.year_days[-1] * 0.85 else "left",
                bbox=BEHIND_WORDS,
            )
        labels = []
        for at, (option_id, year, _, count) in enumerate(lanes):
            label = options[option_id].label
            alike = [n for n, lane in enumerate(lanes) if lane[:2] == (option_id, year)]
            number = f" #{alike.index(at) + 1}" if len(alike) > 1 else ""
            labels.append(in_two_lines(f"{count} × ({label})" if count > 1 else label) + number)
        axes.set_yticks(range(len(lanes)), labels, fontsize=LABEL_POINTS * each_in / LANE_IN)
        axes.set_ylim(len(lanes) - 0.4, -0.9 - 0.35 * top)
        ticks = told_apart(problem.year_days)
        days = [problem.start + timedelta(days=d) for d in ticks]
        axes.set_xticks(ticks, [short_day(day) for day in days])
        axes.grid(False)
        shown = [
            m for m in models if any(experiments[p.experiment_id].model == m for p in plan.placed)
        ]
        from matplotlib.patches import Patch

        handles = [
            Patch(color=OKABE_ITO[models.index(m) % len(OKABE_ITO)], label=loaded.models[m].name)
            for m in shown
        ]
        if delivered:
            handles.append(
                Patch(facecolor="white", edgecolor="#888888", hatch="////", label="delivery")
            )
        labels = [str(each.get_label()) for each in handles]
        fit = columns_that_fit(labels, 4)
        figure.legend(
            handles=handles, loc="outside lower center", ncols=fit, fontsize=LEGEND_POINTS
        )

    return Picture(
        name="plan",
        caption="Machines against time." + " Hatched: from the order to the first run." * delivered,
        svg=svg_of(draw, AROUND_IN + each_in * max(len(lanes), 1)),
    )
