"""Gated decoders, and encoders later than RoBERTa."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bench_runner.models.architecture_base import (
    TextTransformer,
    at_least,
    one_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Llama(TextTransformer):
    """Decoder of Touvron et al. 2023: gated feed-forward layer, grouped keys and values."""

    config_class = "LlamaConfig"
    model_type = "llama"
    family = "decoder"
    causal = True
    gated = True
    norms: ClassVar[int] = 2
    """Of the hidden size, a layer."""
    norm_vectors: ClassVar[int] = 1
    """Weights of a norm: a scale, and a shift where there are two."""
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

    @property
    def biased(self) -> tuple[bool, bool]:
        """Whether queries, keys and values have biases, and whether attention's output has."""
        return self.attention_bias, self.attention_bias

    @property
    def head_norms(self) -> int:
        """Weights of the norms of queries and keys, a layer."""
        return 0

    @property
    def norms_a_layer(self) -> int:
        """Norms of the hidden size, a layer."""
        return self.norms

    @property
    def output_bias(self) -> bool:
        """Whether the output layer has a bias."""
        return False

    @property
    def further(self) -> int:
        """Weights of a layer's activation."""
        return 0

    @property
    def norm_of_each_head(self) -> int:
        """Weights where all heads share a norm of queries and one of keys."""
        return 2 * self.head_dim

    @property
    def norm_of_all_heads(self) -> int:
        """... where every element of queries and keys has its own."""
        return (self.num_attention_heads + self.num_key_value_heads) * self.head_dim


@dataclass(frozen=True, slots=True, kw_only=True)
class Qwen2(Llama):
    """Llama's layer with biases of queries, keys and values."""

    config_class = "Qwen2Config"
    model_type = "qwen2"
    intermediate_size: int = 22016
    num_key_value_heads: int = 32
    vocab_size: int = 151936

    @property
    def biased(self) -> tuple[bool, bool]:
        return True, self.attention_bias


@dataclass(frozen=True, slots=True, kw_only=True)
class Qwen3(Llama):
    """Llama's layer with norms of each head's queries and keys."""

    config_class = "Qwen3Config"
    model_type = "qwen3"
    intermediate_size: int = 22016
    num_key_value_heads: int = 32
    head_dim: int = 128
    vocab_size: int = 151936

    @property
    def head_norms(self) -> int:
        return self.norm_of_each_head


@dataclass(frozen=True, slots=True, kw_only=True)
class Starcoder2(Llama):
    """Lozhkov et al. 2024: a plain feed-forward layer, grouped keys and values, biases."""

    config_class = "Starcoder2Config"
    model_type = "starcoder2"
    gated = False
    hidden_size: int = 3072
    num_hidden_layers: int = 30
    num_attention_heads: int = 24
    num_key_value_heads: int = 2
    intermediate_size: int = 12288
    vocab_size: int = 49152
    use_bias: bool = True
    tie_word_embeddings: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ModernBert(TextTransformer):
    """Encoder of Warner et al. 2024: gated, rotary, two layers in three look at a window only."""

    config_class = "ModernBertConfig"
    model_type = "modernbert"
    family = "encoder"
    gated = True
    hidden_size: int = 768
    num_hidden_layers: int = 22
    num_attention_heads: int = 12
    intermediate_size: int = 1152
    vocab_size: int = 50368
    local_attention: int = 128
    global_attn_every_n_layers: int = 3
    attention_bias: bool = False
    mlp_bias: bool = False
    norm_bias: bool = False
    decoder_bias: bool = True
    classifier_bias: bool = False

    @property
    def global_layers(self) -> int:
        """Layers that look at the whole sample."""
        return -(-self.num_hidden_layers // self.global_attn_every_n_layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModernBertDecoder(ModernBert):
    """Weller et al. 2025 (Ettin): the same layers, which look back only."""

    config_class = "ModernBertDecoderConfig"
    model_type = "modernbert-decoder"
    family = "decoder"
    causal = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Deberta(TextTransformer):
    """Encoder of He et al. 2021: attention to contents and, apart, to relative positions."""

    config_class = "DebertaConfig"
    model_type = "deberta"
    family = "encoder"
    attention = "eager"
    blocks = ("DebertaLayer",)
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    vocab_size: int = 50265
    max_position_embeddings: int = 512
    type_vocab_size: int = at_least(0, 0)
    relative_attention: bool = False
    max_relative_positions: int = at_least(-1, -1)
    position_biased_input: bool = True
    pos_att_type: str = one_of("", "c2p", "p2c", "c2p|p2c", "p2c|c2p")

    @property
    def kinds_of_position(self) -> int:
        """How many of the two products with positions there are."""
        kinds = self.pos_att_type.split("|") if self.pos_att_type else []
        return len(kinds) if self.relative_attention else 0

    @property
    def relative_positions(self) -> int:
        """Distances that are told apart, either way."""
        most = self.max_relative_positions
        return self.max_position_embeddings if most < 1 else most

    @property
    def longest(self) -> int | None:
        return self.max_position_embeddings if self.position_biased_input else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DebertaV2(Deberta):
    """DeBERTa's second and third versions."""

    config_class = "DebertaV2Config"
    model_type = "deberta-v2"
    blocks = ("DebertaV2Layer",)
    hidden_size: int = 1536
    num_hidden_layers: int = 24
    num_attention_heads: int = 24
    intermediate_size: int = 6144
    vocab_size: int = 128100
    position_buckets: int = at_least(-1, -1)
    share_att_key: bool = False
    norm_rel_ebd: str = one_of("none", "layer_norm")
    conv_kernel_size: int = at_least(0, 0)

    @property
    def relative_positions(self) -> int:
        most = self.max_relative_positions
        plain = self.max_position_embeddings if most < 1 else most
        return self.position_buckets if self.position_buckets > 0 else plain
