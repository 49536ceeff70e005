"""Configuration files that are no model, or one that is not counted: one line that says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.prediction.model.hf_config import target_of_config
from advisor.prediction.model.targets import Target
from tests.prediction.configs_for_tests import IMAGES, LLAMA_32_1B, TEXT, write


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_type": None}, "model_type"),
        ({"model_type": 7}, "model_type"),
        ({"model_type": "zamba9"}, "not an architecture"),
        ({"model_type": "x" * 10_000}, "not an architecture"),
        ({"num_hidden_layers": -16}, "num_hidden_layers"),
        ({"num_hidden_layers": 0}, "num_hidden_layers"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"hidden_size": "2048"}, "hidden_size"),
        ({"hidden_size": 2048.5}, "hidden_size"),
        ({"hidden_size": True}, "hidden_size"),
        ({"hidden_size": None}, "hidden_size"),
        ({"hidden_size": [2048]}, "hidden_size"),
        ({"vocab_size": -1}, "vocab_size"),
        ({"num_attention_heads": 4096}, "num_attention_heads"),
        ({"num_key_value_heads": 5}, "num_key_value_heads"),
        ({"auto_map": {"AutoModel": "evil--modeling.Evil"}}, "names code to run"),
        ({"trust_remote_code": True}, "names code to run"),
        ({"num_local_experts": 8}, "num_local_experts.*not counted here"),
    ],
)
def test_a_broken_key_is_one_line_that_names_it(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        target_of_config(write(tmp_path, {**LLAMA_32_1B, **change}), TEXT)
    message = str(caught.value)
    assert "config.json" in message
    assert "\n" not in message
    assert len(message) < 700


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1, 2]", '"llama"', "null", "not json at all", '{"a": 1}}', '{"a": ' + "9" * 5000],
)
def test_what_is_not_a_json_object_is_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"config\.json") as caught:
        target_of_config(write(tmp_path, text), TEXT)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("pair", [("[", "]"), ('{"a":', "}")])
def test_ten_thousand_levels_are_refused(tmp_path: Path, pair: tuple[str, str]) -> None:
    opening, closing = pair
    text = opening * 10_000 + "1" + closing * 10_000
    with pytest.raises(ValueError, match=r"nested too deeply|holds no object|model_type"):
        target_of_config(write(tmp_path, text), TEXT)
    inside = '{"model_type": "llama", "x": ' + text + "}"
    with pytest.raises(ValueError, match=r"nested too deeply|hidden_size"):
        target_of_config(write(tmp_path, inside), TEXT)


def test_fifty_megabytes_are_refused_without_reading_them(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.write(b'{"x": "')
        file.truncate(50 * 2**20)
    with pytest.raises(ValueError, match="larger than 8 MiB"):
        target_of_config(path, TEXT)


def test_other_files_are_one_line(tmp_path: Path) -> None:
    binary, timm = tmp_path / "config.json", tmp_path / "timm.json"
    binary.write_bytes(b"\x80\xfe\x00\x01")
    wide = tmp_path / "wide.json"
    wide.write_text('{"model_type": "llama"}', encoding="utf-16")
    timm.write_text('{"model_type": "efficientnet", "image_size": 224}')
    nothing, cut, number = (tmp_path / f"{name}.json" for name in ("nothing", "cut", "number"))
    nothing.write_text(" \n")
    cut.write_text('{"model_type": "llam')
    number.write_text('{"model_type": 5}')
    for path, words in (
        (tmp_path / "none.json", "is not there"),
        (tmp_path, "holds no config.json; give one that does"),
        (timm, "by its timm name alone; write one, such as efficientnet_b0"),
        (binary, "not UTF-8 text .*: save it as UTF-8"),
        (wide, r"wide\.json is stored as UTF-16: save it as UTF-8"),
        (nothing, r"nothing\.json is empty; give the model's config\.json"),
        (cut, r"cut\.json is not JSON: line 1, column 16: .*; correct it, or take it anew"),
        (number, "model_type': is 5; write the architecture's name, as llama"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            target_of_config(path, TEXT)
        assert "\n" not in str(caught.value)


def test_a_file_as_windows_editors_save_it_is_read(tmp_path: Path) -> None:
    plain = target_of_config(write(tmp_path, LLAMA_32_1B), TEXT)
    path = tmp_path / "config.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(LLAMA_32_1B, indent=1).encode())
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert target_of_config(path, TEXT).workload == plain.workload


def test_code_that_a_configuration_names_is_never_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "modeling_evil.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    evil = {**LLAMA_32_1B, "auto_map": {"AutoConfig": "modeling_evil.Evil"}}
    with pytest.raises(ValueError, match="never done here"):
        target_of_config(write(tmp_path, evil), TEXT)
    # Called as the library's own it is not looked at: the type says what is counted.
    names = {"AutoConfig": "modeling_evil.LlamaConfig", "AutoModel": "modeling_evil.LlamaModel"}
    plain = target_of_config(write(tmp_path, LLAMA_32_1B), TEXT)
    named = target_of_config(write(tmp_path, {**LLAMA_32_1B, "auto_map": names}), TEXT)
    assert named.workload == plain.workload
    assert any("auto_map" in words for words in named.assumptions)
    assert named.recipe is not None and "auto_map" not in named.recipe.model.arguments
    assert not ran.exists()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=6,
)
KEYS = [
    "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
    "intermediate_size", "vocab_size", "n_embd", "n_layer", "depths", "hidden_sizes", "image_size",
    "patch_size", "mlp_ratio", "id2label", "num_labels", "state_size", "expand", "torch_dtype",
    "tie_word_embeddings", "max_position_embeddings",
]  # fmt: skip
MODELS = ["llama", "gpt2", "gpt_neox", "opt", "bert", "vit", "convnext", "mamba"]


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(MODELS),
    content=st.dictionaries(st.sampled_from(KEYS), json_values, max_size=8),
)
def test_any_content_is_a_target_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, kind: str, content: dict[str, Any]
) -> None:
    path = write(tmp_path_factory.getbasetemp(), {**content, "model_type": kind})
    run = IMAGES if kind in ("vit", "convnext") else TEXT
    try:
        target = target_of_config(path, run)
    except ValueError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(target, Target)
        assert target.workload.parameters > 0
        assert target.workload.linear_flops > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"quantization_config": {"load_in_4bit": True}}, "stored in 4 bits"),
        ({"quantization_config": {"quant_method": "fp8"}}, "stored in 8 bits"),
        ({"peft_type": "LORA", "r": 8}, "describes an adapter"),
        ({"model_type": "vit_mae"}, "masked autoencoding"),
        ({"architectures": ["ViTMAEForPreTraining"]}, "masked images"),
        ({"text_config": {"model_type": "llama"}}, "of several models"),
        ({"layer_types": ["full_attention", "linear_attention"]}, "linear_attention"),
        ({"lora_rank": 8}, "lora_rank"),
        ({"mamba_d_state": 16}, "mamba_d_state"),
        ({"attention_chunk_size": 512}, "attention_chunk_size"),
        ({"add_cross_attention": True, "model_type": "bert"}, "add_cross_attention"),
        ({"is_encoder_decoder": True}, "is_encoder_decoder"),
        ({"_attn_implementation": "homemade"}, "'homemade' is not one of sdpa"),
    ],
)
def test_what_changes_the_work_is_refused_with_the_reason(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        target_of_config(write(tmp_path, LLAMA_32_1B | change), TEXT)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            {"model_type": "t5", "feed_forward_proj": "relu", "is_gated_act": True},
            "'is_gated_act': contradicts feed_forward_proj, which is 'relu'",
        ),
        (
            {"model_type": "convnext", "depths": [3, 3, 9, 3], "num_stages": 2},
            "'num_stages': is 2, but depths names 4 stages",
        ),
        (
            {**LLAMA_32_1B, "model_type": "helium", "head_dim": 128},
            "'head_dim': is 128, which times 32 heads is not the hidden size 2048",
        ),
    ],
)
def test_keys_that_contradict_each_other_are_refused(
    tmp_path: Path, content: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        target_of_config(write(tmp_path, content), TEXT)


@pytest.mark.parametrize("kind", [[], {}, 7, None, ["llama"]])
def test_a_kind_that_is_no_text_is_named(tmp_path: Path, kind: object) -> None:
    with pytest.raises(ValueError, match="key 'model_type'"):
        target_of_config(write(tmp_path, {**LLAMA_32_1B, "model_type": kind}), TEXT)
