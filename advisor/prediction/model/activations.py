"""Which models' feed-forward layers keep what is above zero, and so need half as many elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench_runner.recipe_table import shown

_T5 = "feed_forward_proj"
_KEYS: Mapping[str, tuple[str, str]] = {
    "OPTConfig": ("activation_function", "relu"),
    "M2M100Config": ("activation_function", "relu"),
    "PegasusConfig": ("activation_function", "gelu"),
    **dict.fromkeys(("NemotronConfig", "ArceeConfig", "NanoChatConfig"), ("hidden_act", "relu2")),
    "T5Config": (_T5, "relu"),
}
"""By configuration class of those that have a ReLU or its square: the key of the activation, and
what the library (transformers 5.17) takes where a file says nothing."""
ACTIVATIONS = (
    "gelu gelu_10 gelu_fast gelu_new gelu_python gelu_pytorch_tanh gelu_python_tanh gelu_accurate "
    "hardswish laplace leaky_relu linear mish quick_gelu relu relu2 relu6 sigmoid silu "
    "sqrtsoftplus swish tanh prelu xielu"
)
"""The library's names of them (`ACT2FN`)."""


def activation_arguments(
    config_class: str, content: Mapping[str, Any], *, where: str
) -> dict[str, str]:
    """What a config.json says of the activation, where that decides. Raises ValueError that begins
    with ``where`` and the key."""
    key = _KEYS[config_class][0] if config_class in _KEYS else _T5
    if key == _T5 or content.get(key) is None:  # T5's is read with the architecture
        return {}
    return {key: _checked(key, content[key], where)}


def rectified(config_class: str, arguments: Mapping[str, Any], *, where: str) -> bool:
    """Whether what comes out of the activation says what went in, as of a ReLU and its square.
    Raises ValueError that begins with ``where`` and the key."""
    if config_class not in _KEYS:
        return False
    key, usual = _KEYS[config_class]
    said = arguments.get(key)
    if said is not None and key != _T5:
        _checked(key, said, where)
    return (said or usual) in ("relu", "relu2")


def _checked(key: str, value: object, where: str) -> str:
    if not isinstance(value, str) or value not in ACTIVATIONS.split():
        raise ValueError(
            f"{where} '{key}': is {shown(value)}; write one that the library has, such as relu or "
            "gelu"
        )
    return value
