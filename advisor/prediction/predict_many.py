"""Predictions for many pairs of models and machines in one call (numpy)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from advisor.prediction.distance import (
    FARTHEST,
    chip_distance,
    meeting_distances,
    model_distances,
)
from advisor.prediction.fitted import (
    OWN_STACK,
    Fitted,
    effect_name,
)
from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip
from advisor.prediction.physics.columns import Columns, WorkloadTable
from advisor.prediction.physics.factors import (
    NAMES,
    Rows,
    lean_layers,
    not_compiled,
    row_factors,
    whole_attention,
)
from advisor.prediction.physics.memory import ANY, Option, Wanted, kernels_written, sample_bytes
from advisor.prediction.physics.step_parts import (
    TERMS,
    copied_seconds,
    dropout_seconds,
    expert_seconds,
    fused_attention,
    launch_seconds,
    least_seconds,
    loop_seconds,
    norm_seconds,
    opened,
    score_seconds,
)
from advisor.prediction.physics.step_time import (
    busy_seconds,
    company_share,
    options_for,
    traffic_terms,
    work_multiple,
    work_terms,
)
from advisor.prediction.residuals import residuals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Flags = NDArray[np.bool_]

_AT = {term: place for place, term in enumerate(TERMS)}
SECONDS_PER_DAY = 86_400.0
AS_FAST = 1.0 - 1e-9
"""What takes no smaller a share of another's time is as fast: processors round differently."""
BLOCK = 8192
"""Pairs that are computed together: few enough for their columns to stay in the cache."""
MEASURED_GPUS = 64.0
"""Up to which number of GPUs several sources were measured."""
BEYOND_SD = 0.1
"""Standard deviation (of the logarithm) that each doubling beyond adds. A judgement."""


def beyond_measured(counts: Whole) -> Floats:
    """Half of the 90 % interval of the logarithm that so many GPUs add by being more than several
    sources measured; 0 up to MEASURED_GPUS."""
    import numpy as np

    doublings: Floats = np.log2(np.maximum(counts / MEASURED_GPUS, 1.0))
    return doublings * BEYOND_SD * 1.645


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """Columns, one entry a pair. Where a pair does not fit or a rate is not known, days are NaN."""

    days: Floats
    low_days: Floats
    """With `high_days` the 90 % interval with the settings that `advisor` writes out."""
    high_days: Floats
    foreign_low_days: Floats
    """With `foreign_high_days` the 90 % interval with other software, whose speed nobody knows."""
    foreign_high_days: Floats
    fits: Flags
    option: Whole
    """Index into ``options`` of the fastest that fits; -1 where none does."""
    options: tuple[Option, ...]
    micro_batch_size: Floats
    distance: Floats
    """From the evidence; beyond FARTHEST there are no days."""
    beyond_linear: Flags
    """Where the GPUs are more than as many times as fast as one, because the one must offload,
    recompute or take smaller micro-batches."""
    at_bound: Flags
    """Where the fit says faster than any training was measured beside its matrix products."""
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
    wanted: Wanted = ANY,
) -> Predictions:
    """Predict each pair that the three index arrays name, all with one method's settings, of which
    those that are ``wanted``.

    What is asked for more than once is computed once.
    """
    import numpy as np

    pairs = np.asarray(workload_index) * len(chips) + chip_index
    numbers, which = np.unique(counts, return_inverse=True)
    distinct, where = np.unique(pairs * len(numbers) + which, return_inverse=True)
    rows = distinct // len(numbers)
    made = _distinct(
        workloads,
        chips,
        rows // len(chips),
        rows % len(chips),
        numbers[distinct % len(numbers)],
        fitted,
        method,
        wanted,
    )
    if len(distinct) == len(pairs) and (where == np.arange(len(pairs))).all():
        return made
    columns = {field.name: getattr(made, field.name) for field in fields(Predictions)}
    options = columns.pop("options")
    return Predictions(options=options, **{name: c[where] for name, c in columns.items()})


def _distinct(
    workloads: Sequence[Workload],
    chips: Sequence[Chip],
    workload_index: Whole,
    chip_index: Whole,
    counts: Whole,
    fitted: Fitted,
    method: str,
    wanted: Wanted,
) -> Predictions:
    import numpy as np

    options = wanted.among(options_for(method))
    naive = method == "naive"
    pairs = len(counts)
    best = np.empty(pairs)
    chosen = np.empty(pairs, dtype=int)
    micro_batch_size = np.empty(pairs)
    company = np.empty(pairs)
    least = np.empty(pairs)
    exchange = np.empty(pairs)
    unknown = np.empty(pairs, dtype=bool)
    table = WorkloadTable(workloads, chips)
    each = np.arange(len(workloads))
    once = table.columns(each, np.zeros_like(each), np.ones_like(each))
    samples = [sample_bytes(option, once, fitted.costs) for option in options]
    for start in range(0, pairs, BLOCK):
        block = slice(start, start + BLOCK)
        rows = workload_index[block]
        columns = table.columns(rows, chip_index[block], counts[block])
        found = _fastest(
            columns, options, [sample[rows] for sample in samples], fitted, wanted, naive=naive
        )
        best[block], chosen[block], micro_batch_size[block] = found[:3]
        company[block], least[block], exchange[block] = found[3:]
        # A GPU without a datasheet rate fits or not all the same; its time is not known.
        unknown[block] = np.isnan(columns.naive_peak if naive else columns.peak)
        unknown[block] |= np.isnan(columns.bandwidth + columns.tdp_w)
    linear = _linear(table, workload_index, chip_index, counts, samples, fitted, options, wanted)
    # With room for smaller micro-batches alone, the one pays more passes over its weights.
    alike = 2.0 * linear.micro_batch_size > micro_batch_size
    best = np.fmax(best, np.where(alike, linear.least + company, np.nan))
    fits = chosen >= 0
    gpus, own = (
        {name.removeprefix(start) for name in fitted.effects if name.startswith(start)}
        for start in (effect_name("gpu", ""), effect_name("source x gpu", OWN_STACK, ""))
    )
    far = (
        model_distances(fitted.reach, workloads),
        np.array([chip_distance(fitted.reach, gpus, own, c) for c in chips]),
        meeting_distances(workloads, chips),
    )
    distance = far[0][workload_index] + far[1][chip_index] + far[2][workload_index, chip_index]
    left = residuals(fitted, workloads, chips, far, naive=naive, lean=options[0].lean).at(
        workload_index, chip_index, np.divide(exchange, best, where=fits, out=np.zeros(pairs))
    )
    shift, half = left.shift, left.half
    # Beyond a machine or eight of them the evidence is thin: doublings beyond widen the interval.
    beyond = beyond_measured(counts)
    half = np.hypot(half, beyond)
    foreign_half = np.hypot(np.maximum(left.foreign_half, half), beyond)
    apart = np.minimum(left.apart, half)
    steps = np.array([w.training_steps for w in workloads], dtype=float)[workload_index]
    # Nothing trains faster than was ever seen, and several GPUs lose to each other besides; where
    # the fit says otherwise it is off by as much.
    fitted_days = best * np.exp(shift) * steps / SECONDS_PER_DAY
    products_days = least * steps / SECONDS_PER_DAY
    fastest_days = (least / fitted.highest_share + company) * steps / SECONDS_PER_DAY
    raised = np.maximum(fastest_days / fitted_days, 1.0)
    days, off = fitted_days * raised, np.log(raised)
    days[~fits | unknown | (distance > FARTHEST)] = np.nan

    def low(half: Floats) -> Floats:
        least: Floats = np.maximum(days * np.exp(-half), np.minimum(products_days, days))
        return least

    def high(half: Floats) -> Floats:
        most: Floats = days * np.exp(np.hypot(half, off))
        return most

    return Predictions(
        days=days,
        low_days=low(half),
        high_days=high(half),
        fits=fits,
        option=chosen,
        options=options,
        micro_batch_size=micro_batch_size,
        distance=distance,
        foreign_low_days=low(foreign_half),
        foreign_high_days=high(foreign_half),
        at_bound=fits & (raised > 1.0),
        comparison_factor=np.exp(np.hypot(apart, off)),
        beyond_linear=fits & (best * counts < linear.alone * AS_FAST),
    )


@dataclass(frozen=True, slots=True)
class _Linear:
    least: Floats
    """Seconds of a step on one GPU over the number of GPUs, where both can train alike."""
    alone: Floats
    """Seconds of a step on one GPU, NaN where it does not fit."""
    micro_batch_size: Floats
    """Of the one, 0 where it does not fit."""


def _linear(
    table: WorkloadTable,
    workload_index: Whole,
    chip_index: Whole,
    counts: Whole,
    samples: Sequence[Floats],
    fitted: Fitted,
    options: Sequence[Option],
    wanted: Wanted,
) -> _Linear:
    """No GPUs are more than as many times as fast as one of them, unless the one must save memory
    by offloading, recomputing or smaller micro-batches where the many need not."""
    import numpy as np

    chips = len(table.rates[0])
    pairs, where = np.unique(workload_index * chips + chip_index, return_inverse=True)
    rows, columns_of = pairs // chips, pairs % chips
    columns = table.columns(rows, columns_of, np.ones_like(pairs))
    naive = not options[0].free_lunch
    seconds, chosen, micro, *_ = _fastest(
        columns, options, [sample[rows] for sample in samples], fitted, wanted, naive=naive
    )
    saving = np.array([o.offloading or o.checkpointing for o in options] + [False])
    plain = (chosen >= 0) & ~saving[chosen]
    if not naive:
        # What one GPU offloads for speed it could leave where plain settings fit too.
        ordinary = np.array([not s for s in saving[:-1]])
        few = [o for o, keep in zip(options, ordinary, strict=True) if keep]
        held = [s[rows] for s, keep in zip(samples, ordinary, strict=True) if keep]
        if few:
            plain |= _fastest(columns, few, held, fitted, wanted, naive=naive)[1] >= 0
    alone = np.where(chosen >= 0, seconds, np.nan)[where]
    least = np.where(plain[where] & (counts > 1), alone / counts, np.nan)
    return _Linear(least, alone, micro[where])


def _fastest(
    columns: Columns,
    options: Sequence[Option],
    samples: Sequence[Floats],
    fitted: Fitted,
    wanted: Wanted,
    *,
    naive: bool,
) -> tuple[Floats, Whole, Floats, Floats, Floats, Floats]:
    """Step seconds of the fastest option that fits, which it is, its micro-batch, the seconds that
    several GPUs lose to each other whatever the option, those of its matrix products alone, and
    those of the exchange."""
    import numpy as np

    values = np.exp(np.array(fitted.factors))
    value = dict(zip(NAMES, values, strict=True))
    flags = np.full(len(columns), True)
    factors = row_factors(values, Rows(columns, flags & naive, flags)).T
    terms = work_terms(columns, free_lunch=not naive, lean=options[0].lean)
    least = least_seconds(columns, terms, free_lunch=not naive)
    parts = [term * factor for term, factor in zip(terms, factors, strict=False)]
    busy = busy_seconds(terms)
    company = busy * company_share(columns) * factors[_AT["company"]]
    work = sum(parts, company)
    best = np.full(len(columns), np.inf)
    chosen = np.full(len(columns), -1)
    micro_batch_size = np.zeros(len(columns))
    exchanging = np.zeros(len(columns))
    alone = options[0]
    compiled = work + parts[_AT["attention"]] * (
        whole_attention(alone, columns) * (value["attention compiled whole"] - 1.0)
    )
    scores = score_seconds(columns) * factors[_AT["scores"]]
    compiled = compiled + np.where(opened(alone, columns), scores, 0.0)
    compiled = compiled + expert_seconds(columns) * factors[_AT["experts"]]
    apart, sharded = work, replace(alone, stage=1)
    if columns.normed_pixels.any():
        norms = norm_seconds(columns) * factors[_AT["norms"]]
        compiled = compiled + np.where(kernels_written(alone, columns), 0.0, norms)
        apart = apart + np.where(kernels_written(sharded, columns), 0.0, norms)
    if (columns.dropped_elements + columns.dropped_scores).any():
        one_kernel = fused_attention(columns, free_lunch=not naive)
        kept_whole = one_kernel & ~opened(alone, columns)
        for_alone = dropout_seconds(columns, kept_whole, kernels_written(alone, columns))
        compiled = compiled + for_alone * factors[_AT["dropout"]]
        for_sharded = dropout_seconds(columns, one_kernel, kernels_written(sharded, columns))
        apart = apart + for_sharded * factors[_AT["dropout"]]
    elementwise = parts[_AT["elementwise"]]
    if columns.copied_elements.any():
        for term, copied in zip(("elementwise", "issue"), copied_seconds(columns), strict=True):
            spared = np.where(kernels_written(alone, columns), copied, 0.0)
            terms[_AT[term]] = terms[_AT[term]] - spared
            compiled = compiled - spared * factors[_AT[term]]
            spared = np.where(kernels_written(sharded, columns), copied, 0.0) * factors[_AT[term]]
            apart = apart - spared
            if term == "elementwise":  # what settings beyond the paper's gain is a share of it
                elementwise = elementwise - spared
    if options[0].lean:
        fused = parts[_AT["logits"]] * (
            columns.fuses_loss * (value["fused logits"] - 1.0)
        ) + elementwise * (lean_layers(columns) * (value["lean elementwise"] - 1.0))
        apart, compiled = apart + fused, compiled + fused
    elif not naive:
        apart = apart + elementwise * (
            not_compiled(sharded, columns) * (value["elementwise of sharded"] - 1.0)
        )
    update, exposed, exchanged, launches, offloaded = (
        factors[_AT[term]] for term in ("update", "exposed", "exchange", "launches", "offload")
    )
    looping = bool(columns.expert_products.any())
    waiting = bool(columns.launched_layers.any())
    for number, option in enumerate(options):
        micro = wanted.micro_batch(option, columns, fitted.costs, samples[number])
        multiple = work_multiple(option)
        *shown, offload = traffic_terms(option, columns, np.maximum(micro, 1.0), busy * multiple)
        seconds = (apart if option.stage else compiled) * multiple
        exchange = shown[1] * exchanged + shown[2] * exposed
        seconds += shown[0] * update + exchange
        seconds += shown[3] * launches
        if looping:
            waits = loop_seconds(option, columns, np.maximum(micro, 1.0))
            seconds += waits * multiple * factors[_AT["loops"]]
        if waiting:
            waits = launch_seconds(columns, np.maximum(micro, 1.0), terms)
            waits = np.where(kernels_written(option, columns), waits, 0.0)
            seconds += waits * multiple * factors[_AT["waits"]]
        if option.offloading:
            seconds += offload * offloaded
        # A GPU without a datasheet rate has no seconds (NaN); that it fits is known all the same.
        better = (micro > 0) & ((seconds < best * AS_FAST) | (chosen < 0))
        np.copyto(best, seconds, where=better)
        np.copyto(micro_batch_size, micro, where=better)
        np.copyto(exchanging, exchange, where=better)
        chosen[better] = number
    return best, chosen, micro_batch_size, company, least, exchanging
