"""Fits the memory model to what our own trainings held at most, and to what the paper's search
could run: its micro-batches and its verdicts.

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
from advisor.prediction.physics.memory import (
    NAIVE,
    OPTIONS,
    MemoryCosts,
    Option,
    memory_gib,
    micro_batch,
    sample_bytes,
)
from tools.fit.priors import START

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

TRIES = 800
STEPS = 0.3, 0.01
"""How far the first and the last try move a constant, as the standard deviation of its
logarithm."""
WRONG_VERDICT = 4.0
"""What a wrong verdict costs, in doublings of a micro-batch; a wrong "fits" costs it twice."""
LEASH = 0.5
"""Standard deviation of the logarithm of a constant around where it starts."""
BOUNDS = {
    "usable": (0.9, 0.985),
    "fixed_gib": (0.6, 2.0),
    "buckets": (0.0, 4.0),
    "logit": (11.4, 16.0),
}
"""Between what a constant stays. A fused loss saved 11.4 to 11.7 bytes a logit on an H100 and an
H200; models that are compiled whole save about half of them, which nothing here tells apart."""


def fit_costs(observations: Sequence[Observation]) -> MemoryCosts:
    """The constants that explain best what was held, which settings ran, and with which
    micro-batch."""
    told = tuple(o for o in observations if o.harness == PAPER or o.peak_gib is not None)
    return _fit_costs(told)


@lru_cache(maxsize=64)
def _fit_costs(observations: tuple[Observation, ...]) -> MemoryCosts:
    judged = _Judged(observations)
    if not judged.rows:
        return START
    chance = random.Random(2024)
    names = [field.name for field in fields(MemoryCosts)]
    best, least = START, judged.loss(START)
    for tried_so_far in range(TRIES):
        step = STEPS[0] * (STEPS[1] / STEPS[0]) ** (tried_so_far / TRIES)
        moved = {}
        for name in chance.sample(names, 2):
            value = getattr(best, name) * math.exp(chance.gauss(0.0, step))
            low, high = BOUNDS.get(name, (0.0, math.inf))
            moved[name] = min(max(value, low), high)
        tried = replace(best, **moved)
        loss = judged.loss(tried)
        if loss < least:
            best, least = tried, loss
    return best


class _Judged:
    """What trainings say of memory, in columns that are made once."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        import numpy as np

        self.rows = len(observations)
        paper = [o for o in observations if o.harness == PAPER]
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
        self.peaks = peaks_of(observations)

    def loss(self, costs: MemoryCosts) -> float:
        """Doublings that micro-batches are off, wrong verdicts, and how far constants strayed."""
        import numpy as np

        total = 0.0
        for option, columns, logs in self.groups:
            found = np.log2(np.maximum(micro_batch(option, columns, costs), 0.5))
            total += float(np.minimum(np.abs(found - logs), 2.0).sum())
        for option, columns, sizes, gib in self.peaks:
            off = np.log2(held_gib(option, columns, costs, sizes) / gib)
            total += float(np.minimum(np.abs(off), 1.0).sum())
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


def held_gib(option: Option, columns: Columns, costs: MemoryCosts, sizes: Floats) -> Floats:
    """GPU memory of trainings with these micro-batches, in GiB, without CUDA's context."""
    kept = sample_bytes(option, columns, costs) * sizes
    return memory_gib(option, columns, costs, kept) - costs.fixed_gib


Peaks = tuple[Option, "Columns", "Floats", "Floats"]


def peaks_of(observations: Sequence[Observation]) -> list[Peaks]:
    """By settings: the trainings of which it is known, their micro-batches, and what they held."""
    import numpy as np

    groups: dict[Option, list[tuple[Observation, int, float]]] = {}
    for o in observations:
        settings = o.searched or (o.option, o.micro_batch_size)
        if o.peak_gib is not None and settings[0] is not None and settings[1] is not None:
            groups.setdefault(settings[0], []).append((o, settings[1], o.peak_gib))
    return [
        (
            option,
            columns_of([o for o, _, _ in group]),
            np.array([size for _, size, _ in group], dtype=float),
            np.array([gib for _, _, gib in group]),
        )
        for option, group in groups.items()
    ]


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
