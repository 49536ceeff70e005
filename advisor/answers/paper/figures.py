"""The paper's figures 2, 3, 6, 7, 12 and 13 from the store, with the user's own measurements.

Times are the published ones at face value, as in the paper; those that the hardware cannot reach
are drawn hollow. Measurements of one's own are ringed. Prices are the paper's, and the latest for
GPUs that it has no price for.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from advisor.answers.paper.figure_data import Evidence, gather
from advisor.costs.cost import experiment_cost_usd
from advisor.parse import InputError, shown
from advisor.planning.report.pictures import OKABE_ITO, few_ticks, money, styled
from advisor.ranking.audit import SECONDS_PER_DAY, dense_peak
from advisor.ranking.times import TrainingTime
from advisor.store import Store

FORMS = ("pdf", "svg")
_LIFETIME_YEARS = 5.0
_FIGURE6_GPU = ("a100-sxm4-80gb", 8)
_RING: Any = {
    "marker": "o",
    "markerfacecolor": "white",
    "markeredgecolor": "black",
    "linestyle": "",
}
"""A time of the user's own."""


def write_figures(store: Store, folder: Path, force: bool) -> tuple[list[Path], list[str]]:
    """Draw every figure, as PDF and SVG; and which own times have no price to be drawn with.

    Raises InputError and StoreError.
    """
    from advisor.files import write_all_whole

    if folder.exists() and not folder.is_dir():
        raise InputError(f"{shown(str(folder), 200)} is a file: name a folder with --out")
    targets = {(name, form): folder / f"{name}.{form}" for name in FIGURES for form in FORMS}
    there = [path for path in targets.values() if path.exists()]
    if there and not force:
        raise InputError(f"{shown(str(there[0]), 200)} is there already: add --force or name --out")
    evidence = gather(store)
    made: list[tuple[Path, bytes]] = []
    try:
        for name, (width, height, draw) in FIGURES.items():
            for form in FORMS:
                made.append((targets[name, form], _render(evidence, draw, width, height, form)))
    except ModuleNotFoundError as error:
        from advisor.planning.report.formats.write_report import lacking

        raise lacking([str(error.name)]) from None
    folder.mkdir(parents=True, exist_ok=True)
    write_all_whole(made, overwrite=force)
    return [path for path, _ in made], evidence.unpriced()


Draw = Callable[[Evidence, Any], None]


def _render(evidence: Evidence, draw: Draw, width: float, height: float, form: str) -> bytes:
    with styled() as figure_class:
        figure = figure_class(figsize=(width, height))
        draw(evidence, figure)
        out = io.BytesIO()
        nothing = {"Date": None} if form == "svg" else {"CreationDate": None}
        figure.savefig(out, format=form, metadata=nothing)
    return out.getvalue()


def _days(time: TrainingTime) -> float:
    assert time.training_days is not None
    return time.training_days


def _cells(times: Sequence[TrainingTime]) -> dict[tuple[str, str, int], TrainingTime]:
    return {(t.recipe_id, t.gpu_id, t.gpu_count): t for t in times}


def _draw_2(evidence: Evidence, figure: Any) -> None:
    """Mean speed-up over naive settings by GPU, of optimal settings and of the analytic bound."""
    optimal = _cells(evidence.optimal)
    models = {m.recipe_id: m for m in evidence.snapshot.models}
    groups: dict[str, tuple[list[float], list[float]]] = {}
    for naive in evidence.naive:
        best = optimal.get((naive.recipe_id, naive.gpu_id, naive.gpu_count))
        pythia = naive.recipe_id.startswith("pythia-")
        if not pythia or naive.status != "ok" or best is None or best.status != "ok":
            continue
        model, gpu = models[naive.recipe_id], evidence.gpus[naive.gpu_id]
        peak = dense_peak(gpu, model.precision, naive=True).tflops
        if peak is None:
            continue
        rate = naive.gpu_count * peak * 1e12 * SECONDS_PER_DAY
        for name in (gpu.name, "all"):
            speedups, bounds = groups.setdefault(name, ([], []))
            speedups.append(_days(naive) / _days(best))
            bounds.append(_days(naive) * rate / model.flops_full)
    names = [evidence.gpus[gpu_id].name for gpu_id in evidence.gpu_ids()]
    groups = {name: groups[name] for name in (*names, "all") if name in groups}
    axes = figure.add_subplot()
    for at, (speedups, bounds) in enumerate(groups.values()):
        for shift, values, colour, hatch in (
            (-0.2, speedups, OKABE_ITO[0], ""),
            (0.2, bounds, OKABE_ITO[1], "//"),
        ):
            error = 1.96 * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0
            axes.bar(
                at + shift,
                fmean(values),
                0.38,
                yerr=error,
                color=colour,
                hatch=hatch,
                edgecolor="white",
                error_kw={"elinewidth": 0.9, "capsize": 2.5},
            )
    labels = [f"{name}\n(n = {len(values[0])})" for name, values in groups.items()]
    axes.set_xticks(range(len(groups)), labels)
    axes.axhline(1, color="#444444", linewidth=0.9)
    axes.set_ylabel("speed-up over naive settings")
    axes.grid(axis="x", visible=False)
    from matplotlib.patches import Patch

    axes.legend(
        handles=[
            Patch(color=OKABE_ITO[0], label="optimal settings"),
            Patch(facecolor=OKABE_ITO[1], edgecolor="white", hatch="//", label="analytic bound"),
            *_own_handles(_own_speedups(evidence, axes, list(groups))),
        ]
    )


def _own_speedups(evidence: Evidence, axes: Any, groups: list[str]) -> bool:
    """The user's own times against the published naive ones, each a ringed point; any at all."""
    drawn = False
    naive = _cells(evidence.naive)
    for t in evidence.own:
        slow = naive.get((t.recipe_id, t.gpu_id, t.gpu_count))
        name = evidence.gpus[t.gpu_id].name
        if slow is None or slow.status != "ok" or name not in groups:
            continue
        drawn = True
        axes.plot(
            groups.index(name) - 0.2,
            _days(slow) / _days(t),
            markersize=6,
            **_RING,
        )
    return drawn


def _own_handles(drawn: bool) -> list[Any]:
    """The legend's entry for the user's own times, where there are any."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], label="measured here", **_RING)] if drawn else []


def _draw_3(evidence: Evidence, figure: Any) -> None:
    """Which Pythia models fit on more than one GPU of each kind, naive and optimal."""
    from matplotlib.patches import Patch, Rectangle

    gpus, models = evidence.gpu_ids(), evidence.model_ids("pythia-")

    def fits(times: Sequence[TrainingTime], model: str, gpu: str) -> bool:
        return any(
            t.status == "ok" and (t.recipe_id, t.gpu_id) == (model, gpu) and t.gpu_count > 1
            for t in times
        )

    axes = figure.add_subplot()
    for x, gpu in enumerate(gpus):
        for y, model in enumerate(models):
            naive = fits(evidence.naive, model, gpu)
            optimal = fits(evidence.optimal, model, gpu)
            own = fits(evidence.own, model, gpu)
            colour = OKABE_ITO[0] if naive else OKABE_ITO[5] if optimal else "#eeeeee"
            hatch = "" if naive else "//" if optimal else "xx"
            axes.add_patch(
                Rectangle(
                    (x - 0.47, y - 0.47),
                    0.94,
                    0.94,
                    facecolor=colour,
                    hatch=hatch,
                    edgecolor="white",
                    linewidth=0.5,
                )
            )
            if own:
                axes.plot(x, y, markersize=7, **_RING)
    axes.set_xlim(-0.5, len(gpus) - 0.5)
    axes.set_ylim(len(models) - 0.5, -0.5)
    axes.set_xticks(range(len(gpus)), [evidence.gpus[gpu].name for gpu in gpus])
    axes.set_yticks(range(len(models)), [evidence.name(model) for model in models])
    axes.grid(False)
    figure.legend(
        handles=[
            Patch(color=OKABE_ITO[0], label="naive settings fit"),
            Patch(facecolor=OKABE_ITO[5], hatch="//", edgecolor="white", label="optimal only"),
            Patch(facecolor="#eeeeee", hatch="xx", edgecolor="white", label="neither"),
            *_own_handles(
                any(
                    (t.recipe_id in models and t.gpu_id in gpus and t.gpu_count > 1)
                    for t in evidence.own
                )
            ),
        ],
        loc="outside lower center",
        ncols=4 if evidence.own else 3,
        fontsize=7.5,
        columnspacing=1.0,
    )


def _draw_6(evidence: Evidence, figure: Any) -> None:
    """GPU-days of the original training against 8 A100, and against one's own."""
    optimal = _cells(evidence.optimal)
    pairs = []
    order = evidence.model_ids()
    for t in sorted(evidence.original, key=lambda t: [*order, t.recipe_id].index(t.recipe_id)):
        ours = optimal.get((t.recipe_id, *_FIGURE6_GPU))
        if t.training_days and ours is not None and ours.status == "ok":
            own = [o for o in evidence.own if o.recipe_id == t.recipe_id]
            least = min((_days(o) * o.gpu_count for o in own), default=None)
            pairs.append(
                (evidence.name(t.recipe_id), _days(t) * t.gpu_count, _days(ours) * 8, least)
            )
    axes = figure.add_subplot()
    for at, (_, before, after, least) in enumerate(pairs):
        axes.bar(at - 0.2, before, 0.38, color=OKABE_ITO[7], hatch="//", edgecolor="white")
        axes.bar(at + 0.2, after, 0.38, color=OKABE_ITO[2])
        if least is not None:
            axes.plot(at + 0.2, least, markersize=6, **_RING)
    axes.set_yscale("log")
    axes.set_ylim(bottom=min(min(before, after) for _, before, after, _ in pairs) / 2)
    few_ticks(axes.yaxis, "{x:g}")
    axes.set_ylabel("GPU-days (log)")
    axes.set_xticks(range(len(pairs)), [name.replace(" ", "\n") for name, *_ in pairs])
    axes.grid(axis="x", visible=False)
    from matplotlib.patches import Patch

    axes.legend(
        handles=[
            Patch(facecolor=OKABE_ITO[7], hatch="//", edgecolor="white", label="original training"),
            Patch(color=OKABE_ITO[2], label="8 × A100, optimal settings"),
            *_own_handles(any(least is not None for *_, least in pairs)),
        ]
    )


def _scatter(evidence: Evidence, axes: Any, recipe_id: str, *, per_run: bool) -> set[str]:
    """Cost against days of one model; the GPUs that are in it."""
    seen: set[str] = set()
    for t in (*evidence.optimal, *evidence.own):
        cents = evidence.cents.get((t.gpu_id, t.gpu_count))
        if t.recipe_id != recipe_id or t.status != "ok" or cents is None:
            continue
        seen.add(t.gpu_id)
        colour, marker = evidence.colour(t.gpu_id)
        usd = cents / 100
        if per_run:
            usd = float(experiment_cost_usd(Decimal(cents) / 100, _days(t), _LIFETIME_YEARS))
        own = t.origin == "local"
        axes.plot(
            usd,
            _days(t),
            marker=marker,
            linestyle="",
            markersize=6 if own else 4.5,
            markerfacecolor="none" if t.verdict == "implausible" else colour,
            markeredgecolor="black" if own else colour,
            markeredgewidth=1.4 if own else 0.9,
        )
        axes.annotate(
            str(t.gpu_count),
            (usd, _days(t)),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=6.5,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    few_ticks(axes.xaxis, money())
    few_ticks(axes.yaxis, "{x:g}")
    axes.margins(0.12)
    return seen


def _legend(evidence: Evidence, figure: Any, gpus: set[str]) -> None:
    from matplotlib.lines import Line2D

    point = partial(Line2D, [], [], linestyle="")
    handles = []
    for gpu_id in evidence.gpus:
        if gpu_id in gpus:
            colour, marker = evidence.colour(gpu_id)
            handles.append(point(marker=marker, color=colour, label=evidence.gpus[gpu_id].name))
    hollow = point(marker="o", color="#555555", markerfacecolor="none")
    ringed = point(marker="o", markerfacecolor="#bbbbbb", markeredgecolor="black")
    hollow.set_label("faster than the hardware allows")
    ringed.set_label("measured here")
    handles += [hollow, ringed] if evidence.own else [hollow]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)


def _draw_7(evidence: Evidence, figure: Any) -> None:
    """Pythia-1B: cost of the machine, and of one run, against training days."""
    top, bottom = figure.subplots(2, 1)
    seen = _scatter(evidence, top, "pythia-1b", per_run=False)
    _scatter(evidence, bottom, "pythia-1b", per_run=True)
    top.set_xlabel("cost of the machine (log)")
    bottom.set_xlabel("cost of one run, over five years of use (log)")
    for axes in (top, bottom):
        axes.set_ylabel("training days (log)")
    _legend(evidence, figure, seen)


def _draw_all(evidence: Evidence, figure: Any, *, per_run: bool) -> None:
    models = evidence.model_ids()
    grid = figure.subplots(-(-len(models) // 3), 3, squeeze=False)
    seen: set[str] = set()
    for at, model in enumerate(models):
        axes = grid[at // 3][at % 3]
        seen |= _scatter(evidence, axes, model, per_run=per_run)
        axes.set_title(evidence.name(model), fontsize=8.5)
    for at in range(len(models), grid.size):
        grid[at // 3][at % 3].set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("cost of one run (log)" if per_run else "cost of the machine (log)")
    for row in grid:
        row[0].set_ylabel("training days (log)")
    _legend(evidence, figure, seen)


def _draw_12(evidence: Evidence, figure: Any) -> None:
    """Cost of the machine against training days, all models."""
    _draw_all(evidence, figure, per_run=False)


def _draw_13(evidence: Evidence, figure: Any) -> None:
    """Cost of one run against training days, all models."""
    _draw_all(evidence, figure, per_run=True)


FIGURES: dict[str, tuple[float, float, Draw]] = {
    "figure2-speedup": (5.5, 3.0, _draw_2),
    "figure3-feasible": (4.2, 3.2, _draw_3),
    "figure6-compute": (6.5, 3.0, _draw_6),
    "figure7-pythia-1b": (5.0, 6.2, _draw_7),
    "figure12-cost": (7.2, 7.4, _draw_12),
    "figure13-cost-per-run": (7.2, 7.4, _draw_13),
}
"""Width and height in inches, and what draws it."""
