"""Published configurations of today's models: their sizes, and the experts that a token meets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.prediction.model.hf_config import target_of_config
from tests.prediction.configs_for_tests import IMAGES, TEXT, write

EXPERTS: dict[str, Any] = {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 32000,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}


@pytest.mark.parametrize(
    ("content", "family", "parameters"),
    [  # published sizes
        (EXPERTS, "decoder", 46_702_792_704),
        (
            {
                "model_type": "deepseek_v2",
                "hidden_size": 2048,
                "num_hidden_layers": 27,
                "num_attention_heads": 16,
                "num_key_value_heads": 16,
                "intermediate_size": 10944,
                "vocab_size": 102400,
                "moe_intermediate_size": 1408,
                "n_routed_experts": 64,
                "n_shared_experts": 2,
                "num_experts_per_tok": 6,
                "first_k_dense_replace": 1,
                "q_lora_rank": None,
            },
            "decoder",
            15_706_484_224,
        ),
        ({"model_type": "t5"}, "encoder", 60_506_624),
        ({"model_type": "modernbert"}, "encoder", 149_655_232),
        (
            {
                "model_type": "falcon",
                "hidden_size": 4544,
                "num_hidden_layers": 32,
                "num_attention_heads": 71,
                "vocab_size": 65024,
                "auto_map": {
                    "AutoModelForTokenClassification": "a.FalconForTokenClassification",
                    "AutoModelForQuestionAnswering": "a.FalconForQuestionAnswering",
                },
            },
            "decoder",
            6_921_720_704,
        ),
        (
            {  # as published: the library's class fills in what it says with null
                "model_type": "phi",
                "hidden_size": 2048,
                "num_hidden_layers": 24,
                "num_attention_heads": 32,
                "num_key_value_heads": None,
                "intermediate_size": 8192,
                "vocab_size": 51200,
                "tie_word_embeddings": False,
            },
            "decoder",
            1_418_270_720,
        ),
        (
            {
                "model_type": "codegen",
                "n_embd": 1024,
                "n_layer": 20,
                "n_head": 16,
                "n_inner": None,
                "vocab_size": 51200,
            },
            "decoder",
            356_712_448,
        ),
        (
            {
                "model_type": "nemotron",
                "auto_map": {"AutoTokenizer": "somebody/tokens"},
                "hidden_size": 3072,
                "num_hidden_layers": 32,
                "num_attention_heads": 24,
                "num_key_value_heads": 8,
                "head_dim": 128,
                "intermediate_size": 9216,
                "vocab_size": 256000,
                "tie_word_embeddings": False,
            },
            "decoder",
            4_190_509_056,
        ),
        (
            {
                "model_type": "granitemoe",
                "hidden_size": 1024,
                "num_hidden_layers": 24,
                "num_attention_heads": 16,
                "num_key_value_heads": 8,
                "intermediate_size": 512,
                "num_local_experts": 32,
                "num_experts_per_tok": 8,
                "tie_word_embeddings": True,
                "vocab_size": 49155,
            },
            "decoder",
            1_334_628_352,
        ),
        (
            {
                "model_type": "umt5",
                "d_model": 512,
                "d_kv": 64,
                "d_ff": 1024,
                "num_layers": 8,
                "num_heads": 6,
                "feed_forward_proj": "gated-gelu",
                "is_encoder_decoder": True,
                "tie_word_embeddings": False,
                "vocab_size": 256384,
            },
            "encoder",
            175_333_376,
        ),
        (
            {
                "model_type": "ernie4_5",
                "hidden_size": 1024,
                "num_hidden_layers": 18,
                "num_attention_heads": 16,
                "num_key_value_heads": 2,
                "intermediate_size": 3072,
                "use_bias": False,
                "vocab_size": 103424,
            },
            "decoder",
            360_748_032,
        ),
        ({"model_type": "swin", "num_labels": 1000}, "vit", 28_288_354),
        ({"model_type": "resnet", "num_labels": 1000}, "convnet", 25_557_032),
    ],
)
def test_models_of_today_have_their_published_sizes(
    tmp_path: Path, content: dict[str, Any], family: str, parameters: int
) -> None:
    run = TEXT if family in ("decoder", "encoder") else IMAGES
    workload = target_of_config(write(tmp_path, content), run).workload
    assert (workload.family, workload.parameters) == (
        family,
        pytest.approx(parameters, rel=0.001),
    )


def test_a_token_passes_through_the_experts_chosen_for_it_alone(tmp_path: Path) -> None:
    two = target_of_config(write(tmp_path, EXPERTS), TEXT)
    eight = target_of_config(write(tmp_path, EXPERTS | {"num_local_experts": 16}), TEXT)
    router = 2 * 2048 * 32 * 8 * 4096  # of eight more
    assert eight.workload.linear_flops - two.workload.linear_flops == router
    assert eight.workload.parameters > 1.9 * two.workload.parameters
