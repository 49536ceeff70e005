"""From what somebody typed to a target: a recipe's name, a config.json, a timm model's name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.files import typed_path
from advisor.prediction.model.hf_config import target_of_config
from advisor.prediction.model.targets import (
    DEFAULT_TEXT_LENGTH,
    SIZED_FAMILIES,
    TUNING_BATCH,
    Ask,
    Target,
    refuse_a_batch_in_tokens,
    refuse_images,
    refuse_parts_of_patches,
    refuse_the_other,
    target_of_recipe,
    target_of_timm,
)
from advisor.prediction.model.workload import sized, workload_of
from advisor.ranking.fine_tuning import FineTuning
from advisor.typed_input import MODELS_LISTED_BY, shown, size_named, size_within
from advisor.wrong_file import what_it_is
from bench_runner.models.timm_models import timm_model
from bench_runner.recipes import TEXT_FAMILIES, Recipe, load_recipe
from bench_runner.typed_numbers import count_words
from price_catalog.csv_table import nearest

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel

_HUB = re.compile(r"(?:hf[-_]hub|hf|https?):(?://)?(?:timm/(?P<timm>[\w.]+)|.*)", re.IGNORECASE)
_HUB_LIKE = re.compile(r"(?!timm/)[A-Za-z0-9][\w-]*/[\w.-]+(?<!\.json)(?<!\.toml)")
"""``owner/name``, where no such folder is."""
FEW_TOKENS = 1e6
"""Of data: fewer may be meant as examples."""
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
    return tuned(_resolve(model, ask, recipes, own), ask)


def tuned(target: Target, ask: Ask) -> Target:
    """The same with adapters, where they are asked for. Raises ValueError."""
    if ask.tuning is None or target.recipe is None:
        return target
    recipe, more = _with_adapters(target.recipe, ask.tuning)
    words = ask.tuning.words(text=recipe.training.sequence_length is not None)
    recipe = replace(recipe, name=f"{recipe.name}, {words}")
    workload = sized(workload_of(recipe), target.parameters)
    assumed = (*target.assumptions, *more)
    return replace(target, recipe=recipe, workload=workload, assumptions=assumed)


def _with_adapters(recipe: Recipe, tuning: FineTuning) -> tuple[Recipe, list[str]]:
    """A recipe with the adapters that are trained, and what is assumed of them and the data."""
    text = recipe.training.sequence_length is not None
    assumed: list[str] = []
    if tuning.data is None:
        seen = count_words(tuning.seen(text=text) / tuning.epochs)
        assumed.append(f"{seen} {'tokens' if text else 'images'} of data")
    elif text and tuning.length is None and tuning.data < FEW_TOKENS:
        few = f"{tuning.data:,.0f}"
        assumed.append(f"{few} is tokens: {few} examples of 512 are --data {tuning.data:.0f}x512")
    if tuning.adapters and tuning.rank is None:
        assumed.append(f"adapters of rank {tuning.adapter_rank} at every linear layer")
    bits = 4 if tuning.train == "qlora" else None
    training = replace(recipe.training, adapter_rank=tuning.adapter_rank, weight_bits=bits)
    return replace(recipe, training=training), assumed


def fine_tuned(own: OwnModel, tuning: FineTuning) -> OwnModel:
    """A model fine-tuned, under the name that says so. Raises ValueError."""
    recipe, assumed = _changed(own.recipe, Ask(tuning=tuning))
    recipe, more = _with_adapters(recipe, tuning)
    text = recipe.training.sequence_length is not None
    words = "; ".join((*assumed, *more))
    called = replace(
        recipe,
        recipe_id=tuning.of(recipe.recipe_id),
        name=f"{recipe.name}, {tuning.words(text=text)}",
        note=f"assumed: {words}" if words else None,
    )
    workload_of(called)  # refuses what cannot be counted
    return replace(own, recipe=called)


def _resolve(
    model: str,
    ask: Ask,
    recipes: Sequence[Recipe],
    own: Callable[[], Sequence[OwnModel]],
) -> Target:
    if recipe := _called(model, recipes):
        return _of_recipe(recipe, ask)
    if model.endswith(".toml"):
        return _of_recipe(_recipe_of(typed_path(model)), ask)
    hub = _HUB.match(model)
    if hub and hub["timm"] and timm_model(hub["timm"]) is not None:
        raise ValueError(
            f"{shown(model)} is a name of a hub, and nothing is fetched here; write the timm name "
            f"{hub['timm']}"
        )
    if hub or (_HUB_LIKE.fullmatch(model) and not Path(model).parent.is_dir()):
        raise ValueError(
            f"{shown(model)} is a name of a hub, and nothing is fetched here; download its "
            "config.json and give the path"
        )
    if model and (model.endswith(".json") or "/" in model) and not model.startswith("timm/"):
        return target_of_config(_config_path(Path(model)), ask)
    kept = {each.recipe.recipe_id: each for each in own()}
    mine = [each.recipe for each in kept.values()]
    if recipe := _called(model, mine):
        size = kept[recipe.recipe_id].parameters
        target = _of_recipe(recipe, ask)
        return replace(target, workload=sized(target.workload, size), parameters=size)
    if _TIMM_LIKE.match(model) or timm_model(model) is not None:
        return target_of_timm(model, ask, recipes)
    if model and Path(model).is_dir():
        return target_of_config(_config_path(Path(model)), ask)
    raise ValueError(_unknown(model[:80], [*recipes, *mine]))


def _recipe_of(path: Path) -> Recipe:
    try:
        return load_recipe(path)
    except ValueError:
        if (found := what_it_is(path, "recipe")) is not None:
            raise ValueError(f"{path.name} {found}") from None
        raise


def _called(model: str, recipes: Sequence[Recipe]) -> Recipe | None:
    name = model.casefold()
    return next((r for r in recipes if name in (r.recipe_id.casefold(), r.name.casefold())), None)


def _config_path(path: Path) -> Path:
    return path / "config.json" if (path / "config.json").is_file() else path


def _of_recipe(recipe: Recipe, ask: Ask) -> Target:
    changed, assumed = _changed(recipe, ask)
    target = target_of_recipe(changed)
    return replace(target, assumptions=(*assumed, *target.assumptions))


AS_ITS_OWN = 0.005
"""Who types a length, or as much data as a recipe has, rounded like this, means the recipe's: 2048
tokens are 2,049 with the last one's label, 300B are 299.9B."""


def _changed(recipe: Recipe, ask: Ask) -> tuple[Recipe, list[str]]:
    """A recipe, trained on another amount of data or with another batch where that is asked, and
    what is assumed."""
    training = recipe.training
    text = recipe.family in TEXT_FAMILIES
    amount = ask.seen(text=text)
    batch = ask.batch_size or training.batch_size
    assumed: list[str] = []
    refuse_the_other(text, ask)
    own_length = training.sequence_length
    length = ask.length or own_length
    if ask.tuning is None and length and own_length and abs(length / own_length - 1) < AS_ITS_OWN:
        length = own_length
    if ask.tuning is not None and ask.batch_size is None:
        batch = min(batch, TUNING_BATCH)
        assumed.append(f"batches of {batch:,} {'sequences' if text else 'images'}")
    if ask.tuning is not None and ask.length is None and length:
        length = min(length, DEFAULT_TEXT_LENGTH)
        assumed.append(f"sequences of {length:,} tokens")
    architecture = recipe.architecture
    ends = architecture.longest if architecture is not None else None
    if ask.length and ends and ask.length > ends:
        raise ValueError(
            f"sequences of {ask.length:,} tokens are longer than the {ends:,} positions "
            f"of {recipe.name}, each of which has weights; give --sequence-length {ends} or less"
        )
    if ask.batch_size is not None and text and length:
        refuse_a_batch_in_tokens(batch, length)
    elif ask.batch_size is not None:
        refuse_images(batch)
    if ask.image_size is not None and ask.image_size != training.image_size:
        refuse_parts_of_patches(architecture, ask.image_size)
    samples: float = training.batch_size * training.training_steps
    its_own = samples * (training.sequence_length or 1 if text else 1)
    if ask.tuning is None and amount is not None and abs(amount / its_own - 1) < AS_ITS_OWN:
        amount = None
    if amount is not None:
        samples = amount / length if text and length else amount
    elif text and length and training.sequence_length:
        samples *= training.sequence_length / length
    changed = replace(
        training,
        batch_size=batch,
        training_steps=max(1, math.ceil(samples / batch)),
        sequence_length=length if text else None,
        image_size=training.image_size if text else ask.image_size or training.image_size,
        precision=ask.precision or training.precision,
    )
    return replace(recipe, training=changed), assumed


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
