"""Measurements as plain records: what the runner prints and what the published tables hold.

Light on purpose (standard library only): the store reads these without torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, TypeVar, get_args

Sharding = Literal["zero-1", "zero-2", "zero-3", "fsdp-shard-grad-op", "fsdp-full-shard"]
Method = Literal["naive", "free-lunch", "memory-saving", "optimal", "original", "changes-training"]
"""``optimal`` is the best of a search; ``original`` how the model was first trained: for
comparison, on no machine of ours. What changes the training never stands for its time."""
Status = Literal["ok", "infeasible", "failed", "pruned"]
"""``infeasible`` does not fit, ``pruned`` was not tried; only ``ok`` has a time."""
Compilation = Literal["none", "whole", "regional"]
"""Not at all, the model as one piece, or each of its repeated layers by itself."""
Loss = Literal["plain", "fused"]
"""``fused``: the last linear layer and the cross-entropy together, without stored logits."""
Inputs = Literal["full", "trimmed"]
"""``trimmed``: a decoder's last token, which has nothing to predict, is not fed."""
Attention = Literal["eager", "sdpa", "flash"]
Weights = Literal["fp32", "half", "pure"]
"""Of what is trained. ``fp32``: what autocast rounds in each product; ``half``: all of a pass in
half precision, with FP32 masters for the optimiser; ``pure``: half precision without masters, as a
checkpoint is loaded, which changes the training. Adapters are ``fp32``, as peft makes them, or
``pure``."""
Matmul = Literal["recipe", "fp8"]
"""``recipe``: matrix products in the recipe's precision. Records of others alone have ``fp8``."""
States = Literal["fp32", "half"]
"""Of the optimiser; records of others alone have ``half``."""
Timing = Literal["synchronised", "unsynchronised"]
"""Whether the clock waited for the device."""

SHARDINGS: tuple[Sharding, ...] = get_args(Sharding)
ATTENTIONS: tuple[Attention, ...] = get_args(Attention)
_Choice = TypeVar("_Choice", bound=str)


def one_of(value: object, known: Sequence[_Choice], what: str) -> _Choice:
    """The value, known to be a choice; ValueError names those that there are."""
    for each in known:
        if each == value:
            return each
    raise ValueError(f"{what} {value!r} is not one of {', '.join(known)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the model was trained: the paper's Appendix F, and what is exact and faster still."""

    free_lunch: bool
    """Compilation, fused kernels and TF32 together."""
    activation_checkpointing: bool
    sharding: Sharding | None
    offloading: bool
    micro_batch_size: int | None
    gradient_accumulation_steps: int | None
    compilation: Compilation | None = None
    """None: as free lunch has it in the paper, the whole model where that works."""
    loss: Loss = "plain"
    inputs: Inputs = "full"
    attention: Attention | None = None
    """None: what the recipe names, or the fastest kernel that is installed."""
    weights: Weights = "fp32"
    matmul: Matmul = "recipe"
    states: States = "fp32"

    @property
    def changes_training(self) -> bool:
        """Whether what is trained is not what the recipe says, so that no time compares."""
        return self.matmul == "fp8" or self.states == "half" or self.weights == "pure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One tried setting on one machine: a time, or the reason why there is none.

    Times are for the recipe's whole training run. ``training_days_low`` and ``training_days_high``
    bound the true value as far as the record itself tells (rounding of a printed day, spread of
    the repeated steps); they are None where ``training_days`` is.
    """

    measurement_id: str
    """The same facts have the same id, so that merging twice is merging once."""
    recipe_id: str
    recipe_hash: str | None
    gpu: str
    """A name or an alias from the GPU catalogue; for a CPU run, ``cpu``."""
    gpu_count: int
    method: Method
    settings: Settings | None
    status: Status
    reason: str | None
    training_days: float | None
    training_days_low: float | None
    training_days_high: float | None
    timing: Timing
    source_id: str
    measured_on: date | None
    pass_s: tuple[float, ...] = ()
    """Raw seconds of each forward and backward pass without gradient exchange."""
    sync_pass_s: tuple[float, ...] = ()
    """Raw seconds of each pass that ends with the gradient exchange."""
    update_s: tuple[float, ...] = ()
    """Raw seconds of each parameter update."""
    step_s: float | None = None
    """One full optimiser step, derived from the raw seconds by bench_runner.records.timing."""
    peak_memory_gib: float | None = None
    environment: dict[str, Any] = field(default_factory=dict)
    """Device names, topology, driver, library versions, clocks, power, host: as recorded."""
    first_pass_s: tuple[float, ...] = ()
    """Raw seconds of the first pass of each step, which writes gradients instead of adding."""
    fetch_s: tuple[float, ...] = ()
    """Raw seconds of fetching one pass's batch."""
    mfu: float | None = None
    """Counted FLOPs over the GPUs' dense peak; None where the peak was not given."""
    node_count: int = 1
    """Machines that shared the GPUs."""
    lab: str | None = None
    """Who measured it, by a name of their own; None: whoever holds the record."""
    allocator_retries: int | None = None
    """How often the allocator had to free its cache and try again while the steps were timed."""
