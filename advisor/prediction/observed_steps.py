"""What the physics says of step times that were measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.prediction.observed_times import PAPER, REFERENCE, Observation
from advisor.prediction.physics.columns import Columns, WorkloadTable
from advisor.prediction.physics.factors import (
    EXCHANGES,
    INDEX,
    Rows,
    lean_layers,
    not_compiled,
    row_factors,
    whole_attention,
)
from advisor.prediction.physics.memory import MemoryCosts, micro_batch
from advisor.prediction.physics.step_parts import TERMS, least_seconds
from advisor.prediction.physics.step_time import fitting_options, step_terms, work_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class ObservedSteps:
    """The step times of observations as a function of the factors, each with the settings that it
    was given, else with the best of its method.

    Terms are counted once; a fit asks for the times of many factors.
    """

    def __init__(self, observations: Sequence[Observation], costs: MemoryCosts) -> None:
        import numpy as np

        self.observations = observations
        self.columns = columns = columns_of(observations)
        self.naive = np.array([o.method == "naive" for o in observations], dtype=bool)
        self.rows = Rows(
            columns, self.naive, np.array([o.harness == REFERENCE for o in observations])
        )
        host_gib = np.array([o.host_gib for o in observations])
        choices = [*fitting_options("naive", columns, costs)]
        choices += fitting_options("paper", columns, costs, host_gib)
        lean = np.array([o.option is not None and o.option.lean for o in observations])
        if lean.any():
            choices += fitting_options("optimal", columns, costs, host_gib)
        known = {option for option, _ in choices}
        given = [o.option for o in observations]
        foreign = dict.fromkeys(o for o in given if o is not None and o not in known)
        choices += [(o, micro_batch(o, columns, costs, host_gib)) for o in foreign]
        terms, fits = [], []
        for option, micro in choices:
            usable = (micro > 0) & (self.naive != option.free_lunch) & (lean == option.lean)
            usable &= option not in foreign  # only other software has it: it is never searched
            for i, o in enumerate(observations):
                if o.option is not None:
                    usable[i] = o.option == option
                    if usable[i]:
                        micro[i] = o.micro_batch_size or max(micro[i], 1.0)
            terms.append(np.stack(step_terms(option, columns, micro), axis=1))
            fits.append(usable)
        self.options = [option for option, _ in choices]
        ours = np.array([o.harness in (PAPER, REFERENCE) for o in observations], dtype=bool)
        self.of_options = [
            (name, term, np.stack([of(option) for option in self.options], axis=1))
            for name, term, of in (
                (
                    "attention compiled whole",
                    "attention",
                    lambda o: ours & whole_attention(o, columns),
                ),
                (
                    "elementwise of sharded",
                    "elementwise",
                    lambda o: ours & not_compiled(o, columns),
                ),
                ("fused logits", "logits", lambda o: columns.fuses_loss & o.lean),
                ("lean elementwise", "elementwise", lambda o: lean_layers(columns) & o.lean),
            )
        ]
        """What the choice of settings moves: a factor, its term, and where."""
        self.micro = np.stack([micro for _, micro in choices], axis=1)
        self.terms = np.stack(terms, axis=1)  # rows x options x terms
        self.usable = np.stack(fits, axis=1)
        # A row that fits nowhere by the memory model, and was measured, ran all the same.
        nowhere = ~self.usable.any(axis=1)
        self.fits = ~nowhere
        first = [option.free_lunch for option in self.options].index(True)
        self.usable[nowhere & self.naive, 0] = True
        self.usable[nowhere & ~self.naive, first] = True

    def parts(self, theta: Floats) -> tuple[Floats, Floats]:
        """Seconds of each part of each row's step with each option (rows x options x terms), and
        their sums, which are infinite where the option is not usable."""
        import numpy as np

        factors = row_factors(np.exp(theta), self.rows)
        parts = self.terms * factors[:, None, :]
        for name, term, having in self.of_options:
            parts[:, :, TERMS.index(term)] *= np.where(having, math.exp(theta[INDEX[name]]), 1.0)
        return parts, np.where(self.usable, parts.sum(axis=2), np.inf)

    def fastest(self, theta: Floats) -> tuple[Floats, Floats]:
        """Log seconds of each row's fastest option, and the share of them that the exchange
        between GPUs takes."""
        import numpy as np

        parts, seconds = self.parts(theta)
        rows, best = np.arange(len(seconds)), seconds.argmin(axis=1)
        total = seconds[rows, best]
        exchange = parts[rows, best][:, [TERMS.index(term) for term in EXCHANGES]]
        return np.log(total), (exchange / total[:, None]).sum(axis=1)


def columns_of(observations: Sequence[Observation]) -> Columns:
    """One row an observation."""
    import numpy as np

    index = np.arange(len(observations))
    table = WorkloadTable([o.workload for o in observations], [o.chip for o in observations])
    return table.columns(index, index, np.array([o.count for o in observations]))


def product_seconds(observations: Sequence[Observation], columns: Columns) -> Floats:
    """Seconds of each step's matrix products alone at the rate that they reach, with free-lunch
    settings. A fused loss computes only the logits that have a label."""
    import numpy as np

    lean, other = (
        least_seconds(columns, work_terms(columns, free_lunch=True, lean=lean), free_lunch=True)
        for lean in (True, False)
    )
    return np.where([o.option is not None and o.option.lean for o in observations], lean, other)


def highest_share(observations: Sequence[Observation]) -> float:
    """The highest share of the speed of its matrix products alone that any of these trainings
    reached; 0 without a time."""
    import numpy as np

    timed = [o for o in observations if o.step_s is not None]
    if not timed:
        return 0.0
    seconds = np.array([o.step_s for o in timed], dtype=float)
    return float((product_seconds(timed, columns_of(timed)) / seconds).max())
