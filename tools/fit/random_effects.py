"""What physics leaves over: random effects of models, GPUs, sources and their pairs.

Each effect is a number with a normal prior around zero; how wide each kind's prior is, the
evidence decides (marginal likelihood, Rasmussen and Williams 2006, chapter 5). An effect that the
evidence does not know stays zero and adds its whole variance to the interval: so a new model on a
new GPU has a wider one than a known model on a known GPU. The tails are in `intervals.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.prediction.fitted import LEAN_DECODERS, LEAN_OTHERS
from advisor.prediction.observed_times import REFERENCE, Key, Observation
from advisor.prediction.physics.chip import gpu_type
from advisor.prediction.physics.factors import NAMES
from bench_runner.recipes import IMAGE_FAMILIES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of effect: which observations share one, and how large it starts."""

    name: str
    key: Callable[[Observation], Key | None]
    start: float
    spread: float = 0.7
    """Standard deviation of the logarithm of the width."""
    of_exchange: bool = False
    """Whether it moves the exchange between GPUs alone: it counts by the share of a step that the
    exchange takes (`exchange_shares`)."""


def _model(*, images: bool) -> Callable[[Observation], Key | None]:
    """The models of images, or all others."""
    return lambda o: (
        (o.workload.workload_id,) if (o.workload.family in IMAGE_FAMILIES) == images else None
    )


def _links(o: Observation) -> Key | None:
    """How somebody's machines of one GPU are wired, and how well their software hides it: one table
    is of one machine, and the same cards exchange three times as fast in another."""
    if o.count == 1:
        return None
    return (o.stack, gpu_type(o.chip))


def _lean(families: Collection[str]) -> Callable[[Observation], Key | None]:
    """What settings beyond the paper's gain, which differs from model to model: little among
    decoders, much among encoders, whose loss asks for few of the words."""

    def key(o: Observation) -> Key | None:
        if o.harness != REFERENCE or o.option is None or not o.option.lean:
            return None
        if o.workload.family not in families:
            return None
        return (o.workload.workload_id,)

    return key


def _naive(o: Observation) -> Key | None:
    return (o.workload.workload_id,) if o.harness == REFERENCE and o.settings == "naive" else None


KINDS = (
    Kind(name="family", key=lambda o: (o.workload.family,), start=0.08),
    Kind(name="model", key=_model(images=False), start=0.08),
    Kind(name="image model", key=_model(images=True), start=0.08),
    Kind(name="generation", key=lambda o: (o.chip.generation,), start=0.1, spread=0.4),
    Kind(name="gpu", key=lambda o: (gpu_type(o.chip),), start=0.08, spread=0.4),
    Kind(name="links", key=_links, start=0.5, of_exchange=True),
    Kind(name="source", key=lambda o: (o.stack,), start=0.12),
    Kind(name="source x method", key=lambda o: (o.stack, o.settings), start=0.06),
    Kind(name="model x naive", key=_naive, start=0.08),
    Kind(name="lean", key=_lean(LEAN_DECODERS), start=0.05),
    Kind(name="lean otherwise", key=_lean(LEAN_OTHERS), start=0.15),
)
NOISES = (
    ("own", 0.025, 0.3),
    ("own, one setting of many", 0.05, 0.5),
    ("one GPU", 0.05, 0.7),
    ("several on a bus", 0.08, 0.7),
    ("several on a switch", 0.05, 0.7),
)
"""Scatter of single measurements by who measured what: start and spread of the logarithm."""


def noise_groups(observations: Sequence[Observation]) -> Whole:
    """Which of NOISES each observation has."""
    import numpy as np

    names = [name for name, _, _ in NOISES]

    def group(o: Observation) -> str:
        if o.harness == REFERENCE:
            return "own, one setting of many" if o.method == "trial" else "own"
        if o.count == 1:
            return "one GPU"
        return "several on a switch" if o.chip.switched else "several on a bus"

    return np.array([names.index(group(o)) for o in observations])


def exchange_shares(jacobian: Floats) -> Floats:
    """Which share of each step the exchange takes, from the derivatives by the factors."""
    shares: Floats = jacobian[:, NAMES.index("exchange")]
    return shares


def shared_matrices(
    left: Sequence[Observation], right: Sequence[Observation], shares: tuple[Floats, Floats]
) -> Floats:
    """For each kind, what the effects of it that two observations share count in both: 1, or of an
    exchange their ``shares``."""
    import numpy as np

    matrices = np.empty((len(KINDS), len(left), len(right)))
    both = np.outer(*shares)
    for kind, matrix in zip(KINDS, matrices, strict=True):
        codes: dict[Key, int] = {}

        def code(o: Observation, kind: Kind = kind, codes: dict[Key, int] = codes) -> int:
            key = kind.key(o)
            return -1 if key is None else codes.setdefault(key, len(codes))

        a = np.array([code(o) for o in left])
        b = np.array([code(o) for o in right])
        matrix[:] = (a[:, None] == b[None, :]) & (a[:, None] >= 0)
        if kind.of_exchange:
            matrix *= both
    return matrices
