"""Model types that are counted as another's kin, against the library's own model of each."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from advisor.prediction.model.hf_config import target_of_config
from advisor.prediction.model.other_work import LANGUAGE_OF, OTHER_WORK
from advisor.prediction.model.targets import Run
from bench_runner.models.model_types import model_types

DECODERS = (
    *("ministral3", "cwm", "granite_swa", "hyperclovax", "vaultgemma", "jais2", "persimmon"),
    *("openai-gpt", "xglm", "granitemoe_swa", "granitemoeshared", "phimoe", "minimax_m2"),
    *("mellum", "flex_olmo"),
)
ENCODERS = ("megatron-bert", "data2vec-text", "roberta-prelayernorm", "xlm-roberta-xl")
PAIRS = ("bart", "plbart", "mbart", "m2m_100", "pegasus", "marian", "blenderbot")
IMAGES = ("vit_msn", "data2vec-vision")


@pytest.mark.torch
@pytest.mark.parametrize("model_type", [*DECODERS, *ENCODERS, *PAIRS, *IMAGES])
def test_a_kind_is_counted_as_the_library_builds_it(model_type: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

    layers = {"xglm": "num_layers", "openai-gpt": "n_layer"}.get(model_type, "num_hidden_layers")
    changed = {"encoder_layers": 3, "decoder_layers": 6} if model_type in PAIRS else {layers: 6}
    if model_type == "m2m_100":  # which would leave layers out
        changed |= {"encoder_layerdrop": 0, "decoder_layerdrop": 0}
    config = transformers.AutoConfig.for_model(model_type, **changed)
    path = tmp_path / "config.json"
    content = {**json.loads(config.to_json_string(use_diff=False)), "model_type": model_type}
    path.write_text(json.dumps(content))
    tokens, images = (None, 1e9) if model_type in IMAGES else (1e9, None)
    found = target_of_config(path, Run(batch_size=512, tokens=tokens, images=images))
    auto = transformers.AutoModelForCausalLM
    if model_type in ENCODERS:
        auto = transformers.AutoModelForMaskedLM
    elif model_type in PAIRS:
        auto = transformers.AutoModelForSeq2SeqLM
    elif model_type in IMAGES:
        auto = transformers.AutoModelForImageClassification
    with torch.device("meta"):
        model = auto.from_config(config)
    own = sum(parameter.numel() for parameter in model.parameters())
    assert found.workload.parameters == pytest.approx(own, rel=0.005)
    # No key that the library itself writes is passed over.
    assert not [words for words in found.assumptions if "unknown here" in words]


@pytest.mark.parametrize(
    ("model_type", "words"),
    [
        ("deepseek_v32", "chooses the tokens that it looks at"),
        ("gemma4_text", "layers that share keys"),
        ("llama4", "with experts and without in turn"),
        ("llama4_text", "with experts and without in turn"),
        ("qwen3_5_text", "layers of recurrence among those of attention"),
        ("xlstm", "layers of recurrence are counted as Mamba's alone"),
        ("ibert", "trained in whole numbers"),
        ("bitnet", "three values a weight"),
        ("lfm2", "short convolutions among layers of attention"),
        ("zamba2", "layers of recurrence among those of attention"),
        ("nemotron_h", "layers of recurrence among those of attention"),
        ("falcon_h1", "layers of recurrence among those of attention"),
        ("mamba2", "write mamba with its hidden_size"),
        ("minicpm3", "keys through a narrow layer"),
        ("doge", "attention learns what to leave out"),
        ("longformer", "not one of every token to every other"),
        ("fnet", "not one of every token to every other"),
        ("mobilebert", "its layers are not BERT's"),
        ("bit", "timm name alone; write one, such as resnetv2_50x1_bit"),
    ],
)
def test_a_kind_of_the_library_s_is_no_slip_of_the_pen(
    model_type: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": model_type, "hidden_size": 64}))
    with pytest.raises(ValueError, match=words) as caught:
        target_of_config(path, Run(batch_size=512, tokens=1e9))
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("key", ["num_experts", "n_routed_experts", "moe_num_experts"])
def test_a_mixture_that_is_not_counted_is_sent_to_the_nearest_that_is(
    key: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    for value, words in ((64, "write qwen3_moe with its sizes"), (1, "give the size instead")):
        path.write_text(json.dumps({"model_type": "hunyuan_v1_moe", key: value}))
        with pytest.raises(ValueError, match=words):
            target_of_config(path, Run(batch_size=512, tokens=1e9))


@pytest.mark.parametrize("model_type", ["olmo4", "llama5", "phi4", "gemma4", "qwen", "xlm"])
def test_a_newer_kind_is_no_slip_of_the_pen(model_type: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": model_type, "hidden_size": 64}))
    with pytest.raises(ValueError, match="model_type") as caught:
        target_of_config(path, Run(batch_size=512, tokens=1e9))
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("kind", sorted(OTHER_WORK))
def test_a_kind_that_is_not_counted_is_told_with_what_may_be_asked(kind: str) -> None:
    assert re.search(r"; (the|its|write|--model)|: write", OTHER_WORK[kind])
    for word in re.findall(r"write ([a-z0-9_]+)", OTHER_WORK[kind]):
        assert word in model_types() or word == "one"


BART = {
    "model_type": "bart",
    "architectures": ["BartModel"],
    "d_model": 1024,
    "encoder_layers": 12,
    "decoder_layers": 12,
    "num_hidden_layers": 12,
    "max_position_embeddings": 1024,
    "is_encoder_decoder": True,
    "normalize_before": False,
    "normalize_embedding": True,
    "encoder_layerdrop": 0.0,
    "scale_embedding": False,
    "classif_dropout": 0.1,
}


def written(folder: Path, **changes: object) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(BART | changes))
    return path


def test_bart_writes_as_much_as_it_reads(tmp_path: Path) -> None:
    found = target_of_config(written(tmp_path), Run(batch_size=512, tokens=1e9))
    assert found.workload.parameters == 406_291_456  # BART large
    assert any("writes 1,024 tokens a sample" in words for words in found.assumptions)
    assert not any("unknown here" in words for words in found.assumptions)
    assert found.recipe is not None and found.recipe.support.fsdp_wrap == (
        "BartEncoderLayer",
        "BartDecoderLayer",
    )
    # 3 x 2 operations a parameter and token of either side, a third of them twice.
    per_token = found.workload.flops / 1e9 / 406e6
    assert 6.0 < per_token < 9.0


@pytest.mark.parametrize("kind", [kind for kind in PAIRS if kind != "t5"])
def test_tables_of_words_that_are_not_shared_are_refused(kind: str, tmp_path: Path) -> None:
    """The library builds three or four tables then, half of a small model."""
    told: dict[str, object] = {"model_type": kind, "decoder_layerdrop": 0}
    told |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 16)
    key = "share_encoder_decoder_embeddings" if kind == "marian" else "tie_word_embeddings"
    with pytest.raises(ValueError, match=f"'{key}': says a table of words for each") as refused:
        target_of_config(written(tmp_path, **told, **{key: False}), Run(batch_size=64, tokens=1e9))
    assert "\n" not in str(refused.value)
    shared = written(tmp_path, **told, **{key: True})
    assert target_of_config(shared, Run(batch_size=64, tokens=1e9)).workload.parameters > 1e8


def test_bart_s_positions_end(tmp_path: Path) -> None:
    longer = Run(batch_size=512, tokens=1e9, sequence_length=2048)
    with pytest.raises(ValueError, match="longer than the model's 1,024 positions"):
        target_of_config(written(tmp_path), longer)
    endless = written(tmp_path, model_type="m2m_100", decoder_layerdrop=0.0)
    assert target_of_config(endless, longer).workload.tokens == 2048


def test_heads_that_do_not_divide_bart_s_width_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, decoder_attention_heads=7)
    with pytest.raises(ValueError, match="'decoder_attention_heads': is 7, which does not divide"):
        target_of_config(path, Run(batch_size=512, tokens=1e9))


@pytest.mark.parametrize("kind", sorted(map(str, LANGUAGE_OF)))
def test_the_language_model_of_one_that_sees_is_told_as_what_has_its_layers(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    parts = {"text_config": {"model_type": kind, "hidden_size": 64}, "vision_config": {"depth": 4}}
    path.write_text(json.dumps({"model_type": "a_model_that_sees", **parts}))
    mend = f"as a file, and write {LANGUAGE_OF[kind]} as its model_type"
    with pytest.raises(ValueError, match=mend):
        target_of_config(path, Run(batch_size=64, tokens=1e9))
    assert LANGUAGE_OF[kind] in model_types()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sparse_config": {"kernel_size": 32, "topk": 64}}, "'sparse_config': says something"),
        ({"attn_type_list": [1, 0]}, "'attn_type_list': layers of recurrence"),
        ({"attn_type_list": [1, 1], "use_qk_norm": True, "is_causal": True}, None),
    ],
)
def test_attention_that_is_not_the_plain_one_is_refused(
    change: dict[str, object], said: str | None, tmp_path: Path
) -> None:
    plain = {"model_type": "minicpm", "hidden_size": 64, "num_hidden_layers": 2}
    plain |= {"num_attention_heads": 4, "intermediate_size": 256, "vocab_size": 1000}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(plain | change))
    run = Run(batch_size=64, tokens=1e9)
    if said is None:
        assert not any("unknown" in words for words in target_of_config(path, run).assumptions)
        return
    with pytest.raises(ValueError, match=said):
        target_of_config(path, run)
