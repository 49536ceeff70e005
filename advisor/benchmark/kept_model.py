"""A model that a user keeps, as the recipe file that the runner measures by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.parse import InputError

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel
    from advisor.ranking.times import Model
    from advisor.store import Store


def kept_model(store: Store, model: Model) -> OwnModel:
    """What is kept of a model of the user's own.

    Raises InputError, one line, where that is not all that a measurement needs.
    """
    found = (own for own in store.own_models() if own.recipe.recipe_id == model.recipe_id)
    own = next(found, None)
    lack, files = _lack(own, model.recipe_hash), "a recipe .toml"
    if own is None and (why := store.uncounted_models().get(model.recipe_id)):
        lack = f"is counted no longer ({why})"
    if own is None or lack is not None:
        raise InputError(
            f"your model {model.recipe_id} {lack}: keep it again from {files} (advisor predict "
            f"--model FILE --keep {model.recipe_id} --force), or measure a recipe itself (advisor "
            "bench --model FILE.toml)"
        )
    return own


def _lack(own: OwnModel | None, recipe_hash: str) -> str | None:
    """What a measurement needs and a kept model does not say, after the model's name."""
    from bench_runner.models.architecture import TextTransformer
    from bench_runner.recipes import recipe_hash as hash_of

    if own is None:
        return "was kept without its architecture"
    if hash_of(own.recipe) != recipe_hash:
        # A time of it would stand for another recipe than the one that is ranked.
        return (
            "was kept without all of its architecture (only a config_class with plain arguments is "
            "kept whole)"
        )
    architecture, training = own.recipe.architecture, own.recipe.training
    if "attn_implementation" in own.recipe.model.arguments:
        # It may be a kernel on a hub, and a definition from somebody else must fetch nothing.
        return "names an attn_implementation in its architecture, which support.attention is for"
    length = training.sequence_length
    positions = architecture.longest if isinstance(architecture, TextTransformer) else None
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
