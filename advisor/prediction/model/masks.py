"""Which share of a model's attention goes through a mask that is written out.

Where every token looks at all before it, or at all, a fused kernel needs no mask and leaves out
what a causal one hides. A window or a bias by distance is written out: then the whole square is
computed, and slower (docs/measurements.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench_runner.architecture import Architecture
from bench_runner.architecture_decoders import Falcon
from bench_runner.architecture_text import ModernBert

WINDOWED: Mapping[str, tuple[int, int]] = {
    "Gemma3TextConfig": (4096, 6),
    "Olmo3Config": (4096, 4),
    "Cohere2Config": (4096, 4),
    "Exaone4Config": (4096, 4),
}
"""By configuration class: the window, and which of its layers looks at everything (each sixth, each
fourth), where a file says nothing (transformers 5.17)."""
WINDOW_KEYS = ("sliding_window", "sliding_window_pattern", "layer_types")


def masked_share(
    model: Architecture | None, config_class: str | None, arguments: Mapping[str, Any], tokens: int
) -> float:
    """Of the layers, those whose attention has a mask written out at so many tokens a sample."""
    match model:
        case ModernBert():
            layers = model.num_hidden_layers
            return 1.0 - model.global_layers / layers if model.local_attention < tokens else 0.0
        case Falcon():
            return float(model.alibi)
    if model is None or config_class is None or config_class not in WINDOWED:
        return 0.0
    usual, pattern = WINDOWED[config_class]
    window = arguments.get("sliding_window", usual)
    if not isinstance(window, int) or window > tokens:
        return 0.0
    layers = int(getattr(model, "num_hidden_layers", 0))
    kinds = arguments.get("layer_types")
    if isinstance(kinds, list) and kinds:
        return float(kinds.count("sliding_attention") / len(kinds))
    said = arguments.get("sliding_window_pattern", pattern)
    every = said if isinstance(said, int) and said > 0 else pattern
    return 1.0 - (layers // every) / layers if layers else 0.0
