"""Encoders after BERT and plain decoders against what a benchmark builds of them: parameters
exactly, operations by torch's counter."""

from __future__ import annotations

from typing import Any

import pytest

from bench_runner.models.architecture import kind_of
from bench_runner.models.architecture_base import TextTransformer, read_architecture
from bench_runner.recipe_flops import TRAIN_OVER_FORWARD, count_flops
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
SAMPLES, TOKENS = 2, 24
MODELS: list[tuple[str, str, dict[str, Any]]] = [
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
]


@pytest.mark.torch
@pytest.mark.parametrize(("name", "family", "arguments"), MODELS)
def test_parameters_and_operations(name: str, family: str, arguments: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from torch.utils.flop_counter import FlopCounterMode

    from bench_runner.worker.models import build_model, parameter_count

    recipe = own_recipe(name, family=family, **arguments)
    found = count_flops(recipe)
    # Without fused attention, of which the counter knows nothing on a CPU.
    model = build_model(recipe, "eager")
    assert found.parameters == parameter_count(model)
    tokens = torch.full((SAMPLES, TOKENS), 5)
    with FlopCounterMode(display=False) as counter:
        model(input_ids=tokens, labels=tokens).loss.backward()
    trained = counter.get_total_flops() / SAMPLES
    assert TRAIN_OVER_FORWARD * found.forward_full.total == pytest.approx(trained, rel=1e-3)


def built(name: str, **arguments: Any) -> TextTransformer:
    kind = kind_of(name)
    assert kind is not None
    architecture = read_architecture(kind, arguments, where="here, key")
    assert isinstance(architecture, TextTransformer)
    return architecture


def test_shared_layers_are_held_once_and_computed_each() -> None:
    one = own_recipe("AlbertConfig", family="encoder", **SMALL)
    apart = own_recipe("AlbertConfig", family="encoder", **SMALL, num_hidden_groups=3)
    fewer = own_recipe("AlbertConfig", family="encoder", **{**SMALL, "num_hidden_layers": 1})
    assert count_flops(one).parameters == count_flops(fewer).parameters
    assert count_flops(one).parameters < count_flops(apart).parameters
    assert count_flops(one).forward_full == count_flops(apart).forward_full
    assert count_flops(one).forward_full.attention == 3 * count_flops(fewer).forward_full.attention


def test_an_encoder_of_llama_s_layers_looks_both_ways() -> None:
    both = count_flops(own_recipe("EuroBertConfig", family="encoder", **GROUPED))
    back = count_flops(own_recipe("LlamaConfig", **GROUPED))
    assert both.forward_full.attention == back.forward_full.attention
    assert both.forward_lowest.attention == 2 * back.forward_lowest.attention


@pytest.mark.parametrize(
    ("name", "arguments", "longest", "read_by_output"),
    [
        ("electra", {"embedding_size": 32}, 512, 32),
        ("albert", {}, 512, 128),
        ("distilbert", {}, 512, 768),
        ("esm", {"position_embedding_type": "rotary"}, None, 768),
        ("esm", {"pad_token_id": 0}, 1025, 768),
        ("eurobert", {}, None, 768),
        ("opt", {"hidden_size": 1024, "word_embed_proj_dim": 512}, 2048, 512),
        ("opt", {"hidden_size": 1024, "word_embed_proj_dim": None}, 2048, 1024),
        ("falcon", {"ffn_hidden_size": None, "num_kv_heads": None}, None, 4544),
    ],
)
def test_where_positions_end_and_what_the_output_reads(
    name: str, arguments: dict[str, Any], longest: int | None, read_by_output: int
) -> None:
    architecture = built(name, **arguments)
    assert (architecture.longest, architecture.output_size) == (longest, read_by_output)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("electra", {"embedding_size": 0}, "'embedding_size': is 0; write a whole number from 1"),
        ("electra", {"embedding_size": -1}, "'embedding_size': is -1"),
        ("electra", {"embedding_size": "128"}, "'embedding_size': is '128'"),
        ("electra", {"embedding_size": 10**9}, "'embedding_size': is 1000000000"),
        ("albert", {"num_hidden_groups": 13}, "is 13, more than the 12 layers"),
        ("albert", {"num_hidden_groups": 0}, "'num_hidden_groups': is 0"),
        ("albert", {"inner_group_num": 2}, "write more num_hidden_layers"),
        ("granitemoehybrid", {"num_local_experts": 8}, "only models without are counted"),
        ("granitemoehybrid", {"layer_types": ["mamba"] * 32}, "names others than attention"),
        ("granitemoehybrid", {"layer_types": ["attention"]}, "names 1 layers of 32"),
        ("granitemoehybrid", {"layer_types": "attention"}, "write a list of words, one a layer"),
        ("granitemoehybrid", {"layer_types": [1] * 32}, "write a list of words, one a layer"),
        ("esm", {"position_embedding_type": "relative_key"}, "write one of 'absolute', 'rotary'"),
        ("esm", {"pad_token_id": 33}, "none of the vocabulary's 33 tokens"),
        ("esm", {"pad_token_id": -1}, "'pad_token_id': is -1"),
        (
            "esm",
            {"position_embedding_type": "rotary", "hidden_size": 36, "num_attention_heads": 12},
            "heads of 3 elements",
        ),
        ("opt", {"word_embed_proj_dim": -512}, "'word_embed_proj_dim': is -512"),
        ("opt", {"word_embed_proj_dim": True}, "'word_embed_proj_dim': is True"),
        ("bloom", {"n_inner": 100}, "'n_inner': is 100, but the library always builds 4 x 64"),
        ("mpt", {"expansion_ratio": 8}, "is 8, but the library always builds 4 x 2048"),
        ("falcon", {"new_decoder_architecture": True, "num_kv_heads": 72}, "more than the 71"),
        ("falcon", {"new_decoder_architecture": True, "num_kv_heads": 2}, "does not divide 71"),
        ("gptj", {"n_embd": 512}, "'rotary_dim': is 64, more than the 32 elements of a head"),
        ("gptj", {"rotary_dim": 0}, "'rotary_dim': is 0"),
    ],
)
def test_what_cannot_be_built_is_refused(name: str, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        built(name, **arguments)
    assert str(caught.value).startswith("here, key '") and "\n" not in str(caught.value)
