"""The seconds of each part of an optimiser step where the hardware alone decides.

A step is a sum (an additive roofline): operations at the dense peak, operand traffic, traffic of
the elementwise operations, logits, unfused scores and scans at the bandwidth that kernels reach,
depthwise convolutions at the rate of the load units (their taps share no operands that a matrix
unit could reuse), the update, the exchange of gradients, offloading. Each part is multiplied by a
fitted factor (`factors.py`) that says how far from the datasheet real kernels stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.memory import Option, kernels_written

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

Terms = dict[str, "Floats"]
"""Seconds by some of `factors.TERMS`; of the others 0."""
NORM_PIXEL_S = 2.13e-9
"""Seconds in which cuDNN takes a batch norm's statistics of one position and hands back its
gradient, whether of 16 channels or of 256: a block of threads walks through each (`bn_fw_tr_1C11`
and `bn_bw_1C11` of an H100, profiled: docs/measurements.md)."""
MASK_COST = 1.8
"""What cuDNN's attention takes under a mask that is written out, over the same square without:
1.55 to 2.3, beyond what handing over its inputs takes (docs/measurements.md)."""
DROPPED_OPS = 600.0
"""Operations in which a compiler's kernel draws a number for an element to drop, forward and again
backward, besides the norm that follows the sum: 17.7 picoseconds on an H100 of widths that are a
power of two, to which it fills up narrower ones (docs/measurements.md)."""
FILLED_UP = 1024.0
"""The widest that is."""
DROPPED_SCORE_OPS = 46.0
"""Operations in which cuDNN's attention draws one for a score, forward and backward: 1.4
picoseconds on an H100 (docs/measurements.md)."""
LOOP_S = 140e-6
"""Seconds in which a host launches one product of a loop over experts: each has as many rows as the
router sent, for which cuBLAS looks for a kernel each time. On an H100's host 128 to 145, in FP16,
and in BF16 with the loop put in the place of torch's grouped product (docs/measurements.md)."""
EXPERTS_REACH = 0.5
"""Share of the peak that products of experts reach, about."""
OPERAND_REUSE = 200.0
"""FLOPs for each byte that a matrix product moves in half precision: operands are read in tiles."""
GROUPED_BYTES = 220.0
"""As many bytes' time goes by for each element that a convolution in groups of channels writes in
half precision, about: its own kernels, and those that lay its channels side by side and back. On
an H100 both take 51 ms of ResNeXt-50's pass of 0.71 billion and 56 of RegNetY's of 0.73, other
convolutions that are not 1 x 1 among them (profiled, docs/measurements.md)."""
LOGIT_TRIPS = 6.0
"""How often three passes of products write or read a logit, at the datasheet's bandwidth: 3.3
billion of Pythia 14M's take an H100 10.4 ms (profiled, docs/measurements.md)."""
PRODUCTS_REACH = 0.65
"""Share of the peak that a vocabulary's products reach where they are not bound so, about."""
MIXED_PASS_BYTES = 26.0
"""Moved a parameter by each pass under automatic mixed precision, whatever the micro-batch: the
FP32 weight is cast (6) and read twice (4), its gradient written, cast and added up (16)."""
HALF_PASS_BYTES = 12.0
"""The same where weights and gradients are half precision throughout."""
FULL_PASS_BYTES = 24.0
"""The same in FP32."""
ADAM_BYTES = 26.0
"""Read and written a parameter by the update: weight, gradient, two moments, half copy."""
CPU_ADAM_PARAMETERS_S = 1e9
"""Parameters a second that a host updates for each GPU when states are offloaded."""
LAUNCHES_S = 1e-3
"""Seconds a layer for which the host launches ZeRO's update on one GPU, about: it handles the
weights tensor by tensor. Measured: 2 to 5 ms a layer on H100 and H200, where PyTorch's own update
of all weights takes 5 to 16 ms in all, and shorter where several GPUs share the weights."""
STEP_S = 2e-3
"""Seconds a step for which the host launches PyTorch's own update while the GPU waits, about.
Steps of ten networks took an H100 8 to 22 ms more than their passes (docs/measurements.md), of
which the update's traffic is 1 to 5."""
OVERHEADS = {"offload": 1.05, "stage-3": 1.08, "checkpoint": 1.02}
"""What a memory-saving method costs beyond its traffic (hooks, waits): breaks ties towards the
simpler setting."""


def fused_attention(columns: Columns, *, free_lunch: bool) -> Flags:
    """Where attention is one kernel."""
    return columns.fused & (columns.always_fused | free_lunch)


def attention_squares(columns: Columns, fused: Flags) -> Floats:
    """How many full squares attention takes as long as: a causal kernel leaves out the half above
    the diagonal, but not under a mask that is written out."""
    import numpy as np

    plain = np.where(columns.causal & fused, 0.5, 1.0)
    masked = columns.masked_share * fused
    return plain * (1.0 - masked) + MASK_COST * masked


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


def copied_seconds(columns: Columns) -> Terms:
    """Of `elementwise` and `issue`: what copies of elements that an activation overwrites take,
    which no kernel makes that a compiler wrote."""
    copied = columns.copied_elements * columns.share
    return {
        "elementwise": copied * columns.weight_bytes / columns.layer_bandwidth,
        "issue": copied / columns.load_rate,
    }


def norm_seconds(columns: Columns) -> Floats:
    """What batch norms take besides the elements that they read and write, where cuDNN computes
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


def least_seconds(columns: Columns, work: Terms, *, free_lunch: bool) -> Floats:
    """Of `work_terms`: what the matrix products alone take at the rate that they reach; 0 in single
    precision, for which it was not measured what products reach."""
    import numpy as np

    fused = fused_attention(columns, free_lunch=free_lunch)
    squares = np.where(columns.causal & fused, 0.5, 1.0)
    attention = work["attention"] * squares / attention_squares(columns, fused)
    return (work["compute"] + attention + work["convolution"]) * columns.half


def work_terms(columns: Columns, *, free_lunch: bool, lean: bool = False) -> Terms:
    """Seconds of those of TERMS before the update in one optimiser step, every factor 1.

    They are the same for all settings, but for what `work_multiple` says, and for the logits, of
    which a fused loss (``lean``) computes those alone that have a label.
    """
    import numpy as np

    share, width = columns.share, columns.weight_bytes
    per_byte = share / columns.bandwidth
    per_layer_byte = share / columns.layer_bandwidth
    per_flop = 3.0 * share / (columns.peak if free_lunch else columns.naive_peak)
    # Frozen weights have no gradients of their own: one of the three passes.
    passes = 1.0 - columns.frozen / columns.parameters / 3.0
    # PyTorch lets convolutions take TF32 whatever is said of products.
    convolution_s = columns.convolution_flops * 3.0 * share / columns.peak
    linear_flops, logits = columns.linear_flops, columns.logit_elements
    if lean:
        # A logit takes one multiplication and one addition for each element of its position.
        without = np.where(columns.fuses_loss, (1.0 - columns.labelled) * logits, 0.0)
        linear_flops, logits = linear_flops - 2.0 * columns.logit_width * without, logits - without
    # Of a narrow model a vocabulary's products are bound by the logits that they write and read.
    products_s = 2.0 * columns.logit_width * logits * per_flop / PRODUCTS_REACH
    narrow = np.maximum(logits * width * LOGIT_TRIPS * per_byte - products_s, 0.0)
    # Gradients of weights in TF32 alone leave multiprocessors idle: one of the three passes.
    tf32 = ~columns.half & columns.tensor_memory & free_lunch
    unfilled_s = np.where(tf32, columns.unfilled_flops * per_flop / 3.0, 0.0)
    operand_bytes = linear_flops * passes * width * (1.5 / OPERAND_REUSE)  # 3 passes, 2-byte base
    fused = fused_attention(columns, free_lunch=free_lunch)
    grouped = np.where(columns.half, columns.grouped_elements * GROUPED_BYTES, 0.0)
    return {
        "compute": (linear_flops - columns.convolution_flops) * per_flop * passes
        + narrow
        + unfilled_s,
        "operands": operand_bytes * per_byte,
        "attention": columns.attention_flops * attention_squares(columns, fused) * per_flop,
        "elementwise": columns.layer_elements * width * per_layer_byte,
        "issue": columns.layer_elements * share / columns.load_rate,
        "logits": logits * 4.0 * per_byte,
        "scores": np.where(fused, 0.0, score_seconds(columns)),
        "scan": np.where(
            columns.convnet,
            columns.scan_elements * (6.0 * share) / columns.tap_rate,  # 2 FLOPs, 3 passes
            columns.scan_elements * width * per_byte,
        ),
        "convolution": convolution_s,
        "groups": grouped * per_byte,
    }


def pass_terms(option: Option, columns: Columns, work: Terms) -> Terms:
    """`work_terms` as an option has them, the products of experts and what a compiler spares
    among them."""
    import numpy as np

    terms, written, is_open = {**work}, kernels_written(option, columns), opened(option, columns)
    if is_open.any():
        terms["scores"] = terms["scores"] + np.where(is_open, score_seconds(columns), 0.0)
    if columns.expert_flops.any() and not rounds_experts(option):
        terms["experts"] = expert_seconds(columns)
    if columns.normed_pixels.any():
        terms["norms"] = np.where(written, 0.0, norm_seconds(columns))
    if (columns.dropped_elements + columns.dropped_scores).any():
        whole = fused_attention(columns, free_lunch=option.free_lunch) & ~is_open
        terms["dropout"] = dropout_seconds(columns, whole, written)
    if columns.copied_elements.any():
        for term, spared in copied_seconds(columns).items():
            terms[term] = terms[term] + np.where(written, -spared, 0.0)
    return terms


def work_multiple(option: Option) -> float:
    """How often the work is done under an option, its overheads included."""
    multiple = 1.0
    if option.checkpointing:
        multiple *= (1.0 + option.recomputed / 3.0) * OVERHEADS["checkpoint"]
    if option.offloading:
        multiple *= OVERHEADS["offload"]
    if option.stage == 3:
        multiple *= OVERHEADS["stage-3"]
    return multiple


def traffic_terms(
    option: Option, columns: Columns, micro_batch_size: Floats, busy: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Seconds of update, exchange, launches and offload, every factor 1, and what the network
    between several machines takes.

    ``busy`` are the seconds of computation that an exchange can hide behind.
    """
    import numpy as np

    count, width = columns.count, columns.weight_bytes
    passes = columns.share / micro_batch_size
    own = count if option.stage else 1.0
    touched = MIXED_PASS_BYTES
    if option.stage or option.half_weights:
        touched = HALF_PASS_BYTES
    touched_bytes = np.where(columns.half, touched, FULL_PASS_BYTES)
    moving = columns.trained / columns.parameters
    update = columns.sweep_s * moving * (passes * touched_bytes + ADAM_BYTES / own)
    # Bytes a parameter that a ring moves, two halves: scatter the sums, gather the results.
    # Sharded gradients leave after every pass, each GPU keeping its part: the first half.
    # Sharded weights are gathered for the forward and again for the backward pass: a whole ring.
    if option.stage == 0:
        moved: Floats | float = 4.0
    elif option.stage == 1:
        moved = width
    else:
        moved = passes * width * (1.5 if option.stage == 3 else 0.5)
    moved = moved * moving
    if option.stage == 3:
        moved = moved + passes * width * (1.0 - moving)  # frozen weights are gathered alone
    exchange, wire = columns.ring_s * moved, columns.wire_s * moved
    # Exchange overlaps with computation: what shows is what outlasts it.
    squared, busy_squared = exchange * exchange, busy * busy
    exchange = np.sqrt(np.sqrt(squared * squared + busy_squared * busy_squared)) - busy
    of_layers = columns.layers * LAUNCHES_S / count
    launches = of_layers if option.stage else np.full_like(exchange, STEP_S)
    if not option.offloading:
        return update, exchange, launches, np.zeros(1), wire
    # Stage 1 adds gradients up on the GPU and hands them to the host once a step; above it every
    # pass hands its own over, and stage 3 fetches its weights from there as well, for either pass.
    # All GPUs share the host's memory and its way to the bus.
    trips = (0.0, 0.0, 2.0, 3.0)[option.stage]
    hosted = columns.parameters * width / columns.pcie
    offload = (passes * trips + 2.0) * hosted
    offload = offload + columns.parameters / count / CPU_ADAM_PARAMETERS_S
    return update, exchange, launches, offload, wire


UNPACK_BYTES = 11.0
"""As many bytes' time takes each unpacking of a weight of four bits, forward, backward and where it
is computed again: Qwen 7B on an A100 and Qwen3 8B on a B200, with and without
(docs/prediction.md)."""
ADAPTER_BYTES = (12.0, 65.0)
"""As many bytes' time takes each element that an adapter in FP32 reads or writes in a pass: where a
compiler writes the casts, and as peft does it by default. The middle of Llama shapes of 1B, 3B and
8B on an H100 and an H200 (docs/prediction.md)."""


def frozen_seconds(option: Option, columns: Columns, micro_batch_size: Floats) -> Floats:
    """What a step takes besides its products where weights are frozen: reading and unpacking them,
    and the adapters beside them."""
    import numpy as np

    passes = columns.share / micro_batch_size
    times = 3.0 if option.checkpointing else 2.0
    packed = columns.frozen_bytes < 2.0
    weights = columns.frozen * times * np.where(packed, UNPACK_BYTES, 2.0) * passes
    compiled, eager = ADAPTER_BYTES
    each = np.where(columns.compiles | option.lean, compiled, eager)
    adapters = columns.adapter_elements * columns.share * each * (times / 2.0)
    return (weights + adapters) / columns.bandwidth


def busy_seconds(work: Terms) -> Floats:
    """Of `work_terms`: what an exchange can hide behind."""
    return work["compute"] + work["convolution"] + work["operands"]


def company_share(columns: Columns) -> Floats:
    """How much of the computation several GPUs may lose to each other: they wait for the slowest,
    and lend multiprocessors to the exchange."""
    return 1.0 - 1.0 / columns.count
