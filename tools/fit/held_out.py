"""What a user is told of times that the fit did not see, from the functions that tell users.

Everything that touches the left-out part stays out of the fit: factors, effects, their widths and
the calibration of the intervals.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from advisor.prediction.fitted import Fitted
from advisor.prediction.observed_times import PAPER, REFERENCE, Observation
from advisor.prediction.physics.chip import gpu_type
from advisor.prediction.physics.memory import Wanted
from advisor.prediction.predict_many import Asked, days_of, other_software, predict_many
from bench_runner.recipes import IMAGE_FAMILIES
from bench_runner.records.timing import SECONDS_PER_DAY
from tools.fit.refit import fitted_from

HANDS = 8
"""Into how many hands models and sources are dealt; a hand is left out whole."""

Key = Callable[[Observation], Hashable]


@dataclass(frozen=True, slots=True)
class Held:
    """A left-out measurement, what was told of it, and what the simple table says."""

    observation: Observation
    days: float
    low: float
    high: float
    simple: float

    @property
    def truth(self) -> float:
        """Days of the whole run as measured."""
        o = self.observation
        assert o.step_s is not None  # only timed observations are held out
        return o.step_s * o.workload.training_steps / SECONDS_PER_DAY

    @property
    def error(self) -> float:
        """Absolute relative error."""
        return abs(self.days / self.truth - 1.0)

    @property
    def simple_error(self) -> float:
        """The same of the simple table."""
        return abs(self.simple / self.truth - 1.0)

    @property
    def inside(self) -> bool:
        """Whether the 90 % interval holds it."""
        return self.low <= self.truth <= self.high


def is_own(o: Observation) -> bool:
    """A time of our own software that somebody would be told: what a search found, not its slower
    trials."""
    return o.harness == REFERENCE and o.method != "trial"


def is_others(o: Observation) -> bool:
    """A time of somebody else's software, synchronised or as published."""
    return o.harness not in (PAPER, REFERENCE)


def source(o: Observation) -> str:
    """Whose tables they are, whatever their edition."""
    return re.sub(r"-v\d$", "", o.stack)


def model(o: Observation) -> str:
    """A whole model."""
    return o.workload.workload_id


def gpu(o: Observation) -> str:
    """A whole GPU type."""
    return gpu_type(o.chip)


def folds(
    observations: Sequence[Observation], asked: Callable[[Observation], bool], key: Key
) -> list[tuple[list[Observation], list[Observation]]]:
    """What a fit sees and what it is asked: the values of the key are dealt into HANDS hands, each
    left out whole, so that what is asked of a fit is harder than one value at a time."""
    timed = [o for o in observations if o.step_s is not None]
    values = sorted({str(key(o)) for o in timed if asked(o)})
    hands = [set(values[i::HANDS]) for i in range(min(HANDS, len(values)))]
    return [
        (
            [o for o in observations if str(key(o)) not in hand],
            [o for o in timed if asked(o) and str(key(o)) in hand],
        )
        for hand in hands
    ]


def hold_out(fold: tuple[list[Observation], list[Observation]], *, said: bool = True) -> list[Held]:
    """Fit what is seen, and tell of the rest what a user is told, whose settings are ``said``."""
    seen, asked = fold
    fitted = fitted_from(seen)
    table = simple_table(seen)
    return [Held(o, *told(fitted, o, said=said), simple_days(table, o)) for o in asked]


def told(fitted: Fitted, o: Observation, *, said: bool = True) -> tuple[float, float, float]:
    """Days and the ends of their interval, as `advisor predict` tells them: with the settings that
    were used where they are ``said``, else of a program of which nothing is known."""
    import numpy as np

    zero = np.zeros(1, dtype=int)
    w, option = o.workload, o.option
    wanted = Wanted(host_gib=o.host_gib)
    if said and option is not None:
        wanted = Wanted(
            host_gib=o.host_gib,
            stage=option.stage,
            checkpointing=option.checkpointing,
            offloading=option.offloading,
            micro_batch_size=o.micro_batch_size,
        )
    asked = Asked([w], [o.chip], zero, zero, np.array([o.count]), fitted, wanted=wanted)
    if is_own(o) or said:
        ours, method = is_own(o), "naive" if o.method == "naive" else "optimal"
        if ours and method == "optimal" and not (option is not None and option.lean):
            method = "paper"
        if not ours:
            wanted = replace(wanted, compiled=w.compiles, fused=w.fused_attention)
        software = "ours" if ours else o.software
        many = predict_many(replace(asked, method=method, wanted=wanted, software=software))
        found = days_of(many.days, many.low_days, many.high_days)
    else:
        found = days_of(*other_software(asked))
    if found[0] is None and wanted.micro_batch_size is not None:
        # More memory is told of than there is: what is told of smaller passes.
        return told(fitted, replace(o, micro_batch_size=None), said=said)
    days, low, high = (math.nan if each is None else each for each in found)
    return days, low, high


def kind(o: Observation) -> str:
    """Text or images, and whether it is compiled."""
    return "images" if o.workload.family in IMAGE_FAMILIES else o.workload.family


def simple_table(seen: Iterable[Observation]) -> dict[Hashable, float]:
    """The simplest prediction: the median share of the peak by generation of GPU and kind of model,
    by the kind where the generation is not known."""
    shares: dict[Hashable, list[float]] = {}
    for o in seen:
        if o.step_s is None or o.harness == PAPER or not _peak(o):
            continue
        share = _flops(o) / o.step_s / _peak(o)
        for key in ((o.chip.generation, kind(o)), kind(o), ""):
            shares.setdefault(key, []).append(share)
    return {key: statistics.median(found) for key, found in shares.items()}


def simple_days(table: dict[Hashable, float], o: Observation) -> float:
    """What that table says of a training."""
    keys: tuple[Hashable, ...] = ((o.chip.generation, kind(o)), kind(o), "")
    share = next(table[key] for key in keys if key in table)
    seconds = _flops(o) / (share * _peak(o)) if _peak(o) else math.nan
    return seconds * o.workload.training_steps / SECONDS_PER_DAY


def _flops(o: Observation) -> float:
    return o.workload.flops / o.workload.training_steps


def _peak(o: Observation) -> float:
    """FLOP a second of all GPUs; 0 where it is not known."""
    rate = o.chip.peak_tflops(o.workload.precision, free_lunch=o.method != "naive")
    return (rate or 0.0) * 1e12 * o.count
