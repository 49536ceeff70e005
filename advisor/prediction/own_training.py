"""A training of the user's own, timed on one kind of GPU, moved to every other one.

Each kind of kernel moves by what both GPUs are known for: matrix products by the rate of their
precision, what is bound by memory by the bandwidth that kernels reach, the exchange by the links.
What the GPU waited for stays: a program or a disk is no faster beside a faster GPU.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any

from advisor.prediction.model.own_model import (
    LARGEST_TEXT,
    OwnModel,
    definition,
    model_from,
    name_of_own,
)
from advisor.prediction.physics.chip import Chip, chip_of
from advisor.typed_input import shown
from bench_runner.own_command.kernel_kinds import KINDS, PRODUCTS
from bench_runner.own_command.own_run import OwnRun
from bench_runner.records.record_checks import is_name
from bench_runner.records.timing import SECONDS_PER_DAY
from bench_runner.typed_numbers import NORMAL_90, percent, plain
from price_catalog.builds import GPU_COUNTS
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.load import load_catalog

if TYPE_CHECKING:
    from advisor.prediction.physics.memory import MemoryCosts
    from advisor.prediction.predict_one import Prediction
    from price_catalog.model import Gpu

FAMILY = "own"
MOST_STEPS = 10**12
_LARGEST = 1e15
SOURCE_ID = "prediction"
_PRODUCT_SHARE = 0.5
"""Of the peak, that matrix products of trainings reach, roughly: only the check of impossible times
asks for operations, and a profile of kernels does not count them."""
_SAME_GPU_SD = 0.02
"""Two cards of a kind, and a machine of another maker around them."""
_SD = {
    **dict.fromkeys(PRODUCTS, (0.055, 0.14, 0.25)),
    "attention": (0.07, 0.25, 0.35),
    "loads": (0.08, 0.25, 0.35),
    "memory": (0.08, 0.17, 0.25),
    "communication": (0.20, 0.35, 0.45),
    "transfer": (0.20, 0.30, 0.35),
    "data": (0.20, 0.35, 0.35),
    "host": (0.11, 0.28, 0.35),
}
"""How far a kind's seconds may be off, as a logarithm, on a GPU of the same generation, of another
one, of another maker. The first two hold 9 in 10 of the pairs of docs/your-own-training.md; what
is not computed, and another maker's, are a judgement."""
BY_BANDWIDTH = 0.7
"""Of a kernel that is bound by memory, how far it follows the bandwidth, as an exponent; the rest
follows the rate of loads. Chosen on the same pairs."""
_UNSEEN_EXCHANGE_SD = 0.5
"""Of an exchange that was not there: one GPU was measured, several are asked about."""
_HIDDEN = 0.5
"""Of an exchange that was not seen, what the backward pass hides: from nothing to all."""
WAITS_FROM = 0.1
"""Share of a step from which waiting for data or for the host is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTraining:
    """What a training of the user's own took, and how many steps it makes."""

    recipe_id: str
    name: str
    steps: int
    measured_on: date
    run: OwnRun

    @property
    def called(self) -> tuple[str, str]:
        """What names it, in lower case."""
        return self.recipe_id.casefold(), self.name.casefold()

    @property
    def precision(self) -> str:
        """Of most of its matrix products, in the words of a recipe."""
        usual = max(PRODUCTS, key=lambda kind: self.run.seconds.get(kind, 0.0))
        return {"fp16": "fp16", "bf16": "bf16", "fp8": "bf16"}.get(usual, "fp32")

    @property
    def training_days(self) -> float:
        """As measured."""
        return self.run.step_s * self.steps / SECONDS_PER_DAY

    def flops(self, gpu: Gpu) -> float:
        """Operations of the whole training, roughly."""
        seconds = sum(self.run.seconds.get(kind, 0.0) for kind in (*PRODUCTS, "attention"))
        rate = _rate(self.precision, chip_of(gpu), gpu) or 0.0
        return max(1.0, _PRODUCT_SHARE * rate * seconds * self.run.gpu_count * self.steps)


def own_training(run: OwnRun, name: str, steps: int, measured_on: date) -> OwnTraining:
    """A measurement under a name of the user's. Raises ValueError of one line."""
    recipe_id, called = name_of_own(name, "--name")
    own = OwnTraining(
        recipe_id=recipe_id, name=called, steps=steps, measured_on=measured_on, run=run
    )
    return _read(json.loads(training_text(own)))


def training_text(own: OwnTraining) -> str:
    """The definition that a store keeps and a file shares: numbers, and names of kernels."""
    row = {**asdict(own), "measured_on": own.measured_on.isoformat()}
    kernels = row["run"]["kernels"] = list(own.run.kernels)
    while True:
        text = json.dumps({"own_training": row}, separators=(",", ":"), allow_nan=False)
        if len(text) <= LARGEST_TEXT or not kernels:
            return text
        kernels.pop()  # C++ names its templates at length


def text_hash(own: OwnTraining) -> str:
    """Tells one measurement from another under the same name."""
    return hashlib.sha256(training_text(own).encode()).hexdigest()[:16]


def read_definition(text: object) -> OwnModel | OwnTraining:
    """What a row of models describes. Raises ValueError of one line."""
    content = definition(text)
    if "own_training" not in content:
        return model_from(content)
    try:
        return _read(content)
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"the definition {shown(str(text))} is no measured training") from None


def _read(content: Any) -> OwnTraining:
    """From JSON, each value checked. Raises ValueError."""
    import msgspec  # what ranks loads none of it

    row = content["own_training"]
    if row["run"].keys() != {field.name for field in fields(OwnRun)}:
        raise ValueError("the measured training has other fields than those of this version")
    try:
        own = msgspec.convert(row, OwnTraining)
    except msgspec.ValidationError as error:
        raise ValueError(f"the measured training is damaged: {error}") from None
    run = own.run
    for name, value in row["run"].items():
        flat = [*value, *value.values()] if isinstance(value, dict) else [value]
        if isinstance(value, list):
            flat = [part for pair in value for part in pair]
        if not all(map(_is_sound, flat)) and name != "not_profiled":
            raise ValueError(f"the measured training has {name} = {shown(str(value))}")
    if not 1 <= own.steps <= MOST_STEPS:
        raise ValueError(f"a training of {shown(str(own.steps))} steps is none; give --steps N")
    ordered = 0 < run.step_s_low <= run.step_s <= run.step_s_high
    named = name_of_own(own.name, "--name")[0] == own.recipe_id and is_name(run.gpu)
    counted = run.gpu_count > 0 < run.steps_timed and {*run.seconds} <= {*KINDS}
    if not (ordered and named and counted):
        raise ValueError("the measured training contradicts itself")
    return own


def _is_sound(value: object) -> bool:
    """Whether it is printable text, nothing, or a finite number of 0 or more."""
    if isinstance(value, str):
        return value.isprintable()
    return value is None or (isinstance(value, int | float) and 0 <= value <= _LARGEST)


# Moved to another GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One step on another machine, or why it cannot be."""

    memory_gib: float
    """What each GPU is to hold."""
    fits: bool
    step_s: float | None = None
    low_s: float = 0.0
    high_s: float = 0.0
    parts: Mapping[str, float] | None = None
    reason: str = ""

    def days(self, steps: int) -> tuple[float, float, float] | None:
        """Of the whole training, with the ends of its 90 % interval."""
        if self.step_s is None:
            return None
        return tuple(s * steps / SECONDS_PER_DAY for s in (self.step_s, self.low_s, self.high_s))  # type: ignore[return-value]


def source_gpu(own: OwnTraining, gpus: Sequence[Gpu]) -> Gpu | None:
    """Where it was measured, in the catalogue."""
    return index_gpus(gpus).get(normalise(own.run.gpu))


def moved(own: OwnTraining, here: Gpu, gpu: Gpu, count: int, costs: MemoryCosts) -> Moved:
    """One step of the training, timed on ``here``, on ``count`` of another GPU: the same batch,
    shared by them, with the same micro-batch."""
    run = own.run
    # Each GPU holds the same micro-batch; what is sharded grows where fewer share it.
    memory = run.allocated_gib
    if run.sharded:
        memory += run.state_gib * (run.gpu_count / count - 1.0)
    room = gpu.memory_gib * costs.usable - costs.fixed_gib
    same = gpu.gpu_id == here.gpu_id and count == run.gpu_count
    if memory > room and not same:
        return Moved(
            memory_gib=memory,
            fits=False,
            reason=(
                f"does not fit: it needs {plain(memory)} GiB of {gpu.memory_gib:g}; a smaller "
                "micro-batch with more accumulation may fit: measure that one"
            ),
        )
    if not run.seconds:
        parts: dict[str, float] | str = {"host": run.step_s} if same else "it was not profiled"
    else:
        parts = dict(run.seconds) if same else _parts(run, here, gpu, count)
    if isinstance(parts, str):
        return Moved(memory_gib=memory, fits=True, reason=f"no estimate: {parts}")
    step_s = run.step_s if same else sum(parts.values())
    alike = chip_of(here).generation == chip_of(gpu).generation
    kind = 0 if alike else 1 if here.vendor == gpu.vendor else 2
    sd = _SAME_GPU_SD + math.log(run.step_s_high / run.step_s) / NORMAL_90
    if gpu.gpu_id != here.gpu_id:
        sd += sum(_SD[each][kind] * s for each, s in parts.items()) / step_s
    elif not same:  # the same GPU: only what several of them share is in doubt
        doubtful = ("communication", "data", "host")
        sd += sum(_SD[each][1] * parts.get(each, 0.0) for each in doubtful) / step_s
    if run.gpu_count == 1 < count:
        sd += _UNSEEN_EXCHANGE_SD * parts.get("communication", 0.0) / step_s
    factor = math.exp(NORMAL_90 * sd)
    return Moved(
        memory_gib=memory,
        fits=True,
        step_s=step_s,
        low_s=step_s / factor,
        high_s=step_s * factor,
        parts=parts,
        reason=f"moved from your own run on {run.gpu_count} × {here.name}",
    )


def _parts(run: OwnRun, here: Gpu, gpu: Gpu, count: int) -> dict[str, float] | str:
    """Seconds of a step by kind on the other machine, or which figure is missing."""
    source, chip = chip_of(here), chip_of(gpu)
    share = run.gpu_count / count
    parts = {}
    for kind, seconds in run.seconds.items():
        if kind in ("data", "host", "communication"):
            continue
        ratio = _ratio(kind, (source, here), (chip, gpu))
        if ratio is None:
            return f"the catalogue has no {_figure(kind)} for {gpu.name}"
        parts[kind] = seconds * ratio * share
    exchange = _exchange(run, source, chip, count, sum(parts.values()))
    if exchange:
        parts["communication"] = exchange
    if host := run.seconds.get("host", 0.0):
        parts["host"] = host * max(1.0, share)  # fewer GPUs make more passes each
    if data := run.seconds.get("data", 0.0):
        # Where workers load meanwhile, batches come as fast as they came, and what computes sooner
        # waits longer; a few waits are no bottleneck.
        few = run.loads_serially or data < WAITS_FROM * run.step_s
        waits = data if few else run.step_s - sum(parts.values())
        if waits > 0:
            parts["data"] = waits
    return parts


def _ratio(kind: str, here: tuple[Chip, Gpu], there: tuple[Chip, Gpu]) -> float | None:
    """How many times as long a kind of kernel takes there; None where a figure is missing."""
    if kind == "transfer":
        return here[0].pcie_gb_s / there[0].pcie_gb_s
    if kind == "attention":
        half = all(chip.bf16_tflops is not None for chip, _ in (here, there))
        kind = "bf16" if half else "fp16"
    before, after = _rate(kind, *here), _rate(kind, *there)
    if before is None or after is None:
        return None
    ratio = before / after
    if kind != "memory" or here[0].load_tflops is None or there[0].load_tflops is None:
        return ratio
    # What waits for memory waits in part for its bandwidth, in part for its loads to be issued,
    # which follows the multiprocessors.
    loads = here[0].load_tflops / there[0].load_tflops
    return float(ratio**BY_BANDWIDTH * loads ** (1.0 - BY_BANDWIDTH))


def _rate(kind: str, chip: Chip, gpu: Gpu) -> float | None:
    """What a kind of kernel goes by, relative to other GPUs: bandwidth, the rate of loads, or the
    FLOP/s that large matrix products reach."""
    if kind in ("memory", "loads"):
        return chip.bandwidth_gb_s if kind == "memory" else chip.tap_tflops
    peaks = {
        "fp8": gpu.fp8_tflops,
        "fp16": chip.fp16_tflops,
        "bf16": chip.bf16_tflops,
        "tf32": chip.tf32_tflops,
    }
    peak = peaks.get(kind, chip.fp32_tflops)  # nothing is known of rates in FP64
    return None if peak is None else peak * chip.reach * 1e12


def _exchange(run: OwnRun, here: Chip, there: Chip, count: int, computing_s: float) -> float:
    """What the GPUs exchange in a step and nothing hides, in seconds."""
    if count == 1:
        return 0.0
    ring = 2.0 * (count - 1.0) / count
    if run.gpu_count > 1:
        before = 2.0 * (run.gpu_count - 1.0) / run.gpu_count / here.group_gb_s
        return run.seconds.get("communication", 0.0) * ring / there.group_gb_s / before
    seconds = ring * run.parameter_bytes / (there.group_gb_s * 1e9)
    return max(seconds - _HIDDEN * computing_s, (1.0 - _HIDDEN) * seconds)


def _figure(kind: str) -> str:
    if kind in ("memory", "loads"):
        return "memory bandwidth" if kind == "memory" else "fp32 rate"
    return "bf16 or fp16 rate" if kind == "attention" else f"{kind} rate"


def as_prediction(own: OwnTraining, gpu: Gpu, count: int, costs: MemoryCosts) -> Prediction:
    """The training on another machine as `predict` answers for any model. Raises ValueError."""
    from advisor.prediction.predict_one import MeasuredTime, Prediction

    here = source_gpu(own, load_catalog().gpus)
    if here is None:
        raise ValueError(f"the catalogue has no GPU called {shown(own.run.gpu)}")
    found = moved(own, here, gpu, count, costs)
    days = found.days(own.steps) or (None, None, None)
    same = gpu.gpu_id == here.gpu_id and count == own.run.gpu_count
    waits = waits_words(own.run, None if same else found.parts or {})
    scale = own.steps / SECONDS_PER_DAY
    return Prediction(
        target=own.recipe_id,
        gpu=gpu.name,
        gpu_count=count,
        method="your own",
        software="ours",
        basis="predicted",
        training_days=days[0],
        training_days_low=days[1],
        training_days_high=days[2],
        fits=found.fits,
        memory_gib=found.memory_gib if found.fits else None,
        reason=found.reason,
        parameters=own.run.parameters,
        active_parameters=own.run.parameters,
        training_flops=own.flops(here),
        distance=0.0,
        bench_minutes=3.0,
        assumptions=() if waits is None else (waits,),
        measured=(
            MeasuredTime(
                training_days=own.training_days,
                settings=None,
                source_id="measured-here",
                measured_on=own.measured_on.isoformat(),
                here=True,
                method="optimal",
                training_days_low=own.run.step_s_low * scale,
                training_days_high=own.run.step_s_high * scale,
                peak_memory_gib=own.run.memory_gib,
            ),
        )
        if same
        else (),
    )


def waits_words(run: OwnRun, parts: Mapping[str, float] | None = None) -> str | None:
    """What a GPU waits for, and that a faster one waits as long; None where it hardly waits.
    ``parts`` are the seconds of a step on other GPUs than those that it was timed on."""
    who = "your GPUs wait" if parts is None else "they would wait"
    seconds = run.seconds if parts is None else parts
    step_s = sum(seconds.values())
    if not step_s:
        return None
    data, host = (seconds.get(kind, 0.0) / step_s for kind in ("data", "host"))
    if data >= WAITS_FROM and data >= host:
        words = f"{who} {percent(data)} of the time for data"
        if run.loads_serially:
            return f"{words}, which is loaded between steps: load it with workers (num_workers)"
        return f"{words}: no faster GPU will help; load it with more workers, or a faster disk"
    if host >= WAITS_FROM:
        return (
            f"{who} {percent(host)} of the time for the program: a faster GPU helps the rest "
            "alone; larger micro-batches or torch.compile make them wait less"
        )
    return None


def training_rows(
    trainings: Sequence[OwnTraining],
    gpus: Sequence[Gpu],
    costs: MemoryCosts,
    counts: Sequence[int] = GPU_COUNTS,
) -> list[dict[str, Any]]:
    """The rows of predictions of each training on each count of each GPU; none where a figure is
    missing, or where it was measured on a GPU that the catalogue does not know."""
    rows = []
    for own in trainings:
        here = source_gpu(own, load_catalog().gpus)
        if here is None:
            continue
        nearest = f"your own run on {own.run.gpu_count} × {here.name}"
        for gpu in gpus:
            for count in counts:
                found = moved(own, here, gpu, count, costs)
                days = found.days(own.steps)
                row = {
                    "recipe_id": own.recipe_id,
                    "gpu_id": gpu.gpu_id,
                    "gpu_count": count,
                    "source_id": SOURCE_ID,
                    "host_memory_gib": 0.0,
                    "reason": found.reason,
                }
                if not found.fits:
                    rows.append({**row, "status": "infeasible"})
                elif days is not None:
                    middle, low, high = (float(f"{each:.4g}") for each in days)
                    rows.append(
                        {
                            **row,
                            "status": "ok",
                            "training_days": middle,
                            "training_days_low": low,
                            "training_days_high": high,
                            "comparison_factor": float(f"{high / middle:.4g}"),
                            "peak_memory_gib": float(f"{found.memory_gib:.3g}"),
                            "evidence_pieces": 1,
                            "evidence_nearest": nearest,
                            "verdict": "plausible",
                            "verdict_reason": "moved from a measured step",
                        }
                    )
    return rows
