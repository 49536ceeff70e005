"""Draws figures 2, 3, 5 to 9, 12 and 13 of "$100K or 100 Days" from what `advisor` answers.

    python examples/paper_figures.py [--store FILE] [--out FOLDER]

Figure 1 needs the survey's answers one by one, figures 4, 10 and 11 need times with free lunch
alone: the paper prints neither. Figure 5 is of combinations that we measured whole. It needs
matplotlib. Times are the published ones at face value, as in the paper; those that the hardware
cannot reach are hollow. Your own measurements have a black ring. Prices are the paper's, and the
latest for GPUs that the paper has no price for.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from importlib.resources import files
from math import ceil, floor, log10
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

BLUE, ORANGE, GREEN, RED, PINK, SKY, YELLOW, BLACK = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00"),
    *("#CC79A7", "#56B4E9", "#F0E442", "#000000"),
)
COLOURS = (BLUE, ORANGE, GREEN, RED, PINK, SKY, YELLOW, BLACK)
"""Okabe and Ito's palette, which colour-blind readers can tell apart; markers differ as well."""
BROWN = "#8C510A"
MARKERS = "os^DvPX*"
PAPER = ("paper-table1", "paper-table4", "paper-figure6")
YEARS = 5
SECONDS_PER_DAY = 86_400
RING: dict[str, Any] = {
    "marker": "o",
    "markerfacecolor": "white",
    "markeredgecolor": "black",
    "linestyle": "",
    "label": "measured here",
}

Row = dict[str, Any]
Cell = tuple[str, str, int]
"""Model, GPU and number of GPUs."""


class Evidence:
    """What the figures are drawn from."""

    def __init__(self, store: str | None) -> None:
        self._store = [] if store is None else ["--store", store]
        self.models = {row["model"]: row for row in self.ask("data", "models")}
        self.gpus = {row["name"]: row for row in self.ask("data", "gpus")}
        times = [row for row in self.ask("data", "times") if row["model"] in self.models]
        paper = [row for row in times if row["source"] in PAPER]
        self.naive, self.optimal, self.original = (
            {cell_of(row): row for row in paper if row["method"] == method}
            for method in ("naive", "optimal", "original")
        )
        self.own: dict[Cell, Row] = {}
        for row in times:
            if row["origin"] == "local" and row["feasible"]:
                held = self.own.setdefault(cell_of(row), row)
                if row["training_days"] < held["training_days"]:
                    self.own[cell_of(row)] = row
        timed = {cell[0] for cell in self.optimal}
        self.timed_models = [model for model in self.models if model in timed]
        used = {cell[1] for cell in (*self.optimal, *self.own)}
        self.timed_gpus = [gpu for gpu in self.gpus if gpu in used]
        self.usd = self._prices()

    def ask(self, *words: str) -> Any:
        """What `advisor` answers as JSON."""
        command = [sys.executable, "-m", "advisor", *words, *self._store, "--format", "json"]
        made = subprocess.run(command, check=False, capture_output=True, text=True)
        if made.returncode > 1:
            sys.exit(made.stderr)
        return json.loads(made.stdout)

    def _prices(self) -> dict[tuple[str, int], float]:
        """US dollars of the cheapest machine with a number of a GPU."""
        found: dict[tuple[str, int], float] = {}
        own_models = {cell[0] for cell in self.own}
        asked = [(model, "paper", "published") for model in self.timed_models]
        asked += [(model, "latest", "sound") for model in sorted(own_models)]
        for model, prices, evidence in asked:
            words = ("--model", model, "--prices", prices, "--evidence", evidence)
            cheapest: dict[tuple[str, int], float] = {}
            for row in self.ask("rank", *words)["ranked"]:
                if row["machines"] == 1 and not row["gpus_owned"]:
                    key, usd = (row["gpu"], row["gpu_count"]), float(row["overall_cost_usd"])
                    cheapest[key] = min(usd, cheapest.get(key, usd))
            for key, usd in cheapest.items():
                found.setdefault(key, usd)
        return found

    def look(self, gpu: str) -> tuple[str, str]:
        """Colour and marker of a GPU: the same in every figure."""
        at = self.timed_gpus.index(gpu)
        return COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)]


def cell_of(row: Row) -> Cell:
    return row["model"], row["gpu"], row["gpu_count"]


def speed_up(evidence: Evidence, figure: Figure) -> None:
    """Figure 2: mean speed-up over naive settings by GPU, and the bound from FLOPs and peak."""
    groups: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for cell, naive in evidence.naive.items():
        best = evidence.optimal.get(cell)
        model, gpu = evidence.models[cell[0]], evidence.gpus[cell[1]]
        peak = gpu[f"{model['precision']}_tflops"]
        pythia = cell[0].startswith("pythia-")
        if pythia and naive["feasible"] and best is not None and best["feasible"] and peak:
            rate = cell[2] * float(peak) * 1e12 * SECONDS_PER_DAY
            for name in (cell[1], "all"):
                groups[name][0].append(naive["training_days"] / best["training_days"])
                groups[name][1].append(naive["training_days"] * rate / model["training_flops"])
    names = [name for name in (*evidence.gpus, "all") if name in groups]
    axes = figure.add_subplot()
    for at, name in enumerate(names):
        bars = ((-0.2, groups[name][0], BLUE, ""), (0.2, groups[name][1], ORANGE, "//"))
        for shift, values, colour, hatch in bars:
            error = 1.96 * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0
            look: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": "white"}
            axes.bar(at + shift, fmean(values), 0.38, yerr=error, capsize=2.5, **look)
    own = False
    for cell, row in evidence.own.items():
        slow = evidence.naive.get(cell)
        if slow is not None and slow["feasible"] and cell[1] in names:
            speed = slow["training_days"] / row["training_days"]
            axes.plot(names.index(cell[1]) - 0.2, speed, markersize=6, **RING)
            own = True
    labels = [f"{name}\n(n = {len(groups[name][0])})" for name in names]
    axes.set_xticks(range(len(names)), labels)
    axes.axhline(1, color="#444444", linewidth=0.9)
    axes.set_ylabel("speed-up over naive settings")
    axes.grid(axis="x", visible=False)
    optimal = Patch(color=BLUE, label="optimal settings")
    bound = Patch(facecolor=ORANGE, edgecolor="white", hatch="//", label="analytic bound")
    axes.legend(handles=[optimal, bound, *own_handles(own)])


def feasible(evidence: Evidence, figure: Figure) -> None:
    """Figure 3: which Pythia models fit on more than one GPU of each kind."""
    gpus = [gpu for gpu in evidence.gpus if gpu in {cell[1] for cell in evidence.optimal}]
    models = [model for model in evidence.timed_models if model.startswith("pythia-")]

    def fits(times: dict[Cell, Row], model: str, gpu: str) -> bool:
        return any(
            row["feasible"] and cell[:2] == (model, gpu) and cell[2] > 1
            for cell, row in times.items()
        )

    axes, own = figure.add_subplot(), False
    for x, gpu in enumerate(gpus):
        for y, model in enumerate(models):
            colour, hatch = "#eeeeee", "xx"
            if fits(evidence.naive, model, gpu):
                colour, hatch = BLUE, ""
            elif fits(evidence.optimal, model, gpu):
                colour, hatch = SKY, "//"
            look: dict[str, Any] = {"facecolor": colour, "hatch": hatch, "edgecolor": "white"}
            axes.add_patch(Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, **look))
            if fits(evidence.own, model, gpu):
                axes.plot(x, y, markersize=7, **RING)
                own = True
    axes.set_xlim(-0.5, len(gpus) - 0.5)
    axes.set_ylim(len(models) - 0.5, -0.5)
    axes.set_xticks(range(len(gpus)), gpus)
    axes.set_yticks(range(len(models)), [evidence.models[model]["name"] for model in models])
    axes.grid(visible=False)
    handles = [
        Patch(color=BLUE, label="naive settings fit"),
        Patch(facecolor=SKY, hatch="//", edgecolor="white", label="optimal only"),
        Patch(facecolor="#eeeeee", hatch="xx", edgecolor="white", label="neither"),
        *own_handles(own),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=7.5)


def compute(evidence: Evidence, figure: Figure) -> None:
    """Figure 6: GPU-days of the original training, on 8 A100, and measured here."""
    axes, names, own, least = figure.add_subplot(), [], False, float("inf")
    order = {model: at for at, model in enumerate(evidence.models)}
    for cell, row in sorted(evidence.original.items(), key=lambda pair: order[pair[0][0]]):
        ours = evidence.optimal.get((cell[0], "A100", 8))
        if not row["training_days"] or ours is None or not ours["feasible"]:
            continue
        at, before, after = len(names), row["training_days"] * cell[2], ours["training_days"] * 8
        axes.bar(at - 0.2, before, 0.38, color=BROWN, hatch="//", edgecolor="white")
        axes.bar(at + 0.2, after, 0.38, color=GREEN)
        mine = [
            time["training_days"] * other[2]
            for other, time in evidence.own.items()
            if other[0] == cell[0]
        ]
        if mine:
            axes.plot(at + 0.2, min(mine), markersize=6, **RING)
            own = True
        names.append(evidence.models[cell[0]]["name"].replace(" ", "\n"))
        least = min(least, before, after)
    axes.set_yscale("log")
    axes.set_ylim(bottom=least / 2)
    few_ticks(axes.yaxis, "{x:g}")
    axes.set_ylabel("GPU-days (log)")
    axes.set_xticks(range(len(names)), names)
    axes.grid(axis="x", visible=False)
    original = Patch(facecolor=BROWN, hatch="//", edgecolor="white", label="original training")
    ours_label = Patch(color=GREEN, label="8 × A100, optimal settings")
    axes.legend(handles=[original, ours_label, *own_handles(own)])


def combinations(evidence: Evidence, figure: Figure) -> None:
    """Figure 5: the best, median and worst combination of memory-saving methods on two H200s."""
    file = files("advisor.answers.paper").joinpath("all_settings_timed.csv")
    text = file.read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["gpu_count"] == "2"]
    steps = [float(row["step_s"]) for row in rows]
    columns = ("activation_checkpointing", "sharding", "offloading")
    plain = next(
        float(row["step_s"]) for row in rows if [row[name] for name in columns] == ["no", "", "no"]
    )
    bars = {
        "optimal": min(steps),
        "free lunch": plain,
        "median": median(steps),
        "worst": max(steps),
    }
    axes = figure.add_subplot()
    axes.bar(list(bars), [plain / step_s for step_s in bars.values()], 0.6, color=BLUE)
    axes.axhline(1, color="#444444", linewidth=0.9)
    axes.set_ylabel("speed-up over free lunch")
    axes.set_title(f"a short Pythia 70M, 2 × H200, {len(steps)} combinations", fontsize=8.5)
    axes.grid(axis="x", visible=False)


def survey(evidence: Evidence, figure: Figure) -> None:
    """Figure 8: the shares that the paper prints of its survey."""
    rows = [row for row in evidence.ask("peers") if row["share_percent"]]
    rows = [row for row in rows if row["topic"] != "yours"][::-1]
    shares = [fmean(map(float, str(row["share_percent"]).split("–"))) for row in rows]
    axes = figure.add_subplot()
    axes.barh([row["told"] for row in rows], shares, color=BLUE)
    axes.set_xlabel("% of 50 researchers, April 2024")
    axes.grid(axis="y", visible=False)


def work_and_speed(evidence: Evidence, figure: Figure) -> None:
    """Figure 9: the training FLOPs of the models, and the peaks of the GPUs."""
    left, right = figure.subplots(1, 2)
    models = [evidence.models[model] for model in evidence.timed_models][::-1]
    left.barh([model["name"] for model in models], [model["training_flops"] for model in models])
    left.set_xscale("log")
    left.set_xlabel("training FLOPs (log)")
    gpus = [gpu for gpu in evidence.timed_gpus if evidence.gpus[gpu]["fp16_tflops"]][::-1]
    right.barh(gpus, [float(evidence.gpus[gpu]["fp16_tflops"]) for gpu in gpus], color=ORANGE)
    right.set_xlabel("dense 16-bit peak, TFLOP/s")


def own_handles(drawn: bool) -> list[Line2D]:
    """The legend's entry for your own times, where there are any."""
    return [Line2D([], [], **RING)] if drawn else []


def few_ticks(axis: Any, form: str | Callable[[float, object], str]) -> None:
    """At most four ticks of a log axis, at round numbers of what is in view."""
    low, high = axis.get_view_interval()
    powers = range(floor(log10(low)), ceil(log10(high)))
    for steps in ((1, 1.5, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
        ticks = [n * 10.0**power for power in powers for n in steps if low <= n * 10**power <= high]
        if len(ticks) <= 4:
            break
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(StrMethodFormatter(form) if isinstance(form, str) else form)
    axis.set_minor_formatter(NullFormatter())


def dollars(usd: float, _: object) -> str:
    """``$300``, ``$30k``: short, since nine small panels share a page."""
    return f"${usd / 1000:g}k" if usd >= 1000 else f"${usd:g}"


def scatter(evidence: Evidence, axes: Any, model: str, *, a_run: bool) -> set[str]:
    """Cost against days of one model; the GPUs that are in it."""
    seen: set[str] = set()
    times = [(cell, row, False) for cell, row in evidence.optimal.items()]
    times += [(cell, row, True) for cell, row in evidence.own.items()]
    for cell, row, own in times:
        usd = evidence.usd.get(cell[1:])
        if cell[0] != model or not row["feasible"] or usd is None:
            continue
        seen.add(cell[1])
        days = row["training_days"]
        cost = usd * days / (YEARS * 365) if a_run else usd
        colour, marker = evidence.look(cell[1])
        axes.plot(
            cost,
            days,
            marker=marker,
            linestyle="",
            markersize=6 if own else 4.5,
            markerfacecolor="none" if row["verdict"] == "implausible" else colour,
            markeredgecolor="black" if own else colour,
            markeredgewidth=1.4 if own else 0.9,
        )
        where: dict[str, Any] = {"xytext": (4, 3), "textcoords": "offset points", "fontsize": 6.5}
        axes.annotate(str(cell[2]), (cost, days), **where)
    axes.set_xscale("log")
    axes.set_yscale("log")
    few_ticks(axes.xaxis, dollars)
    few_ticks(axes.yaxis, "{x:g}")
    axes.margins(0.12)
    return seen


def gpu_legend(evidence: Evidence, figure: Figure, gpus: set[str]) -> None:
    handles = []
    for gpu in evidence.timed_gpus:
        if gpu in gpus:
            colour, marker = evidence.look(gpu)
            handles.append(Line2D([], [], linestyle="", marker=marker, color=colour, label=gpu))
    hollow: dict[str, Any] = {"marker": "o", "color": "#555555", "markerfacecolor": "none"}
    words = "faster than the hardware allows"
    handles.append(Line2D([], [], linestyle="", label=words, **hollow))
    handles += own_handles(bool(evidence.own))
    figure.legend(handles=handles, loc="outside lower center", ncols=3)


def one_model(evidence: Evidence, figure: Figure) -> None:
    """Figure 7: Pythia 1B, cost of the machine and of one run against training days."""
    top, bottom = figure.subplots(2, 1)
    seen = scatter(evidence, top, "pythia-1b", a_run=False)
    scatter(evidence, bottom, "pythia-1b", a_run=True)
    top.set_xlabel("cost of the machine (log)")
    bottom.set_xlabel(f"cost of one run, over {YEARS} years of use (log)")
    for axes in (top, bottom):
        axes.set_ylabel("training days (log)")
    gpu_legend(evidence, figure, seen)


def all_models(evidence: Evidence, figure: Figure, *, a_run: bool = False) -> None:
    """Figures 12 and 13: the same of every model, of the machine or of one run."""
    models = evidence.timed_models
    grid = figure.subplots(-(-len(models) // 3), 3, squeeze=False)
    seen: set[str] = set()
    for axes, model in zip(grid.flat, models, strict=False):
        seen |= scatter(evidence, axes, model, a_run=a_run)
        axes.set_title(evidence.models[model]["name"], fontsize=8.5)
    for axes in list(grid.flat)[len(models) :]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel(f"cost of {'one run' if a_run else 'the machine'} (log)")
    for row in grid:
        row[0].set_ylabel("training days (log)")
    gpu_legend(evidence, figure, seen)


def all_models_a_run(evidence: Evidence, figure: Figure) -> None:
    all_models(evidence, figure, a_run=True)


FIGURES = {
    "figure2-speedup": (5.5, 3.0, speed_up),
    "figure3-feasible": (4.2, 3.2, feasible),
    "figure5-combinations": (4.2, 3.0, combinations),
    "figure6-compute": (6.5, 3.0, compute),
    "figure7-pythia-1b": (5.0, 6.2, one_model),
    "figure8-survey": (7.2, 3.0, survey),
    "figure9-work-and-speed": (7.2, 3.0, work_and_speed),
    "figure12-cost": (7.2, 7.4, all_models),
    "figure13-cost-per-run": (7.2, 7.4, all_models_a_run),
}
"""Width and height in inches, and what draws it."""
STYLE: dict[str, Any] = {
    "font.size": 8.5,
    "pdf.fonttype": 42,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", help="the store to read (default: that of advisor)")
    parser.add_argument("--out", default="figures", help="folder (default: ./figures)")
    options = parser.parse_args()
    evidence, folder = Evidence(options.store), Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    matplotlib.rcParams.update(STYLE)
    for name, (width, height, draw) in FIGURES.items():
        figure = Figure(figsize=(width, height))
        draw(evidence, figure)
        for form in ("pdf", "svg"):
            figure.savefig(folder / f"{name}.{form}")
            print(folder / f"{name}.{form}")
    unpriced = sorted(
        {f"{cell[2]} × {cell[1]}" for cell in evidence.own}
        - {f"{count} × {gpu}" for gpu, count in evidence.usd}
    )
    if unpriced:
        print(f"No price, so in no figure of costs: {', '.join(unpriced)}", file=sys.stderr)


if __name__ == "__main__":
    main()
