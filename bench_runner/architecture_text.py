"""Gated decoders, mixtures of experts, encoder-decoders, and encoders later than RoBERTa."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bench_runner.architecture_base import (
    TextTransformer,
    at_least,
    called,
    listed_layers,
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
class Qwen2(Llama):
    """Llama's layer with biases of queries, keys and values."""

    config_class = "Qwen2Config"
    model_type = "qwen2"
    intermediate_size: int = 22016
    num_key_value_heads: int = 32
    vocab_size: int = 151936


@dataclass(frozen=True, slots=True, kw_only=True)
class Qwen3(Llama):
    """Llama's layer with norms of each head's queries and keys."""

    config_class = "Qwen3Config"
    model_type = "qwen3"
    intermediate_size: int = 22016
    num_key_value_heads: int = 32
    head_dim: int = 128
    vocab_size: int = 151936


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
class Experts(Llama):
    """A decoder whose tokens use some of many feed-forward networks (Shazeer et al. 2017)."""

    head_norms: ClassVar[bool] = False

    @property
    def biased_queries(self) -> bool:
        """Whether queries, keys and values have biases and nothing else has."""
        return False

    @property
    def experts(self) -> int:
        """Feed-forward networks of a layer to choose from."""
        raise NotImplementedError

    @property
    def experts_a_token(self) -> int:
        """... that each token uses."""
        raise NotImplementedError

    @property
    def expert_size(self) -> int:
        """Inner elements of each."""
        raise NotImplementedError

    @property
    def shared_size(self) -> int:
        """Inner elements that every token uses beside them."""
        return 0

    @property
    def shared_gate(self) -> bool:
        """Whether a scalar weighs what is shared."""
        return False

    @property
    def dense_layers(self) -> int:
        """Layers with one network of ``intermediate_size`` instead."""
        return 0

    def contradiction(self) -> tuple[str, str] | None:
        if self.experts_a_token > self.experts:
            return (
                "num_experts_per_tok",
                f"is {self.experts_a_token}, more than the {self.experts} experts",
            )
        return super(Experts, self).contradiction()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixtral(Experts):
    """Jiang et al. 2024."""

    config_class = "MixtralConfig"
    model_type = "mixtral"
    num_key_value_heads: int = 8
    intermediate_size: int = 14336
    num_local_experts: int = 8
    num_experts_per_tok: int = 2

    @property
    def experts(self) -> int:
        return self.num_local_experts

    @property
    def experts_a_token(self) -> int:
        return self.num_experts_per_tok

    @property
    def expert_size(self) -> int:
        return self.intermediate_size


@dataclass(frozen=True, slots=True, kw_only=True)
class _QwenMoe(Experts):
    hidden_size: int = 2048
    num_hidden_layers: int = 24
    vocab_size: int = 151936
    decoder_sparse_step: int = 1
    mlp_only_layers: tuple[int, ...] = listed_layers()

    @property
    def dense_layers(self) -> int:
        step, only = self.decoder_sparse_step, set(self.mlp_only_layers)
        return sum(n in only or bool((n + 1) % step) for n in range(self.num_hidden_layers))


@dataclass(frozen=True, slots=True, kw_only=True)
class Qwen2Moe(_QwenMoe):
    """Qwen team 2024: a shared expert beside the chosen ones."""

    config_class = "Qwen2MoeConfig"
    model_type = "qwen2_moe"
    num_attention_heads: int = 16
    num_key_value_heads: int = 16
    intermediate_size: int = 5632
    num_experts: int = 60
    num_experts_per_tok: int = 4
    moe_intermediate_size: int = 1408
    shared_expert_intermediate_size: int = 5632
    qkv_bias: bool = True

    @property
    def biased_queries(self) -> bool:
        return self.qkv_bias

    @property
    def experts(self) -> int:
        return self.num_experts

    @property
    def experts_a_token(self) -> int:
        return self.num_experts_per_tok

    @property
    def expert_size(self) -> int:
        return self.moe_intermediate_size

    @property
    def shared_size(self) -> int:
        return self.shared_expert_intermediate_size

    @property
    def shared_gate(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Qwen3Moe(_QwenMoe):
    """Qwen team 2025."""

    config_class = "Qwen3MoeConfig"
    model_type = "qwen3_moe"
    head_norms = True
    num_attention_heads: int = 32
    num_key_value_heads: int = 4
    intermediate_size: int = 6144
    num_experts: int = 128
    num_experts_per_tok: int = 8
    moe_intermediate_size: int = 768

    @property
    def experts(self) -> int:
        return self.num_experts

    @property
    def experts_a_token(self) -> int:
        return self.num_experts_per_tok

    @property
    def expert_size(self) -> int:
        return self.moe_intermediate_size


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepseekV2(Experts):
    """DeepSeek-AI 2024: keys and values through a narrow layer (MLA), many small experts."""

    config_class = "DeepseekV2Config"
    model_type = "deepseek_v2"
    vocab_size: int = 102400
    moe_intermediate_size: int = 1407
    n_routed_experts: int = 64
    n_shared_experts: int = at_least(0, 2)
    num_experts_per_tok: int = 6
    first_k_dense_replace: int = at_least(0, 0)
    q_lora_rank: int = at_least(0, 1536)
    kv_lora_rank: int = 512
    qk_nope_head_dim: int = 128
    qk_rope_head_dim: int = 64
    v_head_dim: int = 128
    head_dim: int = 64

    @property
    def experts(self) -> int:
        return self.n_routed_experts

    @property
    def experts_a_token(self) -> int:
        return self.num_experts_per_tok

    @property
    def expert_size(self) -> int:
        return self.moe_intermediate_size

    @property
    def shared_size(self) -> int:
        return self.n_shared_experts * self.moe_intermediate_size

    @property
    def dense_layers(self) -> int:
        return min(self.first_k_dense_replace, self.num_hidden_layers)

    @property
    def query_size(self) -> int:
        """Elements of one head's query and key."""
        return self.qk_nope_head_dim + self.qk_rope_head_dim


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepseekV3(DeepseekV2):
    """DeepSeek-AI 2024: the same, wider; its second predicted token is not built by the library."""

    config_class = "DeepseekV3Config"
    model_type = "deepseek_v3"
    hidden_size: int = 7168
    num_hidden_layers: int = 61
    num_attention_heads: int = 128
    num_key_value_heads: int = 128
    intermediate_size: int = 18432
    vocab_size: int = 129280
    moe_intermediate_size: int = 2048
    n_routed_experts: int = 256
    n_shared_experts: int = at_least(0, 1)
    num_experts_per_tok: int = 8
    first_k_dense_replace: int = at_least(0, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class T5(TextTransformer):
    """Encoder-decoder of Raffel et al. 2020, trained on corrupted spans.

    The encoder reads a sample's tokens, the decoder writes `target_length` of them.
    """

    config_class = "T5Config"
    model_type = "t5"
    family = "encoder"
    blocks = ("T5Block",)
    hidden_size: int = called("d_model", 512)
    num_hidden_layers: int = called("num_layers", 6)
    num_decoder_layers: int = 0
    num_attention_heads: int = called("num_heads", 8)
    intermediate_size: int = called("d_ff", 2048)
    head_dim: int = called("d_kv", 64)
    vocab_size: int = 32128
    tie_word_embeddings: bool = True
    relative_attention_num_buckets: int = 32
    feed_forward_proj: str = one_of("relu", "gated-gelu", "gated-silu", "gelu", "silu")

    def __post_init__(self) -> None:
        self._derive("num_decoder_layers", self.num_hidden_layers)

    @property
    def head_size(self) -> int:
        return self.head_dim

    def contradiction(self) -> tuple[str, str] | None:
        return None  # heads need not make up the hidden size


@dataclass(frozen=True, slots=True, kw_only=True)
class MT5(T5):
    """Xue et al. 2021."""

    config_class = "MT5Config"
    model_type = "mt5"
    blocks = ("MT5Block",)
    num_hidden_layers: int = called("num_layers", 8)
    num_attention_heads: int = called("num_heads", 6)
    intermediate_size: int = called("d_ff", 1024)
    vocab_size: int = 250112
    feed_forward_proj: str = one_of("gated-gelu", "relu", "gated-silu", "gelu", "silu")


def target_length(tokens: int) -> int:
    """Tokens that the decoder writes for ``tokens`` that the encoder reads: 114 for 512.

    Of the uncorrupted text 15 % is masked in spans of 3 on average; a mark stands for each span on
    both sides, an end on each (Raffel et al. 2020, section 3.1.4; T5's own arithmetic).
    """

    def lengths(text: int) -> tuple[int, int]:
        noise = round(text * 0.15)
        spans = round(noise / 3)
        return text - noise + spans + 1, noise + spans + 1

    text = max(1, int(tokens / 0.9))
    while text > 1 and lengths(text)[0] > tokens:
        text -= 1
    while lengths(text + 1)[0] <= tokens:
        text += 1
    return lengths(text)[1]


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
