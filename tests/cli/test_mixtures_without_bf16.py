"""Mixtures of experts on GPUs without bf16 cores: no way out is named that does not lead out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.ranking.times import Model
from advisor.store import Store
from bench_runner.recipes import Recipe, load_recipes

Capture = pytest.CaptureFixture[str]


def told(capsys: Capture, *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def test_a_mixture_is_not_sent_to_fp16_in_which_its_experts_are_not_predicted(
    own_store: Path, capsys: Capture
) -> None:
    at = ("--store", str(own_store))
    asked = ("rank", "--model", "mixtral-1.5b-shape", "--gpus", "V100")
    code, out, _ = told(capsys, *asked, *at)
    assert code == 1 and "it trains in bf16, for which they have no cores." in out
    doubts = json.loads(told(capsys, *asked, "--format", "json", *at)[1])["verdict"]["doubts"]
    assert [doubt["about"] for doubt in doubts] == ["gpus"]
    assert "fp16" not in out


@pytest.mark.parametrize("recipe", load_recipes(), ids=lambda recipe: recipe.recipe_id)
def test_a_mixture_is_known_by_what_a_token_passes_through(
    recipe: Recipe, shipped_models: dict[str, Model]
) -> None:
    mixture = getattr(recipe.architecture, "num_experts", 0) > 0
    assert shipped_models[recipe.recipe_id].is_mixture == mixture


@pytest.fixture(scope="module")
def shipped_models(store_path: Path) -> dict[str, Model]:
    with Store(store_path).reading() as reader:
        return {model.recipe_id: model for model in reader.models()}
