"""Decoders with a plain feed-forward layer, each under its own class."""

from __future__ import annotations

from dataclasses import dataclass

from bench_runner.models.architecture_base import TextTransformer, at_least, called


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainDecoder(TextTransformer):
    """Two products in the feed-forward layer; what else there is each class says itself."""

    family = "decoder"
    causal = True

    @property
    def small_weights(self) -> int:
        """Weights beside those of products and tokens: norms, biases, positions."""
        raise NotImplementedError

    @property
    def shared_size(self) -> int:
        """Elements of all keys of a token, and of all values."""
        return self.key_value_heads * self.head_size


def _always_four(model: TextTransformer) -> tuple[str, str] | None:
    """What is wrong where the library makes the inner size four times the hidden one."""
    if model.intermediate_size != 4 * model.hidden_size:
        return (
            "intermediate_size",
            f"is {model.intermediate_size}, but the library always builds 4 x {model.hidden_size}",
        )
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opt(PlainDecoder):
    """Zhang et al. 2022: learnt positions; its 350M has tables narrower than its layers."""

    config_class = "OPTConfig"
    model_type = "opt"
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = called("ffn_dim", 3072)
    vocab_size: int = 50272
    max_position_embeddings: int = 2048
    word_embed_proj_dim: int = at_least(0, 0)
    do_layer_norm_before: bool = True
    without_last_norm: bool = called("_remove_final_layer_norm", False)
    enable_bias: bool = True
    layer_norm_elementwise_affine: bool = True

    def __post_init__(self) -> None:
        self._derive("word_embed_proj_dim", self.hidden_size)

    @property
    def longest(self) -> int:
        return self.max_position_embeddings

    @property
    def output_size(self) -> int:
        return self.word_embed_proj_dim

    @property
    def small_weights(self) -> int:
        hidden, layers = self.hidden_size, self.num_hidden_layers
        norm = 2 * hidden if self.layer_norm_elementwise_affine else 0
        biases = 5 * hidden + self.intermediate_size if self.enable_bias else 0
        last = norm if self.do_layer_norm_before and not self.without_last_norm else 0
        # Positions are counted from 2.
        return layers * (2 * norm + biases) + last + (self.max_position_embeddings + 2) * hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class Bloom(PlainDecoder):
    """BigScience 2022: biases by distance, a norm behind the embeddings."""

    config_class = "BloomConfig"
    model_type = "bloom"
    attention = "eager"
    hidden_size: int = 64
    num_hidden_layers: int = called("n_layer", 2)
    num_attention_heads: int = called("n_head", 8)
    intermediate_size: int = called("n_inner", 0)
    vocab_size: int = 250880

    def __post_init__(self) -> None:
        self._derive("intermediate_size", 4 * self.hidden_size)

    @property
    def small_weights(self) -> int:
        hidden = self.hidden_size
        return self.num_hidden_layers * (9 + 4) * hidden + 2 * 2 * hidden

    def contradiction(self) -> tuple[str, str] | None:
        return _always_four(self) or super(Bloom, self).contradiction()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mpt(PlainDecoder):
    """MosaicML 2023: biases by distance, no others."""

    config_class = "MptConfig"
    model_type = "mpt"
    attention = "eager"
    hidden_size: int = called("d_model", 2048)
    num_hidden_layers: int = called("n_layers", 24)
    num_attention_heads: int = called("n_heads", 16)
    expansion_ratio: int = 4
    intermediate_size: int = called("n_inner", 0)
    vocab_size: int = 50368

    def __post_init__(self) -> None:
        self._derive("intermediate_size", self.expansion_ratio * self.hidden_size)

    @property
    def small_weights(self) -> int:
        return (2 * self.num_hidden_layers + 1) * self.hidden_size

    def contradiction(self) -> tuple[str, str] | None:
        if self.expansion_ratio != 4:
            return (
                "expansion_ratio",
                f"is {self.expansion_ratio}, but the library always builds 4 x {self.hidden_size}",
            )
        return _always_four(self) or super(Mpt, self).contradiction()


@dataclass(frozen=True, slots=True, kw_only=True)
class Falcon(PlainDecoder):
    """Almazrouei et al. 2023: few heads of keys and values, both blocks behind one norm."""

    config_class = "FalconConfig"
    model_type = "falcon"
    hidden_size: int = 4544
    num_hidden_layers: int = 32
    num_attention_heads: int = 71
    num_kv_heads: int = at_least(0, 0)
    intermediate_size: int = at_least(0, 0, "ffn_hidden_size")
    vocab_size: int = 65024
    multi_query: bool = True
    new_decoder_architecture: bool = False
    parallel_attn: bool = True
    num_ln_in_parallel_attn: int = at_least(0, 0)
    bias: bool = False
    alibi: bool = False

    def __post_init__(self) -> None:
        self._derive("num_kv_heads", self.num_attention_heads)
        self._derive("intermediate_size", 4 * self.hidden_size)

    @property
    def key_value_heads(self) -> int:
        if self.new_decoder_architecture:
            return self.num_kv_heads
        return 1 if self.multi_query else self.num_attention_heads

    @property
    def small_weights(self) -> int:
        hidden = self.hidden_size
        two = self.num_ln_in_parallel_attn == 2
        two |= self.num_ln_in_parallel_attn == 0 and self.new_decoder_architecture
        norms = 2 if two or not self.parallel_attn else 1
        biases = 3 * hidden + 2 * self.shared_size + self.intermediate_size if self.bias else 0
        return self.num_hidden_layers * (norms * 2 * hidden + biases) + 2 * hidden

    def contradiction(self) -> tuple[str, str] | None:
        if self.key_value_heads > self.num_attention_heads:
            heads = self.num_attention_heads
            return "num_kv_heads", f"is {self.num_kv_heads}, more than the {heads} heads"
        if self.num_attention_heads % self.key_value_heads:
            heads = self.num_attention_heads
            return "num_kv_heads", f"is {self.num_kv_heads}, which does not divide {heads}"
        return super(Falcon, self).contradiction()


@dataclass(frozen=True, slots=True, kw_only=True)
class GptJ(PlainDecoder):
    """Wang and Komatsuzaki 2021: both blocks behind one norm, biases of the feed-forward alone."""

    config_class = "GPTJConfig"
    model_type = "gptj"
    attention = "eager"
    hidden_size: int = called("n_embd", 4096)
    num_hidden_layers: int = called("n_layer", 28)
    num_attention_heads: int = called("n_head", 16)
    intermediate_size: int = at_least(0, 0, "n_inner")
    positions: int = called("n_positions", 2048)
    vocab_size: int = 50400
    rotary_dim: int = 64
    tie_word_embeddings: bool = False

    def __post_init__(self) -> None:
        self._derive("intermediate_size", 4 * self.hidden_size)

    @property
    def small_weights(self) -> int:
        layer = self.intermediate_size + 3 * self.hidden_size
        return self.num_hidden_layers * layer + 2 * self.hidden_size + self.vocab_size

    def contradiction(self) -> tuple[str, str] | None:
        if self.rotary_dim > self.head_size:
            return (
                "rotary_dim",
                f"is {self.rotary_dim}, more than the {self.head_size} elements of a head",
            )
        return super(GptJ, self).contradiction()


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeGen(GptJ):
    """Nijkamp et al. 2023: GPT-J's layers."""

    config_class = "CodeGenConfig"
    model_type = "codegen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phi(PlainDecoder):
    """Microsoft 2023 (Phi-1 to Phi-2): both blocks behind one norm."""

    config_class = "PhiConfig"
    model_type = "phi"
    hidden_size: int = 2048
    num_hidden_layers: int = 24
    num_attention_heads: int = 32
    num_key_value_heads: int = at_least(0, 0)
    intermediate_size: int = 8192
    vocab_size: int = 51200
    qk_layernorm: bool = False
    tie_word_embeddings: bool = False

    def __post_init__(self) -> None:
        self._derive("num_key_value_heads", self.num_attention_heads)

    @property
    def key_value_heads(self) -> int:
        return self.num_key_value_heads

    @property
    def small_weights(self) -> int:
        hidden = self.hidden_size
        biases = 3 * hidden + 2 * self.shared_size + self.intermediate_size
        of_heads = 4 * self.head_size if self.qk_layernorm else 0
        layer = biases + of_heads + 2 * hidden
        return self.num_hidden_layers * layer + 2 * hidden + self.vocab_size
