"""How the config.json of each model type says an architecture that is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bench_runner.architecture import (
    Architecture,
    Bert,
    ConvNext,
    ConvNextV2,
    Dinov2,
    Gpt2,
    GptBigCode,
    GptNeoX,
    Mamba,
    Roberta,
    Vit,
)
from bench_runner.architecture_experts import (
    DeepseekV2,
    DeepseekV3,
    Glm4Moe,
    GptOss,
    Mixtral,
    Olmoe,
    Qwen2Moe,
    Qwen3Moe,
)
from bench_runner.architecture_images import ResNet, Swin, Swinv2
from bench_runner.architecture_llama_kin import (
    Arcee,
    Cohere,
    Cohere2,
    Exaone4,
    Gemma2,
    Gemma3,
    Glm,
    Glm4,
    Olmo,
    Olmo2,
    Olmo3,
    SeedOss,
    StableLm,
)
from bench_runner.architecture_text import (
    Deberta,
    DebertaV2,
    Llama,
    ModernBert,
    Qwen2,
    Qwen3,
    Starcoder2,
)
from bench_runner.architecture_two_sides import (
    M2M100,
    MT5,
    T5,
    Bart,
    Blenderbot,
    Marian,
    MBart,
    Pegasus,
    PLBart,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """How the files of some model types say the numbers of an architecture that stands for them.

    Keys are those of the architecture's configuration class, which is what a recipe keeps.
    """

    kind: type[Architecture]
    kept: str
    """The keys that a recipe is always told, separated by spaces."""
    spelling: Mapping[str, str] = field(default_factory=dict)
    """The file's own keys, the first that it has, separated by spaces."""
    required: str = ""
    """The keys that must be there, for their defaults are another model's."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What the files leave out, where it is not the architecture's own default."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What stands for the model, whatever the file says under this key."""
    longest: str = ""
    """The file's own keys of the longest sequence or the image's side; "": it cannot say."""
    usual: int = 2048
    """... and what they default to, in tokens or pixels."""


LONGEST_BERT = 512
"""Tokens."""
_SIZES = "hidden_size num_hidden_layers num_attention_heads intermediate_size vocab_size"
_LLAMA = Kin(
    kind=Llama,
    kept=f"{_SIZES} num_key_value_heads head_dim tie_word_embeddings",
    required=_SIZES,
    longest="max_position_embeddings",
)
_UNGATED = Kin(
    kind=Gpt2,
    kept="n_embd n_layer n_head n_inner n_positions vocab_size tie_word_embeddings",
    spelling={
        "n_embd": "hidden_size n_embd d_model n_embed",
        "n_layer": "num_hidden_layers n_layer n_layers num_layers",
        "n_head": "num_attention_heads n_head n_heads num_heads",
        "n_inner": "ffn_dim ffn_hidden_size intermediate_size n_inner",
        "n_positions": "max_position_embeddings n_positions max_seq_len seq_length",
    },
    defaults={"n_positions": 2048},
    required="n_embd n_layer n_head vocab_size",
    longest="max_position_embeddings n_positions max_seq_len seq_length",
)
"""Decoders with a plain feed-forward layer that learn positions, whatever their keys are called."""
_UNPLACED = Kin(
    kind=Starcoder2,
    kept=f"{_SIZES} num_key_value_heads use_bias tie_word_embeddings",
    spelling={
        "hidden_size": "hidden_size n_embd d_model n_embed",
        "num_hidden_layers": "num_hidden_layers n_layer n_layers num_layers",
        "num_attention_heads": "num_attention_heads n_head n_heads num_heads",
        "num_key_value_heads": "num_key_value_heads num_kv_heads",
        "intermediate_size": "ffn_dim ffn_hidden_size intermediate_size n_inner",
    },
    required="hidden_size num_hidden_layers num_attention_heads vocab_size",
    longest="max_position_embeddings n_positions max_seq_len seq_length",
)
"""Decoders with a plain feed-forward layer that learn no positions."""
_BERT = Kin(
    kind=Bert,
    kept=f"{_SIZES} max_position_embeddings",
    spelling={
        "hidden_size": "hidden_size dim",
        "num_hidden_layers": "num_hidden_layers n_layers",
        "num_attention_heads": "num_attention_heads n_heads",
        "intermediate_size": "intermediate_size hidden_dim",
    },
    longest="max_position_embeddings",
    usual=LONGEST_BERT,
)
_MAMBA = Kin(
    kind=Mamba,
    kept="hidden_size num_hidden_layers state_size conv_kernel expand vocab_size "
    "tie_word_embeddings",
    spelling={
        "hidden_size": "hidden_size d_model",
        "num_hidden_layers": "num_hidden_layers n_layer",
    },
)
_VIT = Kin(
    kind=Vit,
    kept="hidden_size num_hidden_layers num_attention_heads intermediate_size patch_size "
    "num_labels",
    longest="image_size",
    usual=224,
)
_CONVNEXT = Kin(
    kind=ConvNext,
    kept="depths hidden_sizes patch_size num_labels",
    longest="image_size",
    usual=224,
)
_ROUTED = "num_local_experts num_experts_per_tok"
_LOCAL = {"num_local_experts": "num_local_experts num_experts"}
_EXPERTS = {"num_experts": "num_experts num_local_experts"}
_OF_ROUTED = {"n_routed_experts": "n_routed_experts num_local_experts num_experts"}
_DEEPSEEK = (
    f"{_SIZES} num_key_value_heads moe_intermediate_size n_routed_experts n_shared_experts "
    "num_experts_per_tok first_k_dense_replace q_lora_rank kv_lora_rank qk_nope_head_dim "
    "qk_rope_head_dim v_head_dim tie_word_embeddings"
)
_GLM_MOE = replace(
    _LLAMA,
    kind=Glm4Moe,
    kept=f"{_LLAMA.kept} moe_intermediate_size n_routed_experts n_shared_experts "
    "num_experts_per_tok first_k_dense_replace use_qk_norm",
    spelling=_OF_ROUTED,
    required=f"{_LLAMA.required} n_routed_experts",
)
_T5 = Kin(
    kind=T5,
    spelling={
        "d_model": "d_model hidden_size",
        "num_layers": "num_layers num_hidden_layers",
        "num_heads": "num_heads num_attention_heads",
    },
    kept="d_model num_layers num_decoder_layers num_heads d_ff d_kv vocab_size feed_forward_proj",
    longest="n_positions",
    usual=512,
)
_BART = Kin(
    kind=Bart,
    spelling={"d_model": "d_model hidden_size"},
    kept="d_model encoder_layers decoder_layers encoder_attention_heads decoder_attention_heads "
    "encoder_ffn_dim decoder_ffn_dim vocab_size max_position_embeddings",
    longest="max_position_embeddings",
    usual=1024,
)
_DEBERTA = Kin(
    kind=DebertaV2,
    kept=f"{_SIZES} max_position_embeddings type_vocab_size relative_attention "
    "max_relative_positions position_biased_input pos_att_type",
    longest="max_position_embeddings",
    usual=LONGEST_BERT,
)
_SWIN = Kin(
    kind=Swin,
    kept="embed_dim depths num_heads window_size patch_size mlp_ratio num_labels",
    longest="image_size",
    usual=224,
)
_WIDE_HEADS = {"head_dim": 256}
_TIED = {"tie_word_embeddings": True}
KIN: Mapping[str, Kin] = {
    # Decoders with gated feed-forward layers, under the same keys as Llama's.
    **dict.fromkeys(
        (
            *("llama", "mistral", "phi3", "granite", "internlm2", "ministral", "helium"),
            *("ministral3", "cwm", "granite_swa", "hyperclovax"),
        ),
        _LLAMA,
    ),
    "qwen2": replace(_LLAMA, kind=Qwen2),
    "qwen3": replace(_LLAMA, kind=Qwen3, defaults={"head_dim": 128}),
    **{
        kind.model_type: replace(_LLAMA, kind=kind)
        for kind in (Olmo, Olmo2, Olmo3, StableLm, Exaone4, Arcee, Cohere, Cohere2)
    },
    **{
        kind.model_type: replace(_LLAMA, kind=kind, defaults={"head_dim": 128})
        for kind in (SeedOss, Glm, Glm4)
    },
    "gemma2": replace(_LLAMA, kind=Gemma2, defaults=_TIED | _WIDE_HEADS),
    # Gemma 3's own files leave the rest to its class.
    "gemma3_text": replace(
        _LLAMA, kind=Gemma3, defaults=_TIED | _WIDE_HEADS, required="num_hidden_layers hidden_size"
    ),
    "vaultgemma": replace(_LLAMA, kind=Gemma2, defaults=_TIED | _WIDE_HEADS),
    "gemma": replace(_LLAMA, defaults=_TIED | _WIDE_HEADS),
    "smollm3": replace(_LLAMA, defaults=_TIED),
    # The norms of these have shifts or are more, which is a few weights in ten thousand.
    **dict.fromkeys(("nemotron", "apertus", "jais2", "persimmon"), replace(_LLAMA, kind=Arcee)),
    "ernie4_5": replace(
        _LLAMA,
        spelling={"attention_bias": "use_bias attention_bias", "mlp_bias": "use_bias mlp_bias"},
        defaults=_TIED | {"head_dim": 128},
    ),
    **dict.fromkeys(("opt", "gpt_neo", "biogpt"), _UNGATED),
    "openai-gpt": replace(_UNGATED, defaults={"n_positions": 512}, usual=512),
    "gpt_bigcode": replace(
        _UNGATED,
        kind=GptBigCode,
        kept=f"{_UNGATED.kept} multi_query",
        defaults={"n_positions": 1024},
        required="n_embd n_layer n_head",
    ),
    **dict.fromkeys(("bloom", "mpt", "falcon"), _UNPLACED),
    "xglm": replace(
        _UNPLACED,
        spelling={
            **_UNPLACED.spelling,
            "num_attention_heads": "attention_heads num_attention_heads",
        },
        required=_UNPLACED.required + " intermediate_size",
    ),
    "starcoder2": replace(_UNPLACED, required=_UNPLACED.required + " intermediate_size"),
    **dict.fromkeys(
        ("gptj", "codegen", "phi"), replace(_UNPLACED, defaults={"tie_word_embeddings": False})
    ),
    **dict.fromkeys(
        (
            *("mixtral", "granitemoe", "granitemoe_swa", "granitemoeshared"),
            *("phimoe", "minimax_m2"),
        ),
        replace(
            _LLAMA,
            kind=Mixtral,
            kept=f"{_LLAMA.kept} {_ROUTED}",
            spelling=_LOCAL,
            required=f"{_LLAMA.required} {_ROUTED}",
        ),
    ),
    "qwen2_moe": replace(
        _LLAMA,
        kind=Qwen2Moe,
        kept=f"{_LLAMA.kept} num_experts num_experts_per_tok moe_intermediate_size "
        "shared_expert_intermediate_size",
    ),
    **dict.fromkeys(
        ("qwen3_moe", "mellum"),
        replace(
            _LLAMA,
            kind=Qwen3Moe,
            kept=f"{_LLAMA.kept} num_experts num_experts_per_tok moe_intermediate_size",
            spelling=_EXPERTS,
        ),
    ),
    **dict.fromkeys(
        ("olmoe", "flex_olmo"),
        replace(
            _LLAMA,
            kind=Olmoe,
            kept=f"{_LLAMA.kept} num_experts num_experts_per_tok",
            spelling=_EXPERTS,
        ),
    ),
    "gpt_oss": replace(
        _LLAMA,
        kind=GptOss,
        kept=f"{_LLAMA.kept} {_ROUTED}",
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
            _LLAMA,
            kind=kind,
            kept=_DEEPSEEK,
            spelling=_OF_ROUTED,
            required=f"{_LLAMA.required} n_routed_experts",
        )
        for kind in (DeepseekV2, DeepseekV3)
    },
    "t5": _T5,
    **dict.fromkeys(("mt5", "umt5"), replace(_T5, kind=MT5)),
    **{
        kind.model_type: replace(_BART, kind=kind)
        for kind in (Bart, PLBart, MBart, M2M100, Pegasus, Marian)
    },
    "blenderbot": replace(_BART, kind=Blenderbot, usual=128),
    "modernbert": Kin(
        kind=ModernBert,
        kept=f"{_SIZES} local_attention global_attn_every_n_layers",
        longest="max_position_embeddings",
        usual=8192,
    ),
    "deberta": replace(_DEBERTA, kind=Deberta),
    "deberta-v2": replace(
        _DEBERTA,
        kept=f"{_DEBERTA.kept} position_buckets share_att_key norm_rel_ebd",
    ),
    "swin": _SWIN,
    "swinv2": replace(_SWIN, kind=Swinv2),
    "resnet": Kin(
        kind=ResNet,
        kept="embedding_size hidden_sizes depths layer_type num_labels",
        longest="image_size",
        usual=224,
    ),
    "gpt2": Kin(
        kind=Gpt2,
        spelling={
            "n_embd": "n_embd hidden_size",
            "n_layer": "n_layer num_hidden_layers",
            "n_head": "n_head num_attention_heads",
            "n_inner": "n_inner intermediate_size",
            "n_positions": "n_positions max_position_embeddings",
        },
        kept="n_embd n_layer n_head n_inner n_positions vocab_size",
        longest="n_positions max_position_embeddings",
        usual=Gpt2().positions,
    ),
    "gpt_neox": Kin(
        kind=GptNeoX,
        kept=f"{_SIZES} tie_word_embeddings",
        longest="max_position_embeddings",
    ),
    **dict.fromkeys(
        ("bert", "xlm-roberta", "xlm-roberta-xl", "camembert", "ernie", "megatron-bert"), _BERT
    ),
    **dict.fromkeys(
        ("roberta", "roberta-prelayernorm"),
        replace(_BERT, defaults={"vocab_size": Roberta().vocab_size}),
    ),
    "data2vec-text": _BERT,
    "mpnet": replace(_BERT, defaults={"vocab_size": 30527}),
    "distilbert": replace(_BERT, defaults={"num_hidden_layers": 6}),
    "electra": replace(
        _BERT,
        defaults={"hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024},
    ),
    "mamba": _MAMBA,
    "falcon_mamba": _MAMBA,
    **dict.fromkeys(("vit", "deit", "beit", "data2vec-vision", "vit_msn"), _VIT),
    "dinov2": Kin(
        kind=Dinov2,
        kept="hidden_size num_hidden_layers num_attention_heads mlp_ratio patch_size num_labels",
        longest="image_size",
        usual=224,
    ),
    "convnext": _CONVNEXT,
    "convnextv2": replace(_CONVNEXT, kind=ConvNextV2, fixed={"layer_scale_init_value": 0.0}),
}
