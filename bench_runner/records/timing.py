"""From raw seconds to an optimiser step, to days of training, with their spread. Pure.

A step at gradient accumulation N is the fetch of N batches, N-1 passes without gradient exchange,
one pass with it, and the update. The first pass of a step writes gradients where the later ones
add to them, so it is a kind of its own where three passes or more were timed.

Each kind enters by its mean: a step is a sum, and the sum of many passes tends to their number
times the mean, also where some passes are late and the mean lies above the median.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median, quantiles

SECONDS_PER_DAY = 86_400
SETTLED_WITHIN = 0.02
"""Consecutive steps this close together (relative) count as settled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawSeconds:
    """Every second that was measured, by kind, in the order in which they were measured."""

    pass_s: tuple[float, ...]
    """Passes without gradient exchange, the first of each step excepted."""
    sync_pass_s: tuple[float, ...]
    """Passes that end with the gradient exchange."""
    update_s: tuple[float, ...]
    first_pass_s: tuple[float, ...] = ()
    """The first pass of each step, where the step has an exchange-free pass at all."""
    fetch_s: tuple[float, ...] = ()
    """Fetching one pass's batch."""

    @property
    def total_s(self) -> float:
        """All of it."""
        parts = (self.fetch_s, self.first_pass_s, self.pass_s, self.sync_pass_s, self.update_s)
        return sum(map(sum, parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """One optimiser step in seconds, and what the quartiles of its parts add up to."""

    step_s: float
    step_s_low: float
    step_s_high: float


def _spread(values: tuple[float, ...]) -> tuple[float, float, float]:
    """Lower quartile, mean, upper quartile; the outer two at least as far out as the mean."""
    middle = fmean(values)
    if len(values) == 1:
        return middle, middle, middle
    low, _, high = quantiles(values, n=4, method="inclusive")
    return min(low, middle), middle, max(high, middle)


def step_time(raw: RawSeconds, accumulation_steps: int) -> StepTime:
    """One full optimiser step at ``accumulation_steps`` passes, in seconds."""
    if accumulation_steps < 1:
        raise ValueError(f"a step has {accumulation_steps} passes: it needs at least one")
    if not raw.sync_pass_s or not raw.update_s:
        raise ValueError("no pass with gradient exchange or no update was timed: time at least one")
    parts: list[tuple[int, tuple[float, ...]]] = [(1, raw.sync_pass_s), (1, raw.update_s)]
    if raw.fetch_s:
        parts.append((accumulation_steps, raw.fetch_s))
    first = raw.first_pass_s or raw.pass_s
    later = raw.pass_s or raw.first_pass_s
    if accumulation_steps > 1:
        if not first:
            raise ValueError(
                f"a step of {accumulation_steps} passes was asked for, but no pass without "
                "gradient exchange was timed: time at least one"
            )
        parts.append((1, first))
        parts.append((accumulation_steps - 2, later))
    sums = [0.0, 0.0, 0.0]
    for count, values in parts:
        for place, value in enumerate(_spread(values)):
            sums[place] += count * value
    return StepTime(step_s_low=sums[0], step_s=sums[1], step_s_high=sums[2])


def training_days(step_s: float, training_steps: int) -> float:
    """Days for the whole run, by linear extrapolation over its steps."""
    return step_s * training_steps / SECONDS_PER_DAY


def settled(
    step_seconds: tuple[float, ...], within: float = SETTLED_WITHIN, count: int = 3
) -> bool:
    """Whether the last ``count`` steps differ from one another by at most ``within``."""
    last = step_seconds[-count:]
    return len(last) == count and max(last) - min(last) <= within * median(last)


def model_flops_utilisation(
    *, flops_per_step: float, step_s: float, peak_tflops: float | None, gpu_count: int
) -> float | None:
    """Share of the GPUs' dense peak that the counted FLOPs amount to; None without a peak."""
    if peak_tflops is None:
        return None
    return flops_per_step / (step_s * peak_tflops * 1e12 * gpu_count)


def still_growing(throughputs: tuple[float, ...], gain: float) -> bool:
    """Whether the last doubling of the micro-batch raised the throughput by ``gain`` or more."""
    return all(later >= earlier * (1 + gain) for earlier, later in pairwise(throughputs[-2:]))


def fastest_size(throughputs: Mapping[int, float], gain: float) -> int:
    """The micro-batch size to time: the largest whose throughput is within ``gain`` of the best.

    The climb runs without compilation. Of sizes that are as fast there, the larger one wins the
    timed run: compiled kernels fill better and a step has fewer passes.
    """
    best = max(throughputs.values())
    return max(size for size, rate in throughputs.items() if rate >= best / (1 + gain))
