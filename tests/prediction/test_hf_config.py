"""What somebody may ask to predict: a config.json, a timm name, a size; and everything wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.prediction.model.hf_config import target_of_config
from advisor.prediction.model.targets import Run, Target, target_of_size, target_of_timm

TEXT = Run(batch_size=512, tokens=300e9)
IMAGES = Run(batch_size=1024, images=1.28e9)

LLAMA_32_1B: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "intermediate_size": 8192,
    "vocab_size": 128256,
    "tie_word_embeddings": True,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}


def write(folder: Path, content: object) -> Path:
    path = folder / "config.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("content", "run", "family", "parameters"),
    [
        (LLAMA_32_1B, TEXT, "decoder", 1_235_814_400),
        ({"model_type": "gpt2"}, TEXT, "decoder", 124_439_808),
        (
            {
                "model_type": "qwen3",
                "hidden_size": 1024,
                "num_hidden_layers": 28,
                "num_attention_heads": 16,
                "num_key_value_heads": 8,
                "head_dim": 128,
                "intermediate_size": 3072,
                "vocab_size": 151936,
                "tie_word_embeddings": True,
            },
            TEXT,
            "decoder",
            596_049_920,
        ),
        (
            {
                "model_type": "opt",
                "hidden_size": 2048,
                "num_hidden_layers": 24,
                "num_attention_heads": 32,
                "ffn_dim": 8192,
                "vocab_size": 50272,
                "max_position_embeddings": 2048,
            },
            TEXT,
            "decoder",
            1_315_758_080,
        ),
        ({"model_type": "bert"}, TEXT, "encoder", 109_514_298),
        ({"model_type": "mamba", "num_hidden_layers": 24}, TEXT, "ssm", 129_135_360),
        ({"model_type": "vit", "num_labels": 1000}, IMAGES, "vit", 86_567_656),
        ({"model_type": "convnext", "num_labels": 1000}, IMAGES, "convnet", 28_589_128),
    ],
)
def test_real_configurations_are_counted(
    tmp_path: Path, content: dict[str, Any], run: Run, family: str, parameters: int
) -> None:
    target = target_of_config(write(tmp_path, content), run)
    assert target.workload.family == family
    # What the library's own classes hold, to within norms and biases of a kin.
    assert target.workload.parameters == pytest.approx(parameters, rel=0.005)


@pytest.mark.parametrize(
    ("content", "parameters"),
    [  # of the library's own classes, with the defaults that each has for itself
        ({"model_type": "roberta"}, 124_696_665),
        ({"model_type": "distilbert"}, 66_985_530),
        ({"model_type": "vit", "hidden_size": 1024, "num_attention_heads": 16}, 126_970_882),
    ],
)
def test_what_a_file_leaves_out_is_its_own_class_s_default(
    tmp_path: Path, content: dict[str, Any], parameters: int
) -> None:
    run = IMAGES if content["model_type"] == "vit" else TEXT
    target = target_of_config(write(tmp_path, content), run)
    assert target.workload.parameters == pytest.approx(parameters, rel=0.005)


def test_what_stands_under_a_text_config_leaves_out_what_its_class_says(tmp_path: Path) -> None:
    """As Google's own files of Gemma 3 do, whose classes say the rest."""
    under = {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240}
    file = write(tmp_path, {**under, "num_hidden_layers": 34, "sliding_window": 1024})
    assert target_of_config(file, TEXT).workload.parameters == 3_880_263_168


def test_everything_that_is_missing_is_named_at_once_with_what_the_library_takes(
    tmp_path: Path,
) -> None:
    with pytest.raises(ValueError, match="hidden_size") as caught:
        target_of_config(write(tmp_path, {"model_type": "llama", "vocab_size": 32064}), TEXT)
    assert str(caught.value) == (
        "config.json, key 'hidden_size': is missing, and so are num_hidden_layers, "
        "num_attention_heads, intermediate_size; write what the model has (where a file says "
        "nothing the library takes 4096, 32, 32, 11008)"
    )
    with pytest.raises(ValueError, match="hidden_size") as caught:
        target_of_config(write(tmp_path, {**LLAMA_32_1B, "hidden_size": None}), TEXT)
    assert "is missing; write what the model has (" in str(caught.value)
    missing = {**LLAMA_32_1B, "model_type": "mistral", "hidden_size": None}
    with pytest.raises(ValueError, match=r"is missing; write what the model has$"):
        target_of_config(write(tmp_path, missing), TEXT)


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
    found = target_of_config(write(tmp_path, LLAMA_32_1B | change), TEXT)
    told = [words for words in found.assumptions if words.startswith("trained as ")]
    assert len(told) == (said is not None)
    assert all(str(said) in words for words in told)


def test_a_table_that_the_library_ties_whatever_the_file_says_is_told(tmp_path: Path) -> None:
    found = target_of_config(write(tmp_path, {"model_type": "mt5"}), TEXT)
    apart = {"model_type": "mt5", "tie_word_embeddings": False}
    untied = target_of_config(write(tmp_path, apart), TEXT)
    assert untied.workload.parameters == found.workload.parameters
    told = "one table for input and output, as the library builds it, not two as the file says"
    assert told in untied.assumptions and told not in found.assumptions


def test_biases_and_untied_tables_that_the_file_names_are_counted(tmp_path: Path) -> None:
    plain = target_of_config(write(tmp_path, LLAMA_32_1B), TEXT).workload.parameters
    biased = target_of_config(write(tmp_path, {**LLAMA_32_1B, "attention_bias": True}), TEXT)
    assert biased.workload.parameters - plain == 16 * (2 * 2048 + 2 * 512)
    small = {"model_type": "gpt2", "vocab_size": 1000}
    tied = target_of_config(write(tmp_path, small), TEXT).workload.parameters
    untied = target_of_config(write(tmp_path, {**small, "tie_word_embeddings": False}), TEXT)
    assert untied.workload.parameters - tied == 1000 * 768
    deberta = {"model_type": "deberta", "tie_word_embeddings": False}
    assert target_of_config(write(tmp_path, deberta), TEXT).workload.parameters == 163_339_698


def test_what_the_file_does_not_say_is_named_as_assumed(tmp_path: Path) -> None:
    target = target_of_config(write(tmp_path, LLAMA_32_1B), TEXT)
    assert target.assumptions == ("sequences of 2,048 tokens",)
    assert target.workload.precision == "bf16"
    told = Run(batch_size=512, tokens=300e9, sequence_length=4096, precision="fp16")
    target = target_of_config(write(tmp_path, LLAMA_32_1B), told)
    assert target.assumptions == ()
    assert (target.workload.tokens, target.workload.precision) == (4096, "fp16")


def test_steps_make_up_the_tokens(tmp_path: Path) -> None:
    workload = target_of_config(write(tmp_path, LLAMA_32_1B), TEXT).workload
    tokens = workload.training_steps * workload.batch_size * workload.tokens
    assert 300e9 <= tokens < 300e9 + workload.batch_size * workload.tokens


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
    binary.write_bytes(b"\xff\xfe\x00\x01")
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
    ("name", "parameters"),
    [
        ("vit_base_patch16_224", 86.6e6),
        ("vit_large_patch14_clip_224.openai", 304e6),
        ("deit3_small_patch16_384", 22.2e6),
        ("convnext_large.fb_in22k", 197.8e6),
        ("convnext_tiny", 28.6e6),
    ],
)
def test_timm_names(name: str, parameters: float) -> None:
    assert target_of_timm(name, IMAGES).workload.parameters == pytest.approx(parameters, rel=0.01)


@pytest.mark.parametrize("name", ["resnet5000", "vit_mighty_patch16_224", "", "hf_hub:x"])
def test_a_timm_name_that_cannot_be_counted_is_one_line(name: str) -> None:
    with pytest.raises(ValueError, match="timm name"):
        target_of_timm(name, IMAGES)


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
            "'head_dim': times num_attention_heads is hidden_size in every Helium",
        ),
    ],
)
def test_keys_that_contradict_each_other_are_refused(
    tmp_path: Path, content: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        target_of_config(write(tmp_path, content), TEXT)


def test_a_model_that_scales_its_images_has_no_other_size() -> None:
    with pytest.raises(ValueError, match="scales every image to 240 pixels a side; leave"):
        target_of_timm("crossvit_9_240", replace(IMAGES, image_size=304))
    assert target_of_timm("crossvit_9_240", replace(IMAGES, image_size=240)).workload.parameters


def test_attention_that_the_file_names_is_counted_and_told(tmp_path: Path) -> None:
    plain = target_of_config(write(tmp_path, LLAMA_32_1B), TEXT)
    eager = target_of_config(write(tmp_path, LLAMA_32_1B | {"_attn_implementation": "eager"}), TEXT)
    flash = LLAMA_32_1B | {"attn_implementation": "flash_attention_2"}
    assert plain.workload.fused_attention and not eager.workload.fused_attention
    assert eager.workload.fusible, "the settings that are written out may fuse it"
    assert any("unfused attention" in said for said in eager.assumptions)
    assert target_of_config(write(tmp_path, flash), TEXT).workload == plain.workload
    # A recurrence has no attention to choose.
    mamba = {"model_type": "mamba", "_attn_implementation": "eager"}
    assert target_of_config(write(tmp_path, mamba), TEXT).workload.family == "ssm"


def test_lengths_and_windows_are_never_passed_over(tmp_path: Path) -> None:
    long = Run(batch_size=8, tokens=1e9, sequence_length=4096)
    with pytest.raises(ValueError, match="longer than the model's 512 positions"):
        target_of_config(write(tmp_path, {"model_type": "bert"}), long)
    short = LLAMA_32_1B | {"max_position_embeddings": 2048}
    said = target_of_config(write(tmp_path, short), long).assumptions
    assert said == ("sequences longer than the 2,048 tokens that the model's file names",)
    window = LLAMA_32_1B | {"model_type": "mistral", "sliding_window": 1024}
    (said_of_it,) = target_of_config(write(tmp_path, window), long).assumptions
    assert "its window of 1,024 only masked" in said_of_it
    off = window | {"use_sliding_window": False}
    assert target_of_config(write(tmp_path, off), long).assumptions == ()


@settings(max_examples=50, deadline=None)
@given(parameters=st.floats(min_value=1e7, max_value=1e11))
def test_a_size_alone_keeps_its_size(parameters: float) -> None:
    target = target_of_size("mine", "decoder", parameters, TEXT)
    assert target.workload.parameters == round(parameters)
    # Six FLOPs a parameter and token, more with attention, less what tables never multiply.
    tokens = target.workload.training_steps * 512 * 2048
    assert 0.4 < target.workload.flops / (6 * parameters * tokens) < 2.0
    assert "the usual shape of this size" in target.assumptions[0]


@pytest.mark.parametrize(
    ("family", "parameters", "run", "words"),
    [
        ("moe", 1e9, TEXT, "family 'moe'"),
        ("ssm", 1e9, TEXT, "family 'ssm'"),
        ("decoder", -1.0, TEXT, "parameters"),
        ("decoder", float("nan"), TEXT, "parameters"),
        ("decoder", 1e400, TEXT, "parameters"),
        ("decoder", 1e9, Run(batch_size=512), "--tokens"),
        ("decoder", 1e9, Run(batch_size=0, tokens=1e9), "--batch"),
        ("decoder", 1e9, Run(batch_size=512, tokens=float("nan")), "no training run"),
        ("decoder", 1e9, Run(batch_size=512, tokens=1e400), "no training run"),
        ("vit", 1e8, Run(batch_size=512, tokens=1e9), "--images"),
    ],
)
def test_a_wrong_size_or_run_is_one_line(
    family: str, parameters: float, run: Run, words: str
) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        target_of_size("mine", family, parameters, run)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [[], {}, 7, None, ["llama"]])
def test_a_kind_that_is_no_text_is_named(tmp_path: Path, kind: object) -> None:
    with pytest.raises(ValueError, match="key 'model_type'"):
        target_of_config(write(tmp_path, {**LLAMA_32_1B, "model_type": kind}), TEXT)


def test_relative_attention_is_read_as_a_text_or_as_the_list_that_the_library_writes(
    tmp_path: Path,
) -> None:
    plain = {"model_type": "deberta-v2", "relative_attention": True, "position_buckets": 256}
    counted = [
        target_of_config(write(tmp_path, {**plain, "pos_att_type": kinds}), TEXT).workload
        for kinds in ("p2c|c2p", ["p2c", "c2p"])
    ]
    assert counted[0] == counted[1]
    assert not counted[0].fused_attention and not counted[0].fusible  # no fused kernel has it
    with pytest.raises(ValueError, match="pos_att_type"):
        target_of_config(write(tmp_path, {**plain, "pos_att_type": [1]}), TEXT)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"images": 5.0}, "the model is trained on text: give --tokens, not --images"),
        ({"image_size": 224}, "the model is trained on text: leave --image-size out"),
    ],
)
def test_what_is_said_of_images_is_never_passed_over_for_text_nor_the_reverse(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        target_of_config(write(tmp_path, LLAMA_32_1B), replace(TEXT, **change))
    for told in ({"tokens": 5.0}, {"sequence_length": 512}):
        with pytest.raises(ValueError, match="trained on images"):
            target_of_timm("resnet50", replace(IMAGES, **told))
