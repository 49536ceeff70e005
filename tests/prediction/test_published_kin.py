"""Encoders after BERT and plain decoders as they are published, against the library's own model of
each: equal to the unit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.prediction.model.hf_config import target_of_config
from advisor.prediction.model.targets import Run, Target
from advisor.prediction.model.workload import labelled_alone
from tests.prediction.published_for_tests import (
    ALBERT,
    ELECTRA,
    PUBLISHED,
)

TEXT = Run(batch_size=512, tokens=300e9, sequence_length=512)
SIZES = {  # of the library's own class of each
    "electra-small": 13_546_682,
    "albert-base-v2": 11_221_680,
    "opt-350m": 331_196_416,
    "bloom-560m": 559_214_592,
    "mpt-7b": 6_649_286_656,
    "falcon-7b": 6_921_720_704,
    "gpt-j-6b": 6_050_882_784,
    "codegen-350m": 356_712_448,
    "phi-2": 2_779_683_840,
    "distilbert": 66_985_530,
}


def target(folder: Path, content: dict[str, Any]) -> Target:
    path = folder / "config.json"
    path.write_text(json.dumps(content))
    return target_of_config(path, TEXT)


@pytest.mark.torch
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_count_is_the_library_s_own_and_so_is_what_a_benchmark_builds(
    name: str, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from bench_runner.worker.models import build_model, parameter_count

    content = dict(PUBLISHED[name])
    found = target(tmp_path, content)
    assert found.recipe is not None
    auto = transformers.AutoModelForCausalLM
    if found.workload.family == "encoder":
        auto = transformers.AutoModelForMaskedLM
    model_type = content.pop("model_type")
    if model_type == "nomic_bert":  # the library's class has other keys than the first one's files
        named = {"n_embd": "hidden_size", "n_head": "num_attention_heads"}
        named |= {"n_inner": "intermediate_size", "n_layer": "num_hidden_layers"}
        content = {own: content[key] for key, own in named.items()} | {"vocab_size": 30528}
    config = transformers.AutoConfig.for_model(model_type, **content)
    with torch.device("meta"):
        own = auto.from_config(config)
        kept = build_model(found.recipe, None)
    assert type(kept) is type(own)
    assert found.workload.parameters == parameter_count(own) == parameter_count(kept)
    assert not [words for words in found.assumptions if "unknown here" in words]
    # Every key that the library itself writes is counted or known to change no work.
    whole = target(tmp_path, json.loads(config.to_json_string(use_diff=False)))
    assert whole.workload == found.workload
    assert not [words for words in whole.assumptions if "unknown here" in words]


@pytest.mark.parametrize(("name", "parameters"), SIZES.items())
def test_published_models_have_their_published_sizes(
    name: str, parameters: int, tmp_path: Path
) -> None:
    assert target(tmp_path, PUBLISHED[name]).workload.parameters == parameters


def test_minicpm_s_scaled_layers_are_llama_s_with_one_table(tmp_path: Path) -> None:
    """The library has no class of it: its files bring code, which is not run."""
    sizes = {"hidden_size": 2304, "intermediate_size": 5760, "num_hidden_layers": 40}
    sizes |= {"num_attention_heads": 36, "num_key_value_heads": 36, "vocab_size": 122753}
    scales = {"scale_emb": 12, "dim_model_base": 256, "scale_depth": 1.4}
    code = {"AutoModelForCausalLM": "modeling_minicpm.MiniCPMForCausalLM"}
    found = target(tmp_path, {"model_type": "minicpm", "auto_map": code, **sizes, **scales})
    layer = 4 * 2304**2 + 3 * 2304 * 5760 + 2 * 2304
    assert found.workload.parameters == 122753 * 2304 + 40 * layer + 2304
    told = "counted as the plain minicpm; the code that auto_map names is neither read nor run"
    assert told in found.assumptions
    assert not [words for words in found.assumptions if "unknown here" in words]


def test_a_fused_loss_saves_the_logits_of_the_narrow_table_alone(tmp_path: Path) -> None:
    narrow = target(tmp_path, ALBERT).workload
    assert (narrow.width, narrow.logit_width) == (768, 128)
    without = 0.85 * 512 * 30000 * 2 * 128
    saved = narrow.linear_flops - labelled_alone(narrow).linear_flops
    assert saved == pytest.approx(without)
    samples = narrow.batch_size * narrow.training_steps
    assert narrow.unlabelled_flops == pytest.approx(3 * samples * without)


def test_shared_layers_are_few_parameters_and_as_much_work_as_bert_s(tmp_path: Path) -> None:
    albert = target(tmp_path, ALBERT).workload
    bert = target(tmp_path, {"model_type": "bert", "vocab_size": 30000}).workload
    assert albert.parameters < bert.parameters / 9
    assert albert.layers == bert.layers and albert.layer_elements == bert.layer_elements
    assert albert.attention_flops == bert.attention_flops
    # All but the output's narrow table and the two layers beside it.
    assert 0.7 * bert.linear_flops < albert.linear_flops < bert.linear_flops


def test_turned_positions_go_on_and_learnt_ones_end(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    longer = Run(batch_size=512, tokens=1e9, sequence_length=2048)
    for name in ("esm2-650m", "eurobert-210m", "nomic-bert-2048", "falcon-7b"):
        path.write_text(json.dumps(PUBLISHED[name]))
        assert target_of_config(path, longer).workload.tokens == 2048
    ends = {"esm-1b": 1024, "albert-base-v2": 512, "electra-small": 512, "distilbert": 512}
    for name, most in ends.items():
        path.write_text(json.dumps(PUBLISHED[name]))
        with pytest.raises(ValueError, match=f"longer than the model's {most:,} positions"):
            target_of_config(path, longer)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("electra-small", {"embedding_size": 0}, "'embedding_size': is 0"),
        ("electra-small", {"embedding_size": "narrow"}, "'embedding_size': is 'narrow'"),
        ("electra-small", {"embedding_size": [128]}, r"'embedding_size': is \[128\]"),
        ("electra-small", {"embedding_size": 1e99}, "'embedding_size': is 9999"),
        ("electra-small", {"num_attention_heads": 300}, "more than the hidden size 256"),
        ("opt-350m", {"word_embed_proj_dim": -1}, "'word_embed_proj_dim': is -1"),
        ("opt-350m", {"word_embed_proj_dim": "512"}, "'word_embed_proj_dim': is '512'"),
        ("opt-350m", {"do_layer_norm_before": 1}, "write true or false"),
        ("albert-base-v2", {"inner_group_num": 2}, "write more num_hidden_layers"),
        ("albert-base-v2", {"inner_group_num": True}, "'inner_group_num': is True"),
        ("albert-base-v2", {"num_hidden_groups": 24}, "more than the 12 layers"),
        ("albert-base-v2", {"hidden_size": None}, "'hidden_size': is missing"),
        ("esm2-8m", {"is_folding_model": True}, "folds proteins"),
        ("esm2-8m", {"position_embedding_type": "relative_key"}, "relative positions"),
        ("esm2-8m", {"position_embedding_type": "alibi"}, "write one of 'absolute', 'rotary'"),
        ("esm2-8m", {"vocab_size": -33}, "'vocab_size': is -33"),
        ("esm2-8m", {"add_cross_attention": True}, "an encoder made a decoder"),
        ("nomic-bert-2048", {"qkv_proj_bias": True}, "'qkv_proj_bias': says biases"),
        ("nomic-bert-2048", {"activation_function": "gelu"}, "says no gate"),
        ("nomic-bert-2048", {"num_experts": 8}, "'num_experts': says something"),
        ("nomic-bert-2048", {"img_size": 224}, "model of images is not counted; write vit"),
        ("nomic-bert-2048", {"rotary_emb_fraction": 0.5}, "in a part of each head"),
        ("nomic-bert-2048", {"causal": True}, "an encoder made a decoder"),
        ("eurobert-210m", {"num_key_value_heads": 5}, "which does not divide 12"),
        ("eurobert-210m", {"num_hidden_layers": 0}, "'num_hidden_layers': is 0"),
        ("bloom-560m", {"n_inner": 2048}, "always builds 4 x 1024"),
        ("mpt-7b", {"expansion_ratio": 2}, "library always builds an MPT"),
        ("mpt-7b", {"no_bias": False}, "builds an MPT without"),
        ("mpt-7b", {"attn_config": {"alibi": False}}, "write gpt2"),
        ("mpt-7b", {"attn_config": {"qk_ln": True}}, "without norms of queries"),
        ("mpt-7b", {"attn_config": {"attn_pdrop": 0.1}}, "drops elements .attn_pdrop."),
        ("mpt-7b", {"attn_config": "alibi"}, "'attn_config': the library builds MPT's attention"),
        ("falcon-40b", {"num_kv_heads": 7}, "'num_kv_heads': is 7, which does not divide 128"),
        ("falcon-7b", {"multi_query": "yes"}, "'multi_query': is 'yes'; write true or false"),
        ("gpt-j-6b", {"rotary_dim": 512}, "more than the 256 elements of a head"),
        ("hunyuan-7b", {"use_qk_norm": False}, "which the library always builds"),
        ("hunyuan-7b", {"use_cla": True}, "keys that layers share"),
        ("granite-4.0-350m", {"num_local_experts": 64}, "Granite 4 is counted where every layer"),
        ("granite-4.0-350m", {"num_local_experts": None}, "--model decoder --parameters 7B"),
        ("granite-4.0-350m", {"num_local_experts": False}, "Granite 4 is counted where"),
        ("granite-4.0-350m", {"layer_types": ["mamba"] * 28}, "'layer_types': Granite 4 is"),
        ("granite-4.0-350m", {"layer_types": None}, "'layer_types': Granite 4 is"),
        ("granite-4.0-350m", {"layer_types": "attention"}, "'layer_types': Granite 4 is"),
        ("granite-4.0-350m", {"layer_types": ["attention"]}, "names 1 layers"),
        ("granite-4.0-350m", {"layer_types": [["attention"]]}, "'layer_types': Granite 4 is"),
    ],
)
def test_what_would_be_another_model_is_refused_in_one_line(
    name: str, change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        target(tmp_path, PUBLISHED[name] | change)
    assert str(caught.value).startswith("config.json, key '") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("distilbert", {"embedding_size": 128}),
        ("eurobert-210m", {"word_embed_proj_dim": 512}),
        ("phi-2", {"multi_query": True}),
        ("gpt-j-6b", {"new_decoder_architecture": True}),
        ("apertus-8b", {"mlp_ratio": 8}),
        ("bloom-560m", {"expansion_ratio": 2}),
        ("opt-350m", {"embedding_size": 512}),
    ],
)
def test_a_size_of_another_kind_is_not_passed_over(
    name: str, change: dict[str, Any], tmp_path: Path
) -> None:
    (key,) = change
    with pytest.raises(ValueError, match=f"'{key}': says something of the architecture"):
        target(tmp_path, PUBLISHED[name] | change)


def test_a_size_that_follows_from_the_others_may_be_spelled_out(tmp_path: Path) -> None:
    said = {"embedding_size": 768, "word_embed_proj_dim": 768, "mlp_ratio": 4.0}
    plain = target(tmp_path, PUBLISHED["distilbert"])
    assert target(tmp_path, PUBLISHED["distilbert"] | said) == plain


def test_a_whole_number_written_with_a_point_is_one(tmp_path: Path) -> None:
    plain = target(tmp_path, ELECTRA).workload
    assert target(tmp_path, ELECTRA | {"embedding_size": 128.0}).workload == plain
