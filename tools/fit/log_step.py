"""The logarithm of a step's time as whoever timed it saw it, and its derivatives by the factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.prediction.observed_steps import ObservedSteps, highest_share, product_seconds
from advisor.prediction.observed_times import PAPER, Observation
from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.factors import FACTORS, INDEX, SHARES, term_factors
from advisor.prediction.physics.memory import MemoryCosts
from advisor.prediction.physics.step_parts import TERMS, least_seconds
from advisor.prediction.physics.step_time import work_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NATIVE = "native"
"""Training code in C and CUDA."""
LEAST_SEEN = 0.15
"""The harness sees at least this share of a step."""
CONVNEXT_BLOCKS = (3, 3, 27, 3)
"""Blocks of each stage of the one convolutional network that the paper timed. From stage to stage
a block writes half as much, and as many fewer taps: a quarter of the pixels, twice the channels."""


class Mean(ObservedSteps):
    """Log step seconds as the physics and the harness of each observation give them."""

    def __init__(self, observations: Sequence[Observation], costs: MemoryCosts) -> None:
        import numpy as np

        super().__init__(observations, costs)
        columns = self.columns
        self.term_factor = term_factors(self.rows)
        self.having = [(share, share.of(self.rows)) for share in SHARES]
        # How much of what a pass leaves in the queue the paper's harness never sees: nothing where
        # the update is on the host, which waits for the GPU. The loss scaler of fp16 waits too,
        # and its wait is timed, but once a step, however many the passes.
        passes = columns.share[:, None] / np.maximum(self.micro, 1.0)
        scaled = (columns.half & ~columns.bf16)[:, None]
        lost = np.where(scaled, 1.0 - 1.0 / np.maximum(passes, 1.0), 1.0)
        on_gpu = np.array([not o.offloading for o in self.options])
        harnessed = np.array([o.harness == PAPER for o in observations], dtype=bool)
        self.lost = lost * on_gpu[None, :] * harnessed[:, None]

    def at(self, theta: Floats) -> tuple[Floats, Floats]:
        """The means and their derivatives by theta."""
        log_step, jacobian, _ = self.log_step(theta)
        return log_step, jacobian

    def log_step(self, theta: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Log seconds of each row's best option, their derivative by theta, and which option; as
        the paper's harness saw them in the rows that it timed."""
        import numpy as np

        hidden, hidden_jacobian = hidden_share(theta, self.columns, self.naive)
        seen_log = np.log1p(-self.lost * hidden[:, None])
        parts, seconds = self.parts(theta)
        best = (seconds * np.exp(seen_log)).argmin(axis=1)
        rows = np.arange(len(best))
        total = seconds[rows, best]
        shares = parts[rows, best] / total[:, None]
        jacobian = np.zeros((len(best), len(FACTORS)))
        for k in range(len(TERMS)):
            np.add.at(jacobian, (rows, self.term_factor[:, k]), shares[:, k])
        for share, having in self.having:
            moved = shares[:, [TERMS.index(term) for term in share.terms]].sum(axis=1)
            jacobian[:, INDEX[share.name]] += moved * having
        for name, term, having in self.of_options:
            jacobian[:, INDEX[name]] = shares[:, TERMS.index(term)] * having[rows, best]
        lost = self.lost[rows, best]
        jacobian -= (lost / (1.0 - lost * hidden))[:, None] * hidden_jacobian
        return np.log(total) + seen_log[rows, best], jacobian, best

    def products_s(self) -> Floats:
        """Seconds of each row's matrix products alone, at the rate that they reach."""
        import numpy as np

        lunch = product_seconds(self.observations, self.columns)
        plain = least_seconds(
            self.columns, work_terms(self.columns, free_lunch=False), free_lunch=False
        )
        return np.where(self.naive, plain, lunch)


def highest_measured_share(observations: Sequence[Observation], *, native: bool = False) -> float:
    """`highest_share` without the paper's times, whose clock did not wait for the GPU; with those
    of code in C and CUDA, which fuses what PyTorch does not, where ``native``."""
    return highest_share(
        [o for o in observations if o.harness != PAPER and (native or o.kind != NATIVE)]
    )


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
