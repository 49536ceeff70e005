"""What the fitted numbers are before anything is fitted.

Every factor has a prior: where the evidence is silent, it stays at what kernels are known to do.
Fitting moves it no further than the evidence asks.
"""

from __future__ import annotations

import math

from advisor.prediction.physics.factors import NAMES
from advisor.prediction.physics.memory import MemoryCosts

FACTORS = {
    "compute": (1.1, 0.15),
    "compute of GeForce": (0.9, 0.15),
    "compute in TF32": (1.5, 0.15),
    "compute in FP32": (1.15, 0.15),
    "convolution": (1.5, 0.3),
    "operands": (0.2, 0.5),
    "attention": (2.2, 0.3),
    "attention of Hopper": (1.3, 0.3),
    "attention of cuDNN": (0.6, 0.2),
    "elementwise": (4.0, 0.4),
    "elementwise in FP32": (0.5, 0.3),
    "traffic in a large cache": (0.8, 0.2),
    "issue": (100.0, 0.5),
    "logits": (4.0, 0.6),
    "scores": (10.0, 0.6),
    "scan": (4.0, 1.0),
    "depthwise": (4.0, 0.5),
    "depthwise in fp32": (30.0, 0.5),
    "experts": (2.1, 0.3),
    "loops": (1.0, 0.25),
    "norms": (1.0, 0.2),
    "groups": (1.0, 0.25),
    "dropout": (1.0, 0.25),
    "update": (1.5, 0.4),
    "exchange": (1.0, 0.6),
    "launches": (3.0, 0.4),
    "company": (0.05, 0.7),
    "offload": (2.0, 0.7),
    "naive compute": (1.1, 0.15),
    "naive elementwise": (12.0, 0.6),
    "naive issue": (1.5, 0.6),
    "naive elementwise of decoders": (1.5, 0.4),
    "naive scores": (40.0, 1.0),
    "naive scores of decoders": (1.3, 0.4),
    "scores in FP32": (0.15, 0.4),
    "attention compiled whole": (1.5, 0.4),
    "elementwise of sharded": (1.3, 0.4),
    "fused logits": (0.3, 0.5),
    "lean elementwise": (0.9, 0.4),
    "uncompiled elementwise": (2.0, 0.4),
    "issue of plain convnets": (1.5, 0.4),
    "elementwise of plain convnets": (0.7, 0.4),
    "layers of vision transformers": (0.6, 0.3),
}
"""Of each of `factors.NAMES`: where it starts, and the standard deviation of its logarithm, as how
freely it moves.

Without compilation a decoder's rotary embeddings, splits and casts are passes of their own,
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
    half_layer=2.0,
    naive_layer=3.0,
    fp32_layer=4.0,
    logit=12.0,
    half_logit=10.0,
    score=6.0,
    buckets=4.0,
    fixed_gib=1.2,
    usable=0.97,
)
"""Where the fit begins: two bytes an element in half precision and something for what is FP32;
logits as 2 + 4 + 4 + 2 bytes (half, FP32, its gradient, and that in half); scores as 2 + 4."""


STARTS = tuple(math.log(FACTORS[name][0]) for name in NAMES)
"""Logarithms of the factors before anything is fitted."""
SPREADS = tuple(FACTORS[name][1] for name in NAMES)
