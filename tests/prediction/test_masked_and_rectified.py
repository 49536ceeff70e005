"""What is masked or rectified: what a file says of it, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from advisor.prediction.model.targets import Run
from advisor.prediction.model.timed_keys import ACTIVATIONS, masked_share
from advisor.prediction.model.workload import workload_of
from advisor.prediction.physics.step_terms import attention_squares
from bench_runner.models.model_types import build, model_types
from tests.prediction.small_models_for_tests import (
    GEMMA_3,
    LLAMA,
    OPT,
    changed,
    columns,
    target,
)


def test_windows_and_biases_by_distance_are_masks(tmp_path: Path) -> None:
    long = Run(batch_size=64, tokens=1e9, sequence_length=4096, precision="bf16")
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


@pytest.mark.parametrize("kind", ["gemma3_text", "olmo3", "cohere2", "exaone4"])
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


@pytest.mark.parametrize("pattern", [0, -1, "LLLG", True, 2.5, [4]])
def test_every_how_many_layers_is_a_whole_number_where_no_list_says_it(
    pattern: object, tmp_path: Path
) -> None:
    exaone = OTHERS | {"model_type": "exaone4", "sliding_window": 256}
    exaone["sliding_window_pattern"] = pattern
    with pytest.raises(ValueError, match=r"key 'sliding_window_pattern': is .*; write a whole"):
        target(tmp_path, exaone)
    # As EXAONE's own file has it: the list says all, and is what is built.
    kinds = ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]
    listed = target(tmp_path, exaone | {"layer_types": kinds})
    assert listed.workload.masked_share == 0.75
    assert listed.recipe is not None
    assert "sliding_window_pattern" not in listed.recipe.model.arguments


@pytest.mark.parametrize("name", [name for name, kind in model_types().items() if kind.window])
def test_windows_where_nothing_is_said_are_the_library_s(name: str) -> None:
    library = pytest.importorskip("transformers")
    built = getattr(library, model_types()[name].config_class)(num_hidden_layers=13)
    layers = getattr(built, "layer_types", ["sliding_attention"] * 13)
    share = layers.count("sliding_attention") / 13
    model = build(name, num_hidden_layers=13)
    assert masked_share(model, {}, built.sliding_window, where="here") == pytest.approx(share)
    assert masked_share(model, {}, built.sliding_window - 1, where="here") == 0.0


@pytest.mark.parametrize("name", ["modernbert", "modernbert-decoder"])
def test_modernbert_s_window_is_half_of_what_its_file_says(name: str) -> None:
    """The library takes as many tokens to either side, and writes a mask from there on."""
    library = pytest.importorskip("transformers")
    model = build(name)
    window = getattr(library, model.kind.config_class)().sliding_window
    assert masked_share(model, {}, window - 1, where="here") == 0.0
    assert masked_share(model, {}, window, where="here") == pytest.approx(14 / 22)


def test_gemma_2_looks_at_a_window_in_every_second_layer(tmp_path: Path) -> None:
    long = Run(batch_size=64, tokens=1e9, sequence_length=8192, precision="bf16")
    gemma = target(tmp_path, GEMMA_3 | {"model_type": "gemma2", "sliding_window": 1024}, long)
    assert gemma.workload.masked_share == 0.5
    assert gemma.recipe is not None
    assert gemma.recipe.model.arguments["sliding_window"] == 1024


def test_a_pattern_that_the_class_does_not_read_is_not_counted(tmp_path: Path) -> None:
    olmo = OTHERS | {"model_type": "olmo3", "sliding_window": 256, "sliding_window_pattern": 2}
    assert target(tmp_path, olmo).workload.masked_share == 0.75


@pytest.mark.parametrize(("kind", "windowed"), [("full_attention", 0), ("sliding_attention", 1)])
def test_a_window_that_no_layer_has_is_not_told_of(
    kind: str, windowed: int, tmp_path: Path
) -> None:
    gemma = target(tmp_path, GEMMA_3 | {"layer_types": [kind] * 26, "sliding_window": 256})
    assert sum("its window of 256 only masked" in each for each in gemma.assumptions) == windowed


@pytest.mark.parametrize("kind", ["gemma3_text", "olmo3", "cohere2", "exaone4"])
def test_a_window_of_null_is_none_in_what_is_built_too(kind: str, tmp_path: Path) -> None:
    """Where the recipe said nothing, the library would take its own of 4,096 tokens."""
    long = Run(batch_size=64, tokens=1e9, sequence_length=8192, precision="bf16")
    found = target(tmp_path, OTHERS | {"model_type": kind, "sliding_window": None}, long)
    assert found.workload.masked_share == 0.0
    assert found.recipe is not None
    assert found.recipe.model.arguments["layer_types"] == ["full_attention"] * 4


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sliding_window", "512"),
        ("sliding_window", 0),
        ("sliding_window", 512.0),
        ("sliding_window_pattern", 0),
        ("layer_types", ["full_attention"] * 3),
        ("layer_types", 7),
    ],
)
def test_a_recipe_with_a_window_that_is_none_is_refused(key: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"recipe 'gemma-3-1b', architecture key '{key}': .*write"):
        workload_of(changed("gemma-3-1b", {key: value}))


def test_a_rectified_layer_keeps_half_of_what_is_inside(tmp_path: Path) -> None:
    plain = target(tmp_path, OPT | {"activation_function": "gelu"})
    rectified = target(tmp_path, OPT)
    fewer = plain.workload.layer_elements - rectified.workload.layer_elements
    assert fewer == 512 * 12 * 3072
    assert plain.recipe is not None
    assert plain.recipe.model.arguments["activation_function"] == "gelu"


def test_pegasus_is_rectified_where_its_file_says_so(tmp_path: Path) -> None:
    """The library takes a GELU where a file says nothing."""
    pegasus = {
        "model_type": "pegasus",
        "d_model": 512,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 8,
        "decoder_attention_heads": 8,
        "encoder_ffn_dim": 2048,
        "decoder_ffn_dim": 2048,
        "vocab_size": 32000,
    }
    silent = target(tmp_path, pegasus).workload.layer_elements
    rectified = target(tmp_path, pegasus | {"activation_function": "relu"}).workload.layer_elements
    assert silent - rectified == 512 * (2 + 2) * 2048


@pytest.mark.parametrize("kind", ["arcee", "persimmon", "nanochat"])
def test_the_square_of_a_relu_is_one_where_the_library_takes_it(kind: str, tmp_path: Path) -> None:
    squared = target(tmp_path, LLAMA | {"model_type": kind}).workload.layer_elements
    other = target(tmp_path, LLAMA | {"model_type": kind, "hidden_act": "silu"})
    assert other.workload.layer_elements - squared == 512 * 4 * 2816
    assert other.recipe is not None
    assert other.recipe.model.arguments["hidden_act"] == "silu"


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
