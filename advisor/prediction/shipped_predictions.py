"""The fit that ships with the program, and what it predicts for the shipped recipes and GPUs.

`python -m advisor.prediction.fit.refit` makes the fit anew. Making a store only reads it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.prediction.distance import FARTHEST
from advisor.prediction.fitted import Fitted, known_models
from advisor.prediction.model.workload import sized, workload_of
from advisor.prediction.physics.chip import chip_of, gpu_type
from advisor.prediction.physics.memory import ANY, HOST_GIB_A_GPU, Wanted, host_gib_needed
from advisor.prediction.rests_on import rests_on
from advisor.prediction.written_out import WrittenOut, settings_of, written_out
from advisor.ranking.audit import audit_time
from advisor.ranking.times import SAME_CLOCK
from bench_runner.flops import count_flops
from bench_runner.recipes import TEXT_FAMILIES, Recipe
from bench_runner.records import Measurement, Settings
from bench_runner.space import accumulation_steps, even_batch
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
    known = known_models(fitted)
    ground = {
        (r, g): rests_on(fitted, workloads[r], gpu_type(made[g]), counts, known)
        for r in range(len(recipes))
        for g in range(len(gpus))
    }
    flops = [
        float(count_flops(recipe).flops_lowest) * (workload.parameters / shape.parameters)
        for recipe, workload, shape in zip(recipes, workloads, shapes, strict=True)
    ]
    own = ", your own records counted in" if fitted.own_observations else ""

    def predicted(wanted: Wanted, by: Fitted = fitted) -> WrittenOut:
        return written_out(workloads, made, which, chips, numbers, by, wanted)

    def gain(i: int, asked: WrittenOut) -> float:
        """Which share of the days with the paper's settings the further ones take."""
        many, place, _ = asked.best(i)
        return float(np.fmin(many.days[place] / asked.paper.days[i], 1.0))

    def row_of(i: int, asked: WrittenOut, gained: WrittenOut) -> dict[str, Any] | None:
        r, g, count = pairs[i]
        plain = asked.paper
        many, place, further = asked.best(i)
        fits, days = bool(many.fits[place]), float(many.days[place])
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
        option = many.options[int(many.option[place])]
        micro = int(many.micro_batch_size[place])
        batch = even_batch(recipes[r].training.batch_size, count)
        steps = accumulation_steps(batch, count, micro)
        low, high = float(many.low_days[place]), float(many.high_days[place])
        paper: list[float | None] = [
            None if math.isnan(column[i]) else _round(float(column[i]))
            for column in (plain.days, plain.low_days, plain.high_days)
        ]
        factor = float(many.comparison_factor[place])
        cell = (recipes[r].recipe_id, gpus[g].gpu_id, count)
        if measured and cell in measured and plain.fits[i]:
            own_time, share = measured[cell], gain(i, gained)
            with_paper = plain.options[int(plain.option[i])].settings(micro, steps)
            half = math.log(high / days)
            if own_time.carries(with_paper, share):
                half = own_half_width(days, high, workloads[r].family)
                factor = min(factor, math.exp(half))
            days = own_time.estimate(days, with_paper, share)
            low, high = days / math.exp(half), days * math.exp(half)
            paper = [_round(own_time.days)] * 3
        rests = ground[r, g][list(counts).index(count)]
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
        settings = settings_of(option, micro, steps, recipes[r])
        return row | {
            "status": "ok",
            "reason": f"predicted, {_near(float(many.distance[place]))}{own}",
            **{name: getattr(settings, name) for name in SETTINGS},
            **further,
            "training_days": _round(days),
            "training_days_low": _round(low),
            "training_days_high": _round(high),
            "comparison_factor": _round(factor),
            "paper_settings_days": paper[0],
            "paper_settings_days_low": paper[1],
            "paper_settings_days_high": paper[2],
            "other_software_days_low": _round(float(many.foreign_low_days[place])),
            "other_software_days_high": _round(float(many.foreign_high_days[place])),
            "evidence_pieces": rests.pieces,
            "evidence_nearest": rests.nearest,
            "implied_mfu": None if audit.implied_mfu is None else _round(audit.implied_mfu),
            "verdict": audit.verdict,
            "verdict_reason": audit.reason,
        }

    usual = predicted(ANY)
    gained = predicted(ANY, gains_by) if measured and gains_by else usual
    rows = [row for i in range(len(pairs)) if (row := row_of(i, usual, gained)) is not None]
    large = Wanted(host_gib=MOST_HOST_GIB)
    more = predicted(large)
    gained = predicted(large, gains_by) if measured and gains_by else more
    for i in range(len(pairs)):
        many, place, _ = more.best(i)
        few, there, _ = usual.best(i)
        if not many.fits[place]:
            continue
        if few.fits[there] and not many.days[place] < GAIN * few.days[there]:
            continue
        r, _, count = pairs[i]
        option = many.options[int(many.option[place])]
        half_precision = recipes[r].training.precision != "fp32"
        needed = host_gib_needed(option, workloads[r].parameters, half=half_precision)
        larger = row_of(i, more, gained)
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
