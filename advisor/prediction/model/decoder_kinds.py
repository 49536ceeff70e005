"""How the config.json of each kind of decoder says its architecture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from advisor.prediction.model.kin import HEADS, INNER, LAYERS, POSITIONS, SIZES, WIDTH, Kin, Refusal
from bench_runner.models.architecture import Gpt2, GptBigCode, GptNeoX, Mamba
from bench_runner.models.architecture_decoders import Bloom, CodeGen, Falcon, GptJ, Mpt, Opt, Phi
from bench_runner.models.architecture_llama_kin import (
    Apertus,
    Arcee,
    Cohere,
    Cohere2,
    Exaone4,
    Gemma2,
    Gemma3,
    Glm,
    Glm4,
    GraniteDense,
    HunYuan,
    NanoChat,
    Nemotron,
    Olmo,
    Olmo2,
    Olmo3,
    SeedOss,
    StableLm,
)
from bench_runner.models.architecture_text import Llama, ModernBertDecoder, Qwen2, Qwen3, Starcoder2

LLAMA = Kin(
    kind=Llama,
    kept=f"{SIZES} num_key_value_heads head_dim tie_word_embeddings",
    required=SIZES,
    longest="max_position_embeddings",
)
"""Decoders with gated feed-forward layers, under the same keys as Llama's."""
_AS_GPT2 = {
    "n_embd": WIDTH,
    "n_layer": LAYERS,
    "n_head": HEADS,
    "n_inner": INNER,
    "n_positions": POSITIONS,
}
_UNGATED = Kin(
    kind=Gpt2,
    kept="n_embd n_layer n_head n_inner n_positions vocab_size tie_word_embeddings",
    spelling=_AS_GPT2,
    defaults={"n_positions": 2048},
    required="n_embd n_layer n_head vocab_size",
    longest=POSITIONS,
)
"""Decoders with a plain feed-forward layer that learn positions, whatever their keys are called."""
_UNPLACED = Kin(
    kind=Starcoder2,
    kept=f"{SIZES} num_key_value_heads use_bias tie_word_embeddings",
    spelling={
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": "num_key_value_heads num_kv_heads",
        "intermediate_size": INNER,
    },
    required="hidden_size num_hidden_layers num_attention_heads vocab_size",
    longest=POSITIONS,
)
"""Decoders with a plain feed-forward layer that learn no positions."""


def _mpt_attends_as_built(attention: Any) -> bool:
    """Whether MPT's attention is the only one that the library builds."""
    if attention is None:
        return True
    if not isinstance(attention, dict):
        return False
    plain = attention.get("alibi", True) is not False
    return plain and not attention.get("qk_ln") and not attention.get("prefix_lm")


_OPT = Kin(
    kind=Opt,
    kept="hidden_size num_hidden_layers num_attention_heads ffn_dim vocab_size "
    "max_position_embeddings word_embed_proj_dim do_layer_norm_before tie_word_embeddings",
    spelling={"ffn_dim": INNER},
    required="hidden_size num_hidden_layers num_attention_heads vocab_size ffn_dim",
    longest="max_position_embeddings",
)
_BLOOM = Kin(
    kind=Bloom,
    kept="hidden_size n_layer n_head vocab_size tie_word_embeddings",
    spelling={"hidden_size": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "n_inner": INNER},
    required="hidden_size n_layer n_head vocab_size",
    longest=POSITIONS,
)
_MPT = Kin(
    kind=Mpt,
    kept="d_model n_layers n_heads vocab_size tie_word_embeddings",
    spelling={"d_model": WIDTH, "n_layers": LAYERS, "n_heads": HEADS, "n_inner": INNER},
    required="d_model n_layers n_heads vocab_size",
    longest=POSITIONS,
    refuses=(
        Refusal(
            "no_bias",
            lambda value: value in (None, True),
            "says biases, but the library builds an MPT without; remove the key for that one",
        ),
        Refusal(
            "attn_config",
            _mpt_attends_as_built,
            "the library builds MPT's attention with ALiBi, without norms of queries and keys and "
            "without a prefix alone; write gpt2 with its sizes for learnt positions",
        ),
        Refusal(
            "attn_config",
            lambda attention: not isinstance(attention, dict) or not attention.get("attn_pdrop"),
            "drops elements (attn_pdrop), which is not counted in an MPT; write 0 to ask for one "
            "without",
        ),
    ),
)
_FALCON = Kin(
    kind=Falcon,
    kept="hidden_size num_hidden_layers num_attention_heads num_kv_heads ffn_hidden_size "
    "vocab_size multi_query new_decoder_architecture parallel_attn bias alibi tie_word_embeddings",
    spelling={
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_kv_heads": "num_kv_heads n_head_kv num_key_value_heads",
        "ffn_hidden_size": INNER,
    },
    required="hidden_size num_hidden_layers num_attention_heads vocab_size",
    longest=POSITIONS,
)
_GPTJ = Kin(
    kind=GptJ,
    kept="n_embd n_layer n_head n_inner n_positions vocab_size rotary_dim tie_word_embeddings",
    spelling=_AS_GPT2,
    required="n_embd n_layer n_head vocab_size",
    longest=POSITIONS,
)
_PHI = Kin(
    kind=Phi,
    kept=f"{SIZES} num_key_value_heads qk_layernorm tie_word_embeddings",
    spelling={**_UNPLACED.spelling, "intermediate_size": "intermediate_size n_inner"},
    required=SIZES,
    longest=POSITIONS,
)
_HUNYUAN = replace(
    LLAMA,
    kind=HunYuan,
    spelling={"head_dim": "head_dim attention_head_dim"},
    refuses=(
        Refusal(
            "use_qk_norm",
            lambda value: value in (None, True),
            "says no norms of queries and keys, which the library always builds; remove the key "
            "for a model with them",
        ),
        Refusal(
            "use_cla",
            lambda value: not value,
            "keys that layers share are not counted; remove the key for a model without",
        ),
    ),
)
_GRANITE_4 = (
    "Granite 4 is counted where every layer attends and none has experts (layer_types all "
    "attention, num_local_experts 0); --model decoder --parameters 7B asks for a plain decoder of "
    "its size"
)
_GRANITE_DENSE = Kin(
    kind=GraniteDense,
    kept="hidden_size num_hidden_layers num_attention_heads num_key_value_heads head_dim "
    "shared_intermediate_size vocab_size tie_word_embeddings",
    required="hidden_size num_hidden_layers num_attention_heads shared_intermediate_size "
    "vocab_size",
    longest="max_position_embeddings",
    idle="intermediate_size num_experts_per_tok mamba_n_heads mamba_n_groups mamba_d_state "
    "mamba_d_head mamba_d_conv mamba_expand mamba_chunk_size mamba_conv_bias mamba_proj_bias "
    "normalization_function time_step_limit",
    refuses=(
        Refusal("num_local_experts", lambda value: value == 0 and value is not False, _GRANITE_4),
        Refusal(
            "layer_types",
            lambda layers: (
                isinstance(layers, list)
                and all(each in ("attention", "full_attention") for each in layers)
            ),
            _GRANITE_4,
        ),
    ),
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
_WIDE_HEADS = {"head_dim": 256}
_TIED = {"tie_word_embeddings": True}
DECODERS: Mapping[str, Kin] = {
    **dict.fromkeys(
        (
            *("llama", "mistral", "phi3", "granite", "internlm2", "ministral", "helium"),
            *("ministral3", "cwm", "granite_swa", "hyperclovax"),
        ),
        LLAMA,
    ),
    "qwen2": replace(LLAMA, kind=Qwen2),
    "qwen3": replace(LLAMA, kind=Qwen3, defaults={"head_dim": 128}),
    **{
        kind.model_type: replace(LLAMA, kind=kind)
        for kind in (
            *(Olmo, Olmo2, Olmo3, StableLm, Exaone4, Arcee, Cohere, Cohere2),
            *(Nemotron, Apertus, NanoChat),
        )
    },
    **{
        kind.model_type: replace(LLAMA, kind=kind, defaults={"head_dim": 128})
        for kind in (SeedOss, Glm, Glm4)
    },
    "hunyuan_v1_dense": _HUNYUAN,
    "granitemoehybrid": _GRANITE_DENSE,
    "gemma2": replace(LLAMA, kind=Gemma2, defaults=_TIED | _WIDE_HEADS),
    # Gemma 3's own files leave the rest to its class.
    "gemma3_text": replace(
        LLAMA, kind=Gemma3, defaults=_TIED | _WIDE_HEADS, required="num_hidden_layers hidden_size"
    ),
    "vaultgemma": replace(LLAMA, kind=Gemma2, defaults=_TIED | _WIDE_HEADS),
    "gemma": replace(LLAMA, defaults=_TIED | _WIDE_HEADS),
    "smollm3": replace(LLAMA, defaults=_TIED),
    # Llama's layers with scales, whose code is not in the library.
    "minicpm": replace(LLAMA, defaults=_TIED),
    # The norms of these have shifts or are more, which is a few weights in ten thousand.
    **dict.fromkeys(("jais2", "persimmon"), replace(LLAMA, kind=Arcee)),
    "ernie4_5": replace(
        LLAMA,
        spelling={"attention_bias": "use_bias attention_bias", "mlp_bias": "use_bias mlp_bias"},
        defaults=_TIED | {"head_dim": 128},
    ),
    **dict.fromkeys(("gpt_neo", "biogpt"), _UNGATED),
    "openai-gpt": replace(_UNGATED, defaults={"n_positions": 512}, usual=512),
    "gpt_bigcode": replace(
        _UNGATED,
        kind=GptBigCode,
        kept=f"{_UNGATED.kept} multi_query",
        defaults={"n_positions": 1024},
        required="n_embd n_layer n_head",
    ),
    "opt": _OPT,
    "bloom": _BLOOM,
    "mpt": _MPT,
    "falcon": _FALCON,
    "gptj": _GPTJ,
    "codegen": replace(_GPTJ, kind=CodeGen),
    "phi": _PHI,
    "xglm": replace(
        _UNPLACED,
        spelling={
            **_UNPLACED.spelling,
            "num_attention_heads": "attention_heads num_attention_heads",
        },
        required=_UNPLACED.required + " intermediate_size",
    ),
    "starcoder2": replace(_UNPLACED, required=_UNPLACED.required + " intermediate_size"),
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
        kept=f"{SIZES} tie_word_embeddings",
        longest="max_position_embeddings",
    ),
    "modernbert-decoder": Kin(
        kind=ModernBertDecoder,
        kept=f"{SIZES} local_attention global_attn_every_n_layers",
        longest="max_position_embeddings",
        usual=8192,
    ),
    "mamba": _MAMBA,
    "falcon_mamba": _MAMBA,
}
