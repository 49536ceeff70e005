"""What profiles of an H100 taught the physics, each against what the program then says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from advisor.prediction.fit.shipped_evidence import chips_by_name
from advisor.prediction.fitted import lower_triangle
from advisor.prediction.model.workload import Workload, workload_of
from advisor.prediction.physics.columns import Columns, WorkloadTable
from advisor.prediction.physics.factors import INDEX, Rows, row_factors, starts
from advisor.prediction.physics.memory import Option
from advisor.prediction.physics.step_time import TERMS, opened, work_terms
from advisor.prediction.shipped_predictions import shipped_fit
from bench_runner.kernels import most_promising
from bench_runner.recipes import load_recipes

CHIPS = chips_by_name()
RECIPES = {recipe.recipe_id: recipe for recipe in load_recipes()}
WORKLOADS = {name: workload_of(recipe) for name, recipe in RECIPES.items()}
WHOLE = Option(free_lunch=True, checkpointing=False, stage=0, offloading=False)
OURS = replace(WHOLE, lean=True)


def columns_of(*names: str, gpu: str = "H100") -> Columns:
    table = WorkloadTable([WORKLOADS[name] for name in names], [CHIPS[gpu]])
    places = np.arange(len(names))
    return table.columns(places, np.zeros_like(places), np.ones_like(places))


def seconds(columns: Columns, term: str, *, free_lunch: bool) -> list[float]:
    return [float(x) for x in work_terms(columns, free_lunch=free_lunch)[TERMS.index(term)]]


def test_convolutions_take_tf32_with_naive_settings_too() -> None:
    columns = columns_of("resnet-50")
    (naive,), (tuned,) = (
        seconds(columns, "convolution", free_lunch=lunch) for lunch in (False, True)
    )
    assert naive == tuned > 0.0
    # Its last layer alone is a product of matrices.
    assert seconds(columns, "compute", free_lunch=False)[0] < 0.1 * naive
    # A card that knows no TF32 has FP32 for both.
    old = columns_of("resnet-50", gpu="V100 32GB SXM")
    assert seconds(old, "convolution", free_lunch=False) == seconds(
        old, "convolution", free_lunch=True
    )


@pytest.mark.torch
def test_pytorch_lets_them_where_the_trainer_forbids_tf32() -> None:
    torch = pytest.importorskip("torch")
    import_utils = pytest.importorskip("transformers.utils.import_utils")
    before = torch.backends.fp32_precision
    try:
        import_utils.enable_tf32(False)
        assert torch.backends.cuda.matmul.fp32_precision == "ieee"
        assert torch.backends.cudnn.conv.fp32_precision == "tf32"
    finally:
        torch.backends.fp32_precision = before


def test_a_depthwise_convolution_is_no_dense_one() -> None:
    convnext, vit = WORKLOADS["convnext-base-22k"], WORKLOADS["vit-base-16"]
    assert convnext.scan_elements > 0.0
    # Stem and downsampling are left: a hundredth of the work.
    assert 0.0 < convnext.convolution_flops < 0.05 * convnext.linear_flops
    assert 0.0 < vit.convolution_flops < 0.01 * vit.linear_flops
    assert WORKLOADS["pythia-160m"].convolution_flops == 0.0


@pytest.mark.parametrize(
    ("name", "whole", "ours"),
    [
        ("bert-base", True, False),
        ("roberta-base", True, False),
        ("deit-small-16", True, False),
        ("vit", True, True),  # in FP32 there is no fused kernel to lose, and it is compiled whole
        ("modernbert-150m-shape", False, False),
        ("pythia-160m", False, False),
        ("resnet-50", False, False),
        ("roberta", False, False),  # eager by its recipe: nothing to open
    ],
)
def test_the_compiler_opens_the_attention_of_berts_and_vits(
    name: str, whole: bool, ours: bool
) -> None:
    columns = columns_of(name)
    assert bool(opened(WHOLE, columns)[0]) is whole
    assert bool(opened(OURS, columns)[0]) is ours
    assert not opened(replace(WHOLE, stage=1), columns)[0]  # DeepSpeed compiles nothing here


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("deit-small-16", "regional"),
        ("vit", "whole"),
        ("resnet-50", "whole"),
        ("regnety-3.2gf", "whole"),
        ("swin-tiny", "whole"),
        ("bert-base", "regional"),
        ("mamba-130m", "none"),
    ],
)
def test_what_a_search_begins_with(name: str, first: str) -> None:
    assert most_promising(RECIPES[name]).compilation == first
    assert WORKLOADS[name].layered is (first == "regional")


def test_single_precision_casts_nothing() -> None:
    values = np.exp(np.array(starts()))

    def factor(workload: Workload, term: str) -> float:
        table = WorkloadTable([workload], [CHIPS["H100"]])
        columns = table.columns(np.zeros(1, int), np.zeros(1, int), np.ones(1, int))
        naive = np.array([True])
        return float(row_factors(values, Rows(columns, naive, ~naive))[0, TERMS.index(term)])

    half = replace(WORKLOADS["vit"], precision="fp16")
    for term, name in (
        ("elementwise", "elementwise in FP32"),
        ("issue", "elementwise in FP32"),
        ("scores", "scores in FP32"),
        ("compute", "compute in FP32"),
    ):
        ratio = factor(WORKLOADS["vit"], term) / factor(half, term)
        assert ratio == pytest.approx(values[INDEX[name]])


def test_narrow_models_are_bound_by_the_logits_that_products_write() -> None:
    narrow, wide = columns_of("pythia-14m"), columns_of("pythia-1b")
    for columns, bound in ((narrow, True), (wide, False)):
        plain = 3.0 * columns.share * columns.linear_flops / columns.peak
        told = seconds(columns, "compute", free_lunch=True)[0]
        assert bool(told > 1.5 * plain[0]) is bound
        assert told >= plain[0] * (1.0 - 1e-9)


def test_half_a_covariance_is_kept_and_read_whole() -> None:
    fitted = shipped_fit()
    whole = fitted.covariance()
    assert whole.shape == (len(fitted.effects),) * 2
    assert (whole == whole.T).all()
    assert lower_triangle(whole) == fitted.effect_covariance
    assert np.linalg.eigvalsh(whole).min() > -1e-4
