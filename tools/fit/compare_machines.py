"""How well predictions compare two machines, for one model and one source's software.

Each GPU type is left out of the fit in turn; then the ratio of every two times of one model, method
and source, of which at least one was taken on that type, is held against the predicted ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from advisor.prediction.fitted import Fitted
from advisor.prediction.intervals import NORMAL_90
from advisor.prediction.observed_times import PAPER, Observation
from advisor.prediction.physics.chip import gpu_type
from advisor.prediction.predict_many import predict_many
from tools.fit.cross_validate import half_width_days, training_days
from tools.fit.fit import Posterior, fit_posterior
from tools.fit.random_effects import KINDS, NOISES, noise_groups
from tools.fit.refit import kept_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One predicted ratio of two times beside the measured one."""

    same_gpu: bool
    """Whether the two machines differ in the number of GPUs alone."""
    error: float
    """Of the logarithm, absolute; what the rounding of printed days allows is taken off."""
    half: float
    """Half of the ratio's 90 % interval (of the logarithm)."""

    @property
    def covered(self) -> bool:
        """Whether the interval of the ratio holds the measured one."""
        return self.error <= self.half


def compare_without(
    observations: Sequence[Observation],
    tested: Callable[[Observation], bool],
    held: str,
    posterior: Posterior | None = None,
) -> list[Comparison]:
    """The pairs that one GPU type is part of, without it in the fit (``posterior``, where it is
    made already)."""
    asked = [o for o in observations if o.step_s is not None and tested(o)]
    pairs = [
        (a, b)
        for a, b in combinations(asked, 2)
        if (a.harness, a.workload.workload_id, a.method)
        == (b.harness, b.workload.workload_id, b.method)
        and (gpu_type(a.chip), a.count) != (gpu_type(b.chip), b.count)
    ]
    touched = [pair for pair in pairs if held in {gpu_type(o.chip) for o in pair}]
    if not touched:
        return []
    rest = [o for o in observations if gpu_type(o.chip) != held]
    without = posterior or fit_posterior(rest)
    return list(compared(without, kept_of(without, rest), touched))


def half_widths(
    posterior: Posterior,
    seen: Sequence[Observation],
    pairs: Sequence[tuple[Observation, Observation]],
) -> list[float]:
    """Half of the 90 % interval (of the logarithm) of the ratio of the two times of each pair, as
    two predictions are told apart; infinite where one of the two has no prediction."""
    guesses = _guesses(kept_of(posterior, seen), list({o: None for pair in pairs for o in pair}))
    halves = [math.hypot(*(math.log(guesses[o][1]) for o in pair)) for pair in pairs]
    return [math.inf if math.isnan(half) else half for half in halves]


def further_variance(posterior: Posterior, a: Observation, b: Observation) -> float:
    """Of the logarithm of the ratio of two times: by how much more they scatter than two of our own
    stack, for which predictions are, and what the paper's clock did differently to either."""
    import numpy as np

    noise = posterior.widths[len(KINDS) :][noise_groups([a, b])] ** 2
    if PAPER not in (a.harness, b.harness):
        own = posterior.widths[len(KINDS) + [name for name, *_ in NOISES].index("own")] ** 2
        return float(np.maximum(noise - own, 0.0).sum())
    different = [
        width**2
        for kind, width in zip(KINDS, posterior.widths, strict=False)
        if kind.name.startswith(PAPER) and kind.key(a) != kind.key(b)
    ]
    return float(noise.sum() + 2.0 * sum(different))


def compared(
    posterior: Posterior, fitted: Fitted, pairs: Sequence[tuple[Observation, Observation]]
) -> Iterator[Comparison]:
    guesses = _guesses(fitted, list({o: None for pair in pairs for o in pair}))
    for a, b in pairs:
        (days, factor), (other_days, other_factor) = guesses[a], guesses[b]
        if math.isnan(days) or math.isnan(other_days):
            continue
        truth, other_truth = training_days(a), training_days(b)
        assert truth is not None and other_truth is not None  # only timed ones are asked for
        rounding = half_width_days(a) / truth + half_width_days(b) / other_truth
        yield Comparison(
            same_gpu=gpu_type(a.chip) == gpu_type(b.chip),
            error=max(0.0, abs(math.log(truth / other_truth * other_days / days)) - rounding),
            half=math.hypot(
                math.log(factor),
                math.log(other_factor),
                NORMAL_90 * math.sqrt(further_variance(posterior, a, b)),
            ),
        )


def _guesses(
    fitted: Fitted, asked: Sequence[Observation]
) -> dict[Observation, tuple[float, float]]:
    """Predicted days of each, and how far off they may be in a comparison."""
    import numpy as np

    found: dict[Observation, tuple[float, float]] = {}
    for method in ("naive", "paper"):
        rows = [o for o in asked if (o.method == "naive") == (method == "naive")]
        if not rows:
            continue
        workloads = list({o.workload: None for o in rows})
        chips = list({o.chip: None for o in rows})
        many = predict_many(
            workloads,
            chips,
            np.array([workloads.index(o.workload) for o in rows]),
            np.array([chips.index(o.chip) for o in rows]),
            np.array([o.count for o in rows]),
            fitted,
            method=method,
        )
        days, factors = many.days, many.comparison_factor
        found |= {o: (float(days[i]), float(factors[i])) for i, o in enumerate(rows)}
    return found
