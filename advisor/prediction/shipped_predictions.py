"""The fit that ships with the program, and what it predicts for the shipped recipes and GPUs.

`python -m tools.fit.refit` makes the fit anew. Making a store only reads it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.prediction.distance import FARTHEST
from advisor.prediction.fitted import Fitted
from advisor.prediction.model.workload import sized, workload_of
from advisor.prediction.physics.chip import chip_of, gpu_type
from advisor.prediction.physics.memory import ANY, HOST_GIB_A_GPU, Option, Wanted, host_gib_needed
from advisor.prediction.rests_on import rests_on
from advisor.prediction.written_out import FUSED_ATTENTION, WrittenOut, settings_of, written_out
from advisor.ranking.audit import audit_time
from advisor.ranking.times import SAME_CLOCK
from bench_runner.recipe_flops import count_flops
from bench_runner.recipes import TEXT_FAMILIES, Recipe
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings.kernels import most_promising
from bench_runner.settings.space import accumulation_steps, even_batch
from price_catalog.builds import GPU_COUNTS
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import Gpu, Source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FITTED = Path(__file__).with_name("fitted.json")
SOURCE_ID = "prediction"
SETTINGS = tuple(field.name for field in fields(Settings))
MOST_HOST_GIB = 4096.0
"""Host memory a GPU that is more than any machine has."""
GAIN = 0.98
"""Which share of the days a host with more memory must save before it is told."""
Cell = tuple[str, str, int]
"""Recipe, GPU, number of GPUs."""
OWN_HALF_WIDTH = math.log(1.12)
"""Half of the interval where the very machine was measured with the paper's settings: what the
further settings gain is all that is estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTime:
    """What a synchronised search of our own stack found with the paper's settings."""

    days: float
    settings: Settings | None

    def carries(self, paper: Settings, gain: float) -> bool:
        """Whether by how much it differs from what is predicted with the paper's settings, which
        would be ``paper``, tells of the further ones, which take ``gain`` of the days.

        What offloading or computing twice cost is no measure of a prediction without: a search
        that found others faster than ``paper`` says nothing of how fast these are.
        """
        mine = self.settings
        if mine is None or gain > 1.0 - SAME_CLOCK:
            return True
        return (mine.offloading, mine.activation_checkpointing) == (
            paper.offloading,
            paper.activation_checkpointing,
        )

    def estimate(self, days: float, paper: Settings, gain: float) -> float:
        """Days with the further settings, of which the physics says ``days``: what was measured
        less what they gain, else what is predicted and no more than was measured."""
        return self.days * gain if self.carries(paper, gain) else min(days, self.days)


def own_half_width(days: float, high: float, family: str) -> float:
    """Half of the interval beside such a time, as a logarithm."""
    half = math.log(high / days) if family in TEXT_FAMILIES else 0.0
    return min(half, OWN_HALF_WIDTH)


def shipped_fit() -> Fitted:
    """The fit in fitted.json."""
    return Fitted.from_json(FITTED.read_text(encoding="utf-8"))


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
    """The `predicted_rows` of the shipped fit beside what was published.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """The fastest of each pair in Python's own numbers, which thousands of rows are made of one by
    one."""

    fits: Sequence[bool]
    days: Sequence[float]
    low_days: Sequence[float]
    high_days: Sequence[float]
    foreign_low_days: Sequence[float]
    foreign_high_days: Sequence[float]
    distance: Sequence[float]
    comparison_factor: Sequence[float]
    micro_batch_size: Sequence[int]
    option: Sequence[Option]
    fused: Sequence[bool]
    """Where it needs FUSED_ATTENTION."""
    paper_days: Sequence[tuple[float, float, float]]
    """With the paper's settings: the days and their interval."""
    paper_option: Sequence[Option | None]
    """None where nothing fits with these."""
    gain: Mapping[int, float]
    """Which share of the days with the paper's settings the further ones take, of what was
    measured."""

    @classmethod
    def of(cls, asked: WrittenOut, gain: Mapping[int, float]) -> _Told:
        many, fused = asked.fastest()
        plain = asked.paper
        days = (plain.days.tolist(), plain.low_days.tolist(), plain.high_days.tolist())
        return cls(
            fits=many.fits.tolist(),
            days=many.days.tolist(),
            low_days=many.low_days.tolist(),
            high_days=many.high_days.tolist(),
            foreign_low_days=many.foreign_low_days.tolist(),
            foreign_high_days=many.foreign_high_days.tolist(),
            distance=many.distance.tolist(),
            comparison_factor=many.comparison_factor.tolist(),
            micro_batch_size=many.micro_batch_size.astype(int).tolist(),
            option=[many.options[i] for i in many.option.tolist()],
            fused=fused.tolist(),
            paper_days=list(zip(*days, strict=True)),
            paper_option=[None if i < 0 else plain.options[i] for i in plain.option.tolist()],
            gain=gain,
        )


def predicted_rows(
    fitted: Fitted,
    recipes: Sequence[Recipe],
    gpus: Sequence[Gpu],
    sizes: Mapping[str, int | None] | None = None,
    counts: Sequence[int] = GPU_COUNTS,
    measured: Mapping[Cell, OwnTime] | None = None,
    gains_by: Fitted | None = None,
) -> list[dict[str, Any]]:
    """One row for every recipe on each count of every GPU; no row where nothing is promised.

    Times are of a synchronised run of our own stack with the settings that the program writes out;
    beside each the same with the paper's settings. ``sizes`` are the parameters of recipes of which
    only the size is known; ``measured`` is what our own stack took with the paper's settings: there
    the time is the measured one, less what the further settings gain by ``gains_by``, the fit that
    the user's records did not move: one that took as long as was estimated changes nothing, and a
    slower one never makes the estimate faster. A row with
    ``host_memory_gib`` is for hosts of at least so much memory, where that is more than is assumed
    of any and the model fits by it, or trains faster.
    """
    import numpy as np

    pairs = [
        (r, g, count) for r in range(len(recipes)) for g in range(len(gpus)) for count in counts
    ]
    which, chips, numbers = (np.array(column) for column in zip(*pairs, strict=True))
    shapes = [workload_of(recipe) for recipe in recipes]
    workloads = [sized(shape, (sizes or {}).get(shape.workload_id)) for shape in shapes]
    made = [chip_of(gpu) for gpu in gpus]
    ground = rests_on(fitted, workloads, [gpu_type(chip) for chip in made], counts)
    flops = [
        float(count_flops(recipe).flops_lowest) * (workload.parameters / shape.parameters)
        for recipe, workload, shape in zip(recipes, workloads, shapes, strict=True)
    ]
    own = ", your own records counted in" if fitted.own_observations else ""

    ids = [(recipes[r].recipe_id, gpus[g].gpu_id, count) for r, g, count in pairs]
    timed = np.array([i for i, cell in enumerate(ids) if measured and cell in measured], dtype=int)
    kernels = [most_promising(recipe) for recipe in recipes]

    def predicted(wanted: Wanted) -> _Told:
        asked = written_out(workloads, made, which, chips, numbers, fitted, wanted)
        if not len(timed):
            return _Told.of(asked, {})
        few = which[timed], chips[timed], numbers[timed]
        gaining = written_out(workloads, made, *few, gains_by or fitted, wanted)
        shares = np.fmin(gaining.fastest()[0].days / gaining.paper.days, 1.0)
        return _Told.of(asked, dict(zip(timed.tolist(), shares.tolist(), strict=True)))

    @cache
    def settings(r: int, option: Option, micro: int, steps: int) -> Mapping[str, Any]:
        found = settings_of(option, micro, steps, kernels[r])
        return {name: getattr(found, name) for name in SETTINGS}

    def row_of(i: int, told: _Told) -> dict[str, Any] | None:
        r, g, count = pairs[i]
        fits, days = told.fits[i], told.days[i]
        row: dict[str, Any] = {
            "recipe_id": recipes[r].recipe_id,
            "gpu_id": gpus[g].gpu_id,
            "gpu_count": count,
            "source_id": SOURCE_ID,
            "host_memory_gib": 0.0,
        }
        if not fits:
            row["status"] = "infeasible"
            row["reason"] = "predicted not to fit with any of the settings (not tried)"
            return row
        if math.isnan(days):  # too far from the evidence, or a rate is not known
            return None
        option, micro = told.option[i], told.micro_batch_size[i]
        batch = even_batch(recipes[r].training.batch_size, count)
        steps = accumulation_steps(batch, count, micro)
        low, high, factor = told.low_days[i], told.high_days[i], told.comparison_factor[i]
        paper = [None if math.isnan(each) else _round(each) for each in told.paper_days[i]]
        plain = told.paper_option[i]
        if measured and i in told.gain and plain is not None:
            own_time, share = measured[ids[i]], told.gain[i]
            with_paper = plain.settings(micro, steps)
            half = math.log(high / days)
            if own_time.carries(with_paper, share):
                half = own_half_width(days, high, workloads[r].family)
                factor = min(factor, math.exp(half))
            days = own_time.estimate(days, with_paper, share)
            low, high = days / math.exp(half), days * math.exp(half)
            paper = [_round(own_time.days)] * 3
        rests = ground[r][g][list(counts).index(count)]
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
            "reason": f"predicted, {_near(told.distance[i])}{own}",
            **settings(r, option, micro, steps),
            **(FUSED_ATTENTION if told.fused[i] else {}),
            "training_days": _round(days),
            "training_days_low": _round(low),
            "training_days_high": _round(high),
            "comparison_factor": _round(factor),
            "paper_settings_days": paper[0],
            "paper_settings_days_low": paper[1],
            "paper_settings_days_high": paper[2],
            "other_software_days_low": _round(told.foreign_low_days[i]),
            "other_software_days_high": _round(told.foreign_high_days[i]),
            "evidence_pieces": rests.pieces,
            "evidence_nearest": rests.nearest,
            "implied_mfu": None if audit.implied_mfu is None else _round(audit.implied_mfu),
            "verdict": audit.verdict,
            "verdict_reason": audit.reason,
        }

    usual = predicted(ANY)
    rows = [row for i in range(len(pairs)) if (row := row_of(i, usual)) is not None]
    more = predicted(Wanted(host_gib=MOST_HOST_GIB))
    for i, (r, _, count) in enumerate(pairs):
        if not more.fits[i] or (usual.fits[i] and not more.days[i] < GAIN * usual.days[i]):
            continue
        half_precision = recipes[r].training.precision != "fp32"
        needed = host_gib_needed(more.option[i], workloads[r].parameters, half=half_precision)
        larger = row_of(i, more)
        if larger is not None and needed > HOST_GIB_A_GPU * count:
            rows.append(larger | {"host_memory_gib": float(math.ceil(needed))})
    return rows


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


def _near(distance: float) -> str:
    if distance < 0.01:
        return "between measured models and GPUs"
    return f"{distance:.1f} away from what was measured ({FARTHEST:g} is too far)"


def _round(value: float) -> float:
    """To four digits: more than they are good for, and the same on every processor."""
    return float(f"{value:.4g}")
