"""What a file says that changes a step's time and no count: dropout, masks, activations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from advisor.prediction.model.targets import Ask
from advisor.prediction.model.timed_keys import ACTIVATIONS, drops, masked_share
from advisor.prediction.model.workload import workload_of
from advisor.prediction.physics.step_terms import attention_squares
from bench_runner.models.model_types import build, model_types
from tests.prediction.configs_for_tests import PUBLISHED
from tests.prediction.small_models_for_tests import (
    BERT,
    COMPILED,
    GEMMA_3,
    LLAMA,
    NOT_COMPILED,
    OPT,
    changed,
    columns,
    target,
    term,
)


def test_windows_and_biases_by_distance_are_masks(tmp_path: Path) -> None:
    long = Ask(batch_size=64, tokens=1e9, sequence_length=4096, precision="bf16")
    gemma = target(tmp_path, GEMMA_3, long)
    assert gemma.workload.masked_share == pytest.approx(22 / 26)
    assert gemma.recipe is not None
    assert gemma.recipe.model.arguments["sliding_window"] == 512
    found = columns(gemma)
    squares = attention_squares(found, np.array([True]))[0]
    assert squares == pytest.approx(0.5 * 4 / 26 + 1.8 * 22 / 26)
    # Within the window there is nothing to hide but what comes later.
    assert target(tmp_path, GEMMA_3 | {"sliding_window": 8192}, long).workload.masked_share == 0.0
    every = ["full_attention"] * 13 + ["sliding_attention"] * 13
    half = target(tmp_path, GEMMA_3 | {"layer_types": every}, long)
    assert half.workload.masked_share == 0.5


OTHERS = {key: value for key, value in LLAMA.items() if key != "model_type"}
OTHERS["num_key_value_heads"] = 8


@pytest.mark.parametrize("kind", ["gemma3_text", "exaone4"])
@pytest.mark.parametrize(
    ("said", "key"),
    [
        ({"sliding_window": 0}, "sliding_window"),
        ({"sliding_window": -5}, "sliding_window"),
        ({"sliding_window": "512"}, "sliding_window"),
        ({"sliding_window": True}, "sliding_window"),
        ({"sliding_window": 0.5}, "sliding_window"),
        ({"sliding_window": 10**30}, "sliding_window"),
        ({"sliding_window": None, "layer_types": ["sliding_attention"] * 4}, "sliding_window"),
        ({"layer_types": "full_attention"}, "layer_types"),
        ({"layer_types": ["local"] * 4}, "layer_types"),
        ({"layer_types": []}, "layer_types"),
        ({"layer_types": 5, "sliding_window": None}, "layer_types"),
        ({"layer_types": ["full_attention"] * 3, "num_hidden_layers": 4.0}, "layer_types"),
    ],
)
def test_a_window_that_the_library_would_not_build_is_refused_in_one_line(
    kind: str, said: dict[str, Any], key: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=f"config.json, key '{key}': .*; write ") as refused:
        target(tmp_path, OTHERS | {"model_type": kind} | said)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", [name for name, kind in model_types().items() if kind.window])
def test_windows_where_nothing_is_said_are_the_library_s(name: str) -> None:
    library = pytest.importorskip("transformers")
    built = getattr(library, model_types()[name].config_class)(num_hidden_layers=13)
    layers = getattr(built, "layer_types", ["sliding_attention"] * 13)
    share = layers.count("sliding_attention") / 13
    model = build(name, num_hidden_layers=13)
    assert masked_share(model, {}, built.sliding_window, where="here") == pytest.approx(share)
    assert masked_share(model, {}, built.sliding_window - 1, where="here") == 0.0


@pytest.mark.parametrize("kind", ["gemma3_text", "olmo3", "cohere2", "exaone4"])
def test_a_window_of_null_is_none_in_what_is_built_too(kind: str, tmp_path: Path) -> None:
    """Where the recipe said nothing, the library would take its own of 4,096 tokens."""
    long = Ask(batch_size=64, tokens=1e9, sequence_length=8192, precision="bf16")
    found = target(tmp_path, OTHERS | {"model_type": kind, "sliding_window": None}, long)
    assert found.workload.masked_share == 0.0
    assert found.recipe is not None
    assert found.recipe.model.arguments["layer_types"] == ["full_attention"] * 4


def test_a_rectified_layer_keeps_half_of_what_is_inside(tmp_path: Path) -> None:
    plain = target(tmp_path, OPT | {"activation_function": "gelu"})
    rectified = target(tmp_path, OPT)
    fewer = plain.workload.layer_elements - rectified.workload.layer_elements
    assert fewer == 512 * 12 * 3072
    assert plain.recipe is not None
    assert plain.recipe.model.arguments["activation_function"] == "gelu"


@pytest.mark.parametrize("value", [5, ["relu"], {"a": 1}, True, "", "ReLU", "nonsense"])
def test_an_activation_that_the_library_has_not_is_refused(value: object, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'activation_function': is .*; write one that the") as no:
        target(tmp_path, OPT | {"activation_function": value})
    assert "\n" not in str(no.value)
    with pytest.raises(ValueError, match=r"recipe 'opt-125m', architecture key 'activation_func"):
        workload_of(changed("opt-125m", {"activation_function": value}))


def test_the_activations_are_the_library_s() -> None:
    activations = pytest.importorskip("transformers.activations")
    assert set(ACTIVATIONS.split()) == set(activations.ACT2CLS)


ALBERT, ELECTRA = PUBLISHED["albert-base-v2"], PUBLISHED["electra-small"]
ESM_2 = PUBLISHED["esm2-650m"]


def test_bert_drops_behind_its_embeddings_and_twice_a_layer(tmp_path: Path) -> None:
    workload = target(tmp_path, BERT).workload
    assert workload.dropped_elements == 512 * 768 * 25
    assert workload.dropped_scores == 12 * 512**2 * 12


@pytest.mark.parametrize(
    ("content", "layers_and_one"),
    [
        (BERT | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0}, 0),
        (ALBERT, 0),
        (ESM_2 | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}, 0),
        (ALBERT | {"hidden_dropout_prob": 0.1}, 25),
        (ELECTRA, 25),
    ],
)
def test_a_file_says_whether_anything_is_dropped(
    content: dict[str, Any], layers_and_one: int, tmp_path: Path
) -> None:
    found = target(tmp_path, content)
    width = content["hidden_size"]
    assert found.workload.dropped_elements == 512 * width * layers_and_one


@pytest.mark.parametrize("value", [-0.1, 1.0, "a tenth", True, [0.1], 1e400])
def test_a_share_that_is_none_is_refused_in_one_line(value: object, tmp_path: Path) -> None:
    mend = r"key 'hidden_dropout_prob': is .*; write a number from 0 to below 1"
    with pytest.raises(ValueError, match=mend) as refused:
        target(tmp_path, BERT | {"hidden_dropout_prob": value})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", [n for n, kind in model_types().items() if kind.own_class])
def test_what_is_dropped_where_nothing_is_said_is_the_library_s(name: str) -> None:
    library, kind = pytest.importorskip("transformers"), model_types()[name]
    built = getattr(library, kind.config_class)()
    hidden = (
        *("hidden_dropout_prob", "hidden_dropout", "resid_pdrop", "residual_dropout"),
        *("dropout", "dropout_rate"),
    )
    scores = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop", "dropout_rate")
    embeddings = ("embd_pdrop", "embedding_dropout")
    inner = ("activation_dropout", "mlp_dropout", "dropout_rate")

    def any_of(keys: tuple[str, ...]) -> bool:
        return any(getattr(built, key, 0.0) > 0 for key in keys)

    every = dict.fromkeys(("encoder_layerdrop", "decoder_layerdrop"), 0.0)
    found = drops(kind, every, where="here")
    assert (found.hidden, found.scores) == (any_of(hidden), any_of(scores))
    assert found.embeddings == any_of(embeddings if hasattr(built, "embd_pdrop") else hidden)
    assert found.inner == any_of(inner)


GPT2: dict[str, Any] = {
    "model_type": "gpt2",
    "n_embd": 768,
    "n_layer": 12,
    "n_head": 12,
    "vocab_size": 50257,
}
BART: dict[str, Any] = {
    "model_type": "bart",
    "d_model": 512,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_ffn_dim": 2048,
    "decoder_ffn_dim": 1024,
    "vocab_size": 32000,
    "is_encoder_decoder": True,
}


def test_gpt_2_says_by_itself_what_is_dropped_behind_its_embeddings(tmp_path: Path) -> None:
    each = 512 * 768
    assert target(tmp_path, GPT2).workload.dropped_elements == 25 * each
    without = target(tmp_path, GPT2 | {"embd_pdrop": 0.0})
    assert without.workload.dropped_elements == 24 * each
    assert without.recipe is not None
    assert without.recipe.model.arguments["embd_pdrop"] == 0.0
    alone = target(tmp_path, GPT2 | {"resid_pdrop": 0, "attn_pdrop": 0})
    assert alone.workload.dropped_elements == each
    assert alone.workload.dropped_scores == 0.0
    none = {"resid_pdrop": 0, "attn_pdrop": 0, "embd_pdrop": 0}
    assert target(tmp_path, GPT2 | none).workload.dropped_elements == 0


def test_what_is_dropped_inside_the_feed_forward_layers_is_counted(tmp_path: Path) -> None:
    """As BART's own files have it, and ModernBERT's class calls mlp_dropout."""
    plain = target(tmp_path, BART).workload.dropped_elements
    inside = target(tmp_path, BART | {"activation_dropout": 0.1})
    assert inside.workload.dropped_elements - plain == 512 * (2 * 2048 + 3 * 1024)
    assert inside.recipe is not None
    assert inside.recipe.model.arguments["activation_dropout"] == 0.1
    modern = BERT | {"model_type": "modernbert"}
    found = target(tmp_path, modern | {"mlp_dropout": 0.1}).workload
    assert found.dropped_elements == 512 * 12 * 3072
    # OPT's code passes it over.
    opt = target(tmp_path, OPT | {"activation_dropout": 0.1}).workload
    assert opt.dropped_elements == 512 * 24 * 768


@pytest.mark.parametrize(
    ("content", "key"),
    [
        (OPT | {"layerdrop": 0.1}, "layerdrop"),
        (LLAMA | {"layerdrop": 0.1}, "layerdrop"),
        (BART | {"encoder_layerdrop": 0.05}, "encoder_layerdrop"),
        (BART | {"decoder_layerdrop": 0.05}, "decoder_layerdrop"),
        # Where the file says nothing this library leaves some out.
        (BART | {"model_type": "m2m_100", "encoder_layerdrop": 0}, "decoder_layerdrop"),
    ],
)
def test_layers_that_are_left_out_at_random_are_refused(
    content: dict[str, Any], key: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=f"key '{key}': .*at random.*; write 0") as refused:
        target(tmp_path, content)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("key", ["hidden_dropout", "resid_pdrop", "dropout"])
def test_a_model_whose_code_drops_nothing_hidden_is_not_predicted_as_if_it_did(
    key: str, tmp_path: Path
) -> None:
    """The library's Llama passes the key over, and so it is measured without."""
    llama = target(tmp_path, LLAMA | {key: 0.1, "attention_dropout": 0.1})
    assert llama.workload.dropped_elements == 0.0
    assert llama.workload.dropped_scores > 0.0
    assert llama.recipe is not None
    assert "hidden_dropout" not in llama.recipe.model.arguments


def test_a_compiler_draws_a_number_for_each_element(tmp_path: Path) -> None:
    """On an H100 the difference was 54 ms of a step of 256 samples, by torch's own kernel 9 of 667
    (docs/measurements.md)."""
    bert = target(tmp_path, BERT, Ask(batch_size=256, tokens=1e9, sequence_length=512))
    alone = term(bert, "dropout", COMPILED)
    without = target(
        tmp_path,
        BERT | {"attention_probs_dropout_prob": 0.0},
        Ask(batch_size=256, tokens=1e9, sequence_length=512),
    )
    assert 0.045 < term(without, "dropout", COMPILED) < alone < 0.09
    assert term(without, "dropout", NOT_COMPILED) < 0.2 * alone
