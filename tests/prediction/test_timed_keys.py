"""What a file says that changes a step's time and no count: dropout, masks, activations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.prediction.model.askable_models import Ask
from advisor.prediction.model.timed_keys import ACTIVATIONS, dropped_parts, masked_share
from bench_runner.models.model_types import build, model_types
from tests.prediction.configs_for_tests import read

SIZES: dict[str, Any] = {
    "hidden_size": 1024,
    "num_hidden_layers": 4,
    "num_attention_heads": 16,
    "intermediate_size": 2816,
    "vocab_size": 32000,
}
GEMMA_3: dict[str, Any] = SIZES | {
    "model_type": "gemma3_text",
    "num_hidden_layers": 26,
    "num_key_value_heads": 1,
    "sliding_window": 512,
}
LLAMA, OPT, BERT = ({"model_type": kind} for kind in ("llama", "opt", "bert"))
BART: dict[str, Any] = {"model_type": "bart", "is_encoder_decoder": True}


def test_windows_and_biases_by_distance_are_masks(tmp_path: Path) -> None:
    long = Ask(batch_size=64, tokens=1e9, sequence_length=4096, precision="bf16")
    gemma = read(tmp_path, GEMMA_3, long)
    assert gemma.workload.masked_share == pytest.approx(22 / 26)
    assert gemma.recipe is not None
    assert gemma.recipe.model.arguments["sliding_window"] == 512
    # Within the window there is nothing to hide but what comes later.
    assert read(tmp_path, GEMMA_3 | {"sliding_window": 8192}, long).workload.masked_share == 0.0
    every = ["full_attention"] * 13 + ["sliding_attention"] * 13
    half = read(tmp_path, GEMMA_3 | {"layer_types": every}, long)
    assert half.workload.masked_share == 0.5


OTHERS = SIZES | {"num_key_value_heads": 8}


@pytest.mark.parametrize("kind", ["gemma3_text", "exaone4"])
@pytest.mark.parametrize(
    ("said", "key"),
    [
        ({"sliding_window": 0}, "sliding_window"),
        ({"sliding_window": "512"}, "sliding_window"),
        ({"sliding_window": 10**30}, "sliding_window"),
        ({"sliding_window": None, "layer_types": ["sliding_attention"] * 4}, "sliding_window"),
        ({"layer_types": "full_attention"}, "layer_types"),
        ({"layer_types": ["local"] * 4}, "layer_types"),
        ({"layer_types": ["full_attention"] * 3, "num_hidden_layers": 4.0}, "layer_types"),
    ],
)
def test_a_window_that_the_library_would_not_build_is_refused_in_one_line(
    kind: str, said: dict[str, Any], key: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=f"config.json, key '{key}': .*; write ") as refused:
        read(tmp_path, OTHERS | {"model_type": kind} | said)
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
    found = read(tmp_path, OTHERS | {"model_type": kind, "sliding_window": None}, long)
    assert found.workload.masked_share == 0.0
    assert found.recipe is not None
    assert found.recipe.model.arguments["layer_types"] == ["full_attention"] * 4


@pytest.mark.parametrize("value", [5, ["relu"], "", "ReLU"])
def test_an_activation_that_the_library_has_not_is_refused(value: object, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'activation_function': is .*; write one that the") as no:
        read(tmp_path, OPT | {"activation_function": value})
    assert "\n" not in str(no.value)


def test_the_activations_are_the_library_s() -> None:
    activations = pytest.importorskip("transformers.activations")
    assert set(ACTIVATIONS.split()) == set(activations.ACT2CLS)


@pytest.mark.parametrize("value", [-0.1, 1.0, "a tenth", True])
def test_a_share_that_is_none_is_refused_in_one_line(value: object, tmp_path: Path) -> None:
    mend = r"key 'hidden_dropout_prob': is .*; write a number from 0 to below 1"
    with pytest.raises(ValueError, match=mend) as refused:
        read(tmp_path, BERT | {"hidden_dropout_prob": value})
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
    first = embeddings if hasattr(built, "embd_pdrop") else hidden
    expected = {"hidden": hidden, "scores": scores, "embeddings": first, "inner": inner}
    assert dropped_parts(kind, every, where="here") == {
        part: any_of(keys) for part, keys in expected.items()
    }


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
        read(tmp_path, content)
    assert "\n" not in str(refused.value)
