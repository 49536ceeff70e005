"""Predictions for many pairs of models and machines in one call (numpy)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
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
from advisor.prediction.physics.memory import (
    ANY,
    Option,
    Software,
    Wanted,
    memory_gib,
    options_for,
    sample_bytes,
)
from advisor.prediction.physics.step_time import AS_FAST, FastestStep, fastest_step
from advisor.ranking.fabric import Link, doubt
from advisor.ranking.times import SAME_CLOCK
from bench_runner.recipes import TEXT_FAMILIES
from bench_runner.records.measurement import Settings
from bench_runner.settings.settings_tried import Kernels, with_kernels
from bench_runner.typed_numbers import NORMAL_90

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Flags = NDArray[np.bool_]

SECONDS_PER_DAY = 86_400.0
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
    nobody says."""
    if software == "ours":
        return w
    fused = w.fused_attention or w.fusible if wanted.fused is None else wanted.fused
    compiled = wanted.compiled is not False
    return replace(w, compiles=compiled, fused_attention=fused, opens=False)


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
    software: Software = "ours",
    network: tuple[int, Link] | None = None,
) -> Predictions:
    """Predict each pair that the three index arrays name with the ``wanted`` settings of one
    method. ``network``: how many machines share the GPUs, and what joins them; None: machines of
    eight with a port for each GPU."""
    import numpy as np

    own, naive = software == "ours", method == "naive"
    options = wanted.among(options_for(method, software))
    workloads = [as_run_by(w, software, wanted) for w in workloads]
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
    roomy = fastest(rows, replace(columns, memory_gib=np.full(len(rows), np.inf)))
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
    settings = "naive" if naive else "lean" if options[0].lean else "tuned"
    left = corrections(fitted, workloads, chips, pairs, exchange, far, method=settings, own=own)
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


def settings_of(option: Option, micro: int, steps: int, kernels: Kernels | None) -> Settings:
    """An option as it is written out: beyond the paper's settings with the kernels that are the
    most promising for a recipe."""
    settings = option.settings(micro, steps)
    if not option.lean or kernels is None:
        return settings
    return with_kernels(settings, kernels)


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """Predictions with the settings that a program writes out."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTime:
    """What a synchronised search of our own stack found with the paper's settings."""

    days: float
    settings: Settings | None

    def carries(self, paper: Settings, gain: float) -> bool:
        """Whether its difference from what is predicted with the paper's settings, which would be
        ``paper``, holds for the further ones, which take a share ``gain`` of the days.

        What offloading or recomputing cost says nothing of a run without: a search that found
        others faster than ``paper`` says nothing of how fast these are.
        """
        mine = self.settings
        if mine is None or gain > 1.0 - SAME_CLOCK:
            return True
        return (mine.offloading, mine.activation_checkpointing) == (
            paper.offloading,
            paper.activation_checkpointing,
        )

    def corrected(
        self, days: float, high: float, paper: Settings, gain: float, family: str
    ) -> tuple[float, float]:
        """Days with the further settings, of which the fit says ``days`` and at most ``high``, and
        half of their interval as a logarithm: what was measured less what they gain, else what is
        predicted and no more than was measured."""
        half = math.log(high / days)
        if not self.carries(paper, gain):
            return min(days, self.days), half
        return self.days * gain, min(half if family in TEXT_FAMILIES else 0.0, OWN_HALF_WIDTH)


Way = tuple[Predictions, "Whole", bool]
"""Predictions, the place of each pair in them (-1 where there is none), and whether they need
FUSED_ATTENTION."""


def fastest_of(ways: Sequence[Way]) -> tuple[Predictions, Flags]:
    """Of each pair the fastest that fits, in one table, and where it needs FUSED_ATTENTION."""
    import numpy as np

    first, places, attention = ways[0]
    columns = [field.name for field in fields(Predictions) if field.name != "options"]
    table = {name: getattr(first, name)[places] for name in columns}
    fused = np.full(len(places), attention)
    options = [*first.options]
    for many, places, attention in ways[1:]:
        # Where both stand at the bound of all trainings, rounding must not choose.
        faster = many.days[places] < table["days"] * AS_FAST
        better = (places >= 0) & many.fits[places] & (~table["fits"] | faster)
        for name in columns:
            found = getattr(many, name)[places]
            if name == "option":
                found = found + len(options)
            np.copyto(table[name], found, where=better)
        np.copyto(fused, attention, where=better)
        options += many.options
    return Predictions(options=tuple(options), **table), fused


def written_out(
    workloads: Sequence[Workload],
    chips: Sequence[Chip],
    workload_index: Whole,
    chip_index: Whole,
    counts: Whole,
    fitted: Fitted,
    wanted: Wanted = ANY,
    network: tuple[int, Link] | None = None,
    *,
    method: str = "optimal",
    software: Software = "ours",
) -> WrittenOut:
    """As `predict_many`; of our own ``optimal`` settings with every way that the program writes
    out: lean, as in the paper, or either with fused attention."""
    import numpy as np

    every = np.arange(len(counts))

    def made(
        models: Sequence[Workload], rows: Whole, method: str, software: Software = "ours"
    ) -> Predictions:
        asked = (models, chips, workload_index[rows], chip_index[rows], counts[rows], fitted)
        how: dict[str, Any] = {"wanted": wanted, "network": network}
        return predict_many(*asked, method=method, software=software, **how)

    if method != "optimal" or software != "ours":
        found = made(workloads, every, method, software)
        return WrittenOut(found, np.full(len(counts), False), None)
    lean, paper = made(workloads, every, "optimal"), made(workloads, every, "paper")
    ways: list[Way] = [(lean, every, False), (paper, every, False)]
    eager = np.array([w.fusible for w in workloads], dtype=bool)[workload_index]
    if eager.any():
        rows = np.flatnonzero(eager)
        places = np.full(len(counts), -1)
        places[rows] = np.arange(len(rows))
        fused = [
            replace(w, fused_attention=True, opens=False) if w.fusible else w for w in workloads
        ]
        ways += [(made(fused, rows, m), places, True) for m in ("optimal", "paper")]
    return WrittenOut(*fastest_of(ways), paper)


def other_software(
    *asked: Any, wanted: Wanted = ANY, network: tuple[int, Link] | None = None
) -> tuple[Floats, Floats, Floats]:
    """Days with a program of which nothing is known, and the ends of their interval: the middle of
    a plain one, a compiled one and a tuned one, whose spread widens it. ``asked`` as of
    `predict_many`."""
    import numpy as np

    kinds: tuple[tuple[Software, bool], ...] = (("plain", False), ("plain", True), ("tuned", True))
    made = [
        predict_many(
            *asked, wanted=replace(wanted, compiled=compiled), software=software, network=network
        )
        for software, compiled in kinds
    ]
    logs = np.log([many.days for many in made])
    half = np.log([many.high_days / many.days for many in made]).max(axis=0)
    middle = logs.mean(axis=0)
    half = np.hypot(half, NORMAL_90 * logs.std(axis=0))
    return np.exp(middle), np.exp(middle - half), np.exp(middle + half)
