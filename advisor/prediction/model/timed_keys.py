"""What a file says that changes a step's time and none of its counts: dropout, windows of
attention, and activations.

A compiler draws a number for each element of which some are dropped, forward and again backward,
which took a fifth of a step of BERT base on an H100. Whether anything is dropped decides, not how
much of it. Where every token looks at all before it, or at all, a fused kernel needs no mask and
leaves out what a causal one hides; a window or a bias by distance is written out, and then the
whole square is computed, and slower. Behind a ReLU or its square what comes out says what went in,
so a feed-forward layer keeps half as many elements (docs/measurements.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench_runner.models.architecture import Architecture, ModelType
from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.models.model_types import whole
from bench_runner.models.transformer import Transformer
from bench_runner.recipe_table import shown

_LAYERDROP = ("layerdrop", "encoder_layerdrop", "decoder_layerdrop")
_SLIDING, _FULL = "sliding_attention", "full_attention"
_LONGEST = 100_000_000
_MOST_LAYERS = 10_000
ACTIVATIONS = (
    "gelu gelu_10 gelu_fast gelu_new gelu_python gelu_pytorch_tanh gelu_python_tanh gelu_accurate "
    "hardswish laplace leaky_relu linear mish quick_gelu relu relu2 relu6 sigmoid silu "
    "sqrtsoftplus swish tanh prelu xielu"
)
"""The library's names of them (`ACT2FN`)."""


def timed_arguments(
    kind: ModelType, content: Mapping[str, Any], layers: int, *, where: str
) -> dict[str, Any]:
    """What a config.json says of these, as the class takes it that is built from it.

    Raises ValueError that begins with ``where`` and the key.
    """
    _refuse_left_out_layers(kind, content, where)
    found: dict[str, Any] = {}
    for key, usual in _dropout_keys(kind).items():
        if content.get(key) is not None and (share := _share(key, content[key], where)) != usual:
            found[key] = share
    # Whole layers are left out in none that is counted; some classes would otherwise.
    found |= dict.fromkeys(kind.layerdrop, 0.0)
    if kind.activation is not None and content.get(kind.activation[0]) is not None:
        key = kind.activation[0]
        found[key] = _checked_activation(key, content[key], where)
    return found | _window_arguments(kind, content, layers, where)


def dropped_parts(kind: ModelType, arguments: Mapping[str, Any], *, where: str) -> dict[str, bool]:
    """Whether some elements are dropped behind attention and feed-forward layers (``hidden``), of
    ``scores``, behind ``embeddings`` and in feed-forward layers (``inner``). Raises ValueError that
    begins with ``where`` and the key."""
    _refuse_left_out_layers(kind, arguments, where)
    said = {
        key: (usual if arguments.get(key) is None else _share(key, arguments[key], where)) > 0
        for key, usual in _dropout_keys(kind).items()
    }
    parts = {
        part: said.get(kind.dropout.get(part, ""), False) for part in ("hidden", "scores", "inner")
    }
    first = "embeddings" if "embeddings" in kind.dropout else "hidden"
    return parts | {"embeddings": said.get(kind.dropout.get(first, ""), False)}


def drops(
    model: Architecture, arguments: Mapping[str, Any], tokens: int, scores: float, *, where: str
) -> tuple[float, float]:
    """Elements, a sample, that pass through a dropout in all, as the library's code has it, and of
    its ``scores`` those that do. Raises ValueError that begins with ``where`` and the key."""
    parts = dropped_parts(model.kind, arguments, where=where)
    scores = scores if parts["scores"] else 0.0
    if isinstance(model, EncoderDecoder):
        written, hidden = model.written(tokens), model.hidden_size
        readers, writers = model.num_hidden_layers, model.num_decoder_layers
        # T5 drops what leaves its last layers, too.
        ends = (tokens + written) * hidden * (2 if model.relative_positions else 1)
        layers = (2 * tokens * readers + 3 * written * writers) * hidden
        inner = tokens * readers * model.intermediate_size + written * writers * model.decoder_inner
    elif isinstance(model, Transformer):
        ends = tokens * model.hidden_size
        inner = tokens * model.num_hidden_layers * model.intermediate_size
        layers = ends * model.num_hidden_layers * (1 if model.half_dropout else 2)
        ends = ends if model.embeddings_dropped else 0
    else:
        return 0.0, scores  # of images the fit tells by their family what a step takes
    return float(
        ends * parts["embeddings"] + layers * parts["hidden"] + inner * parts["inner"]
    ), scores


def _dropout_keys(kind: ModelType) -> dict[str, float]:
    """Each key of a type, and what the library takes where a file says nothing."""
    hidden, scores = kind.dropout.get("usual", (0.0, 0.0))
    usual = {"inner": 0.0, "scores": scores, "embeddings": hidden, "hidden": hidden}
    return {kind.dropout[part]: each for part, each in usual.items() if part in kind.dropout}


def _refuse_left_out_layers(kind: ModelType, said: Mapping[str, Any], where: str) -> None:
    """ValueError where whole layers are left out at random, which no compiled step does."""
    for key in _LAYERDROP:
        value = said.get(key)
        if value is None and key in kind.layerdrop:
            how = f"is missing, and the library leaves out {kind.layerdrop[key]:.0%} of the layers"
        elif value is not None and (share := _share(key, value, where)):
            how = f"leaves out {share:.3g} of the layers"
        else:
            continue
        raise ValueError(
            f"{where} '{key}': {how} at random while it trains, which is not counted; write 0 to "
            "ask for a training of all of them"
        )


def _share(key: str, value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise ValueError(f"{where} '{key}': is {shown(value)}; write a number from 0 to below 1")
    return float(value)


def _window_arguments(
    kind: ModelType, content: Mapping[str, Any], layers: int, where: str
) -> dict[str, Any]:
    if not kind.window:
        return {}
    keys = ("sliding_window", "sliding_window_pattern", "layer_types")
    said = {key: content[key] for key in keys if content.get(key) is not None}
    null = "sliding_window" in content and "sliding_window" not in said
    if null and kind.window["full_every"] == 0:
        said["sliding_window"] = _LONGEST  # there is none, which a recipe cannot say otherwise
    elif null:
        said.setdefault("layer_types", [_FULL] * layers)
    if "layer_types" in said or not kind.window.get("pattern"):
        said.pop("sliding_window_pattern", None)
    _, windowed = _windows(kind, said, layers, where)
    if null and windowed and kind.window["full_every"]:
        raise ValueError(
            f"{where} 'sliding_window': is null, but layer_types names {_SLIDING}; write how many "
            "tokens it is"
        )
    return said


def masked_share(
    model: Architecture, arguments: Mapping[str, Any], tokens: int, *, where: str
) -> float:
    """Of the layers, those whose attention has a mask written out with ``tokens`` a sample.

    Raises ValueError that begins with ``where`` and the key.
    """
    if not isinstance(model, Transformer):
        return 0.0
    layers = model.num_hidden_layers
    if model.local_attention:
        window = model.local_attention // 2  # to either side
        return 1.0 - model.global_layers / layers if window <= tokens else 0.0
    if not model.kind.window or model.alibi:
        return float(model.alibi)
    window, windowed = _windows(model.kind, arguments, layers, where)
    return windowed / layers if layers and window <= tokens else 0.0


def _windows(kind: ModelType, said: Mapping[str, Any], layers: int, where: str) -> tuple[int, int]:
    """The window's tokens, and how many layers have it."""
    usual, every = kind.window["tokens"], kind.window["full_every"]
    window = _whole("sliding_window", said, usual, _LONGEST, where)
    kinds = said.get("layer_types")
    if kinds is None:
        if kind.window.get("pattern"):
            every = _whole("sliding_window_pattern", said, every, _MOST_LAYERS, where)
        full = layers // every if every else 0
        return window, layers - (-(-layers // every) if kind.window.get("full_first") else full)
    if not isinstance(kinds, list) or any(each not in (_SLIDING, _FULL) for each in kinds):
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


def rectified(model: Architecture, arguments: Mapping[str, Any], *, where: str) -> bool:
    """Whether what comes out of the activation says what went in, as of a ReLU and its square.

    Raises ValueError that begins with ``where`` and the key.
    """
    if isinstance(model, EncoderDecoder) and model.relative_positions:
        return model.feed_forward_proj == "relu"
    if model.kind.activation is None:
        return False
    key, usual = model.kind.activation
    if (said := arguments.get(key)) is not None:
        _checked_activation(key, said, where)
    return (said or usual) in ("relu", "relu2")


def _checked_activation(key: str, value: object, where: str) -> str:
    if not isinstance(value, str) or value not in ACTIVATIONS.split():
        raise ValueError(
            f"{where} '{key}': is {shown(value)}; write one that the library has, such as relu or "
            "gelu"
        )
    return value
