"""What the fitted numbers are before anything is fitted.

Every factor has a prior: where the evidence is silent, it stays at what kernels are known to do.
Fitting moves it no further than the evidence asks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.prediction.physics.memory import MemoryCosts


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
    Factor(name="norms", start=1.0, spread=0.2),
    Factor(name="groups", start=1.0, spread=0.25),
    Factor(name="dropout", start=1.0, spread=0.25),
    Factor(name="update", start=1.5, spread=0.4),
    Factor(name="exchange", start=1.0, spread=0.6),
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
the FlashAttention 2 that others' rows have (docs/measurements.md)."""
START = MemoryCosts(
    mixed_layer=2.5,
    half_layer=2.0,
    naive_layer=4.0,
    fp32_layer=4.0,
    naive_fp32_layer=8.0,
    mixed_logit=14.0,
    half_logit=10.0,
    score=6.0,
    naive_score=6.0,
    buckets=4.0,
    fixed_gib=1.2,
    usable=0.97,
)
"""Where the fit begins: two bytes an element in half precision and something for what is FP32;
logits as 2 + 4 + 4 + 4 bytes (half, FP32, its gradient, a shifted copy); scores as 2 + 4."""


def starts() -> list[float]:
    """Logarithms of the factors before anything is fitted."""
    return [math.log(factor.start) for factor in FACTORS]
