"""Predictions for many pairs of models and machines in one call (numpy)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from advisor.prediction.distance import (
    FARTHEST,
    chip_distance,
    meeting_distances,
    model_distances,
)
from advisor.prediction.fitted import Fitted
from advisor.prediction.intervals import corrections
from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip
from advisor.prediction.physics.columns import PORT_EACH, Columns, WorkloadTable
from advisor.prediction.physics.fastest_step import AS_FAST, FastestStep, fastest_step
from advisor.prediction.physics.memory import (
    ANY,
    Option,
    Software,
    Wanted,
    memory_gib,
    options_for,
    sample_bytes,
)
from advisor.ranking.fabric import Link, doubt
from advisor.ranking.times import SAME_CLOCK
from bench_runner.recipes import TEXT_FAMILIES
from bench_runner.records.measurement import Settings
from bench_runner.records.timing import SECONDS_PER_DAY
from bench_runner.settings.batch_and_sharding import accumulation_steps, even_batch
from bench_runner.settings.exact_settings import Kernels, with_kernels
from bench_runner.typed_numbers import NORMAL_90

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Flags = NDArray[np.bool_]

BLOCK = 8192
"""Pairs that are computed together: few enough for their columns to stay in the cache."""
MEASURED_GPUS = 64.0
"""Up to which number of GPUs several sources were measured."""
TUNED_SD = 0.1
"""Standard deviation (of the logarithm) that training adapters alone adds: no such time is fitted
(`tools/fit/finetuning.py` compares)."""
BEYOND_SD = 0.1
"""Standard deviation (of the logarithm) that each doubling beyond adds. A judgement."""
FUSED_ATTENTION: Mapping[str, Any] = {"attention": "sdpa", "compilation": "regional"}
"""The further settings where a recipe names unfused attention and the library has a fused kernel:
as they were measured (docs/measurements.md, RoBERTa)."""


OWN_HALF_WIDTH = math.log(1.12)
"""Half of the interval where the very machine was measured with the paper's settings: what the
further settings gain is all that is estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """Columns, one entry a pair. Where a pair does not fit or a rate is not known, days are NaN."""

    days: Floats
    low_days: Floats
    """With `high_days` the 90 % interval."""
    high_days: Floats
    fits: Flags
    option: Whole
    """Index into ``options`` of the fastest that fits; -1 where none does."""
    options: tuple[Option, ...]
    micro_batch_size: Floats
    memory_gib: Floats
    """That each GPU is to hold with them; NaN where none fits."""
    distance: Floats
    """From the evidence; beyond FARTHEST there are no days."""
    at_bound: Flags
    """Where the fit is faster, relative to its matrix products, than any measured training."""
    comparison_factor: Floats
    """At least 1. As `high_days` over `days`, but for the comparison with another prediction for
    the same model: what both share, the software above all, cancels and is left out."""
    slowdown: Floats
    """How many times as long it takes as without a network between machines; 1 on one machine."""


def as_run_by(w: Workload, software: Software, wanted: Wanted) -> Workload:
    """The training as a program of this kind runs it: a plain one is taken to be compiled where
    that is not said."""
    if software == "ours":
        return w
    fused = w.fused_attention or w.fusible if wanted.fused is None else wanted.fused
    compiled = wanted.compiled is not False
    return replace(w, compiles=compiled, fused_attention=fused, opens=False)


@dataclass(frozen=True, slots=True)
class Asked:
    """Pairs of a model and a machine, each named by an entry of three index arrays."""

    workloads: Sequence[Workload]
    chips: Sequence[Chip]
    workload_index: Whole
    chip_index: Whole
    counts: Whole
    """GPUs of all machines together."""
    fitted: Fitted
    _: KW_ONLY
    method: str = "optimal"
    wanted: Wanted = ANY
    software: Software = "ours"
    network: tuple[int, Link] | None = None
    """How many machines share the GPUs, and what joins them; None: machines of eight with a port
    for each GPU."""

    def among(self, rows: Whole, **changes: Any) -> Asked:
        """Some of the pairs, with ``changes``."""
        names = ("workload_index", "chip_index", "counts")
        return replace(self, **{name: getattr(self, name)[rows] for name in names}, **changes)


def predict_many(asked: Asked) -> Predictions:
    """The fastest of the wanted settings of one method, for each pair."""
    import numpy as np

    chips, counts, fitted, wanted = asked.chips, asked.counts, asked.fitted, asked.wanted
    workload_index, chip_index, network = asked.workload_index, asked.chip_index, asked.network
    software, own, naive = asked.software, asked.software == "ours", asked.method == "naive"
    options = wanted.among(options_for(asked.method, software))
    workloads = [as_run_by(w, software, wanted) for w in asked.workloads]
    table = WorkloadTable(workloads, chips)
    each = np.arange(len(workloads))
    once = table.columns(each, np.zeros_like(each), np.ones_like(each))
    samples = [sample_bytes(option, once, fitted.costs) for option in options]

    def fastest(rows: Whole, columns: Columns) -> FastestStep:
        micro = [
            wanted.micro_batch(option, columns, fitted.costs, sample[rows])
            for option, sample in zip(options, samples, strict=True)
        ]
        return fastest_step(
            columns, options, micro, fitted.factors, naive=naive, own=software != "plain"
        )

    blocks, held, unknown = [], [], np.empty(len(counts), dtype=bool)
    without_watts = np.array([chip.tdp_w is None for chip in chips])
    for start in range(0, len(counts), BLOCK):
        block = slice(start, start + BLOCK)
        rows = workload_index[block]
        columns = table.columns(rows, chip_index[block], counts[block], network)
        blocks.append(found := fastest(rows, columns))
        gib = np.full(len(columns), np.nan)
        for number in np.unique(found.option[found.option >= 0]):
            taken = memory_gib(
                options[number],
                columns,
                fitted.costs,
                samples[number][rows] * found.micro_batch_size,
            )
            np.copyto(gib, taken, where=found.option == number)
        held.append(gib)
        # A GPU without a datasheet rate fits or not all the same; its time is not known.
        unknown[block] = np.isnan(columns.naive_peak if naive else columns.peak)
        unknown[block] |= np.isnan(columns.bandwidth) | without_watts[chip_index[block]]
    step = FastestStep(
        **{
            field.name: np.concatenate([getattr(block, field.name) for block in blocks])
            for field in fields(FastestStep)
        }
    )
    # No GPUs are more than as many times as fast as one of them with room for everything: the one
    # that there is may have to offload, recompute or take smaller micro-batches.
    singles, where = np.unique(workload_index * len(chips) + chip_index, return_inverse=True)
    rows = singles // len(chips)
    columns = table.columns(rows, singles % len(chips), np.ones_like(singles))
    roomy = fastest(rows, columns.replaced(memory_gib=np.full(len(rows), np.inf)))
    # What is sharded over several is nothing that one does.
    least = np.where(roomy.option >= 0, roomy.seconds, 0.0)[where] / counts + step.company
    seconds = np.where(counts > 1, np.maximum(step.seconds, least), step.seconds)
    fits = step.option >= 0
    gpus = {name.removeprefix("gpu:") for name in fitted.effects if name.startswith("gpu:")}
    ours = {piece.gpu for piece in fitted.pieces if piece.by == "own"}
    far = (
        model_distances(fitted.reach, workloads),
        np.array([chip_distance(fitted.reach, gpus, ours, c) for c in chips]),
        meeting_distances(workloads, chips),
    )
    distance = far[0][workload_index] + far[1][chip_index] + far[2][workload_index, chip_index]
    exchange, between = (
        np.divide(part, seconds, where=fits, out=np.zeros(len(counts)))
        for part in (step.exchange, step.between)
    )
    pairs = (workload_index, chip_index)
    kind = "naive" if naive else "lean" if options[0].lean else "tuned"
    left = corrections(fitted, workloads, chips, pairs, exchange, far, method=kind, own=own)
    # Beyond a machine or eight of them the evidence is thin: doublings beyond widen the interval.
    doublings = np.log2(np.maximum(counts / MEASURED_GPUS, 1.0))
    beyond = doublings * BEYOND_SD * NORMAL_90
    spread = np.hypot(beyond, between * math.log(doubt(network[1] if network else PORT_EACH)))
    frozen = np.array([w.frozen > 0.0 for w in workloads])[workload_index]
    spread = np.hypot(spread, np.where(frozen, TUNED_SD * NORMAL_90, 0.0))
    half = np.hypot(left.half, spread)
    apart = np.minimum(np.hypot(left.apart, spread), half)
    steps = np.array([w.training_steps for w in workloads], dtype=float)[workload_index]
    # Nothing trains faster than was ever seen, and several GPUs lose to each other besides; where
    # the fit says otherwise it is off by as much.
    fitted_days = seconds * np.exp(left.shift) * steps / SECONDS_PER_DAY
    products_days = step.products * steps / SECONDS_PER_DAY
    share = fitted.tuned_share if software == "tuned" else fitted.highest_share
    fastest_s = step.products / share + step.company
    raised = np.maximum(fastest_s * steps / SECONDS_PER_DAY / fitted_days, 1.0)
    days, off = fitted_days * raised, np.log(raised)
    days[~fits | unknown | (distance > FARTHEST)] = np.nan
    return Predictions(
        days=days,
        low_days=np.maximum(days * np.exp(-half), np.minimum(products_days, days)),
        high_days=days * np.exp(np.hypot(half, off)),
        fits=fits,
        option=step.option,
        options=options,
        micro_batch_size=step.micro_batch_size,
        memory_gib=np.concatenate(held),
        distance=distance,
        at_bound=fits & (raised > 1.0),
        comparison_factor=np.exp(np.hypot(apart, off)),
        slowdown=1.0 / (1.0 - between),
    )


@cache
def settings_of(option: Option, micro: int, steps: int, kernels: Kernels | None) -> Settings:
    """An option as it is written out: beyond the paper's settings with the kernels that are the
    most promising for a recipe."""
    settings = option.settings(micro, steps)
    return with_kernels(settings, kernels) if option.lean and kernels is not None else settings


Days = tuple[float | None, float | None, float | None]
"""With the ends of their interval."""


def days_of(*columns: Floats, i: int = 0) -> Days:
    """Of each of three columns one entry, None where it is no number."""
    days, low, high = (None if math.isnan(each[i]) else float(each[i]) for each in columns)
    return days, low, high


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """Predictions with the settings that a program writes out."""

    asked: Asked
    fastest: Predictions
    """Of each pair the fastest that fits, whichever way it is written out."""
    fused: Flags
    """Where that needs FUSED_ATTENTION."""
    paper: Predictions | None
    """With the best of the paper's settings; None where others were asked for."""

    def gains(self) -> Floats:
        """The share of the days with the paper's settings that the fastest take."""
        import numpy as np

        assert self.paper is not None
        shares: Floats = np.fmin(self.fastest.days / self.paper.days, 1.0)
        return shares

    def settings(self, i: int, kernels: Kernels | None, *, paper: bool = False) -> Settings | None:
        """Of one pair the fastest, or the paper's; None where none fit."""
        many = self.paper if paper else self.fastest
        if many is None or not many.fits[i]:
            return None
        count, micro = int(self.asked.counts[i]), int(many.micro_batch_size[i])
        batch = self.asked.workloads[self.asked.workload_index[i]].batch_size
        steps = accumulation_steps(even_batch(batch, count), count, micro)
        found = settings_of(many.options[many.option[i]], micro, steps, kernels)
        return replace(found, **FUSED_ATTENTION) if self.fused[i] and not paper else found

    def told(self, i: int, timed: tuple[OwnTime, float] | None) -> tuple[Days, Days]:
        """Of one pair the days with the fastest settings, and with the paper's. ``timed``: what a
        search with the paper's took there, and what of it the fastest take."""
        many, paper = self.fastest, self.paper
        told = days_of(many.days, many.low_days, many.high_days, i=i)
        if paper is None:
            return told, (None, None, None)
        theirs = days_of(paper.days, paper.low_days, paper.high_days, i=i)
        days, _, high = told
        if timed is None or days is None or high is None or not paper.fits[i]:
            return told, theirs
        own, gain = timed
        half = math.log(high / days)
        if own.carries(paper.options[paper.option[i]], gain):
            days = own.days * gain
            text = self.asked.workloads[self.asked.workload_index[i]].family in TEXT_FAMILIES
            half = min(half if text else 0.0, OWN_HALF_WIDTH)
        else:
            days = min(days, own.days)
        return (days, days / math.exp(half), days * math.exp(half)), (own.days,) * 3


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTime:
    """What a synchronised search of our own stack found with the paper's settings."""

    days: float
    settings: Settings | None

    def carries(self, paper: Option, gain: float) -> bool:
        """Whether its difference from what is predicted with the paper's settings, which would be
        ``paper``, holds for the further ones, which take a share ``gain`` of the days.

        What offloading or recomputing cost says nothing of a run without: a search that found
        others faster than ``paper`` says nothing of how fast these are.
        """
        mine = self.settings
        if mine is None or gain > 1.0 - SAME_CLOCK:
            return True
        found = (mine.offloading, mine.activation_checkpointing)
        return found == (paper.offloading, paper.checkpointing)


def fastest_of(first: Predictions, second: Predictions, rows: Whole) -> tuple[Predictions, Whole]:
    """The fastest that fit of two ways, of which the ``second`` is of some ``rows`` alone, and
    where it is that one."""
    # Where both stand at the bound of all trainings, rounding must not choose.
    faster = second.days < first.days[rows] * AS_FAST
    better = second.fits & (~first.fits[rows] | faster)
    table: dict[str, Any] = {"options": (*first.options, *second.options)}
    for name in (field.name for field in fields(Predictions) if field.name != "options"):
        table[name] = getattr(first, name).copy()
        offset = len(first.options) if name == "option" else 0
        table[name][rows[better]] = getattr(second, name)[better] + offset
    return Predictions(**table), rows[better]


def written_out(asked: Asked) -> WrittenOut:
    """As `predict_many`; of our own ``optimal`` settings with every way that the program writes
    out: lean, as in the paper, or either with fused attention."""
    import numpy as np

    fastest, fused = predict_many(asked), np.full(len(asked.counts), False)
    if asked.method != "optimal" or asked.software != "ours":
        return WrittenOut(asked, fastest, fused, None)
    paper = predict_many(replace(asked, method="paper"))
    fastest, _ = fastest_of(fastest, paper, np.arange(len(fused)))
    fusible = np.array([w.fusible for w in asked.workloads], dtype=bool)
    if len(rows := np.flatnonzero(fusible[asked.workload_index])):
        models = [
            replace(w, fused_attention=True, opens=False) if w.fusible else w
            for w in asked.workloads
        ]
        for method in ("optimal", "paper"):
            many = predict_many(asked.among(rows, workloads=models, method=method))
            fastest, better = fastest_of(fastest, many, rows)
            fused[better] = True
    return WrittenOut(asked, fastest, fused, paper)


def other_software(asked: Asked) -> tuple[Floats, Floats, Floats]:
    """Days with a program of which nothing is known, and the ends of their interval: the middle of
    a plain one, a compiled one and a tuned one, whose spread widens it."""
    import numpy as np

    kinds: tuple[tuple[Software, bool], ...] = (("plain", False), ("plain", True), ("tuned", True))
    made = [
        predict_many(
            replace(
                asked,
                method="optimal",
                software=kind,
                wanted=replace(asked.wanted, compiled=compiled),
            )
        )
        for kind, compiled in kinds
    ]
    logs = np.log([many.days for many in made])
    half = np.log([many.high_days / many.days for many in made]).max(axis=0)
    middle = logs.mean(axis=0)
    half = np.hypot(half, NORMAL_90 * logs.std(axis=0))
    return np.exp(middle), np.exp(middle - half), np.exp(middle + half)
