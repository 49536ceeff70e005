"""The settings that can be tried, and their order.

Appendix F of the paper: activation checkpointing x sharding x offloading, 12 combinations on one
GPU and 22 on several. Light on purpose: the advisor imports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import chain

from bench_runner.records import measurement
from bench_runner.records.measurement import Method, Settings, Sharding

SHARDINGS: tuple[Sharding | None, ...] = (None, *measurement.SHARDINGS)
STAGES: Mapping[Sharding | None, int] = {
    None: 0,
    "zero-1": 1,
    "zero-2": 2,
    "zero-3": 3,
    "fsdp-shard-grad-op": 2,
    "fsdp-full-shard": 3,
}
"""The ZeRO stage of each: 1 shards the optimiser's states, 2 gradients, 3 parameters as well."""
SECONDS_PER_TRIAL = 40
"""Of each trial beside its passes: start, compilation, settling. With ``PASSES_PER_TRIAL`` the
least squares over the 254 trials of ours that offload nothing (``trial_wall_s`` of the records in
published/ and docs/measurements/, on one to four H100 and H200)."""
PASSES_PER_TRIAL = 26
"""Of the micro-batch that is timed: a few while its size is found, some to settle, some timed."""
FAST_TRIES = 1 / 6
"""The share of the settings that the fast search tries."""
KERNEL_TRIALS: Mapping[str, tuple[int, int]] = {
    "decoder": (8, 3),
    "encoder": (7, 2),
    "vit": (5, 1),
    "convnet": (3, 1),
    "ssm": (2, 2),
}
"""About how many other kernels the fast search of ``all`` tries at its best combination, by family,
of a model that compiles and of one that does not (`search.expected_trials` counts them from the
recipe)."""

OFFLOADING_NEEDS_SHARDING = "offloading is a part of ZeRO and FSDP, so it needs one of them"


def settings_for(
    *,
    free_lunch: bool,
    activation_checkpointing: bool = False,
    sharding: Sharding | None = None,
    offloading: bool = False,
) -> Settings:
    """The settings before a micro-batch size is found for them."""
    return Settings(
        free_lunch=free_lunch,
        activation_checkpointing=activation_checkpointing,
        sharding=sharding,
        offloading=offloading,
        micro_batch_size=None,
        gradient_accumulation_steps=None,
    )


def space(gpu_count: int) -> tuple[Settings, ...]:
    """The combinations that are worth trying: 12 on one GPU, 22 on several. What is not sharded is
    not offloaded, and over one GPU the paper shards to offload states and for nothing else."""
    return tuple(
        settings_for(
            free_lunch=True,
            activation_checkpointing=checkpointing,
            sharding=sharding,
            offloading=offloading,
        )
        for sharding in SHARDINGS
        for offloading in (False, True)
        for checkpointing in (False, True)
        if not (offloading if sharding is None else gpu_count == 1 and not offloading)
    )


def method_name(settings: Settings) -> Method:
    """The method that a record of these settings is filed under."""
    if settings.changes_training:
        return "changes-training"
    if settings.sharding or settings.offloading or settings.activation_checkpointing:
        return "memory-saving"
    return "free-lunch" if settings.free_lunch else "naive"


def label(settings: Settings) -> str:
    """The settings in a few words, e.g. ``zero-1 + offloading + checkpointing``."""
    words: list[str] = [settings.sharding or "free lunch"]
    if not settings.free_lunch:
        words = ["naive", *words] if settings.sharding else ["naive"]
    attention = settings.attention and f"{settings.attention} attention"
    words += [
        word
        for word in (
            "offloading" if settings.offloading else None,
            "checkpointing" if settings.activation_checkpointing else None,
            _COMPILED.get(settings.compilation),
            attention,
            "fused loss" if settings.loss == "fused" else None,
            "trimmed" if settings.inputs == "trimmed" else None,
            {"half": "half-precision weights", "pure": "pure half precision"}.get(settings.weights),
            "fp8 products" if settings.matmul == "fp8" else None,
            "half-precision states" if settings.states == "half" else None,
        )
        if word is not None
    ]
    changes = " (changes training)" if settings.changes_training else ""
    return " + ".join(words) + changes


_COMPILED: Mapping[str | None, str] = {
    "none": "not compiled",
    "whole": "compiled whole",
    "regional": "layers compiled",
}
MOST_AT_ONCE = 2**16
"""Samples of a micro-batch: more than any GPU holds of any model."""


def micro_batch_sizes(batch_size: int, gpu_count: int) -> tuple[int, ...]:
    """What divides the batch of one GPU, smallest first, each about twice the one before: of a
    power of two all powers of two."""
    if batch_size < gpu_count or batch_size % gpu_count:
        raise ValueError(
            f"the batch of {batch_size} cannot be shared evenly by {gpu_count} GPUs: "
            "choose --gpus so that it divides the recipe's batch_size, or a batch of "
            f"{even_batch(batch_size, gpu_count)}"
        )
    return _sizes(batch_size // gpu_count)


@lru_cache(maxsize=1024)
def _sizes(share: int) -> tuple[int, ...]:
    sizes = [1]
    most = min(share, MOST_AT_ONCE)
    while sizes[-1] < most:
        last = sizes[-1]
        twice = range(2 * last, last, -1)
        farther = range(2 * last + 1, most + 1)
        size = next((n for n in chain(twice, farther) if n <= most and share % n == 0), None)
        if size is None:
            break
        sizes.append(size)
    return tuple(sizes)


def even_batch(batch_size: int, gpu_count: int) -> int:
    """The batch where the GPUs share it evenly; else about as many samples, which they do, in
    passes of a power of two: within a fiftieth where that can be."""
    if batch_size % gpu_count == 0:
        return batch_size
    near = gpu_count
    passes = 1
    while passes * gpu_count <= batch_size:
        found = max(1, round(batch_size / (passes * gpu_count))) * passes * gpu_count
        if passes == 1 or abs(found - batch_size) <= 0.02 * batch_size:
            near = found
        passes *= 2
    return near


def accumulation_steps(batch_size: int, gpu_count: int, micro_batch_size: int) -> int:
    """Passes per optimiser step, so that GPUs x micro-batch x passes is the recipe's batch."""
    steps, rest = divmod(batch_size, gpu_count * micro_batch_size)
    if rest or not steps:
        raise ValueError(
            f"micro-batch {micro_batch_size} on {gpu_count} GPUs does not divide the batch of "
            f"{batch_size}: choose one of {micro_batch_sizes(batch_size, gpu_count)}"
        )
    return steps


def estimated_minutes(trials: float, pass_s: float | None = None) -> float:
    """A rough duration before anything was measured, for so many trials; without ``pass_s``, the
    seconds that one pass of the micro-batch takes, no passes are counted."""
    return trials * (SECONDS_PER_TRIAL + PASSES_PER_TRIAL * (pass_s or 0.0)) / 60


def fast_search_minutes(
    family: str,
    gpu_count: int,
    *,
    compiles: bool,
    days: float,
    training_steps: int,
    settings: Settings | None,
) -> float:
    """How long `advisor bench` is expected to take where nothing else is asked for, of a model of
    this family whose run takes ``days`` with these settings; the one place that says so."""
    compiled, uncompiled = KERNEL_TRIALS.get(family, KERNEL_TRIALS["decoder"])
    tries = max(1.0, len(space(gpu_count)) * FAST_TRIES) + (compiled if compiles else uncompiled)
    steps = None if settings is None else settings.gradient_accumulation_steps
    return estimated_minutes(tries, days * 86_400 / training_steps / steps if steps else None)
