"""The step times of what was measured, as a function of the factors: what a fit asks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.factors import (
    FACTORS,
    INDEX,
    SHARES,
    Rows,
    lean_layers,
    not_compiled,
    row_factors,
    term_factors,
    whole_attention,
)
from advisor.prediction.physics.memory import HOST_GIB_A_GPU, MemoryCosts, Option, micro_batch
from advisor.prediction.physics.paper_clock import hidden_share
from advisor.prediction.physics.step_parts import TERMS
from advisor.prediction.physics.step_time import fitting_options, step_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class StepModel:
    """The step times of a set of pairs, as a function of the factors.

    Terms are counted once; a fit asks for the times of many factors.
    """

    def __init__(
        self,
        columns: Columns,
        naive: Sequence[bool],
        options: Sequence[tuple[Option | None, int | None]],
        costs: MemoryCosts,
        *,
        transformers: Sequence[bool],
        host_gib: Floats | float = HOST_GIB_A_GPU,
        harnessed: Sequence[bool] | None = None,
        own: Sequence[bool] | None = None,
    ) -> None:
        """``harnessed``: which rows the paper's harness timed, whose searches took what it saw as
        fastest. ``own``: which are of our own stack, whose PyTorch takes cuDNN's attention."""
        import numpy as np

        rows = len(columns)
        self.harnessed = np.zeros(rows, dtype=bool) if harnessed is None else np.array(harnessed)
        naive_rows = np.array(naive, dtype=bool)
        self.columns = columns
        self.naive = naive_rows
        self.rows = Rows(
            columns, naive_rows, np.zeros(rows, dtype=bool) if own is None else np.array(own)
        )
        self.term_factor = term_factors(self.rows)
        self.having = [(share, share.of(self.rows)) for share in SHARES]
        choices = [*fitting_options("naive", columns, costs)]
        choices += fitting_options("paper", columns, costs, host_gib)
        lean = np.array([o is not None and o.lean for o, _ in options])
        if lean.any():
            choices += fitting_options("optimal", columns, costs, host_gib)
        known = {option for option, _ in choices}
        foreign = dict.fromkeys(o for o, _ in options if o is not None and o not in known)
        choices += [(o, micro_batch(o, columns, costs, host_gib)) for o in foreign]
        given = np.array([option is not None for option, _ in options])
        terms, fits = [], []
        for option, micro in choices:
            usable = (micro > 0) & (naive_rows != option.free_lunch) & (lean == option.lean)
            usable &= option not in foreign  # nobody chooses what only other software has
            for i in map(int, np.flatnonzero(given)):
                wanted, wanted_micro = options[i]
                usable[i] = wanted == option
                if usable[i]:
                    micro[i] = wanted_micro or max(micro[i], 1.0)
            terms.append(np.stack(step_terms(option, columns, micro), axis=1))
            fits.append(usable)
        self.options = [option for option, _ in choices]
        ours = np.array(transformers, dtype=bool)
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
        # How much of what a pass leaves in the queue the paper's harness never sees: nothing where
        # the update is on the host, which waits for the GPU. The loss scaler of fp16 waits too,
        # and its wait is timed, but once a step, however many the passes.
        passes = columns.share[:, None] / np.maximum(self.micro, 1.0)
        scaled = (columns.half & ~columns.bf16)[:, None]
        lost = np.where(scaled, 1.0 - 1.0 / np.maximum(passes, 1.0), 1.0)
        on_gpu = np.array([not o.offloading for o in self.options])
        self.lost = lost * on_gpu[None, :] * self.harnessed[:, None]
        self.terms = np.stack(terms, axis=1)  # rows x options x terms
        self.usable = np.stack(fits, axis=1)
        # A row that fits nowhere by the memory model, and was measured, ran all the same.
        nowhere = ~self.usable.any(axis=1)
        self.fits = ~nowhere
        first = [option.free_lunch for option in self.options].index(True)
        self.usable[nowhere & naive_rows, 0] = True
        self.usable[nowhere & ~naive_rows, first] = True

    def log_step(self, theta: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Log seconds of each row's best option, their derivative by theta, and which option; as
        the paper's harness saw them in the rows that it timed."""
        import numpy as np

        hidden, hidden_jacobian = hidden_share(theta, self.columns, self.naive)
        seen_log = np.log1p(-self.lost * hidden[:, None])

        factors = row_factors(np.exp(theta), self.rows)
        parts = self.terms * factors[:, None, :]
        for name, term, having in self.of_options:
            parts[:, :, TERMS.index(term)] *= np.where(having, math.exp(theta[INDEX[name]]), 1.0)
        seconds = np.where(self.usable, parts.sum(axis=2), np.inf)
        best = (seconds * np.exp(seen_log)).argmin(axis=1)
        rows = np.arange(len(best))
        total = seconds[rows, best]
        shares = parts[rows, best] / total[:, None]
        jacobian = np.zeros((len(best), len(FACTORS)))
        for k in range(len(TERMS)):
            np.add.at(jacobian, (rows, self.term_factor[:, k]), shares[:, k])
        for share, having in self.having:
            moved = shares[:, [TERMS.index(term) for term in share.terms]].sum(axis=1)
            jacobian[:, INDEX[share.name]] += moved * having
        for name, term, having in self.of_options:
            jacobian[:, INDEX[name]] = shares[:, TERMS.index(term)] * having[rows, best]
        lost = self.lost[rows, best]
        jacobian -= (lost / (1.0 - lost * hidden))[:, None] * hidden_jacobian
        return np.log(total) + seen_log[rows, best], jacobian, best
