"""What predictions must beat: three guesses that need no fit, from the same evidence."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping

from advisor.prediction.observed_times import PAPER, SECONDS_PER_DAY, Observation
from advisor.prediction.physics.chip import gpu_type
from tools.fit.cross_validate import Fold, half_width_days, training_days

SHARE_OF_PEAK = 0.4


def _flops(o: Observation) -> float:
    return o.workload.flops / o.workload.training_steps


def _peak(o: Observation) -> float:
    """FLOP a second of all GPUs; 0 where it is not known."""
    rate = o.chip.peak_tflops(o.workload.precision, free_lunch=o.method != "naive")
    return (rate or 0.0) * 1e12 * o.count


def _mfu(o: Observation) -> float:
    return _flops(o) / (o.step_s or math.inf) / _peak(o)


def _alike(o: Observation, asked: Observation) -> bool:
    """Of the same clock and half of the methods: else no guess could be right."""
    return (o.harness == PAPER, o.method == "naive") == (
        asked.harness == PAPER,
        asked.method == "naive",
    )


def median_mfu(fold: Fold, asked: Observation) -> float:
    """The median MFU of the asked GPU in what is seen; of all GPUs where it is not."""
    seen = [o for o in fold.seen if _alike(o, asked) and _peak(o)]
    same = [o for o in seen if gpu_type(o.chip) == gpu_type(asked.chip)]
    if not seen:
        return math.nan  # nothing of this kind of settings is left
    mfu = statistics.median(_mfu(o) for o in same or seen)
    return _flops(asked) / (mfu * _peak(asked))


def nearest_row(fold: Fold, asked: Observation) -> float:
    """The time of the nearest row, scaled by FLOPs and peak."""

    def apart(o: Observation) -> tuple[float, str]:
        size = abs(math.log(o.workload.parameters / asked.workload.parameters, 4.0))
        size += 2.0 * (o.workload.family != asked.workload.family)
        size += 1.0 * (gpu_type(o.chip) != gpu_type(asked.chip))
        size += 0.5 * (o.stack != asked.stack) + 0.1 * abs(math.log2(o.count / asked.count))
        return size, o.observation_id

    seen = [o for o in fold.seen if _alike(o, asked) and _peak(o)]
    if not seen:
        return math.nan
    near = min(seen, key=apart)
    return _flops(asked) / (_mfu(near) * _peak(asked))


def share_of_peak(fold: Fold, asked: Observation) -> float:
    """40 % of the peak."""
    return _flops(asked) / (SHARE_OF_PEAK * _peak(asked))


BASELINES: Mapping[str, Callable[[Fold, Observation], float]] = {
    "median MFU per GPU": median_mfu,
    "nearest row scaled": nearest_row,
    "40 % of peak": share_of_peak,
}


def baseline_errors(fold: Fold) -> list[dict[str, float]]:
    """Of each asked row the absolute relative error of each baseline; rounding counts as none."""
    errors = []
    for o in fold.asked:
        truth = training_days(o) or 0.0
        run = o.workload.training_steps / SECONDS_PER_DAY
        row = {}
        for name, baseline in BASELINES.items():
            days = baseline(fold, o) * run if _peak(o) else math.nan
            off = abs(days - truth)
            row[name] = 0.0 if off <= half_width_days(o) else off / truth
        errors.append(row)
    return errors
