"""The settings that can be tried, the rule that leaves each other one out, and their order.

Appendix F of the paper: activation checkpointing x sharding x offloading, 12 combinations on one
GPU and 22 on several. Light on purpose: the advisor imports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bench_runner import records
from bench_runner.records import Method, Settings, Sharding

SHARDINGS: tuple[Sharding | None, ...] = (None, *records.SHARDINGS)
STAGES: Mapping[Sharding | None, int] = {
    None: 0,
    "zero-1": 1,
    "zero-2": 2,
    "zero-3": 3,
    "fsdp-shard-grad-op": 2,
    "fsdp-full-shard": 3,
}
"""The ZeRO stage of each: 1 shards the optimiser's states, 2 gradients, 3 parameters as well."""
MINUTES_PER_TRIAL = 1.5
"""For the estimate before anything was measured, compilation included."""
FAST_TRIES = 1 / 6
"""The share of the settings that the fast search tries."""
METHODS = ("naive", "free-lunch", "paper", "all")
"""``paper``: its 12 or 22 combinations; ``all``: those times what bench_runner.kernels holds."""
KERNEL_TRIALS = 6
"""About how many other kernels the fast search of ``all`` tries at its best combination."""

OFFLOADING_NEEDS_SHARDING = "offloading is a part of ZeRO and FSDP, so it needs one of them"
SHARDING_NEEDS_GPUS = "over one GPU the paper shards to offload states and for nothing else"


class Choice(NamedTuple):
    """One combination, with the rule that leaves it out (None where it is in the space)."""

    settings: Settings
    left_out_by: str | None


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


def choices(gpu_count: int) -> tuple[Choice, ...]:
    """All 24 combinations of the memory-saving methods, each kept or left out by its rule."""
    if gpu_count < 1:
        raise ValueError(f"--gpus is {gpu_count}: give at least 1")
    found = []
    for sharding in SHARDINGS:
        for offloading in (False, True):
            for activation_checkpointing in (False, True):
                rule = None
                if offloading and sharding is None:
                    rule = OFFLOADING_NEEDS_SHARDING
                elif gpu_count == 1 and sharding is not None and not offloading:
                    rule = SHARDING_NEEDS_GPUS
                settings = settings_for(
                    free_lunch=True,
                    activation_checkpointing=activation_checkpointing,
                    sharding=sharding,
                    offloading=offloading,
                )
                found.append(Choice(settings=settings, left_out_by=rule))
    return tuple(found)


def space(gpu_count: int) -> tuple[Settings, ...]:
    """The combinations that are worth trying: 12 on one GPU, 22 on several."""
    return tuple(choice.settings for choice in choices(gpu_count) if choice.left_out_by is None)


def settings_of_method(method: str, gpu_count: int) -> tuple[Settings, ...]:
    """One setting for naive and free-lunch, the paper's space for paper; ValueError for others.

    What ``all`` is depends on the model: bench_runner.kernels has it.
    """
    if method == "naive":
        return (settings_for(free_lunch=False),)
    if method == "free-lunch":
        return (settings_for(free_lunch=True),)
    if method == "paper":
        return space(gpu_count)
    raise ValueError(f"--methods is {method!r}: choose among {', '.join(METHODS)}")


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
    if settings.offloading:
        words.append("offloading")
    if settings.activation_checkpointing:
        words.append("checkpointing")
    if settings.compilation is not None:
        words.append(
            {"none": "not compiled", "whole": "compiled whole"}.get(
                settings.compilation, "layers compiled"
            )
        )
    if settings.attention is not None:
        words.append(f"{settings.attention} attention")
    if settings.loss == "fused":
        words.append("fused loss")
    if settings.inputs == "trimmed":
        words.append("trimmed")
    if settings.weights == "half":
        words.append("half-precision weights")
    if settings.matmul == "fp8":
        words.append("fp8 products")
    if settings.states == "half":
        words.append("half-precision states")
    if settings.changes_training:
        words[-1] += " (changes training)"
    return " + ".join(words)


def micro_batch_sizes(batch_size: int, gpu_count: int) -> tuple[int, ...]:
    """The powers of two that divide the batch of one GPU, smallest first."""
    if batch_size < gpu_count or batch_size % gpu_count:
        raise ValueError(
            f"the batch of {batch_size} cannot be shared evenly by {gpu_count} GPUs: "
            "choose --gpus so that it divides the recipe's batch_size"
        )
    share = batch_size // gpu_count
    sizes = [1]
    while share % (sizes[-1] * 2) == 0:
        sizes.append(sizes[-1] * 2)
    return tuple(sizes)


def accumulation_steps(batch_size: int, gpu_count: int, micro_batch_size: int) -> int:
    """Passes per optimiser step, so that GPUs x micro-batch x passes is the recipe's batch."""
    steps, rest = divmod(batch_size, gpu_count * micro_batch_size)
    if rest or not steps:
        raise ValueError(
            f"micro-batch {micro_batch_size} on {gpu_count} GPUs does not divide the batch of "
            f"{batch_size}: choose one of {micro_batch_sizes(batch_size, gpu_count)}"
        )
    return steps


def estimated_minutes(trials: float) -> float:
    """A rough duration before anything was measured, for so many trials."""
    return trials * MINUTES_PER_TRIAL
