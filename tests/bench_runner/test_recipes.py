"""The recipes that ship: what they say, what they count, what their hash is of."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_runner.recipes import RECIPES_FOLDER, Recipe, load_recipes, recipe_hash

RECIPES = {recipe.recipe_id: recipe for recipe in load_recipes()}


class TestShippedRecipes:
    @pytest.mark.parametrize(
        ("recipe_id", "family", "batch", "steps", "length", "precision", "optimizer"),
        [  # Table 3 of the paper, steps in full
            ("pythia-160m", "decoder", 1024, 143000, 2049, "fp16", "adam"),
            ("pythia-410m", "decoder", 1024, 143000, 2049, "fp16", "adam"),
            ("pythia-1b", "decoder", 1024, 143000, 2049, "bf16", "adam"),
            ("pythia-2.8b", "decoder", 1024, 143000, 2049, "fp16", "adam"),
            ("pythia-6.9b", "decoder", 1024, 143000, 2049, "fp16", "adam"),
            ("roberta", "encoder", 8192, 500000, 512, "fp16", "adam"),
            ("mamba", "ssm", 128, 572204, 4096, "bf16", "adamw"),
            ("convnext-xlarge-22k", "convnet", 4096, 311940, 224, "fp32", "adamw"),
            ("vit", "vit", 4096, 311948, 224, "fp32", "adam"),
        ],
    )
    def test_table_3(
        self,
        recipe_id: str,
        family: str,
        batch: int,
        steps: int,
        length: int,
        precision: str,
        optimizer: str,
    ) -> None:
        recipe = RECIPES[recipe_id]
        training = recipe.training
        assert recipe.source == "paper-table3"
        assert recipe.family == family
        assert (training.batch_size, training.training_steps) == (batch, steps)
        assert (training.sequence_length or training.image_size) == length
        assert (training.precision, training.optimizer) == (precision, optimizer)
        assert training.learning_rate is not None

    @pytest.mark.torch
    def test_fsdp_wraps_layers_that_the_model_has(self) -> None:
        pytest.importorskip("transformers")
        torch = pytest.importorskip("torch")
        from bench_runner.worker.models import build_model

        for recipe in RECIPES.values():
            if recipe.model.timm is not None:
                assert not recipe.support.fsdp_wrap
                continue
            with torch.device("meta"):
                model = build_model(recipe, None)
            layers = {type(module).__name__ for module in model.modules()}
            assert set(recipe.support.fsdp_wrap) <= layers, recipe.recipe_id


class TestHash:
    def test_is_the_same_in_another_process(self) -> None:
        code = (
            "from bench_runner.recipes import *\n"
            "print([recipe_hash(r) for r in load_recipes() if r.recipe_id == 'pythia-1b'][0])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
        )
        assert done.stdout.strip() == recipe_hash(RECIPES["pythia-1b"])
        assert re.fullmatch("[0-9a-f]{12}", done.stdout.strip())

    def test_differs_between_recipes(self) -> None:
        assert len({recipe_hash(recipe) for recipe in RECIPES.values()}) == len(RECIPES)

    @given(
        st.sampled_from(["name", "source", "note", "recipe_id"]),
        st.text(min_size=1),
    )
    def test_words_do_not_count(self, field: str, text: str) -> None:
        recipe = RECIPES["vit"]
        reworded = replace(recipe, **{field: text})  # type: ignore[arg-type]
        assert recipe_hash(reworded) == recipe_hash(recipe)

    @pytest.mark.parametrize(
        ("field", "value", "counts"),
        [
            ("batch_size", 2048, True),
            ("training_steps", 1, True),
            ("sequence_length", 2048, True),
            ("precision", "fp16", True),
            ("optimizer", "adamw", True),
            ("max_grad_norm", 0.0, True),
            ("max_grad_norm", 0.5, False),
            ("learning_rate", 1.0, False),
            ("scheduler", "linear", False),
        ],
    )
    def test_what_changes_the_time_counts(self, field: str, value: object, counts: bool) -> None:
        recipe = RECIPES["pythia-1b"]
        changed: Recipe = replace(
            recipe,
            training=replace(recipe.training, **{field: value}),  # type: ignore[arg-type]
        )
        assert (recipe_hash(changed) != recipe_hash(recipe)) is counts


def test_shipped_files_carry_their_recipe_s_id() -> None:
    assert {path.stem for path in RECIPES_FOLDER.glob("*.toml")} == set(RECIPES)
