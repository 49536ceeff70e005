"""The exact settings beyond the paper's: what is compiled, how the loss is made, what is fed.

Each trains the same model to the same loss, so the larger space is the paper's combinations times
these. Pure and light: the advisor imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.models.images import Vit
from bench_runner.recipes import Recipe
from bench_runner.records.measurement import Attention, Compilation, Inputs, Loss, Settings, Weights
from bench_runner.settings import batch_and_sharding

ROUND_LENGTH = 8
"""Kernels of attention and of state spaces are fastest for multiples of this many tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """How a pass is computed, apart from what is kept, sharded or offloaded."""

    compilation: Compilation
    loss: Loss
    inputs: Inputs
    attention: Attention | None
    """None: what the recipe names, or the fastest kernel that is installed."""
    weights: Weights = "fp32"


_OF_KERNELS = tuple(Kernels.__dataclass_fields__)


def explicit(settings: Settings) -> Settings:
    """The same settings with the compilation said: None means the whole model, but nothing with
    DeepSpeed (see bench_runner.settings.configure)."""
    if settings.compilation is not None or not settings.free_lunch:
        return settings
    zero = (settings.sharding or "").startswith("zero-")
    return replace(settings, compilation="none" if zero else "whole")


def canonical(settings: Settings) -> Settings:
    """The same settings as the paper's space writes them, so that one training has one record."""
    plain = replace(settings, compilation=None)
    return plain if explicit(plain) == explicit(settings) else settings


def as_searched(recipe: Recipe, settings: Settings) -> Settings:
    """The same settings as a search of this recipe writes them, so that a trial asked for by name
    and the search's have one key."""
    own = recipe.support.attention or "sdpa"
    if settings.free_lunch and settings.attention == own:
        settings = replace(settings, attention=None)
    return canonical(settings)


def kernels_of(settings: Settings) -> Kernels:
    """What of the settings is a kernel; naive settings have those of no free lunch."""
    said = explicit(settings)
    found = {name: getattr(said, name) for name in _OF_KERNELS}
    return Kernels(**found | {"compilation": said.compilation or "none"})


@lru_cache(maxsize=1024)  # a store's thousands of predictions have a few hundred
def with_kernels(settings: Settings, kernels: Kernels) -> Settings:
    """The same sharding, offloading and checkpointing, with other kernels; canonical.

    What shards has weights of its own: with sharding these stay as they are.
    """
    changes: dict[str, Any] = {name: getattr(kernels, name) for name in _OF_KERNELS}
    if settings.sharding is not None:
        del changes["weights"]
    return canonical(replace(settings, **changes))


def most_promising(recipe: Recipe) -> Kernels:
    """The first of `choices`."""
    return choices(recipe, flash=False)[0]


def choices(recipe: Recipe, *, flash: bool) -> tuple[Kernels, ...]:
    """All kernels that a model can be trained with, the most promising first.

    ``flash``: whether FlashAttention is installed; then it is a choice beside PyTorch's own.
    """
    return tuple(
        Kernels(compilation=how, loss=loss, inputs=inputs, attention=attention, weights=weights)
        for weights in _weights(recipe)
        for loss in losses_of(recipe)
        for inputs in inputs_of(recipe)
        for how in _compilations(recipe)
        for attention in attentions_of(recipe, flash=flash)
    )


def combinations(recipe: Recipe, gpu_count: int) -> tuple[Settings, ...]:
    """What is sharded, offloaded or kept: the paper's, and on one GPU ZeRO-1 without offloading.

    There it shards nothing, but keeps half-precision weights and FP32 masters on the GPU, which
    the paper's rule passes over. As everywhere with ZeRO, DeepSpeed makes the masters from weights
    that it has rounded, so that a training begins half a last place off, and adds up the gradients
    of a step's passes in half precision: its loss curves lie within the scatter of eight seeds, and
    stray further from the plain ones than those of half-weights (docs/measurements.md).
    """
    found = batch_and_sharding.space(gpu_count)
    if gpu_count == 1 and recipe.training.precision in ("fp16", "bf16"):
        found += tuple(
            batch_and_sharding.settings_for(
                free_lunch=True, sharding="zero-1", activation_checkpointing=kept
            )
            for kept in (False, True)
        )
    return tuple(settings for settings in found if _is_possible(recipe, settings))


def _is_possible(recipe: Recipe, settings: Settings) -> bool:
    """Whether the model's code can recompute what these settings do not keep, and nothing is
    sharded beside adapters."""
    if recipe.training.adapter_rank is not None and settings.sharding is not None:
        return False
    return recipe.support.activation_checkpointing or not settings.activation_checkpointing


def whole_space(recipe: Recipe, gpu_count: int, *, flash: bool) -> tuple[Settings, ...]:
    """Every exact combination that is worth trying, the paper's 12 or 22 among them."""
    found: dict[Settings, None] = {}
    for kernels in choices(recipe, flash=flash):
        for settings in combinations(recipe, gpu_count):
            found.setdefault(with_kernels(settings, kernels))
    return tuple(found)


def _rounding_space(recipe: Recipe, gpu_count: int, *, flash: bool) -> tuple[Settings, ...]:
    """The whole space without sharding and without FP32 copies of what is trained; nothing where
    that cannot be trained."""
    if recipe.training.precision != "bf16" or recipe.family == "ssm":
        return ()
    return tuple(
        pure_half(settings)
        for settings in whole_space(recipe, gpu_count, flash=flash)
        if settings.sharding is None and settings.weights == "fp32"
    )


def pure_half(settings: Settings) -> Settings:
    """The same without FP32 copies of what is trained."""
    return replace(settings, weights="pure")


def settings_of_methods(
    methods: str, recipe: Recipe, gpu_count: int, *, flash: bool
) -> tuple[Settings, ...]:
    """What ``--methods`` names, several joined by commas, each setting once.

    ``paper``: its 12 or 22 combinations; ``all``: those times all kernels; ``rounding``: those
    without FP32 copies of what is trained, kept apart as they change the training.
    """
    spaces: dict[str, Callable[[], Iterable[Settings]]] = {
        "naive": lambda: [batch_and_sharding.settings_for(free_lunch=False)],
        "free-lunch": lambda: [batch_and_sharding.settings_for(free_lunch=True)],
        "paper": lambda: batch_and_sharding.space(gpu_count),
        "all": lambda: whole_space(recipe, gpu_count, flash=flash),
        "rounding": lambda: _rounding_space(recipe, gpu_count, flash=flash),
    }
    found: dict[Settings, None] = {}
    words = [word.strip() for word in methods.split(",")]
    # Whatever is named first, a search of all begins with the leanest kernels.
    for method in sorted(words, key=lambda word: word != "naive" and word != "all"):
        if method not in spaces:
            raise ValueError(f"--methods is {method!r}: choose among {', '.join(spaces)}")
        for settings in spaces[method]():
            if _is_possible(recipe, settings):
                found.setdefault(as_trained(recipe, settings))
    if not found:
        raise ValueError(
            f"--methods is {methods!r}: {recipe.name} is trained in {recipe.training.precision}, "
            "of which nothing is rounded otherwise: write all"
        )
    return tuple(found)


def as_trained(recipe: Recipe, settings: Settings) -> Settings:
    """Free lunch of a recipe that does not compile is what it is without compilation, so that one
    training is tried once and never held against itself."""
    if recipe.support.compile or not settings.free_lunch:
        return settings
    return canonical(replace(settings, compilation="none"))


def papers_labels(recipe: Recipe, gpu_count: int) -> frozenset[str]:
    """What the settings of the paper's space are called for this recipe."""
    papers = settings_of_methods("paper", recipe, gpu_count, flash=False)
    return frozenset(map(batch_and_sharding.label, papers))


def balances_experts(recipe: Recipe) -> bool:
    """Whether the library adds a loss of the experts' routing to that of the tokens."""
    return recipe.model.arguments.get("output_router_logits") is True


def fuses_loss(recipe: Recipe) -> bool:
    """Whether the loss can be fused with the model's last linear layer."""
    return "fused" in losses_of(recipe)


def losses_of(recipe: Recipe) -> tuple[Loss, ...]:
    """Fused first, where the loss can be fused."""
    lean = recipe.family in ("decoder", "ssm", "encoder") and recipe.model.timm is None
    if isinstance(recipe.architecture, EncoderDecoder):
        lean = False  # lean_loss knows models that read their input once
    if recipe.architecture is not None and recipe.architecture.kind.changes_logits:
        lean = False
    if balances_experts(recipe):
        lean = False
    return ("fused", "plain") if lean else ("plain",)


def inputs_of(recipe: Recipe) -> tuple[Inputs, ...]:
    """Trimmed first, but where that would leave a length that kernels do not like.

    Mamba's take a slow path for lengths that are no multiple of eight: with 4,095 of 4,096 tokens
    a step takes more than twice as long; a decoder's with 1,023 of 1,024 up to 4 % longer
    (docs/measurements.md).
    """
    if recipe.family not in ("decoder", "ssm") or recipe.model.timm is not None:
        return ("full",)
    if balances_experts(recipe):
        return ("full",)
    length = recipe.training.sequence_length or 1
    return ("trimmed", "full") if (length - 1) % ROUND_LENGTH == 0 else ("full", "trimmed")


def _weights(recipe: Recipe) -> tuple[Weights, ...]:
    half = recipe.training.precision in ("fp16", "bf16") and recipe.family != "ssm"
    half = half and recipe.training.adapter_rank is None  # what stays is in half precision anyway
    return ("fp32", "half") if half else ("fp32",)


def _compilations(recipe: Recipe) -> tuple[Compilation, ...]:
    """The most promising first: layer by layer for text and for ViTs in half precision, the whole
    for other models of images.

    Compiled as a whole a ViT's fused attention is opened into products and a softmax: DeiT-S in
    half precision takes 1.53 times as long on an H100. In FP32 there is no such kernel to lose: of
    five models the whole is faster for ResNet-50 (1.39 times) and ViT-B/16 (1.06), and at most
    1.2 % slower for the others (docs/measurements.md). Swin's layers are of many sizes and drop
    paths at rates of their own: compiled one by one they are 24 graphs, which an H100 had not ended
    after 400 seconds. ESM asks whether its last norm is there, to which one that is compiled by
    itself has no answer.
    """
    if not recipe.support.compile:
        return ("none",)
    if recipe.architecture is not None and recipe.architecture.kind.compiles_whole:
        return ("whole", "none")
    fused = recipe.training.precision in ("fp16", "bf16") and isinstance(recipe.architecture, Vit)
    if recipe.training.image_size is not None and not fused:
        return ("whole", "regional", "none")
    return ("regional", "whole", "none")


def attentions_of(recipe: Recipe, *, flash: bool) -> tuple[Attention | None, ...]:
    """The recipe's own first; None alone where there is none to choose."""
    if recipe.family in ("ssm", "convnet") or recipe.model.timm is not None:
        return (None,)
    if recipe.support.attention == "eager":
        return (None, "sdpa")
    half = recipe.training.precision in ("fp16", "bf16")
    if flash and half and recipe.support.attention in (None, "sdpa"):
        return (None, "flash", "eager")
    return (None, "eager")
