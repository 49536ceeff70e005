"""How wide the intervals are that a user sees, by what is known of the GPU and the model."""

from __future__ import annotations

from collections.abc import Collection

from advisor.prediction.fitted import Fitted, effect_name, known_models, model_effect
from advisor.prediction.model.workload import Workload, workload_of
from advisor.prediction.observed_times import REFERENCE, chips_by_name
from advisor.prediction.physics.chip import Chip, board_of
from advisor.prediction.predict_many import predict_many
from bench_runner.recipes import load_recipes
from tools.fit.shipped_evidence import load_evidence

COUNTS = (1, 2, 4, 8)
OF_GPUS = ("measured by our stack", "with evidence of its own", "nobody measured")


def width_rows(fitted: Fitted) -> list[tuple[object, ...]]:
    """Settings, GPU, model, number of predictions, and the median and 90th percentile of how far
    the high end lies above the prediction: of every shipped recipe on every GPU."""
    import numpy as np

    workloads = [workload_of(recipe) for recipe in load_recipes()]
    chips = list({chip.gpu_id: chip for chip in chips_by_name().values()}.values())
    shape = (len(workloads), len(chips), len(COUNTS))
    models, gpus, counts = (axis.ravel() for axis in np.indices(shape))
    own = {board_of(o.chip) for o in load_evidence() if o.harness == REFERENCE}
    of_gpu = np.array([_of_gpu(fitted, chip, own) for chip in chips])[gpus]
    measured = np.array([_is_known(fitted, w) for w in workloads])[models]
    rows: list[tuple[object, ...]] = []
    for settings, method in (("written out", "optimal"), ("the paper's", "paper")):
        asked = (workloads, chips, models, gpus, np.array(COUNTS)[counts], fitted)
        made = predict_many(*asked, method=method)
        width = made.high_days / made.days
        for gpu in OF_GPUS:
            for model, chosen in (("measured somewhere", measured), ("nobody measured", ~measured)):
                widths = width[(of_gpu == gpu) & chosen & np.isfinite(width)]
                ends = [f"x or / {np.quantile(widths, share):.2f}" for share in (0.5, 0.9)]
                rows.append((settings, gpu, model, len(widths), *ends))
    return rows


def _of_gpu(fitted: Fitted, chip: Chip, own: Collection[str]) -> str:
    """By its board: nobody measured an H100 on PCIe with our software, only on SXM."""
    board = board_of(chip)
    if board in own:
        return OF_GPUS[0]
    return OF_GPUS[1] if effect_name("board", board) in fitted.effects else OF_GPUS[2]


def _is_known(fitted: Fitted, workload: Workload) -> bool:
    name = model_effect(workload.family, workload.workload_id)
    return name in fitted.effects or workload.alike in known_models(fitted)
