"""What a weight's gradient in TF32 leaves of a Hopper GPU's multiprocessors: those without a tile.

A gradient has as many tiles as its weight, however many samples a pass has. cuBLAS gives each
multiprocessor one at a time; where there are fewer than half as many as multiprocessors, it parts
the sum over the samples instead, and all have work. So it was in profiles of ViT-B/16 (72 tiles of
a feed-forward weight: 29 % of the peak), ViT (128: 50 %) and ConvNeXt on an H100
(docs/measurements.md). In half precision it parts the sum wherever that helps.
"""

from __future__ import annotations

import math

from bench_runner.models.architecture import Architecture, ConvNext, TextTransformer, Vit

MULTIPROCESSORS = 132
"""Of an H100 and an H200 (SXM)."""
TILE = (256, 128)
"""Elements of a weight's gradient that one multiprocessor computes at a time."""


def unfilled_flops(architecture: Architecture, length: int) -> float:
    """FLOPs of idle multiprocessors, a sample of ``length`` tokens or pixels a side; 0 where the
    shapes of the weights are not known."""
    match architecture:
        case TextTransformer():
            return _of_layers(architecture, length)
        case Vit():
            return _of_layers(architecture, (length // architecture.patch_size) ** 2 + 1)
        case ConvNext():
            side, total = length // architecture.patch_size, 0.0
            for depth, width in zip(architecture.depths, architecture.hidden_sizes, strict=True):
                total += depth * 2 * _unfilled(side**2, width, 4 * width)
                side //= 2
            return total
    return 0.0


def _of_layers(model: TextTransformer | Vit, tokens: int) -> float:
    hidden, layers = model.hidden_size, model.num_hidden_layers
    inner = _unfilled(tokens, hidden, model.intermediate_size)
    return layers * ((3 if model.gated else 2) * inner + 4 * _unfilled(tokens, hidden, hidden))


def _unfilled(tokens: int, inputs: int, outputs: int) -> float:
    tiles = math.ceil(max(inputs, outputs) / TILE[0]) * math.ceil(min(inputs, outputs) / TILE[1])
    if tiles < MULTIPROCESSORS / 2:
        return 0.0
    idle = math.ceil(tiles / MULTIPROCESSORS) * MULTIPROCESSORS / tiles - 1.0
    return 2.0 * tokens * inputs * outputs * idle
