"""What profiles of an H100 taught the physics, each against what the program then says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from advisor.prediction.distance import LOOPED
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
