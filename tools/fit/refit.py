"""`python -m tools.fit.refit` fits the evidence again and writes fitted.json.

It takes half a minute; a test fails when it is due.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from advisor.prediction.distance import reach_of
from advisor.prediction.fitted import (
    LINKS,
    OF_SOFTWARE,
    OWN_STACK,
    VERSION,
    Fitted,
    Width,
    effect_name,
    lower_triangle,
)

if TYPE_CHECKING:
    from advisor.prediction.observed_times import Observation


def fingerprint(observations: Sequence[Observation]) -> str:
    """The same evidence has the same one, whatever its order."""
    lines = sorted(
        f"{o.harness}|{o.workload!r}|{o.chip!r}|{o.count}|{o.method}|{o.option!r}|{o.step_s!r}"
        for o in observations
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def to_json(fitted: Fitted) -> str:
    """One line; numbers to six digits, which is more than they are good for."""
    return json.dumps(_rounded(asdict(fitted)), separators=(",", ":"))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


def fitted_from(observations: Sequence[Observation]) -> Fitted:
    """Fit the evidence and keep what predictions need: of the effects those of our own stack, not
    of other people's. Loads numpy and scipy."""
    import numpy as np

    from advisor.prediction.observed_times import REFERENCE, pieces_of
    from tools.fit.fit import fit_posterior
    from tools.fit.random_effects import KINDS, NOISES, exchange_shares

    posterior = fit_posterior(observations)
    rows = posterior.observations
    names: dict[str, int] = {}
    variance: list[float] = []
    entries: list[tuple[int, int, float]] = []
    shares = exchange_shares(posterior.jacobian)
    for kind, width in zip(KINDS, posterior.widths, strict=False):
        for row, o in enumerate(rows):
            others = kind.name in (*OF_SOFTWARE, LINKS) and o.stack != OWN_STACK
            if others or (key := kind.key(o)) is None:
                continue
            effect = effect_name(kind.name, *map(str, key))
            if effect not in names:
                names[effect] = len(names)
                variance.append(float(width) ** 2)
            counts = float(shares[row]) if kind.of_exchange else 1.0
            entries.append((row, names[effect], counts))
    design = np.zeros((len(rows), len(names)))
    for row, column, counts in entries:
        design[row, column] = counts
    spread = design * np.array(variance)
    means = spread.T @ posterior.weighted
    covariance = np.diag(variance) - spread.T @ posterior.inverse @ spread
    # What the factors' uncertainty leaves where the effects follow it (universal kriging).
    follow = -(spread.T @ posterior.inverse @ posterior.jacobian)
    own = np.array([o.harness == REFERENCE for o in rows])
    lever = posterior.jacobian[own] + design[own] @ follow
    left = np.einsum("ij,jk,ik->i", lever, posterior.theta_covariance, lever)
    factors = float(np.median(left)) if own.any() else 0.0
    noises = [name for name, _, _ in NOISES]
    return Fitted(
        version=VERSION,
        fingerprint=fingerprint(observations),
        observations=len(rows),
        own_observations=0,
        costs=posterior.costs,
        factors=tuple(float(x) for x in posterior.theta),
        effects=tuple(names),
        effect_means=tuple(float(x) for x in means),
        effect_covariance=lower_triangle(covariance),
        widths=tuple(
            Width(sd=float(sd), dof=float(dof), new=float(new))
            for sd, dof, new in zip(
                posterior.widths, posterior.dofs, posterior.calibration.new, strict=False
            )
        ),
        factors_sd=float(np.sqrt(factors)),
        noise=float(posterior.widths[len(KINDS) + noises.index("own")]),
        tail=posterior.calibration.own_tail,
        highest_share=posterior.highest_share,
        tuned_share=posterior.highest_tuned_share,
        reach=tuple(
            sorted(
                reach_of((o.workload, o.chip) for o in rows), key=lambda r: (r.kind, r.coordinates)
            )
        ),
        pieces=tuple(
            sorted(
                pieces_of(rows),
                key=lambda p: (p.model, p.gpu, p.count, p.by, p.parameters, p.timm, p.half),
            )
        ),
    )


def main() -> None:
    """Fit the shipped evidence and write fitted.json."""
    from advisor.prediction.shipped_predictions import FITTED
    from tools.fit.shipped_evidence import load_evidence

    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # small matrices, and the same sums on every machine
    fitted = fitted_from(load_evidence())
    FITTED.write_text(to_json(fitted) + "\n", encoding="utf-8")
    print(f"{FITTED}: version {fitted.version}, {fitted.observations} observations")


if __name__ == "__main__":
    main()
