"""The fitted factors, and which parts of which steps they multiply.

Every factor is kept as a logarithm.
"""

from __future__ import annotations

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
    *("compute", "operands", "attention", "elementwise", "issue", "logits", "scores", "scan"),
    *("convolution", "experts", "loops", "norms", "groups", "dropout", "update", "exchange"),
    *("launches", "company", "offload"),
)
"""The parts of a step, each with a factor of its own."""


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
    """A factor of some rows."""

    name: str
    terms: tuple[str, ...]
    of: Callable[[Rows], Flags]


INSTEAD = (
    Share("naive compute", ("compute", "attention"), lambda r: r.naive),
    Share("naive elementwise", ("elementwise",), lambda r: r.naive),
    Share("naive scores", ("scores",), lambda r: r.naive),
    Share("depthwise", ("scan",), lambda r: r.columns.convnet & r.columns.half),
    Share("depthwise in fp32", ("scan",), lambda r: r.columns.convnet & ~r.columns.half),
)
"""In place of the factor of the term."""
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
"""In addition to it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A factor that the choice of settings gives a term."""

    name: str
    term: str
    of: Callable[[Option, Columns], Flags]
    ours: bool = False
    """Whether it holds of our own program and the paper's alone."""


CHOICES = (
    # A model of text that is compiled as a whole: transformers then writes the mask out, an
    # encoder's too, which hides nothing (its masking_utils.py asks `is_tracing` first), and
    # attention's backward pass takes three times as long (docs/measurements.md).
    Choice(
        "attention compiled whole",
        "attention",
        lambda o, c: (
            c.compiles
            & (c.causal | (c.text & c.fused & ~c.opens))
            & (o.stage == 0 and o.free_lunch and not o.lean)
        ),
        ours=True,
    ),
    # DeepSpeed runs the model, which the paper's settings do not compile then.
    Choice(
        "elementwise of sharded",
        "elementwise",
        lambda o, c: c.compiles & (o.stage > 0 and not o.lean),
        ours=True,
    ),
    Choice("fused logits", "logits", lambda o, c: c.fuses_loss & o.lean),
    # Settings beyond the paper's compile layer by layer.
    Choice("lean elementwise", "elementwise", lambda o, c: c.layered & c.compiles & o.lean),
)
NAMES = (*TERMS, *(each.name for each in (*INSTEAD, *SHARES, *CHOICES)))
"""The fitted factors; tools/fit/priors.py has what each is before anything is fitted."""
INDEX = {name: i for i, name in enumerate(NAMES)}


def term_factors(rows: Rows) -> Whole:
    """Which factor each of TERMS (columns) has in each row."""
    import numpy as np

    result = np.tile([INDEX[term] for term in TERMS], (len(rows.columns), 1))
    for other in INSTEAD:
        for term in other.terms:
            result[other.of(rows), TERMS.index(term)] = INDEX[other.name]
    return result


def row_factors(values: Floats, rows: Rows) -> Floats:
    """What each of TERMS (columns) is multiplied by in each row, with these values of NAMES."""
    result: Floats = values[term_factors(rows)]
    for share in SHARES:
        having = share.of(rows)
        if having.any():
            for term in share.terms:
                result[having, TERMS.index(term)] *= values[INDEX[share.name]]
    return result
