"""Which share of a model's attention goes through a mask that is written out.

Where every token looks at all before it, or at all, a fused kernel needs no mask and leaves out
what a causal one hides. A window or a bias by distance is written out: then the whole square is
computed, and slower (docs/measurements.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.prediction.model.config_file import plain_number
from bench_runner.models.architecture import Architecture, whole
from bench_runner.models.architecture_decoders import Falcon
from bench_runner.models.architecture_text import ModernBert
from bench_runner.recipe_table import shown

WINDOWED: Mapping[str, tuple[int, int]] = {
    "Gemma2Config": (4096, 2),
    "Gemma3TextConfig": (4096, 6),
    "Olmo3Config": (4096, 4),
    "Cohere2Config": (4096, 4),
    "Exaone4Config": (4096, 4),
}
"""By configuration class: the window, and which of its layers looks at everything (each second,
fourth, sixth), where a file says nothing (transformers 5.17)."""
_KEYS = ("sliding_window", "sliding_window_pattern", "layer_types")
_SLIDING, _FULL = "sliding_attention", "full_attention"
_WITHOUT_PATTERN = ("Gemma2Config", "Olmo3Config")
"""Those that take their own pattern, whatever a file says."""
_LONGEST = 100_000_000
_MOST_LAYERS = 10_000


def window_arguments(
    config_class: str, content: Mapping[str, Any], layers: int, *, where: str
) -> dict[str, Any]:
    """What a config.json says of windows, as the class takes it that is built from it. Raises
    ValueError that begins with ``where`` and the key."""
    if config_class not in WINDOWED:
        return {}
    said = {key: plain_number(content[key]) for key in _KEYS if content.get(key) is not None}
    null = "sliding_window" in content and "sliding_window" not in said
    if null:  # there is none, which a recipe cannot say: it leaves out what is null
        said.setdefault("layer_types", [_FULL] * layers)
    if "layer_types" in said or config_class in _WITHOUT_PATTERN:
        said.pop("sliding_window_pattern", None)
    _, windowed = _windows(config_class, said, layers, where)
    if null and windowed:
        raise ValueError(
            f"{where} 'sliding_window': is null, but layer_types names {_SLIDING}; write how many "
            "tokens it is"
        )
    return said


def masked_share(
    model: Architecture, arguments: Mapping[str, Any], tokens: int, *, where: str
) -> float:
    """Of the layers, those whose attention has a mask written out at so many tokens a sample.
    Raises ValueError that begins with ``where`` and the key."""
    match model:
        case ModernBert():
            layers, window = model.num_hidden_layers, model.local_attention // 2  # to either side
            return 1.0 - model.global_layers / layers if window <= tokens else 0.0
        case Falcon():
            return float(model.alibi)
    if model.config_class not in WINDOWED:
        return 0.0
    layers = int(getattr(model, "num_hidden_layers", 0))
    window, windowed = _windows(model.config_class, arguments, layers, where)
    return windowed / layers if layers and window <= tokens else 0.0


def _windows(
    config_class: str, said: Mapping[str, Any], layers: int, where: str
) -> tuple[int, int]:
    """The window's tokens, and how many layers have it."""
    usual, pattern = WINDOWED[config_class]
    window = _whole("sliding_window", said, usual, _LONGEST, where)
    kinds = said.get("layer_types")
    if kinds is None:
        if config_class not in _WITHOUT_PATTERN:
            pattern = _whole("sliding_window_pattern", said, pattern, _MOST_LAYERS, where)
        return window, layers - layers // pattern
    if not isinstance(kinds, list) or any(kind not in (_SLIDING, _FULL) for kind in kinds):
        raise ValueError(
            f"{where} 'layer_types': is {shown(kinds)}; write a list of {_SLIDING} and {_FULL}, "
            "one a layer"
        )
    if len(kinds) != layers:
        raise ValueError(
            f"{where} 'layer_types': names {len(kinds)} layers of {layers}; write one a layer"
        )
    return window, kinds.count(_SLIDING)


def _whole(key: str, said: Mapping[str, Any], usual: int, most: int, where: str) -> int:
    value = said.get(key)
    try:
        return usual if value is None else whole(value, most)
    except ValueError as problem:
        raise ValueError(f"{where} '{key}': {problem}") from None
