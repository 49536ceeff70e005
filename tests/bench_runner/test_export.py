"""The winner's files, where the recipe leaves out what the library knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_runner import export, space
from bench_runner.recipes import ModelSource, load_recipes
from bench_runner.records import Measurement

WINNER = Measurement(
    measurement_id="m",
    recipe_id="own",
    recipe_hash=None,
    gpu="NVIDIA H200",
    gpu_count=1,
    method="naive",
    settings=replace(
        space.settings_for(free_lunch=False), micro_batch_size=1, gradient_accumulation_steps=1024
    ),
    status="ok",
    reason=None,
    training_days=1.0,
    training_days_low=1.0,
    training_days_high=1.0,
    timing="synchronised",
    source_id="test",
    measured_on=None,
)


@pytest.mark.parametrize(
    ("config_class", "arguments", "vocabulary"),
    [
        ("GPT2Config", {"vocab_size": 512}, "512"),
        ("GPT2Config", {}, "50257"),
        ("MambaConfig", {}, "50280"),
        ("BloomConfig", {}, "transformers.BloomConfig(**{'use_cache': False}).vocab_size"),
    ],
)
def test_the_random_tokens_are_of_the_model_s_vocabulary(
    tmp_path: Path, config_class: str, arguments: dict[str, Any], vocabulary: str
) -> None:
    pythia = next(recipe for recipe in load_recipes() if recipe.recipe_id == "pythia-160m")
    model = ModelSource(config_class=config_class, arguments=arguments)
    export.write(replace(pythia, model=model), WINNER, tmp_path)
    assert f"torch.randint({vocabulary}, (2049,))" in (tmp_path / "train.py").read_text()
