"""What a config.json is read as, and what is told of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.prediction.model.askable_models import Ask
from bench_runner.models.model_source import ModelSource
from bench_runner.models.model_types import model_type
from bench_runner.recipe_flops import count_flops
from tests.prediction.configs_for_tests import LLAMA_32_1B, read


def test_sizes_that_a_file_leaves_out_are_the_library_s_and_are_said(tmp_path: Path) -> None:
    """As the library's own files do, which leave out what is its class's default."""
    content = {"model_type": "flex_olmo", "hidden_size": 1024, "num_hidden_layers": 8}
    found = read(tmp_path, content | {"num_attention_heads": 16})
    said = (
        "the library's own intermediate_size 11,008, vocab_size 100,352, num_experts 7, which the "
        "file leaves out"
    )
    assert said in found.assumptions
    whole = content | {"num_attention_heads": 16, "num_experts": 7, "num_experts_per_tok": 5}
    whole |= {"intermediate_size": 11008, "vocab_size": 100352, "tie_word_embeddings": False}
    assert found.workload == read(tmp_path, whole).workload


def test_a_size_that_no_library_has_a_default_for_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="hidden_size") as caught:
        read(tmp_path, {"model_type": "minicpm", "vocab_size": 32064})
    assert str(caught.value) == (
        "config.json, key 'hidden_size': is missing, and so are num_hidden_layers, "
        "num_attention_heads, intermediate_size; write what the model has"
    )
    with pytest.raises(ValueError, match=r"'hidden_size': is missing \(null\); write what"):
        read(tmp_path, {**LLAMA_32_1B, "hidden_size": None})


@pytest.mark.parametrize("name", ["MistralConfig", "GraniteSWAConfig", "BioGptConfig"])
def test_a_recipe_s_class_goes_the_same_road_as_a_model_type(name: str, tmp_path: Path) -> None:
    kind = model_type(name)
    assert kind is not None
    found = read(tmp_path, {"model_type": kind.name}).recipe
    assert found is not None and found.model.config_class == name
    recipe = replace(found, model=ModelSource(config_class=name, arguments={}))
    assert count_flops(recipe) == count_flops(found)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"architectures": ["LlamaForCausalLM"]}, None),
        ({"architectures": ["LlamaModel"]}, None),
        ({"architectures": ["LlamaForMaskedDiffusion"]}, "not as 'LlamaForMaskedDiffusion'"),
        ({"architectures": ["MllamaForConditionalGeneration"]}, "not as 'Mllama"),
    ],
)
def test_another_output_than_the_counted_one_is_told(
    tmp_path: Path, change: dict[str, Any], said: str | None
) -> None:
    found = read(tmp_path, LLAMA_32_1B | change)
    told = [words for words in found.assumptions if words.startswith("trained as ")]
    assert len(told) == (said is not None)
    assert all(str(said) in words for words in told)


def test_what_the_file_does_not_say_is_named_as_assumed(tmp_path: Path) -> None:
    target = read(tmp_path, LLAMA_32_1B)
    assert target.assumptions == ("sequences of 2,048 tokens",)
    assert target.workload.precision == "bf16"
    told = Ask(batch_size=512, tokens=300e9, sequence_length=4096, precision="fp16")
    target = read(tmp_path, LLAMA_32_1B, told)
    assert target.assumptions == ()
    assert (target.workload.tokens, target.workload.precision) == (4096, "fp16")


def test_lengths_and_windows_are_never_passed_over(tmp_path: Path) -> None:
    long = Ask(batch_size=8, tokens=1e9, sequence_length=4096)
    with pytest.raises(ValueError, match="longer than the model's 512 positions"):
        read(tmp_path, {"model_type": "bert"}, long)
    short = LLAMA_32_1B | {"max_position_embeddings": 2048}
    said = read(tmp_path, short, long).assumptions
    assert said == ("sequences longer than the 2,048 tokens that the model's file names",)
    window = LLAMA_32_1B | {"model_type": "mistral", "sliding_window": 1024}
    (said_of_it,) = read(tmp_path, window, long).assumptions
    assert "its window of 1,024 only masked" in said_of_it
    off = window | {"use_sliding_window": False}
    assert read(tmp_path, off, long).assumptions == ()


def test_relative_attention_is_read_as_a_text_or_as_the_list_that_the_library_writes(
    tmp_path: Path,
) -> None:
    plain = {"model_type": "deberta-v2", "relative_attention": True, "position_buckets": 256}
    counted = [
        read(tmp_path, {**plain, "pos_att_type": kinds}).workload
        for kinds in ("p2c|c2p", ["p2c", "c2p"])
    ]
    assert counted[0] == counted[1]
    assert not counted[0].fused_attention and not counted[0].fusible  # no fused kernel has it
    with pytest.raises(ValueError, match="pos_att_type"):
        read(tmp_path, {**plain, "pos_att_type": [1]})
