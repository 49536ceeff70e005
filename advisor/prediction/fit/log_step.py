"""The logarithm of a step's time as the fit sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.prediction.fit.fit_memory import columns_of
from advisor.prediction.fit.observations import NATIVE, PAPER, REFERENCE, Observation
from advisor.prediction.physics.memory import MemoryCosts
from advisor.prediction.physics.step_model import StepModel
from advisor.prediction.physics.step_parts import least_seconds
from advisor.prediction.physics.step_time import work_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from advisor.prediction.physics.columns import Columns

    Floats = NDArray[np.float64]


def step_model(observations: Sequence[Observation], costs: MemoryCosts) -> StepModel:
    """The physics of each observation, with its settings where they were given."""
    import numpy as np

    return StepModel(
        columns_of(observations),
        [o.method == "naive" for o in observations],
        [(o.option, o.micro_batch_size) for o in observations],
        costs,
        transformers=[o.harness in (PAPER, REFERENCE) for o in observations],
        host_gib=np.array([o.host_gib for o in observations]),
        harnessed=[o.harness == PAPER for o in observations],
        own=[o.harness == REFERENCE for o in observations],
    )


class Mean:
    """Log step seconds as the physics and the harness of each observation give them."""

    def __init__(self, observations: Sequence[Observation], costs: MemoryCosts) -> None:
        self.model = step_model(observations, costs)
        self.observations = observations

    def at(self, theta: Floats) -> tuple[Floats, Floats]:
        """The means and their derivatives by theta."""
        log_step, jacobian, _ = self.model.log_step(theta)
        return log_step, jacobian

    def products_s(self) -> Floats:
        """Seconds of each row's matrix products alone, at the rate that they reach."""
        import numpy as np

        columns = self.model.columns
        lunch = _least_seconds(self.observations, columns)
        plain = least_seconds(columns, work_terms(columns, free_lunch=False), free_lunch=False)
        return np.where(self.model.naive, plain, lunch)


def _least_seconds(observations: Sequence[Observation], columns: Columns) -> Floats:
    """As the function of this name, with free-lunch settings; with a fused loss, which computes
    those logits alone that have a label, where it is."""
    import numpy as np

    lean, other = (
        least_seconds(columns, work_terms(columns, free_lunch=True, lean=lean), free_lunch=True)
        for lean in (True, False)
    )
    return np.where([o.option is not None and o.option.lean for o in observations], lean, other)


def highest_share(observations: Sequence[Observation], *, native: bool = False) -> float:
    """The highest share of what its matrix products alone reach on a GPU, by the clock that the
    power leaves, that a training was measured at; in half precision, where the rates are known
    that products reach. Of the paper's times none counts, whose clock did not wait for the GPU; of
    code in C and CUDA, which fuses what PyTorch does not, those where ``native``; 0 where none
    does."""
    import numpy as np

    timed = [
        o
        for o in observations
        if o.step_s is not None and o.harness != PAPER and (native or o.kind != NATIVE)
    ]
    if not timed:
        return 0.0
    seconds = np.array([o.step_s for o in timed], dtype=float)
    least = _least_seconds(timed, columns_of(timed))
    return float((least / seconds).max())
