"""How many groups of times would be outside by chance, if every interval were right.

The errors of times that are left out together are not independent. Where a GPU is left out, all its
times share what nobody knows of that GPU, so that their intervals hold together or fail together,
however right they are. What the errors share is known: a prediction is a normal distribution of all
that is asked at once. So errors are drawn from it, and it is counted how often a group's share is
as far from nine in ten as the measured one. Student's tails are not drawn: an interval is what
holds in nine of ten draws.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.prediction.distance import FARTHEST, chip_distance, model_distances, reach_of
from advisor.prediction.intervals import NORMAL_90
from advisor.prediction.observed_times import REFERENCE, Observation
from advisor.prediction.physics.chip import gpu_type
from tools.fit.calibrate import widening
from tools.fit.fit import Posterior

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Drawn = NDArray[np.bool_]
    """Whether each interval holds in each draw."""

DRAWS = 2000
SEED = 20261126
LEAST_HELD, MOST_HELD = 0.85, 0.95
"""The share of intervals of 90 % that should hold."""
RARE = 0.05
"""Probability below which a group is further off than the shared errors explain."""


def joint_covariance(posterior: Posterior, asked: Sequence[Observation]) -> Floats:
    """Of the errors of the logarithms, all asked at once."""
    import numpy as np

    found = posterior.unseen(asked)
    tail = np.array([tail.scale for tail in found.tails])
    total: Floats = found.known * np.outer(tail, tail)
    stretches = posterior.calibration.new
    for effects, new, stretch in zip(found.effects, found.new, stretches, strict=True):
        scale = np.where(new, stretch, tail)
        total += effects * np.outer(scale, scale)
    total += _far(posterior, asked)
    return total


def _far(posterior: Posterior, asked: Sequence[Observation]) -> Floats:
    """What distance from the evidence adds: the times of a model share its part, those of a GPU
    type theirs."""
    import numpy as np

    seen = posterior.observations
    reach = reach_of((o.workload, o.chip) for o in seen)
    gpus = {gpu_type(o.chip) for o in seen}
    ours = {gpu_type(o.chip) for o in seen if o.harness == REFERENCE}
    chips = {o.chip: chip_distance(reach, gpus, ours, o.chip) for o in asked}
    of_chip = np.minimum([chips[o.chip] for o in asked], FARTHEST)
    of_model = np.minimum(model_distances(reach, [o.workload for o in asked]), FARTHEST)
    width = np.sqrt(widening(asked, seen, reach)) / np.maximum(np.hypot(of_chip, of_model), 1e-12)
    models = np.array([o.workload.workload_id for o in asked])
    kinds = np.array([gpu_type(o.chip) for o in asked])
    result: Floats = np.outer(width * of_chip, width * of_chip) * (kinds[:, None] == kinds)
    result += np.outer(width * of_model, width * of_model) * (models[:, None] == models)
    return result


def drawn_inside(covariance: Floats, seed: int = 0) -> Drawn:
    """Whether each interval holds in each of so many draws, if each holds in nine of ten: a row for
    each time. ``seed`` tells what is left out together from all else that is."""
    import numpy as np

    apart = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(apart, apart))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = np.random.default_rng([SEED, seed]).standard_normal((len(covariance), DRAWS))
    inside: Drawn = np.abs(root @ normal) <= NORMAL_90
    return inside


def drawn_of(posterior: Posterior, asked: Sequence[Observation]) -> Drawn:
    """The same of what a fit did not see. Folds are drawn apart: the seed is of what is asked."""
    names = " ".join(o.observation_id for o in asked)
    return drawn_inside(joint_covariance(posterior, asked), zlib.crc32(names.encode()))


@dataclass(frozen=True, slots=True)
class Chance:
    """How many intervals of a group hold, beside how many would if all intervals were right."""

    rows: int
    held: int
    drawn: NDArray[np.int64]
    """How many hold in each draw."""

    @property
    def share(self) -> float:
        """Of the intervals, that hold."""
        return self.held / self.rows

    @property
    def is_outside(self) -> bool:
        """Whether too few or too many hold."""
        return is_outside(self.held, self.rows)

    @property
    def drawn_below(self) -> Drawn:
        """In which draws too few hold."""
        below: Drawn = self.drawn / self.rows < LEAST_HELD
        return below

    @property
    def drawn_above(self) -> Drawn:
        """In which draws too many hold."""
        above: Drawn = self.drawn / self.rows > MOST_HELD
        return above

    @property
    def outside(self) -> float:
        """How likely too few or too many would hold."""
        return float((self.drawn_below | self.drawn_above).mean())

    @property
    def probability(self) -> float:
        """Of a share at least as far from nine in ten, to either side."""
        return float((self._off(self.drawn) >= abs(10 * self.held - 9 * self.rows)).mean())

    @property
    def rare(self) -> float:
        """How likely this probability would be below `RARE`; shares come in steps, so less."""
        import numpy as np

        off = np.sort(self._off(self.drawn))
        at_least = 1.0 - np.searchsorted(off, off, side="left") / len(off)
        return float((at_least < RARE).mean())

    def _off(self, held: NDArray[np.int64]) -> NDArray[np.int64]:
        """How far from nine in ten, in tenths of a row: whole, so that equal is equal."""
        off: NDArray[np.int64] = abs(10 * held - 9 * self.rows)
        return off


def chance_of(covered: Sequence[bool], drawn: Sequence[Drawn]) -> Chance:
    """Of a group: whether each interval holds, and whether it does in each draw."""
    import numpy as np

    return Chance(len(covered), sum(covered), np.sum(drawn, axis=0, dtype=np.int64))


def is_outside(held: int, rows: int) -> bool:
    """Whether so many of so many intervals are too few or too many."""
    return not LEAST_HELD <= held / rows <= MOST_HELD


def outside_by_chance(rows: int) -> float:
    """How likely a group of so many intervals is outside, of which each holds in nine of ten for
    itself."""
    return sum(
        math.comb(rows, held) * 0.9**held * 0.1 ** (rows - held)
        for held in range(rows + 1)
        if is_outside(held, rows)
    )
