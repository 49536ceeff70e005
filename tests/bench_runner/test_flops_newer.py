"""Newer models against the library's own: parameters exactly, operations by torch's counter."""

from __future__ import annotations

from typing import Any

import pytest

from bench_runner.models.architecture_two_sides import Bart, EncoderDecoder, target_length
from bench_runner.models.timm_models import timm_model, timm_names
from bench_runner.recipe_flops import count_flops
from tests.bench_runner.test_flops import own_recipe

SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "vocab_size": 512,
    "intermediate_size": 96,
}
GROUPED = {**SMALL, "num_key_value_heads": 2}
LATENT = {
    **SMALL,
    "num_key_value_heads": 4,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 48,
    "first_k_dense_replace": 1,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "v_head_dim": 16,
}
PAIR = {"d_model": 128, "encoder_layers": 2, "decoder_layers": 2, "vocab_size": 1000} | {
    key: size
    for side in ("encoder", "decoder")
    for key, size in ((f"{side}_attention_heads", 4), (f"{side}_ffn_dim", 192))
}
SAMPLES, TOKENS, PIXELS = 2, 24, 64
MODELS: list[tuple[str, str, dict[str, Any]]] = [
    ("Qwen2Config", "decoder", GROUPED),
    ("Qwen3Config", "decoder", {**GROUPED, "head_dim": 32}),
    ("Starcoder2Config", "decoder", GROUPED),
    ("MixtralConfig", "decoder", GROUPED),
    (
        "Qwen2MoeConfig",
        "decoder",
        {**GROUPED, "num_experts": 8, "moe_intermediate_size": 48, "mlp_only_layers": [1]},
    ),
    ("Qwen3MoeConfig", "decoder", {**GROUPED, "num_experts": 16, "decoder_sparse_step": 2}),
    ("OlmoeConfig", "decoder", {**GROUPED, "num_experts": 16}),
    ("GptOssConfig", "decoder", {**GROUPED, "head_dim": 32, "num_local_experts": 16}),
    ("Glm4MoeConfig", "decoder", {**GROUPED, "n_routed_experts": 16, "use_qk_norm": True}),
    ("ArceeConfig", "decoder", GROUPED),
    ("Gemma3TextConfig", "decoder", {**GROUPED, "head_dim": 32}),
    ("StableLmConfig", "decoder", {**GROUPED, "use_parallel_residual": True}),
    ("DeepseekV2Config", "decoder", {**LATENT, "q_lora_rank": 24}),
    ("DeepseekV3Config", "decoder", {**LATENT, "q_lora_rank": 24, "n_group": 2, "topk_group": 1}),
    ("T5Config", "encoder", {"feed_forward_proj": "gated-gelu", "num_decoder_layers": 2}),
    ("BartConfig", "encoder", {**PAIR, "encoder_layers": 3, "decoder_ffn_dim": 96}),
    ("PLBartConfig", "encoder", PAIR),
    ("MBartConfig", "encoder", PAIR),
    ("M2M100Config", "encoder", PAIR),
    ("PegasusConfig", "encoder", PAIR),
    ("MarianConfig", "encoder", {**PAIR, "vocab_size": 58101}),
    ("BlenderbotConfig", "encoder", {**PAIR, "decoder_layers": 4}),
    ("ModernBertConfig", "encoder", {"num_hidden_layers": 4}),
    ("DebertaV2Config", "encoder", {**SMALL, "conv_kernel_size": 0}),
    (
        "DebertaV2Config",
        "encoder",
        {**SMALL, "relative_attention": True, "pos_att_type": "p2c|c2p", "position_buckets": 8},
    ),
    ("DebertaConfig", "encoder", {**SMALL, "relative_attention": True, "pos_att_type": "c2p|p2c"}),
    ("SwinConfig", "vit", {"window_size": 4, "depths": [1, 2], "num_heads": [2, 4]}),
    ("Swinv2Config", "vit", {"depths": [1, 1], "num_heads": [2, 4]}),
    ("ResNetConfig", "convnet", {}),
    ("ConvNextV2Config", "convnet", {}),
    ("Dinov2Config", "vit", {"num_hidden_layers": 2, "patch_size": 16, "use_swiglu_ffn": True}),
    (
        "ResNetConfig",
        "convnet",
        {"layer_type": "basic", "hidden_sizes": [64, 128], "depths": [2, 2]},
    ),
]


@pytest.mark.torch
@pytest.mark.parametrize(("name", "family", "arguments"), MODELS)
def test_parameters_and_operations(name: str, family: str, arguments: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from torch.utils.flop_counter import FlopCounterMode

    recipe = own_recipe(name, family=family, **arguments)
    found, architecture = count_flops(recipe), recipe.architecture
    given = dict(arguments)
    if family in ("vit", "convnet"):
        given |= {"num_labels": 7, "image_size": PIXELS}
        auto = transformers.AutoModelForImageClassification
    elif isinstance(architecture, EncoderDecoder):
        auto = transformers.AutoModelForSeq2SeqLM
    else:
        decoder = transformers.AutoModelForCausalLM
        auto = transformers.AutoModelForMaskedLM if family == "encoder" else decoder
    # Routing looks at numbers, and so do DeBERTa and BART's masks: these are built for real,
    # without fused attention, of which the counter knows nothing on a CPU.
    real = family == "decoder" or "Deberta" in name or isinstance(architecture, Bart)
    keywords = {"attn_implementation": "eager"} if real else {}
    if hasattr(getattr(transformers, name)(), "num_experts_per_tok"):
        keywords["experts_implementation"] = "eager"
    config = getattr(transformers, name)(**given)
    with torch.device("cpu" if real else "meta"):
        model = auto.from_config(config, **keywords).eval()
        inputs: dict[str, Any] = {"input_ids": torch.zeros(SAMPLES, TOKENS, dtype=torch.long)}
        if family in ("vit", "convnet"):
            inputs = {"pixel_values": torch.zeros(SAMPLES, 3, PIXELS, PIXELS)}
        if isinstance(architecture, EncoderDecoder):
            written = architecture.written(TOKENS)
            inputs["decoder_input_ids"] = torch.zeros(SAMPLES, written, dtype=torch.long)
    assert found.parameters == sum(parameter.numel() for parameter in model.parameters())
    with FlopCounterMode(display=False) as counter:
        model(**inputs)
    counted = counter.get_total_flops() / SAMPLES
    if arguments.get("relative_attention") or name == "Swinv2Config":
        # What makes the positions is computed once a pass, and not counted.
        assert 0.3 * counted < found.forward_full.total <= counted
    else:
        assert found.forward_full.total == pytest.approx(counted, rel=1e-3)


def test_targets_are_t5_s_own() -> None:
    assert target_length(512) == 114
    assert all(0 < target_length(n) <= target_length(n + 1) for n in range(1, 400))


@pytest.mark.parametrize(
    ("name", "parameters", "gmacs"),
    [  # timm's own results (results/benchmark-infer): parameters, and products of 224 pixels
        ("resnet50", 25_557_032, 4.11),
        ("swin_tiny_patch4_window7_224", 28_288_354, 4.51),
        ("efficientnet_b0", 5_288_548, 0.40),
        ("regnety_040", 20_646_656, 4.00),
        ("mixer_b16_224", 59_880_472, 12.62),
    ],
)
def test_the_table_of_timm_says_what_timm_says(name: str, parameters: int, gmacs: float) -> None:
    model = timm_model(name)
    assert model is not None
    counted = model.counted
    assert counted.parameters == parameters
    work = counted.matmul + counted.attention + counted.convolution
    assert work / 2e9 == pytest.approx(gmacs, rel=0.04)


def test_every_name_of_the_table_is_counted() -> None:
    names = timm_names()
    assert len(names) == len(set(names)) > 1300
    for name in names:
        model = timm_model(f"timm/{name}.some_weights")
        assert model is not None and model.counted.parameters > 0
        assert model.at(model.counted.image_size) == model.counted
    assert timm_model("hf_hub:somebody/model") is None


def test_whole_patches_alone_count() -> None:
    model = timm_model("vit_base_patch14_dinov2")
    assert model is not None and model.patch_size == 14 and model.counted.image_size == 518
    assert model.at(37 * 14 + 13) == model.at(518) == model.counted
    assert model.at(38 * 14).matmul == pytest.approx(model.counted.matmul * 38**2 / 37**2)
    plain = timm_model("resnet50")
    assert plain is not None and plain.patch_size == 0
    assert plain.at(288).convolution > plain.at(287).convolution


@pytest.mark.torch
@pytest.mark.parametrize("name", ["resnet18", "test_vit", "test_convnext"])
def test_the_script_counts_what_the_table_says(name: str) -> None:
    pytest.importorskip("timm")
    from tools.count_models.count_timm import count

    model = timm_model(name)
    assert model is not None
    row = count(name)
    assert {key: row[key] for key in row if key != "name"} == {
        key: getattr(model.counted, key) for key in row if key != "name"
    }
