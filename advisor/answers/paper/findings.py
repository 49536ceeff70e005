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
from price_catalog.model import Gpu

PAPER_SOURCES = frozenset({"paper-table1", "paper-table4", "paper-figure6"})
_PAPER_H100_PEAK = "h100-pcie-80gb"
"""Figure 9b gives the H100 the PCIe card's peak, though the cluster held SXM parts."""

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
        *_analytic_optimism(reader, naive),
        *_memory_saving(),
        *_compute_saved(times, optimal, {m.recipe_id: m.name for m in reader.models()}),
        *_machines(reader),
        *_owning_against_renting(reader),
        _audited([time for time in optimal.values() if time.status == "ok"]),
    ]


def _is_pythia(cell: Cell) -> bool:
    return cell[0].startswith("pythia-")


def _days(time: TrainingTime | None) -> float | None:
    return time.training_days if time is not None and time.status == "ok" else None


def _pythia(naive: Cells, optimal: Cells) -> list[Finding]:
    """How much faster the optimal settings are, and what does not fit with either."""
    pairs = [
        (naive[cell], optimal[cell])
        for cell in filter(_is_pythia, naive)
        if _days(naive[cell]) and _days(optimal.get(cell))
    ]
    mean, least, most = (
        fmean((getattr(slow, a) or 0) / (getattr(fast, b) or 1) for slow, fast in pairs)
        for a, b in (
            ("training_days", "training_days"),
            ("training_days_low", "training_days_high"),
            ("training_days_high", "training_days_low"),
        )
    )
    cell = ("pythia-1b", "a100-sxm4-80gb", 4)
    slow, fast = _days(naive[cell]), _days(optimal[cell])
    assert slow and fast
    found = [
        Finding(
            "mean speed-up of optimal over naive settings, Pythia",
            f"{mean:.1f}x",
            "4.3x",
            f"mean of naive / optimal days over the {len(pairs)} cells where naive fits; the days "
            f"are printed whole, which allows {least:.1f}x to {most:.1f}x",
        ),
        Finding(
            "Pythia 1B on 4 x A100: days with naive and with optimal settings",
            f"{days_exact(slow)} and {days_exact(fast)}",
            "41 and 18",
            f"{fast * 4:.0f} GPU-days where the original took 192 (64 GPUs for 3 days)",
        ),
    ]
    for cells, method, says in ((naive, "naive", "9 of 20"), (optimal, "optimal", "0 of 20")):
        asked = {cell[:2] for cell in cells if _is_pythia(cell)}
        feasible = {c[:2] for c in cells if _is_pythia(c) and c[2] > 1 and _days(cells[c])}
        found.append(
            Finding(
                f"Pythia on more than one GPU: infeasible with {method} settings",
                f"{len(asked - feasible)} of {len(asked)}",
                says,
                "pairs of model and GPU type that fit on none of 2, 4 and 8 GPUs",
            )
        )
    return found


def _analytic_optimism(reader: Reader, naive: Cells) -> list[Finding]:
    gpus = {gpu.gpu_id: gpu for gpu in reader.gpus()}
    models = {model.recipe_id: model for model in reader.models()}

    def optimism(peaks: dict[str, Gpu]) -> str:
        ratios = []
        for cell in filter(_is_pythia, naive):
            days, model = _days(naive[cell]), models[cell[0]]
            peak = dense_peak(peaks[cell[1]], model.precision, naive=True).tflops
            if days and peak:
                rate = cell[2] * peak * 1e12 * SECONDS_PER_DAY
                ratios.append(days * rate / model.flops_full)
        return f"{fmean(ratios):.1f}x"

    return [
        Finding(
            "the analytic estimate is optimistic, against naive settings, Pythia",
            optimism(gpus),
            "6x",
            "mean of naive days x dense peak / FLOPs (attention counted in full), "
            "with the SXM peak of the H100 that was measured",
        ),
        Finding(
            "the same with the H100's PCIe peak, as Figure 9b has it",
            optimism({**gpus, "h100-sxm5-80gb": gpus[_PAPER_H100_PEAK]}),
            "6x",
            "the same mean",
        ),
    ]


def _compute_saved(
    times: list[TrainingTime], optimal: Cells, names: dict[str, str]
) -> list[Finding]:
    saved = {}
    for time in times:
        ours = _days(optimal.get((time.recipe_id, "a100-sxm4-80gb", 8)))
        if time.method == "original" and time.training_days and ours:
            saved[names[time.recipe_id]] = time.training_days * time.gpu_count / (ours * 8)
    if not saved:
        return []
    each = ", ".join(f"{model} {ratio:.1f}x" for model, ratio in sorted(saved.items()))
    return [
        Finding(
            "compute saved against the original training (Figure 6)",
            f"{fmean(saved.values()):.1f}x",
            "3.0x",
            f"mean of original GPU-days / GPU-days on 8 A100 over {len(saved)} models, the "
            f"original devices counted one for one, ViT's TPU cores too: {each}",
        )
    ]


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
        row = rows.get((gpu_id, count))
        if row is None:
            continue
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


def _owning_against_renting(reader: Reader) -> list[Finding]:
    offers = [
        rental
        for rental in reader.rentals(["a100-sxm4-80gb"])
        if (rental.provider, rental.kind, rental.gpu_count) == ("aws", "reserved", 8)
        and rental.source_id != "paper-section2"
    ]
    if not offers:
        return []
    newest = max(offers, key=lambda rental: rental.priced_on)
    five_years = newest.price_per_hour_usd * 5 * 8760
    return [
        Finding(
            "reserving 8 x A100 80 GB on AWS (p4de.24xlarge) for five years",
            usd_whole(five_years),
            "about $650k, and less than $200k to own",
            f"the reserved rate of {newest.priced_on:%B %Y} x 43,800 hours; the paper's parts "
            "add up to $162,500",
            command="advisor prices rent --model pythia-1b --gpu A100 --count 8",
        )
    ]


def _memory_saving() -> list[Finding]:
    """Figures 4 and 5, from two spaces that we measured whole: the paper prints no table."""
    spaces: dict[int, dict[tuple[str, str, str], float]] = {}
    with Path(__file__).with_name("whole_spaces.csv").open(newline="", encoding="utf-8") as lines:
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
    refuted = [
        each.finding.partition(":")[0] for each in found if each.how.endswith("is implausible")
    ]
    head = f"{len(found)} conclusions of the paper, each with what it comes to here."
    if refuted:
        head = (
            f"No hardware reaches the paper's times of {' and '.join(refuted)}. Below are "
            f"{len(found)} figures of the paper, each with our own and a command that shows more."
        )
    blocks = [fill(head.replace(" x ", " × "), width)]
    for each in found:
        lines = [
            fill(f"{each.finding[:1].upper()}{each.finding[1:]}", width),
            fill(
                f"here {each.recomputed}; the paper: {each.paper_says}",
                width,
                initial_indent="  ",
                subsequent_indent="    ",
            ),
            fill(each.how, width, initial_indent="  ", subsequent_indent="  "),
        ]
        blocks.append("\n".join(lines).replace(" x ", " × ") + f"\n  {each.command}")
    return "\n\n".join(blocks)
