"""The logarithm of a step's time as whoever timed it saw it, and its derivatives by the factors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.prediction.observed_times import PAPER, REFERENCE, Observation
from advisor.prediction.own_records import highest_share, product_seconds
from advisor.prediction.physics.columns import Columns, WorkloadTable
from advisor.prediction.physics.factors import (
    INDEX,
    SHARES,
    TERMS,
    Rows,
    lean_layers,
    not_compiled,
    row_factors,
    term_factors,
    whole_attention,
)
from advisor.prediction.physics.memory import (
    HOST_GIB_A_GPU,
    MemoryCosts,
    Option,
    kernels_written,
    micro_batch,
    options_for,
)
from advisor.prediction.physics.step_terms import (
    busy_seconds,
    company_share,
    copied_seconds,
    dropout_seconds,
    expert_seconds,
    fused_attention,
    launch_seconds,
    least_seconds,
    loop_seconds,
    norm_seconds,
    opened,
    rounds_experts,
    score_seconds,
    traffic_terms,
    work_multiple,
    work_terms,
)
from tools.fit.priors import FACTORS

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


class Mean:
    """Log step seconds of observations as a function of the factors, each with the settings that it
    was given, else with the best of its method.

    Terms are counted once; a fit asks for the times of many factors.
    """

    def __init__(self, observations: Sequence[Observation], costs: MemoryCosts) -> None:
        import numpy as np

        self.observations = observations
        self.columns = columns = columns_of(observations)
        self.naive = np.array([o.method == "naive" for o in observations], dtype=bool)
        self.rows = Rows(
            columns, self.naive, np.array([o.harness == REFERENCE for o in observations])
        )
        host_gib = np.array([o.host_gib for o in observations])
        choices = [*fitting_options("naive", columns, costs)]
        choices += fitting_options("paper", columns, costs, host_gib)
        lean = np.array([o.option is not None and o.option.lean for o in observations])
        if lean.any():
            choices += fitting_options("optimal", columns, costs, host_gib)
        known = {option for option, _ in choices}
        given = [o.option for o in observations]
        foreign = dict.fromkeys(o for o in given if o is not None and o not in known)
        choices += [(o, micro_batch(o, columns, costs, host_gib)) for o in foreign]
        terms, fits = [], []
        for option, micro in choices:
            usable = (micro > 0) & (self.naive != option.free_lunch) & (lean == option.lean)
            usable &= option not in foreign  # only other software has it: it is never searched
            for i, o in enumerate(observations):
                if o.option is not None:
                    usable[i] = o.option == option
                    if usable[i]:
                        micro[i] = o.micro_batch_size or max(micro[i], 1.0)
            terms.append(np.stack(step_terms(option, columns, micro), axis=1))
            fits.append(usable)
        self.options = [option for option, _ in choices]
        ours = np.array([o.harness in (PAPER, REFERENCE) for o in observations], dtype=bool)
        self.of_options = [
            (name, term, np.stack([of(option) for option in self.options], axis=1))
            for name, term, of in (
                (
                    "attention compiled whole",
                    "attention",
                    lambda o: ours & whole_attention(o, columns),
                ),
                (
                    "elementwise of sharded",
                    "elementwise",
                    lambda o: ours & not_compiled(o, columns),
                ),
                ("fused logits", "logits", lambda o: columns.fuses_loss & o.lean),
                ("lean elementwise", "elementwise", lambda o: lean_layers(columns) & o.lean),
            )
        ]
        """What the choice of settings moves: a factor, its term, and where."""
        self.micro = np.stack([micro for _, micro in choices], axis=1)
        self.terms = np.stack(terms, axis=1)  # rows x options x terms
        self.usable = np.stack(fits, axis=1)
        # A row that fits nowhere by the memory model, and was measured, ran all the same.
        nowhere = ~self.usable.any(axis=1)
        self.fits = ~nowhere
        first = [option.free_lunch for option in self.options].index(True)
        self.usable[nowhere & self.naive, 0] = True
        self.usable[nowhere & ~self.naive, first] = True
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

    def parts(self, theta: Floats) -> tuple[Floats, Floats]:
        """Seconds of each part of each row's step with each option (rows x options x terms), and
        their sums, which are infinite where the option is not usable."""
        import numpy as np

        factors = row_factors(np.exp(theta), self.rows)
        parts = self.terms * factors[:, None, :]
        for name, term, having in self.of_options:
            parts[:, :, TERMS.index(term)] *= np.where(having, math.exp(theta[INDEX[name]]), 1.0)
        return parts, np.where(self.usable, parts.sum(axis=2), np.inf)

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


def columns_of(observations: Sequence[Observation]) -> Columns:
    """One row an observation."""
    import numpy as np

    index = np.arange(len(observations))
    table = WorkloadTable([o.workload for o in observations], [o.chip for o in observations])
    return table.columns(index, index, np.array([o.count for o in observations]))


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
