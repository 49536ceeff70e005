"""What the paper concludes, recomputed from the store and set beside what the paper says."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from advisor.costs.amount_words import days_exact, usd_whole
from advisor.ranking.audit import SECONDS_PER_DAY, dense_peak
from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.row_order import rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.ranking.times import TrainingTime
from advisor.store import Reader
from advisor.tables.plain_values import fill

PAPER_SOURCES = frozenset({"paper-table1", "paper-table4", "paper-figure6"})

Cell = tuple[str, str, int]
Cells = dict[Cell, TrainingTime]


class Finding(NamedTuple):
    """One conclusion: as recomputed, as printed, how, and the command that shows what is behind."""

    finding: str
    recomputed: str
    paper_says: str
    how: str
    command: str = "advisor data times --format csv"


def find(reader: Reader) -> list[Finding]:
    """Every conclusion that can be recomputed from the store and the spaces measured whole."""
    times = [time for time in reader.times() if time.source_id in PAPER_SOURCES]
    naive, optimal = (
        {(t.recipe_id, t.gpu_id, t.gpu_count): t for t in times if t.method == method}
        for method in ("naive", "optimal")
    )
    return [
        *_pythia(naive, optimal),
        _analytic_optimism(reader, naive),
        *_memory_saving(),
        _compute_saved(times, optimal, {m.recipe_id: m.name for m in reader.models()}),
        *_machines(reader),
        _audited([time for time in optimal.values() if time.status == "ok"]),
    ]


def _pythias(cells: Cells) -> dict[Cell, TrainingTime]:
    """The cells of the Pythia models that fit."""
    fits = ((cell, time) for cell, time in cells.items() if cell[0].startswith("pythia-"))
    return {cell: time for cell, time in fits if time.status == "ok"}


def _pythia(naive: Cells, optimal: Cells) -> list[Finding]:
    """How much faster the optimal settings are, and what does not fit with either."""
    slow, fast = _pythias(naive), _pythias(optimal)
    pairs = [(slow[cell], fast[cell]) for cell in slow if cell in fast]
    mean, least, most = (
        fmean(getattr(one, over) / getattr(other, under) for one, other in pairs)
        for over, under in (
            ("training_days", "training_days"),
            ("training_days_low", "training_days_high"),
            ("training_days_high", "training_days_low"),
        )
    )
    cell = ("pythia-1b", "a100-sxm4-80gb", 4)
    one, other = (cells[cell].training_days or 0.0 for cells in (slow, fast))
    found = [
        Finding(
            "mean speed-up of optimal over naive settings, Pythia",
            f"{mean:.1f}x",
            "4.3x",
            f"mean of naive / optimal days over the {len(slow.keys() & fast.keys())} cells where "
            f"naive fits; the days are printed whole, which allows {least:.1f}x to {most:.1f}x",
        ),
        Finding(
            "Pythia 1B on 4 x A100: days with naive and with optimal settings",
            f"{days_exact(one)} and {days_exact(other)}",
            "41 and 18",
            f"{other * 4:.0f} GPU-days where the original took 192 (64 GPUs for 3 days)",
        ),
    ]
    asked = {cell[:2] for cell in optimal if cell[0].startswith("pythia-")}
    for cells, method, says in ((slow, "naive", "9 of 20"), (fast, "optimal", "0 of 20")):
        feasible = {cell[:2] for cell in cells if cell[2] > 1}
        found.append(
            Finding(
                f"Pythia on more than one GPU: infeasible with {method} settings",
                f"{len(asked - feasible)} of {len(asked)}",
                says,
                "pairs of model and GPU type that fit on none of 2, 4 and 8 GPUs",
            )
        )
    return found


def _analytic_optimism(reader: Reader, naive: Cells) -> Finding:
    gpus = {gpu.gpu_id: gpu for gpu in reader.gpus()}
    models = {model.recipe_id: model for model in reader.models()}
    ratios = []
    for (recipe_id, gpu_id, count), time in _pythias(naive).items():
        model = models[recipe_id]
        peak = dense_peak(gpus[gpu_id], model.precision, naive=True).tflops
        if peak and time.training_days:
            rate = count * peak * 1e12 * SECONDS_PER_DAY
            ratios.append(time.training_days * rate / model.flops_full)
    return Finding(
        "the analytic estimate is optimistic, against naive settings, Pythia",
        f"{fmean(ratios):.1f}x",
        "6x",
        "mean of naive days x dense peak / FLOPs (attention counted in full), with the SXM peak of "
        "the H100 that was measured; Figure 9b has its PCIe peak, which is lower",
    )


def _compute_saved(times: list[TrainingTime], optimal: Cells, names: dict[str, str]) -> Finding:
    saved = {}
    for time in times:
        ours = optimal.get((time.recipe_id, "a100-sxm4-80gb", 8))
        if time.method == "original" and time.training_days and ours and ours.training_days:
            gpu_days = time.training_days * time.gpu_count
            saved[names[time.recipe_id]] = gpu_days / (ours.training_days * 8)
    each = ", ".join(f"{model} {ratio:.1f}x" for model, ratio in sorted(saved.items()))
    return Finding(
        "compute saved against the original training (Figure 6)",
        f"{fmean(saved.values()):.1f}x",
        "3.0x",
        f"mean of original GPU-days / GPU-days on 8 A100 over {len(saved)} models, the original "
        f"devices counted one for one, ViT's TPU cores too: {each}",
    )


_MACHINES = (
    ("rtx-3090", 2, "$4k, 108 days (the title)"),
    ("h100-sxm5-80gb", 4, "$130k, 8 days, $600 (the title)"),
    ("a100-sxm4-80gb", 8, "$160k, 9 days, $800"),
    ("a100-sxm4-80gb", 4, "$85k, 18 days"),
    ("h100-sxm5-80gb", 2, "$60k, the same days as 4 x A100"),
    ("h100-sxm5-80gb", 8, "$250k, 4 days"),
    ("rtx-3090", 8, "the choice for $40k: 30 days"),
)
"""The machines of section 4.1, and what the paper says of them for Pythia 1B."""


def _machines(reader: Reader) -> list[Finding]:
    snapshot = take_snapshot(reader)
    candidates = make_candidates(reader, snapshot, CandidatesKey("pythia-1b", "paper", "published"))
    rows = {
        (row.build.gpu.gpu_id, row.build.gpu_count): row
        for row in rank(candidates, Question()).rows()
    }
    found = []
    for gpu_id, count, says in _MACHINES:
        row = rows[gpu_id, count]
        verdict, run_usd = row.time.verdict or "unchecked", row.experiment_cost_usd
        assert run_usd is not None  # no electricity is counted
        found.append(
            Finding(
                f"Pythia 1B on {count} x {row.build.gpu.name}: cost, days, per experiment",
                f"{usd_whole(row.overall_cost_usd)}, "
                f"{days_exact(row.training_days)} days, {usd_whole(run_usd)}",
                says,
                f"paper's prices, published time at face value, 5 years; the time is {verdict}",
                command=f'advisor rank --model pythia-1b --gpus "{row.build.gpu.name}" '
                f"--budget {row.overall_cost_usd:.0f} --prices paper --evidence published",
            )
        )
    return found


def _memory_saving() -> list[Finding]:
    """Figures 4 and 5, from two spaces that we measured whole: the paper prints no table."""
    spaces: dict[int, dict[tuple[str, str, str], float]] = {}
    file = Path(__file__).with_name("all_settings_timed.csv")
    with file.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    for row in rows:
        settings = (row["activation_checkpointing"], row["sharding"], row["offloading"])
        spaces.setdefault(int(row["gpu_count"]), {})[settings] = float(row["step_s"])
    one, two = spaces[1], spaces[2]
    plain = ("no", "", "no")
    saving = [step_s for settings, step_s in two.items() if settings != plain]
    best, middle, worst = min(two.values()), median(two.values()), max(two.values())
    where = (
        f"step times of all {len(two)} combinations on 2 x H200, a short Pythia 70M; the paper "
        "prints no table for its own"
    )
    command = "advisor bench --model pythia-70m --gpus 2 --methods all --search exhaustive"
    return [
        Finding(
            "memory-saving methods beside free lunch alone, on 2 GPUs",
            f"{1 - min(saving) / two[plain]:.0%} shorter",
            "up to 71 % shorter",
            f"{where}. The gain is larger where memory is short",
            command=command,
        ),
        Finding(
            "the best combination against the median, the worst, and the median against "
            "free lunch alone",
            f"{middle / best:.1f}x, {worst / best:.1f}x, {middle / two[plain]:.1f}x",
            "2.3x, 4.7x, 1.7x",
            where,
            command=command,
        ),
        Finding(
            "memory-saving methods on 1 GPU",
            f"{min(t for s, t in one.items() if s != plain) / one[plain]:.2f}x the time",
            "all are detrimental",
            f"the best of {len(one) - 1} combinations on 1 x H200 against free lunch alone, a "
            "short Pythia 70M",
            command="advisor bench --model pythia-70m --methods all --search exhaustive",
        ),
    ]


def _audited(feasible: Sequence[TrainingTime]) -> Finding:
    counts = Counter(time.verdict for time in feasible)
    return Finding(
        "times of Table 1 that the hardware cannot or hardly reach",
        f"{counts['implausible']} implausible, {counts['doubtful']} doubtful of {len(feasible)}",
        "not examined",
        "implied MFU above 100 % and above 75 %, at the slow end of the rounding, with the "
        "lowest defensible FLOP count (causal attention halved)",
    )


def findings_text(found: Sequence[Finding], width: int) -> str:
    """What does not stand first, then each conclusion with both figures and how it was computed."""
    wrong = [each.finding.partition(":")[0] for each in found if each.how.endswith("implausible")]
    head = f"No hardware reaches the paper's times of {' and '.join(wrong)}. " if wrong else ""
    head += f"Below are {len(found)} figures of the paper, each with our own and a command that "
    blocks = [fill(f"{head}shows more.".replace(" x ", " × "), width)]
    for each in found:
        here = f"here {each.recomputed}; the paper: {each.paper_says}"
        lines = [
            fill(f"{each.finding[:1].upper()}{each.finding[1:]}", width),
            fill(here, width, initial_indent="  ", subsequent_indent="    "),
            fill(each.how, width, initial_indent="  ", subsequent_indent="  "),
        ]
        blocks.append("\n".join(lines).replace(" x ", " × ") + f"\n  {each.command}")
    return "\n\n".join(blocks)
