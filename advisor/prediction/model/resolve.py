"""From what somebody typed to a target: a recipe's name, a config.json, a timm model's name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.files import typed_path
from advisor.prediction.model.askable_models import (
    SIZED_FAMILIES,
    Ask,
    Target,
    target_of_timm,
    train,
)
from advisor.prediction.model.hf_config import read_or_say, target_of_config
from advisor.prediction.model.workload import sized
from advisor.ranking.fine_tuning import FineTuning
from advisor.typed_input import MODELS_LISTED_BY, shown, size_named, size_within
from bench_runner.models.timm_models import timm_model
from bench_runner.recipes import Recipe, load_recipe
from price_catalog.csv_table import nearest

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel

_HUB = re.compile(r"(?:hf[-_]hub|hf|https?):(?://)?(?:timm/(?P<timm>[\w.]+)|.*)", re.IGNORECASE)
_HUB_LIKE = re.compile(r"(?!timm/)[A-Za-z0-9][\w-]*/[\w.-]+(?<!\.json)(?<!\.toml)")
"""``owner/name``, where no such folder is."""
_TIMM_LIKE = re.compile(r"(?:vit|deit|deit3|convnext|convnextv2)_|timm/")


def resolve(
    model: str,
    ask: Ask,
    recipes: Sequence[Recipe],
    own: Callable[[], Sequence[OwnModel]] = tuple,
) -> Target:
    """The target that ``model`` names; ValueError of one line where it names nothing.

    ``own`` gives the user's own models; called only where the name is none that ships, and no file.
    """
    if recipe := _called(model, recipes):
        return train(recipe, ask)
    if model.endswith(".toml"):
        return train(read_or_say(load_recipe, typed_path(model), "recipe"), ask)
    hub = _HUB.match(model)
    if hub or (_HUB_LIKE.fullmatch(model) and not Path(model).parent.is_dir()):
        mend = "download its config.json and give the path"
        if hub and hub["timm"] and timm_model(hub["timm"]) is not None:
            mend = f"write the timm name {hub['timm']}"
        raise ValueError(f"{shown(model)} is a name of a hub, and nothing is fetched here; {mend}")
    if model and (model.endswith(".json") or "/" in model) and not model.startswith("timm/"):
        return target_of_config(_config_path(Path(model)), ask)
    kept = {each.recipe.recipe_id: each for each in own()}
    mine = [each.recipe for each in kept.values()]
    if recipe := _called(model, mine):
        size = kept[recipe.recipe_id].parameters
        target = train(recipe, ask)
        return replace(target, workload=sized(target.workload, size), parameters=size)
    if _TIMM_LIKE.match(model) or timm_model(model) is not None:
        return target_of_timm(model, ask, recipes)
    if model and Path(model).is_dir():
        return target_of_config(_config_path(Path(model)), ask)
    raise ValueError(_unknown(model[:80], [*recipes, *mine]))


def _called(model: str, recipes: Sequence[Recipe]) -> Recipe | None:
    name = model.casefold()
    return next((r for r in recipes if name in (r.recipe_id.casefold(), r.name.casefold())), None)


def _config_path(path: Path) -> Path:
    return path / "config.json" if (path / "config.json").is_file() else path


def fine_tuned(own: OwnModel, tuning: FineTuning) -> OwnModel:
    """A model fine-tuned, under the name that says so. Raises ValueError."""
    target = train(own.recipe, Ask(tuning=tuning))
    assert target.recipe is not None
    words = "; ".join(target.assumptions)
    note = f"assumed: {words}" if words else None
    recipe = replace(target.recipe, recipe_id=tuning.of(own.recipe.recipe_id), note=note)
    return replace(own, recipe=recipe)


def _unknown(model: str, recipes: Sequence[Recipe]) -> str:
    size = size_named(model)
    if size is not None:
        return f"'{model}' is a size: write --model decoder --parameters {size}, or encoder or vit"
    if model.casefold() in SIZED_FAMILIES:
        return f"'{model}' says no size: add --parameters, as in --parameters 1B"
    hint = nearest(model, [recipe.recipe_id for recipe in recipes], MODELS_LISTED_BY)
    if (size := size_within(model)) is not None:
        of_its_size = f"f a plain decoder give the size: --model decoder --parameters {size}"
        hint += f" O{of_its_size}" if hint.endswith("?") else f"; o{of_its_size}"
    return f"model {shown(model, 80)} is no recipe, .toml, config.json or timm name; {hint}"
