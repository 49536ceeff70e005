"""A size alone, a timm name, and what a run is said to be: right, and wrong as one line."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.prediction.model.askable_models import Ask, target_of_size, target_of_timm
from tests.prediction.configs_for_tests import IMAGES, TEXT


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("vit_base_patch16_224", 86.6e6),
        ("vit_large_patch14_clip_224.openai", 304e6),
        ("deit3_small_patch16_384", 22.2e6),
        ("convnext_large.fb_in22k", 197.8e6),
        ("convnext_tiny", 28.6e6),
    ],
)
def test_timm_names(name: str, parameters: float) -> None:
    assert target_of_timm(name, IMAGES).workload.parameters == pytest.approx(parameters, rel=0.01)


def test_a_model_that_scales_its_images_has_no_other_size() -> None:
    with pytest.raises(ValueError, match="scales every image to 240 pixels a side; leave"):
        target_of_timm("crossvit_9_240", replace(IMAGES, image_size=304))
    assert target_of_timm("crossvit_9_240", replace(IMAGES, image_size=240)).workload.parameters


@settings(max_examples=50, deadline=None)
@given(parameters=st.floats(min_value=1e7, max_value=1e11))
def test_a_size_alone_keeps_its_size(parameters: float) -> None:
    target = target_of_size("mine", "decoder", parameters, TEXT)
    assert target.workload.parameters == round(parameters)
    # Six FLOPs a parameter and token, more with attention, less what tables never multiply.
    tokens = target.workload.training_steps * 512 * 2048
    assert 0.4 < target.workload.flops / (6 * parameters * tokens) < 2.0
    assert "the usual shape of this size" in target.assumptions[0]


@pytest.mark.parametrize(
    ("family", "parameters", "run", "words"),
    [
        ("ssm", 1e9, TEXT, "family 'ssm'"),
        ("decoder", float("nan"), TEXT, "parameters"),
        ("decoder", 1e9, Ask(batch_size=512), "--tokens"),
        ("vit", 1e8, Ask(batch_size=512, tokens=1e9), "--images"),
    ],
)
def test_a_wrong_size_or_run_is_refused(
    family: str, parameters: float, run: Ask, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        target_of_size("mine", family, parameters, run)
