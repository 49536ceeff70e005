"""The fitted factors: what they mean, where they start, and the step time they give.

Every factor is a logarithm with a prior: where the evidence is silent, it stays at what kernels
are known to do. Fitting moves it no further than the evidence asks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.memory import (
    HOST_GIB_A_GPU,
    MemoryCosts,
    Option,
    micro_batch,
)
from advisor.prediction.physics.step_time import TERMS, fitting_options, step_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One number that is fitted, as a logarithm, with where it starts and how freely it moves."""

    name: str
    start: float
    """The factor itself, not its logarithm."""
    spread: float
    """Standard deviation of the prior, of the logarithm."""


FACTORS = (
    Factor(name="compute", start=1.1, spread=0.15),
    Factor(name="compute of GeForce", start=0.9, spread=0.15),
    Factor(name="operands", start=0.2, spread=0.5),
    Factor(name="power", start=0.4, spread=0.5),
    Factor(name="attention", start=2.2, spread=0.3),
    Factor(name="attention of Hopper", start=1.3, spread=0.3),
    Factor(name="attention of cuDNN", start=0.6, spread=0.2),
    Factor(name="elementwise", start=4.0, spread=0.4),
    Factor(name="traffic in a large cache", start=0.8, spread=0.2),
    Factor(name="issue", start=100.0, spread=0.5),
    Factor(name="logits", start=4.0, spread=0.6),
    Factor(name="scores", start=10.0, spread=0.6),
    Factor(name="scan", start=4.0, spread=1.0),
    Factor(name="depthwise", start=4.0, spread=0.5),
    Factor(name="depthwise in fp32", start=30.0, spread=0.5),
    Factor(name="update", start=1.5, spread=0.4),
    Factor(name="exchange", start=1.0, spread=0.6),
    Factor(name="exposed", start=0.1, spread=0.7),
    Factor(name="launches", start=3.0, spread=0.4),
    Factor(name="company", start=0.05, spread=0.7),
    Factor(name="offload", start=2.0, spread=0.7),
    Factor(name="naive compute", start=1.1, spread=0.15),
    Factor(name="naive elementwise", start=12.0, spread=0.6),
    Factor(name="naive issue", start=1.5, spread=0.6),
    Factor(name="naive elementwise of decoders", start=1.5, spread=0.4),
    Factor(name="naive scores", start=40.0, spread=1.0),
    Factor(name="naive scores of decoders", start=1.3, spread=0.4),
    Factor(name="attention compiled whole", start=1.5, spread=0.4),
    Factor(name="elementwise of sharded", start=1.3, spread=0.4),
    Factor(name="fused logits", start=0.3, spread=0.5),
    Factor(name="lean elementwise", start=0.9, spread=0.4),
    Factor(name="uncompiled elementwise", start=2.0, spread=0.4),
    Factor(name="issue of plain convnets", start=1.5, spread=0.4),
    Factor(name="elementwise of plain convnets", start=0.7, spread=0.4),
    Factor(name="hidden layers", start=4.0, spread=0.5),
    Factor(name="naive hidden layers", start=2.0, spread=0.6),
    Factor(name="hidden layers of bf16", start=1.0, spread=0.3),
    Factor(name="hidden layers of fp32", start=1.3, spread=0.3),
    Factor(name="hidden layers of convnets", start=1.9, spread=0.5),
)
"""Without compilation a decoder's rotary embeddings, splits and casts are passes of their own,
which encoders and vision models lack. Depthwise convolutions run in half precision at a quarter of
the FP32 peak of 64 lanes a multiprocessor; in FP32 cuDNN has no specialised kernel for their weight
gradient, and all three passes together reach a thirtieth (profiled on an H200, PyTorch 2.11, 7 x 7:
8.6 and 1.07 of 33.5 TFLOP/s). In half precision PyTorch's SDPA takes cuDNN's attention on GPUs with
tensor memory accelerators since 2.5: measured 1.5 to 1.8 times as fast as the FlashAttention 2 that
others' rows have (docs/measurements.md). The last five are the paper's harness: `hidden_share`."""
CACHED = ("elementwise", "scores")
"""Terms of what one kernel hands to the next, of which a large cache keeps a part."""
EXCHANGES = ("exchange", "exposed")
"""Terms that grow as the links between GPUs are slower."""
NAMES = tuple(factor.name for factor in FACTORS)
_INDEX = {name: i for i, name in enumerate(NAMES)}
LEAST_SEEN = 0.15
"""The harness sees at least this share of a step."""
CONVNEXT_BLOCKS = (3, 3, 27, 3)
"""Blocks of each stage of the one convolutional network that the paper timed. From stage to stage
a block writes half as much, and as many fewer taps: a quarter of the pixels, twice the channels."""


def starts() -> list[float]:
    """Logarithms of the factors before anything is fitted."""
    return [math.log(factor.start) for factor in FACTORS]


class StepModel:
    """The step times of a set of pairs, as a function of the factors.

    Terms are counted once; a fit asks for the times of many factors.
    """

    def __init__(
        self,
        columns: Columns,
        naive: Sequence[bool],
        options: Sequence[tuple[Option | None, int | None]],
        costs: MemoryCosts,
        *,
        transformers: Sequence[bool],
        host_gib: Floats | float = HOST_GIB_A_GPU,
        harnessed: Sequence[bool] | None = None,
        own: Sequence[bool] | None = None,
    ) -> None:
        """``harnessed``: which rows the paper's harness timed, whose searches took what it saw as
        fastest. ``own``: which are of our own stack, whose PyTorch takes cuDNN's attention."""
        import numpy as np

        rows = len(columns)
        self.harnessed = np.zeros(rows, dtype=bool) if harnessed is None else np.array(harnessed)
        naive_rows = np.array(naive, dtype=bool)
        self.columns = columns
        self.naive = naive_rows
        self.term_factor = np.tile([_INDEX[term] for term in TERMS], (rows, 1))
        self.term_factor[naive_rows, TERMS.index("compute")] = _INDEX["naive compute"]
        self.term_factor[naive_rows, TERMS.index("attention")] = _INDEX["naive compute"]
        self.term_factor[naive_rows, TERMS.index("elementwise")] = _INDEX["naive elementwise"]
        self.term_factor[naive_rows, TERMS.index("scores")] = _INDEX["naive scores"]
        scan = TERMS.index("scan")
        self.term_factor[columns.convnet & columns.half, scan] = _INDEX["depthwise"]
        self.term_factor[columns.convnet & ~columns.half, scan] = _INDEX["depthwise in fp32"]
        self.hopper = columns.tensor_memory & ~naive_rows
        self.cudnn = self.hopper & columns.half & (False if own is None else np.array(own))
        self.uncompiled = ~columns.compiles & ~naive_rows
        self.plain_decoder = columns.causal & naive_rows
        choices = [*fitting_options("naive", columns, costs)]
        choices += fitting_options("paper", columns, costs, host_gib)
        lean = np.array([o is not None and o.lean for o, _ in options])
        if lean.any():
            choices += fitting_options("optimal", columns, costs, host_gib)
        known = {option for option, _ in choices}
        foreign = dict.fromkeys(o for o, _ in options if o is not None and o not in known)
        choices += [(o, micro_batch(o, columns, costs, host_gib)) for o in foreign]
        given = np.array([option is not None for option, _ in options])
        terms, fits = [], []
        for option, micro in choices:
            usable = (micro > 0) & (naive_rows != option.free_lunch) & (lean == option.lean)
            usable &= option not in foreign  # nobody chooses what only other software has
            for i in map(int, np.flatnonzero(given)):
                wanted, wanted_micro = options[i]
                usable[i] = wanted == option
                if usable[i]:
                    micro[i] = wanted_micro or max(micro[i], 1.0)
            terms.append(np.stack(step_terms(option, columns, micro), axis=1))
            fits.append(usable)
        self.options = [option for option, _ in choices]
        # Two switches of the stack, by option and row: see `whole_attention` and `uncompiled`.
        ours = np.array(transformers, dtype=bool)
        self.whole = np.stack([ours & whole_attention(o, columns) for o in self.options], axis=1)
        self.apart = np.stack([ours & not_compiled(o, columns) for o in self.options], axis=1)
        self.fused = np.stack([columns.fuses_loss & o.lean for o in self.options], axis=1)
        self.lean = np.stack([lean_layers(columns) & o.lean for o in self.options], axis=1)
        self.micro = np.stack([micro for _, micro in choices], axis=1)
        # How much of what a pass leaves in the queue the paper's harness never sees: nothing where
        # the update is on the host, which waits for the GPU. The loss scaler of fp16 waits too,
        # and its wait is timed, but once a step, however many the passes.
        passes = columns.share[:, None] / np.maximum(self.micro, 1.0)
        scaled = (columns.half & ~columns.bf16)[:, None]
        lost = np.where(scaled, 1.0 - 1.0 / np.maximum(passes, 1.0), 1.0)
        on_gpu = np.array([not o.offloading for o in self.options])
        self.lost = lost * on_gpu[None, :] * self.harnessed[:, None]
        self.terms = np.stack(terms, axis=1)  # rows x options x terms
        self.usable = np.stack(fits, axis=1)
        # A row that fits nowhere by the memory model, and was measured, ran all the same.
        nowhere = ~self.usable.any(axis=1)
        self.fits = ~nowhere
        first = [option.free_lunch for option in self.options].index(True)
        self.usable[nowhere & naive_rows, 0] = True
        self.usable[nowhere & ~naive_rows, first] = True

    def log_step(self, theta: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Log seconds of each row's best option, their derivative by theta, and which option; as
        the paper's harness saw them in the rows that it timed."""
        import numpy as np

        hidden, hidden_jacobian = hidden_share(theta, self.columns, self.naive)
        seen_log = np.log1p(-self.lost * hidden[:, None])

        logs = theta[self.term_factor]
        logs[:, TERMS.index("elementwise")] += (
            self.uncompiled * theta[_INDEX["uncompiled elementwise"]]
        )
        logs[:, TERMS.index("elementwise")] += (
            self.plain_decoder * theta[_INDEX["naive elementwise of decoders"]]
        )
        for term in CACHED:
            logs[:, TERMS.index(term)] += (
                self.columns.large_cache * theta[_INDEX["traffic in a large cache"]]
            )
        plain_convnet = self.columns.plain_convnet
        logs[:, TERMS.index("issue")] += plain_convnet * theta[_INDEX["issue of plain convnets"]]
        logs[:, TERMS.index("elementwise")] += (
            plain_convnet * theta[_INDEX["elementwise of plain convnets"]]
        )
        logs[:, TERMS.index("attention")] += self.hopper * theta[_INDEX["attention of Hopper"]]
        logs[:, TERMS.index("attention")] += self.cudnn * theta[_INDEX["attention of cuDNN"]]
        self_half = self.columns.half_rate
        logs[:, TERMS.index("compute")] += self_half * theta[_INDEX["compute of GeForce"]]
        logs[:, TERMS.index("issue")] += self.naive * theta[_INDEX["naive issue"]]
        logs[:, TERMS.index("scores")] += (
            self.plain_decoder * theta[_INDEX["naive scores of decoders"]]
        )
        scaled = np.repeat(logs[:, None, :], len(self.options), axis=1)
        scaled[:, :, TERMS.index("attention")] += (
            self.whole * theta[_INDEX["attention compiled whole"]]
        )
        scaled[:, :, TERMS.index("elementwise")] += (
            self.apart * theta[_INDEX["elementwise of sharded"]]
        )
        scaled[:, :, TERMS.index("logits")] += self.fused * theta[_INDEX["fused logits"]]
        scaled[:, :, TERMS.index("elementwise")] += self.lean * theta[_INDEX["lean elementwise"]]
        parts = self.terms * np.exp(scaled)
        seconds = np.where(self.usable, parts.sum(axis=2), np.inf)
        best = (seconds * np.exp(seen_log)).argmin(axis=1)
        rows = np.arange(len(best))
        total = seconds[rows, best]
        shares = parts[rows, best] / total[:, None]
        jacobian = np.zeros((len(best), len(FACTORS)))
        for k in range(len(TERMS)):
            np.add.at(jacobian, (rows, self.term_factor[:, k]), shares[:, k])
        jacobian[:, _INDEX["attention of Hopper"]] = (
            shares[:, TERMS.index("attention")] * self.hopper
        )
        jacobian[:, _INDEX["attention of cuDNN"]] = shares[:, TERMS.index("attention")] * self.cudnn
        jacobian[:, _INDEX["uncompiled elementwise"]] = (
            shares[:, TERMS.index("elementwise")] * self.uncompiled
        )
        cached = shares[:, [TERMS.index(term) for term in CACHED]].sum(axis=1)
        jacobian[:, _INDEX["traffic in a large cache"]] = cached * self.columns.large_cache
        jacobian[:, _INDEX["naive elementwise of decoders"]] = (
            shares[:, TERMS.index("elementwise")] * self.plain_decoder
        )
        jacobian[:, _INDEX["compute of GeForce"]] = shares[:, TERMS.index("compute")] * self_half
        jacobian[:, _INDEX["naive issue"]] = shares[:, TERMS.index("issue")] * self.naive
        jacobian[:, _INDEX["naive scores of decoders"]] = (
            shares[:, TERMS.index("scores")] * self.plain_decoder
        )
        jacobian[:, _INDEX["attention compiled whole"]] = (
            shares[:, TERMS.index("attention")] * self.whole[rows, best]
        )
        jacobian[:, _INDEX["elementwise of sharded"]] = (
            shares[:, TERMS.index("elementwise")] * self.apart[rows, best]
        )
        jacobian[:, _INDEX["elementwise of plain convnets"]] = (
            shares[:, TERMS.index("elementwise")] * plain_convnet
        )
        jacobian[:, _INDEX["issue of plain convnets"]] = (
            shares[:, TERMS.index("issue")] * plain_convnet
        )
        fused, lean = self.fused[rows, best], self.lean[rows, best]
        jacobian[:, _INDEX["fused logits"]] = shares[:, TERMS.index("logits")] * fused
        jacobian[:, _INDEX["lean elementwise"]] = shares[:, TERMS.index("elementwise")] * lean
        lost = self.lost[rows, best]
        jacobian -= (lost / (1.0 - lost * hidden))[:, None] * hidden_jacobian
        return np.log(total) + seen_log[rows, best], jacobian, best


def lean_layers(columns: Columns) -> NDArray[np.bool_]:
    """Where settings beyond the paper's compile layer by layer."""
    result: NDArray[np.bool_] = columns.text & columns.compiles
    return result


def whole_attention(option: Option, columns: Columns) -> NDArray[np.bool_]:
    """Where a model of text is compiled as a whole: transformers then writes the mask out, an
    encoder's too, which hides nothing (its masking_utils.py asks `is_tracing` first), and
    attention's backward pass takes three times as long (docs/measurements.md)."""
    result: NDArray[np.bool_] = (
        columns.compiles
        & (columns.causal | (columns.text & columns.fused))
        & (option.stage == 0 and option.free_lunch and not option.lean)
    )
    return result


def not_compiled(option: Option, columns: Columns) -> NDArray[np.bool_]:
    """Where DeepSpeed runs the model, which the paper's settings do not compile then."""
    result: NDArray[np.bool_] = columns.compiles & (option.stage > 0 and not option.lean)
    return result


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
        used[:, _INDEX[name]] = rows
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
