"""Cross-validation: everything that touches the held-out part stays out of the fit.

Factors, effects and the widths that govern them (the hyper-parameters) are fitted anew on what is
left, so that their choice is nested. For the cut of one cell, factors and widths are fitted
without a whole block of cells, then the effects with all but the one cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from advisor.prediction.observed_times import PAPER, REFERENCE, SECONDS_PER_DAY, Observation, cell
from advisor.prediction.physics.chip import gpu_type
from tools.fit.fit import Posterior, condition, fit_posterior

FEWEST_OF_PAIR = 6
"""Rows of a source and a GPU from which on the two are left out together."""
BLOCKS = 8
"""Into how many blocks the cells are dealt."""

Key = Callable[[Observation], Hashable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A held-out measurement and what was predicted of it."""

    observation: Observation
    days: float
    low_days: float
    high_days: float

    @property
    def error(self) -> float:
        """Absolute relative error; 0 inside the rounding of the printed figure."""
        truth = self._truth
        if abs(self.days - truth) <= half_width_days(self.observation):
            return 0.0
        return abs(self.days / truth - 1.0)

    @property
    def log_error(self) -> float:
        """Logarithm of measured over predicted: above 0 where the prediction was too fast."""
        return math.log(self._truth / self.days)

    @property
    def covered(self) -> bool:
        """Whether the 90 % interval holds a value that the printed figure may stand for."""
        half = half_width_days(self.observation)
        return self.low_days <= self._truth + half and self._truth - half <= self.high_days

    @property
    def _truth(self) -> float:
        days = training_days(self.observation)
        assert days is not None  # only timed observations are held out
        return days


def training_days(o: Observation) -> float | None:
    """The whole run's days."""
    return None if o.step_s is None else o.step_s * o.workload.training_steps / SECONDS_PER_DAY


def half_width_days(o: Observation) -> float:
    """Half the width of the interval that the printed figure stands for."""
    return 0.5 if o.harness == PAPER else 0.0


def model(o: Observation) -> Hashable:
    """A whole model."""
    return o.workload.workload_id


def gpu(o: Observation) -> Hashable:
    """A whole GPU type."""
    return gpu_type(o.chip)


def generation(o: Observation) -> Hashable:
    """Every GPU of a generation."""
    return o.chip.generation


def family(o: Observation) -> Hashable:
    """A whole family of models."""
    return o.workload.family


def source(o: Observation) -> Hashable:
    """A whole source: another team's software and machines; ours is one, so are the tables of
    several years of one team."""
    return project(o)


def project(o: Observation) -> str:
    """Whose tables they are, whatever their edition."""
    if o.harness == PAPER:
        return PAPER
    return re.sub(r"-v\d$", "", o.stack)


CUTS: dict[str, Key] = {"one cell": cell, "a whole model": model, "a whole GPU type": gpu}
WIDER_CUTS: dict[str, Key] = {
    "a whole GPU generation": generation,
    "a whole source": source,
    "a whole family": family,
}


@dataclass(frozen=True, slots=True)
class Fold:
    """What is left out together: what the fit sees, and what is asked of it."""

    seen: tuple[Observation, ...]
    asked: tuple[Observation, ...]


Tested = Callable[[Observation], bool]


def is_paper_optimal(o: Observation) -> bool:
    """One of Table 1's cells."""
    return o.harness == PAPER and o.method == "optimal"


def is_truth(o: Observation) -> bool:
    """A synchronised measurement or a sound published one: nothing of the paper's harness.

    Of a search only what it found: its slower trials are no times that anybody would be told.
    """
    return o.harness != PAPER and o.method != "trial"


def is_own(o: Observation) -> bool:
    """A time of our own stack, as it would be told."""
    return is_truth(o) and o.harness == REFERENCE


def dealt(observations: Sequence[Observation], key: Key, hands: int = BLOCKS) -> Key:
    """The values of a key dealt into as many hands, each left out whole: it takes less time than
    one after the other, and what is asked of a fit is harder, not easier."""
    values = sorted({str(key(o)) for o in observations})
    hand = {value: i % hands for i, value in enumerate(values)}
    return lambda o: hand.get(str(key(o)), -1)


def folds_of(observations: Sequence[Observation], tested: Tested, key: Key) -> list[Fold]:
    """One fold for each value of the key among the tested: all that shares it is left out."""
    timed = [o for o in observations if o.step_s is not None]
    asked = [o for o in timed if tested(o)]
    return [
        Fold(
            tuple(o for o in timed if key(o) != group),
            tuple(o for o in asked if key(o) == group),
        )
        for group in dict.fromkeys(key(o) for o in asked)
    ]


def special_folds(observations: Sequence[Observation]) -> dict[str, list[Fold]]:
    """Cuts that are no single key."""
    timed = [o for o in observations if o.step_s is not None]
    truth = [o for o in timed if is_truth(o)]

    def split(out: Tested, asked: Tested) -> Fold:
        return Fold(
            tuple(o for o in timed if not out(o)), tuple(o for o in truth if out(o) and asked(o))
        )

    pairs = dict.fromkeys((project(o), gpu_type(o.chip)) for o in truth)
    return {
        "a source and its GPU": [
            Fold(
                tuple(o for o in timed if project(o) != stack and gpu_type(o.chip) != kind),
                tuple(o for o in truth if (project(o), gpu_type(o.chip)) == (stack, kind)),
            )
            for stack, kind in pairs
            if sum((project(o), gpu_type(o.chip)) == (stack, kind) for o in truth) >= FEWEST_OF_PAIR
        ],
        "all GPUs on PCIe": [split(lambda o: not o.chip.switched, lambda o: True)],
        "one GPU to eight": [split(lambda o: o.count > 1, lambda o: o.count == 8)],
        "above 3B parameters": [split(lambda o: o.workload.parameters > 3e9, lambda o: True)],
        "our own stack, a GPU left out": folds_of(observations, is_own, gpu),
        "our own stack, all of it": folds_of(observations, is_own, source),
    }


def guess(fold: Fold) -> list[Guess]:
    """Predict what was left out."""
    return guesses_of(fit_posterior(fold.seen), list(fold.asked))


def hold_out_block(observations: Sequence[Observation], tested: Tested, start: int) -> list[Guess]:
    """Every eighth cell, each alone: factors and widths without the block, effects without it."""
    timed = [o for o in observations if o.step_s is not None]
    groups = list(dict.fromkeys(cell(o) for o in timed if tested(o)))[start::BLOCKS]
    if not groups:
        return []
    block = set(groups)
    fitted = fit_posterior([o for o in timed if cell(o) not in block])
    everything = condition(fitted, timed)
    guesses: list[Guess] = []
    for group in groups:
        known = everything.without([i for i, o in enumerate(timed) if cell(o) == group])
        guesses += guesses_of(known, [o for o in timed if tested(o) and cell(o) == group])
    return guesses


def guesses_of(posterior: Posterior, held: Sequence[Observation]) -> list[Guess]:
    """Predict what a fit did not see."""
    means, halves = posterior.predict(held)
    found = []
    for observation, mean, half in zip(held, means, halves, strict=True):
        run = observation.workload.training_steps / SECONDS_PER_DAY
        found.append(
            Guess(
                observation=observation,
                days=math.exp(mean) * run,
                low_days=math.exp(mean - half) * run,
                high_days=math.exp(mean + half) * run,
            )
        )
    return found
