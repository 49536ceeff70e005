"""Fits factors and effects to evidence. The only module here that loads scipy, when asked to fit.

The factors are fitted by Gauss-Newton steps on the marginal likelihood (generalised least squares
with priors), the effects' widths by L-BFGS on it, in turns. Nothing here looks at what was held
out: the caller leaves it out of ``observations``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor.prediction.distance import reach_of
from advisor.prediction.intervals import MOST
from advisor.prediction.observed_times import PAPER, Observation
from advisor.prediction.physics.memory import MemoryCosts
from tools.fit.calibrate import Calibration, calibrate, widening
from tools.fit.fit_memory import fit_costs
from tools.fit.log_step import NATIVE, Mean, highest_measured_share
from tools.fit.priors import FACTORS, starts
from tools.fit.random_effects import (
    KINDS,
    NOISES,
    exchange_shares,
    noise_groups,
    shared_matrices,
)
from tools.fit.tails import dofs_of, half_width

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

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
    highest_native_share: float
    """The same with code in C and CUDA, which alone is held against it."""

    def predict(self, asked: Sequence[Observation]) -> tuple[Floats, Floats]:
        """Mean of log step seconds, as the asked harness would see it, and half its 90 %
        interval."""
        import numpy as np

        physics = Mean(asked, self.costs)
        mean, jacobian = physics.at(self.theta)
        shares = exchange_shares(jacobian)
        seen = shared_matrices(self.observations, asked, (exchange_shares(self.jacobian), shares))
        squares = self.widths[: len(KINDS)] ** 2
        cross = np.tensordot(squares, seen, axes=1)
        # The factors are not known exactly either (universal kriging).
        lever = jacobian - cross.T @ self.inverse @ self.jacobian
        left = lever @ self.theta_covariance @ lever.T - cross.T @ self.inverse @ cross
        middle = mean + cross.T @ self.weighted
        effects = squares[:, None, None] * shared_matrices(asked, asked, (shares, shares))
        own, new = np.einsum("kii->ki", effects), np.logical_not(seen.any(axis=1))
        known = np.diag(left + np.diag(_noise(self.widths, asked)))
        known = known + np.where(new, 0.0, own).sum(axis=0)
        tails = [self.calibration.tail_of(o) for o in asked]
        scale, dof = np.array([(tail.scale, tail.dof) for tail in tails]).T
        stretched = np.where(new, own * self.calibration.new[:, None] ** 2, 0.0)
        reach = reach_of((o.workload, o.chip) for o in self.observations)
        half = half_width(
            [
                (known * scale**2, dof),
                *zip(stretched, self.dofs, strict=False),
                (widening(asked, self.observations, reach), MOST),
            ]
        )
        native = np.array([o.kind == NATIVE for o in asked])
        share = np.where(native, self.highest_native_share, self.highest_share)
        raised = np.exp(-middle) * physics.products_s() / share
        paper = np.array([o.harness == PAPER for o in asked])
        return middle + np.where(paper, 0.0, np.log(np.maximum(raised, 1.0))), half

    def without(self, held: Sequence[int]) -> Posterior:
        """The same factors and widths with the effects of all but these observations.

        The inverse of a part of a matrix follows from the inverse of the whole (Rasmussen and
        Williams 2006, appendix A.3).
        """
        import numpy as np

        out = np.zeros(len(self.observations), dtype=bool)
        out[list(held)] = True
        block = np.linalg.inv(self.inverse[np.ix_(out, out)])
        beside = self.inverse[np.ix_(~out, out)] @ block
        inverse = self.inverse[np.ix_(~out, ~out)] - beside @ self.inverse[np.ix_(out, ~out)]
        jacobian = self.jacobian[~out]
        precision = np.diag([factor.spread**-2 for factor in FACTORS])
        return replace(
            self,
            observations=[o for o, leave in zip(self.observations, out, strict=True) if not leave],
            weighted=self.weighted[~out] - beside @ self.weighted[out],
            inverse=inverse,
            jacobian=jacobian,
            theta_covariance=np.linalg.inv(jacobian.T @ inverse @ jacobian + precision),
        )


def _noise(widths: Floats, observations: Sequence[Observation]) -> Floats:
    import numpy as np

    rounding = np.array([o.rounding for o in observations])
    noise: Floats = widths[len(KINDS) :][noise_groups(observations)] ** 2 + rounding**2
    return noise


def fit_posterior(observations: Sequence[Observation]) -> Posterior:
    """Fit everything to the timed observations given."""
    import numpy as np

    timed = [o for o in observations if o.step_s is not None]
    if not timed:
        raise ValueError("there is no measured time to fit; give evidence with times")
    y = np.log(np.array([o.step_s for o in timed], dtype=float))
    costs = fit_costs(observations)
    mean = Mean(timed, costs)
    theta = np.array(starts())
    shares = exchange_shares(mean.at(theta)[1])
    matrices = shared_matrices(timed, timed, (shares, shares))
    prior = np.array(starts())
    precision = 1.0 / np.array([factor.spread for factor in FACTORS]) ** 2
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
    return _posterior(costs, theta, known, timed, residuals, jacobian, covariance, calibration)


def _posterior(
    costs: MemoryCosts,
    theta: Floats,
    widths: tuple[Floats, Floats],
    timed: Sequence[Observation],
    residuals: Floats,
    jacobian: Floats,
    covariance: Floats,
    calibration: Calibration,
) -> Posterior:
    import numpy as np

    inverse: Floats = np.linalg.inv(covariance).astype(np.float64)
    precision = np.diag([factor.spread**-2 for factor in FACTORS])
    spread: Floats = np.linalg.inv(jacobian.T @ inverse @ jacobian + precision).astype(np.float64)
    weighted = inverse @ residuals
    return Posterior(
        costs,
        theta,
        *widths,
        timed,
        weighted,
        inverse,
        jacobian,
        spread,
        calibration,
        highest_measured_share(timed) or 1.0,
        highest_measured_share(timed, native=True) or 1.0,
    )


def condition(posterior: Posterior, observations: Sequence[Observation]) -> Posterior:
    """The same factors and widths with the effects of these observations instead."""
    import numpy as np

    timed = [o for o in observations if o.step_s is not None]
    mean, jacobian = Mean(timed, posterior.costs).at(posterior.theta)
    shares = exchange_shares(jacobian)
    matrices = shared_matrices(timed, timed, (shares, shares))
    residuals = np.log(np.array([o.step_s for o in timed], dtype=float)) - mean
    inflate = _outliers(residuals, posterior.widths, matrices, timed)
    covariance = _covariance(posterior.widths, matrices, timed, inflate)
    return _posterior(
        posterior.costs,
        posterior.theta,
        (posterior.widths, posterior.dofs),
        timed,
        residuals,
        jacobian,
        covariance,
        posterior.calibration,
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
