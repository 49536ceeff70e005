from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.models.model_source import ModelSource
from bench_runner.models.transformer import Transformer
from bench_runner.recipe_flops import FlopCount, UncountedArchitectureError, count_flops
from bench_runner.recipes import Recipe, Support, Training, load_recipes

RECIPES = {recipe.recipe_id: recipe for recipe in load_recipes()}

FIGURE_9A = {
    "pythia-160m": 2.9e20,
    "pythia-410m": 8.2e20,
    "pythia-1b": 1.9e21,
    "pythia-2.8b": 5.4e21,
    "pythia-6.9b": 1.3e22,
    "roberta": 4.8e21,
    "mamba": 8.7e20,
    "convnext-xlarge-22k": 1.4e21,
    "vit": 4.7e20,
}


def own_recipe(config_class: str, *, family: str = "decoder", **arguments: Any) -> Recipe:
    text = family in ("decoder", "encoder", "ssm")
    return Recipe(
        recipe_id="own",
        name="Own",
        family=family,
        model=ModelSource(config_class=config_class, arguments=arguments),
        training=Training(
            batch_size=4,
            training_steps=10,
            sequence_length=24 if text else None,
            image_size=None if text else 64,
            classes=None if text else 7,
            precision="bf16",
            optimizer="adamw",
        ),
        support=Support(),
        source="test",
    )


def count(recipe_id: str) -> FlopCount:
    return count_flops(RECIPES[recipe_id])


def test_pythia_160m_by_hand() -> None:
    tokens, hidden, layers, vocabulary = 2049, 768, 12, 50304
    found = count("pythia-160m")
    assert found.model.matmul == 2 * tokens * (layers * 12 * hidden**2 + hidden * vocabulary)
    assert found.model.attention_full == layers * 4 * tokens**2 * hidden
    assert found.model.attention_lowest * 2 == found.model.attention_full
    assert found.parameters == 162_322_944  # as its model card has it
    assert found.samples == 1024 * 143_000
    assert found.flops_full == 1024 * 143_000 * found.train_sample_full


def test_convnext_counts_depthwise_convolutions_as_depthwise() -> None:
    # Liu et al. 2022, table 12: ConvNeXt-XL at 224 pixels needs 60.9 GMAC with 1000 classes.
    xlarge = RECIPES["convnext-xlarge-22k"]
    arguments = {**xlarge.model.arguments, "num_labels": 1000}
    thousand = replace(
        xlarge,
        model=replace(xlarge.model, arguments=arguments),
        training=replace(xlarge.training, classes=1000),
    )
    assert count_flops(thousand).train_sample_lowest / 6e9 == pytest.approx(60.9, abs=0.1)


def test_the_paper_s_own_counts() -> None:
    """Figure 9a agrees with the full count but for ConvNeXt and Mamba, as flops.py says."""
    ratios = {name: flops / count(name).flops_full for name, flops in FIGURE_9A.items()}
    assert ratios.pop("convnext-xlarge-22k") == pytest.approx(3.0, abs=0.05)
    assert ratios.pop("mamba") == pytest.approx(0.17, abs=0.01)
    assert all(ratio == pytest.approx(1, abs=0.02) for ratio in ratios.values()), ratios
    assert count("pythia-160m").train_sample_full / 2049 == pytest.approx(966e6, rel=0.003)


@pytest.mark.torch
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_there_are_as_many_parameters_as_are_built(recipe: Recipe) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("timm")
    from bench_runner.worker.models import build_model

    with torch.device("meta"):
        model = build_model(recipe, None)
    built = sum(parameter.numel() for parameter in model.parameters())
    assert count_flops(recipe).parameters == built


@pytest.mark.parametrize("recipe_id", RECIPES)
def test_lowest_is_never_above_full(recipe_id: str) -> None:
    found = count(recipe_id)
    assert 0 < found.flops_lowest <= found.flops_full
    # A decoder looks back only, an encoder-decoder's too, and ModernBERT's windows are narrow.
    recipe = RECIPES[recipe_id]
    model = recipe.architecture
    windows = isinstance(model, Transformer) and model.local_attention > 0
    narrower = recipe.family == "decoder" or windows or isinstance(model, EncoderDecoder)
    assert (found.flops_lowest < found.flops_full) is narrower


def test_an_architecture_that_is_not_known_is_refused_with_those_that_are() -> None:
    for recipe, words in (
        (own_recipe("Ministral4Config"), "did you mean Ministral"),
        (replace(RECIPES["vit"], model=ModelSource(timm="resnet5000", arguments={})), "such as"),
    ):
        with pytest.raises(UncountedArchitectureError, match=words):
            count_flops(recipe)


@pytest.mark.torch
def test_a_scan_against_torch_s_own_counter() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from torch.utils.flop_counter import FlopCounterMode

    from bench_runner.worker.models import build_model

    recipe = own_recipe("MambaConfig", family="ssm", hidden_size=40, num_hidden_layers=2)
    # The library's own scan steps through the tokens one by one.
    recipe = replace(recipe, training=replace(recipe.training, sequence_length=8))
    with torch.device("meta"):
        model = build_model(recipe, None)
    with FlopCounterMode(display=False) as counter:
        model(input_ids=torch.zeros((1, 8), dtype=torch.long, device="meta"))
    counted = {str(op): flops for op, flops in counter.get_flop_counts()["Global"].items()}
    forward = count_flops(recipe).model
    # Of the scan the counter sees the read-out y = C h alone, as a batched product.
    assert counted.pop("aten.bmm") * 3 == forward.scan
    # The library pads the convolution and cuts what is past the end: 3 tokens of 4 - 1.
    assert counted.pop("aten.convolution") * 8 == forward.convolution * (8 + 3)
    assert sum(counted.values()) == forward.matmul
