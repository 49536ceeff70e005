"""Which models' feed-forward layers keep what is above zero, and so need half as many elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RECTIFIED: Mapping[str, str] = {
    "OPTConfig": "activation_function",
    "M2M100Config": "activation_function",
    "PegasusConfig": "activation_function",
    "NemotronConfig": "hidden_act",
    "T5Config": "feed_forward_proj",
}
"""By configuration class: the key of the activation, which is a ReLU or its square where a file
says nothing (transformers 5.17)."""


def rectified(config_class: str | None, arguments: Mapping[str, Any]) -> bool:
    """Whether what comes out of the activation says what went in, as of a ReLU and its square."""
    key = RECTIFIED.get(config_class or "")
    return key is not None and arguments.get(key, "relu") in ("relu", "relu2")
