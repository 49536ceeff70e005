"""Recipes as the store hands them out, counted; also those of models that are fine-tuned, as their
names say (`advisor.ranking.fine_tuning`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from advisor.ranking.fine_tuning import FineTuning, parted
from advisor.ranking.times import Model
from advisor.typed_input import InputError

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel
    from advisor.ranking.snapshot import FineTuner
    from bench_runner.recipes import Recipe


def model_of(recipe: Recipe) -> Model:
    """A recipe as the store holds it. Raises UncountedArchitectureError."""
    from bench_runner.recipe_flops import count_flops
    from bench_runner.recipes import recipe_hash

    count = count_flops(recipe)
    return Model(
        recipe_id=recipe.recipe_id,
        name=recipe.name,
        family=recipe.family,
        parameters=count.parameters,
        batch_size=recipe.training.batch_size,
        training_steps=recipe.training.training_steps,
        sequence_length=recipe.training.sequence_length,
        image_size=recipe.training.image_size,
        precision=recipe.training.precision,
        optimizer=recipe.training.optimizer,
        flops_lowest=float(count.flops_lowest),
        flops_full=float(count.flops_full),
        recipe_hash=recipe_hash(recipe),
        source_id=recipe.source,
        note=recipe.note,
        origin="shipped",
        compiles=recipe.support.compile,
    )


def fine_tuner(own: Sequence[OwnModel]) -> FineTuner:
    """What counts a model that is fine-tuned, those that a user keeps among them; it raises
    InputError for what cannot be fine-tuned so. Other processes take it over."""
    return partial(_fine_tuned, tuple(own))


def _fine_tuned(own: Sequence[OwnModel], model: Model, tuning: FineTuning) -> Model:
    asked = named_model(tuning.of(model.recipe_id), own)
    if asked is None:
        raise InputError(
            f"{model.recipe_id} is a training of your own, timed as it runs: time its "
            "fine-tuning by itself, advisor bench --name my-run -- COMMAND"
        )
    return replace(model_of_own(asked), origin=model.origin)


def named_model(recipe_id: str, own: Sequence[OwnModel]) -> OwnModel | None:
    """The recipe of this id, fine-tuned where it says so; None where none is known. Raises
    InputError."""
    from advisor.prediction.model.own_model import OwnModel
    from advisor.prediction.model.resolve import fine_tuned
    from bench_runner.recipes import RECIPES_FOLDER, load_recipe

    name, tuning = parted(recipe_id)
    found = next((each for each in own if each.recipe.recipe_id == name), None)
    shipped = RECIPES_FOLDER / f"{name}.toml"
    if found is None and shipped in RECIPES_FOLDER.glob("*.toml"):
        found = OwnModel(recipe=load_recipe(shipped))
    if found is None or tuning is None:
        return found
    try:
        return fine_tuned(found, tuning)
    except ValueError as error:
        raise InputError(str(error)) from None


def fine_tuned_own(own: OwnModel, tuning: FineTuning) -> OwnModel | None:
    """A model fine-tuned; None where that cannot be predicted."""
    from advisor.prediction.model.resolve import fine_tuned

    try:
        return fine_tuned(own, tuning)
    except ValueError:
        return None


def model_of_own(own: OwnModel) -> Model:
    """As the store hands it out: of the size that is known, without the work that frozen weights
    spare. Raises ValueError where it cannot be counted."""
    model, workload = model_of(own.recipe), own.workload
    ratio = workload.flops / model.flops_full
    return replace(
        model,
        parameters=own.parameters or workload.parameters,
        flops_lowest=model.flops_lowest * ratio,
        flops_full=model.flops_full * ratio,
    )
