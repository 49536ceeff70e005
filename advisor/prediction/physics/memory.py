"""Which settings fit a GPU, and with which micro-batch: weights, gradients, optimiser states,
activations, logits, scores, by setting.

Bytes a parameter follow from how each setting keeps its states (Rajbhandari et al. 2020, section
3; Zhao et al. 2023). How many bytes an element of each kind costs while it waits for the backward
pass is fitted to the micro-batches of the paper's Appendix J (fit_memory.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from bench_runner.records.measurement import Settings
from bench_runner.settings.batch_and_sharding import SHARDINGS, STAGES, micro_batch_sizes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from advisor.prediction.physics.columns import Columns
    from advisor.ranking.times import Model, TrainingTime

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

GIB = 2.0**30
ADAM_STATES = 2
"""Numbers that Adam keeps a parameter, in FP32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCosts:
    """Bytes that an element costs until the backward pass has used it, and what is always gone."""

    half_layer: float
    """An element that the layers keep, in half precision: two bytes, and some that are FP32."""
    naive_layer: float
    """The same of a text model that is not compiled, whose norms and activations keep copies."""
    fp32_layer: float
    logit: float
    """A logit: in half precision, in FP32 for the loss, its gradient, and copies of it."""
    half_logit: float
    """The same where the whole model is in half precision (DeepSpeed)."""
    score: float
    """An attention score that is not fused away."""
    buckets: float
    """Bytes a parameter that data parallelism keeps to exchange gradients in."""
    fixed_gib: float
    """CUDA context, library workspaces, fragmentation."""
    usable: float
    """Share of the memory that can be had."""


WIDE_SCORE = 6.2
"""Bytes a score at least where it is computed in FP32: as the softmax gave it, the half-precision
copy that meets the values, and what passes through one layer. GPT-J's and CodeGen's kept 6.14 each
on an H100 (docs/measurements.md), BLOOM's and MPT's, computed in half precision, about 4."""
ADAPTER_ELEMENT = 0.8
"""Bytes that an element costs that an adapter in FP32 reads or writes, where no compiler writes its
casts: Llama shapes of 1B, 3B and 8B kept 0.7 on an H200, more on an H100 (docs/prediction.md)."""
NORMED_AGAIN = 2.5
"""Of the hidden elements that a layer with adapters keeps a token: its two normalised inputs and a
part of a third, which a compiler computes again. By Llama shapes on an H200, as AGAIN_ADAPTED."""
AGAIN = 1.5
"""How often the elements of a layer that is computed again are there: with gradients of some."""
AGAIN_ADAPTED = 2.5
"""The same with adapters."""
HOST_SHARE = 0.95
"""Of the host's memory, what a training may fill."""
HOST_GIB_A_GPU = 64.0
"""Host memory for each GPU, as in the paper's appendix B; offloading is held against it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One combination of settings that prediction considers."""

    free_lunch: bool
    checkpointing: bool
    stage: int
    """What is sharded: 0 nothing, 1 optimiser states, 2 gradients too, 3 parameters too."""
    offloading: bool
    lean: bool = False
    """Whether layers are compiled one by one, the loss is fused with the last linear layer and the
    last token is not fed: `worker/exported/lean_loss.py`. Exact, and not among the paper's."""
    half_weights: bool = False
    """Whether passes touch weights in half precision alone, as training code in C and CUDA does:
    it casts no FP32 weight."""
    recomputed: float = 1.0
    """Share of the forward pass that checkpointing computes again."""

    def settings(self, micro_batch_size: int, accumulation_steps: int) -> Settings:
        """The same in the runner's terms, which list no sharding and ZeRO's stages first."""
        return Settings(
            free_lunch=self.free_lunch,
            activation_checkpointing=self.checkpointing,
            sharding=SHARDINGS[self.stage],
            offloading=self.offloading,
            micro_batch_size=micro_batch_size,
            gradient_accumulation_steps=accumulation_steps,
            **(LEAN if self.lean else {}),
        )


LEAN: Mapping[str, Any] = {"compilation": "regional", "loss": "fused", "inputs": "trimmed"}
"""The further settings of `Option.lean`, as `bench_runner export` writes them out."""
NAIVE = Option(free_lunch=False, checkpointing=False, stage=0, offloading=False)
OPTIONS = tuple(
    Option(free_lunch=True, checkpointing=checkpointing, stage=stage, offloading=offloading)
    for stage, offloading in (
        (0, False),
        (1, False),
        (2, False),
        (3, False),
        (1, True),
        (2, True),
        (3, True),
    )
    for checkpointing in (False, True)
)
"""Those of the paper's appendix F that differ for the model; ZeRO and FSDP are one."""
LEAN_OPTIONS = tuple(replace(option, lean=True) for option in OPTIONS)
"""The same, lean."""

Software = Literal["ours", "plain", "tuned"]
SOFTWARE: tuple[Software, ...] = get_args(Software)
"""Whose program: ours with the settings that `advisor` writes out; a plain one of PyTorch with a
fused attention where the library has one; or one with kernels of its own, as GPU makers tune for
their benchmarks (Megatron, NeMo, llm.c)."""
RECOMPUTED = 2.0 / 3.0
"""Share of the forward pass that checkpointing computes again in other people's programs, which
keep attention's results or some of the layers."""


def of_others(option: Option, *, tuned: bool = False) -> Option:
    """The same in somebody else's program, which may be ``tuned``: kernels of its own touch weights
    in half precision alone and fuse the loss."""
    if option.checkpointing:
        option = replace(option, recomputed=RECOMPUTED)
    return replace(option, lean=True, half_weights=True) if tuned else option


PLAIN_OPTIONS = tuple(map(of_others, OPTIONS))
TUNED_OPTIONS = tuple(of_others(option, tuned=True) for option in OPTIONS)


def options_for(method: str, software: Software = "ours") -> tuple[Option, ...]:
    """Those that a method may choose from: ``optimal`` is the best of what we write out, ``paper``
    the best of the paper's; of somebody else's ``software`` the best that it may have."""
    if method == "naive":
        return (NAIVE,)
    if software != "ours":
        return TUNED_OPTIONS if software == "tuned" else PLAIN_OPTIONS
    if method == "free-lunch":
        return tuple(o for o in OPTIONS if not (o.checkpointing or o.stage or o.offloading))
    return OPTIONS if method == "paper" else LEAN_OPTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Settings and host memory that were asked for; None: whatever is fastest."""

    host_gib: float = HOST_GIB_A_GPU
    """Host memory for each GPU."""
    stage: int | None = None
    checkpointing: bool | None = None
    offloading: bool | None = None
    micro_batch_size: int | None = None
    compiled: bool | None = None
    """Of another program than ours, as ``fused``: whether it is compiled."""
    fused: bool | None = None
    """... and whether its attention is one fused kernel."""

    def among(self, options: Sequence[Option]) -> tuple[Option, ...]:
        """Those that have it."""
        return tuple(
            option
            for option in options
            if self.stage in (None, option.stage)
            and self.checkpointing in (None, option.checkpointing)
            and self.offloading in (None, option.offloading)
        )

    def micro_batch(
        self, option: Option, columns: Columns, costs: MemoryCosts, sample: Floats | None = None
    ) -> Floats:
        """As the function of this name, with the host's memory; where a size is asked for, it, or
        0 where it does not fit."""
        import numpy as np

        size = self.micro_batch_size
        if size is None:
            return micro_batch(option, columns, costs, self.host_gib, sample)
        most = room(option, columns, costs, self.host_gib, sample)
        return np.where(size <= np.minimum(most, columns.even_share), float(size), 0.0)


ANY = Wanted()


def applies(option: Option, columns: Columns) -> NDArray[np.bool_]:
    """Whether an option is in the space at all: sharding over one GPU only with offloading, but for
    what we write out, where ZeRO-1 alone keeps half-precision weights too."""
    import numpy as np

    ok = np.ones(len(columns), dtype=bool)
    if option.stage and not option.offloading and not (option.lean and option.stage == 1):
        ok &= columns.count > 1
    if option.checkpointing:
        ok &= columns.checkpoints
    if option.offloading or option.stage in (1, 2):
        ok &= columns.frozen == 0.0  # there are hardly any states to share
    return ok


def static_bytes(option: Option, columns: Columns, costs: MemoryCosts) -> Floats:
    """What a GPU holds whatever the micro-batch: weights, gradients and optimiser states."""
    import numpy as np

    half, count, parameters = columns.half, columns.count, columns.trained
    weight = columns.weight_bytes
    frozen = columns.frozen * columns.frozen_bytes / (count if option.stage == 3 else 1.0)
    states = 4.0 * ADAM_STATES + np.where(half, 4.0, 0.0)  # FP32 master copy of half weights
    if option.stage == 0:
        cast = np.where(half, 2.0, 0.0)  # autocast keeps its half-precision copies for the pass
        buckets = np.where(count > 1, costs.buckets, 0.0)
        return parameters * (16.0 + cast + buckets) + frozen
    sharded = 0.0 if option.offloading else states / count
    if option.stage == 1:
        return parameters * (2 * weight + sharded) + frozen
    if not option.offloading:
        sharded = sharded + 4.0 / count  # gradients are added up in FP32
    if option.stage == 2:
        own = 0.0 if option.offloading else weight / count
        bucket = np.minimum(parameters * weight, 2e9)
        return parameters * (weight + own + sharded) + bucket + frozen
    every = columns.parameters
    gathered = np.minimum(every, 1e9) * weight + 3 * every / columns.layers * weight
    own = 0.0 if option.offloading else 2 * weight / count
    return gathered + parameters * (own + sharded) + frozen


def update_bytes(option: Option, columns: Columns, static: Floats) -> Floats:
    """What a GPU holds during the update, when the activations are gone: FP32 gradients too.

    ZeRO-1 casts all of its part at once, and finds no room of that size in what the backward pass
    has left: on an H200 models of 6.9 to 7.2B parameters run out of memory so, with 16 bytes a
    parameter in use, 4 held in pieces and 4 asked for.
    """
    if option.stage == 0:
        return columns.trained * (16.0 + 4.0) + columns.frozen * columns.frozen_bytes
    if option.offloading:
        return static
    own = 8.0 if option.stage == 1 else 0.0
    return static + own * columns.trained / columns.count


def memory_gib(option: Option, columns: Columns, costs: MemoryCosts, kept: Floats) -> Floats:
    """What a GPU is to hold, in GiB, where its pass keeps ``kept`` bytes."""
    import numpy as np

    static = static_bytes(option, columns, costs)
    most = np.maximum(static + kept, update_bytes(option, columns, static))
    return most / GIB + costs.fixed_gib


def kernels_written(option: Option, columns: Columns) -> Flags:
    """Where a compiler writes the layers' kernels. DeepSpeed's are not, by the paper's
    settings."""
    return columns.compiles & (option.free_lunch and (option.stage == 0 or option.lean))


def sample_bytes(option: Option, columns: Columns, costs: MemoryCosts) -> Floats:
    """What one more sample in the micro-batch costs."""
    import numpy as np

    half = columns.half
    naive = not option.free_lunch
    compiled = kernels_written(option, columns) | option.lean
    # Casts are copies: of weights in FP32, so not where DeepSpeed casts the model as a whole or the
    # weights are frozen; images and scans hardly keep any.
    adapted = columns.adapter_elements > 0.0
    copies = columns.text & ~compiled & ~adapted & (columns.scan_elements == 0.0)
    copies &= option.stage == 0
    layer = np.where(copies, costs.naive_layer, costs.half_layer)
    layer = np.where(half, layer, costs.fp32_layer)
    score = np.where(
        columns.fused & (columns.always_fused | (not naive)),
        0.0,
        np.where(columns.wide_scores, max(costs.score, WIDE_SCORE), costs.score),
    )
    logit = costs.half_logit if option.stage else costs.logit
    scan = 12.0 if naive else 0.0  # without its kernel a scan writes three FP32 arrays of states
    copied = np.where(kernels_written(option, columns), columns.copied_elements, 0.0)
    layers = (columns.layer_elements - copied) * layer + columns.score_elements * score
    layers = layers + np.where(columns.convnet, 0.0, columns.scan_elements * scan)
    if not (option.stage or option.half_weights):
        # Experts keep FP32 there, where a layer is counted in half precision (fastest_step.py).
        layers = layers + np.where(half, 2.0 * columns.expert_elements, 0.0)
    inputs = columns.layers * columns.tokens * columns.width * columns.weight_bytes
    if adapted.any():
        casts = np.where(compiled, 0.0, columns.adapter_elements * ADAPTER_ELEMENT)
        layers = layers + casts - np.where(adapted & compiled, NORMED_AGAIN * inputs, 0.0)
    if option.checkpointing:
        again = np.where(adapted, AGAIN_ADAPTED, AGAIN)
        # A convolutional network is checkpointed stage by stage: its largest stage stays.
        layers = np.where(columns.convnet, 0.35 * layers, inputs + again * layers / columns.layers)
    logits = columns.logit_elements * np.where(half, logit, costs.logit)
    if option.lean:
        logits = np.where(columns.fuses_loss, 0.0, logits)
    return layers + logits


def host_gib_needed(option: Option, parameters: Any, count: Any, *, half: bool) -> Any:
    """Host memory in all, in GiB, for an option that offloads; 5 % are the system's.

    DeepSpeed pins FP32 weights, their gradients and a buffer as wide as the model's weights for
    each GPU, which torch rounds up to powers of two, and keeps Adam's states besides: 57 GiB were
    taken by 2.3B parameters. Stage 3 keeps the weights there as well.
    """
    if not option.offloading:
        return 0.0 * parameters
    own, width = parameters / count, 2.0 if half else 4.0
    pinned = 2.0 * _power_above(4.0 * own) + _power_above(width * own)
    if option.stage == 3 and half:
        pinned = pinned + _power_above(width * own)
    return (pinned + 4.0 * ADAM_STATES * own) * count / (HOST_SHARE * GIB)


def _power_above(size: Any) -> Any:
    """The power of two that holds it."""
    if isinstance(size, int | float):
        return 2.0 ** math.ceil(math.log2(size))
    import numpy as np

    return np.exp2(np.ceil(np.log2(size)))


def host_gib_of(time: TrainingTime | None, model: Model) -> float | None:
    """Host memory in all, in GiB, that an estimate's settings need; None for what is no estimate,
    or offloads nothing."""
    settings = None if time is None or time.basis != "predicted" else time.settings
    if time is None or settings is None or not settings.offloading:
        return None
    stage = STAGES[settings.sharding]
    option = Option(free_lunch=True, checkpointing=False, stage=stage, offloading=True)
    half = model.precision != "fp32"
    return float(host_gib_needed(option, model.parameters, time.gpu_count, half=half))


def micro_batch(
    option: Option,
    columns: Columns,
    costs: MemoryCosts,
    host_gib: Floats | float = HOST_GIB_A_GPU,
    sample: Floats | None = None,
) -> Floats:
    """Of the micro-batches that a search tries, which make up the batch, the largest that fits; 0
    where none does."""
    import numpy as np

    share = columns.even_share
    most = np.minimum(room(option, columns, costs, host_gib, sample), share)
    power = np.ldexp(1.0, np.frexp(np.maximum(most, 0.5))[1] - 1)  # of two, up to this
    fitting = np.where(most >= 1.0, power, 0.0)
    odd = (most >= 1.0) & (np.frexp(share)[0] != 0.5)
    for samples in np.unique(share[odd]):
        here = odd & (share == samples)
        sizes = np.array(micro_batch_sizes(int(samples), 1), dtype=float)
        fitting[here] = sizes[np.searchsorted(sizes, most[here], side="right") - 1]
    return fitting


def room(
    option: Option,
    columns: Columns,
    costs: MemoryCosts,
    host_gib: Floats | float = HOST_GIB_A_GPU,
    sample: Floats | None = None,
) -> Floats:
    """How many samples fit at once, 0 where the option does not apply or what it keeps does not
    fit. ``sample`` are the sample_bytes, where they are known already."""
    import numpy as np

    budget = (columns.memory_gib * costs.usable - costs.fixed_gib) * GIB
    static = static_bytes(option, columns, costs)
    if sample is None:
        sample = sample_bytes(option, columns, costs)
    ok = applies(option, columns) & (update_bytes(option, columns, static) <= budget)
    if option.offloading:
        needed = np.where(
            columns.half,
            host_gib_needed(option, columns.parameters, columns.count, half=True),
            host_gib_needed(option, columns.parameters, columns.count, half=False),
        )
        ok &= needed <= host_gib * columns.count
    return np.where(ok, (budget - static) / sample, 0.0)
