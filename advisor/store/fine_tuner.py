"""A model that is fine-tuned, counted as any other: the model that ships or is kept, trained as its
name says (`advisor.ranking.fine_tuning`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor.ranking.fine_tuning import FineTuning, parted
from advisor.ranking.times import Model
from advisor.store.seed import model_of
from advisor.typed_input import InputError

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFineTuner:
    """``own`` are the models that a user keeps."""

    own: tuple[OwnModel, ...]

    def __call__(self, model: Model, tuning: FineTuning) -> Model:
        """Raises InputError for what cannot be fine-tuned so."""
        asked = self.named(tuning.of(model.recipe_id))
        if asked is None:
            raise InputError(
                f"{model.recipe_id} is a training of your own, timed as it runs: time its "
                "fine-tuning by itself, advisor bench --name my-run -- COMMAND"
            )
        return replace(model_of_own(asked), origin=model.origin)

    def named(self, recipe_id: str) -> OwnModel | None:
        """The recipe of this id, fine-tuned where it says so; None where none is known. Raises
        InputError."""
        from advisor.prediction.model.own_model import OwnModel
        from advisor.prediction.model.resolve import fine_tuned
        from bench_runner.recipes import RECIPES_FOLDER, load_recipe

        name, tuning = parted(recipe_id)
        found = next((own for own in self.own if own.recipe.recipe_id == name), None)
        shipped = RECIPES_FOLDER / f"{name}.toml"
        if found is None and name in {path.stem for path in RECIPES_FOLDER.glob("*.toml")}:
            found = OwnModel(recipe=load_recipe(shipped))
        if found is None or tuning is None:
            return found
        try:
            target = fine_tuned(found.recipe, found.parameters, tuning)
        except ValueError as error:
            raise InputError(str(error)) from None
        assert target.recipe is not None
        note = f"assumed: {'; '.join(target.assumptions)}" if target.assumptions else None
        return OwnModel(recipe=replace(target.recipe, note=note), parameters=found.parameters)


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
