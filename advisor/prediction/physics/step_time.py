"""The seconds that each part of an optimiser step takes where the hardware alone decides.

A step is a sum (an additive roofline): operations at the dense peak, operand traffic, traffic of
the elementwise operations, logits, unfused scores and scans at the bandwidth that kernels reach,
depthwise convolutions at the rate of the load units (their taps share no operands that a matrix
unit could reuse), the update, the exchange of gradients, offloading. Each part is multiplied by a
fitted factor (`factors.py`) that says how far from the datasheet real kernels stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.memory import (
    HOST_GIB_A_GPU,
    LEAN_OPTIONS,
    NAIVE,
    OPTIONS,
    MemoryCosts,
    Option,
    kernels_written,
    micro_batch,
)
from advisor.prediction.physics.step_parts import (
    TERMS,
    attention_squares,
    copied_seconds,
    dropout_seconds,
    expert_seconds,
    fused_attention,
    launch_seconds,
    loop_seconds,
    norm_seconds,
    opened,
    rounds_experts,
    score_seconds,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

FLOPS_A_JOULE = 1e12
"""What a watt buys in half precision, about: GPUs whose peak needs more than their power limit run
below it."""
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


def work_terms(columns: Columns, *, free_lunch: bool, lean: bool = False) -> list[Floats]:
    """Seconds of those of TERMS before the update in one optimiser step, every factor 1.

    They are the same for all settings, but for what `work_multiple` says, and for the logits, of
    which a fused loss (``lean``) computes those alone that have a label.
    """
    import numpy as np

    share, width = columns.share, columns.weight_bytes
    per_byte = share / columns.bandwidth
    per_layer_byte = share / columns.layer_bandwidth
    per_flop = 3.0 * share / (columns.peak if free_lunch else columns.naive_peak)
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
    operand_bytes = linear_flops * width * (1.5 / OPERAND_REUSE)  # 3 passes, 2-byte base
    fused = fused_attention(columns, free_lunch=free_lunch)
    return [
        (linear_flops - columns.convolution_flops) * per_flop + narrow + unfilled_s,
        operand_bytes * per_byte,
        linear_flops * width * (1.5 * share / FLOPS_A_JOULE) / columns.tdp_w,
        columns.attention_flops * attention_squares(columns, fused) * per_flop,
        columns.layer_elements * width * per_layer_byte,
        columns.layer_elements * share / columns.load_rate,
        logits * 4.0 * per_byte,
        np.where(fused, 0.0, score_seconds(columns)),
        np.where(
            columns.convnet,
            columns.scan_elements * (6.0 * share) / columns.tap_rate,  # 2 FLOPs, 3 passes
            columns.scan_elements * width * per_byte,
        ),
        convolution_s,
        *[np.zeros_like(convolution_s)] * 4,
        np.where(columns.half, columns.grouped_elements * GROUPED_BYTES, 0.0) * per_byte,
        np.zeros_like(convolution_s),
    ]


def work_multiple(option: Option) -> float:
    """How often the work is done under an option, its overheads included."""
    multiple = 1.0
    if option.checkpointing:
        multiple *= 4.0 / 3.0 * OVERHEADS["checkpoint"]  # the forward pass, twice
    if option.offloading:
        multiple *= OVERHEADS["offload"]
    if option.stage == 3:
        multiple *= OVERHEADS["stage-3"]
    return multiple


def traffic_terms(
    option: Option, columns: Columns, micro_batch_size: Floats, busy: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Seconds of update, exchange, exposed, launches and offload, every factor 1.

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
    update = columns.sweep_s * (passes * touched_bytes + ADAM_BYTES / own)
    # Bytes a parameter that a ring moves, two halves: scatter the sums, gather the results.
    # Sharded gradients leave after every pass, each GPU keeping its part: the first half.
    # Sharded weights are gathered for the forward and again for the backward pass: a whole ring.
    if option.stage == 0:
        moved: Floats | float = 4.0
    elif option.stage == 1:
        moved = width
    else:
        moved = passes * width * (1.5 if option.stage == 3 else 0.5)
    exchange = columns.ring_s * moved
    exposed = exchange
    # Exchange runs beside the computation: what shows is what outlasts it, and the part of it that
    # has nothing to hide behind (the last gradients, launches, what computation it slows down).
    squared, busy_squared = exchange * exchange, busy * busy
    exchange = np.sqrt(np.sqrt(squared * squared + busy_squared * busy_squared)) - busy
    of_layers = columns.layers * LAUNCHES_S / count
    launches = of_layers if option.stage else np.full_like(exposed, STEP_S)
    if not option.offloading:
        return update, exchange, exposed, launches, np.zeros(1)
    # Stage 1 adds gradients up on the GPU and hands them to the host once a step; above it every
    # pass hands its own over, and stage 3 fetches its weights from there as well, for either pass.
    # All GPUs share the host's memory and its way to the bus.
    trips = (0.0, 0.0, 2.0, 3.0)[option.stage]
    hosted = columns.parameters * width / columns.pcie
    offload = (passes * trips + 2.0) * hosted
    offload = offload + columns.parameters / count / CPU_ADAM_PARAMETERS_S
    return update, exchange, exposed, launches, offload


def step_terms(option: Option, columns: Columns, micro_batch_size: Floats) -> list[Floats]:
    """Seconds of each of TERMS in one optimiser step, every factor 1."""
    import numpy as np

    multiple = work_multiple(option)
    written = kernels_written(option, columns)
    terms = work_terms(columns, free_lunch=option.free_lunch, lean=option.lean)
    for term, spared in zip(("elementwise", "issue"), copied_seconds(columns), strict=True):
        terms[TERMS.index(term)] = terms[TERMS.index(term)] - np.where(written, spared, 0.0)
    scores = TERMS.index("scores")
    terms[scores] = terms[scores] + np.where(opened(option, columns), score_seconds(columns), 0.0)
    if not rounds_experts(option):
        terms[TERMS.index("experts")] = expert_seconds(columns)
    terms[TERMS.index("norms")] = np.where(written, 0.0, norm_seconds(columns))
    terms[TERMS.index("dropout")] = dropout_seconds(
        columns,
        fused_attention(columns, free_lunch=option.free_lunch) & ~opened(option, columns),
        written,
    )
    micro = np.maximum(micro_batch_size, 1.0)
    terms[TERMS.index("loops")] = loop_seconds(option, columns, micro)
    waits = launch_seconds(columns, micro, terms)
    terms[TERMS.index("waits")] = np.where(written, waits, 0.0)
    work = [term * multiple for term in terms]
    busy = busy_seconds(work)
    *shown, offload = traffic_terms(option, columns, micro, busy)
    company = busy * company_share(columns)
    return [*work, *shown, company, np.broadcast_to(offload, micro.shape)]


def busy_seconds(work: Sequence[Floats]) -> Floats:
    """Of `work_terms`: what an exchange can hide behind."""
    compute, convolution, operands = (
        work[TERMS.index(term)] for term in ("compute", "convolution", "operands")
    )
    return compute + convolution + operands


def company_share(columns: Columns) -> Floats:
    """How much of the computation several GPUs may lose to each other: they wait for the slowest,
    and lend multiprocessors to the exchange."""
    return 1.0 - 1.0 / columns.count


def options_for(method: str) -> tuple[Option, ...]:
    """Those that a method may choose from: ``optimal`` is the best of what we write out, ``paper``
    the best of the paper's."""
    if method == "naive":
        return (NAIVE,)
    if method == "free-lunch":
        return tuple(o for o in OPTIONS if not (o.checkpointing or o.stage or o.offloading))
    return OPTIONS if method == "paper" else LEAN_OPTIONS


def fitting_options(
    method: str,
    columns: Columns,
    costs: MemoryCosts,
    host_gib: Floats | float = HOST_GIB_A_GPU,
) -> list[tuple[Option, Floats]]:
    """Each option of a method with its micro-batch, 0 where it does not fit."""
    return [
        (option, micro_batch(option, columns, costs, host_gib)) for option in options_for(method)
    ]
