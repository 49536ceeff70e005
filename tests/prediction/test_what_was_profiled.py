"""What profiles of an H100 taught the physics, each against what the program then says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from advisor.prediction.distance import LOOPED
from advisor.prediction.fitted import lower_triangle
from advisor.prediction.model.shapes import unfilled_flops
from advisor.prediction.model.workload import Workload, workload_of
from advisor.prediction.observed_times import chips_by_name
from advisor.prediction.physics.columns import Columns, WorkloadTable
from advisor.prediction.physics.factors import INDEX, TERMS, Rows, row_factors, starts
from advisor.prediction.physics.memory import Option, sample_bytes
from advisor.prediction.physics.step_terms import opened, work_terms
from advisor.prediction.predict_many import predict_many
from advisor.prediction.shipped_predictions import shipped_fit
from bench_runner.recipe_flops import counted_architecture
from bench_runner.recipes import load_recipes
from bench_runner.settings.kernels import most_promising
from tools.fit.log_step import step_terms

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

    half = WORKLOADS["swin-base"]
    for term, name in (
        ("elementwise", "elementwise in FP32"),
        ("issue", "elementwise in FP32"),
        ("scores", "scores in FP32"),
        ("compute", "compute in FP32"),
    ):
        ratio = factor(replace(half, precision="fp32"), term) / factor(half, term)
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


def experts_s(option: Option, *names: str, gpu: str = "H100") -> list[float]:
    columns = columns_of(*names, gpu=gpu)
    return [
        float(x)
        for x in step_terms(option, columns, np.ones(len(names)))[TERMS.index("experts")]
        * np.ones(len(names))
    ]


def test_autocast_leaves_experts_in_fp32_and_half_weights_do_not() -> None:
    names = ("granite-3.0-1b-a400m-shape", "pythia-160m")
    whole, dense = experts_s(WHOLE, *names)
    assert whole > 0.0
    assert dense == 0.0
    # The chosen experts' products, three passes, at 66.9 TFLOP/s less what the power takes.
    granite = WORKLOADS[names[0]]
    least = 3.0 * granite.batch_size * granite.expert_flops / 66.9e12
    assert least <= whole < 1.3 * least
    assert experts_s(replace(WHOLE, stage=1), *names) == [0.0, 0.0]
    assert experts_s(replace(WHOLE, half_weights=True), *names) == [0.0, 0.0]
    assert experts_s(replace(WHOLE, free_lunch=False), *names) == [whole, 0.0]


def test_a_card_without_a_known_fp32_rate_trains_what_has_no_experts() -> None:
    chip = replace(CHIPS["H100"], fp32_tflops=None)
    table = WorkloadTable([WORKLOADS["pythia-160m"]], [chip])
    columns = table.columns(np.zeros(1, int), np.zeros(1, int), np.ones(1, int))
    assert np.isfinite(step_terms(WHOLE, columns, np.ones(1))[TERMS.index("experts")]).all()


def test_experts_in_fp32_keep_twice_as_much() -> None:
    columns = columns_of("granite-3.0-1b-a400m-shape")
    costs = shipped_fit().costs
    whole, sharded = (
        sample_bytes(replace(OURS, stage=stage), columns, costs)[0] for stage in (0, 1)
    )
    assert whole > sharded + 1.9 * columns.expert_elements[0]


def test_experts_are_told_less_surely_where_torch_loops_over_them() -> None:
    experts, dense = WORKLOADS["granite-3.0-1b-a400m-shape"], WORKLOADS["pythia-1b"]
    chips = [CHIPS[name] for name in ("H100", "RTX 4090")]
    pairs = np.indices((2, 2)).reshape(2, -1)
    made = predict_many([experts, dense], chips, *pairs, np.ones(4, dtype=int), shipped_fit())
    measured, looped, *others = made.distance
    assert looped == pytest.approx(measured + LOOPED)
    assert max(others) < 0.01
    width = made.high_days / made.days
    assert width[1] > 1.1 * width[0]


@pytest.mark.torch
def test_torch_has_no_grouped_product_that_autocast_rounds() -> None:
    torch = pytest.importorskip("torch")
    grouped = getattr(torch.nn.functional, "grouped_mm", None)
    if grouped is None:
        pytest.skip("this torch has none")
    tokens, weights = torch.randn(16, 8), torch.randn(2, 8, 8)
    ends = torch.tensor([8, 16], dtype=torch.int32)
    with torch.autocast("cpu", torch.bfloat16):
        assert grouped(tokens, weights, offs=ends).dtype == torch.float32
        assert (tokens @ weights[0]).dtype == torch.bfloat16


def test_no_fused_kernel_adds_a_learnt_bias() -> None:
    t5, bert = columns_of("t5-base"), columns_of("bert-base")
    assert seconds(t5, "scores", free_lunch=True)[0] > 0.0
    assert seconds(bert, "scores", free_lunch=True)[0] == 0.0


def test_timm_fuses_attention_whatever_is_asked_for() -> None:
    timm, ours = columns_of("timm-vit-base-patch16-224"), columns_of("deit-small-16")
    for free_lunch in (False, True):
        assert seconds(timm, "scores", free_lunch=free_lunch)[0] == 0.0
    assert seconds(ours, "scores", free_lunch=False)[0] > 0.0
    assert not opened(WHOLE, timm)[0]


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("vit-base-16", 0.5, 0.6),  # 72 tiles of a feed-forward weight on 132 multiprocessors
        ("vit", 0.0, 0.03),  # 128
        ("deit-small-16", 0.0, 0.0),  # 18, so that the samples are parted instead
        ("convnext-large-1k", 0.6, 0.7),  # its third stage is as wide as ViT-B/16
        ("convnext-base-22k", 0.0, 0.01),
        ("resnet-50", 0.0, 0.0),  # nothing but convolutions
    ],
)
def test_gradients_of_weights_leave_multiprocessors_idle(
    name: str, least: float, most: float
) -> None:
    recipe, workload = RECIPES[name], WORKLOADS[name]
    assert workload.unfilled_flops == unfilled_flops(
        counted_architecture(recipe), recipe.training.image_size or 0
    )
    # Beside one pass of all products, two thirds of which are feed-forward ones.
    assert least <= workload.unfilled_flops / workload.linear_flops <= most


def test_it_costs_a_hopper_in_tf32_alone() -> None:
    def compute(gpu: str, *, precision: str, free_lunch: bool, idle: bool) -> float:
        workload = replace(WORKLOADS["vit-base-16"], precision=precision)
        if not idle:
            workload = replace(workload, unfilled_flops=0.0)
        table = WorkloadTable([workload], [CHIPS[gpu]])
        columns = table.columns(np.zeros(1, int), np.zeros(1, int), np.ones(1, int))
        return seconds(columns, "compute", free_lunch=free_lunch)[0]

    for gpu, precision, free_lunch, costs in (
        ("H100", "fp32", True, True),
        ("H100", "fp32", False, False),
        ("H100", "fp16", True, False),
        ("A100 80GB SXM", "fp32", True, False),
    ):
        with_idle, without = (
            compute(gpu, precision=precision, free_lunch=free_lunch, idle=idle)
            for idle in (True, False)
        )
        assert (with_idle > without) is costs
