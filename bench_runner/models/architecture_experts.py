"""Decoders whose tokens use some of many feed-forward networks: mixtures of experts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bench_runner.models.architecture_base import at_least, listed_layers
from bench_runner.models.architecture_text import Llama


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts(Llama):
    """A decoder whose tokens use some of many feed-forward networks (Shazeer et al. 2017)."""

    experts_key: ClassVar[str] = "num_experts"
    size_key: ClassVar[str] = "moe_intermediate_size"
    """What a class's configuration calls the two."""
    num_experts_per_tok: int = 2

    @property
    def experts(self) -> int:
        """Feed-forward networks of a layer to choose from."""
        return int(getattr(self, self.experts_key))

    @property
    def expert_size(self) -> int:
        """Inner elements of each."""
        return int(getattr(self, self.size_key))

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

    @property
    def expert_biases(self) -> int:
        """Weights of the biases of one expert."""
        return 0

    @property
    def further(self) -> int:
        """Weights of a layer that none of these says."""
        return 0

    def contradiction(self) -> tuple[str, str] | None:
        if self.num_experts_per_tok > self.experts:
            return (
                "num_experts_per_tok",
                f"is {self.num_experts_per_tok}, more than the {self.experts} experts",
            )
        return super(Experts, self).contradiction()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixtral(Experts):
    """Jiang et al. 2024."""

    config_class = "MixtralConfig"
    model_type = "mixtral"
    experts_key = "num_local_experts"
    size_key = "intermediate_size"
    num_key_value_heads: int = 8
    intermediate_size: int = 14336
    num_local_experts: int = 8
    num_experts_per_tok: int = 2


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
    def biased(self) -> tuple[bool, bool]:
        return self.qkv_bias or self.attention_bias, self.attention_bias

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
    num_attention_heads: int = 32
    num_key_value_heads: int = 4
    intermediate_size: int = 6144
    num_experts: int = 128
    num_experts_per_tok: int = 8
    moe_intermediate_size: int = 768

    @property
    def head_norms(self) -> int:
        return self.norm_of_each_head


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepseekV2(Experts):
    """DeepSeek-AI 2024: keys and values through a narrow layer (MLA), many small experts."""

    config_class = "DeepseekV2Config"
    model_type = "deepseek_v2"
    experts_key = "n_routed_experts"
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
    n_group: int = 8
    topk_group: int = 4
    first_k_dense_replace: int = at_least(0, 3)

    def contradiction(self) -> tuple[str, str] | None:
        """The router chooses groups by their two best experts, and experts from these groups."""
        each, rest = divmod(self.n_routed_experts, self.n_group)
        if rest or each < 2:
            return (
                "n_routed_experts",
                f"is {self.n_routed_experts}, which {self.n_group} groups of two or more do not "
                "share evenly",
            )
        if self.topk_group > self.n_group:
            return "topk_group", f"is {self.topk_group}, more than the {self.n_group} groups"
        if self.num_experts_per_tok > self.topk_group * each:
            return (
                "num_experts_per_tok",
                f"is {self.num_experts_per_tok}, more than the {self.topk_group * each} experts "
                "of the groups that are chosen",
            )
        return super(DeepseekV3, self).contradiction()


@dataclass(frozen=True, slots=True, kw_only=True)
class Olmoe(Experts):
    """Muennighoff et al. 2024: small experts alone, norms over all heads."""

    config_class = "OlmoeConfig"
    model_type = "olmoe"
    size_key = "intermediate_size"
    hidden_size: int = 2048
    num_hidden_layers: int = 16
    num_attention_heads: int = 16
    intermediate_size: int = 2048
    vocab_size: int = 50304
    num_experts: int = 64
    num_experts_per_tok: int = 8

    @property
    def head_norms(self) -> int:
        return self.norm_of_all_heads


@dataclass(frozen=True, slots=True, kw_only=True)
class GptOss(Experts):
    """OpenAI 2025: biases in experts and router, a learnt sink a head; no fused kernel of torch's
    has sinks."""

    config_class = "GptOssConfig"
    model_type = "gpt_oss"
    experts_key = "num_local_experts"
    size_key = "intermediate_size"
    attention = "eager"
    hidden_size: int = 2880
    num_hidden_layers: int = 36
    num_attention_heads: int = 64
    num_key_value_heads: int = 8
    head_dim: int = 64
    intermediate_size: int = 2880
    vocab_size: int = 201088
    attention_bias: bool = True
    num_local_experts: int = 128
    num_experts_per_tok: int = 4

    @property
    def expert_biases(self) -> int:
        return 2 * self.intermediate_size + self.hidden_size

    @property
    def further(self) -> int:
        return self.num_local_experts + self.num_attention_heads  # the router's bias, the sinks


@dataclass(frozen=True, slots=True, kw_only=True)
class Glm4Moe(Experts):
    """GLM team 2025: shared experts beside the chosen ones, the first layers dense. Without norms
    of heads it is DeepSeek's first mixture of experts (Dai et al. 2024), too."""

    config_class = "Glm4MoeConfig"
    model_type = "glm4_moe"
    experts_key = "n_routed_experts"
    num_hidden_layers: int = 46
    num_attention_heads: int = 96
    num_key_value_heads: int = 8
    intermediate_size: int = 10944
    vocab_size: int = 151552
    moe_intermediate_size: int = 1408
    num_experts_per_tok: int = 8
    n_shared_experts: int = at_least(0, 1)
    n_routed_experts: int = 128
    first_k_dense_replace: int = at_least(0, 1)
    use_qk_norm: bool = False

    @property
    def biased(self) -> tuple[bool, bool]:
        return self.attention_bias, False

    @property
    def head_norms(self) -> int:
        return self.norm_of_each_head if self.use_qk_norm else 0

    @property
    def shared_size(self) -> int:
        return self.n_shared_experts * self.moe_intermediate_size

    @property
    def dense_layers(self) -> int:
        return min(self.first_k_dense_replace, self.num_hidden_layers)
