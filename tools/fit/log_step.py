"""The logarithm of a step's time, and its derivatives by the factors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.prediction.observed_times import Observation
from advisor.prediction.own_records import columns_of
from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.factors import (
    CHOICES,
    INDEX,
    NAMES,
    SHARES,
    TERMS,
    Rows,
    row_factors,
    term_factors,
)
from advisor.prediction.physics.memory import (
    NAIVE,
    OPTIONS,
    MemoryCosts,
    Option,
    Software,
    micro_batch,
    options_for,
)
from advisor.prediction.physics.work_and_traffic import (
    busy_seconds,
    company_share,
    loop_seconds,
    pass_terms,
    traffic_terms,
    work_multiple,
    work_terms,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Mean:
    """Log step seconds of observations as a function of the factors, each with the settings that it
    was given, else with the best of its method.

    Terms are counted once; a fit asks for the times of many factors.
    """

    def __init__(self, observations: Sequence[Observation], costs: MemoryCosts) -> None:
        import numpy as np

        columns = columns_of(observations)
        naive = np.array([o.method == "naive" for o in observations], dtype=bool)
        ours = np.array([o.software != "plain" for o in observations], dtype=bool)
        self.rows = Rows(columns, naive, ours)
        host_gib = np.array([o.host_gib for o in observations])
        pools = [options_for(*_pool(o)) for o in observations]
        given = [() if o.option is None else (o.option,) for o in observations]
        # First naive settings, then plain ones: what is used where the memory model says that
        # nothing fits, and it was measured.
        order = [NAIVE, *OPTIONS, *(option for options in (*pools, *given) for option in options)]
        self.options = [*dict.fromkeys(order)]
        terms, wires, fits = [], [], []
        for option in self.options:
            micro = micro_batch(option, columns, costs, host_gib)
            usable = np.array([option in options for options in pools]) & (micro > 0)
            for i, o in enumerate(observations):
                if o.option is not None:
                    usable[i] = o.option == option
                    if usable[i]:
                        micro[i] = o.micro_batch_size or max(micro[i], 1.0)
            of_option, wire = step_terms(option, columns, micro)
            terms.append(np.stack(of_option, axis=1))
            wires.append(wire)
            fits.append(usable)
        self.choices = [
            (
                choice,
                np.stack([choice.of(option, columns) for option in self.options], axis=1)
                & (ours | (not choice.ours))[:, None],
            )
            for choice in CHOICES
        ]
        self.terms = np.stack(terms, axis=1)  # rows x options x terms
        self.terms *= 1.0 + columns.wait[:, None, None]  # several machines wait for each other
        self.wires = np.stack(wires, axis=1)
        self.usable = np.stack(fits, axis=1)
        # A row that fits nowhere by the memory model, and was measured, ran all the same.
        nowhere = ~self.usable.any(axis=1)
        self.usable[nowhere & naive, 0] = True
        self.usable[nowhere & ~naive, 1] = True
        self.term_factor = term_factors(self.rows)
        self.having = [(share, share.of(self.rows)) for share in SHARES]

    def parts(self, theta: Floats) -> tuple[Floats, Floats]:
        """Seconds of each part of each row's step with each option (rows x options x terms), and
        their sums, which are infinite where the option is not usable."""
        import numpy as np

        factors = row_factors(np.exp(theta), self.rows)
        parts = self.terms * factors[:, None, :]
        for choice, having in self.choices:
            value = math.exp(theta[INDEX[choice.name]])
            parts[:, :, TERMS.index(choice.term)] *= np.where(having, value, 1.0)
        return parts, np.where(self.usable, parts.sum(axis=2) + self.wires, np.inf)

    def at(self, theta: Floats) -> tuple[Floats, Floats]:
        """Log seconds of each row's best option, and their derivative by theta."""
        import numpy as np

        parts, seconds = self.parts(theta)
        best = seconds.argmin(axis=1)
        rows = np.arange(len(best))
        total = seconds[rows, best]
        shares = parts[rows, best] / total[:, None]
        jacobian = np.zeros((len(best), len(NAMES)))
        for k in range(len(TERMS)):
            np.add.at(jacobian, (rows, self.term_factor[:, k]), shares[:, k])
        for share, having in self.having:
            moved = shares[:, [TERMS.index(term) for term in share.terms]].sum(axis=1)
            jacobian[:, INDEX[share.name]] += moved * having
        for choice, having in self.choices:
            moved = shares[:, TERMS.index(choice.term)] * having[rows, best]
            jacobian[:, INDEX[choice.name]] = moved
        return np.log(total), jacobian


def step_terms(
    option: Option, columns: Columns, micro_batch_size: Floats
) -> tuple[list[Floats], Floats]:
    """Seconds of each of TERMS in one optimiser step, every factor 1, and what several machines
    lose to each other."""
    import numpy as np

    multiple = work_multiple(option)
    work = work_terms(columns, free_lunch=option.free_lunch, lean=option.lean)
    micro = np.maximum(micro_batch_size, 1.0)
    passes = pass_terms(option, columns, work) | {"loops": loop_seconds(option, columns, micro)}
    busy = busy_seconds(work) * multiple
    *shown, wire = traffic_terms(option, columns, micro, busy)
    terms = {term: seconds * multiple for term, seconds in passes.items()}
    terms |= dict(zip(("update", "exchange", "launches", "offload"), shown, strict=True))
    terms["company"] = busy * company_share(columns)
    return [np.broadcast_to(terms.get(term, 0.0), micro.shape) for term in TERMS], wire


def _pool(o: Observation) -> tuple[str, Software]:
    """Method and software of what a row may have chosen from, where its settings are not told."""
    if o.method == "naive":
        return "naive", o.software
    lean = o.option is not None and o.option.lean
    return "optimal" if lean else "paper", o.software
