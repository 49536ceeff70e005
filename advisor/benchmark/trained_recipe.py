"""The recipe that a measurement names: one that ships, a file's, or a model that the user keeps,
fine-tuned where that is asked; and what a kept model's recipe file says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.files import typed_path
from advisor.typed_input import InputError, shown
from bench_runner.recipes import recipe_hash

if TYPE_CHECKING:
    from advisor.prediction.model.askable_models import Ask
    from advisor.prediction.model.own_model import OwnModel
    from advisor.ranking.snapshot import Snapshot
    from advisor.ranking.times import Model
    from advisor.store import Store
    from bench_runner.recipes import Recipe

FEWEST_STEPS = 20
"""Of a training whose steps can be timed: some before they settle, and some after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """The recipe that a request names."""

    recipe: Recipe
    own: OwnModel | None
    """For the store; None where the store has it, or where nothing counts its FLOPs."""
    file: Path | None = None
    """Where the user named one."""
    text: str | None = None
    """A recipe file's content where the runner does not ship the recipe."""
    as_kept: str | None = None
    """What a model that the user keeps became, in words."""


def recipe_to_measure(
    store: Store, snapshot: Snapshot, named: str, ask: Ask | None = None
) -> Trained:
    """A shipped recipe, a model that the user keeps, or a file, fine-tuned where that is asked.
    Raises InputError, ValueError and OSError."""
    from advisor.prediction.model.askable_models import Ask
    from advisor.ranking.fine_tuning import parted
    from bench_runner.recipes import LARGEST_RECIPE, load_recipe, load_recipes
    from bench_runner.untrusted_text import OutsideError, text_outside

    named, tuning = parted(named)
    if tuning is not None and ask is None:
        ask = Ask(tuning=tuning)
    if ask is not None:
        return _fine_tuned(store, snapshot, named, ask)
    if named.endswith(".toml"):
        path = typed_path(named).absolute()
        recipe = load_recipe(path)
        known = next((m for m in snapshot.models if m.recipe_id == recipe.recipe_id), None)
        if known is not None and known.recipe_hash != recipe_hash(recipe):
            raise InputError(
                f"{path}: the store knows another recipe called {shown(recipe.recipe_id)}: "
                "give this one an id of its own"
            )
        try:
            text = text_outside(path, LARGEST_RECIPE)
        except OutsideError as error:  # a pipe is empty by now
            raise ValueError(f"{path.name} {error}") from None
        return Trained(recipe=recipe, own=_own_model(recipe), file=path, text=text)
    model = snapshot.model(named)
    shipped = {recipe.recipe_id: recipe for recipe in load_recipes()}
    if model.origin == "shipped" and model.recipe_id in shipped:
        return Trained(recipe=shipped[model.recipe_id], own=None)
    if model.own_command is not None:
        raise InputError(
            f"{model.recipe_id} is a training of your own, which no recipe describes: time it by "
            f"{model.own_command}"
        )
    kept = kept_model(store, model)
    text = recipe_text(kept)
    return Trained(recipe=kept.recipe, own=None, text=text, as_kept=kept_words(kept))


def _fine_tuned(store: Store, snapshot: Snapshot, named: str, ask: Ask) -> Trained:
    """A model fine-tuned as asked, under a name of its own. Raises InputError and ValueError."""
    from advisor.prediction.model.own_model import own_model
    from advisor.prediction.model.resolve import resolve
    from bench_runner.recipes import TEXT_FAMILIES, load_recipes

    if not named.endswith((".toml", ".json")):
        family = snapshot.model(named).family
        if family not in TEXT_FAMILIES:
            raise InputError(
                f"fine-tuning is timed here of models of text, and {shown(named)} is none: time "
                "your own training by advisor bench -- python train.py"
            )
    target = resolve(named, ask, load_recipes(), lambda: store.own_definitions().models)
    assert target.recipe is not None  # each that can be asked about is one of text
    rank = target.recipe.training.adapter_rank
    train = "full" if ask.tuning is None else ask.tuning.train
    name = "-".join([target.recipe.recipe_id, train, *([] if rank is None else [f"rank-{rank}"])])
    own = own_model(target, name)
    known = next((m for m in snapshot.models if m.recipe_id == own.recipe.recipe_id), None)
    if known is not None and known.recipe_hash != recipe_hash(own.recipe):
        raise InputError(
            f"you have times of another {known.recipe_id}, of other data or batches: forget it by "
            f"advisor predict --forget {known.recipe_id}, or keep this one under a name of its own "
            "by advisor predict --keep NAME, and give that as --model"
        )
    if (steps := own.recipe.training.training_steps) < FEWEST_STEPS:
        raise InputError(
            f"so few data make {steps} optimiser steps, and {FEWEST_STEPS} are needed to time "
            "one: give more by --data or --epochs, or a smaller --batch"
        )
    words = [kept_words(own), *target.assumptions]
    return Trained(
        recipe=own.recipe,
        own=own if known is None else None,
        text=recipe_text(own),
        as_kept="; ".join(words),
    )


@contextmanager
def in_one_line() -> Iterator[None]:
    """What is wrong with a recipe, as an InputError of one line."""
    try:
        yield
    except InputError:
        raise
    except (ValueError, OSError) as error:
        raise InputError(" ".join(str(error).split())) from None


def _own_model(recipe: Recipe) -> OwnModel | None:
    from advisor.prediction.model.own_model import OwnModel, to_text
    from bench_runner.recipe_flops import UncountedArchitectureError

    own = OwnModel(recipe=recipe)
    try:
        to_text(own)
    except UncountedArchitectureError:
        return None
    return own


def kept_model(store: Store, model: Model) -> OwnModel:
    """What is kept of a model of the user's own.

    Raises InputError, one line, where that is not all that a measurement needs.
    """
    definitions = store.own_definitions()
    found = (own for own in definitions.models if own.recipe.recipe_id == model.recipe_id)
    own = next(found, None)
    lack, files = _lack(own, model.recipe_hash), "a recipe .toml"
    if own is None and (why := definitions.uncounted.get(model.recipe_id)):
        lack = f"is counted no longer ({why})"
    if own is None or lack is not None:
        raise InputError(
            f"your model {model.recipe_id} {lack}: keep it again from {files} (advisor predict "
            f"--model FILE --keep {model.recipe_id} --force), or measure a recipe itself (advisor "
            "bench --model FILE.toml)"
        )
    return own


def _lack(own: OwnModel | None, wanted: str) -> str | None:
    """What a measurement needs and a kept model does not say, after the model's name."""
    if own is None:
        return "was kept without its architecture"
    if recipe_hash(own.recipe) != wanted:
        # A time of it would stand for another recipe than the one that is ranked.
        return (
            "was kept without all of its architecture (only a config_class with plain arguments is "
            "kept whole)"
        )
    architecture, training = own.recipe.architecture, own.recipe.training
    length = training.sequence_length
    positions = architecture.longest if architecture is not None else None
    if length and positions and positions < length:
        plural = "" if positions == 1 else "s"
        return (
            f"has {positions:,} position{plural} in its architecture and trains on {length:,} "
            "tokens a sample"
        )
    timm = own.recipe.model.timm is not None  # it checkpoints by itself
    if own.recipe.family == "convnet" and not own.recipe.support.fsdp_wrap and not timm:
        # By these names the runner checkpoints a model whose library offers no checkpointing.
        return "says no fsdp_wrap, without which nothing of a convnet is checkpointed"
    return None


def kept_words(own: OwnModel) -> str:
    """``LlamaConfig, 512 samples of 2,048 tokens a step, bf16, adamw``: what a config.json became,
    and what was assumed."""
    from bench_runner.typed_numbers import count_words

    recipe, training = own.recipe, own.recipe.training
    sample = f"{training.image_size} pixels a side"
    if training.sequence_length is not None:
        sample = f"{training.sequence_length:,} tokens"
    built = recipe.model.timm or recipe.model.config_class
    if own.parameters is not None:
        built = f"the usual shape of {count_words(own.parameters)} parameters ({built})"
    return (
        f"{built}, {training.batch_size:,} samples of {sample} a step, "
        f"{training.precision}, {training.optimizer}"
    )


def recipe_text(own: OwnModel) -> str:
    """The recipe file of a kept model. Raises InputError where TOML cannot say it."""
    import tomllib

    import tomli_w

    from advisor.prediction.model.own_model import to_text
    from bench_runner.recipes import recipe_from

    content = json.loads(to_text(own))
    content.pop("parameters", None)
    try:
        text = tomli_w.dumps(content)
        if recipe_from(tomllib.loads(text.encode().decode()), Path("definition")) == own.recipe:
            return text
    except (ValueError, TypeError):  # a list of nothing, half of a character
        pass
    raise InputError(
        f"your model {own.recipe.recipe_id} cannot be written as a recipe file: measure a "
        "recipe itself (advisor bench --model FILE.toml)"
    )
