"""A process group's outcome as a record: times, memory, MFU, or the reason why there are none."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from bench_runner.launch.hardware import Machine, gpu_mark
from bench_runner.launch.trial import Outcome
from bench_runner.recipe_flops import FlopCount, UncountedArchitectureError, count_flops
from bench_runner.recipes import Recipe, recipe_hash
from bench_runner.records import timing
from bench_runner.records.journal import said_settings, with_id
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings import batch_and_sharding, search
from bench_runner.typed_numbers import percent, plain
from bench_runner.untrusted_text import printable

LOCAL_SOURCE = "measured-here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a search is asked for and what is here: what all of its trials have in common."""

    recipe: Recipe
    machine: Machine
    gpu_count: int
    device: str
    peak_tflops: Mapping[str, float]
    """Dense peaks of one GPU with FP32 accumulation, by ``fp16``, ``bf16``, ``tf32``, ``fp32``."""
    records_file: Path
    work_directory: Path
    strategy: search.Strategy = "fast"
    minutes: float | None = None
    """The whole search may take this long; it then answers with the best so far."""
    trial_minutes: float = 20.0
    again: bool = False
    launcher: str = "local"
    micro_batch_size: int | None = None
    """Time this size alone, without a climb."""
    largest_micro_batch: int | None = None
    trial: Mapping[str, Any] = field(default_factory=dict)
    """Further values of its trials, by the names of TrialSpec."""
    source_id: str = LOCAL_SOURCE
    node_count: int = 1
    job_number: str | None = None
    """Of the SLURM job that this is a part of."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Of the shell's, those that change how fast it trains (shell_variables.py)."""

    @property
    def gpu(self) -> str:
        """The device's name as its vendor spells it, or ``cpu``."""
        return "cpu" if self.device == "cpu" else self.machine.gpus[0].name

    def peak_for(self, settings: Settings) -> float | None:
        """The peak that these settings can reach; None where it was not given."""
        precision = self.recipe.training.precision
        tf32 = precision == "fp32" and settings.free_lunch
        return self.peak_tflops.get("tf32" if tf32 else precision)

    @property
    def climb(self) -> str:
        """How the micro-batch size is found, in words that tell records apart."""
        if self.micro_batch_size is not None:
            return f"micro-batch {self.micro_batch_size}"
        words = "fastest" if self.strategy == "fast" else "largest"
        if self.largest_micro_batch is not None:
            words += f" up to {self.largest_micro_batch}"
        return words

    @property
    def machine_key(self) -> str:
        """The same devices, driver and libraries have the same key."""
        facts: dict[str, Any] = {
            "device": self.device,
            "gpus": [gpu.name for gpu in self.machine.gpus[: self.gpu_count]],
            "driver": [gpu.driver for gpu in self.machine.gpus[:1]],
            "versions": self.machine.versions,
            "memory_limit_gib": None,  # as keys of earlier versions have it
            "cpu": self.machine.cpu,
        }
        if self.node_count > 1:
            facts["node_count"] = self.node_count
        if self.variables:
            facts["variables"] = dict(self.variables)
        text = json.dumps(facts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def configuration_key(setup: Setup, settings: Settings) -> str:
    """What must agree for a record to stand for a trial: recipe, settings, machine, versions, and
    how the micro-batch was found."""
    combination = replace(settings, micro_batch_size=None, gradient_accumulation_steps=None)
    text = json.dumps(
        [
            recipe_hash(setup.recipe),
            setup.gpu_count,
            setup.machine_key,
            list(said_settings(combination).values()),
            setup.climb,
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def counted(recipe: Recipe) -> FlopCount | None:
    """Parameters and FLOPs of a recipe; None where nothing counts its model."""
    try:
        return count_flops(recipe)
    except UncountedArchitectureError:
        return None


def left_out(setup: Setup, settings: Settings, reason: str) -> Measurement:
    """The record of settings that the planner left out."""
    facts = _facts_of_machine(setup, settings)
    return _record(setup, settings, facts, {"status": "pruned", "reason": reason})


def record_of(setup: Setup, settings: Settings, outcome: Outcome) -> Measurement:
    """The record of one trial."""
    facts = _facts_of_machine(setup, settings) | _facts_of_trial(setup, outcome)
    about = facts.get("about") or {}
    missing = about.get("missing_kernels") or []
    if missing and settings.free_lunch:
        # Without the kernels it is not the free lunch, and must not be filed as one.
        settings = replace(settings, free_lunch=False)
        facts["not_free_lunch_because"] = "missing kernels: " + ", ".join(missing)
    timed = outcome.last("timed")
    found: dict[str, Any] = {"status": "failed", "reason": _other_devices(setup, about)}
    if found["reason"] is None and timed is not None and outcome.status == "ok":
        try:
            found = _timed(setup, settings, facts, timed)
        except (ValueError, ArithmeticError) as error:
            found["reason"] = f"its seconds do not add up to a step: {error}"
    elif found["reason"] is None:
        found["reason"] = _one_line(outcome.reason or "no steps were timed")
        if outcome.status in ("infeasible", "climbed"):
            found["status"] = "infeasible"
        elif outcome.status != "ok":
            facts["log_tail"] = outcome.log_tail
    return _record(setup, settings, facts, found)


def _record(
    setup: Setup, settings: Settings, facts: dict[str, Any], found: Mapping[str, Any]
) -> Measurement:
    days = dict.fromkeys(("training_days", "training_days_low", "training_days_high"))
    values = {"settings": settings, **days, **found}
    return with_id(
        Measurement(
            measurement_id="",
            recipe_id=setup.recipe.recipe_id,
            recipe_hash=recipe_hash(setup.recipe),
            gpu=setup.gpu,
            gpu_count=setup.gpu_count,
            method=batch_and_sharding.method_name(settings),
            timing="synchronised",
            source_id=setup.source_id,
            node_count=setup.node_count,
            measured_on=date.today(),
            environment=facts,
            **values,
        )
    )


def _facts_of_machine(setup: Setup, settings: Settings) -> dict[str, Any]:
    """What a record's environment says of the machine."""
    machine = setup.machine
    facts: dict[str, Any] = {
        "host": machine.host,
        "cpu": machine.cpu,
        "cpu_count": machine.cpu_count,
        "host_memory_gib": machine.memory_gib,
        "driver": machine.gpus[0].driver if machine.gpus else None,
        "gpus": [
            {
                "name": gpu.name,
                "memory_gib": gpu.memory_gib,
                "compute_capability": gpu.compute_capability,
                "power_limit_w": gpu.power_limit_w,
                "mark": gpu_mark(gpu.uuid),
            }
            for gpu in machine.gpus[: setup.gpu_count]
        ],
        "versions": machine.versions,
        "configuration_key": configuration_key(setup, settings),
    }
    if setup.variables:
        facts["variables"] = dict(setup.variables)
    if setup.device == "cpu":
        facts["not_a_gpu"] = True
    return facts


def _facts_of_trial(setup: Setup, outcome: Outcome) -> dict[str, Any]:
    """What a record's environment says of the trial itself."""
    facts: dict[str, Any] = {
        "trial_wall_s": round(outcome.wall_s, 2),
        "gpu_s": round(outcome.wall_s * setup.gpu_count, 2),
    }
    if setup.node_count > 1:
        each = setup.gpu_count // setup.node_count
        facts["nodes"] = {"count": setup.node_count, "gpus_each": each}
        if outcome.lost_nodes:
            facts["nodes"] |= {"lost": outcome.lost_nodes, "job": setup.job_number}
    if outcome.time_limit_s is not None:
        facts["time_limit_s"] = outcome.time_limit_s
    if outcome.of_the_moment:
        facts["of_the_moment"] = True

    def said(event: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in event.items() if name not in ("event", "rank")}

    if (about := outcome.last("about")) is not None:
        facts["about"] = said(about)
    if probes := outcome.probes():
        facts["probes"] = [said(probe) for probe in probes]
    if (climbed := outcome.last("climbed")) is not None:
        sizes = batch_and_sharding.micro_batch_sizes(
            setup.recipe.training.batch_size, setup.gpu_count
        )
        facts["climb"] = {
            "samples_per_s": climbed["samples_per_s"],
            "stopped_by": climbed["stopped_by"],
            "at_the_end": climbed["micro_batch_size"] == sizes[-1],
        }
    if (model := outcome.last("model")) is not None:
        facts["parameters"] = model["parameters"]
    return facts


def _other_devices(setup: Setup, about: Mapping[str, Any]) -> str | None:
    """Why a time would stand for other GPUs than the record names; None where it does not."""
    said = about.get("devices")
    if setup.device == "cpu" or not isinstance(said, list):
        return None
    names = sorted({gpu.name for gpu in setup.machine.gpus[: setup.gpu_count]})
    others = [str(name) for name in said if _bare(str(name)) not in map(_bare, names)]
    if not others:
        return None
    return _one_line(
        f"torch ran on {others[0]}, where nvidia-smi names {' and '.join(names)}: choose GPUs of "
        "one kind by CUDA_VISIBLE_DEVICES, and whole ones"
    )


def _bare(name: str) -> str:
    """A GPU's name as all drivers have it."""
    return " ".join(name.split()).removeprefix("NVIDIA ").lower()


def _one_line(text: str) -> str:
    """What a library said, as one line that steers no terminal."""
    clean = printable(" ".join(text.split()))
    return clean if len(clean) <= 2000 else clean[:1999] + "…"


_OF_STEPS = (
    *("settled", "warm_up_s", "skipped_updates", "step_s_by_rank", "slowest_rank"),
    *("timed_passes", "peak_reserved_gib", "gpu", "parameters"),
)
"""What a record's environment says of the steps that were timed."""


def _timed(
    setup: Setup, settings: Settings, facts: dict[str, Any], timed: Mapping[str, Any]
) -> dict[str, Any]:
    """What a record has where steps were timed. Raises ValueError where they make no step."""
    raw = timing.RawSeconds(**{name: tuple(values) for name, values in timed["raw"].items()})
    passes = int(timed["accumulation_steps"])
    step = timing.step_time(raw, passes)
    if not 0 < step.step_s < math.inf:
        raise ValueError(f"{step.step_s} s, too short or too long to be a step")
    training = setup.recipe.training
    facts |= {name: timed[name] for name in _OF_STEPS}
    mfu, flops, peak = None, counted(setup.recipe), setup.peak_for(settings)
    if flops is not None:
        facts["peak_tflops"] = peak
        mfu = timing.model_flops_utilisation(
            flops_per_step=flops.train_sample_lowest * training.batch_size,
            step_s=step.step_s,
            peak_tflops=peak,
            gpu_count=setup.gpu_count,
        )
    size = int(timed["micro_batch_size"])
    used = replace(settings, micro_batch_size=size, gradient_accumulation_steps=passes)
    if mfu is not None and mfu > 1:
        reason = (
            f"refused: {plain(step.step_s, 4)} s a step implies {percent(mfu)} of the GPUs' peak "
            f"of {peak} TFLOP/s, which no measurement can show; check --peak-tflops and the clock"
        )
        return {"status": "failed", "reason": reason, "settings": used}
    return {
        "status": "ok",
        "reason": None,
        "settings": used,
        "training_days": timing.training_days(step.step_s, training.training_steps),
        "training_days_low": timing.training_days(step.step_s_low, training.training_steps),
        "training_days_high": timing.training_days(step.step_s_high, training.training_steps),
        "step_s": step.step_s,
        "peak_memory_gib": timed["peak_memory_gib"],
        "allocator_retries": timed["allocator_retries"],
        "mfu": mfu,
        **asdict(raw),
    }
