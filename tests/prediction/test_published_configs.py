"""Published models by their config.json: what is counted of each, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from advisor.prediction.model.targets import Ask
from advisor.prediction.model.workload import labelled_alone
from advisor.prediction.physics.columns import WorkloadTable
from advisor.prediction.physics.memory import LEAN_OPTIONS, sample_bytes
from advisor.prediction.physics.step_terms import work_terms
from advisor.prediction.shipped_predictions import shipped_fit
from tests.prediction.configs_for_tests import PARAMETERS, PUBLISHED, read
from tests.prediction.what_ships import CHIPS


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_count_is_the_library_s_and_no_key_is_passed_over(name: str, tmp_path: Path) -> None:
    found = read(tmp_path, PUBLISHED[name])
    assert found.workload.parameters == PARAMETERS[name]
    assert not [words for words in found.assumptions if "unknown here" in words]


@pytest.mark.torch
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_benchmark_builds_as_many_parameters(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from bench_runner.worker.models import build_model, parameter_count

    recipe = read(tmp_path, PUBLISHED[name]).recipe
    assert recipe is not None
    with torch.device("meta"):
        assert parameter_count(build_model(recipe, None)) == PARAMETERS[name]


@pytest.mark.torch
@pytest.mark.parametrize("name", ["glm-4-9b-0414", "stablelm-2-12b", "umt5-small"])
def test_a_vocabulary_of_one_s_own_is_built_too(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from bench_runner.worker.models import build_model, parameter_count

    found = read(tmp_path, {**PUBLISHED[name], "vocab_size": 32_000})
    assert found.recipe is not None
    with torch.device("meta"):
        assert parameter_count(build_model(found.recipe, None)) == found.workload.parameters


@pytest.mark.parametrize(
    ("name", "words"),
    [  # both tables of the vocabulary among what a token uses
        ("mixtral-8x7b", "12.9B of its 46.7B"),
        ("qwen3-30b-a3b", "3.35B of its 30.5B"),
        ("qwen1.5-moe-a2.7b", "2.69B of its 14.3B"),
        ("olmoe-1b-7b", "1.28B of its 6.92B"),
        ("deepseek-v3", "37.6B of its 671B"),
        ("deepseek-moe-16b", "2.83B of its 16.4B"),
    ],
)
def test_how_much_of_a_mixture_a_token_uses_is_said(name: str, words: str, tmp_path: Path) -> None:
    said = read(tmp_path, PUBLISHED[name]).assumptions[0]
    assert said == f"a token passes through {words} parameters"


def test_a_token_passes_through_the_experts_chosen_for_it_alone(tmp_path: Path) -> None:
    eight = read(tmp_path, PUBLISHED["mixtral-8x7b"]).workload
    more = read(tmp_path, PUBLISHED["mixtral-8x7b"] | {"num_local_experts": 16}).workload
    assert more.linear_flops - eight.linear_flops == 2 * 2048 * 32 * 8 * 4096  # a larger router
    assert more.parameters > 1.9 * eight.parameters


def test_minicpm_s_scaled_layers_are_llama_s_with_one_table(tmp_path: Path) -> None:
    """The library has no class of it: its files bring code, which is not run."""
    sizes = {"hidden_size": 2304, "intermediate_size": 5760, "num_hidden_layers": 40}
    sizes |= {"num_attention_heads": 36, "num_key_value_heads": 36, "vocab_size": 122753}
    code = {"AutoModelForCausalLM": "modeling_minicpm.MiniCPMForCausalLM"}
    content = {"model_type": "minicpm", "auto_map": code, **sizes, "scale_emb": 12}
    found = read(tmp_path, content)
    layer = 4 * 2304**2 + 3 * 2304 * 5760 + 2 * 2304
    assert found.workload.parameters == 122753 * 2304 + 40 * layer + 2304
    assert any("counted as the plain minicpm" in words for words in found.assumptions)


def test_a_fused_loss_saves_the_logits_of_the_narrow_table_alone(tmp_path: Path) -> None:
    run = Ask(batch_size=512, tokens=300e9, sequence_length=512)
    narrow = read(tmp_path, PUBLISHED["albert-base-v2"], run).workload
    assert (narrow.width, narrow.logit_width) == (768, 128)
    without = 0.85 * 512 * 30000 * 2 * 128
    saved = narrow.linear_flops - labelled_alone(narrow).linear_flops
    assert saved == pytest.approx(without)
    samples = narrow.batch_size * narrow.training_steps
    assert narrow.unlabelled_flops == pytest.approx(3 * samples * without)


def test_shared_layers_are_few_parameters_and_as_much_work_as_bert_s(tmp_path: Path) -> None:
    albert = read(tmp_path, PUBLISHED["albert-base-v2"]).workload
    bert = read(tmp_path, {"model_type": "bert", "vocab_size": 30000}).workload
    assert albert.parameters < bert.parameters / 9
    assert albert.layers == bert.layers and albert.layer_elements == bert.layer_elements
    assert albert.attention_flops == bert.attention_flops
    # All but the output's narrow table and the two layers beside it.
    assert 0.7 * bert.linear_flops < albert.linear_flops < bert.linear_flops


@pytest.mark.parametrize(
    ("name", "most"),
    [
        *(("esm2-650m", None), ("eurobert-210m", None), ("falcon-7b", None)),
        *(("esm-1b", 1024), ("albert-base-v2", 512), ("distilbert", 512), ("bart-large", 1024)),
    ],
)
def test_turned_positions_go_on_and_learnt_ones_end(
    name: str, most: int | None, tmp_path: Path
) -> None:
    longer = Ask(batch_size=512, tokens=1e9, sequence_length=2048)
    if most is None:
        assert read(tmp_path, PUBLISHED[name], longer).workload.tokens == 2048
        return
    with pytest.raises(ValueError, match=f"longer than the model's {most:,} positions"):
        read(tmp_path, PUBLISHED[name], longer)


def test_bart_writes_as_much_as_it_reads(tmp_path: Path) -> None:
    found = read(tmp_path, PUBLISHED["bart-large"])
    assert any("writes 1,024 tokens a sample" in words for words in found.assumptions)
    assert found.recipe is not None
    assert found.recipe.support.fsdp_wrap == ("BartEncoderLayer", "BartDecoderLayer")
    # 3 x 2 operations a parameter and token of either side, a third of them twice.
    assert 6.0 < found.workload.flops / 300e9 / PARAMETERS["bart-large"] < 9.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"frob_depth": 2}, "that a key unknown here changes no work: 'frob_depth'"),
        ({"num_mtp_modules": 2}, "one token predicted at a time, as the library trains it"),
        ({"architectures": ["OlmoEncoderModel"]}, "not as 'OlmoEncoderModel'"),
        ({"layer_colours": True, "frob\nnicate": [3]}, "'layer_colours', 'frob?nicate'"),
        ({f"zz{n}": 1 for n in range(9)}, "'zz4', 'zz5' and 3 more"),
        ({"attn_config": {"alibi": True}}, "attention as fast as without ALiBi's biases"),
        # Switched off, of the program that stored it, or how single elements are computed.
        ({"mtp_depth": 0, "layer_colours": False, "rope_scaling": {"factor": 2}}, None),
        ({"_name_or_path": "x", "eos_token_id": [1, 2], "hidden_act": "silu"}, None),
    ],
)
def test_a_key_that_is_not_known_is_never_passed_over_in_silence(
    change: dict[str, Any], words: str | None, tmp_path: Path
) -> None:
    plain = read(tmp_path, PUBLISHED["olmo-1b"]).assumptions
    said = read(tmp_path, PUBLISHED["olmo-1b"] | change).assumptions
    further = [each for each in said if each not in plain]
    assert [words is not None and words in each for each in further] == [True] * (words is not None)


def test_logits_that_are_changed_cost_the_time_and_the_memory_that_a_fused_loss_saves(
    tmp_path: Path,
) -> None:
    found = read(tmp_path, PUBLISHED["gemma-2-9b"]).workload
    assert not found.fuses_loss
    assert not read(tmp_path, {"model_type": "t5", "d_model": 512}).workload.fuses_loss
    assert read(tmp_path, PUBLISHED["olmo-1b"]).workload.fuses_loss
    table = WorkloadTable([found, replace(found, fuses_loss=True)], [CHIPS["H100"]])
    columns = table.columns(np.array([0, 1]), np.zeros(2, dtype=int), np.array([1, 1]))
    needed = sample_bytes(LEAN_OPTIONS[0], columns, shipped_fit().costs)
    # The logits of a sample in FP32, and their gradient.
    assert needed[0] - needed[1] >= 2 * 4 * found.logit_elements
    plain, fused = sum(work_terms(columns, free_lunch=True, lean=True))
    assert plain >= fused
