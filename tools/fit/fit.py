"""Fits factors and effects to evidence. The only module here that loads scipy, when asked to fit.

The factors are fitted by Gauss-Newton steps on the marginal likelihood (generalised least squares
with priors), the effects' widths by L-BFGS on it, in turns. Nothing here looks at what was held
out: the caller leaves it out of ``observations``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.prediction.intervals import FEWEST, MOST
from advisor.prediction.observed_times import PAPER, Observation
from advisor.prediction.own_records import highest_share
from advisor.prediction.physics.memory import MemoryCosts
from tools.fit.calibrate import Calibration, calibrate
from tools.fit.fit_memory import fit_costs
from tools.fit.log_step import Mean
from tools.fit.priors import SPREADS, STARTS
from tools.fit.random_effects import (
    KINDS,
    NOISES,
    exchange_shares,
    noise_groups,
    shared_matrices,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ROUNDS = 2
STEPS = 8
STEP = 0.05
"""For the curvature of the likelihood by the logarithms of the widths."""
OUTLIER = 3.0
"""Standard deviations beyond which an observation counts less (Huber's weights)."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """A fit, ready to predict: the factors, the widths and the training residuals."""

    costs: MemoryCosts
    theta: Floats
    widths: Floats
    """Of each of KINDS, then of each of NOISES."""
    dofs: Floats
    """How well the widths are known, as degrees of freedom."""
    observations: Sequence[Observation]
    weighted: Floats
    """Inverse covariance times residuals."""
    inverse: Floats
    """Inverse covariance of the observations."""
    jacobian: Floats
    """Of the observations' means by theta."""
    theta_covariance: Floats
    calibration: Calibration
    highest_share: float
    """`highest_share` of the observations."""
    highest_tuned_share: float
    """The same with programs with kernels of their own, which alone are held against it."""


def _noise(widths: Floats, observations: Sequence[Observation]) -> Floats:
    import numpy as np

    rounding = np.array([o.rounding for o in observations])
    noise: Floats = widths[len(KINDS) :][noise_groups(observations)] ** 2 + rounding**2
    return noise


def fit_posterior(observations: Sequence[Observation]) -> Posterior:
    """Fit everything to the timed observations given."""
    import numpy as np

    timed = [o for o in observations if o.step_s is not None and o.harness != PAPER]
    if not timed:
        raise ValueError("there is no measured time to fit; give evidence with times")
    y = np.log(np.array([o.step_s for o in timed], dtype=float))
    costs = fit_costs(observations)
    mean = Mean(timed, costs)
    theta = np.array(STARTS)
    shares = exchange_shares(mean.at(theta)[1])
    matrices = shared_matrices(timed, timed, (shares, shares))
    prior = np.array(STARTS)
    precision = 1.0 / np.array(SPREADS) ** 2
    widths = np.array([kind.start for kind in KINDS] + [first for _, first, _ in NOISES])
    inflate = np.ones(len(timed))
    for _ in range(ROUNDS):
        inverse = np.linalg.inv(_covariance(widths, matrices, timed, inflate))
        for _ in range(STEPS):
            f, jacobian = mean.at(theta)
            normal = jacobian.T @ inverse @ jacobian + np.diag(precision)
            gradient = jacobian.T @ inverse @ (y - f) - precision * (theta - prior)
            theta = theta + np.clip(np.linalg.solve(normal, gradient), -0.5, 0.5)
        f, jacobian = mean.at(theta)
        residuals = y - f
        shares = exchange_shares(jacobian)
        matrices = shared_matrices(timed, timed, (shares, shares))
        widths, dofs = _fit_widths(residuals, matrices, timed, inflate, widths)
        inflate = _outliers(residuals, widths, matrices, timed)
    covariance = _covariance(widths, matrices, timed, inflate)
    extra = (inflate - 1.0) * _noise(widths, timed)
    known = (widths, dofs())
    off = residuals + jacobian @ (theta - prior)
    calibration = calibrate(timed, off, jacobian, covariance, extra, known)
    inverse = np.linalg.inv(covariance)
    spread = np.linalg.inv(jacobian.T @ inverse @ jacobian + np.diag(precision))
    return Posterior(
        costs,
        theta,
        *known,
        timed,
        inverse @ residuals,
        inverse.astype(np.float64),
        jacobian,
        spread.astype(np.float64),
        calibration,
        highest_share([o for o in timed if o.software != "tuned"]) or 1.0,
        highest_share(timed) or 1.0,
    )


def _covariance(
    widths: Floats,
    matrices: Floats,
    observations: Sequence[Observation],
    inflate: Floats,
) -> Floats:
    import numpy as np

    total: Floats = np.tensordot(widths[: len(KINDS)] ** 2, matrices, axes=1)
    total[np.diag_indices_from(total)] += _noise(widths, observations) * inflate
    return total


def _outliers(
    residuals: Floats,
    widths: Floats,
    matrices: Floats,
    observations: Sequence[Observation],
) -> Floats:
    """How much more variance each observation gets: 1, more where even its neighbours are at odds
    with it (leave-one-out residuals of the effects)."""
    import numpy as np

    inverse = np.linalg.inv(_covariance(widths, matrices, observations, np.ones(len(residuals))))
    alone = (inverse @ residuals) / np.sqrt(np.diag(inverse))
    return np.maximum(np.abs(alone) / OUTLIER, 1.0) ** 2


def _fit_widths(
    residuals: Floats,
    matrices: Floats,
    observations: Sequence[Observation],
    inflate: Floats,
    start: Floats,
) -> tuple[Floats, Callable[[], Floats]]:
    """The widths that make the residuals likeliest, with log-normal priors, and what tells how
    well each is known, in degrees of freedom."""
    import numpy as np
    from scipy.linalg.blas import dsymv
    from scipy.linalg.lapack import dpotrf, dpotri
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    centre = np.log([kind.start for kind in KINDS] + [start for _, start, _ in NOISES])
    spread = np.array([kind.spread for kind in KINDS] + [spread for _, _, spread in NOISES])
    groups = noise_groups(observations)
    rounding = np.array([o.rounding for o in observations])
    names = len(KINDS)
    # Most pairs share no effect, and what one of two has with the other the other has with it: each
    # pair once, where it shares any.
    rows, columns = np.nonzero(np.triu(matrices.any(axis=0)))
    parts = csr_array(matrices[:, rows, columns])
    entries = parts.T.tocsr()
    twice = np.where(rows == columns, 1.0, 2.0)

    def loss(log_widths: Floats) -> tuple[float, Floats]:
        widths = np.exp(log_widths)
        covariance = np.zeros((len(residuals), len(residuals)))
        covariance[rows, columns] = entries @ widths[:names] ** 2
        own = widths[names:][groups] ** 2
        covariance[np.diag_indices_from(covariance)] += (own + rounding**2) * inflate
        # Transposed it is as LAPACK keeps a matrix of which it reads the lower half.
        factor, failed = dpotrf(covariance.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return 1e12, np.zeros(len(centre))
        log_determinant = 2.0 * np.log(np.diag(factor)).sum()
        inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
        weighted = dsymv(1.0, inverse, residuals, lower=1)
        off = (log_widths - centre) / spread
        value = 0.5 * (log_determinant + residuals @ weighted + off @ off)
        pull = twice * (inverse.T[rows, columns] - weighted[rows] * weighted[columns])
        gradient = np.empty(names + len(NOISES))
        gradient[:names] = widths[:names] ** 2 * (parts @ pull)
        gradient[names:] = np.bincount(
            groups,
            weights=(np.diag(inverse) - weighted**2) * inflate * own,
            minlength=len(NOISES),
        )
        return float(value), gradient + off / spread

    found = minimize(
        loss, np.log(start), jac=True, method="L-BFGS-B", options={"maxiter": 40, "ftol": 1e-6}
    )

    def dofs() -> Floats:
        steps = STEP * np.eye(len(start))
        here = loss(found.x)[1]
        curvature = np.stack([(loss(found.x + step)[1] - here) / STEP for step in steps])
        return dofs_of((curvature + curvature.T) / 2)

    return np.exp(found.x), dofs


def dofs_of(curvature: Floats) -> Floats:
    """Degrees of freedom of widths from the curvature of their log-likelihood by their logarithms.

    The logarithm of a standard deviation that n draws gave has the variance 1 / 2n.
    """
    import numpy as np

    values, vectors = np.linalg.eigh(curvature)
    spread = np.einsum("ij,j,ij->i", vectors, 1.0 / np.maximum(values, 0.1), vectors)
    result: Floats = np.clip(0.5 / spread, FEWEST, MOST)
    return result
