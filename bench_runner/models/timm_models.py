"""timm's models by name: what a training sample of each asks, from a table that ships.

`tools/count_models/count_timm.py` wrote the table by building every model; nothing is built here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path

from bench_runner.models.architecture import Architecture, ModelCount, ModelType
from bench_runner.models.model_types import build

TABLE = Path(__file__).parent / "timm_models.csv"
CLASSES = 1000
"""Of every model in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One model with 1,000 classes at its own image size; operations and elements a sample's
    forward pass."""

    image_size: int
    parameters: int
    features: int
    """Inputs of the classifier."""
    matmul: int
    attention: int
    convolution: int
    elements: int
    """Kept for the backward pass, attention scores apart."""
    scores: int
    plain_scores: int
    """Of `scores`: those that the model's own code computes, where torch's fused attention is not
    asked."""
    taps: int
    """Products of depthwise convolutions."""
    normed_pixels: int
    """Of batch norms: positions of which each channel's statistics are taken."""
    grouped: int
    """What convolutions in groups of channels write, depthwise ones apart."""
    copied: int
    """Of `elements`: what an activation in place overwrites and its gradient asks for."""
    weighted: int
    """Convolutions and linear layers, each with weights of its own."""
    layers: int
    tokens: int
    width: int


COLUMNS = ("name", *(each.name for each in fields(Counted)))


TIMM = ModelType(
    name="timm",
    config_class="timm",
    family="vit",
    description="TimmModel",
    keys={},
    defaults={},
    attention=None,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimmModel(Architecture):
    """A model that is known by its counts alone."""

    kind: ModelType = field(default=TIMM, repr=False)
    counted: Counted
    classes: int = CLASSES
    patch_size: int = 0
    """Pixels a side of the patches that its name tells, of which only whole ones count; 0: none."""

    @property
    def parameters(self) -> int:
        """With as many classes as are asked for."""
        return self.counted.parameters + (self.classes - CLASSES) * (self.counted.features + 1)

    def count(self, length: int) -> ModelCount:
        counted = self.at(length)
        return ModelCount(
            parameters=self.parameters,
            matmul=counted.matmul,
            attention_full=counted.attention,
            attention_lowest=counted.attention,
            convolution=counted.convolution,
        )

    def at(self, pixels: int) -> Counted:
        """The counts at another size: work and elements grow with the area, attention over the
        whole image with its square."""
        counted = self.counted
        side = max(1, self.patch_size)
        area = (pixels // side / (counted.image_size // side)) ** 2
        whole = counted.scores >= 0.9 * counted.layers * counted.tokens**2
        square = area**2 if whole else area
        grown = {name: round(getattr(counted, name) * area) for name in _BY_AREA}
        grown |= {name: round(getattr(counted, name) * square) for name in _BY_SQUARE}
        return replace(counted, **grown, tokens=max(1, round(counted.tokens * area)))


_BY_AREA = ("matmul", "convolution", "elements", "taps", "normed_pixels", "grouped", "copied")
_BY_SQUARE = ("attention", "scores", "plain_scores")


@cache
def _table() -> dict[str, str]:
    """Each line by its model's name; a line is read when it is asked for."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()[1:]
    return {line.partition(",")[0]: line for line in lines}


def plain_name(name: str) -> str:
    """The architecture's name, without what weights it might have: ``resnet50.a1_in1k``."""
    return name.strip().removeprefix("timm/").partition(".")[0]


def timm_model(name: str, classes: int | None = None) -> TimmModel | None:
    """The model of this name; None where the table has none."""
    line = _table().get(plain_name(name))
    if line is None:
        return None
    numbers = map(int, line.split(",")[1:])
    counted = Counted(**dict(zip(COLUMNS[1:], numbers, strict=True)))
    patch = _PATCH.search(plain_name(name))
    return TimmModel(
        counted=counted, classes=classes or CLASSES, patch_size=int(patch[1]) if patch else 0
    )


_PATCH = re.compile(r"(?:_patch|^mixer_[sbl]|^xcit_\w+_p)(\d{1,2})(?=_|$)")


def timm_names() -> tuple[str, ...]:
    """Every name in the table."""
    return tuple(_table())


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


def timm_architecture(name: str, classes: int) -> tuple[Architecture, int | None] | None:
    """What a timm model is made of, and pixels a side where that is its own; None where no such
    model is known.

    Plain vision transformers and ConvNeXts are counted layer by layer, as a configuration of them
    would be; all others are what the table says.
    """
    counted = timm_model(name, classes)
    plain = _plain(plain_name(name), classes)
    if counted is None or (plain is not None and _KNOWN_KIN.fullmatch(plain_name(name))):
        return plain
    return counted, counted.counted.image_size


_KNOWN_KIN = re.compile(
    r"(?:vit|deit|deit3)_[a-z]+_patch\d{1,3}_\d{2,4}|convnext_(?!.*(?:hnf|ols|_mlp))[a-z]+"
)
"""Names that say all of the model."""


def _plain(name: str, classes: int) -> tuple[Architecture, int | None] | None:
    if (found := _VIT_NAME.fullmatch(name)) and found[1] in _VITS:
        hidden, layers, heads, inner = _VITS[found[1]]
        patch, size = int(found[2]), int(found[3] or 224)
        if patch < 1 or patch > size:
            raise ValueError(f"timm name '{name}': patches of {patch} pixels do not fit {size}")
        vit = build(
            "vit",
            hidden_size=hidden,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=inner,
            patch_size=patch,
            num_labels=classes,
        )
        return vit, size
    if (found := _CONVNEXT_NAME.fullmatch(name)) and found[1] in _CONVNEXTS:
        depths, width = _CONVNEXTS[found[1]]
        widths = tuple(width * 2**stage for stage in range(4))
        return build("convnext", depths=depths, hidden_sizes=widths, num_labels=classes), None
    return None


def likely_family(architecture: Architecture) -> str:
    """``vit`` where tokens attend or mix without depthwise convolutions, else ``convnet``."""
    if not isinstance(architecture, TimmModel):
        return architecture.kind.family
    counted = architecture.counted
    products = counted.matmul + counted.attention
    return "vit" if products > counted.convolution and not counted.taps else "convnet"
