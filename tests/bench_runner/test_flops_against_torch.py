"""Operations of small models against torch's own counter, and parameters to the unit."""

from __future__ import annotations

from typing import Any

import pytest

from bench_runner.models.encoder_decoder import EncoderDecoder, target_length
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
NAMED = {"n_embd": 64, "n_layer": 3, "n_head": 4, "vocab_size": 512, "rotary_dim": 16}
OPT = {key: SMALL[key] for key in SMALL if key != "intermediate_size"} | {"ffn_dim": 96}
FALCON = {key: SMALL[key] for key in SMALL if key != "intermediate_size"}
UNTIED = {"tie_word_embeddings": False}
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
GPT_NEO = {"hidden_size": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 512}
XGLM = {"d_model": 64, "num_layers": 2, "attention_heads": 4, "ffn_dim": 96, "vocab_size": 512}
SAMPLES, TOKENS, PIXELS = 2, 24, 64
MODELS: list[tuple[str, str, dict[str, Any]]] = [
    ("GPT2Config", "decoder", {"n_embd": 64, "n_layer": 2, "n_head": 4}),
    ("GPT2Config", "decoder", {"n_embd": 64, "n_layer": 1, "n_head": 4, "n_inner": 100}),
    ("LlamaConfig", "decoder", GROUPED),
    (
        "LlamaConfig",
        "decoder",
        {**SMALL, "head_dim": 32, "attention_bias": True, "mlp_bias": True}
        | {"tie_word_embeddings": True},
    ),
    ("BertConfig", "encoder", SMALL),
    ("BertConfig", "encoder", {**SMALL, **UNTIED}),
    ("RobertaConfig", "encoder", SMALL),
    ("RobertaConfig", "encoder", {**SMALL, **UNTIED}),
    ("GPTNeoXConfig", "decoder", SMALL),
    ("GPTNeoXConfig", "decoder", {**SMALL, "attention_bias": False}),
    ("ConvNextConfig", "convnet", {"layer_scale_init_value": 0.0}),
    ("ViTConfig", "vit", {"image_size": 64, "patch_size": 8, "qkv_bias": False}),
    ("ElectraConfig", "encoder", {**SMALL, "embedding_size": 16}),
    ("ElectraConfig", "encoder", {**SMALL, "embedding_size": 128, **UNTIED}),
    ("ElectraConfig", "encoder", {**SMALL, "embedding_size": 64}),
    ("AlbertConfig", "encoder", {**SMALL, "embedding_size": 16}),
    ("AlbertConfig", "encoder", {**SMALL, "num_hidden_groups": 2, **UNTIED}),
    ("AlbertConfig", "encoder", {**SMALL, "embedding_size": 64}),
    ("DistilBertConfig", "encoder", {"dim": 64, "n_layers": 3, "n_heads": 4, "hidden_dim": 96}),
    ("DistilBertConfig", "encoder", {"dim": 96, **UNTIED}),
    ("EsmConfig", "encoder", {**SMALL, "position_embedding_type": "rotary", "pad_token_id": 1}),
    (
        "EsmConfig",
        "encoder",
        {**SMALL, "pad_token_id": 1, "emb_layer_norm_before": True, **UNTIED},
    ),
    ("NomicBertConfig", "encoder", {**SMALL, "type_vocab_size": 3}),
    ("NomicBertConfig", "encoder", {**SMALL, **UNTIED}),
    ("EuroBertConfig", "encoder", {**GROUPED, "mlp_bias": True}),
    ("EuroBertConfig", "encoder", {**GROUPED, "tie_word_embeddings": True, "head_dim": 32}),
    ("ModernBertDecoderConfig", "decoder", {**SMALL, "attention_bias": True}),
    ("OPTConfig", "decoder", {**OPT, "word_embed_proj_dim": 32, "do_layer_norm_before": False}),
    ("OPTConfig", "decoder", {**OPT, "enable_bias": False, "_remove_final_layer_norm": True}),
    ("OPTConfig", "decoder", {**OPT, "layer_norm_elementwise_affine": False, **UNTIED}),
    ("BloomConfig", "decoder", {"hidden_size": 64, "n_layer": 3, "n_head": 4}),
    ("MptConfig", "decoder", {"d_model": 64, "n_layers": 3, "n_heads": 4, "vocab_size": 512}),
    ("FalconConfig", "decoder", FALCON),
    ("FalconConfig", "decoder", {**FALCON, "bias": True, "multi_query": False, "alibi": True}),
    ("FalconConfig", "decoder", {**FALCON, "parallel_attn": False, "ffn_hidden_size": 96}),
    (
        "FalconConfig",
        "decoder",
        {**FALCON, "new_decoder_architecture": True, "num_kv_heads": 2},
    ),
    (
        "FalconConfig",
        "decoder",
        {**FALCON, "new_decoder_architecture": True, "num_ln_in_parallel_attn": 1},
    ),
    ("GPTJConfig", "decoder", NAMED),
    ("GPTJConfig", "decoder", {**NAMED, "n_inner": 96, "tie_word_embeddings": True}),
    ("CodeGenConfig", "decoder", NAMED),
    ("PhiConfig", "decoder", {**GROUPED, "qk_layernorm": True}),
    ("PhiConfig", "decoder", SMALL),
    ("NemotronConfig", "decoder", {**GROUPED, "head_dim": 16}),
    ("ApertusConfig", "decoder", GROUPED),
    ("NanoChatConfig", "decoder", GROUPED),
    ("HunYuanDenseV1Config", "decoder", {**GROUPED, "head_dim": 32}),
    ("GraniteMoeHybridConfig", "decoder", {**GROUPED, "shared_intermediate_size": 80}),
    ("GraniteMoeHybridConfig", "decoder", {**GROUPED, "hidden_size": 48}),
    (
        "GraniteMoeHybridConfig",
        "decoder",
        {**GROUPED, "shared_intermediate_size": 80, "layer_types": ["full_attention"] * 3},
    ),
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
    # Under their own classes, as a config.json of each is built.
    ("MistralConfig", "decoder", {**GROUPED, "head_dim": 32}),
    ("GraniteConfig", "decoder", GROUPED),
    ("HyperCLOVAXConfig", "decoder", {**GROUPED, "head_dim": 16}),
    ("PersimmonConfig", "decoder", SMALL),
    ("GPTNeoConfig", "decoder", {**GPT_NEO, "attention_types": [[["global", "local"], 1]]}),
    ("BioGptConfig", "decoder", SMALL),
    ("OpenAIGPTConfig", "decoder", {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 512}),
    ("XGLMConfig", "decoder", XGLM),
    ("PhimoeConfig", "decoder", {**GROUPED, "num_local_experts": 8}),
    ("GraniteMoeSharedConfig", "decoder", {**GROUPED, "shared_intermediate_size": 40}),
    ("MPNetConfig", "encoder", SMALL),
    ("MegatronBertConfig", "encoder", SMALL),
    ("XLMRobertaXLConfig", "encoder", SMALL),
    ("UMT5Config", "encoder", {"num_layers": 2, "num_decoder_layers": 3, "vocab_size": 512}),
    ("BeitConfig", "vit", {"num_hidden_layers": 2, "use_absolute_position_embeddings": True}),
]


@pytest.mark.torch
@pytest.mark.parametrize(("name", "family", "arguments"), MODELS)
def test_parameters_and_operations(name: str, family: str, arguments: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from torch.utils.flop_counter import FlopCounterMode

    from bench_runner.worker.models import build_model, parameter_count

    recipe = own_recipe(name, family=family, **arguments)
    found, architecture = count_flops(recipe), recipe.architecture
    # Routing looks at numbers, and so do some masks: text is built for real, without fused
    # attention, of which the counter knows nothing on a CPU.
    images = family in ("vit", "convnet")
    with torch.device("meta" if images else "cpu"):
        model = build_model(recipe, None if family == "convnet" else "eager").eval()
        inputs: dict[str, Any] = {"input_ids": torch.full((SAMPLES, TOKENS), 5)}
        if images:
            inputs = {"pixel_values": torch.zeros(SAMPLES, 3, PIXELS, PIXELS)}
        if isinstance(architecture, EncoderDecoder):
            inputs["decoder_input_ids"] = torch.full((SAMPLES, architecture.written(TOKENS)), 5)
    if hasattr(model.config, "num_experts_per_tok"):
        model.config._experts_implementation = "eager"
    assert found.parameters == parameter_count(model)
    with FlopCounterMode(display=False) as counter:
        model(**inputs)
    counted = counter.get_total_flops() / SAMPLES
    if arguments.get("relative_attention") or name == "Swinv2Config":
        # What makes the positions is computed once a pass, and not counted.
        assert 0.3 * counted < found.train_sample_full / 3 <= counted
    else:
        assert found.train_sample_full / 3 == pytest.approx(counted, rel=1e-3)


def test_targets_are_t5_s_own() -> None:
    assert target_length(512) == 114
    assert all(0 < target_length(n) <= target_length(n + 1) for n in range(1, 400))


def test_shared_layers_are_held_once_and_computed_each() -> None:
    one = own_recipe("AlbertConfig", family="encoder", **SMALL)
    apart = own_recipe("AlbertConfig", family="encoder", **SMALL, num_hidden_groups=3)
    fewer = own_recipe("AlbertConfig", family="encoder", **{**SMALL, "num_hidden_layers": 1})
    assert count_flops(one).parameters == count_flops(fewer).parameters
    assert count_flops(one).parameters < count_flops(apart).parameters
    assert count_flops(one).flops_full == count_flops(apart).flops_full
    assert count_flops(one).model.attention_full == 3 * count_flops(fewer).model.attention_full


def test_an_encoder_of_llama_s_layers_looks_both_ways() -> None:
    both = count_flops(own_recipe("EuroBertConfig", family="encoder", **GROUPED))
    back = count_flops(own_recipe("LlamaConfig", **GROUPED))
    assert both.model.attention_full == back.model.attention_full
    assert both.model.attention_lowest == 2 * back.model.attention_lowest
