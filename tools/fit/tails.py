"""Tails and degrees of freedom of the widths, as the evidence has them (`intervals.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.prediction.fitted import Tail
from advisor.prediction.intervals import FEWEST, MOST, half_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def dofs_of(curvature: Floats) -> Floats:
    """Degrees of freedom of widths from the curvature of their log-likelihood by their logarithms.

    The logarithm of a standard deviation that n draws gave has the variance 1 / 2n.
    """
    import numpy as np

    values, vectors = np.linalg.eigh(curvature)
    spread = np.einsum("ij,j,ij->i", vectors, 1.0 / np.maximum(values, 0.1), vectors)
    result: Floats = np.clip(0.5 / spread, FEWEST, MOST)
    return result


def half_width(variances: list[tuple[Floats, float]]) -> Floats:
    """Half of the 90 % interval of a sum of independent parts, each a variance with its degrees of
    freedom."""
    import numpy as np

    nothing = np.zeros(1)
    total = sum((variance for variance, _ in variances), nothing)
    return half_of(total, sum((variance**2 / dof for variance, dof in variances), nothing))


def fit_tail(standardised: Floats) -> Tail:
    """The Student's t that makes standardised left-out residuals likeliest (loads scipy)."""
    import numpy as np
    from scipy.optimize import minimize
    from scipy.stats import t

    if len(standardised) < 10:
        return Tail(scale=1.0, dof=FEWEST)

    def loss(x: Floats) -> float:
        # A weak prior keeps a dozen residuals from claiming any tail they like.
        dof, scale = np.exp(x)
        return float(
            -t.logpdf(standardised, dof, scale=scale).sum()
            + 0.5 * ((x[0] - np.log(6.0)) / 0.7) ** 2
        )

    bounds = ((np.log(FEWEST), np.log(MOST)), (np.log(0.5), np.log(2.0)))
    found = minimize(loss, np.log([6.0, 1.0]), bounds=bounds, method="L-BFGS-B")
    dof, scale = np.exp(found.x)
    return Tail(scale=float(scale), dof=float(dof))
