"""How heavy the tails of single times are, from what the fitted evidence says of left-out cells.

Each cell is left out in turn, in closed form with the factors integrated out (Rasmussen and
Williams 2006, section 5.4.2). Nothing here sees more than the fit did, so that in cross-validation
what is held out sets no interval of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.prediction.fit.observations import PAPER, Observation
from advisor.prediction.fit.random_effects import Key, cell
from advisor.prediction.intervals import Tail, fit_tail
from advisor.prediction.physics.factors import FACTORS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def calibrate(
    observations: Sequence[Observation],
    residuals: Floats,
    jacobian: Floats,
    covariance: Floats,
    extra: Floats,
) -> tuple[Tail, Tail]:
    """The tails of the paper's times and of all others.

    ``residuals`` are of the factors' priors; ``extra`` is by how much the variance of outliers was
    raised, which no interval promises.
    """
    import numpy as np

    prior = np.array([factor.spread for factor in FACTORS])
    inverse = np.linalg.inv(covariance + (jacobian * prior**2) @ jacobian.T)
    weighted = inverse @ residuals
    cells: dict[Key, list[int]] = {}
    for i, o in enumerate(observations):
        cells.setdefault(cell(o), []).append(i)
    alone = np.empty(len(residuals))
    for rows in cells.values():
        block = np.linalg.inv(inverse[np.ix_(rows, rows)])
        alone[rows] = block @ weighted[rows] / np.sqrt(np.diag(block) - extra[rows])
    paper = np.array([o.harness == PAPER for o in observations])
    return fit_tail(alone[paper]), fit_tail(alone[~paper])
