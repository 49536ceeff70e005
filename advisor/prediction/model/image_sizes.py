"""Whether images of a size can be cut into a model's patches.

A convolution of a patch's size and step takes whole patches alone: what is left at the right and at
the bottom goes unseen. So do transformers' ViT and timm's plain ones (timm's PatchEmbed, where the
model is built for the size); SAM's, NaFlexViT and XCiT refuse instead. Swin fills up with zeros in
transformers, which is counted, and is cut in timm. Convolutional networks take any size.
"""

from __future__ import annotations

from bench_runner.models.architecture import Architecture, Vit
from bench_runner.models.timm_models import TimmModel
from bench_runner.recipes import Recipe


def refuse_below_a_patch(recipe: Recipe) -> None:
    """ValueError where an image is smaller than one of the patches that it is cut into."""
    pixels, patch = recipe.training.image_size, getattr(recipe.architecture, "patch_size", 0)
    if pixels is not None and pixels < patch:
        raise ValueError(
            f"images of {pixels} pixels a side are smaller than the model's patches of {patch}; "
            f"give --image-size {patch} or more"
        )


def refuse_parts_of_patches(architecture: Architecture | None, pixels: int) -> None:
    """ValueError where images of a size that somebody asks for cannot be cut into whole patches."""
    if over := _over(architecture, pixels):
        patch = _patch(architecture)
        fewer, more = pixels - over, pixels - over + patch
        raise ValueError(
            f"images of {pixels} pixels a side cannot be cut into whole patches of {patch}: the "
            f"model would not see the last {over}, or not be built; give --image-size {fewer} or "
            f"{more}"
        )


def said_of_parts(recipe: Recipe) -> tuple[str, ...]:
    """What is assumed where images of the model's own size cannot be cut into whole patches."""
    pixels = recipe.training.image_size
    over = 0 if pixels is None else _over(recipe.architecture, pixels)
    if not over:
        return ()
    return (
        f"the last {over} of {pixels} pixels a side unseen: they fill no whole patch of "
        f"{_patch(recipe.architecture)}",
    )


def _patch(architecture: Architecture | None) -> int:
    """Pixels a side of the patches, of which only whole ones count; 0: none."""
    return architecture.patch_size if isinstance(architecture, Vit | TimmModel) else 0


def _over(architecture: Architecture | None, pixels: int) -> int:
    """Pixels behind the last whole patch."""
    patch = _patch(architecture)
    return pixels % patch if patch and pixels >= patch else 0
