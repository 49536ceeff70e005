"""Shapes of published models, against the library's own model of each: equal to the unit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from advisor.prediction.model.hf_config import target_of_config
from advisor.prediction.model.targets import Run, Target
from advisor.prediction.observed_times import chips_by_name
from advisor.prediction.physics.columns import WorkloadTable
from advisor.prediction.physics.memory import LEAN_OPTIONS, sample_bytes
from advisor.prediction.physics.step_terms import work_terms
from advisor.prediction.shipped_predictions import shipped_fit
from tests.prediction.published_shapes import DEEPSEEK_MOE, IMAGES, PUBLISHED

TEXT, OF_IMAGES = Run(batch_size=512, tokens=300e9), Run(batch_size=512, images=1e9)


def target(folder: Path, content: dict[str, Any]) -> Target:
    path = folder / "config.json"
    path.write_text(json.dumps(content))
    images = content.get("model_type") in ("dinov2", "convnextv2", "beit")
    return target_of_config(path, OF_IMAGES if images else TEXT)


@pytest.mark.torch
@pytest.mark.parametrize("name", [*PUBLISHED, *IMAGES])
def test_the_count_is_the_library_s_own_and_so_is_what_a_benchmark_builds(
    name: str, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from bench_runner.worker.models import build_model, parameter_count

    content = dict((PUBLISHED | IMAGES)[name])
    found = target(tmp_path, content)
    auto = "AutoModelForImageClassification" if name in IMAGES else "AutoModelForCausalLM"
    config = transformers.AutoConfig.for_model(content.pop("model_type"), **content)
    assert found.recipe is not None
    with torch.device("meta"):
        own = getattr(transformers, auto).from_config(config)
        kept = build_model(found.recipe, None)
    assert found.workload.parameters == parameter_count(own) == parameter_count(kept)
    # Every key that the library itself writes is counted or known to change no work.
    whole = target(tmp_path, json.loads(config.to_json_string(use_diff=False)))
    assert not [words for words in whole.assumptions if "unknown here" in words]


@pytest.mark.torch
def test_deepseek_s_first_mixture_of_experts_is_counted_and_built_though_the_library_lacks_it(
    tmp_path: Path,
) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from bench_runner.worker.models import build_model, parameter_count

    found = target(tmp_path, DEEPSEEK_MOE)
    assert found.recipe is not None
    with torch.device("meta"):
        built = build_model(found.recipe, None)
    # Its authors say 16.4B.
    assert found.workload.parameters == parameter_count(built) == 16_375_728_128


@pytest.mark.parametrize(
    ("content", "words"),
    [  # both tables of the vocabulary among what a token uses
        (PUBLISHED["mixtral-8x7b"], "12.9B of its 46.7B"),
        (PUBLISHED["qwen3-30b-a3b"], "3.35B of its 30.5B"),
        (PUBLISHED["qwen1.5-moe-a2.7b"], "2.69B of its 14.3B"),
        (PUBLISHED["olmoe-1b-7b"], "1.28B of its 6.92B"),
        (PUBLISHED["deepseek-v3"], "37.6B of its 671B"),
        (DEEPSEEK_MOE, "2.83B of its 16.4B"),
    ],
)
def test_how_much_of_a_mixture_a_token_uses_is_said(
    content: dict[str, Any], words: str, tmp_path: Path
) -> None:
    assert target(tmp_path, content).assumptions[0] == f"a token passes through {words} parameters"


def test_the_language_model_of_a_model_that_also_sees_is_counted_as_is_told(
    tmp_path: Path,
) -> None:
    sizes = {"hidden_size": 1536, "num_hidden_layers": 28, "num_attention_heads": 12}
    sizes |= {"num_key_value_heads": 2, "intermediate_size": 8960, "vocab_size": 151936}
    qwen = {**sizes, "model_type": "qwen2_vl", "tie_word_embeddings": True}
    qwen |= {"vision_start_token_id": 151652, "image_token_id": 151655}
    with pytest.raises(ValueError, match="remove vision_config and write the language model's own"):
        target(tmp_path, {**qwen, "vision_config": {"depth": 32}})
    found = target(tmp_path, {**qwen, "model_type": "qwen2"})
    assert found.workload.parameters == 1_543_714_304


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"compression_config": {"format": "int-quantized"}}, "stored in fewer bits"),
        ({"quantization_config": {"quant_method": "mxfp4"}}, "stored in 4 bits"),
        ({"layer_types": ["full_attention"]}, "names 1 layers, num_hidden_layers says 27"),
        ({"moe_layer_freq": 2}, "in turn are not counted"),
        ({"moe_layer_freq": [1] * 32}, "in turn are not counted"),
        ({"mlp_layer_types": ["sparse"] * 27}, "'mlp_layer_types'.*in turn are not counted"),
        ({"block_configs": [{"ffn": {}}]}, "block_configs.*not counted here"),
        ({"hybrid_override_pattern": "M-M*"}, "hybrid_override_pattern.*not counted here"),
        ({"index_topk": 2048}, "index_topk.*not counted here"),
        ({"shared_intermediate_size": 1024}, "shared_intermediate_size.*not counted here"),
        (
            {"model_type": "llava", "text_config": {"model_type": "llama"}},
            "give what stands under text_config as a file",
        ),
        (
            {"model_type": "clip", "text_config": {"model_type": "clip_text_model"}},
            "models is not counted; neither is its 'clip_text_model'",
        ),
        (
            {"model_type": "qwen2_vl", "vision_config": {"depth": 32}},
            "remove vision_config and write the language model's own model_type",
        ),
        ({"model_type": "qwen"}, "write qwen2 and half the intermediate_size"),
        ({"model_type": "kimi_k2"}, "layers are DeepSeek V3's; write deepseek_v3"),
        ({"use_moe": True}, "use_moe.*not counted here"),
        ({"block_types": ["recurrent", "attention"]}, "block_types.*not counted here"),
        ({"total_ut_steps": 4}, "total_ut_steps.*not counted here"),
        ({"mm_vision_tower": "openai/clip"}, "mm_vision_tower.*not counted here"),
        ({"model_type": "openelm"}, "layers differ in heads"),
        ({"model_type": "zamba2"}, "layers of recurrence among those of attention"),
        ({"model_type": "roformer"}, "counted here; of a plain transformer give the size instead"),
        ({"model_type": "lama"}, "counted here; did you mean 'llama'"),
        ({"model_type": "prophetnet", "is_encoder_decoder": True}, "as T5, BART and their kin"),
        ({"model_type": "whisper"}, "models of speech"),
        ({"_class_name": "UNet2DConditionModel", "_diffusers_version": "0.6"}, "of diffusion"),
        ({"model_type": None, "architecture": "resnet50"}, "write the timm name resnet50"),
        ({"model_type": "bert", "position_embedding_type": "relative_key"}, "relative positions"),
        ({"model_type": "bert", "position_embedding_type": "alibi"}, "of the kind 'alibi' are not"),
        ({"model_type": "llama", "num_experts": 8}, "num_experts.*not counted here"),
        ({"use_bidirectional_attention": True}, "without a causal mask is other work"),
        ({"attn_config": {"attn_type": "multiquery_attention"}}, "multiquery_attention.*not count"),
        ({"is_causal": False}, "is_causal.*without a causal mask is other work"),
        ({"architectures": ["LlamaBidirectionalModel"]}, "attends without a causal mask"),
        ({"quantization": {"group_size": 64, "bits": 4}}, "stored in 4 bits"),
        ({"_load_in_8bit": True}, "stored in 8 bits"),
        ({"num_kv_heads": 8}, "num_kv_heads.*not counted here"),
        ({"n_routed_experts": None}, "n_routed_experts.*is missing"),
        ({"model_type": "phi3small", "auto_map": {"AutoConfig": "a.B"}}, "not an architecture"),
    ],
)
def test_what_the_count_would_pass_over_is_refused(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    plain = PUBLISHED["gemma-2-9b" if "model_type" in change else "deepseek-v2-lite"]
    content = {**plain, **change}
    with pytest.raises(ValueError, match=words) as caught:
        target(tmp_path, content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_routed_experts": 100}, "is 100, which 8 groups of two or more do"),
        ({"n_routed_experts": 8}, "is 8, which 8 groups of two or more do"),
        ({"topk_group": 9}, "is 9, more than the 8 groups"),
        ({"topk_group": 1, "n_routed_experts": 32}, "more than the 4 experts of the groups that"),
    ],
)
def test_experts_that_cannot_be_chosen_by_groups_are_refused(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    plain = dict(PUBLISHED["deepseek-v3"])
    plain.pop("quantization_config", None)
    with pytest.raises(ValueError, match=words):
        target(tmp_path, {**plain, **change})
    recipe = target(tmp_path, {**plain, "n_group": 16}).recipe
    assert recipe is not None and recipe.model.arguments["n_group"] == 16


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"frob_depth": 2}, "that a key unknown here changes no work: 'frob_depth'"),
        ({"num_mtp_modules": 2}, "one token predicted at a time, as the library trains it"),
        ({"architectures": ["OlmoEncoderModel"]}, "not as 'OlmoEncoderModel'"),
        (
            {"layer_colours": True, "frob\nnicate": [3]},
            "that keys unknown here change no work: 'layer_colours', 'frob?nicate'",
        ),
        ({f"zz{n}": 1 for n in range(9)}, "'zz4', 'zz5' and 3 more"),
        ({"attn_config": {"alibi": True}}, "attention as fast as without ALiBi's biases"),
        # Switched off, of the program that stored it, or how single elements are computed.
        ({"mtp_depth": 0, "layer_colours": False, "rope_scaling": {"factor": 2}}, None),
        ({"_name_or_path": "x", "eos_token_id": [1, 2], "hidden_act": "silu"}, None),
    ],
)
def test_a_key_that_nobody_knows_is_never_passed_over_in_silence(
    change: dict[str, Any], words: str | None, tmp_path: Path
) -> None:
    plain = target(tmp_path, PUBLISHED["olmo-1b"]).assumptions
    said = target(tmp_path, PUBLISHED["olmo-1b"] | change).assumptions
    further = [each for each in said if each not in plain]
    assert [words is not None and words in each for each in further] == [True] * (words is not None)
    images = target(tmp_path, {"model_type": "beit", "layer_colours": True}).assumptions
    assert "trained as a classifier, not on masked images" in images
    assert any("'layer_colours'" in each for each in images)


def test_another_output_than_the_one_counted_is_said(tmp_path: Path) -> None:
    plain = PUBLISHED["gemma-2-9b"]
    found = target(tmp_path, {**plain, "architectures": ["Gemma2ForSequenceClassification"]})
    words = "trained as a language model, not as 'Gemma2ForSequenceClassification'"
    assert words in found.assumptions
    assert (
        words not in target(tmp_path, {**plain, "architectures": ["Gemma2ForCausalLM"]}).assumptions
    )


def test_logits_that_are_changed_cost_the_time_and_the_memory_that_a_fused_loss_saves(
    tmp_path: Path,
) -> None:
    found = target(tmp_path, PUBLISHED["gemma-2-9b"]).workload
    assert not found.fuses_loss
    assert not target(tmp_path, {"model_type": "t5", "d_model": 512}).workload.fuses_loss
    assert target(tmp_path, PUBLISHED["olmo-1b"]).workload.fuses_loss
    table = WorkloadTable([found, replace(found, fuses_loss=True)], [chips_by_name()["H100"]])
    columns = table.columns(np.array([0, 1]), np.zeros(2, dtype=int), np.array([1, 1]))
    needed = sample_bytes(LEAN_OPTIONS[0], columns, shipped_fit().costs)
    # The logits of a sample in FP32, and their gradient.
    assert needed[0] - needed[1] >= 2 * 4 * found.logit_elements
    plain, fused = sum(work_terms(columns, free_lunch=True, lean=True))
    assert plain >= fused


@pytest.mark.torch
@pytest.mark.parametrize("name", ["glm-4-9b-0414", "stablelm-2-12b", "command-r-plus", "olmo-1b"])
def test_a_vocabulary_of_one_s_own_is_built_too(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from bench_runner.worker.models import build_model, parameter_count

    found = target(tmp_path, {**PUBLISHED[name], "vocab_size": 32_000})
    assert found.recipe is not None
    with torch.device("meta"):
        assert parameter_count(build_model(found.recipe, None)) == found.workload.parameters
