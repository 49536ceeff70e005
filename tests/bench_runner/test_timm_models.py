"""The table of timm's models."""

from __future__ import annotations

import pytest

from bench_runner.models.timm_models import timm_model, timm_names


@pytest.mark.parametrize(
    ("name", "parameters", "gmacs"),
    [  # timm's own results (results/benchmark-infer): parameters, and products of 224 pixels
        ("resnet50", 25_557_032, 4.11),
        ("swin_tiny_patch4_window7_224", 28_288_354, 4.51),
        ("efficientnet_b0", 5_288_548, 0.40),
        ("regnety_040", 20_646_656, 4.00),
        ("mixer_b16_224", 59_880_472, 12.62),
    ],
)
def test_the_table_of_timm_says_what_timm_says(name: str, parameters: int, gmacs: float) -> None:
    model = timm_model(name)
    assert model is not None
    counted = model.counted
    assert counted.parameters == parameters
    work = counted.matmul + counted.attention + counted.convolution
    assert work / 2e9 == pytest.approx(gmacs, rel=0.04)


def test_every_name_of_the_table_is_counted() -> None:
    names = timm_names()
    assert len(names) == len(set(names)) > 1300
    for name in names:
        model = timm_model(f"timm/{name}.some_weights")
        assert model is not None and model.counted.parameters > 0
        assert model.at(model.counted.image_size) == model.counted
    assert timm_model("hf_hub:somebody/model") is None


def test_whole_patches_alone_count() -> None:
    model = timm_model("vit_base_patch14_dinov2")
    assert model is not None and model.patch_size == 14 and model.counted.image_size == 518
    assert model.at(37 * 14 + 13) == model.at(518) == model.counted
    assert model.at(38 * 14).matmul == pytest.approx(model.counted.matmul * 38**2 / 37**2)
    plain = timm_model("resnet50")
    assert plain is not None and plain.patch_size == 0
    assert plain.at(288).convolution > plain.at(287).convolution
