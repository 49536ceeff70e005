"""The fit as a whole: from evidence to what predictions need."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.prediction.fitted import (
    KNOWN,
    VERSION,
    Fitted,
    Reach,
    Width,
    _six,
    chip_coordinates,
    workload_coordinates,
)

if TYPE_CHECKING:
    from advisor.prediction.fit.observations import Observation


def fingerprint(observations: Sequence[Observation]) -> str:
    """The same evidence has the same one, whatever its order."""
    lines = sorted(
        f"{o.harness}|{o.workload!r}|{o.chip!r}|{o.count}|{o.method}|{o.option!r}|{o.step_s!r}"
        for o in observations
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def reach_of(observations: Sequence[Observation]) -> set[Reach]:
    """Where the measured models and GPUs stand."""
    reach = {
        Reach(
            kind=o.workload.family,
            coordinates=_six(workload_coordinates(o.workload.parameters, o.workload.tokens)),
        )
        for o in observations
    }
    for o in observations:
        peak, bandwidth = o.chip.peak_tflops("fp16", free_lunch=True), o.chip.bandwidth_gb_s
        if peak is not None and bandwidth is not None:
            reach.add(Reach(kind="gpu", coordinates=_six(chip_coordinates(bandwidth, peak))))
    return reach


def fitted_from(observations: Sequence[Observation]) -> Fitted:
    """Fit the evidence and keep what predictions need. Loads numpy and scipy."""
    import numpy as np

    from advisor.prediction.fit.fit import fit_posterior
    from advisor.prediction.fit.observations import PAPER
    from advisor.prediction.fit.random_effects import KINDS, SHARED

    posterior = fit_posterior(observations)
    kinds = {kind.name: i for i, kind in enumerate(KINDS)}
    names: dict[str, int] = {}
    variance: list[float] = []
    entries: list[tuple[int, int]] = []
    for kind in KINDS:
        if kind.name not in SHARED:
            continue
        for row, observation in enumerate(posterior.observations):
            key = kind.key(observation)
            if key is None:
                continue
            name = f"{kind.name}:{key[0]}"
            if name not in names:
                names[name] = len(names)
                variance.append(float(posterior.widths[kinds[kind.name]]) ** 2)
            entries.append((row, names[name]))
    design = np.zeros((len(posterior.observations), len(names)))
    for row, column in entries:
        design[row, column] = 1.0
    spread = design * np.array(variance)
    means = spread.T @ posterior.weighted
    covariance = np.diag(variance) - spread.T @ posterior.inverse @ spread
    real = posterior.jacobian[[o.harness != PAPER for o in posterior.observations]]
    lever = np.einsum("ij,jk,ik->i", real, posterior.theta_covariance, real)
    return Fitted(
        version=VERSION,
        fingerprint=fingerprint(observations),
        observations=len(posterior.observations),
        own_observations=0,
        costs=posterior.costs,
        factors=tuple(float(x) for x in posterior.theta),
        effects=tuple(names),
        effect_means=tuple(float(x) for x in means),
        effect_covariance=tuple(tuple(float(x) for x in row) for row in covariance),
        widths=tuple(
            Width(sd=float(posterior.widths[kinds[k]]), dof=float(posterior.dofs[kinds[k]]))
            for k in KNOWN
        ),
        pair_width=float(posterior.widths[kinds["measured model x gpu"]]),
        factors_sd=float(np.sqrt(np.median(lever))) if len(lever) else 0.0,
        noise_bus=float(posterior.widths[-2]),
        noise_switch=float(posterior.widths[-1]),
        tail=posterior.real_tail,
        reach=tuple(
            sorted(reach_of(posterior.observations), key=lambda r: (r.kind, r.coordinates))
        ),
    )
