"""Configuration files that are no model, or say what is not counted: one line with the reason."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.prediction.model.askable_models import Target
from advisor.prediction.model.hf_config import target_of_config
from advisor.prediction.model.uncounted import language_of, other_work
from bench_runner.models.model_types import model_types
from tests.prediction.configs_for_tests import LLAMA_32_1B, PUBLISHED, TEXT, read, write

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("llama-3.2-1b", {"model_type": None}, "model_type"),
    ("llama-3.2-1b", {"model_type": "zamba9"}, "not an architecture"),
    ("llama-3.2-1b", {"num_hidden_layers": -16}, "num_hidden_layers"),
    ("llama-3.2-1b", {"num_hidden_layers": 10**9}, "num_hidden_layers"),
    ("llama-3.2-1b", {"hidden_size": "2048"}, "hidden_size"),
    ("llama-3.2-1b", {"hidden_size": None}, "'hidden_size': is missing"),
    ("llama-3.2-1b", {"num_attention_heads": 4096}, "num_attention_heads"),
    ("llama-3.2-1b", {"num_attention_heads": 24}, "24, which does not divide the width 2048"),
    ("llama-3.2-1b", {"num_key_value_heads": 5}, "num_key_value_heads"),
    ("llama-3.2-1b", {"auto_map": {"AutoModel": "evil--modeling.Evil"}}, "names code to run"),
    ("llama-3.2-1b", {"trust_remote_code": True}, "names code to run"),
    ("llama-3.2-1b", {"num_local_experts": 8}, "num_local_experts.*not counted here"),
    ("llama-3.2-1b", {"model_type": "vit_mae"}, "masked autoencoding"),
    ("llama-3.2-1b", {"architectures": ["ViTMAEForPreTraining"]}, "masked images"),
    ("llama-3.2-1b", {"text_config": {"model_type": "llama"}}, "of several models"),
    ("llama-3.2-1b", {"layer_types": ["full", "linear_attention"]}, "layers of the kind 'full'"),
    ("llama-3.2-1b", {"layer_types": ["full_attention"]}, "names 1 layers, num_hidden_layers says"),
    ("llama-3.2-1b", {"lora_rank": 8}, "lora_rank"),
    ("llama-3.2-1b", {"model_type": "bert", "add_cross_attention": True}, "add_cross_attention"),
    ("llama-3.2-1b", {"is_encoder_decoder": True}, "is_encoder_decoder"),
    ("llama-3.2-1b", {"model_type": "lama"}, "counted here; did you mean 'llama'"),
    ("llama-3.2-1b", {"model_type": "qwen2_vl", "vision_config": {"depth": 32}}, "of one of them"),
    ("llama-3.2-1b", {"use_bidirectional_attention": True}, "without a causal mask is other work"),
    ("llama-3.2-1b", {"architectures": ["LlamaBidirectionalModel"]}, "without a causal mask"),
    ("llama-3.2-1b", {"attn_config": {"attn_type": "multiquery"}}, "of another kind"),
    ("llama-3.2-1b", {"attn_type_list": [1, 0]}, "'attn_type_list': layers of recurrence"),
    (
        "llama-3.2-1b",
        {"model_type": "helium", "head_dim": 128},
        "times 32 heads is not the hidden size",
    ),
    ("bert-base", {"position_embedding_type": "relative_key"}, "other positions than learnt"),
    ("bert-base", {"hidden_size": 512, "num_attention_heads": 6}, "does not divide the width 512"),
    ("deepseek-v2-lite", {"moe_layer_freq": 2}, "in turn are not counted"),
    ("deepseek-v2-lite", {"n_routed_experts": None}, "n_routed_experts.*is missing"),
    ("deepseek-v3", {"n_routed_experts": 100}, "is 100, which 8 groups of two or more do"),
    ("deepseek-v3", {"topk_group": 1, "n_routed_experts": 32}, "more than the 4 experts of the"),
    ("electra-small", {"embedding_size": "narrow"}, "'embedding_size': is 'narrow'"),
    ("opt-350m", {"do_layer_norm_before": 1}, "write true or false"),
    ("albert-base-v2", {"inner_group_num": 2}, "write more num_hidden_layers"),
    ("esm2-8m", {"is_folding_model": True}, "folds proteins"),
    ("esm2-8m", {"position_embedding_type": "alibi"}, "write one of 'absolute', 'rotary'"),
    ("nomic-bert-2048", {"qkv_proj_bias": True}, "'qkv_proj_bias': says biases"),
    ("nomic-bert-2048", {"rotary_emb_fraction": 0.5}, "in a part of each head"),
    ("nomic-bert-2048", {"causal": True}, "an encoder made a decoder"),
    ("bloom-560m", {"n_inner": 2048}, "always builds 4 x 1024"),
    ("mpt-7b", {"expansion_ratio": 2}, "library always builds an MPT"),
    ("mpt-7b", {"attn_config": {"qk_ln": True}}, "without norms of queries"),
    ("mpt-7b", {"attn_config": {"attn_pdrop": 0.1}}, "drops elements .attn_pdrop."),
    ("falcon-40b", {"num_kv_heads": 7}, "'num_kv_heads': is 7, which does not divide 128"),
    ("hunyuan-7b", {"use_qk_norm": False}, "which the library always builds"),
    ("granite-4.0-350m", {"num_local_experts": 64}, "Granite 4 is counted where every layer"),
    ("granite-4.0-350m", {"layer_types": ["mamba"] * 28}, "'layer_types': Granite 4 is"),
    ("granite-4.0-350m", {"layer_types": ["attention"]}, "names 1 layers"),
    ("distilbert", {"embedding_size": 128}, "'embedding_size': says something of the architecture"),
    ("bart-large", {"tie_word_embeddings": False}, "says a table of words for each"),
    ("bart-large", {"decoder_attention_heads": 7}, "is 7, which does not divide"),
]


@pytest.mark.parametrize(("name", "change", "words"), REFUSED)
def test_what_is_not_counted_is_one_line_that_names_the_file(
    name: str, change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        read(tmp_path, PUBLISHED[name] | change)
    message = str(caught.value)
    assert message.startswith("config.json") and "\n" not in message and len(message) < 700


@pytest.mark.parametrize("kind", sorted(other_work()))
def test_a_type_that_is_not_counted_is_told_with_what_may_be_asked(
    kind: str, tmp_path: Path
) -> None:
    assert re.search(r"; (the|its|write|--model)|: write", other_work()[kind])
    for word in re.findall(r"write ([a-z0-9_]+)", other_work()[kind]):
        assert word in model_types() or word == "one"
    with pytest.raises(ValueError, match=re.escape(other_work()[kind])):
        read(tmp_path, {"model_type": kind, "hidden_size": 64})


@pytest.mark.parametrize("kind", sorted(language_of()))
def test_the_language_model_of_one_that_sees_is_told_as_what_has_its_layers(
    kind: str, tmp_path: Path
) -> None:
    parts = {"text_config": {"model_type": kind, "hidden_size": 64}, "vision_config": {"depth": 4}}
    mend = f"as a file, and write {language_of()[kind]} as its model_type"
    with pytest.raises(ValueError, match=mend):
        read(tmp_path, {"model_type": "a_model_that_sees", **parts})
    assert language_of()[kind] in model_types()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1, 2]", '"llama"', "null", "not json at all", '{"a": 1}}', '{"a": ' + "9" * 5000],
)
def test_what_is_not_a_json_object_is_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"config\.json") as caught:
        target_of_config(write(tmp_path, text), TEXT)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_ten_thousand_levels_are_refused(tmp_path: Path, opening: str, closing: str) -> None:
    text = opening * 10_000 + "1" + closing * 10_000
    for whole in (text, '{"model_type": "minicpm", "x": ' + text + "}"):
        with pytest.raises(ValueError, match=r"nested too deeply|no object|model_type|hidden_size"):
            target_of_config(write(tmp_path, whole), TEXT)


def test_fifty_megabytes_are_refused_without_reading_them(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.write(b'{"x": "')
        file.truncate(50 * 2**20)
    with pytest.raises(ValueError, match="larger than 8 MiB"):
        target_of_config(path, TEXT)


def test_other_files_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(b"\x80\xfe\x00\x01")
    (tmp_path / "wide.json").write_text('{"model_type": "llama"}', encoding="utf-16")
    (tmp_path / "timm.json").write_text('{"model_type": "efficientnet", "image_size": 224}')
    (tmp_path / "hub.json").write_text('{"model_type": null, "architecture": "resnet50"}')
    (tmp_path / "cut.json").write_text('{"model_type": "llam')
    (tmp_path / "lora.json").write_text('{"peft_type": "LORA", "r": 8}')
    (tmp_path / "unet.json").write_text('{"_diffusers_version": "0.6"}')
    for name, words in (
        ("none.json", "is not there"),
        ("", "holds no config.json; give one that does"),
        ("config.json", "not UTF-8 text .*: save it as UTF-8"),
        ("wide.json", r"wide\.json is stored as UTF-16: save it as UTF-8"),
        ("timm.json", "by its timm name alone; write one, such as efficientnet_b0"),
        ("hub.json", "write the timm name resnet50"),
        (
            "cut.json",
            r"cut\.json is not JSON: line 1, column 16: .*; correct it, or download it again",
        ),
        ("lora.json", "describes an adapter"),
        ("unet.json", "models of diffusion"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            target_of_config(tmp_path / name, TEXT)
        assert "\n" not in str(caught.value)


def test_a_file_as_windows_editors_save_it_is_read(tmp_path: Path) -> None:
    plain = read(tmp_path, LLAMA_32_1B)
    path = tmp_path / "config.json"
    text = b"\xef\xbb\xbf" + json.dumps(LLAMA_32_1B, indent=1).encode()
    path.write_bytes(text.replace(b"\n", b"\r\n"))
    assert target_of_config(path, TEXT).workload == plain.workload


def test_code_that_a_configuration_names_is_never_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "modeling_evil.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    evil = {**LLAMA_32_1B, "auto_map": {"AutoConfig": "modeling_evil.Evil"}}
    with pytest.raises(ValueError, match="never done here"):
        read(tmp_path, evil)
    # Called as the library's own it is not looked at: the type says what is counted.
    names = {"AutoConfig": "modeling_evil.LlamaConfig", "AutoModel": "modeling_evil.LlamaModel"}
    plain = read(tmp_path, LLAMA_32_1B)
    assert read(tmp_path, {**LLAMA_32_1B, "auto_map": names}).workload == plain.workload
    assert not ran.exists()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
KEYS = sorted(
    {key for kind in model_types().values() for keys in kind.keys.values() for key in keys}
    | {"id2label", "torch_dtype", "image_size", "layer_types", "sliding_window"}
)


@settings(max_examples=200, deadline=None)
@given(
    kind=st.sampled_from(sorted(model_types())),
    content=st.dictionaries(st.sampled_from(KEYS), json_values, max_size=8),
)
def test_any_content_is_a_target_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, kind: str, content: dict[str, Any]
) -> None:
    try:
        target = read(tmp_path_factory.getbasetemp(), {**content, "model_type": kind})
    except ValueError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(target, Target)
        assert target.workload.parameters > 0
        assert target.workload.linear_flops > 0
