"""Images that cannot be cut into whole patches: what timm and the library do, and what is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.prediction.model.askable_models import Ask, target_of_size, train
from advisor.prediction.model.resolve import resolve
from bench_runner.recipes import load_recipes

RECIPES = load_recipes()
VIT = {"model_type": "vit", "image_size": 224, "patch_size": 16, "num_labels": 1000}


def asked(model: str, image_size: int | None) -> Any:
    return resolve(model, Ask(images=1e9, image_size=image_size), RECIPES)


@pytest.mark.parametrize(
    ("model", "pixels", "sizes"),
    [
        ("vit_base_patch16_224", 230, "224 or 240"),
        ("vit_base_patch14_dinov2", 224 + 13, "224 or 238"),
        ("swin_base_patch4_window7_224", 223, "220 or 224"),
        ("xcit_nano_12_p8_224", 225, "224 or 232"),
        ("timm-vit-base-patch16-224", 230, "224 or 240"),
    ],
)
def test_a_size_that_is_no_whole_patches_is_refused_with_the_nearest(
    model: str, pixels: int, sizes: str
) -> None:
    with pytest.raises(
        ValueError, match=f"into whole patches.*give --image-size {sizes}"
    ) as caught:
        asked(model, pixels)
    assert "\n" not in str(caught.value)
    for size in map(int, sizes.split(" or ")):
        assert asked(model, size).workload.tokens > 0


@pytest.mark.parametrize("pixels", [225, 1, 0, -16])
def test_so_it_is_for_a_config_json_and_a_size(pixels: int, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(VIT))
    with pytest.raises(ValueError, match="--image-size"):
        asked(str(path), pixels)
    if pixels > 0:
        with pytest.raises(ValueError, match="--image-size"):
            target_of_size("mine", "vit", 1e8, Ask(batch_size=8, images=1e9, image_size=pixels))


def test_a_model_s_own_size_that_is_no_whole_patches_is_counted_as_it_is_built_and_told(
    tmp_path: Path,
) -> None:
    found = asked("vit_so400m_patch14_siglip_384", None)
    words = "the last 6 of 384 pixels a side unseen: they fill no whole patch of 14"
    assert words in found.assumptions
    assert found.workload == asked("vit_so400m_patch14_siglip_384", 384).workload
    assert words not in asked("vit_so400m_patch14_siglip_384", 378).assumptions
    path = tmp_path / "config.json"
    path.write_text(json.dumps(VIT | {"image_size": 230}))
    cut = asked(str(path), None)
    assert any(said.startswith("the last 6 of 230 pixels") for said in cut.assumptions)
    path.write_text(json.dumps(VIT))
    assert cut.workload == asked(str(path), None).workload
    recipe = next(each for each in RECIPES if each.recipe_id == "vit-base-16")
    own = replace(recipe, training=replace(recipe.training, image_size=230))
    assert train(own, Ask()).assumptions == cut.assumptions[-1:]
    assert train(recipe, Ask()).assumptions == ()
