"""One prediction for one model on one machine, with its interval and its reason in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor.costs.amount_words import minutes_words
from advisor.prediction.distance import FARTHEST, nearness
from advisor.prediction.fitted import Fitted
from advisor.prediction.model.askable_models import Target
from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip
from advisor.prediction.physics.memory import (
    ANY,
    HOST_GIB_A_GPU,
    Option,
    Software,
    Wanted,
    host_gib_needed,
    options_for,
)
from advisor.ranking.fabric import Fabric, fabric_words, link_of
from bench_runner.recipe_flops import count_flops
from bench_runner.recipes import TEXT_FAMILIES
from bench_runner.records.measurement import Settings
from bench_runner.records.timing import SECONDS_PER_DAY
from bench_runner.settings.batch_and_sharding import even_batch, fast_search_minutes
from bench_runner.typed_numbers import count_words, percent, plain

if TYPE_CHECKING:
    from advisor.prediction.physics.columns import Columns
    from advisor.prediction.predict_many import Asked, Days, Predictions

MOST_GPUS = 1024
"""The evidence has no larger training; above 64 each doubling widens the interval."""
METHODS = ("naive", "free-lunch", "paper", "optimal")
"""``optimal`` is the best of the settings that we write out, ``paper`` of the paper's."""
_LARGER = (2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Numbers of GPUs that are tried where a model does not fit on fewer."""
_TRIED = {
    "naive": " with naive settings",
    "free-lunch": " without memory-saving methods",
    "paper": " with any memory-saving method of the paper",
    "optimal": "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTime:
    """A synchronised measurement of the same training on the same GPUs."""

    training_days: float
    settings: Settings | None
    source_id: str
    measured_on: str | None
    here: bool
    """Whether on the user's own machine."""
    method: str
    training_days_low: float | None = None
    """With ``training_days_high`` what holds 9 in 10 such runs, where measured elsewhere on another
    card of the kind."""
    training_days_high: float | None = None
    peak_memory_gib: float | None = None
    """Of one GPU."""

    @property
    def ends(self) -> tuple[float, float]:
        """Of its interval; the time itself where it has none."""
        days = self.training_days
        return self.training_days_low or days, self.training_days_high or days


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A predicted time: days with the interval that holds 90 % of such times, or why not."""

    target: str
    gpu: str
    gpu_count: int
    method: str
    software: str
    """``ours``, ``plain`` or ``tuned``: whose program it is."""
    basis: str
    """``predicted``, always: a prediction never passes for a measurement."""
    training_days: float | None
    training_days_low: float | None
    training_days_high: float | None
    other_software_days: float | None = None
    """With a program of which nothing is known, and the interval of it."""
    other_software_days_low: float | None = None
    other_software_days_high: float | None = None
    paper_settings_days: float | None = None
    """Of ``optimal``: days with the best of the paper's settings; `training_days` are with the best
    that the program writes out. None where the paper's do not fit."""
    paper_settings_days_low: float | None = None
    paper_settings_days_high: float | None = None
    paper_settings: Settings | None = None
    fits: bool
    settings: Settings | None = None
    """The fastest that fit, as far as physics can tell."""
    memory_gib: float | None = None
    """That each GPU is to hold with them."""
    reason: str
    host_gib_needed: float | None = None
    """Host memory for each GPU that the settings need; where nothing fits, the least by which
    something would. None where nothing is offloaded."""
    frozen_weights: str | None = None
    """How weights that adapters leave as they are are held: ``bf16``, ``fp16`` or ``nf4``. What
    `settings` says of weights is of those that are trained."""
    parameters: int
    active_parameters: int
    """Those that one token passes through: of a mixture of experts the experts chosen for it."""
    training_flops: float
    """Operations of the whole run, attention over the full square, nothing computed twice."""
    distance: float
    """From the nearest measured model and GPU; 0 is at one, beyond 2 there is no prediction."""
    measure: str | None = None
    """What to measure to get a prediction, or a narrower one."""
    bench_minutes: float
    """About how long `advisor bench` takes for it."""
    assumptions: tuple[str, ...] = ()
    analytic_days: float | None = None
    """FLOPs over the peak: the paper's analytic estimate, which no real training reaches."""
    measured: tuple[MeasuredTime, ...] = ()
    """What was measured of this model on these GPUs, the fastest first."""
    machines: int = 1
    """That share the GPUs, joined by ``network``."""
    network: Fabric | None = None
    one_machine_days: float | None = None
    one_machine_days_low: float | None = None
    one_machine_days_high: float | None = None
    """Of several machines: what one of them takes."""


def predict(
    target: Target | Workload,
    chip: Chip,
    count: int,
    fitted: Fitted,
    *,
    method: str = "optimal",
    wanted: Wanted = ANY,
    software: Software = "ours",
    machines: int = 1,
    network: Fabric | None = None,
    measured: Sequence[MeasuredTime] = (),
) -> Prediction:
    """Predict one model on ``count`` GPUs of one kind (loads numpy), with settings as ``wanted``,
    by our program or one of another ``software``. ``network`` joins ``machines`` that share the
    GPUs; more than eight GPUs of which nothing is said are in machines of eight. ``measured`` is
    quoted; where a search with the paper's settings is among it, what is predicted starts from it,
    as in `shipped_predictions.predicted_rows`.

    Raises ValueError, one line, for wrong input.
    """
    import numpy as np

    from advisor.prediction.predict_many import (
        Asked,
        OwnTime,
        days_of,
        other_software,
        predict_many,
        written_out,
    )
    from advisor.prediction.shipped_predictions import shipped_fit
    from bench_runner.settings.exact_settings import most_promising

    target = Target(workload=target) if isinstance(target, Workload) else target
    workload, naive = target.workload, method == "naive"
    options = wanted.among(options_for(method, software))
    _refuse(workload, count, method, wanted, options)
    zero, counts = np.zeros(1, dtype=int), np.array([count])
    asked = Asked(
        *([workload], [chip], zero, zero, counts, fitted),
        method=method,
        wanted=wanted,
        software=software,
        network=None if network is None else (machines, link_of(network)),
    )
    found = written_out(asked)
    many = found.fastest
    days, low, high = days_of(many.days, many.low_days, many.high_days)
    nothing: Days = (None, None, None)
    other = one = nothing
    if days is not None and software == "ours":
        other = days_of(*other_software(asked))
    kernels = None if target.recipe is None else most_promising(target.recipe)
    settings = found.settings(0, kernels)
    minutes = fast_search_minutes(
        workload.family,
        count,
        compiles=workload.compiles,
        days=days or 0.0,
        training_steps=workload.training_steps,
        settings=None if days is None else settings,
    )
    timed = None
    for time in measured if method == "optimal" else ():
        if time.method == "optimal" and (time.settings is None or time.settings.loss != "fused"):
            gain = written_out(replace(asked, fitted=shipped_fit())).gains()[0]
            timed = OwnTime(days=time.training_days, settings=time.settings), float(gain)
            break
    (days, low, high), paper = found.told(0, timed)
    if network is not None:
        alone = predict_many(replace(asked, counts=counts // machines, network=None))
        one, paper = days_of(alone.days, alone.low_days, alone.high_days), nothing
    fits, distance = bool(many.fits[0]), float(many.distance[0])
    host_gib = None
    if fits and days is not None:
        reason = f"physics fitted to {fitted.observations} measured times, {nearness(distance)}"
        reason = reason if measured else f"not measured: {reason}"
    elif fits:
        reason = f"no prediction: {_why_no_days(workload, chip, distance, naive=naive)}"
    else:
        reason, host_gib = misfit(asked, options, far=distance > FARTHEST)
    if settings is not None and settings.offloading:
        host_gib = host_gib_for(many.options[int(many.option[0])], workload, count)
    bench = (
        f"benchmark {workload.workload_id} on {count} x {chip.name} (advisor bench, about "
        f"{minutes_words(minutes)})"
    )
    measurable = fits and software == "ours" and not measured and not _lacks_bf16(workload, chip)
    peak = chip.peak_tflops(workload.precision, free_lunch=not naive)
    frozen = (
        "nf4" if workload.frozen_bytes < 2.0 else "fp16" if workload.precision == "fp16" else "bf16"
    )
    active = workload.parameters
    if target.recipe is not None and target.parameters is None and not workload.frozen:
        active = count_flops(target.recipe).active_parameters
    return Prediction(
        target=workload.workload_id,
        gpu=chip.name,
        gpu_count=count,
        method=method,
        software=software,
        basis="predicted",
        training_days=days,
        training_days_low=low,
        training_days_high=high,
        other_software_days=other[0],
        other_software_days_low=other[1],
        other_software_days_high=other[2],
        paper_settings_days=paper[0],
        paper_settings_days_low=paper[1],
        paper_settings_days_high=paper[2],
        paper_settings=None if network else found.settings(0, None, paper=True),
        fits=fits,
        settings=settings,
        memory_gib=float(many.memory_gib[0]) if fits else None,
        reason=reason,
        host_gib_needed=host_gib,
        frozen_weights=frozen if workload.frozen else None,
        parameters=workload.parameters,
        active_parameters=active,
        training_flops=workload.flops,
        distance=distance,
        bench_minutes=minutes,
        measure=bench if measurable else None,
        assumptions=(
            *target.assumptions,
            *_assumed(many, settings, asked, network),
        ),
        # The paper's section 3.1: all FLOPs at the dense peak.
        analytic_days=peak and workload.flops / (count * peak * 1e12) / SECONDS_PER_DAY,
        measured=tuple(measured),
        machines=machines,
        network=network,
        one_machine_days=one[0],
        one_machine_days_low=one[1],
        one_machine_days_high=one[2],
    )


def _assumed(
    many: Predictions, settings: Settings | None, asked: Asked, network: Fabric | None
) -> list[str]:
    """What is assumed of the settings and the machines."""
    from advisor.prediction.predict_many import MEASURED_GPUS

    (workload,), count, wanted, said = asked.workloads, int(asked.counts[0]), asked.wanted, []
    if settings is not None and settings.offloading:
        said.append(f"{plain(wanted.host_gib, 6)} GiB of host memory for each GPU")
    if bool(many.at_bound[0]):
        tuned, fitted = asked.software == "tuned", asked.fitted
        share = percent(fitted.tuned_share if tuned else fitted.highest_share)
        said.append(
            f"held to {share} of this GPU's speed in matrix products: no training was measured to "
            "reach more"
        )
    batch = even_batch(workload.batch_size, count)
    if settings is not None and batch != workload.batch_size:
        said.append(
            f"a batch of {batch:,}, which {count} GPUs share evenly, instead of "
            f"{workload.batch_size:,}"
        )
    if asked.software == "plain" and wanted.compiled is None:
        said.append("a compiled program")
    if count > MEASURED_GPUS:
        said.append(f"more than {MEASURED_GPUS:g} GPUs, where the interval is wider")
    if network is not None:
        lost = percent(float(many.slowdown[0]) - 1)
        said += [
            f"{fabric_words(network)} between the machines, one port each, without other traffic",
            f"{lost} longer than if the machines did not wait for each other",
        ]
    elif count > 8:
        said.append("machines of eight GPUs, a 400 Gb/s port for each GPU")
    return said


def _why_no_days(workload: Workload, chip: Chip, distance: float, *, naive: bool) -> str:
    """Why a training that fits has no time."""
    if distance > FARTHEST:
        return "nothing that was measured is like this model on this GPU"
    if _lacks_bf16(workload, chip):
        return f"the {chip.name} has no bf16 cores, and " + (
            "experts in FP16 are not predicted; ask for a GPU that has some, such as the A100"
            if workload.expert_products
            else "this model trains in bf16; ask with --precision fp16"
        )
    if chip.peak_tflops(workload.precision, free_lunch=not naive) is None:
        name = workload.precision if workload.precision != "fp32" or naive else "TF32"
        return f"the catalogue has no {name} rate for {chip.name}"
    what = "memory bandwidth" if chip.bandwidth_gb_s is None else "power limit"
    return f"the catalogue has no {what} for {chip.name}"


def _lacks_bf16(workload: Workload, chip: Chip) -> bool:
    """Whether the GPU is of a generation of NVIDIA's before bf16, compute capability 8."""
    numbered = chip.generation.replace(".", "", 1).isdigit()
    early = numbered and float(chip.generation) < 8.0
    return workload.precision == "bf16" and early and chip.bf16_tflops is None


def _refuse(
    workload: Workload, count: int, method: str, wanted: Wanted, options: Sequence[Option]
) -> None:
    """ValueError for what cannot be asked."""
    if isinstance(count, bool) or not 1 <= count <= MOST_GPUS:
        raise ValueError(f"{count} GPUs cannot be predicted; give 1 to {MOST_GPUS}")
    if method not in METHODS:
        raise ValueError(f"method '{method}' is not one of {', '.join(METHODS)}")
    if wanted.offloading and wanted.stage == 0:
        raise ValueError(
            "optimiser states are offloaded where they are sharded, on one GPU too; give "
            "--sharding zero-1 or leave --sharding out"
        )
    if not options:
        raise ValueError(f"no settings of the method {method} are as asked; leave one out")
    micro_size = wanted.micro_batch_size
    if micro_size is not None and micro_size * count > workload.batch_size:
        raise ValueError(
            f"a micro-batch of {micro_size:,} on {count} GPU{'s'[: count > 1]} is more than the "
            f"batch of {workload.batch_size:,}; give --micro-batch "
            f"{max(1, workload.batch_size // count)} or less"
        )


def misfit(
    asked: Asked, options: Sequence[Option], *, far: bool = False
) -> tuple[str, float | None]:
    """What keeps the one model from the GPUs: the batch, what is kept of one sample, or the model;
    and what would help, more GPUs or host memory, how many GiB of it each GPU needs. ``far``:
    whether no time is predicted there either."""
    import numpy as np

    from advisor.prediction.physics.columns import WorkloadTable

    (workload,), (chip,), count = asked.workloads, asked.chips, int(asked.counts[0])
    wanted, costs = asked.wanted, asked.fitted.costs
    if workload.batch_size < count:
        return (
            f"does not fit: a batch of {workload.batch_size:,} cannot be shared by "
            f"{count:,} GPUs; give --batch {count} or more",
            None,
        )
    table = WorkloadTable([workload], [chip])

    def columns(*counts: int) -> Columns:
        zeros = np.zeros(len(counts), dtype=int)
        return table.columns(zeros, zeros, np.array(counts))

    here, anything = columns(count), replace(wanted, host_gib=math.inf)
    offloaded = [o for o in options if anything.micro_batch(o, here, costs)[0]]
    host = min((host_gib_for(o, workload, count) for o in offloaded), default=None)
    tried = "" if offloaded else _TRIED[asked.method]
    if not offloaded and replace(wanted, host_gib=HOST_GIB_A_GPU) != ANY:
        tried = " with the settings that were asked for"
    bare = replace(anything, micro_batch_size=None)
    held = any(bare.micro_batch(o, here, costs, np.ones(1))[0] for o in options)
    needs = f"{count_words(workload.parameters)} parameters need"
    if held and not offloaded:
        needs, tried = _samples(workload, wanted), f" beside the model{tried}"
    words = f"does not fit: {needs} more than {chip.memory_gib:g} GiB a GPU{tried}"
    larger = [more for more in _LARGER if count < more <= workload.batch_size]
    mends = []
    if larger and (offloaded or not held):
        fitting = np.any([wanted.micro_batch(o, columns(*larger), costs) for o in options], axis=0)
        mends = [f"it fits on {more}" for more, n in zip(larger, fitting, strict=True) if n][:1]
    if host is not None:
        has = f"{wanted.host_gib:,.0f}" if wanted.host_gib >= 10 else plain(wanted.host_gib, 2)
        each = "" if count == 1 else " for each GPU"
        there = f"{host:,.0f} GiB of host memory{each}, where {has} GiB are there"
        mends.append(f"with {there}" if mends else f"it fits with {there}")
    words += f"; {', or '.join(mends)}" if mends else ""
    return words + (f"; {NO_TIME_EITHER}" if mends and far else ""), host


NO_TIME_EITHER = "nothing that was measured is like this model, so no time is predicted there"


def host_gib_for(option: Option, workload: Workload, count: int) -> float:
    """Host memory for each of the GPUs that an option needs, in whole GiB."""
    half = workload.precision != "fp32"
    return float(math.ceil(host_gib_needed(option, workload.parameters, count, half=half) / count))


def _samples(workload: Workload, wanted: Wanted) -> str:
    """``a sequence of 1,000,000 tokens needs``: what a pass holds at once."""
    size = wanted.micro_batch_size or 1
    if workload.family in TEXT_FAMILIES:
        what = f"{{}} of {workload.tokens:,} tokens"
        one, many = "a sequence", "sequences"
    else:
        what, one, many = "{}", "an image of this size", "images"
    return f"{what.format(one)} needs" if size == 1 else f"{what.format(f'{size:,} {many}')} need"
