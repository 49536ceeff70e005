"""The parts of an optimiser step, compared with what profiles of an H100 showed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from advisor.prediction.distance import LOOPED
from advisor.prediction.fitted import known_models
from advisor.prediction.physics.columns import Columns, WorkloadTable
from advisor.prediction.physics.memory import Option, Wanted
from advisor.prediction.physics.work_and_traffic import opened
from advisor.prediction.predict_many import Asked, predict_many
from advisor.prediction.shipped_predictions import shipped_fit
from tests.prediction.what_ships import CHIPS, WORKLOADS

WHOLE = Option(free_lunch=True, checkpointing=False, stage=0, offloading=False)
LEAN = replace(WHOLE, lean=True)


def columns_of(model: str) -> Columns:
    zero = np.zeros(1, dtype=int)
    return WorkloadTable([WORKLOADS[model]], [CHIPS["H100"]]).columns(zero, zero, zero + 1)


@pytest.mark.parametrize("count", [1, 4])
def test_nothing_is_offloaded_that_fits_as_well_without(count: int) -> None:
    """DeiT-Tiny was told to offload on an H100, since an offloaded update was launched for
    nothing."""
    workloads = list(WORKLOADS.values())
    chips = list({chip.gpu_id: chip for chip in CHIPS.values()}.values())
    asked, chip_of = (index.ravel() for index in np.indices((len(workloads), len(chips))))
    counts = np.full(len(asked), count)
    told = predict_many(every := Asked(workloads, chips, asked, chip_of, counts, shipped_fit()))
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
        kept = predict_many(every.among(of_kind, wanted=wanted))
        assert (kept.micro_batch_size < told.micro_batch_size[of_kind]).all()
    assert offloaded > 20  # or nothing was looked at


def test_a_model_stands_for_another_only_of_the_same_library_and_precision() -> None:
    """timm's ResNet-50 in half precision, told from the library's own in TF32, missed its interval
    of 7 %."""
    built, library = WORKLOADS["timm-resnet50"], WORKLOADS["resnet-50"]
    assert built.parameters == library.parameters and built.family == library.family
    assert built.alike != library.alike
    assert replace(library, workload_id="mine", batch_size=64).alike == library.alike
    known = known_models(shipped_fit())
    assert known[built.alike] == "timm-resnet50" and known[library.alike] == "resnet-50"
    assert replace(library, precision="bf16").alike not in known


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
    assert bool(opened(LEAN, columns)[0]) is ours
    assert not opened(replace(WHOLE, stage=1), columns)[0]  # DeepSpeed compiles nothing here


def test_experts_are_told_less_surely_where_torch_loops_over_them() -> None:
    experts, dense = WORKLOADS["granite-3.0-1b-a400m-shape"], WORKLOADS["pythia-1b"]
    chips = [CHIPS[name] for name in ("H100", "RTX 4090")]
    pairs = np.indices((2, 2)).reshape(2, -1)
    ones = np.ones(4, dtype=int)
    made = predict_many(Asked([experts, dense], chips, *pairs, ones, shipped_fit()))
    measured, looped, *others = made.distance
    assert looped == pytest.approx(measured + LOOPED)
    assert max(others) < 0.01
    width = made.high_days / made.days
    assert width[1] > 1.1 * width[0]
