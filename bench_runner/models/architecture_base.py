"""What every architecture has, and how one is read from a configuration's arguments.

The fields have the keys and the defaults of Hugging Face's configuration classes, because what a
recipe leaves out is what the library builds; a field that is called otherwise there names its key.
`read_architecture` is the only way from a recipe or a config.json to one of them. FLOPs, memory
and predictions take it from there. Imports nothing heavy.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

_LARGEST_SIZE = 1_000_000
_LARGEST: Mapping[str, int] = {
    "num_hidden_layers": 10_000,
    "num_attention_heads": 10_000,
    "num_key_value_heads": 10_000,
    "expand": 10_000,
    "vocab_size": 100_000_000,
    "num_labels": 100_000_000,
    "positions": 100_000_000,
    "max_position_embeddings": 100_000_000,
    "patch_size": 100_000_000,
}
"""More than any model has, by field; sizes that are not named here end at a million."""
_MOST_STAGES = 8
_SHOWN = 40
"""Characters of a wrong value that an error repeats."""


def called(key: str, default: int | str) -> Any:
    """A field that the configuration class calls ``key``."""
    return field(default=default, metadata={"key": key})


def at_least(least: int, default: int, key: str | None = None) -> Any:
    """A whole number that may be below 1; where it is 0, a file may say null."""
    named = {} if key is None else {"key": key}
    return field(default=default, metadata={"least": least, "null": least == 0, **named})


def counted_from_0(default: int) -> Any:
    """The number of a token, of which null says nothing."""
    return field(default=default, metadata={"least": 0})


def one_of(*choices: str) -> Any:
    """A word; the first is the default."""
    return field(default=choices[0], metadata={"choices": choices})


def listed_layers() -> Any:
    """Numbers of layers, counted from 0; none by default."""
    return field(default=(), metadata={"layers": True})


def listed_words() -> Any:
    """A word for each layer; none by default."""
    return field(default=(), metadata={"words": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The numbers of one model. A 0 among the defaults stands for what the library derives."""

    config_class: ClassVar[str]
    """The Hugging Face configuration class, and in a config.json its ..."""
    model_type: ClassVar[str]
    family: ClassVar[str]
    """As of a recipe: ``decoder``, ``encoder``, ``ssm``, ``convnet`` or ``vit``."""
    blocks: ClassVar[tuple[str, ...]] = ()
    """The library's classes of the layers, which FSDP wraps and checkpointing repeats one by one;
    empty where the library names them itself."""
    attention: ClassVar[str | None] = "sdpa"
    """The fused attention that the library's code has for it; ``eager``: none, None: it has no
    attention."""

    changes_logits: ClassVar[bool] = False
    """Whether something changes the logits behind the last linear layer, so that the loss cannot be
    fused with it."""

    def arguments(self) -> dict[str, Any]:
        """The numbers under the configuration class's own keys."""
        values = {_key(each): getattr(self, each.name) for each in fields(self)}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    def contradiction(self) -> tuple[str, str] | None:
        """A field whose value does not go with the others, and why; None where all is well."""
        return None

    def _derive(self, name: str, value: int) -> None:
        if getattr(self, name) == 0:
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformer(Architecture):
    """Layers of attention and a feed-forward network."""

    gated: ClassVar[bool] = False
    """Whether the feed-forward layer has a gate: three products instead of two."""
    causal: ClassVar[bool] = False
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int

    @property
    def key_value_heads(self) -> int:
        """Heads of keys and values, which several heads of queries may share."""
        return self.num_attention_heads

    @property
    def head_size(self) -> int:
        """Elements of one head."""
        return self.hidden_size // self.num_attention_heads

    def contradiction(self) -> tuple[str, str] | None:
        heads = self.num_attention_heads
        if heads > self.hidden_size:
            return (
                "num_attention_heads",
                f"is {heads}, more than the hidden size {self.hidden_size}",
            )
        if heads % self.key_value_heads:
            return (
                "num_key_value_heads",
                f"is {self.key_value_heads}, which does not divide {heads}",
            )
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTransformer(Transformer):
    """A transformer of tokens."""

    vocab_size: int
    tie_word_embeddings: bool = True
    """Whether the output layer has the input's table."""

    @property
    def output_size(self) -> int:
        """Elements of a token that the output layer reads, and that the input's table has."""
        return self.hidden_size

    @property
    def longest(self) -> int | None:
        """Tokens of the longest sequence where each position has weights of its own, else None."""
        return None


def read_architecture(
    kind: type[Architecture],
    arguments: Mapping[str, Any],
    *,
    where: str,
    spelling: Mapping[str, str] | None = None,
    required: Collection[str] = (),
) -> Architecture:
    """An architecture from a configuration's arguments; keys that it does not know are passed over.

    Raises ValueError, one line that begins with ``where`` and the key (in the file's ``spelling``
    where that differs), for a value that is none and for a ``required`` one that is missing.
    """

    def error(key: str, problem: str) -> ValueError:
        return ValueError(f"{where} '{(spelling or {}).get(key, key)}': {problem}")

    keys = {f.name: _key(f) for f in fields(kind)}
    given: dict[str, Any] = {}
    for each in fields(kind):
        key = keys[each.name]
        value = arguments.get(key)
        if value is None and key in arguments and each.metadata.get("null"):
            given[each.name] = 0
        elif value is None:
            if key in required:
                raise error(key, "is missing; the model cannot be counted without it")
        elif value != each.metadata.get("derived"):
            try:
                given[each.name] = _checked(each, value)
            except ValueError as problem:
                raise error(key, str(problem)) from None
    architecture = kind(**given)
    if (found := architecture.contradiction()) is not None:
        raise error(keys[found[0]], found[1])
    return architecture


def _key(each: Any) -> str:
    return str(each.metadata.get("key", each.name))


def _checked(each: Any, value: Any) -> object:
    """The value where it is of the default's kind; ValueError says what is wrong with it."""
    name, default = each.name, each.default
    if "layers" in each.metadata:
        if not isinstance(value, list | tuple) or len(value) > _LARGEST["num_hidden_layers"]:
            raise ValueError(f"is {_shown(value)}; write a list of numbers of layers")
        return tuple(whole(item, _LARGEST["num_hidden_layers"], 0) for item in value)
    if "words" in each.metadata:
        words = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        if not words or len(value) > _LARGEST["num_hidden_layers"]:
            raise ValueError(f"is {_shown(value)}; write a list of words, one a layer")
        return tuple(value)
    if isinstance(default, str):
        choices = each.metadata["choices"]
        if value not in choices:
            raise ValueError(f"is {_shown(value)}; write one of {', '.join(map(repr, choices))}")
        return value
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"is {_shown(value)}; write true or false")
        return value
    if isinstance(default, float):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value < math.inf:
            raise ValueError(f"is {_shown(value)}; write a number of 0 or more")
        return float(value)
    most = _LARGEST.get(name, _LARGEST_SIZE)
    if isinstance(default, tuple):
        if not isinstance(value, list | tuple) or not 1 <= len(value) <= _MOST_STAGES:
            raise ValueError(
                f"is {_shown(value)}; write a list of one to {_MOST_STAGES} whole numbers"
            )
        return tuple(whole(item, most) for item in value)
    return whole(value, most, each.metadata.get("least", 1))


def whole(value: object, most: int, least: int = 1) -> int:
    """A whole number from ``least`` to ``most``; ValueError says what it is instead."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"is {_shown(value)}; write a whole number from {least} to {most:,}")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
