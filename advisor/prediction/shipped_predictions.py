"""The fit that ships with the program, and what it predicts for the shipped recipes and GPUs.

`python -m tools.fit.refit` fits the evidence again. Making a store only reads the fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from advisor.prediction.distance import nearness
from advisor.prediction.fitted import Fitted, Piece, known_models
from advisor.prediction.model.workload import Workload, sized, workload_of
from advisor.prediction.physics.chip import chip_of, gpu_type
from advisor.prediction.physics.memory import (
    ANY,
    HOST_GIB_A_GPU,
    Option,
    Software,
    Wanted,
    host_gib_needed,
)
from advisor.prediction.predict_many import (
    FUSED_ATTENTION,
    OwnTime,
    WrittenOut,
    other_software,
    settings_of,
    written_out,
)
from advisor.ranking.audit import audit_time
from advisor.ranking.fabric import Link
from bench_runner.recipe_flops import count_flops
from bench_runner.recipes import Recipe, load_recipes
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings.paper_space import accumulation_steps, even_batch
from bench_runner.settings.settings_tried import most_promising
from price_catalog.builds import GPU_COUNTS
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import Gpu, Source

FITTED = Path(__file__).with_name("fitted.json")
SOURCE_ID = "prediction"
SETTINGS = tuple(field.name for field in fields(Settings))
MOST_HOST_GIB = 4096.0
"""Host memory a GPU that is more than any machine has."""
GAIN = 0.98
"""A host with more memory must save at least 2 % of the days to be listed."""
Cell = tuple[str, str, int]
"""Recipe, GPU, number of GPUs."""
OTHER = ("other_software_days", "other_software_days_low", "other_software_days_high")
OTHER_FAMILY = 1.0
OTHER_GPU = 2.0
FOREIGN = {"own": 0.0, "others": 0.3}
"""How far a piece is, where a factor of 4 in parameters is 1: enough to choose the nearest by.
A judgement; nothing is computed from it."""


@cache
def shipped_fit() -> Fitted:
    """The fit in fitted.json."""
    import msgspec  # what ranks loads none of it

    return msgspec.json.decode(FITTED.read_bytes(), type=Fitted)


def prediction_source(fitted: Fitted) -> Source:
    """Who says so: this program."""
    return Source(
        source_id=SOURCE_ID,
        title=f"This program's prediction, version {fitted.version}",
        url=None,
        how_measured=f"Not measured. Physics fitted to {fitted.observations} measured times, each "
        "source with its own bias; stands for a synchronised training run. The interval is meant "
        "to hold 90 % of such times; docs/prediction.md says how many it held.",
        licence=None,
        published_on=None,
    )


_kept: tuple[tuple[Any, ...], list[dict[str, Any]]] | None = None


def shipped_rows(
    recipes: Sequence[Recipe], gpus: Sequence[Gpu], published: Iterable[Measurement]
) -> list[dict[str, Any]]:
    """The `predicted_rows` of the shipped fit, with what was published.

    Each record, model and machine of a user's own asks for them again, and they take most of the
    time that it then takes: what was last asked, and its answer, are kept.
    """
    global _kept
    fitted, measured = shipped_fit(), own_cells(published, gpus)
    asked = (fitted, [*recipes], [*gpus], measured)
    kept = _kept
    if kept is None or kept[0] != asked:
        kept = _kept = (asked, predicted_rows(fitted, recipes, gpus, measured=measured))
    return [dict(row) for row in kept[1]]


def predicted_rows(
    fitted: Fitted,
    recipes: Sequence[Recipe],
    gpus: Sequence[Gpu],
    sizes: Mapping[str, int | None] | None = None,
    counts: Sequence[int] = GPU_COUNTS,
    measured: Mapping[Cell, OwnTime] | None = None,
    gains_by: Fitted | None = None,
    software: Software = "ours",
    machines: int = 1,
    link: Link | None = None,
    briefly: bool = False,
) -> list[dict[str, Any]]:
    """One row for every recipe on each count of every GPU; no row where nothing is promised.

    Times are of a synchronised run of our own stack with the settings that the program writes out;
    each with what the paper's settings take. ``sizes`` are the parameters of recipes of which
    only the size is known; ``measured`` is what our own stack took with the paper's settings: there
    the time is the measured one, less what the further settings gain by ``gains_by``, the fit that
    the user's records did not move: one that took as long as was estimated changes nothing, and a
    slower one never makes the estimate faster. A row with
    ``host_memory_gib`` is for hosts of at least so much memory, where that is more than is assumed
    of any and the model fits by it, or trains faster. Others' ``software`` has rows of its own;
    ``link`` joins ``machines`` of each count. ``briefly`` leaves out other people's software and
    hosts with more memory.
    """
    import numpy as np

    pairs = [
        (r, g, count * machines)
        for r in range(len(recipes))
        for g in range(len(gpus))
        for count in counts
    ]
    which, chips, numbers = (np.array(column) for column in zip(*pairs, strict=True))
    shapes = [workload_of(recipe) for recipe in recipes]
    workloads = [sized(shape, (sizes or {}).get(shape.workload_id)) for shape in shapes]
    made = [chip_of(gpu) for gpu in gpus]
    ground = rests_on(fitted, workloads, [gpu_type(chip) for chip in made], counts)
    counts_of = [count_flops(recipe) for recipe in recipes]
    flops = [
        float(count.flops_lowest) * (workload.flops / count.flops_full)
        for count, workload in zip(counts_of, workloads, strict=True)
    ]
    own = ", your own records counted in" if fitted.own_observations else ""

    ids = [(recipes[r].recipe_id, gpus[g].gpu_id, count) for r, g, count in pairs]
    joint = None if link is None else (machines, link)
    timed = np.array([i for i, cell in enumerate(ids) if measured and cell in measured], dtype=int)
    kernels = [most_promising(recipe) for recipe in recipes]

    def predicted(wanted: Wanted) -> tuple[WrittenOut, Mapping[int, float]]:
        """With the share of the days with the paper's settings that the further ones take, of
        what was measured."""
        every = (workloads, made, which, chips, numbers, fitted)
        asked = written_out(*every, wanted, joint, software=software)
        if not len(timed):
            return asked, {}
        few = which[timed], chips[timed], numbers[timed]
        shares = written_out(workloads, made, *few, gains_by or fitted, wanted).gains()
        return asked, dict(zip(timed.tolist(), shares.tolist(), strict=True))

    @cache
    def settings(r: int, option: Option, micro: int, steps: int) -> Mapping[str, Any]:
        found = settings_of(option, micro, steps, kernels[r])
        return {name: getattr(found, name) for name in SETTINGS}

    def row_of(i: int, asked: WrittenOut, gains: Mapping[int, float]) -> dict[str, Any] | None:
        r, g, count = pairs[i]
        many, plain = asked.fastest, asked.paper
        row: dict[str, Any] = {
            "recipe_id": recipes[r].recipe_id,
            "gpu_id": gpus[g].gpu_id,
            "gpu_count": count,
            "source_id": SOURCE_ID,
            "host_memory_gib": 0.0,
        }
        if not many.fits[i]:
            row["status"] = "infeasible"
            row["reason"] = "predicted not to fit with any of the settings (not tried)"
            return row
        days, low, high = (float(c[i]) for c in (many.days, many.low_days, many.high_days))
        if math.isnan(days):  # too far from the evidence, or a rate is not known
            return None
        option, micro = many.options[many.option[i]], int(many.micro_batch_size[i])
        batch = even_batch(recipes[r].training.batch_size, count)
        steps = accumulation_steps(batch, count, micro)
        factor = float(many.comparison_factor[i])
        paper: list[float | None] = [None] * 3
        if plain is not None:
            paper = [_known(c[i]) for c in (plain.days, plain.low_days, plain.high_days)]
        other = [_known(column[i]) for column in others]
        if measured and plain is not None and i in gains and plain.fits[i]:
            own_time = measured[ids[i]]
            with_paper = plain.options[plain.option[i]].settings(micro, steps)
            days, half = own_time.corrected(days, high, with_paper, gains[i], workloads[r].family)
            low, high = days / math.exp(half), days * math.exp(half)
            factor = min(factor, math.exp(half))
            paper = [_round(own_time.days)] * 3
        pieces, nearest = ground[r][g]
        audit = audit_time(
            gpu=gpus[g],
            gpu_count=count,
            precision=recipes[r].training.precision,
            naive=False,
            flops=flops[r] - (workloads[r].unlabelled_flops if option.lean else 0.0),
            training_days=_round(days),
            training_days_high=None,
        )
        if audit.verdict == "implausible":
            return None
        return row | {
            "status": "ok",
            "reason": f"predicted, {nearness(many.distance[i])}{own}",
            **settings(r, option, micro, steps),
            **(FUSED_ATTENTION if asked.fused[i] else {}),
            "training_days": _round(days),
            "training_days_low": _round(low),
            "training_days_high": _round(high),
            "comparison_factor": _round(factor),
            "peak_memory_gib": float(f"{many.memory_gib[i]:.3g}"),
            "paper_settings_days": paper[0],
            "paper_settings_days_low": paper[1],
            "paper_settings_days_high": paper[2],
            **dict(zip(OTHER, other, strict=True)),
            "evidence_pieces": pieces,
            "evidence_nearest": nearest[list(counts).index(count // machines)],
            "implied_mfu": None if audit.implied_mfu is None else _round(audit.implied_mfu),
            "verdict": audit.verdict,
            "verdict_reason": audit.reason,
        }

    others = (np.full(len(pairs), np.nan),) * 3
    if not briefly and software == "ours":
        others = other_software(workloads, made, which, chips, numbers, fitted, network=joint)
    usual, gains = predicted(ANY)
    rows = [row for i in range(len(pairs)) if (row := row_of(i, usual, gains)) is not None]
    if briefly:
        return rows
    roomy, gains = predicted(Wanted(host_gib=MOST_HOST_GIB))
    few, more = usual.fastest, roomy.fastest
    for i, (r, _, count) in enumerate(pairs):
        if not more.fits[i] or (few.fits[i] and not more.days[i] < GAIN * few.days[i]):
            continue
        half_precision = recipes[r].training.precision != "fp32"
        option = more.options[more.option[i]]
        needed = host_gib_needed(option, workloads[r].parameters, count, half=half_precision)
        larger = row_of(i, roomy, gains)
        if larger is not None and needed > HOST_GIB_A_GPU * count:
            rows.append(larger | {"host_memory_gib": float(math.ceil(needed))})
    return rows


def rests_on(
    fitted: Fitted, workloads: Sequence[Workload], gpus: Sequence[str], counts: Sequence[int]
) -> list[list[tuple[int, list[str | None]]]]:
    """For each model on each type of GPU how many cells of the evidence have one of the two, and
    for each number of them the nearest, as a person calls it: ``Pythia 1B on 4 × H200``."""
    import numpy as np

    if not fitted.pieces:
        return [[(0, [None] * len(counts)) for _ in gpus] for _ in workloads]
    known = known_models(fitted)
    # Of those that are equally near the first counts.
    pieces = sorted(fitted.pieces, key=lambda p: (p.model, p.gpu, p.count))
    words = [_words(piece) for piece in pieces]
    models, families = (np.array([getattr(p, n) for p in pieces]) for n in ("model", "family"))
    parameters = np.array([p.parameters for p in pieces], dtype=float)
    foreign = np.array([FOREIGN[p.by] for p in pieces])
    here = np.array([[p.gpu == gpu for p in pieces] for gpu in gpus])
    elsewhere = np.where(here, 0.0, OTHER_GPU)
    numbers = np.array([p.count for p in pieces])
    doublings = 0.1 * np.abs(np.log2(numbers / np.array(counts)[:, None]))
    found = []
    for workload in workloads:
        name = workload.workload_id
        alike = known.get(workload.alike, name)
        same = (models == name) | (models == alike)
        size = np.abs(np.log(parameters / workload.parameters) / math.log(4.0))
        apart = foreign + np.where(same, 0.0, size)
        apart += np.where(families == workload.family, 0.0, OTHER_FAMILY)
        bearing = here | same
        near = np.where(bearing, apart + elsewhere, math.inf)
        nearest = (near[:, None, :] + doublings).argmin(axis=2).tolist()
        found.append(
            [
                (many, [words[i] if many else None for i in row])
                for many, row in zip(bearing.sum(axis=1).tolist(), nearest, strict=True)
            ]
        )
    return found


def _words(piece: Piece) -> str:
    return f"{_names().get(piece.model, piece.model)} on {piece.count} × {piece.gpu}"


@cache
def _names() -> Mapping[str, str]:
    """What a person calls each recipe that ships; other evidence has its name already."""
    return {recipe.recipe_id: recipe.name for recipe in load_recipes()}


def own_cells(records: Iterable[Measurement], gpus: Sequence[Gpu]) -> dict[Cell, OwnTime]:
    """What synchronised searches of our own stack found with the paper's settings."""
    index = index_gpus(gpus)
    found: dict[Cell, OwnTime] = {}
    for record in records:
        if record.timing != "synchronised" or record.method != "optimal":
            continue
        gpu = index.get(normalise(record.gpu))
        if record.training_days is None or gpu is None:
            continue
        if record.settings is not None and record.settings.loss == "fused":
            continue
        cell = (record.recipe_id, gpu.gpu_id, record.gpu_count)
        if cell not in found or record.training_days < found[cell].days:
            found[cell] = OwnTime(days=record.training_days, settings=record.settings)
    return found


def _known(value: float) -> float | None:
    return None if math.isnan(value) else _round(value)


def _round(value: float) -> float:
    """To four digits: more than they are good for, and the same on every processor."""
    return float(f"{value:.4g}")
