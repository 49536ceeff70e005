"""Predictions for many pairs of models and machines in one call (numpy)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.prediction.fitted import (
    KNOWN,
    OWN,
    Fitted,
    chip_coordinates,
    pair_name,
    workload_coordinates,
)
from advisor.prediction.intervals import MOST, half_width
from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip, gpu_type
from advisor.prediction.physics.columns import Columns, WorkloadTable
from advisor.prediction.physics.factors import NAMES
from advisor.prediction.physics.memory import Option, micro_batch, sample_bytes
from advisor.prediction.physics.step_time import (
    options_for,
    traffic_terms,
    work_multiple,
    work_terms,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Flags = NDArray[np.bool_]

SECONDS_PER_DAY = 86_400.0
BLOCK = 8192
"""Pairs that are computed together: few enough for their columns to stay in the cache."""
WIDENING = 0.15
"""Standard deviation (of the logarithm) that a unit of distance adds. A judgement, not a fit: the
evidence cannot say how wrong physics is where nothing was measured."""
FARTHEST = 2.0
"""Distance beyond which there is no prediction."""
UNKNOWN_VENDOR = 10.0
"""Distance of a GPU whose maker's GPUs nobody measured here."""
OLD_CORES = 0.5
"""Distance that tensor cores older than any measured add (Volta and Turing; no BF16)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """Columns, one entry a pair. Where a pair does not fit or a rate is not known, days are NaN."""

    days: Floats
    low_days: Floats
    high_days: Floats
    fits: Flags
    option: Whole
    """Index into ``options`` of the fastest that fits; -1 where none does."""
    options: tuple[Option, ...]
    micro_batch_size: Floats
    distance: Floats
    """From the evidence; beyond FARTHEST there are no days."""
    comparison_factor: Floats
    """At least 1. As `high_days` over `days`, but for the comparison with another prediction for
    the same model: what both share, the software above all, cancels and is left out."""


def predict_many(
    workloads: Sequence[Workload],
    chips: Sequence[Chip],
    workload_index: Whole,
    chip_index: Whole,
    counts: Whole,
    fitted: Fitted,
    *,
    method: str = "optimal",
) -> Predictions:
    """Predict each pair that the three index arrays name, all with one method's settings."""
    import numpy as np

    options = options_for(method)
    naive = method == "naive"
    pairs = len(counts)
    best = np.empty(pairs)
    chosen = np.empty(pairs, dtype=int)
    micro_batch_size = np.empty(pairs)
    unknown = np.empty(pairs, dtype=bool)
    table = WorkloadTable(workloads, chips)
    each = np.arange(len(workloads))
    once = table.columns(each, np.zeros_like(each), np.ones_like(each))
    samples = [sample_bytes(option, once, fitted.costs) for option in options]
    for start in range(0, pairs, BLOCK):
        block = slice(start, start + BLOCK)
        rows = workload_index[block]
        columns = table.columns(rows, chip_index[block], counts[block])
        best[block], chosen[block], micro_batch_size[block] = _fastest(
            columns, options, [sample[rows] for sample in samples], fitted, naive=naive
        )
        # A GPU without a datasheet rate fits or not all the same; its time is not known.
        unknown[block] = np.isnan(columns.naive_peak if naive else columns.peak)
        unknown[block] |= np.isnan(columns.bandwidth + columns.tdp_w)
    fits = chosen >= 0
    grids = _residuals(fitted, workloads, chips)
    shift, half, distance = (grid[workload_index, chip_index] for grid in grids)
    apart = np.minimum(_apart(fitted, chips)[chip_index], half)
    steps = np.array([w.training_steps for w in workloads], dtype=float)[workload_index]
    days = best * np.exp(shift) * steps / SECONDS_PER_DAY
    days[~fits | unknown | (distance > FARTHEST)] = np.nan
    return Predictions(
        days=days,
        low_days=days * np.exp(-half),
        high_days=days * np.exp(half),
        fits=fits,
        option=chosen,
        options=options,
        micro_batch_size=micro_batch_size,
        distance=distance,
        comparison_factor=np.exp(apart),
    )


def _fastest(
    columns: Columns,
    options: Sequence[Option],
    samples: Sequence[Floats],
    fitted: Fitted,
    *,
    naive: bool,
) -> tuple[Floats, Whole, Floats]:
    """Step seconds of the fastest option that fits, which it is, and its micro-batch."""
    import numpy as np

    factors = _factors(fitted, columns, naive=naive)
    terms = work_terms(columns, free_lunch=not naive)
    work = terms[0] * factors[0]
    for term, factor in zip(terms[1:], factors[1:8], strict=True):
        work += term * factor
    busy = terms[0] + terms[1]
    best = np.full(len(columns), np.inf)
    chosen = np.full(len(columns), -1)
    micro_batch_size = np.zeros(len(columns))
    for number, option in enumerate(options):
        micro = micro_batch(option, columns, fitted.costs, sample=samples[number])
        multiple = work_multiple(option)
        update, exchange, offload = traffic_terms(
            option, columns, np.maximum(micro, 1.0), busy * multiple
        )
        seconds = work * multiple + update * factors[8] + exchange * factors[9]
        if option.offloading:
            seconds += offload * factors[10]
        # A GPU without a datasheet rate has no seconds (NaN); that it fits is known all the same.
        better = (micro > 0) & ((seconds < best) | (chosen < 0))
        np.copyto(best, seconds, where=better)
        np.copyto(micro_batch_size, micro, where=better)
        chosen[better] = number
    return best, chosen, micro_batch_size


def _factors(fitted: Fitted, columns: Columns, *, naive: bool) -> list[Floats | float]:
    """The factor of each of physics.TERMS."""
    import numpy as np

    value = {name: float(np.exp(log)) for name, log in zip(NAMES, fitted.factors, strict=True)}
    prefix = "naive " if naive else ""
    elementwise: Floats | float = value[prefix + "elementwise"]
    if naive:
        of_decoders = elementwise * value["naive elementwise of decoders"]
        elementwise = np.where(columns.causal, of_decoders, elementwise)
    if not naive and not columns.compiles.all():
        elementwise = np.where(
            columns.compiles, elementwise, elementwise * value["uncompiled elementwise"]
        )
    return [
        value[prefix + "compute"],
        value["operands"],
        value["power"],
        value["naive compute"] if naive else value["attention"],
        elementwise,
        value["logits"],
        value[prefix + "scores"],
        np.where(
            columns.convnet,
            np.where(columns.half, value["depthwise"], value["depthwise in fp32"]),
            value["scan"],
        ),
        value["update"],
        value["exchange"],
        value["offload"],
    ]


def _residuals(
    fitted: Fitted, workloads: Sequence[Workload], chips: Sequence[Chip]
) -> tuple[Floats, Floats, Floats]:
    """Shift, half of the 90 % interval (of the logarithm) and distance of every workload on every
    chip."""
    import numpy as np

    position = {name: i for i, name in enumerate(fitted.effects)}
    means = np.array([*fitted.effect_means, 0.0])
    unknown = len(fitted.effects)
    covariance = np.zeros((unknown + 1, unknown + 1))
    covariance[:unknown, :unknown] = fitted.effect_covariance

    def places(names: Sequence[str]) -> Whole:
        return np.array([position.get(name, unknown) for name in names])

    types = [gpu_type(chip) for chip in chips]
    shared = (
        places([f"family:{w.family}" for w in workloads])[:, None],
        places([f"model:{w.workload_id}" for w in workloads])[:, None],
        places([f"gpu:{name}" for name in types])[None, :],
        places([OWN])[None, :],
    )
    effects = list(shared)
    if any(name.startswith("pair:") for name in fitted.effects):
        pairs = [places([pair_name(w.workload_id, name) for name in types]) for w in workloads]
        effects.append(np.stack(pairs))
        alone = np.where(effects[-1] == unknown, fitted.pair_width**2, 0.0)
    else:
        alone = np.full((len(workloads), len(chips)), fitted.pair_width**2)
    shift = sum(means[effect] for effect in effects)
    known = alone + sum(covariance[a, b] for a in effects for b in effects)
    switched = np.array([c.switched for c in chips])
    if OWN not in position:  # else the effect of the own stack has it
        known = known + fitted.factors_sd**2
    known = known + np.where(switched, fitted.noise_switch, fitted.noise_bus) ** 2
    of_model = np.array([_model_distance(fitted, w) for w in workloads])
    of_chip = np.array([_chip_distance(fitted, c) for c in chips])
    distance = of_model[:, None] + of_chip[None, :]
    tail = fitted.tail
    parts = [
        (known * tail.scale**2, tail.dof),
        ((WIDENING * np.minimum(distance, FARTHEST)) ** 2, MOST),
    ]
    for effect, width in zip(shared, fitted.widths, strict=True):
        parts.append((np.where(effect == unknown, width.sd**2, 0.0), width.dof))
    return shift, half_width(parts), distance


def _apart(fitted: Fitted, chips: Sequence[Chip]) -> Floats:
    """Half of the 90 % interval (of the logarithm) on every chip without what all predictions for
    one model share: left are the GPU, its pair with the model, scatter, and the factors, which
    weigh differently on GPUs with other ratios of computing to memory."""
    import numpy as np

    position = {name: i for i, name in enumerate(fitted.effects)}
    places = [position.get(f"gpu:{gpu_type(chip)}") for chip in chips]
    noise = [fitted.noise_switch if chip.switched else fitted.noise_bus for chip in chips]
    of_gpu = [0.0 if i is None else fitted.effect_covariance[i][i] for i in places]
    new = fitted.widths[KNOWN.index("gpu")]
    far = np.array([min(_chip_distance(fitted, chip), FARTHEST) for chip in chips])
    known = np.array(noise) ** 2 + np.array(of_gpu) + fitted.pair_width**2 + fitted.factors_sd**2
    return half_width(
        [
            (known * fitted.tail.scale**2, fitted.tail.dof),
            ((WIDENING * far) ** 2, MOST),
            (np.array([new.sd**2 if i is None else 0.0 for i in places]), new.dof),
        ]
    )


def _nearest(fitted: Fitted, kind: str, coordinates: tuple[float, ...]) -> float:
    apart = [
        max(abs(a - b) for a, b in zip(reach.coordinates, coordinates, strict=True))
        for reach in fitted.reach
        if reach.kind == kind
    ]
    return min(apart, default=float("inf"))


def _model_distance(fitted: Fitted, workload: Workload) -> float:
    here = workload_coordinates(workload.parameters, workload.tokens)
    return _nearest(fitted, workload.family, here)


def _chip_distance(fitted: Fitted, chip: Chip) -> float:
    if not chip.measured_vendor and f"gpu:{gpu_type(chip)}" not in fitted.effects:
        return UNKNOWN_VENDOR
    peak = chip.peak_tflops("fp16", free_lunch=True)
    if peak is None or chip.bandwidth_gb_s is None:
        return 0.0  # without a rate there are no days in any case
    old = 0.0 if chip.bf16_tflops is not None else OLD_CORES
    return old + _nearest(fitted, "gpu", chip_coordinates(chip.bandwidth_gb_s, peak))
