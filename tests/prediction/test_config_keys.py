"""Keys of real config.json files beside those that are counted: what changes the work is counted or
refused with the reason, what does not is passed over in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.prediction.model.askable_models import Ask, Target
from advisor.prediction.model.hf_config import target_of_config

_SIZES = {
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 8192,
    "vocab_size": 32000,
}
PLAIN: dict[str, dict[str, Any]] = {
    "llama": _SIZES,
    "gpt2": {"n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024},
    "bert": {},
    "mixtral": {**_SIZES, "num_local_experts": 8, "num_experts_per_tok": 2},
    "vit": {},
    "mamba": {"hidden_size": 768},
    "t5": {},
    "deepseek_v3": {
        **_SIZES,
        "num_key_value_heads": 32,
        "n_routed_experts": 64,
        "num_experts_per_tok": 6,
        "moe_intermediate_size": 1408,
    },
}
OF_THE_WORK: list[tuple[str, str, Any]] = [
    ("llama", "hybrid_layer_pattern", [0, 1, 1]),
    ("llama", "mm_projector_type", "mlp2x_gelu"),
    ("llama", "v_head_dim", 128),
    ("llama", "intermediate_sizes", [1024] * 16),
    ("bert", "feed_forward_type", "geglu"),
    ("llama", "first_k_dense_replace", 3),
    ("llama", "cross_layer_attention", True),
    ("bert", "pruned_heads", {"0": [1, 2]}),
    ("gpt2", "add_cross_attention", True),
    ("llama", "num_key_value_groups", 8),
    ("mixtral", "shared_intermediate_size", 1024),
    ("deepseek_v3", "index_topk", 2048),
    ("vit", "num_register_tokens", 4),
    ("vit", "num_channels", 4),
    ("mamba", "d_inner", 3072),
    ("mamba", "ssm_layer", "Mamba2"),
    ("t5", "local_radius", 127),
]
OF_NO_WORK: list[tuple[str, str, Any]] = [
    ("bert", "pruned_heads", {}),
    ("bert", "sbert_ce_default_activation_function", "torch.nn.Identity"),
    ("llama", "qkv_bias", True),
    ("llama", "sliding_window_size", 4096),
    ("llama", "num_key_value_groups", 4),
    ("llama", "pad_head_dim_to_multiple_of", 8),
    ("llama", "auto_map", {"AutoModelForCausalLM": "x.LlamaForCausalLM"}),
    ("gpt2", "embed_dropout", 0.1),
    ("gpt2", "num_layers", 12),
    ("gpt2", "hidden_size", 768),
    ("gpt2", "window_size", None),
    ("mixtral", "router_aux_loss_coef", 0.02),
    ("deepseek_v3", "num_nextn_predict_layers", 1),
    ("deepseek_v3", "moe_router_enable_expert_bias", True),
    ("deepseek_v3", "head_dim", 64),
    ("vit", "qkv_bias", False),
    ("mamba", "d_inner", 1536),
    ("mamba", "ssm_cfg", {}),
    ("t5", "is_gated_act", False),
]


def target(folder: Path, kind: str, **more: Any) -> Target:
    path = folder / "config.json"
    path.write_text(json.dumps({"model_type": kind, **PLAIN[kind], **more}))
    tokens, images = (None, 1e9) if kind == "vit" else (1e9, None)
    return target_of_config(path, Ask(batch_size=512, tokens=tokens, images=images))


@pytest.mark.parametrize(("kind", "key", "value"), OF_THE_WORK)
def test_what_changes_the_work_is_counted_or_refused(
    kind: str, key: str, value: Any, tmp_path: Path
) -> None:
    plain = target(tmp_path, kind).workload
    try:
        found = target(tmp_path, kind, **{key: value}).workload
    except ValueError as error:
        assert key in str(error)
    else:
        assert found != plain


@pytest.mark.parametrize(("kind", "key", "value"), OF_NO_WORK)
def test_what_changes_none_is_passed_over(kind: str, key: str, value: Any, tmp_path: Path) -> None:
    found = target(tmp_path, kind, **{key: value})
    assert not any("unknown here" in words for words in found.assumptions)


@pytest.mark.parametrize(
    ("kind", "other", "own"),
    [
        ("gpt2", "hidden_size", "n_embd"),
        ("gpt2", "num_hidden_layers", "n_layer"),
        ("t5", "hidden_size", "d_model"),
        ("t5", "num_hidden_layers", "num_layers"),
        ("mixtral", "num_experts", "num_local_experts"),
        ("deepseek_v3", "num_local_experts", "n_routed_experts"),
    ],
)
def test_a_size_is_read_by_either_of_the_library_s_names(
    kind: str, other: str, own: str, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PLAIN, kind, {k: v for k, v in PLAIN[kind].items() if k != own})
        found = [target(tmp_path, kind, **{key: 24}).workload for key in (other, own)]
    assert found[0] == found[1]


def test_a_size_that_stands_there_twice_is_one(tmp_path: Path) -> None:
    assert target(tmp_path, "gpt2", hidden_size=768) == target(tmp_path, "gpt2")
    with pytest.raises(ValueError, match="'hidden_size': is 1024, but n_embd, which says the same"):
        target(tmp_path, "gpt2", hidden_size=1024)
