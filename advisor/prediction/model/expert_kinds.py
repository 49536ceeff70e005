"""How the config.json of each kind of mixture of experts says its architecture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from advisor.prediction.model.decoder_kinds import LLAMA
from advisor.prediction.model.kin import SIZES, Kin
from bench_runner.models.architecture_experts import (
    DeepseekV2,
    DeepseekV3,
    Glm4Moe,
    GptOss,
    Mixtral,
    Olmoe,
    Qwen2Moe,
    Qwen3Moe,
)

_ROUTED = "num_local_experts num_experts_per_tok"
_LOCAL = {"num_local_experts": "num_local_experts num_experts"}
_EXPERTS = {"num_experts": "num_experts num_local_experts"}
_OF_ROUTED = {"n_routed_experts": "n_routed_experts num_local_experts num_experts"}
_DEEPSEEK = (
    f"{SIZES} num_key_value_heads moe_intermediate_size n_routed_experts n_shared_experts "
    "num_experts_per_tok first_k_dense_replace q_lora_rank kv_lora_rank qk_nope_head_dim "
    "qk_rope_head_dim v_head_dim tie_word_embeddings"
)
_GLM_MOE = replace(
    LLAMA,
    kind=Glm4Moe,
    kept=f"{LLAMA.kept} moe_intermediate_size n_routed_experts n_shared_experts "
    "num_experts_per_tok first_k_dense_replace use_qk_norm",
    spelling=_OF_ROUTED,
    required=f"{LLAMA.required} n_routed_experts",
)
MIXTURES: Mapping[str, Kin] = {
    **dict.fromkeys(
        (
            *("mixtral", "granitemoe", "granitemoe_swa", "granitemoeshared"),
            *("phimoe", "minimax_m2"),
        ),
        replace(
            LLAMA,
            kind=Mixtral,
            kept=f"{LLAMA.kept} {_ROUTED}",
            spelling=_LOCAL,
            required=f"{LLAMA.required} {_ROUTED}",
        ),
    ),
    "qwen2_moe": replace(
        LLAMA,
        kind=Qwen2Moe,
        kept=f"{LLAMA.kept} num_experts num_experts_per_tok moe_intermediate_size "
        "shared_expert_intermediate_size",
    ),
    **dict.fromkeys(
        ("qwen3_moe", "mellum"),
        replace(
            LLAMA,
            kind=Qwen3Moe,
            kept=f"{LLAMA.kept} num_experts num_experts_per_tok moe_intermediate_size",
            spelling=_EXPERTS,
        ),
    ),
    **dict.fromkeys(
        ("olmoe", "flex_olmo"),
        replace(
            LLAMA,
            kind=Olmoe,
            kept=f"{LLAMA.kept} num_experts num_experts_per_tok",
            spelling=_EXPERTS,
        ),
    ),
    "gpt_oss": replace(
        LLAMA,
        kind=GptOss,
        kept=f"{LLAMA.kept} {_ROUTED}",
        spelling=_LOCAL | {"num_experts_per_tok": "num_experts_per_tok experts_per_token"},
        defaults={"head_dim": 64},
    ),
    "glm4_moe": _GLM_MOE,
    # DeepSeek's first mixture of experts, which the library has not under its own name.
    "deepseek": replace(
        _GLM_MOE,
        required=f"{_GLM_MOE.required} moe_intermediate_size num_experts_per_tok",
        defaults={"first_k_dense_replace": 0},
        fixed={"use_qk_norm": False},
    ),
    **{
        kind.model_type: replace(
            LLAMA,
            kind=kind,
            kept=_DEEPSEEK,
            spelling=_OF_ROUTED,
            required=f"{LLAMA.required} n_routed_experts",
        )
        for kind in (DeepseekV2, DeepseekV3)
    },
}
