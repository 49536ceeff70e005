"""Why a model, or this machine, cannot be trained with some settings: a sentence that says so."""

from __future__ import annotations

from collections.abc import Collection

from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.recipes import Recipe, Training
from bench_runner.records.measurement import Settings
from bench_runner.settings.settings_tried import (
    attentions_of,
    balances_experts,
    inputs_of,
    losses_of,
)

FLASH_PACKAGES = ("flash_attn", "flash_attn_interface")
"""FlashAttention 2, and 3, which is for Hopper alone."""


def why_not(recipe: Recipe, settings: Settings) -> str | None:
    """The sentence that says why a model cannot be trained so, or None where it can."""
    if settings.loss == "fused" and isinstance(recipe.architecture, EncoderDecoder):
        return f"{recipe.name} is an encoder-decoder, whose loss is not fused here: leave out fused"
    kind = recipe.architecture.kind if recipe.architecture is not None else None
    if settings.loss == "fused" and kind is not None and kind.changes_logits:
        return (
            f"{recipe.name} changes its logits behind the last linear layer, with which its loss "
            "would be fused: leave out fused"
        )
    if balances_experts(recipe) and (settings.loss == "fused" or settings.inputs == "trimmed"):
        return (
            f"{recipe.name} adds to its loss how evenly its experts are used "
            "(output_router_logits), of all tokens that it is fed: leave out fused and trimmed"
        )
    if settings.loss == "fused" and settings.loss not in losses_of(recipe):
        return f"{recipe.name} has no logits over a vocabulary to fuse a loss with: leave out fused"
    if settings.inputs == "trimmed" and settings.inputs not in inputs_of(recipe):
        return f"{recipe.name} does not predict the next token: leave out trimmed"
    if settings.activation_checkpointing and not recipe.support.activation_checkpointing:
        return (
            f"the recipe of {recipe.name} says that it has no activation checkpointing: leave out "
            "checkpointing"
        )
    if settings.compilation in ("whole", "regional") and not recipe.support.compile:
        return f"the recipe of {recipe.name} says that it does not compile: leave that out"
    if settings.compilation == "regional" and kind is not None and kind.name == "esm":
        return (
            f"{recipe.name} ends with an error where its layers are compiled one by one "
            "(transformers asks for the length of its last norm): leave out regional"
        )
    if settings.attention is not None and attentions_of(recipe, flash=True) == (None,):
        return f"{recipe.name} has no attention to choose: leave out {settings.attention}"
    if settings.attention == "flash" and recipe.training.precision not in ("fp16", "bf16"):
        return f"{recipe.name} is trained in {recipe.training.precision}: leave out flash"
    if settings.weights == "half" and (reason := _why_not_half(recipe, settings)):
        return reason
    if recipe.training.adapter_rank is not None and (reason := _why_no_adapters(recipe, settings)):
        return reason
    return _why_not_pure(recipe, settings) if settings.weights == "pure" else None


def why_not_here(
    settings: Settings,
    *,
    torchao: bool,
    flash: bool,
    deepspeed: bool = True,
    peft: bool = True,
    training: Training | None = None,
) -> str | None:
    """The sentence that says why this machine cannot train so, or None where it can.

    ``torchao``, ``deepspeed`` and ``peft``: whether they are installed; ``flash``: whether a
    FlashAttention for this GPU is.
    """
    if training is not None and training.adapter_rank is not None and not peft:
        return "adapters need peft, which is not installed: pip install peft"
    if training is not None and training.weight_bits is not None and not torchao:
        return "weights of 4 bits need torchao, which is not installed: pip install torchao"
    if (settings.sharding or "").startswith("zero-") and not deepspeed:
        return "ZeRO needs DeepSpeed, which is not installed: leave it out, or install deepspeed"
    if settings.attention == "flash" and not flash:
        return (
            "FlashAttention is not installed for this machine: leave out flash, or install "
            "flash-attn"
        )
    return None


def has_flash_attention(compute_capability: str | None, packages: Collection[str]) -> bool:
    """Whether a GPU of this compute capability can use one of the installed packages."""
    if compute_capability is None:
        return False
    hopper = compute_capability.startswith("9.")
    return "flash_attn" in packages or ("flash_attn_interface" in packages and hopper)


def _why_not_pure(recipe: Recipe, settings: Settings) -> str | None:
    """Why half precision without masters cannot be had, or None where it can."""
    if settings.sharding is not None:
        return "pure-half is not tried together with ZeRO or FSDP: leave one out"
    if recipe.family == "ssm":
        return f"the states of {recipe.name} need FP32 parameters: leave out pure-half"
    if recipe.training.precision != "bf16":
        return (
            f"{recipe.name} is trained in {recipe.training.precision}, and updates of bf16 weights "
            "alone go without FP32 masters: leave out pure-half"
        )
    return None


def _why_no_adapters(recipe: Recipe, settings: Settings) -> str | None:
    """Why adapters cannot be trained so, or None where they can."""
    if recipe.family not in ("decoder", "encoder") or recipe.model.timm is not None:
        return f"{recipe.name} is no transformer of text, which adapters are trained of here"
    if recipe.training.weight_bits not in (None, 4):
        return (
            f"{recipe.name} has weights of {recipe.training.weight_bits} bits, and 4 alone are "
            "trained here: write weight_bits = 4"
        )
    if settings.sharding is not None:
        return "adapters are trained here without ZeRO or FSDP: leave that out"
    return None


def _why_not_half(recipe: Recipe, settings: Settings) -> str | None:
    """Why a pass cannot run in half precision with FP32 masters, or None where it can."""
    if recipe.training.adapter_rank is not None:
        return (
            "what adapters leave as it is has no masters: leave out half-weights, or write "
            "pure-half for adapters in half precision"
        )
    if recipe.training.precision not in ("fp16", "bf16"):
        return f"{recipe.name} is trained in {recipe.training.precision}: leave out half-weights"
    if recipe.family == "ssm":
        return f"the states of {recipe.name} need FP32 parameters: leave out half-weights"
    if (settings.sharding or "").startswith("zero-"):
        return "DeepSpeed keeps half-precision weights with FP32 masters of its own: leave one out"
    if settings.sharding is not None:
        return "FSDP rounds the weights that it gathers by itself: leave out half-weights"
    return None
