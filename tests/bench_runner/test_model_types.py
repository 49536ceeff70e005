"""The table of model types: what each row reads, refuses and has by default."""

from __future__ import annotations

from typing import Any

import pytest

from bench_runner.models.architecture import Architecture
from bench_runner.models.model_types import (
    arguments_of,
    build,
    model_type,
    model_types,
    read_architecture,
)
from bench_runner.models.transformer import Transformer

WHERE = "recipe 'own', architecture key"


def read(name: str, **arguments: Any) -> Architecture:
    kind = model_type(name)
    assert kind is not None
    return read_architecture(kind, arguments, where=WHERE)


@pytest.mark.parametrize("name", model_types())
def test_a_row_is_found_by_either_name_and_its_own_numbers_read_back(name: str) -> None:
    kind = model_types()[name]
    assert model_type(name) is kind
    assert not kind.own_class or model_type(kind.config_class) is kind
    architecture = build(name)
    assert read_architecture(kind, {}, where=WHERE) == architecture
    assert read_architecture(kind, {"else": "x"}, where=WHERE) == architecture
    # A number that follows from another may be written out, as the library's own files have it.
    derived = {key: value for key, value in arguments_of(architecture).items() if value != 0}
    assert read_architecture(kind, derived, where=WHERE) == architecture
    length = 64 if kind.family in ("vit", "convnet") else 24
    count = architecture.count(length)
    assert 0 <= count.unused < count.parameters
    assert 0 <= count.attention_lowest <= count.attention_full


def test_what_is_left_out_is_what_the_library_derives() -> None:
    assert read("gpt2", n_embd=96) == build("gpt2", hidden_size=96, intermediate_size=384)
    assert read("mamba", hidden_size=40) == build("mamba", hidden_size=40, time_step_rank=3)
    assert read("mamba", time_step_rank="auto") == build("mamba")
    llama = read("LlamaConfig", hidden_size=64, num_attention_heads=4)
    assert isinstance(llama, Transformer)
    assert (llama.num_key_value_heads, llama.head_dim) == (4, 16)
    # Of some keys null says that there is none, which is another model.
    latent = read("deepseek_v2", q_lora_rank=None)
    assert latent == build("deepseek_v2", q_lora_rank=0) != build("deepseek_v2")
    grouped = read("mistral", num_key_value_heads=None)
    assert isinstance(grouped, Transformer) and grouped.num_key_value_heads == 32


@pytest.mark.parametrize(
    ("name", "arguments", "longest", "read_by_output"),
    [
        ("electra", {"embedding_size": 32}, 512, 32),
        ("albert", {}, 512, 128),
        ("roberta", {"max_position_embeddings": 514}, 512, 768),
        ("esm", {"position_embedding_type": "rotary"}, None, 768),
        ("esm", {"pad_token_id": 0}, 1025, 768),
        ("eurobert", {}, None, 768),
        (
            "opt",
            {"hidden_size": 1024, "word_embed_proj_dim": 512, "num_attention_heads": 16},
            2048,
            512,
        ),
        ("opt", {"hidden_size": 768, "word_embed_proj_dim": None}, 2048, 768),
        ("falcon", {"ffn_hidden_size": None, "num_kv_heads": None}, None, 4544),
    ],
)
def test_where_positions_end_and_what_the_output_reads(
    name: str, arguments: dict[str, Any], longest: int | None, read_by_output: int
) -> None:
    architecture = read(name, **arguments)
    assert isinstance(architecture, Transformer)
    assert (architecture.longest, architecture.embedding_size) == (longest, read_by_output)


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        *(("gpt_neox", {"hidden_size": value}, "whole number") for value in ("64", 1.5, 0, -1)),
        ("gpt_neox", {"hidden_size": True}, "whole number"),
        ("gpt_neox", {"hidden_size": 10**30}, "from 1 to 1,000,000"),
        ("gpt_neox", {"hidden_size": [64]}, "whole number"),
        ("gpt_neox", {"attention_bias": 1}, "true or false"),
        ("gpt2", {"n_embd": "x" * 1000}, "whole number"),
        ("gpt2", {"n_head": 1000}, "more than the hidden size 768"),
        ("gpt2", {"n_embd": 1600, "n_head": 48}, "does not divide the width 1600"),
        ("bert", {"hidden_size": 512, "num_attention_heads": 6}, "does not divide the width 512"),
        ("llama", {"num_key_value_heads": 5}, "does not divide 32"),
        ("convnext", {"depths": [3, 3]}, "not as many stages as hidden_sizes"),
        ("convnext", {"depths": [3, 3, 0, 3]}, "whole number from 1"),
        ("convnext", {"depths": []}, "a list of 1 to 8"),
        ("convnext", {"layer_scale_init_value": float("nan")}, "a number of 0 or more"),
        ("electra", {"embedding_size": 0}, "is 0; write a whole number from 1"),
        ("albert", {"num_hidden_groups": 13}, "is 13, more than the 12 layers"),
        ("albert", {"inner_group_num": 2}, "write more num_hidden_layers"),
        ("granitemoehybrid", {"num_local_experts": 8}, "Granite 4 is counted where"),
        ("granitemoehybrid", {"layer_types": ["mamba"] * 32}, "Granite 4 is counted where"),
        ("granitemoehybrid", {"layer_types": "attention"}, "Granite 4 is counted where"),
        ("esm", {"position_embedding_type": "relative"}, "write one of 'absolute', 'rotary'"),
        ("esm", {"pad_token_id": 33}, "none of the vocabulary's 33 tokens"),
        ("esm", {"pad_token_id": -1}, "is -1"),
        (
            "esm",
            {"position_embedding_type": "rotary", "hidden_size": 36, "num_attention_heads": 12},
            "heads of 3 elements",
        ),
        ("opt", {"word_embed_proj_dim": -512}, "is -512"),
        ("bloom", {"n_inner": 100}, "is 100, but the library always builds 4 x 64"),
        ("mpt", {"expansion_ratio": 8}, "with which the library always builds an MPT"),
        ("falcon", {"new_decoder_architecture": True, "num_kv_heads": 72}, "more than the 71"),
        ("falcon", {"new_decoder_architecture": True, "num_kv_heads": 2}, "does not divide 71"),
        ("gptj", {"n_embd": 512}, "is 64, more than the 32 elements of a head"),
        ("mixtral", {"num_experts_per_tok": 9}, "more than the 8 experts"),
        ("bart", {"decoder_attention_heads": 7}, "is 7, which does not divide"),
        ("swin", {"num_heads": [5, 6, 12, 24]}, "5 does not divide the width 96"),
        ("gpt2", {"n_embd": 768, "hidden_size": 1024}, "n_embd, which says the same, is 768"),
    ],
)
def test_what_cannot_be_built_is_one_line_that_names_its_key(
    name: str, arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem) as caught:
        read(name, **arguments)
    message = str(caught.value)
    assert message.startswith(f"{WHERE} '") and "\n" not in message
    assert len(message) < 330


@pytest.mark.torch
@pytest.mark.parametrize("name", model_types())
def test_the_library_builds_as_many_parameters(name: str) -> None:
    """With its default configuration and with a small one; the script that is run by hand turns
    every switch, too."""
    pytest.importorskip("transformers")
    from tools.count_models.compare_with_transformers import compare

    kind = model_types()[name]
    assert not kind.own_class or not list(compare(kind, thorough=False))
