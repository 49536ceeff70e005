"""From what somebody types to a target."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.prediction.model.askable_models import Ask
from advisor.prediction.model.resolve import resolve
from bench_runner.recipes import Recipe, load_recipes

RECIPES = load_recipes()
TINY = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 688,
    "vocab_size": 32000,
}


def test_a_recipe_by_id_or_name_is_itself() -> None:
    for name in ("pythia-1b", "Pythia 1B", "PYTHIA-1B"):
        workload = resolve(name, Ask(), RECIPES).workload
        assert (workload.batch_size, workload.training_steps) == (1024, 143_000)


def test_other_data_and_batches_keep_the_amount() -> None:
    half = resolve("pythia-1b", Ask(tokens=1024 * 143_000 * 2049 / 2), RECIPES).workload
    assert half.training_steps == 71_500
    doubled = resolve("pythia-1b", Ask(batch_size=2048), RECIPES).workload
    assert (doubled.batch_size, doubled.training_steps) == (2048, 71_500)
    shorter = resolve("pythia-1b", Ask(sequence_length=1024), RECIPES).workload
    assert shorter.training_steps * shorter.tokens == pytest.approx(143_000 * 2049, rel=1e-3)
    small = resolve("vit", Ask(images=1.28e6 * 300), RECIPES).workload
    assert small.training_steps == 93_750


def test_a_file_or_its_folder(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    for name in (str(tmp_path), str(tmp_path / "config.json")):
        target = resolve(name, Ask(tokens=1e9, batch_size=64), RECIPES)
        assert target.workload.batch_size == 64
        assert target.workload.layers == 4


def test_a_timm_tag_is_no_training() -> None:
    tagged = resolve("vit_base_patch16_224.mae", Ask(images=1e9), RECIPES)
    assert any("as a classifier: the tag 'mae'" in said for said in tagged.assumptions)


def test_a_timm_model_at_another_size_than_its_own_is_told_to_be_scaled() -> None:
    own, other = (resolve("resnet50", Ask(images=1e9, image_size=n), RECIPES) for n in (224, 288))
    told = "the work at 288 pixels by the area, from what timm builds at 224"
    assert told in other.assumptions
    assert not any("by the area" in words for words in own.assumptions)


@pytest.mark.parametrize(
    ("model", "ask", "words"),
    [
        ("pythia-1bb", Ask(), "did you mean 'pythia-1b'"),
        ("", Ask(), "none is near: advisor data models lists them"),
        ("nowhere/config.json", Ask(tokens=1e9), "is not there"),
        ("openai/gpt2", Ask(tokens=1e9), "nothing is fetched here; download its config.json"),
        ("hf-hub:timm/resnet50.a1_in1k", Ask(images=1e9), "write the timm name resnet50.a1_in1k"),
        ("https://a.example/b", Ask(tokens=1e9), "nothing is fetched here"),
        ("pythia-1b", Ask(images=1e9), "give --tokens"),
        ("vit", Ask(tokens=1e9), "give --images"),
        ("roberta", Ask(sequence_length=513), "longer than the model.s 512 positions, each"),
        ("bert-base", Ask(sequence_length=513), "longer than the model.s 512 positions, each"),
        ("vit_base_patch16_224", Ask(), "--images"),
        ("vit_mighty_patch16_224", Ask(images=1e9), "timm name"),
        ("vit_base_patch16_224", Ask(images=1e9, image_size=8), "give --image-size 16 or more"),
        ("vit_base_patch14_dinov2", Ask(images=1e9, image_size=13), "the model's patches of 14"),
        ("vit", Ask(image_size=8), "smaller than the model's patches of 16"),
    ],
)
def test_what_names_nothing_is_one_line(model: str, ask: Ask, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        resolve(model, ask, RECIPES)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tokens", 0.0),
        ("tokens", float("nan")),
        ("tokens", 1e400),
        ("images", -5.0),
        ("batch_size", 0),
        ("sequence_length", -1),
        ("image_size", 10**18),
        ("precision", "int4"),
    ],
)
def test_a_wrong_number_is_one_line(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"give a number|is not one of"):
        Ask(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "recipe", [each for each in RECIPES if each.model.timm], ids=lambda each: each.recipe_id
)
def test_a_timm_name_is_the_architecture_of_the_recipe_that_ships_for_it(recipe: Recipe) -> None:
    """CoAtNet-0 does not compile, whether the recipe or timm's name is asked about."""
    training = recipe.training
    ask = Ask(
        batch_size=training.batch_size,
        images=float(training.batch_size * training.training_steps),
        image_size=training.image_size,
        precision=training.precision,
    )
    shipped = resolve(recipe.recipe_id, Ask(), RECIPES).workload
    named = resolve(recipe.model.timm or "", ask, RECIPES).workload
    assert (named.family, named.compiles) == (shipped.family, shipped.compiles)
    assert (named.training_steps, named.flops) == (shipped.training_steps, shipped.flops)
