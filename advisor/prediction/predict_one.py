"""One prediction for one model on one machine, with its interval and its reason in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from advisor.costs.amount_words import minutes_words
from advisor.prediction.distance import FARTHEST
from advisor.prediction.fitted import Fitted
from advisor.prediction.model.targets import Target
from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip
from advisor.prediction.physics.memory import (
    ANY,
    HOST_GIB_A_GPU,
    MemoryCosts,
    Option,
    Software,
    Wanted,
    host_gib_needed,
    micro_batch,
    options_for,
)
from advisor.ranking.fabric import Fabric, fabric_words, link_of
from bench_runner.recipe_flops import count_flops
from bench_runner.recipes import TEXT_FAMILIES
from bench_runner.records.measurement import Settings
from bench_runner.settings.paper_space import accumulation_steps, even_batch, fast_search
from bench_runner.typed_numbers import count_words, percent, plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from advisor.prediction.physics.columns import Columns
    from advisor.prediction.predict_many import Predictions
    from advisor.prediction.shipped_predictions import OwnTime
    from bench_runner.settings.settings_tried import Kernels

    Floats = NDArray[np.float64]

MOST_GPUS = 1024
"""The evidence has no larger training; above 64 each doubling widens the interval."""
METHODS = ("naive", "free-lunch", "paper", "optimal")
"""``optimal`` is the best of the settings that we write out, ``paper`` of the paper's."""
SECONDS_PER_DAY = 86_400.0
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
    fitting: tuple[Settings, ...] = ()
    """All that fit, each with its largest micro-batch."""
    reason: str
    host_gib_needed: float | None = None
    """Host memory for each GPU that the settings need; where nothing fits, the least by which
    something would. None where nothing is offloaded."""
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


def analytic_days(workload: Workload, chip: Chip, count: int, *, naive: bool) -> float | None:
    """The paper's section 3.1: all FLOPs at the dense peak; None where the peak is not known."""
    peak = chip.peak_tflops(workload.precision, free_lunch=not naive)
    if peak is None:
        return None
    return workload.flops / (count * peak * 1e12) / SECONDS_PER_DAY


def with_measured(answer: Prediction, measured: tuple[MeasuredTime, ...]) -> Prediction:
    """The prediction with what was measured, which is quoted first."""
    if not measured:
        return answer
    reason = answer.reason.removeprefix("not measured: ")
    return replace(answer, measured=measured, reason=reason, measure=None)


def from_own_time(
    answer: Prediction, own: OwnTime, family: str, unmoved: Callable[[], Prediction]
) -> Prediction:
    """The prediction from what a search on these very GPUs took with the paper's settings, as in
    a ranking: `shipped_predictions.predicted_rows`. ``unmoved`` predicts it by the shipped fit."""
    plain = unmoved()
    days, high, paper = answer.training_days, answer.training_days_high, answer.paper_settings
    if (
        days is None
        or high is None
        or paper is None
        or plain.training_days is None
        or plain.paper_settings_days is None
    ):
        return answer
    gain = min(plain.training_days / plain.paper_settings_days, 1.0)
    days, half = own.corrected(days, high, paper, gain, family)
    return replace(
        answer,
        training_days=days,
        training_days_low=days / math.exp(half),
        training_days_high=days * math.exp(half),
        paper_settings_days=own.days,
        paper_settings_days_low=own.days,
        paper_settings_days_high=own.days,
    )


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
) -> Prediction:
    """Predict one model on ``count`` GPUs of one kind (loads numpy), with settings as ``wanted``,
    by our program or one of another ``software``. ``network`` joins ``machines`` that share the
    GPUs; more than eight GPUs of which nothing is said are in machines of eight.

    Raises ValueError, one line, for wrong input.
    """
    import numpy as np

    from advisor.prediction.physics.columns import WorkloadTable
    from advisor.prediction.predict_many import (
        FUSED_ATTENTION,
        MEASURED_GPUS,
        other_software,
        predict_many,
        settings_of,
        written_out,
    )
    from bench_runner.settings.settings_tried import most_promising

    if isinstance(target, Workload):
        target = Target(workload=target)
    workload = target.workload
    options = wanted.among(options_for(method, software))
    _refuse(workload, count, method, wanted, options)
    batch = even_batch(workload.batch_size, count)
    zero, counts = np.zeros(1, dtype=int), np.array([count])
    joint = None if network is None else (machines, link_of(network))
    table = WorkloadTable([workload], [chip])
    columns = table.columns(zero, zero, counts, joint)
    asked = ([workload], [chip], zero, zero, counts, fitted)
    nothing: tuple[float | None, ...] = (None, None, None)
    paper, paper_settings = nothing, None
    further: Mapping[str, Any] = {}
    if method == "optimal" and software == "ours":
        every = written_out(*asked, wanted, joint)
        many = every.fastest
        further = FUSED_ATTENTION if every.fused[0] else {}
        if joint is None:
            paper = _first(every.paper.days, every.paper.low_days, every.paper.high_days)
            paper_settings = _settings(every.paper, batch, count, None)
    else:
        many = predict_many(*asked, method=method, wanted=wanted, software=software, network=joint)
    days, low, high = _first(many.days, many.low_days, many.high_days)
    other = nothing
    if days is not None and software == "ours":
        other = _first(*other_software(*asked, wanted=wanted, network=joint))
    one = nothing
    if network is not None:
        alone = ([workload], [chip], zero, zero, counts // machines, fitted)
        single = predict_many(*alone, method=method, wanted=wanted, software=software)
        one = _first(single.days, single.low_days, single.high_days)

    kernels = None if target.recipe is None else most_promising(target.recipe)
    fitting = []
    for option in options:
        if micro := int(wanted.micro_batch(option, columns, fitted.costs)[0]):
            steps = accumulation_steps(batch, count, micro)
            fitting.append(settings_of(option, micro, steps, kernels))
    fits, distance = bool(many.fits[0]), float(many.distance[0])
    settings, host_gib = _settings(many, batch, count, kernels), None
    if settings is not None:
        settings = replace(settings, **further)
        if settings.offloading:
            host_gib = host_gib_for(many.options[int(many.option[0])], workload, count)
    assumptions = list(target.assumptions)
    if settings is not None and settings.offloading:
        assumptions.append(f"{plain(wanted.host_gib, 6)} GiB of host memory for each GPU")
    # One GPU cannot share: where sharding was asked for, it is no measure of the many.
    if fits and bool(many.beyond_linear[0]) and not wanted.stage:
        assumptions.append(
            f"more than {count} times as fast as one GPU, which must save memory in ways that "
            f"{count} need not"
        )
    if bool(many.at_bound[0]):
        share = fitted.tuned_share if software == "tuned" else fitted.highest_share
        assumptions.append(
            f"held to {percent(share)} of this GPU's speed in matrix products: no training was "
            "measured to reach more"
        )
    if fits and batch != workload.batch_size:
        assumptions.append(
            f"a batch of {batch:,}, which {count} GPUs share evenly, instead of "
            f"{workload.batch_size:,}"
        )
    if settings is not None and settings.micro_batch_size is not None:
        best = many.options[int(many.option[0])]
        held = int(micro_batch(best, columns, fitted.costs, wanted.host_gib)[0])
        if wanted.micro_batch_size is None and 2 * settings.micro_batch_size <= held:
            assumptions.append(_small_passes(batch, count, settings.micro_batch_size, held))
    if software == "plain" and wanted.compiled is None:
        assumptions.append("a compiled program")
    if count > MEASURED_GPUS:
        assumptions.append(f"more than {MEASURED_GPUS:g} GPUs, where the interval is wider")
    if network is not None:
        lost = percent(float(many.slowdown[0]) - 1)
        assumptions += [
            f"{fabric_words(network)} between the machines, one port each, nobody else on it",
            f"{lost} longer than if the machines did not wait for each other",
        ]
    elif count > 8:
        assumptions.append("machines of eight GPUs, a 400 Gb/s port for each GPU")
    naive = method == "naive"
    if fits and days is not None:
        reason = (
            f"not measured: physics fitted to {fitted.observations} measured times, "
            f"{_nearness(distance)}"
        )
    elif fits and distance > FARTHEST:
        reason = "no prediction: nothing that was measured is like this model on this GPU"
    elif fits and _lacks_bf16(workload, chip):
        reason = f"no prediction: the {chip.name} has no bf16 cores, and " + (
            "experts in FP16 are not predicted; ask for a GPU that has some, such as the A100"
            if workload.expert_products
            else "this model trains in bf16; ask with --precision fp16"
        )
    elif fits:
        reason = f"no prediction: the catalogue has no {_missing(workload, chip, naive)}"
    else:
        reason, host_gib = misfit(workload, chip, count, method, wanted, options, fitted.costs)
    search = fast_search(
        workload.family,
        count,
        compiles=workload.compiles,
        days=0.0 if days is None else days,
        training_steps=workload.training_steps,
        settings=None if days is None else settings,
    )
    bench = (
        f"benchmark {workload.workload_id} on {count} x {chip.name} (advisor bench, about "
        f"{minutes_words(search.minutes)})"
    )
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
        paper_settings=paper_settings,
        fits=fits,
        settings=settings,
        fitting=tuple(fitting),
        reason=reason,
        host_gib_needed=host_gib,
        parameters=workload.parameters,
        active_parameters=_active(target),
        training_flops=workload.flops,
        distance=distance,
        bench_minutes=search.minutes,
        measure=bench if fits and software == "ours" and not _lacks_bf16(workload, chip) else None,
        assumptions=tuple(assumptions),
        analytic_days=analytic_days(workload, chip, count, naive=naive),
        machines=machines,
        network=network,
        one_machine_days=one[0],
        one_machine_days_low=one[1],
        one_machine_days_high=one[2],
    )


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


def _first(*columns: Floats) -> tuple[float | None, ...]:
    """Of each column the one entry, None where it is no number."""
    return tuple(None if math.isnan(column[0]) else float(column[0]) for column in columns)


def _settings(
    many: Predictions, batch: int, count: int, kernels: Kernels | None
) -> Settings | None:
    """The fastest that fit; None where none do."""
    if not many.fits[0]:
        return None
    from advisor.prediction.predict_many import settings_of

    micro = int(many.micro_batch_size[0])
    option = many.options[int(many.option[0])]
    return settings_of(option, micro, accumulation_steps(batch, count, micro), kernels)


def misfit(
    workload: Workload,
    chip: Chip,
    count: int,
    method: str,
    wanted: Wanted,
    options: Sequence[Option],
    costs: MemoryCosts,
) -> tuple[str, float | None]:
    """What keeps the model from the GPUs: the batch, the host's memory, what is kept of one sample,
    or the model itself. If only host memory is missing, also how many GiB each GPU needs of it."""
    import numpy as np

    from advisor.prediction.physics.columns import WorkloadTable

    if workload.batch_size < count:
        return (
            f"does not fit: a batch of {workload.batch_size:,} cannot be shared by "
            f"{count:,} GPUs; give --batch {count} or more",
            None,
        )
    tried = _TRIED[method]
    if replace(wanted, host_gib=HOST_GIB_A_GPU) != ANY:
        tried = " with the settings that were asked for"
    table = WorkloadTable([workload], [chip])

    def columns(*counts: int) -> Columns:
        zeros = np.zeros(len(counts), dtype=int)
        return table.columns(zeros, zeros, np.array(counts))

    here = columns(count)
    anything = replace(wanted, host_gib=math.inf)
    offloading = [o for o in options if anything.micro_batch(o, here, costs)[0]]
    if offloading:
        there = wanted.host_gib
        has = f"{there:,.0f}" if there >= 10 else plain(there, 2)
        host = min(host_gib_for(o, workload, count) for o in offloading)
        each = "" if count == 1 else " for each GPU"
        return (
            f"does not fit: its optimiser states need at least {host:,.0f} GiB of host "
            f"memory{each}, and {has} GiB are there",
            host,
        )
    nothing_kept = np.ones(1)
    held = any(
        replace(anything, micro_batch_size=None).micro_batch(o, here, costs, nothing_kept)[0]
        for o in options
    )
    if held:
        return (
            f"does not fit: {_samples(workload, wanted)} more than {chip.memory_gib:g} GiB "
            f"a GPU beside the model{tried}",
            None,
        )
    larger = [more for more in _LARGER if count < more <= workload.batch_size]
    fitting = np.zeros(len(larger))
    if larger:
        fitting += sum(wanted.micro_batch(o, columns(*larger), costs) for o in options)
    enough = next((more for more, n in zip(larger, fitting, strict=True) if n), None)
    mend = "" if enough is None else f"; it fits on {enough}"
    return (
        f"does not fit: {count_words(workload.parameters)} parameters need more than "
        f"{chip.memory_gib:g} GiB a GPU{tried}{mend}",
        None,
    )


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


def _small_passes(batch: int, count: int, micro: int, held: int) -> str:
    """That the batch is made up of smaller passes than fit, with one that is not."""
    near = max(1, round(batch / (count * held))) * count * held
    samples = f"{micro} sample{'s'[: micro > 1]}"
    return (
        f"passes of {samples}, where {held} fit: larger ones do not make up the batch of "
        f"{batch:,}, as they do one of {near:,}"
    )


def _active(target: Target) -> int:
    if target.recipe is None or target.parameters is not None or target.workload.frozen:
        return target.workload.parameters
    return count_flops(target.recipe).active_parameters


def _nearness(distance: float) -> str:
    if distance < 0.05:
        return "this size and GPU among them"
    if distance <= 0.5:
        return f"close to the nearest of them (distance {distance:.1f})"
    return f"away from the nearest of them (distance {distance:.1f}), hence the wide interval"


def _lacks_bf16(workload: Workload, chip: Chip) -> bool:
    """Whether the GPU is of a generation of NVIDIA's before bf16, compute capability 8."""
    numbered = chip.generation.replace(".", "", 1).isdigit()
    early = numbered and float(chip.generation) < 8.0
    return workload.precision == "bf16" and early and chip.bf16_tflops is None


def _missing(workload: Workload, chip: Chip, naive: bool) -> str:
    """Which figure of the datasheet a time would need."""
    if chip.peak_tflops(workload.precision, free_lunch=not naive) is None:
        name = workload.precision if workload.precision != "fp32" or naive else "TF32"
        return f"{name} rate for {chip.name}"
    what = "memory bandwidth" if chip.bandwidth_gb_s is None else "power limit"
    return f"{what} for {chip.name}"
