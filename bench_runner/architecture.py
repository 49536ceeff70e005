"""What a model is made of: one typed architecture for each class whose operations are counted.

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


def _called(key: str, default: int) -> Any:
    """A field that the configuration class calls ``key``."""
    return field(default=default, metadata={"key": key})


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The numbers of one model. A 0 among the defaults stands for what the library derives."""

    config_class: ClassVar[str]
    """The Hugging Face configuration class, and in a config.json its ..."""
    model_type: ClassVar[str]
    family: ClassVar[str]
    """As of a recipe: ``decoder``, ``encoder``, ``ssm``, ``convnet`` or ``vit``."""

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
    def longest(self) -> int | None:
        """Tokens of the longest sequence where each position has weights of its own, else None."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class GptNeoX(TextTransformer):
    """Decoder of Black et al. 2022."""

    config_class = "GPTNeoXConfig"
    model_type = "gpt_neox"
    family = "decoder"
    causal = True
    hidden_size: int = 6144
    num_hidden_layers: int = 44
    num_attention_heads: int = 64
    intermediate_size: int = 24576
    vocab_size: int = 50432
    attention_bias: bool = True
    tie_word_embeddings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpt2(TextTransformer):
    """Decoder of Radford et al. 2019; positions are learnt."""

    config_class = "GPT2Config"
    model_type = "gpt2"
    family = "decoder"
    causal = True
    hidden_size: int = _called("n_embd", 768)
    num_hidden_layers: int = _called("n_layer", 12)
    num_attention_heads: int = _called("n_head", 12)
    intermediate_size: int = _called("n_inner", 0)
    positions: int = _called("n_positions", 1024)
    vocab_size: int = 50257

    def __post_init__(self) -> None:
        self._derive("intermediate_size", 4 * self.hidden_size)

    @property
    def longest(self) -> int:
        return self.positions


@dataclass(frozen=True, slots=True, kw_only=True)
class Llama(TextTransformer):
    """Decoder of Touvron et al. 2023: gated feed-forward layer, grouped keys and values."""

    config_class = "LlamaConfig"
    model_type = "llama"
    family = "decoder"
    causal = True
    gated = True
    hidden_size: int = 4096
    num_hidden_layers: int = 32
    num_attention_heads: int = 32
    num_key_value_heads: int = 0
    head_dim: int = 0
    intermediate_size: int = 11008
    vocab_size: int = 32000
    attention_bias: bool = False
    mlp_bias: bool = False
    tie_word_embeddings: bool = False

    def __post_init__(self) -> None:
        self._derive("num_key_value_heads", self.num_attention_heads)
        self._derive("head_dim", max(1, self.hidden_size // self.num_attention_heads))

    @property
    def key_value_heads(self) -> int:
        return self.num_key_value_heads

    @property
    def head_size(self) -> int:
        return self.head_dim


@dataclass(frozen=True, slots=True, kw_only=True)
class Bert(TextTransformer):
    """Encoder of Devlin et al. 2019."""

    config_class = "BertConfig"
    model_type = "bert"
    family = "encoder"
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    vocab_size: int = 30522
    max_position_embeddings: int = 512
    type_vocab_size: int = 2

    @property
    def longest(self) -> int:
        return self.max_position_embeddings


@dataclass(frozen=True, slots=True, kw_only=True)
class Roberta(Bert):
    """Encoder of Liu et al. 2019: BERT's, with another vocabulary."""

    config_class = "RobertaConfig"
    model_type = "roberta"
    vocab_size: int = 50265


@dataclass(frozen=True, slots=True, kw_only=True)
class Mamba(Architecture):
    """State-space model of Gu and Dao 2023."""

    config_class = "MambaConfig"
    model_type = "mamba"
    family = "ssm"
    hidden_size: int = 768
    num_hidden_layers: int = 32
    state_size: int = 16
    conv_kernel: int = 4
    expand: int = 2
    vocab_size: int = 50280
    time_step_rank: int = field(default=0, metadata={"derived": "auto"})
    use_bias: bool = False
    use_conv_bias: bool = True
    tie_word_embeddings: bool = True

    def __post_init__(self) -> None:
        self._derive("time_step_rank", -(-self.hidden_size // 16))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvNext(Architecture):
    """Convolutional network of Liu et al. 2022, in stages that halve the image."""

    config_class = "ConvNextConfig"
    model_type = "convnext"
    family = "convnet"
    depths: tuple[int, ...] = (3, 3, 9, 3)
    hidden_sizes: tuple[int, ...] = (96, 192, 384, 768)
    patch_size: int = 4
    num_channels: int = 3
    num_labels: int = 2
    layer_scale_init_value: float = 1e-6

    def contradiction(self) -> tuple[str, str] | None:
        if len(self.depths) != len(self.hidden_sizes):
            return "depths", "has not as many stages as hidden_sizes"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vit(Transformer):
    """Vision transformer of Dosovitskiy et al. 2021; one class token is read out."""

    config_class = "ViTConfig"
    model_type = "vit"
    family = "vit"
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    patch_size: int = 16
    num_channels: int = 3
    num_labels: int = 2
    qkv_bias: bool = True


KINDS: tuple[type[Architecture], ...] = (
    GptNeoX,
    Gpt2,
    Llama,
    Bert,
    Roberta,
    Mamba,
    ConvNext,
    Vit,
)
_BY_NAME = {name: kind for kind in KINDS for name in (kind.config_class, kind.model_type)}


def kind_of(name: str) -> type[Architecture] | None:
    """The architecture of a configuration class or a ``model_type``; None where none is known."""
    return _BY_NAME.get(name)


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
        if value is None:
            if key in required:
                raise error(key, "is missing; the model cannot be counted without it")
        elif value != each.metadata.get("derived"):
            try:
                given[each.name] = _checked(each.name, each.default, value)
            except ValueError as problem:
                raise error(key, str(problem)) from None
    architecture = kind(**given)
    if (found := architecture.contradiction()) is not None:
        raise error(keys[found[0]], found[1])
    return architecture


def _key(each: Any) -> str:
    return str(each.metadata.get("key", each.name))


def _checked(name: str, default: object, value: Any) -> object:
    """The value where it is of the default's kind; ValueError says what is wrong with it."""
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
    return whole(value, most)


def whole(value: object, most: int) -> int:
    """A whole number from 1 to ``most``; ValueError says what it is instead."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise ValueError(f"is {_shown(value)}; write a whole number from 1 to {most:,}")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
