"""What a fit leaves behind: a few hundred numbers, versioned, as JSON.

It is made when the store is built (`fitted_from`, which needs scipy) and read when somebody asks
(`Fitted.from_json`, which does not).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from advisor.predict.tails import Tail
from advisor.prediction.physics.memory import MemoryCosts

if TYPE_CHECKING:
    from advisor.predict.evidence import Observation

VERSION = 4
"""Counts up when the factors or effects change their meaning: an older fit is then fitted anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """One measured model or GPU, as the distance from the evidence is reckoned."""

    kind: str
    """A family, or ``gpu``."""
    coordinates: tuple[float, ...]


KNOWN = ("family", "model", "gpu", "source")
"""Kinds of effects that a prediction has. The source is the asker's own stack: none of those
measured elsewhere, until they measure."""
OWN = "source:own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Width:
    """How far effects of a kind lie from none: standard deviation, and how well that is known."""

    sd: float
    dof: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Everything a prediction needs beside the catalogue and the recipe."""

    version: int
    fingerprint: str
    """Of the evidence that was fitted: the same evidence gives the same one."""
    observations: int
    own_observations: int
    """How many of them are the user's own."""
    costs: MemoryCosts
    """The memory model's constants."""
    factors: tuple[float, ...]
    """Logarithms, in the order of `factors.FACTORS`."""
    effects: tuple[str, ...]
    """``kind:id`` of each effect that the evidence knows."""
    effect_means: tuple[float, ...]
    effect_covariance: tuple[tuple[float, ...], ...]
    widths: tuple[Width, ...]
    """Of the kinds of effects, for those that the evidence does not know, in the order of KNOWN."""
    pair_width: float
    """Standard deviation of what a model and a GPU have for themselves."""
    factors_sd: float
    """Standard deviation of log times that the factors' own uncertainty makes, about."""
    noise_bus: float
    noise_switch: float
    tail: Tail
    reach: tuple[Reach, ...]

    def to_json(self) -> str:
        """One line; numbers to six digits, which is more than they are good for."""
        return json.dumps(_rounded(asdict(self)), separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> Fitted:
        """The reverse; ValueError where the text is something else or of another version."""
        try:
            content = json.loads(text)
            version = content["version"]
            if version != VERSION:
                raise ValueError(
                    f"the fitted prediction is of version {version}, this program reads {VERSION}; "
                    "rebuild the store to fit it anew"
                )
            content["reach"] = tuple(
                Reach(kind=r["kind"], coordinates=tuple(r["coordinates"])) for r in content["reach"]
            )
            content["costs"] = MemoryCosts(**content["costs"])
            content["effect_covariance"] = tuple(map(tuple, content["effect_covariance"]))
            content["widths"] = tuple(Width(**width) for width in content["widths"])
            content["tail"] = Tail(**content["tail"])
            for name in ("factors", "effects", "effect_means"):
                content[name] = tuple(content[name])
            return Fitted(**content)
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(
                f"the fitted prediction cannot be read ({type(error).__name__}); "
                "rebuild the store to fit it anew"
            ) from None


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


def fingerprint(observations: Sequence[Observation]) -> str:
    """The same evidence has the same one, whatever its order."""
    lines = sorted(
        f"{o.harness}|{o.workload!r}|{o.chip!r}|{o.count}|{o.method}|{o.option!r}|{o.step_s!r}"
        for o in observations
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def pair_name(workload_id: str, gpu: str) -> str:
    """The effect that a model and a GPU type have for themselves."""
    return f"pair:{workload_id}|{gpu}"


def workload_coordinates(parameters: float, tokens: float) -> tuple[float, ...]:
    """Where a model stands beside those measured: a factor of 4 in size is 1, so is one of 8 in
    length."""
    return (math.log(parameters) / math.log(4.0), math.log(tokens) / math.log(8.0))


def chip_coordinates(bandwidth: float, peak: float) -> tuple[float, ...]:
    """Where a GPU stands: a factor of 3 in bandwidth is 1, so is one in peak over bandwidth."""
    return (math.log(bandwidth) / math.log(3.0), math.log(peak / bandwidth) / math.log(3.0))


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

    from advisor.predict.effects import KINDS, SHARED
    from advisor.predict.evidence import PAPER
    from advisor.predict.fit import fit_posterior

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


def _six(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(f"{value:.6g}") for value in values)
