"""What the paper's timers did not see: kernels that still stood in the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.factors import FACTORS, INDEX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST_SEEN = 0.15
"""The harness sees at least this share of a step."""
CONVNEXT_BLOCKS = (3, 3, 27, 3)
"""Blocks of each stage of the one convolutional network that the paper timed. From stage to stage
a block writes half as much, and as many fewer taps: a quarter of the pixels, twice the channels."""


def hidden_share(
    theta: Floats, columns: Columns, naive: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Which share of each pass stood in the queue when the paper's harness stopped its timer, and
    its derivative by theta.

    Its host timers did not wait for the GPU: what still stood in the queue was not seen. A queue
    holds a number of kernels, so that it hides a number of layers, the same for each model: a large
    share of a shallow model's step, a small one of a deep model's. In FP32 there are no casts, and
    a convolutional block launches fewer kernels than a transformer's layer, so that more of them
    are hidden. They are the last of the backward pass, which are the first layers: of a
    convolutional network the ones that take longest.
    """
    import numpy as np

    parts = {
        "hidden layers": ~naive,
        "naive hidden layers": naive,
        "hidden layers of bf16": columns.bf16,
        "hidden layers of fp32": ~columns.half,
        "hidden layers of convnets": columns.convnet,
    }
    used = np.zeros((len(columns), len(FACTORS)))
    for name, rows in parts.items():
        used[:, INDEX[name]] = rows
    layers = np.exp(used @ theta)
    first, each = _first_blocks(layers)
    share = np.where(columns.convnet, first, layers / columns.layers)
    slope = np.where(columns.convnet, each, 1.0 / columns.layers) * layers
    most = 1.0 - LEAST_SEEN
    return np.minimum(share, most), np.where(share < most, slope, 0.0)[:, None] * used


def _first_blocks(blocks: Floats) -> tuple[Floats, Floats]:
    """Share of a ConvNeXt's work that its first blocks are, and that of the last of them."""
    import numpy as np

    counts = np.array(CONVNEXT_BLOCKS)
    work = 0.5 ** np.arange(len(counts))
    work /= counts @ work
    ends, done = np.cumsum(counts), np.cumsum(counts * work)
    stage = np.minimum(np.searchsorted(ends, blocks, side="right"), len(counts) - 1)
    share: Floats = np.interp(blocks, [0, *ends], [0.0, *done])
    last: Floats = work[stage].astype(np.float64)
    return share, last
