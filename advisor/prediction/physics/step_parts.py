"""The seconds of single parts of an optimiser step, every factor 1: attention, dropout, experts,
norms, and what a GPU waits for its host.

`step_time.py` makes a step of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.memory import Option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

TERMS = (
    "compute",
    "operands",
    "power",
    "attention",
    "elementwise",
    "issue",
    "logits",
    "scores",
    "scan",
    "convolution",
    "experts",
    "loops",
    "waits",
    "norms",
    "groups",
    "dropout",
    "update",
    "exchange",
    "exposed",
    "launches",
    "company",
    "offload",
)

NORM_PIXEL_S = 2.13e-9
"""Seconds in which cuDNN takes a batch norm's statistics of one position and hands back its
gradient, whether of 16 channels or of 256: a block of threads walks through each (`bn_fw_tr_1C11`
and `bn_bw_1C11` of an H100, profiled: docs/measurements.md)."""
MASK_COST = 1.8
"""What cuDNN's attention takes under a mask that is written out, beside the same square without:
1.55 to 2.3, beyond what handing over its inputs takes (docs/measurements.md)."""
DROPPED_OPS = 600.0
"""Operations in which a compiler's kernel draws a number for an element to drop, forward and again
backward, beside the norm that follows the sum: 17.7 picoseconds on an H100 of widths that are a
power of two, to which it fills up narrower ones (docs/measurements.md)."""
FILLED_UP = 1024.0
"""The widest that is."""
DROPPED_SCORE_OPS = 46.0
"""Operations in which cuDNN's attention draws one for a score, forward and backward: 1.4
picoseconds on an H100 (docs/measurements.md)."""
LOOP_S = 140e-6
"""Seconds in which a host launches one product of a loop over experts: each has as many rows as the
router sent, for which cuBLAS looks for a kernel anew. On an H100's host 128 to 145, in FP16, and in
BF16 with the loop put in the place of torch's grouped product (docs/measurements.md)."""
LAYER_LAUNCHES_S = 0.65e-3
"""Seconds in which a host launches what one layer with weights of a model of images asks of a pass
where it is compiled as a whole, about: three kernels, and some fourteen about them. Passes of five
convolutional networks of 21 to 156 such layers took two H100's hosts 0.51 to 0.65 milliseconds a
layer where the GPU was done earlier, three trainings 0.42 to 0.55 (docs/measurements.md), which is
0.8 of this, as the rest of a pass of ours is of what the physics says."""
ABOUT = {
    "compute": 1.1,
    "elementwise": 10.0,
    "issue": 50.0,
    "scan": 2.8,
    "convolution": 1.1,
    "groups": 1.0,
}
"""What parts of such a pass take beside their terms, about: to tell whether its host is behind."""
EXPERTS_REACH = 0.5
"""Share of the peak that products of experts reach, about."""


def fused_attention(columns: Columns, *, free_lunch: bool) -> Flags:
    """Where attention is one kernel."""
    result: Flags = columns.fused & (columns.always_fused | free_lunch)
    return result


def attention_squares(columns: Columns, fused: Flags) -> Floats:
    """How many full squares attention takes as long as: a causal kernel leaves out the half above
    the diagonal, but not under a mask that is written out."""
    import numpy as np

    plain = np.where(columns.causal & fused, 0.5, 1.0)
    masked = columns.masked_share * fused
    result: Floats = plain * (1.0 - masked) + MASK_COST * masked
    return result


def dropout_seconds(columns: Columns, fused: Flags, written: Flags) -> Floats:
    """What drawing the numbers takes by which elements are dropped: where a compiler has `written`
    the kernel, one at a time. torch's own draws four at once, and what it takes is hardly seen
    (docs/measurements.md). A fused attention drops scores as they pass by; of others' scores what
    it takes is among what they take."""
    import numpy as np

    width = np.maximum(columns.width, 1.0)
    filled = np.where(width <= FILLED_UP, 2.0 ** np.ceil(np.log2(width)) / width, 1.0)
    hidden = columns.dropped_elements * DROPPED_OPS * np.where(written, filled, 0.0)
    square = np.where(columns.causal, 0.5, 1.0)
    scores = np.where(fused, columns.dropped_scores * DROPPED_SCORE_OPS * square, 0.0)
    return (hidden + scores) * columns.share / columns.load_rate


def score_seconds(columns: Columns) -> Floats:
    """What attention's scores take where no fused kernel keeps them."""
    moved = columns.score_elements * columns.weight_bytes * columns.share
    return moved / columns.layer_bandwidth


def expert_seconds(columns: Columns) -> Floats:
    """What experts take in FP32: torch's grouped product is none of those that autocast rounds, so
    that it takes the weights as they are (transformers' integrations/moe.py; profiled)."""
    import numpy as np

    rounded = columns.half & (columns.expert_flops > 0.0)  # not every rate of FP32 is known
    seconds = columns.expert_flops * (3.0 * columns.share) / columns.fp32_peak
    return np.where(rounded, seconds, 0.0)


def loop_seconds(option: Option, columns: Columns, micro_batch_size: Floats) -> Floats:
    """What the GPU waits in a step while the host walks through the experts, beside the products'
    own time. torch has a grouped product of BF16 alone, on GPUs with tensor memory accelerators
    (ATen's GroupedBlas.cpp); the sorted tokens' bounds are read back before each loop, so that the
    host is never ahead."""
    import numpy as np

    grouped = columns.bf16 & columns.tensor_memory & rounds_experts(option)
    rounded = columns.half & rounds_experts(option)
    peak = np.where(rounded, columns.peak, columns.fp32_peak)
    own_s = columns.expert_flops * micro_batch_size * (3.0 / EXPERTS_REACH) / peak
    waits_s = np.maximum(columns.expert_products * LOOP_S - own_s, 0.0)
    looped = ~grouped & (columns.expert_products > 0.0)  # not every rate of FP32 is known
    return np.where(looped, waits_s * columns.share / micro_batch_size, 0.0)


def launch_seconds(columns: Columns, micro_batch_size: Floats, work: Sequence[Floats]) -> Floats:
    """What the GPU waits in a step of a model of images while the host launches its kernels, where
    a micro-batch is too small to keep it busy meanwhile."""
    import numpy as np

    passes = columns.share / micro_batch_size
    gpu_s = sum(work[TERMS.index(term)] * about for term, about in ABOUT.items()) / passes
    waits_s = np.maximum(columns.launched_layers * LAYER_LAUNCHES_S - gpu_s, 0.0)
    return waits_s * passes


def copied_seconds(columns: Columns) -> tuple[Floats, Floats]:
    """Of `elementwise` and `issue`: what copies of elements that an activation overwrites take,
    which no kernel makes that a compiler wrote."""
    copied = columns.copied_elements * columns.share
    return (
        copied * columns.weight_bytes / columns.layer_bandwidth,
        copied / columns.load_rate,
    )


def norm_seconds(columns: Columns) -> Floats:
    """What batch norms take beside the elements that they read and write, where cuDNN computes
    them: a compiler writes its own, which has many blocks to a channel."""
    return columns.normed_pixels * (NORM_PIXEL_S * columns.share)


def rounds_experts(option: Option) -> bool:
    """Whether the weights themselves are in half precision, as DeepSpeed and FSDP hold them."""
    return option.stage > 0 or option.half_weights


def opened(option: Option, columns: Columns) -> Flags:
    """Where the compiler opens a fused attention: the model is compiled as a whole, as the paper's
    settings do with all models and the program's own with some."""
    whole = option.free_lunch and option.stage == 0
    result: Flags = columns.opens & columns.fused & columns.compiles & whole
    return result & ~columns.layered if option.lean else result


def least_seconds(columns: Columns, work: Sequence[Floats], *, free_lunch: bool) -> Floats:
    """Of `work_terms`: what the matrix products alone take at the rate that they reach; 0 in single
    precision, of which nobody measured what products reach."""
    import numpy as np

    compute, attention, convolution = (
        work[TERMS.index(term)] for term in ("compute", "attention", "convolution")
    )
    fused = fused_attention(columns, free_lunch=free_lunch)
    squares = np.where(columns.causal & fused, 0.5, 1.0)
    attention = attention * squares / attention_squares(columns, fused)
    return (compute + attention + convolution) * columns.half
