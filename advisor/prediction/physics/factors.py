"""The fitted factors: what they mean, where they start, and which parts of which steps they move.

Every factor is a logarithm with a prior: where the evidence is silent, it stays at what kernels
are known to do. Fitting moves it no further than the evidence asks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.memory import Option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Whole = NDArray[np.int64]

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
"""The parts of a step."""


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
    Factor(name="compute in TF32", start=1.5, spread=0.15),
    Factor(name="compute in FP32", start=1.15, spread=0.15),
    Factor(name="convolution", start=1.5, spread=0.3),
    Factor(name="operands", start=0.2, spread=0.5),
    Factor(name="power", start=0.4, spread=0.5),
    Factor(name="attention", start=2.2, spread=0.3),
    Factor(name="attention of Hopper", start=1.3, spread=0.3),
    Factor(name="attention of cuDNN", start=0.6, spread=0.2),
    Factor(name="elementwise", start=4.0, spread=0.4),
    Factor(name="elementwise in FP32", start=0.5, spread=0.3),
    Factor(name="traffic in a large cache", start=0.8, spread=0.2),
    Factor(name="issue", start=100.0, spread=0.5),
    Factor(name="logits", start=4.0, spread=0.6),
    Factor(name="scores", start=10.0, spread=0.6),
    Factor(name="scan", start=4.0, spread=1.0),
    Factor(name="depthwise", start=4.0, spread=0.5),
    Factor(name="depthwise in fp32", start=30.0, spread=0.5),
    Factor(name="experts", start=2.1, spread=0.3),
    Factor(name="loops", start=1.0, spread=0.25),
    Factor(name="waits", start=1.0, spread=0.25),
    Factor(name="norms", start=1.0, spread=0.2),
    Factor(name="groups", start=1.0, spread=0.25),
    Factor(name="dropout", start=1.0, spread=0.25),
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
    Factor(name="scores in FP32", start=0.15, spread=0.4),
    Factor(name="attention compiled whole", start=1.5, spread=0.4),
    Factor(name="elementwise of sharded", start=1.3, spread=0.4),
    Factor(name="fused logits", start=0.3, spread=0.5),
    Factor(name="lean elementwise", start=0.9, spread=0.4),
    Factor(name="uncompiled elementwise", start=2.0, spread=0.4),
    Factor(name="issue of plain convnets", start=1.5, spread=0.4),
    Factor(name="elementwise of plain convnets", start=0.7, spread=0.4),
    Factor(name="layers of vision transformers", start=0.6, spread=0.3),
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
8.6 and 1.07 of 33.5 TFLOP/s). Single precision casts nothing, so that a kept element costs half of
what it does in mixed precision, a score a tenth; TF32 products of an H100 reach 42 % of their
peak, those of FP32 units 71 %, convolutions 28 % of TF32's (profiled, PyTorch 2.11:
docs/measurements.md). Experts in FP32 take 2.1 times as long as their products would at the peak,
with what hands tokens to them (profiled as well). In half precision PyTorch's SDPA takes cuDNN's
attention on GPUs with tensor memory accelerators since 2.5: measured 1.5 to 1.8 times as fast as
the FlashAttention 2 that others' rows have (docs/measurements.md).
The last five are the paper's harness: `hidden_share`."""
EXCHANGES = ("exchange", "exposed")
"""Terms that grow as the links between GPUs are slower."""
NAMES = tuple(factor.name for factor in FACTORS)
INDEX = {name: i for i, name in enumerate(NAMES)}


@dataclass(frozen=True, slots=True)
class Rows:
    """What decides which factors a row has."""

    columns: Columns
    naive: Flags
    own: Flags
    """Whether our own PyTorch runs it, or that of whom we tell."""

    @property
    def tf32(self) -> Flags:
        """Whether products are TF32: chips without it run them in FP32 all the same."""
        columns = self.columns
        return ~columns.half & ~self.naive & (columns.peak > columns.naive_peak)

    @property
    def unwritten_convnet(self) -> Flags:
        """Plain convolutional networks of which no compiler writes norms and activations as one
        kernel."""
        columns = self.columns
        return columns.plain_convnet & (self.naive | ~columns.compiles)


@dataclass(frozen=True, slots=True)
class Share:
    """A factor that some rows have in addition to the factor of the term."""

    name: str
    terms: tuple[str, ...]
    of: Callable[[Rows], Flags]


SHARES = (
    Share("compute of GeForce", ("compute",), lambda r: r.columns.half_rate),
    Share("compute in TF32", ("compute",), lambda r: r.tf32),
    Share("compute in FP32", ("compute",), lambda r: ~r.columns.half & ~r.tf32),
    Share("attention of Hopper", ("attention",), lambda r: r.columns.tensor_memory & ~r.naive),
    Share(
        "attention of cuDNN",
        ("attention",),
        lambda r: r.columns.tensor_memory & ~r.naive & r.columns.half & r.own,
    ),
    Share("elementwise in FP32", ("elementwise", "issue"), lambda r: ~r.columns.half),
    Share("uncompiled elementwise", ("elementwise",), lambda r: ~r.columns.compiles & ~r.naive),
    Share("naive elementwise of decoders", ("elementwise",), lambda r: r.columns.causal & r.naive),
    Share("elementwise of plain convnets", ("elementwise",), lambda r: r.unwritten_convnet),
    Share(
        "layers of vision transformers",
        ("elementwise", "issue"),
        lambda r: r.columns.plain_transformer & r.columns.half,
    ),
    Share("naive issue", ("issue",), lambda r: r.naive),
    Share("issue of plain convnets", ("issue",), lambda r: r.unwritten_convnet),
    Share("naive scores of decoders", ("scores",), lambda r: r.columns.causal & r.naive),
    Share("scores in FP32", ("scores",), lambda r: ~r.columns.half),
    # What one kernel hands to the next, of which a large cache keeps a part.
    Share("traffic in a large cache", ("elementwise", "scores"), lambda r: r.columns.large_cache),
)


def term_factors(rows: Rows) -> Whole:
    """Which factor each of TERMS (columns) has in each row."""
    import numpy as np

    columns, naive = rows.columns, rows.naive
    result = np.tile([INDEX[term] for term in TERMS], (len(columns), 1))
    for term, factor in (
        ("compute", "naive compute"),
        ("attention", "naive compute"),
        ("elementwise", "naive elementwise"),
        ("scores", "naive scores"),
    ):
        result[naive, TERMS.index(term)] = INDEX[factor]
    scan = TERMS.index("scan")
    result[columns.convnet & columns.half, scan] = INDEX["depthwise"]
    result[columns.convnet & ~columns.half, scan] = INDEX["depthwise in fp32"]
    return result


def row_factors(values: Floats, rows: Rows) -> Floats:
    """What each of TERMS (columns) is multiplied by in each row, with these values of FACTORS."""
    result: Floats = values[term_factors(rows)]
    for share in SHARES:
        having = share.of(rows)
        if having.any():
            for term in share.terms:
                result[having, TERMS.index(term)] *= values[INDEX[share.name]]
    return result


def starts() -> list[float]:
    """Logarithms of the factors before anything is fitted."""
    return [math.log(factor.start) for factor in FACTORS]


def lean_layers(columns: Columns) -> NDArray[np.bool_]:
    """Where settings beyond the paper's compile layer by layer."""
    result: NDArray[np.bool_] = columns.layered & columns.compiles
    return result


def whole_attention(option: Option, columns: Columns) -> NDArray[np.bool_]:
    """Where a model of text is compiled as a whole: transformers then writes the mask out, an
    encoder's too, which hides nothing (its masking_utils.py asks `is_tracing` first), and
    attention's backward pass takes three times as long (docs/measurements.md)."""
    result: NDArray[np.bool_] = (
        columns.compiles
        & (columns.causal | (columns.text & columns.fused & ~columns.opens))
        & (option.stage == 0 and option.free_lunch and not option.lean)
    )
    return result


def not_compiled(option: Option, columns: Columns) -> NDArray[np.bool_]:
    """Where DeepSpeed runs the model, which the paper's settings do not compile then."""
    result: NDArray[np.bool_] = columns.compiles & (option.stage > 0 and not option.lean)
    return result
