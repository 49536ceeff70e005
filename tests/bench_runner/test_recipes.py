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
    def test_the_paper_s_nine_their_siblings_and_models_that_many_train(self) -> None:
        pythias = ("14m", "31m", "70m", "160m", "410m", "1b", "1.4b", "2.8b", "6.9b", "12b")
        assert set(RECIPES) == {
            *(f"pythia-{size}" for size in pythias),
            "roberta",
            "mamba",
            "vit",
            "convnext-xlarge-22k",
            "convnext-large-22k",
            "convnext-large-1k",
            "qwen3-0.6b-shape",
            "qwen3-1.7b-shape",
            "modernbert-150m-shape",
            "modernbert-395m-shape",
            "bert-base",
            "bert-large",
            "convnext-base-22k",
            "gpt2-124m",
            "llama3.2-1b-shape",
            "mamba-790m",
            "resnet-50",
            "smollm2-135m-shape",
            "swin-base",
            "vit-base-16",
            "convnext-tiny-1k",
            "deit-small-16",
            "mamba-130m",
            "mamba-370m",
            "regnety-3.2gf",
            "resnet-101",
            "roberta-base",
            "swin-tiny",
            "deepseek-v2-1.2b-shape",
            "deepseekmoe-2b-shape",
            "granite-3.0-1b-a400m-shape",
            "mixtral-1.5b-shape",
            "t5-base",
            "t5-large",
            "timm-coatnet-0-rw-224",
            "timm-densenet121",
            "timm-efficientnet-b0",
            "timm-mixer-b16-224",
            "timm-mobilenetv3-large-100",
            "timm-resnext50-32x4d",
            "timm-vit-base-patch16-224",
            "albert-base",
            "bart-base",
            "bert-base-no-dropout",
            "bloom-560m",
            "codegen-350m",
            "deberta-v3-base",
            "dinov2-base-14",
            "distilbert-base",
            "electra-base",
            "eurobert-210m",
            "gemma-3-1b",
            "gpt-j-600m-shape",
            "llama-300m-16k-tokens",
            "llama-39m-256-tokens",
            "mamba-190m-shape",
            "mpt-760m-shape",
            "mt5-small",
            "nemotron-0.5b-shape",
            "nomic-bert-137m",
            "olmo-2-1b",
            "opt-125m",
            "opt-350m",
            "phi-1",
            "qwen2.5-0.5b",
            "qwen3-moe-0.7b-shape",
            "timm-beit-base-patch16-224",
            "timm-convnext-tiny",
            "timm-eva02-base-patch14-224",
            "timm-mobilenetv2-100",
            "timm-regnetx-032",
            "timm-resnet34",
            "timm-seresnet50",
            "timm-vit-small-patch16-224",
            "timm-wide-resnet50-2",
            "timm-xcit-small-12-p16-224",
            "bert-medium",
            "gemma-2-0.4b-shape",
            "gpt2-355m",
            "granite-0.3b-shape",
            "llama-350m-shape",
            "olmoe-0.8b-shape",
            "phi-3-mini-shape",
            "qwen2.5-1.5b",
            "qwen3-4b-shape",
            "smollm2-360m-shape",
            "stablelm-2-1.6b",
            "starcoder2-0.4b-shape",
            "t5-small",
            "timm-convnext-small",
            "timm-deit-tiny-patch16-224",
            "timm-efficientnet-b3",
            "timm-resnet152",
            "timm-resnet18",
            "timm-swin-small-patch4-window7-224",
            "timm-vit-base-patch32-224",
            "timm-vit-large-patch16-224",
            "tinyllama-1.1b",
            "xlm-roberta-base",
            "timm-convnextv2-tiny",
            "timm-levit-256",
            "timm-mnasnet-100",
            "timm-mobilenetv3-small-100",
            "timm-regnety-016",
            "timm-resnet50",
            "timm-resnext101-32x4d",
            "timm-swin-tiny-patch4-window7-224",
            "timm-swinv2-tiny-window8-256",
        }
        assert [RECIPES[name].name for name in ("pythia-160m", "mamba", "vit")] == [
            "Pythia 160M",
            "Mamba 2.8B",
            "ViT 325M",
        ]

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

    def test_hyper_parameters_of_the_released_code(self) -> None:
        training = RECIPES["mamba"].training
        assert (training.learning_rate, training.beta2, training.weight_decay) == (8e-4, 0.95, 0.1)
        assert (training.scheduler, training.warmup_steps, training.min_lr) == (
            "cosine",
            57220,
            1e-5,
        )
        assert training.epsilon is None, "the paper's code leaves the library's default"
        assert RECIPES["roberta"].training.max_grad_norm == 0

    def test_what_the_code_of_each_model_supports(self) -> None:
        assert RECIPES["pythia-1b"].support.attention == "sdpa"
        assert RECIPES["roberta"].support.attention == "eager"
        assert not RECIPES["mamba"].support.compile
        assert RECIPES["vit"].support.fsdp_wrap == ("ViTLayer",)

    def test_what_is_inferred_says_so(self) -> None:
        for recipe in RECIPES.values():
            if recipe.source != "paper-table3":
                assert recipe.note is not None
                assert "inferred" in recipe.note

    def test_reading_needs_no_training_library(self) -> None:
        code = (
            "import sys, bench_runner.recipes as r\nassert 'tomllib' not in sys.modules\n"
            "r.load_recipes()\nassert not {'torch', 'transformers', 'numpy'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

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
