"""Fits the memory model to what the paper's search could run: its micro-batches and its verdicts.

What is fitted is a step function of a dozen constants, so the search is a random one, with a fixed
seed: the same evidence gives the same constants.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from advisor.prediction.observed_times import PAPER, Observation
from advisor.prediction.own_records import columns_of
from advisor.prediction.physics.columns import Columns
from advisor.prediction.physics.memory import NAIVE, OPTIONS, MemoryCosts, Option, micro_batch
from tools.fit.priors import START

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

TRIES = 400
STEP = 0.15
"""How far a try moves a constant, as the standard deviation of its logarithm."""
WRONG_VERDICT = 4.0
"""What a wrong verdict costs, in doublings of a micro-batch; a wrong "fits" costs it twice."""
LEASH = 0.5
"""Standard deviation of the logarithm of a constant around where it starts."""
BOUNDS = {"usable": (0.9, 0.985), "fixed_gib": (0.6, 2.0), "buckets": (0.0, 4.0)}


def fit_costs(observations: Sequence[Observation]) -> MemoryCosts:
    """The constants that explain best which settings ran, and with which micro-batch."""
    return _fit_costs(tuple(o for o in observations if o.harness == PAPER))


@lru_cache(maxsize=64)
def _fit_costs(observations: tuple[Observation, ...]) -> MemoryCosts:
    judged = _Judged(observations)
    if not judged.rows:
        return START
    chance = random.Random(2024)
    names = [field.name for field in fields(MemoryCosts)]
    best, least = START, judged.loss(START)
    for _ in range(TRIES):
        moved = {}
        for name in chance.sample(names, 2):
            value = getattr(best, name) * math.exp(chance.gauss(0.0, STEP))
            low, high = BOUNDS.get(name, (0.0, math.inf))
            moved[name] = min(max(value, low), high)
        tried = replace(best, **moved)
        loss = judged.loss(tried)
        if loss < least:
            best, least = tried, loss
    return best


class _Judged:
    """What the paper's search says of memory, in columns that are made once."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        import numpy as np

        paper = [o for o in observations if o.harness == PAPER]
        self.rows = len(paper)
        if not paper:
            return
        naive = [o for o in paper if o.method == "naive"]
        searched = [o for o in paper if o.method != "naive"]
        self.naive = _verdicts(naive)
        self.optimal = _verdicts(searched)
        self.groups: list[tuple[Option, Columns, Floats]]
        self.groups = []
        for option in OPTIONS:
            same = [o for o in searched if o.searched is not None and o.searched[0] == option]
            if same:
                sizes = np.array([o.searched[1] for o in same if o.searched], dtype=float)
                self.groups.append((option, columns_of(same), np.log2(sizes)))

    def loss(self, costs: MemoryCosts) -> float:
        """Doublings that micro-batches are off, wrong verdicts, and how far constants strayed."""
        import numpy as np

        total = 0.0
        for option, columns, logs in self.groups:
            found = np.log2(np.maximum(micro_batch(option, columns, costs), 0.5))
            total += float(np.minimum(np.abs(found - logs), 2.0).sum())
        for verdicts, options in ((self.naive, (NAIVE,)), (self.optimal, OPTIONS)):
            if verdicts is None:
                continue
            columns, ran = verdicts
            says = np.zeros(len(columns), dtype=bool)
            for option in options:
                says |= micro_batch(option, columns, costs) > 0
            total += WRONG_VERDICT * float((2.0 * (says & ~ran) + (~says & ran)).sum())
        strayed = sum(
            math.log(getattr(costs, field.name) / getattr(START, field.name)) ** 2
            for field in fields(MemoryCosts)
            if getattr(costs, field.name) > 0
        )
        return total + 0.5 * strayed / LEASH**2


def _verdicts(observations: Sequence[Observation]) -> tuple[Columns, Flags] | None:
    import numpy as np

    if not observations:
        return None
    return columns_of(observations), np.array([o.step_s is not None for o in observations])


def says_fits(observations: Sequence[Observation], costs: MemoryCosts) -> list[bool]:
    """Whether each observation's method fits, by the memory model."""
    import numpy as np

    columns = columns_of(observations)
    naive = micro_batch(NAIVE, columns, costs) > 0
    any_option = np.any([micro_batch(option, columns, costs) > 0 for option in OPTIONS], axis=0)
    return [
        bool(naive[i] if o.method == "naive" else any_option[i]) for i, o in enumerate(observations)
    ]
