"""Settings by name, and why a model, or this machine, cannot be trained with some of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from bench_runner.recipes import Recipe, Training
from bench_runner.records.measurement import ATTENTIONS, SHARDINGS, Settings
from bench_runner.settings import batch_and_sharding
from bench_runner.settings.exact_settings import as_searched, as_trained, settings_of_methods

PACKAGES = ("flash_attn", "flash_attn_interface", "torchao", "deepspeed", "peft")
"""What some settings need: FlashAttention 2, or 3, which is for Hopper alone, and so on."""


_WORDS: dict[str, dict[str, Any]] = {
    "naive": {"free_lunch": False},
    "free-lunch": {},
    "offloading": {"offloading": True},
    "checkpointing": {"activation_checkpointing": True},
    "not-compiled": {"compilation": "none"},
    "whole": {"compilation": "whole"},
    "regional": {"compilation": "regional"},
    "fused": {"loss": "fused"},
    "trimmed": {"inputs": "trimmed"},
    "half-weights": {"weights": "half"},
    "pure-half": {"weights": "pure"},
    **{name: {"attention": name} for name in ATTENTIONS},
    **{name: {"sharding": name} for name in SHARDINGS},
}
"""What each word of ``--settings`` sets."""


def parse_settings(text: str) -> Settings:
    """Words as in ``--settings free-lunch,zero-1,checkpointing`` or ``regional,fused,trimmed``."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    chosen: dict[str, Any] = {"free_lunch": True}
    for word in words:
        for name, value in _WORDS.get(word, {"": None}).items():
            if not name or (name in chosen and name != "free_lunch"):
                words = []  # unknown, or two words for one thing
            chosen[name] = value
    if not words:
        raise ValueError(
            f"--settings is {text!r}: give words of {', '.join(_WORDS)}, joined by commas, and at "
            "most one of a kind"
        )
    settings = replace(batch_and_sharding.settings_for(free_lunch=True), **chosen)
    if settings.offloading and settings.sharding is None:
        raise ValueError(f"--settings is {text!r}: {batch_and_sharding.OFFLOADING_NEEDS_SHARDING}")
    if settings.compilation in ("whole", "regional") and not settings.free_lunch:
        raise ValueError(f"--settings is {text!r}: naive settings compile nothing, leave one out")
    return settings


def settings_words(settings: Settings) -> str:
    """What `parse_settings` takes for these settings, whatever their micro-batch is."""
    usual = batch_and_sharding.settings_for(free_lunch=True)
    words = [
        word
        for word, sets in _WORDS.items()
        if any(value != getattr(usual, name) for name, value in sets.items())
        and all(getattr(settings, name) == value for name, value in sets.items())
    ]
    return ",".join(words) or "free-lunch"


EVERY = "naive,free-lunch,paper,all,rounding"
"""All that ``--methods`` may name."""


def every_setting(recipe: Recipe) -> frozenset[Settings]:
    """All that the recipe's model can be trained with, on one GPU or several."""
    return frozenset(
        settings
        for gpu_count in (1, 2)
        for settings in settings_of_methods(EVERY, recipe, gpu_count, flash=True)
    )


def why_not(recipe: Recipe, settings: Settings, every: Collection[Settings]) -> str | None:
    """The sentence that says why a model cannot be trained so, or None where it can. ``every`` is
    what it can be trained with."""
    if recipe.training.adapter_rank is not None:
        if recipe.family not in ("decoder", "encoder") or recipe.model.timm is not None:
            return f"{recipe.name} is no transformer of text, which adapters are trained of here"
        if recipe.training.weight_bits not in (None, 4):
            return (
                f"{recipe.name} has weights of {recipe.training.weight_bits} bits, and 4 alone are "
                "trained here: write weight_bits = 4"
            )
    if _searched(recipe, settings) in every:
        return None
    said = settings_words(settings).replace(",", " and ")
    return f"{recipe.name} is not trained with {said} here: leave words out, or give free-lunch"


def _searched(recipe: Recipe, settings: Settings) -> Settings:
    """The settings as a search writes them, naive ones as those of no free lunch but theirs."""
    if not settings.free_lunch and settings != batch_and_sharding.settings_for(free_lunch=False):
        settings = replace(settings, free_lunch=True, compilation="none")
    return as_trained(recipe, as_searched(recipe, settings))


def why_not_here(
    settings: Settings, training: Training, packages: Collection[str], capability: str | None
) -> str | None:
    """The sentence that says why this machine cannot train so, or None where it can.

    ``packages``: those of `PACKAGES` that are installed; ``capability``: the GPU's, as ``9.0``.
    """
    if training.adapter_rank is not None and "peft" not in packages:
        return "adapters need peft, which is not installed: pip install peft"
    if training.weight_bits is not None and "torchao" not in packages:
        return "weights of 4 bits need torchao, which is not installed: pip install torchao"
    if (settings.sharding or "").startswith("zero-") and "deepspeed" not in packages:
        return "ZeRO needs DeepSpeed, which is not installed: leave it out, or install deepspeed"
    if settings.attention == "flash" and not has_flash_attention(capability, packages):
        return (
            "FlashAttention is not installed for this machine: leave out flash, or install "
            "flash-attn"
        )
    return None


def has_flash_attention(capability: str | None, packages: Collection[str]) -> bool:
    """Whether a GPU of this compute capability can use one of the installed packages."""
    if capability is None:
        return False
    hopper = capability.startswith("9.")
    return "flash_attn" in packages or ("flash_attn_interface" in packages and hopper)
