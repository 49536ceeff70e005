"""The seconds that each part of an optimiser step takes where the hardware alone decides.

A step is a sum (an additive roofline): operations at the dense peak, operand traffic, traffic of
the elementwise operations, logits, unfused scores and scans at the memory's bandwidth, the update,
the exchange of gradients, offloading. Each part is multiplied by a fitted factor (`fitted.py`)
that says how far from the datasheet real kernels stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.predict.columns import Columns
from advisor.predict.memory import COSTS, NAIVE, OPTIONS, MemoryCosts, Option, micro_batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TERMS = (
    "compute",
    "operands",
    "attention",
    "elementwise",
    "logits",
    "scores",
    "scan",
    "update",
    "exchange",
    "offload",
)

OPERAND_REUSE = 200.0
"""FLOPs for each byte that a matrix product moves in half precision: operands are read in tiles."""
MIXED_PASS_BYTES = 26.0
"""Moved a parameter by each pass under automatic mixed precision, whatever the micro-batch: the
FP32 weight is cast (6) and read twice (4), its gradient written, cast and added up (16)."""
HALF_PASS_BYTES = 12.0
"""The same where weights and gradients are half precision throughout."""
FULL_PASS_BYTES = 24.0
"""The same in FP32."""
OVERLAP = 4.0
"""How sharply an exchange hides behind the computation: 1 not at all, infinity wholly."""
ADAM_BYTES = 26.0
"""Read and written a parameter by the update: weight, gradient, two moments, half copy."""
CPU_ADAM_PARAMETERS_S = 1e9
"""Parameters a second that a host updates for each GPU when states are offloaded."""
GPUS_A_NODE = 8
NODE_LINK = GPUS_A_NODE * 50e9
"""Bytes a second between machines: a 400 Gb/s port for each GPU, as in every record with more than
eight GPUs that the evidence holds. A ring through all of a machine's ports uses them together."""

OVERHEADS = {"offload": 1.12, "stage-3": 1.08, "checkpoint": 1.02}
"""What a memory-saving method costs beyond its traffic (hooks, waits): breaks ties towards the
simpler setting."""


def step_terms(option: Option, columns: Columns, micro_batch_size: Floats) -> list[Floats]:
    """Seconds of each of TERMS in one optimiser step, every factor 1."""
    import numpy as np

    count, parameters = columns.count, columns.parameters
    share = columns.batch / count
    passes = share / np.maximum(micro_batch_size, 1.0)
    width = np.where(columns.half, 2.0, 4.0)
    overhead = 1.0
    work = share
    if option.checkpointing:
        work = share * (4.0 / 3.0)
        overhead *= OVERHEADS["checkpoint"]
    if option.offloading:
        overhead *= OVERHEADS["offload"]
    if option.stage == 3:
        overhead *= OVERHEADS["stage-3"]
    work = work * overhead
    peak = columns.peak if option.free_lunch else columns.naive_peak
    per_byte = 1.0 / columns.bandwidth
    linear = 3.0 * work * columns.linear_flops
    compute = linear / peak
    operands = linear * (width / 2.0) * per_byte / OPERAND_REUSE
    # A causal kernel leaves out the half above the diagonal.
    fused = columns.fused & option.free_lunch
    square = np.where(columns.causal & fused, 0.5, 1.0)
    attention = 3.0 * work * columns.attention_flops * square / peak
    elementwise = work * columns.layer_elements * width * per_byte
    logits = work * columns.logit_elements * 4.0 * per_byte
    scores = np.where(fused, 0.0, work * columns.score_elements * width * per_byte)
    scan = work * columns.scan_elements * width * per_byte
    touched = MIXED_PASS_BYTES if option.stage == 0 else HALF_PASS_BYTES
    weights = passes * parameters * np.where(columns.half, touched, FULL_PASS_BYTES) * per_byte
    own = count if option.stage else 1.0
    update = weights + parameters * ADAM_BYTES * per_byte / own
    several = count > 1
    ring = 2.0 * (count - 1.0) / count
    nodes = count > GPUS_A_NODE
    link = np.where(nodes, np.minimum(columns.link, NODE_LINK), columns.link)
    volume = parameters * (width if option.stage else 4.0)
    # Sharded gradients leave after every pass, each GPU keeping its part: half of a full exchange.
    exchanges = passes * 0.5 if option.stage >= 2 else 1.0
    exchange = np.where(several, ring * volume * exchanges / link, 0.0)
    if option.stage == 3:
        gathers = passes * ring * parameters * width / link
        exchange = exchange + np.where(several, gathers, 0.0)
    # Exchange runs beside the computation: what shows is what outlasts it.
    busy = compute + operands
    exchange = (exchange**OVERLAP + busy**OVERLAP) ** (1.0 / OVERLAP) - busy
    if option.offloading:
        # Every pass hands its gradients to the host, which adds them up; stage 3 fetches its
        # weights from there as well, for the forward and for the backward pass.
        trips = 3.0 if option.stage == 3 else 1.0
        # All GPUs share the host's memory and its way to the bus.
        offload = (passes * trips + 2.0) * parameters * width / columns.pcie
        offload = offload + parameters / count / CPU_ADAM_PARAMETERS_S
    else:
        offload = np.zeros(len(columns))
    return [
        compute,
        operands,
        attention,
        elementwise,
        logits,
        scores,
        scan,
        update,
        exchange,
        offload,
    ]


def options_for(method: str) -> tuple[Option, ...]:
    """Those that a method may choose from; ``optimal`` is the best of all."""
    if method == "naive":
        return (NAIVE,)
    if method == "free-lunch":
        return tuple(o for o in OPTIONS if not (o.checkpointing or o.stage or o.offloading))
    return OPTIONS


def combine(terms: Sequence[Floats], factors: Sequence[Floats | float]) -> Floats:
    """The step's seconds: the sum of the parts, each with its factor."""
    total = terms[0] * factors[0]
    for term, factor in zip(terms[1:], factors[1:], strict=True):
        total = total + term * factor
    return total


def fitting_options(
    method: str, columns: Columns, costs: MemoryCosts = COSTS
) -> list[tuple[Option, Floats]]:
    """Each option of a method with its micro-batch, 0 where it does not fit."""
    return [(option, micro_batch(option, columns, costs)) for option in options_for(method)]
