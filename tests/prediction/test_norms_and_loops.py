"""What keeps a GPU waiting: batch norms of few channels, loops over experts, a step's launches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from advisor.prediction.model.workload import workload_of
from advisor.prediction.observed_times import chips_by_name
from advisor.prediction.physics.columns import Columns, WorkloadTable
from advisor.prediction.physics.factors import TERMS
from advisor.prediction.physics.memory import Option, Wanted
from advisor.prediction.physics.step_terms import LOOP_S, loop_seconds
from advisor.prediction.predict_many import predict_many
from advisor.prediction.predict_one import predict
from advisor.prediction.shipped_predictions import shipped_fit
from bench_runner.recipes import load_recipes
from tools.fit.log_step import step_terms

CHIPS = chips_by_name()
RECIPES = {recipe.recipe_id: recipe for recipe in load_recipes()}
WORKLOADS = {name: workload_of(recipe) for name, recipe in RECIPES.items()}
NAIVE = Option(free_lunch=False, checkpointing=False, stage=0, offloading=False)
WHOLE = replace(NAIVE, free_lunch=True)
ZERO_1 = replace(WHOLE, stage=1)
OURS = replace(ZERO_1, lean=True)
GRANITE, MIXTRAL = "granite-3.0-1b-a400m-shape", "mixtral-1.5b-shape"


def columns_of(name: str, gpu: str = "H100") -> Columns:
    table = WorkloadTable([WORKLOADS[name]], [CHIPS[gpu]])
    return table.columns(np.zeros(1, int), np.zeros(1, int), np.ones(1, int))


def term_s(name: str, term: str, option: Option, micro: float = 256.0) -> float:
    terms = step_terms(option, columns_of(name), np.array([micro]))
    return float((terms[TERMS.index(term)] * np.ones(1))[0])


@pytest.mark.parametrize(
    ("name", "measured_ms"),
    [
        ("timm-mobilenetv3-large-100", 43.9),
        ("timm-efficientnet-b0", 45.7),
        # Of more channels a part is traffic, which is counted as elementwise.
        ("timm-resnext50-32x4d", 33.0),
    ],
)
def test_batch_norms_take_what_a_profile_has_of_256_images(name: str, measured_ms: float) -> None:
    passes = WORKLOADS[name].batch_size / 256
    assert term_s(name, "norms", NAIVE) / passes * 1e3 == pytest.approx(measured_ms, rel=0.08)


def test_a_compiler_writes_its_own_norms() -> None:
    name = "timm-mobilenetv3-large-100"
    assert term_s(name, "norms", WHOLE) == 0.0
    assert term_s(name, "norms", ZERO_1) == term_s(name, "norms", NAIVE) > 0.0
    assert term_s(name, "norms", OURS) == 0.0
    assert term_s("vit-base-16", "norms", NAIVE) == 0.0
    assert term_s("timm-coatnet-0-rw-224", "norms", WHOLE) > 0.0  # it does not compile


def test_a_loop_over_experts_waits_where_torch_has_no_grouped_product() -> None:
    micro = np.array([8.0])
    granite = WORKLOADS[GRANITE]
    assert granite.expert_products == 6 * 24 * 32
    assert loop_seconds(OURS, columns_of(GRANITE), micro)[0] == 0.0
    waits = loop_seconds(OURS, columns_of(GRANITE, "RTX 4090"), micro)[0]
    passes = granite.batch_size / 8
    # At most what the host takes; the products' own time is none that is waited for.
    assert 0.3 < waits / (passes * granite.expert_products * LOOP_S) < 0.9
    # Fewer passes are fewer loops, and longer products hide the host.
    assert loop_seconds(OURS, columns_of(GRANITE, "RTX 4090"), 2 * micro)[0] < 0.5 * waits
    # Mixtral's eight experts are so large that the host is never behind.
    assert loop_seconds(OURS, columns_of(MIXTRAL, "RTX 4090"), 2 * micro)[0] == 0.0
    assert loop_seconds(OURS, columns_of("pythia-1b", "RTX 4090"), micro)[0] == 0.0


def test_experts_of_many_are_told_slower_where_they_are_looped_over() -> None:
    """Beside a dense model of as many operations, which no loop holds back."""

    def days(name: str, gpu: str) -> float:
        told = predict(WORKLOADS[name], CHIPS[gpu], 1, shipped_fit()).training_days
        assert told is not None
        return told

    def ratio(name: str) -> float:
        return days(name, "RTX 4090") / days(name, "H100")

    assert ratio(GRANITE) > 1.1 * ratio("pythia-410m")
    chip = CHIPS["H100"]
    made = predict_many(
        [WORKLOADS[GRANITE]], [chip, replace(chip, tensor_memory=False)],
        np.zeros(2, int), np.arange(2), np.ones(2, int), shipped_fit(),
    )  # fmt: skip
    assert made.days[1] > 1.2 * made.days[0]


def test_experts_in_fp16_are_refused_with_the_reason_and_the_flag_to_type() -> None:
    """As a config.json of Qwen's or Mixtral's with torch_dtype float16 has them."""
    recipe = RECIPES[GRANITE]
    half = replace(recipe, training=replace(recipe.training, precision="fp16"))
    with pytest.raises(ValueError, match=r"FP16 are not predicted: torch") as caught:
        workload_of(half)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("; ask with --precision bf16")


@pytest.mark.parametrize("count", [1, 4])
def test_nothing_is_offloaded_that_fits_as_well_without(count: int) -> None:
    """DeiT-Tiny was told to offload on an H100, since an offloaded update was launched for
    nothing."""
    workloads = list(WORKLOADS.values())
    chips = list({chip.gpu_id: chip for chip in CHIPS.values()}.values())
    asked, chip_of = (index.ravel() for index in np.indices((len(workloads), len(chips))))
    counts = np.full(len(asked), count)
    told = predict_many(workloads, chips, asked, chip_of, counts, shipped_fit())
    offloaded = 0
    for stage, checkpointing in ((1, False), (1, True), (2, False), (3, False), (3, True)):
        kinds = [
            o.offloading and (o.stage, o.checkpointing) == (stage, checkpointing)
            for o in told.options
        ]
        of_kind = np.array([at >= 0 and kinds[at] for at in told.option])
        offloaded += of_kind.sum()
        wanted = Wanted(stage=stage, checkpointing=checkpointing, offloading=False)
        if not of_kind.any():
            continue
        kept = predict_many(
            workloads, chips, asked[of_kind], chip_of[of_kind], counts[of_kind], shipped_fit(),
            wanted=wanted,
        )  # fmt: skip
        assert (kept.micro_batch_size < told.micro_batch_size[of_kind]).all()
    assert offloaded > 20  # or nothing was looked at
