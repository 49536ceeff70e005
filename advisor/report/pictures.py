"""The pictures of a report: the plan, cost against time, the alternatives, the break-even."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from advisor.plan.explain import Explanation
from advisor.plan.model import cheapest_rental
from advisor.plan.money import purchase_charge, rental_charge, run_charge
from advisor.plan.options import Loaded
from advisor.plan.problem import Plan
from advisor.report.drawing import MARKERS, OKABE_ITO, few_ticks, svg_of, thousands
from advisor.report.model import Picture

MOST_MODELS = 6


def draw_plan(loaded: Loaded, plan: Plan) -> Picture:
    """Machines against time, with runs, delivery and due days."""
    problem = loaded.problem
    options: dict[str, Any] = {m.machine_id: m for m in problem.machines}
    options.update({r.rental_id: r for r in problem.rentals})
    experiments = {e.experiment_id: e for e in problem.experiments}
    models = list(dict.fromkeys(e.model for e in problem.experiments))
    lanes = list(dict.fromkeys((p.machine_id, p.year, p.unit) for p in plan.placed))
    owned = {m.machine_id for m in problem.machines if m.owned}
    bought = {m.machine_id for m in problem.machines if not m.owned}
    lanes.sort(key=lambda lane: (lane[0] not in owned, lane[0] not in bought, lane))

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for at, (option_id, year, unit) in enumerate(lanes):
            if option_id in bought:
                start = problem.year_days[year]
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
            for p in plan.placed:
                if (p.machine_id, p.year, p.unit) != (option_id, year, unit):
                    continue
                model = experiments[p.experiment_id].model
                colour = OKABE_ITO[models.index(model) % len(OKABE_ITO)]
                for start_day, end_day in p.pieces:
                    axes.barh(
                        at,
                        end_day - start_day,
                        left=start_day,
                        height=0.8,
                        color=colour,
                        edgecolor="white",
                        linewidth=0.8,
                    )
                    if end_day - start_day > problem.year_days[-1] / 22:
                        axes.text(
                            (start_day + end_day) / 2,
                            at,
                            loaded.models[model].name.replace(" ", "\n"),
                            ha="center",
                            va="center",
                            fontsize=5.5,
                            color="black"
                            if colour in ("#F0E442", "#E69F00", "#56B4E9")
                            else "white",
                        )
        deadlines = {e.due_day for e in problem.experiments if e.due_day not in problem.year_days}
        for day in deadlines:
            axes.axvline(day, color="#D55E00", linewidth=1, linestyle="--")
            axes.annotate(
                f"due {problem.start + timedelta(days=day)}",
                (day, -0.75),
                fontsize=6,
                color="#D55E00",
                ha="left",
            )
        for day in problem.year_days:
            axes.axvline(day, color="#444444", linewidth=0.8)
        labels = [
            options[option_id].label
            + (f" #{unit}" if sum(x[:2] == (option_id, y) for x in lanes) > 1 else "")
            for option_id, y, unit in lanes
        ]
        axes.set_yticks(range(len(lanes)), labels)
        axes.set_ylim(len(lanes) - 0.4, -0.9)
        axes.set_xticks(
            problem.year_days, [str(problem.start + timedelta(days=d)) for d in problem.year_days]
        )
        axes.grid(False)
        shown = [
            m for m in models if any(experiments[p.experiment_id].model == m for p in plan.placed)
        ]
        from matplotlib.patches import Patch

        handles = [
            Patch(color=OKABE_ITO[models.index(m) % len(OKABE_ITO)], label=loaded.models[m].name)
            for m in shown
        ]
        if any(lane[0] in bought for lane in lanes):
            handles.append(
                Patch(facecolor="white", edgecolor="#888888", hatch="////", label="delivery")
            )
        figure.legend(handles=handles, loc="outside lower center", ncols=4)

    return Picture(
        name="plan",
        caption="Machines against time. Hatched: from the order to the first run.",
        svg=svg_of(draw, 7.2, 1.3 + 0.38 * max(len(lanes), 1)),
    )


def draw_cost_and_time(loaded: Loaded, plan: Plan) -> Picture:
    """Price against training days of every candidate, a panel for each model."""
    problem = loaded.problem
    models = list(dict.fromkeys(e.model for e in problem.experiments))[:MOST_MODELS]
    chosen = {p.machine_id for p in plan.purchases}
    machines = [m for m in problem.machines if not m.owned]
    gpus = list(dict.fromkeys(m.gpu_name for m in machines))

    def draw(figure: Any) -> None:
        columns = min(len(models), 3)
        rows = -(-len(models) // columns)
        grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
        for at, model in enumerate(models):
            axes = grid[at // columns][at % columns]
            for machine in machines:
                time = machine.times.get(model)
                if time is None:
                    continue
                which = gpus.index(machine.gpu_name)
                axes.plot(
                    time.days,
                    float(machine.price_usd),
                    marker=MARKERS[which % len(MARKERS)],
                    color=OKABE_ITO[which % len(OKABE_ITO)],
                    markersize=6,
                    linestyle="",
                    markeredgecolor="black" if machine.machine_id in chosen else "none",
                    markeredgewidth=1.6,
                )
                axes.annotate(
                    str(machine.gpu_count),
                    (time.days, float(machine.price_usd)),
                    xytext=(4, 3),
                    textcoords="offset points",
                    fontsize=6,
                )
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_title(loaded.models[model].name, fontsize=8.5)
            few_ticks(axes.yaxis, thousands)
            few_ticks(axes.xaxis, "{x:g}")
            axes.margins(0.2)
        for at in range(len(models), rows * columns):
            grid[at // columns][at % columns].set_visible(False)
        for axes in grid[-1]:
            axes.set_xlabel("training days (log)")
        figure.supylabel("price of the machine (log)", fontsize=8.5)
        from matplotlib.lines import Line2D

        handles = [
            Line2D(
                [],
                [],
                marker=MARKERS[i % len(MARKERS)],
                color=OKABE_ITO[i % len(OKABE_ITO)],
                linestyle="",
                label=gpu,
            )
            for i, gpu in enumerate(gpus)
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=6)

    height = 2.6 if len(models) <= 3 else 4.4
    return Picture(
        name="cost-and-time",
        caption="Price against training time of every machine that could be bought; the figure "
        "beside a mark is its number of GPUs, the ringed ones are in the plan.",
        svg=svg_of(draw, 7.2, height),
    )


def draw_alternatives(loaded: Loaded, plan: Plan, explanation: Explanation) -> Picture:
    """Cost against the last day, of the plan and its runners-up."""
    points = [("recommended", plan)]
    points += [(a.label, a.plan) for a in explanation.alternatives if a.plan is not None]
    budget = loaded.problem.budget_cents

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for i, (label, each) in enumerate(points):
            axes.plot(
                each.finish_day,
                each.cost_cents / 100,
                marker=MARKERS[i % len(MARKERS)],
                color=OKABE_ITO[i % len(OKABE_ITO)],
                markersize=9 if i == 0 else 7,
                linestyle="",
                label=label,
            )
        if budget is not None:
            axes.axhline(budget / 100, color="#444444", linestyle="--", linewidth=1)
            axes.annotate(
                "budget",
                (0.01, budget / 100),
                xycoords=("axes fraction", "data"),
                xytext=(0, 3),
                textcoords="offset points",
                fontsize=7,
            )
        axes.set_xlabel("days from the start to the end of the last run")
        axes.set_ylabel("cost with overhead")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(thousands)
        axes.margins(x=0.15, y=0.15)
        figure.legend(loc="outside right upper")

    return Picture(
        name="alternatives",
        caption="Cost against time of the recommended plan and of its runners-up.",
        svg=svg_of(draw, 7.2, 2.8),
    )


def draw_break_even(loaded: Loaded, plan: Plan) -> Picture | None:
    """Owning the machine with the most work in the plan against renting for the same runs."""
    problem = loaded.problem
    machines = {m.machine_id: m for m in problem.machines}
    experiments = {e.experiment_id: e for e in problem.experiments}
    found = None
    for purchase in sorted(plan.purchases, key=lambda p: -machines[p.machine_id].price_usd):
        machine = machines[purchase.machine_id]
        for work in plan.work:
            if work.machine_id != purchase.machine_id:
                continue
            e = experiments[work.experiment_id]
            rental = next(
                filter(None, (cheapest_rental(problem, e, y) for y in range(problem.years))), None
            )
            if rental is not None:
                found = (machine, e, rental)
                break
        if found:
            break
    if found is None:
        return None
    machine, e, rental = found
    rules = problem.rules
    fixed = purchase_charge(machine, rules).cents / 100
    own = run_charge(machine, machine.times[e.model], rules).cents / 100
    rent = rental_charge(rental, rental.times[e.model], rules).cents / 100
    even = fixed / (rent - own) if rent > own else None
    most = max(4, int((even or 6) * 1.6) + 1)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        runs = range(most + 1)
        axes.plot(
            runs,
            [fixed + own * n for n in runs],
            color=OKABE_ITO[0],
            marker="o",
            markersize=3,
            label=f"own {machine.label}",
        )
        axes.plot(
            runs,
            [rent * n for n in runs],
            color=OKABE_ITO[3],
            marker="s",
            markersize=3,
            label=f"rent {rental.label}",
        )
        if even is not None:
            axes.axvline(even, color="#444444", linestyle="--", linewidth=1)
            axes.annotate(
                f"{even:.1f} runs", (even, 0), xytext=(4, 6), textcoords="offset points", fontsize=7
            )
        axes.set_xlabel(f"runs of {loaded.models[e.model].name}")
        axes.set_ylabel("cost with overhead")
        axes.yaxis.set_major_formatter(thousands)
        axes.set_ylim(bottom=0)
        figure.legend(loc="outside right upper")

    return Picture(
        name="break-even",
        caption=f"Owning against renting for runs of {loaded.models[e.model].name} alone.",
        svg=svg_of(draw, 7.2, 2.6),
    )
