"""A user's own model as one JSON text: what the store keeps to predict it again.

The text has the keys of a recipe file (`bench_runner.recipes`) and is read by the same checks. It
names no file, and nothing in it is imported or run.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from advisor.prediction.model.askable_models import Target
from advisor.prediction.model.workload import Workload, sized, workload_of
from advisor.typed_input import shown
from bench_runner.models.timm_models import timm_model
from bench_runner.recipe_flops import counted_architecture
from bench_runner.recipes import IMAGE_FAMILIES, Recipe, recipe_from
from bench_runner.untrusted_text import OutsideError, json_outside

LARGEST_TEXT = 64 * 1024
"""Characters of a definition; the models that can be counted need a few hundred."""
_LARGEST_INTEGER = 2**31 - 1
"""What the store's columns of batch, sequence and image size hold."""
_LONGEST_ID = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnModel:
    """A model that does not ship, and how it is trained."""

    recipe: Recipe
    parameters: int | None = None
    """Where only its size is known: the recipe then has the usual shape of about that size."""

    @property
    def workload(self) -> Workload:
        """What a step asks of a GPU; ValueError where it cannot be counted."""
        return sized(workload_of(self.recipe), self.parameters)


def name_of_own(name: str, flag: str) -> tuple[str, str]:
    """The id and the name of something that the user keeps. Raises ValueError of one line."""
    called = " ".join(name.split())
    recipe_id = called.replace(" ", "-").lower()
    plain = all(c.isascii() and (c.isalnum() or c in ".-") for c in recipe_id)
    if not plain or not recipe_id[:1].isalnum() or len(recipe_id) > _LONGEST_ID:
        raise ValueError(
            f"{flag} {shown(name)} is no name for a model; write one of letters, digits, points "
            f"and hyphens, at most {_LONGEST_ID}, such as my-llama"
        )
    if recipe_id.endswith((".json", ".toml")):
        raise ValueError(f"{flag} {shown(name)} would be taken for a file; leave out the ending")
    return recipe_id, called


def own_model(target: Target, name: str) -> OwnModel:
    """What was asked about, under a name of the user's own. Raises ValueError of one line."""
    recipe_id, called = name_of_own(name, "--keep")
    if target.recipe is None:
        raise ValueError("this model cannot be kept: name a config.json, a .toml or a timm model")
    assumed = f"assumed: {'; '.join(target.assumptions)}" if target.assumptions else None
    note = "; ".join(part for part in (target.recipe.note, assumed) if part) or None
    recipe = replace(target.recipe, recipe_id=recipe_id, name=called, note=note)
    return OwnModel(recipe=recipe, parameters=target.parameters)


def to_text(own: OwnModel) -> str:
    """The definition of a model; ValueError where `from_text` would not take it back."""
    recipe, source = own.recipe, own.recipe.model
    architecture: dict[str, Any] = {"timm": source.timm}
    if source.timm is None:
        architecture = {
            # The class of a config.json, too, whose file is not kept.
            "config_class": source.config_class or counted_architecture(recipe).kind.config_class,
            # What counts are numbers; labels and code to fetch, which a config.json may have, not.
            "arguments": {
                key: value
                for key, value in source.arguments.items()
                if isinstance(value, int | float | str | list) and not key.startswith("_")
            },
        }
    content = {
        "id": recipe.recipe_id,
        "name": recipe.name,
        "family": recipe.family,
        "source": recipe.source,
        "note": recipe.note,
        "architecture": architecture,
        "training": asdict(recipe.training),
        "support": {**asdict(recipe.support), "fsdp_wrap": list(recipe.support.fsdp_wrap)},
        "parameters": own.parameters,
    }
    text = json.dumps(_given(content), separators=(",", ":"), allow_nan=False)
    if len(text) > LARGEST_TEXT:
        raise ValueError(
            f"{shown(recipe.name)} is said in {len(text):,} letters and cannot be kept: at most "
            f"{LARGEST_TEXT:,} are; shorten its arguments"
        )
    from_text(text)
    return text


def definition(text: object) -> dict[str, Any]:
    """What a definition holds. Raises ValueError of one line."""
    if not isinstance(text, str) or len(text) > LARGEST_TEXT:
        raise ValueError(f"the definition is no text of at most {LARGEST_TEXT:,} letters")
    try:
        content = json_outside(text)
    except OutsideError as error:
        raise ValueError(f"the definition {error}") from None
    except (ValueError, RecursionError):
        raise ValueError(f"the definition {shown(text)} is not JSON") from None
    if not isinstance(content, dict):
        raise ValueError(f"the definition {shown(text)} holds no object")
    return content


def from_text(text: object) -> OwnModel:
    """The model that a definition describes. Raises ValueError of one line."""
    return model_from(definition(text))


def model_from(content: dict[str, Any]) -> OwnModel:
    """As `from_text`, of what the definition holds."""
    parameters = content.pop("parameters", None)
    architecture = content.get("architecture")
    named = {*architecture} & {"config_class", "timm"} if isinstance(architecture, dict) else ()
    if not isinstance(architecture, dict) or not named or "hf_config_json" in architecture:
        # A definition from somebody else must not make this program read a file.
        raise ValueError("the definition of a model names no config_class")
    name = architecture.get("timm")
    if name is not None and timm_model(str(name)) is None:
        # Nor a measurement fetch a model: timm takes names of a hub, too.
        raise ValueError(f"the definition names no model of timm's: {shown(str(name))}")
    own = OwnModel(recipe=recipe_from(content, Path("definition")), parameters=parameters)
    kind, family = own.recipe.architecture, own.recipe.family
    fits = family in IMAGE_FAMILIES if name is not None else kind and kind.kind.family == family
    if not fits:
        raise ValueError(
            f"the definition calls {shown(own.recipe.name)} a {family}, which it is not"
        )
    _check(own)
    return own


def _check(own: OwnModel) -> None:
    """Raise ValueError where a model cannot be counted, or is larger than the store's columns."""
    training = own.recipe.training
    for name in ("batch_size", "sequence_length", "image_size"):
        value = getattr(training, name)
        if value is not None and value > _LARGEST_INTEGER:
            raise ValueError(f"{name} is {value:,}; give at most {_LARGEST_INTEGER:,}")
    size = own.parameters
    if size is not None and (type(size) is not int or not 1e5 <= size <= 1e13):
        raise ValueError(f"{shown(str(size))} parameters are none that can be predicted")
    try:
        workload = own.workload
        finite = math.isfinite(workload.flops) and min(workload.parameters, workload.flops) > 0
        counted = finite and workload.parameters <= 1e13
    except (TypeError, LookupError, ArithmeticError, AttributeError):
        counted = False
    if not counted or training.training_steps >= 2**63:
        raise ValueError(f"the model {shown(own.recipe.name)} cannot be counted: mend its numbers")


def _given(table: dict[str, Any]) -> dict[str, Any]:
    """Without what was not said, as a recipe file leaves it out."""
    return {
        key: _given(value) if isinstance(value, dict) else value
        for key, value in table.items()
        if value is not None
    }
