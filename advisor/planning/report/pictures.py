"""Pictures of a report and their style: cost against time, alternatives, break-even."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

from advisor.costs.amount_words import usd_tick
from advisor.costs.rental import Line, crossings
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.document import Picture
from advisor.planning.sensitivity.explain import Explanation
from advisor.planning.solver.money.cents import purchase_cents, run_cents
from advisor.planning.solver.plan import Plan, Work
from advisor.planning.solver.rentals import cheapest_rental, ordered_rentals, rented_run_cents
from advisor.typed_input import InputError, install_words

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
"""Okabe and Ito's palette, which colour-blind readers can tell apart; markers differ as well."""
LETTER = 0.6
"""A letter of a label against its size, at most on average."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_STYLE: Any = {
    "svg.hashsalt": "gpu-grant-advisor",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
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
WIDE, LEGEND_POINTS = 7.2, 7.0
"""The width of a picture in inches, and the size of its legend in points."""
BEHIND_WORDS = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
"""No line goes through words."""


@contextmanager
def styled() -> Iterator[Any]:
    """matplotlib's Figure class, in this style, without a screen."""
    # Where its cache may not be written it says so, and draws all the same.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        yield Figure


def svg_of(draw: Callable[[Any], None], height: float) -> str:
    """What ``draw`` puts on a figure of that height in inches, as SVG."""
    with styled() as figure_class:
        figure = figure_class(figsize=(WIDE, height))
        draw(figure)
        out, all_drawn = _saved(figure)
        if not all_drawn:
            # A name in letters that this font has not: as text, whoever shows the picture has
            # fonts of its own.
            import matplotlib

            with matplotlib.rc_context({"svg.fonttype": "none"}):
                out, _ = _saved(figure)
    # matplotlib ends lines with spaces; the same text without them.
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def exported(draw: Callable[[Any], None], height: float, form: str) -> bytes:
    """What ``draw`` puts on a figure of that height in inches, as an ``svg`` (its words stay
    text) or a ``png``. Raises InputError where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        raise InputError(
            f"a picture is drawn with matplotlib, which is not installed; {install_words('report')}"
        ) from None
    out = io.BytesIO()
    with styled() as figure_class, matplotlib.rc_context({"svg.fonttype": "none"}):
        figure = figure_class(figsize=(WIDE, height))
        draw(figure)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a letter that the font lacks is drawn as a box
            form_of = {"svg": {"Date": None, "Creator": None}}.get(form)
            figure.savefig(out, format=form, dpi=PNG_DPI, metadata=form_of)
    return out.getvalue()


def _saved(figure: Any) -> tuple[io.StringIO, bool]:
    """The figure as SVG, and whether the font has every letter of it; nobody reads of that in the
    words of a library."""
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out, not any("missing from font" in str(each.message) for each in said)


def columns_that_fit(labels: Sequence[str], most: int) -> int:
    """The columns of a legend that fit under a picture; a mark and the space around it are four
    letters wide."""
    wide = (max(map(len, labels), default=0) + 4) * LEGEND_POINTS * LETTER
    return max(min(most, int(WIDE * 72 // wide)), 1)


def money(sign: str = "$") -> Callable[[float, int | None], str]:
    """Writes ticks of money: ``$40K``."""

    def written(value: float, _: int | None = None) -> str:
        return usd_tick(value, sign)

    return written


def few_ticks(axis: Any, form: Any) -> None:
    """A few ticks on a log axis, at round numbers within the data."""
    from math import ceil, floor, log10

    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = sorted(axis.get_data_interval())
    if low <= 0:  # bars stand on zero, which no log axis has
        low = axis.get_minpos()
    powers = range(floor(log10(low)) - 1, ceil(log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        ticks = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in ticks if low * 0.95 <= tick <= high * 1.05]
        if len(ticks) >= 3:
            break
    # Labels stand clear of each other: more than a fifth of the axis apart.
    apart = max(log10(high / low) / 4.5, 0.01)
    kept: list[float] = []
    for tick in ticks:
        if not kept or log10(tick / kept[-1]) >= apart:
            kept.append(tick)
    axis.set_major_locator(FixedLocator(kept))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(form)


def in_two_lines(label: str) -> str:
    """A machine's label, parted where it says in what."""
    return label.replace(" in ", "\nin ", 1)


MOST_MODELS = 6


def cost_label(loaded: Loaded) -> str:
    """Of an axis of amounts."""
    return f"cost with{'' if loaded.grant.charges_overhead else 'out'} overhead"


def draw_cost_and_time(loaded: Loaded, plan: Plan, explanation: Explanation) -> Picture | None:
    """Price against training days of every candidate, a panel for each model; None where there
    is nothing to compare.

    Those of the plan and of its runners-up stand out; the others are dots, for the whole picture.
    """
    problem, currency = loaded.problem, loaded.grant.currency
    machines = {
        m.machine_id: m for m in problem.machines if not m.owned and m.part_of is None and m.lines
    }
    timed = {model for machine in machines.values() for model in machine.times}
    models = [m for m in dict.fromkeys(e.model for e in problem.experiments) if m in timed]
    models = models[:MOST_MODELS]
    if not models or len(machines) < 2:
        return None
    chosen = list(dict.fromkeys(p.machine_id for p in plan.purchases))
    others = [a.plan for a in explanation.alternatives if a.plan is not None]
    rivals = list(dict.fromkeys(p.machine_id for other in others for p in other.purchases))
    named = list(dict.fromkeys((*chosen, *rivals)))[: len(MARKERS)]
    labels = [machines[machine_id].label for machine_id in named]
    fit = columns_that_fit(labels, 2)

    def draw(figure: Any) -> None:
        # Four stand two by two: a row of one would leave most of a page's width empty.
        columns = 2 if len(models) == 4 else min(len(models), 3)
        rows = -(-len(models) // columns)
        grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
        for at, model in enumerate(models):
            axes = grid[at // columns][at % columns]
            for machine_id in sorted(machines, key=lambda each: each in named):
                time = machines[machine_id].times.get(model)
                if time is None:
                    continue
                which = named.index(machine_id) if machine_id in named else None
                axes.plot(
                    time.days,
                    float(machines[machine_id].price),
                    marker="." if which is None else MARKERS[which],
                    color="#bbbbbb" if which is None else OKABE_ITO[which],
                    markersize=5 if which is None else 7,
                    linestyle="",
                    markeredgecolor="black" if machine_id in chosen else "none",
                    markeredgewidth=1.3,
                )
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_title(loaded.models[model].name, fontsize=8.5)
            few_ticks(axes.yaxis, money(currency.sign))
            few_ticks(axes.xaxis, "{x:g}")
            axes.margins(0.1)
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
                marker=MARKERS[i],
                color=OKABE_ITO[i],
                markeredgecolor="black" if machine_id in chosen else "none",
                linestyle="",
                label=machines[machine_id].label,
            )
            for i, machine_id in enumerate(named)
        ]
        handles.append(
            Line2D([], [], marker=".", color="#bbbbbb", linestyle="", label="other machines")
        )
        figure.legend(
            handles=handles, loc="outside lower center", ncols=fit, fontsize=LEGEND_POINTS
        )

    height = (3.2 if len(models) <= 3 else 4.8) + (0.16 * len(named) if fit == 1 else 0)
    return Picture(
        name="cost-and-time",
        caption="Price against training time of every machine that could be bought; ringed: in "
        "the plan; coloured: in a runner-up.",
        svg=svg_of(draw, height),
    )


def draw_break_even(loaded: Loaded, plan: Plan) -> Picture | None:
    """Owning the machine with the most work in the plan against renting for the same runs."""
    problem = loaded.problem
    machines = {m.machine_id: m for m in problem.machines}
    experiments = {e.experiment_id: e for e in problem.experiments}
    rents = rented_run_cents(problem)
    ordered = ordered_rentals(problem, rents)

    def days(work: Work) -> float:
        time = machines[work.machine_id].times[experiments[work.experiment_id].model]
        return work.runs * time.days

    found = None
    for purchase in sorted(plan.purchases, key=lambda p: -machines[p.machine_id].price):
        machine = machines[purchase.machine_id]
        for work in sorted(plan.work, key=days, reverse=True):
            if problem.whole(work.machine_id) != purchase.machine_id:
                continue
            e, used = experiments[work.experiment_id], machines[work.machine_id]
            rental = next(
                filter(
                    None, (cheapest_rental(problem, e, y, ordered) for y in range(problem.years))
                ),
                None,
            )
            if rental is not None:
                found = (machine, used, e, rental)
                break
        if found:
            break
    if found is None:
        return None
    machine, used, e, rental = found
    rules, currency = problem.rules, loaded.grant.currency

    def in_it(cents: float) -> float:
        return cents / 100

    # As it is ordered in the plan: prices change, and what is written off is charged by the months.
    bought = in_it(purchase_cents(machine, rules, problem.orders[purchase.order]))
    own = Line("own", bought, in_it(run_cents(used, e.model, rules)))
    rent = Line("rent", 0.0, in_it(rents[rental.rental_id, e.model, 0]))
    even = next((runs for _, runs, _ in crossings((own, rent), inf)), None)
    most = max(4, int((even or 6) * 1.6) + 1)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        runs = range(most + 1)
        for line, colour, marker, label in (
            (own, OKABE_ITO[0], "o", f"own {machine.label}"),
            (rent, OKABE_ITO[3], "s", f"rent {rental.label}"),
        ):
            usd = [line.usd(n) for n in runs]
            axes.plot(runs, usd, color=colour, marker=marker, markersize=3, label=label)
        if even is not None:
            axes.axvline(even, color="#444444", linestyle="--", linewidth=1)
            axes.annotate(
                f"{even:.1f} runs", (even, 0), xytext=(4, 6), textcoords="offset points", fontsize=7
            )
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(f"runs of {loaded.models[e.model].name}")
        axes.set_ylabel(cost_label(loaded))
        axes.yaxis.set_major_formatter(money(currency.sign))
        axes.set_ylim(bottom=0)
        figure.legend(loc="outside lower center", ncols=1)

    return Picture(
        name="break-even",
        caption=f"Owning against renting for runs of {loaded.models[e.model].name} alone.",
        svg=svg_of(draw, 3.0),
    )
