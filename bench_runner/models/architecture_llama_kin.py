"""Decoders of Llama's layer with norms and biases of their own, under their own classes."""

from __future__ import annotations

from dataclasses import dataclass

from bench_runner.models.architecture_base import at_least, called, listed_words
from bench_runner.models.architecture_text import Llama


@dataclass(frozen=True, slots=True, kw_only=True)
class Olmo(Llama):
    """Groeneveld et al. 2024: norms without weights."""

    config_class = "OlmoConfig"
    model_type = "olmo"
    norm_vectors = 0
    vocab_size: int = 50304


@dataclass(frozen=True, slots=True, kw_only=True)
class Olmo2(Llama):
    """OLMo team 2024: norms behind each block, and over all queries and keys."""

    config_class = "Olmo2Config"
    model_type = "olmo2"
    vocab_size: int = 50304

    @property
    def head_norms(self) -> int:
        return self.norm_of_all_heads


@dataclass(frozen=True, slots=True, kw_only=True)
class Olmo3(Olmo2):
    """OLMo team 2025: three layers in four look at a window."""

    config_class = "Olmo3Config"
    model_type = "olmo3"


@dataclass(frozen=True, slots=True, kw_only=True)
class StableLm(Llama):
    """Stability AI 2023, 2024: norms with shifts; in some, both blocks behind one norm."""

    config_class = "StableLmConfig"
    model_type = "stablelm"
    norm_vectors = 2
    hidden_size: int = 2560
    intermediate_size: int = 6912
    num_key_value_heads: int = 32
    vocab_size: int = 50304
    use_qkv_bias: bool = False
    qk_layernorm: bool = False
    use_parallel_residual: bool = False

    @property
    def biased(self) -> tuple[bool, bool]:
        return self.use_qkv_bias, False

    @property
    def head_norms(self) -> int:
        return self.norm_of_all_heads if self.qk_layernorm else 0

    @property
    def norms_a_layer(self) -> int:
        return 1 if self.use_parallel_residual else 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Exaone4(Llama):
    """LG AI Research 2025: norms of each head's queries and keys."""

    config_class = "Exaone4Config"
    model_type = "exaone4"
    intermediate_size: int = 16384
    num_key_value_heads: int = 32
    vocab_size: int = 102400

    @property
    def head_norms(self) -> int:
        return self.norm_of_each_head


@dataclass(frozen=True, slots=True, kw_only=True)
class Arcee(Llama):
    """Arcee AI 2025: a feed-forward layer without a gate."""

    config_class = "ArceeConfig"
    model_type = "arcee"
    gated = False
    hidden_size: int = 2560
    intermediate_size: int = 18432


@dataclass(frozen=True, slots=True, kw_only=True)
class Nemotron(Arcee):
    """NVIDIA 2024 (Nemotron-4, Minitron): norms with shifts."""

    config_class = "NemotronConfig"
    model_type = "nemotron"
    norm_vectors = 2
    hidden_size: int = 6144
    num_attention_heads: int = 48
    intermediate_size: int = 24576
    vocab_size: int = 256000


@dataclass(frozen=True, slots=True, kw_only=True)
class Apertus(Arcee):
    """Swiss AI 2025: norms of each head's queries and keys, an activation that learns."""

    config_class = "ApertusConfig"
    model_type = "apertus"
    hidden_size: int = 4096
    intermediate_size: int = 14336
    vocab_size: int = 131072

    @property
    def head_norms(self) -> int:
        return self.norm_of_each_head

    @property
    def further(self) -> int:
        return 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NanoChat(Arcee):
    """Karpathy 2025: norms without weights, logits with a soft cap."""

    config_class = "NanoChatConfig"
    model_type = "nanochat"
    changes_logits = True
    norm_vectors = 0
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 6
    intermediate_size: int = 8192
    vocab_size: int = 50304


@dataclass(frozen=True, slots=True, kw_only=True)
class HunYuan(Llama):
    """Tencent 2025: norms of each head's queries and keys."""

    config_class = "HunYuanDenseV1Config"
    model_type = "hunyuan_v1_dense"
    vocab_size: int = 290943

    @property
    def head_norms(self) -> int:
        return self.norm_of_each_head


@dataclass(frozen=True, slots=True, kw_only=True)
class GraniteDense(Llama):
    """IBM 2025 (Granite 4): those of its models that have neither experts nor Mamba's layers."""

    config_class = "GraniteMoeHybridConfig"
    model_type = "granitemoehybrid"
    changes_logits = True
    intermediate_size: int = called("shared_intermediate_size", 1024)
    num_local_experts: int = at_least(0, 0)
    layer_types: tuple[str, ...] = listed_words()

    def contradiction(self) -> tuple[str, str] | None:
        if self.num_local_experts:
            return (
                "num_local_experts",
                f"is {self.num_local_experts}, and of this class only models without are counted",
            )
        named = len(self.layer_types)
        if named not in (0, self.num_hidden_layers):
            return "layer_types", f"names {named} layers of {self.num_hidden_layers}"
        if not set(self.layer_types) <= {"attention", "full_attention"}:
            return "layer_types", "names others than attention, which are not counted"
        return super(GraniteDense, self).contradiction()


@dataclass(frozen=True, slots=True, kw_only=True)
class Glm(Llama):
    """GLM team 2024: biases of queries, keys and values."""

    config_class = "GlmConfig"
    model_type = "glm"
    hidden_size: int = 4096
    num_hidden_layers: int = 40
    num_key_value_heads: int = 2
    head_dim: int = 128
    intermediate_size: int = 13696
    vocab_size: int = 151552
    attention_bias: bool = True

    @property
    def biased(self) -> tuple[bool, bool]:
        return self.attention_bias, False


@dataclass(frozen=True, slots=True, kw_only=True)
class Glm4(Glm):
    """GLM team 2025: a norm before and behind each block."""

    config_class = "Glm4Config"
    model_type = "glm4"
    norms = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedOss(Llama):
    """ByteDance Seed 2025."""

    config_class = "SeedOssConfig"
    model_type = "seed_oss"
    num_hidden_layers: int = 64
    num_attention_heads: int = 80
    num_key_value_heads: int = 8
    head_dim: int = 128
    intermediate_size: int = 27648
    vocab_size: int = 155136
    attention_bias: bool = True
    attention_out_bias: bool = False

    @property
    def biased(self) -> tuple[bool, bool]:
        return self.attention_bias, self.attention_out_bias


@dataclass(frozen=True, slots=True, kw_only=True)
class Gemma2(Llama):
    """Gemma team 2024: a norm before and behind each block."""

    config_class = "Gemma2Config"
    model_type = "gemma2"
    changes_logits = True
    norms = 4
    hidden_size: int = 2304
    num_hidden_layers: int = 26
    num_attention_heads: int = 8
    num_key_value_heads: int = 4
    head_dim: int = 256
    intermediate_size: int = 9216
    vocab_size: int = 256000
    tie_word_embeddings: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Gemma3(Gemma2):
    """Gemma team 2025: norms of each head's queries and keys, too."""

    config_class = "Gemma3TextConfig"
    model_type = "gemma3_text"
    changes_logits = False
    vocab_size: int = 262_208

    @property
    def head_norms(self) -> int:
        return self.norm_of_each_head


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohere2(Llama):
    """Cohere 2024: attention and feed-forward side by side behind one norm."""

    config_class = "Cohere2Config"
    model_type = "cohere2"
    changes_logits = True
    norms = 1
    hidden_size: int = 8192
    num_hidden_layers: int = 40
    num_attention_heads: int = 64
    intermediate_size: int = 22528
    vocab_size: int = 256000
    tie_word_embeddings: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohere(Cohere2):
    """Its predecessor, some of whose models norm queries and keys."""

    config_class = "CohereConfig"
    model_type = "cohere"
    use_qk_norm: bool = False

    @property
    def head_norms(self) -> int:
        return self.norm_of_all_heads if self.use_qk_norm else 0
