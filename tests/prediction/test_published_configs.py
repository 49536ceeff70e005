"""Published models by their config.json: what is counted of each, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.prediction.model.askable_models import Ask
from tests.prediction.configs_for_tests import PARAMETERS, PUBLISHED, read


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_count_is_the_library_s_and_no_key_is_passed_over(name: str, tmp_path: Path) -> None:
    found = read(tmp_path, PUBLISHED[name])
    assert found.workload.parameters == PARAMETERS[name]
    assert not [words for words in found.assumptions if "unknown here" in words]


@pytest.mark.torch
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_benchmark_builds_as_many_parameters(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from bench_runner.worker.models import build_model, parameter_count

    recipe = read(tmp_path, PUBLISHED[name]).recipe
    assert recipe is not None
    with torch.device("meta"):
        assert parameter_count(build_model(recipe, None)) == PARAMETERS[name]


@pytest.mark.parametrize(
    ("name", "words"),
    [  # both tables of the vocabulary among what a token uses
        ("mixtral-8x7b", "12.9B of its 46.7B"),
        ("qwen3-30b-a3b", "3.35B of its 30.5B"),
        ("qwen1.5-moe-a2.7b", "2.69B of its 14.3B"),
        ("olmoe-1b-7b", "1.28B of its 6.92B"),
        ("deepseek-v3", "37.6B of its 671B"),
        ("deepseek-moe-16b", "2.83B of its 16.4B"),
    ],
)
def test_how_much_of_a_mixture_a_token_uses_is_said(name: str, words: str, tmp_path: Path) -> None:
    said = read(tmp_path, PUBLISHED[name]).assumptions[0]
    assert said == f"a token passes through {words} parameters"


@pytest.mark.parametrize(
    ("name", "most"),
    [
        *(("esm2-650m", None), ("eurobert-210m", None), ("falcon-7b", None)),
        *(("esm-1b", 1024), ("albert-base-v2", 512), ("distilbert", 512), ("bart-large", 1024)),
    ],
)
def test_turned_positions_go_on_and_learnt_ones_end(
    name: str, most: int | None, tmp_path: Path
) -> None:
    longer = Ask(batch_size=512, tokens=1e9, sequence_length=2048)
    if most is None:
        assert read(tmp_path, PUBLISHED[name], longer).workload.tokens == 2048
        return
    with pytest.raises(ValueError, match=f"longer than the model's {most:,} positions"):
        read(tmp_path, PUBLISHED[name], longer)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"frob_depth": 2}, "that a key unknown here changes no work: 'frob_depth'"),
        ({"num_mtp_modules": 2}, "one token predicted at a time, as the library trains it"),
        ({"architectures": ["OlmoEncoderModel"]}, "not as 'OlmoEncoderModel'"),
        ({"layer_colours": True, "frob\nnicate": [3]}, "'layer_colours', 'frob?nicate'"),
        ({f"zz{n}": 1 for n in range(9)}, "'zz4', 'zz5' and 3 more"),
        ({"attn_config": {"alibi": True}}, "attention as fast as without ALiBi's biases"),
        # Switched off, of the program that stored it, or how single elements are computed.
        ({"mtp_depth": 0, "layer_colours": False, "rope_scaling": {"factor": 2}}, None),
        ({"_name_or_path": "x", "eos_token_id": [1, 2], "hidden_act": "silu"}, None),
    ],
)
def test_a_key_that_is_not_known_is_never_passed_over_in_silence(
    change: dict[str, Any], words: str | None, tmp_path: Path
) -> None:
    plain = read(tmp_path, PUBLISHED["olmo-1b"]).assumptions
    said = read(tmp_path, PUBLISHED["olmo-1b"] | change).assumptions
    further = [each for each in said if each not in plain]
    assert [words is not None and words in each for each in further] == [True] * (words is not None)
