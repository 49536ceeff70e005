"""What physics leaves over: random effects of models, GPUs, sources and their pairs.

Each effect is a number with a normal prior around zero; how wide each kind's prior is, the
evidence decides (marginal likelihood, Rasmussen and Williams 2006, chapter 5). An effect that the
evidence does not know stays zero and adds its whole variance to the interval: so a new model on a
new GPU has a wider one than a known model on a known GPU. The tails are in `intervals.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.prediction.fitted import KNOWN, LINKS
from advisor.prediction.intervals import effects_of
from advisor.prediction.observed_times import REFERENCE, Key, Observation
from advisor.prediction.physics.factors import NAMES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of effect, and how large it starts."""

    name: str
    start: float
    spread: float = 0.7
    """Standard deviation of the logarithm of the width."""

    def key(self, o: Observation) -> Key | None:
        """Which effect of the kind an observation has."""
        return effects_of(o.workload, o.chip, o.count, o.settings, o.stack).get(self.name)

    @property
    def of_exchange(self) -> bool:
        """Whether it moves the exchange between GPUs alone: it counts by the share of a step that
        the exchange takes (`exchange_shares`)."""
        return self.name == LINKS


_STARTS = {
    **dict.fromkeys(("family", "model", "image model", "model x naive"), (0.08,)),
    "generation": (0.1, 0.4),
    "gpu": (0.08, 0.4),
    "links": (0.5,),
    "source": (0.12,),
    "source x method": (0.06,),
    "lean": (0.05,),
    "lean otherwise": (0.15,),
}
KINDS = tuple(Kind(name, *_STARTS[name]) for name in KNOWN)
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
    return jacobian[:, NAMES.index("exchange")]


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
