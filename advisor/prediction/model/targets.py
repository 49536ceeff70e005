"""What somebody may ask about: a recipe, a config.json, a timm name, or a family and a size."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from advisor.prediction.model.workload import Workload, sized, workload_of
from bench_runner.amounts import count_words
from bench_runner.architecture import Architecture, Bert, ConvNext, GptNeoX, Vit
from bench_runner.recipes import TEXT_FAMILIES, ModelSource, Precision, Recipe, Support, Training

DEFAULT_TEXT_LENGTH = 2048
DEFAULT_IMAGE_SIZE = 224
LARGEST = 10**15
"""More samples, tokens or parameters than anybody trains on: a slip of the pen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How long somebody wants to train, and how. What is None is assumed and said so."""

    batch_size: int
    """Samples (sequences or images) an optimiser step, over all GPUs."""
    tokens: float | None = None
    """Tokens of the whole run, for text ..."""
    images: float | None = None
    """... or images, an epoch's as often as it is seen."""
    sequence_length: int | None = None
    image_size: int | None = None
    precision: Precision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A workload to predict, and what had to be assumed about it."""

    workload: Workload
    assumptions: tuple[str, ...] = ()
    recipe: Recipe | None = None
    """What is trained and how; None where only a workload was given."""
    parameters: int | None = None
    """Where only the size is known; the recipe then has the usual shape of about that size."""


def target_of_recipe(recipe: Recipe) -> Target:
    """A recipe says everything."""
    return Target(workload=workload_of(recipe), recipe=recipe)


def make_target(
    *,
    name: str,
    kind: type[Architecture],
    arguments: Mapping[str, Any],
    run: Run,
    longest: int | None = None,
    precision: Precision | None = None,
    assumptions: tuple[str, ...] = (),
) -> Target:
    """A model of a known class trained as ``run`` says. ``longest`` and ``precision`` are what the
    model's own file says of them; what nobody says is assumed."""
    assumed = list(assumptions)
    text = kind.family in TEXT_FAMILIES
    recurrent = kind.family == "ssm"
    length = size = None
    if text:
        length = run.sequence_length
        if length is None:
            length = min(longest or DEFAULT_TEXT_LENGTH, DEFAULT_TEXT_LENGTH)
            assumed.append(f"sequences of {length:,} tokens")
    else:
        size = run.image_size or longest
        if size is None:
            size = DEFAULT_IMAGE_SIZE
            assumed.append(f"images of {size} x {size} pixels")
    chosen = run.precision or precision
    if chosen is None:
        chosen = "bf16"
        assumed.append("bf16 mixed precision")
    samples = _samples(run, length)
    steps = max(1, math.ceil(samples / run.batch_size))
    recipe = Recipe(
        recipe_id=name,
        name=name,
        family=kind.family,
        model=ModelSource(config_class=kind.config_class, arguments=dict(arguments)),
        training=Training(
            batch_size=run.batch_size,
            training_steps=steps,
            sequence_length=length,
            image_size=size,
            classes=arguments.get("num_labels") if not text else None,
            precision=chosen,
            optimizer="adamw",
        ),
        support=Support(attention=None if recurrent else "sdpa", compile=not recurrent),
        source="a model of your own",
    )
    return Target(workload=workload_of(recipe), assumptions=tuple(assumed), recipe=recipe)


def _samples(run: Run, length: int | None) -> float:
    """Samples of the whole run; ValueError where the run does not say."""
    if not 1 <= run.batch_size <= LARGEST:
        raise ValueError(
            f"a batch of {run.batch_size} is not one; give --batch as samples an optimiser step"
        )
    if length is not None:
        if run.tokens is None:
            raise ValueError("how long to train is missing; give --tokens, as 300B")
        amount, name = run.tokens, "tokens"
        samples = run.tokens / length
    else:
        if run.images is None:
            raise ValueError("how long to train is missing; give --images, as 1.28B")
        amount, name = run.images, "images"
        samples = run.images
    if not 1 <= amount <= LARGEST:
        raise ValueError(
            f"{count_words(amount)} {name} is no training run; give 1 to {LARGEST:.0e}"
        )
    return samples


_VITS: Mapping[str, tuple[int, int, int, int]] = {
    "tiny": (192, 12, 3, 768),
    "small": (384, 12, 6, 1536),
    "base": (768, 12, 12, 3072),
    "large": (1024, 24, 16, 4096),
    "huge": (1280, 32, 16, 5120),
    "giant": (1408, 40, 16, 6144),
    "gigantic": (1664, 48, 16, 8192),
}
"""Hidden size, layers, heads, inner size (Dosovitskiy et al. 2021, Zhai et al. 2022)."""

_CONVNEXTS: Mapping[str, tuple[tuple[int, ...], int]] = {
    "atto": ((2, 2, 6, 2), 40),
    "femto": ((2, 2, 6, 2), 48),
    "pico": ((2, 2, 6, 2), 64),
    "nano": ((2, 2, 8, 2), 80),
    "tiny": ((3, 3, 9, 3), 96),
    "small": ((3, 3, 27, 3), 96),
    "base": ((3, 3, 27, 3), 128),
    "large": ((3, 3, 27, 3), 192),
    "xlarge": ((3, 3, 27, 3), 256),
    "xxlarge": ((3, 4, 30, 3), 384),
}
"""Blocks a stage and the first stage's width, which doubles (Liu et al. 2022; timm's smaller)."""

_VIT_NAME = re.compile(r"(?:vit|deit|deit3)_([a-z]+)_patch(\d{1,3})(?:_(\d{2,4}))?(?:[._].*)?")
_CONVNEXT_NAME = re.compile(r"convnext(?:v2)?_([a-z]+)(?:[._].*)?")
CLASSES = 1000


def target_of_timm(name: str, run: Run) -> Target:
    """A timm model by its name, for the families whose sizes the name gives."""
    told = (f"{CLASSES} classes",)
    if (found := _VIT_NAME.fullmatch(name)) and found[1] in _VITS:
        hidden, layers, heads, inner = _VITS[found[1]]
        patch, size = int(found[2]), int(found[3] or DEFAULT_IMAGE_SIZE)
        if patch < 1 or patch > size:
            raise ValueError(f"timm name '{name}': patches of {patch} pixels do not fit {size}")
        return make_target(
            name=name,
            kind=Vit,
            arguments={
                "hidden_size": hidden,
                "num_hidden_layers": layers,
                "num_attention_heads": heads,
                "intermediate_size": inner,
                "patch_size": patch,
                "num_labels": CLASSES,
            },
            run=run,
            longest=size,
            assumptions=told,
        )
    if (found := _CONVNEXT_NAME.fullmatch(name)) and found[1] in _CONVNEXTS:
        depths, width = _CONVNEXTS[found[1]]
        return make_target(
            name=name,
            kind=ConvNext,
            arguments={
                "depths": list(depths),
                "hidden_sizes": [width * 2**stage for stage in range(4)],
                "num_labels": CLASSES,
            },
            run=run,
            assumptions=told,
        )
    raise ValueError(
        f"timm name '{name}': only vit_SIZE_patchN, deit_SIZE_patchN and convnext_SIZE can be "
        "counted without building the model; measure this one with advisor bench"
    )


VOCABULARY = 50_304
_USUAL: Mapping[str, type[Architecture]] = {"decoder": GptNeoX, "encoder": Bert, "vit": Vit}
"""What stands in for a model of each family of which only the size is known."""


def target_of_size(name: str, family: str, parameters: float, run: Run) -> Target:
    """A model of which only family and size are known: the usual shape of that size stands in."""
    if not 1e5 <= parameters <= 1e13:
        raise ValueError(
            f"{count_words(parameters)} parameters is no model that can be predicted; give 100K to "
            "10T"
        )
    kind = _USUAL.get(family)
    if kind is None:
        raise ValueError(
            f"family '{family}' cannot be predicted from its size alone; give a config.json, or "
            "one of decoder, encoder, vit"
        )
    vocabulary = VOCABULARY if family != "vit" else 0
    tables = 2 if family == "decoder" else 1

    def count(hidden: int) -> float:
        return 12.0 * _layers(hidden) * hidden**2 + tables * vocabulary * hidden

    hidden = 64
    while count(hidden + 64) <= parameters:
        hidden += 64
    layers = _layers(hidden)
    shape = {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": max(1, hidden // 64),
        "intermediate_size": 4 * hidden,
    }
    extra = {"num_labels": CLASSES} if family == "vit" else {"vocab_size": vocabulary}
    target = make_target(
        name=name,
        kind=kind,
        arguments={**shape, **extra},
        run=run,
        assumptions=(f"{layers} layers of width {hidden:,}, the usual shape of this size",),
    )
    size = round(parameters)
    return replace(target, workload=sized(target.workload, size), parameters=size)


def _layers(hidden: int) -> int:
    """Decoders and encoders of a width have about this many layers (GPT-3's and Pythia's sizes)."""
    return max(2, min(96, round(hidden / 80)))
