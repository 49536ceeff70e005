"""The fit that ships with the program, and what it predicts for the shipped recipes and GPUs.

`python -m tools.fit.refit` fits the evidence again. Making a store only reads the fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
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
    Software,
    Wanted,
    host_gib_needed,
)
from advisor.prediction.predict_many import (
    Asked,
    Days,
    OwnTime,
    WrittenOut,
    days_of,
    other_software,
    written_out,
)
from advisor.ranking.audit import audit_time
from advisor.ranking.fabric import Link
from bench_runner.recipe_flops import count_flops
from bench_runner.recipes import Recipe, load_recipes
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings.exact_settings import most_promising
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
PLACE = ("recipe_id", "gpu_id", "gpu_count")
"""What a cell names."""
Begun = Mapping[int, tuple[OwnTime, float]]
"""By pair: what our own stack took with the paper's settings, and the share of it that the fastest
take."""
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


def shipped_rows(
    recipes: Sequence[Recipe], gpus: Sequence[Gpu], published: Iterable[Measurement]
) -> list[dict[str, Any]]:
    """The `predicted_rows` of the shipped fit, with what was published."""
    return predicted_rows(shipped_fit(), recipes, gpus, measured=own_cells(published, gpus))


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
    workloads = [sized(workload_of(r), (sizes or {}).get(r.recipe_id)) for r in recipes]
    made = [chip_of(gpu) for gpu in gpus]
    ground = rests_on(fitted, workloads, [gpu_type(chip) for chip in made], counts)
    counts_of = [count_flops(recipe) for recipe in recipes]
    flops = [
        float(count.flops_lowest) * (workload.flops / count.flops_full)
        for count, workload in zip(counts_of, workloads, strict=True)
    ]
    own = ", your own records counted in" if fitted.own_observations else ""

    asked = Asked(
        *(workloads, made, which, chips, numbers, fitted),
        software=software,
        network=None if link is None else (machines, link),
    )
    places = [(recipes[r].recipe_id, gpus[g].gpu_id, count) for r, g, count in pairs]
    timed = [i for i, place in enumerate(places) if measured and place in measured]
    kernels = [most_promising(recipe) for recipe in recipes]

    def predicted(wanted: Wanted) -> tuple[WrittenOut, Begun]:
        """With what was measured, and what of it the further settings take."""
        told = replace(asked, wanted=wanted)
        if not measured or not timed:
            return written_out(told), {}
        few = told.among(np.array(timed), fitted=gains_by or fitted)
        gains = zip(timed, written_out(few).gains().tolist(), strict=True)
        return written_out(told), {i: (measured[places[i]], gain) for i, gain in gains}

    def row_of(i: int, found: WrittenOut, begun: Begun) -> dict[str, Any] | None:
        r, g, count = pairs[i]
        many, settings = found.fastest, found.settings(i, kernels[r])
        row: dict[str, Any] = dict(zip(PLACE, places[i], strict=True))
        row |= {"source_id": SOURCE_ID, "host_memory_gib": 0.0}
        if settings is None:
            row["status"] = "infeasible"
            row["reason"] = "predicted not to fit with any of the settings (not tried)"
            return row
        days, paper = found.told(i, begun.get(i))
        if days[0] is None or days[2] is None:  # too far from the evidence, or a rate is not known
            return None
        factor = min(float(many.comparison_factor[i]), days[2] / days[0])
        pieces, nearest = ground[r][g]
        lean = many.options[many.option[i]].lean
        audit = audit_time(
            gpu=gpus[g],
            gpu_count=count,
            precision=recipes[r].training.precision,
            naive=False,
            flops=flops[r] - (workloads[r].unlabelled_flops if lean else 0.0),
            training_days=_round(days[0]),
            training_days_high=None,
        )
        if audit.verdict == "implausible":
            return None
        return row | {
            "status": "ok",
            "reason": f"predicted, {nearness(many.distance[i])}{own}",
            **{name: getattr(settings, name) for name in SETTINGS},
            **_rounded("training_days", days),
            "comparison_factor": _round(factor),
            "peak_memory_gib": float(f"{many.memory_gib[i]:.3g}"),
            **_rounded("paper_settings_days", paper),
            **_rounded("other_software_days", days_of(*others, i=i)),
            "evidence_pieces": pieces,
            "evidence_nearest": nearest[list(counts).index(count // machines)],
            "implied_mfu": _round(audit.implied_mfu),
            "verdict": audit.verdict,
            "verdict_reason": audit.reason,
        }

    others = (np.full(len(pairs), np.nan),) * 3
    if not briefly and software == "ours":
        others = other_software(asked)
    usual, begun = predicted(ANY)
    rows = [row for i in range(len(pairs)) if (row := row_of(i, usual, begun)) is not None]
    if briefly:
        return rows
    roomy, begun = predicted(Wanted(host_gib=MOST_HOST_GIB))
    few, more = usual.fastest, roomy.fastest
    saves = more.fits & (~few.fits | (more.days < GAIN * few.days))
    for i in np.flatnonzero(saves).tolist():
        r, _, count = pairs[i]
        half_precision = recipes[r].training.precision != "fp32"
        option = more.options[more.option[i]]
        needed = host_gib_needed(option, workloads[r].parameters, count, half=half_precision)
        larger = row_of(i, roomy, begun)
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


def _rounded(name: str, days: Days) -> dict[str, float | None]:
    """Days with the ends of their interval, by the names of their columns."""
    return {
        f"{name}{end}": _round(each) for end, each in zip(("", "_low", "_high"), days, strict=True)
    }


def _round(value: float | None) -> Any:
    """To four digits: more than they are good for, and the same on every processor."""
    return None if value is None else float(f"{value:.4g}")
