"""How wide the intervals are that a user is told, by what is known of the GPU and the model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.prediction.fitted import Fitted, effect_name, known_models, model_effect
from advisor.prediction.model.workload import Workload, workload_of
from advisor.prediction.observed_times import REFERENCE, chips_by_name
from advisor.prediction.physics.chip import Chip, board_of
from advisor.prediction.predict_many import predict_many
from bench_runner.recipes import load_recipes
from bench_runner.typed_numbers import percent
from tools.fit.shipped_evidence import load_evidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COUNTS = (1, 2, 4, 8)
WRITTEN_OUT = "written out"
EVERY = "every"
UNMEASURED = "nobody measured"
GOALS = {
    "measured by our stack": 1.15,
    "with evidence of its own": 1.3,
    UNMEASURED: None,
}
"""What is known of a GPU, and how wide an interval on it should be at most."""


def _of_gpu(fitted: Fitted, chip: Chip, own: Collection[str]) -> str:
    """By its board: an H100 on PCIe is none that we measured, whatever an H100 on SXM is."""
    board = board_of(chip)
    if board in own:
        return "measured by our stack"
    known = effect_name("board", board) in fitted.effects
    return "with evidence of its own" if known else UNMEASURED


def _is_known(fitted: Fitted, workload: Workload) -> bool:
    name = model_effect(workload.family, workload.workload_id)
    return name in fitted.effects or workload.alike in known_models(fitted)


@dataclass(frozen=True, slots=True)
class Told:
    """How wide the intervals of alike predictions are."""

    settings: str
    gpu: str
    """A key of GOALS."""
    model: str
    widths: NDArray[np.float64]
    """High over middle."""

    @property
    def above(self) -> float | None:
        """The share that is wider than the goal; None where there is no goal."""
        goal = GOALS[self.gpu]
        return None if goal is None else float((self.widths > goal).mean())


def told_widths(fitted: Fitted) -> list[Told]:
    """Of every recipe that ships on every GPU of the catalogue."""
    import numpy as np

    workloads = [workload_of(recipe) for recipe in load_recipes()]
    chips = list({chip.gpu_id: chip for chip in chips_by_name().values()}.values())
    shape = (len(workloads), len(chips), len(COUNTS))
    models, gpus, counts = (axis.ravel() for axis in np.indices(shape))
    own = {board_of(o.chip) for o in load_evidence() if o.harness == REFERENCE}
    of_gpu = np.array([_of_gpu(fitted, chip, own) for chip in chips])[gpus]
    measured = np.array([_is_known(fitted, w) for w in workloads])[models]
    of_models = {
        EVERY: np.ones_like(measured),
        "measured somewhere": measured,
        UNMEASURED: ~measured,
    }
    found = []
    for settings, method in ((WRITTEN_OUT, "optimal"), ("the paper's", "paper")):
        made = predict_many(
            workloads, chips, models, gpus, np.array(COUNTS)[counts], fitted, method=method
        )
        width = made.high_days / made.days
        found += [
            Told(settings, gpu, model, width[(of_gpu == gpu) & of_model & np.isfinite(width)])
            for gpu in GOALS
            for model, of_model in of_models.items()
        ]
    return found


def told_table(told: Sequence[Told]) -> str:
    """Half-widths: median, 90th percentile, share above the goal."""
    lines = [
        "| settings | GPU | model | predictions | median | 90th percentile | above the goal |",
        "|---" * 7 + "|",
    ]
    lines += [f"| {t.settings} | {t.gpu} | {t.model} | {_figures(t)} |" for t in told]
    return "\n".join(lines)


def _figures(told: Told) -> str:
    import numpy as np

    if not len(told.widths):
        return "0 | | |"
    middle, ninth = np.quantile(told.widths, (0.5, 0.9))
    above = "" if told.above is None else percent(told.above)
    return f"{len(told.widths)} | x or / {middle:.2f} | x or / {ninth:.2f} | {above}"
