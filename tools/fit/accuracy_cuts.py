"""Everything that docs/prediction.md rests on: each cut left out of the fit, and predicted."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from advisor.prediction.observed_times import PAPER, SECONDS_PER_DAY, Observation, cell
from advisor.prediction.physics.chip import gpu_type
from tools.fit.card_ratios import Ratio, card_ratio
from tools.fit.compare_machines import Comparison, compare_without
from tools.fit.cross_validate import (
    BLOCKS,
    CUTS,
    WIDER_CUTS,
    Fold,
    Guess,
    dealt,
    folds_of,
    guess,
    guesses_of,
    half_width_days,
    hold_out_block,
    is_paper_optimal,
    is_truth,
    special_folds,
    training_days,
)
from tools.fit.fit import fit_posterior

HANDS = 9
"""Into how many hands models and sources are dealt; a hand is left out whole."""
SHARE_OF_PEAK = 0.4
Kinds = dict[str, list[Comparison]]


@dataclass(frozen=True, slots=True)
class Held:
    """One row that was left out: what was predicted, and how far off each of GUESSES is."""

    guess: Guess
    guesses: Mapping[str, float]

    @property
    def observation(self) -> Observation:
        """What was measured."""
        return self.guess.observation


@dataclass(frozen=True, slots=True)
class Cuts:
    """What was left out, cut by cut, and what was predicted of it."""

    paper: dict[str, list[Held]]
    truth: dict[str, list[Held]]
    compared: Kinds
    ratios: list[Ratio]


def cuts_of(pool: ProcessPoolExecutor, observations: Sequence[Observation]) -> Cuts:
    """Every cut, with everything fitted again on what is left."""
    paper, truth = {}, {}
    compared: Kinds = {"Table 1": [], "other measurements": []}
    ratios: list[Ratio] = []
    for name, key in {**CUTS, **WIDER_CUTS}.items():
        if name in ("a whole model", "a whole source"):
            key = dealt([o for o in observations if _is_tested(o)], key, HANDS)
        folds = folds_of(observations, _is_tested, key)
        if key is cell:
            blocks = [
                pool.submit(hold_out_block, observations, _is_tested, start)
                for start in range(BLOCKS)
            ]
            held = _held(folds, [g for block in blocks for g in block.result()])
        elif name == "a whole GPU type":
            held = []
            parts = [pool.submit(_gpu_fold, observations, fold) for fold in folds]
            for fold, part in zip(folds, parts, strict=True):
                guesses, comparisons, beside = part.result()
                held += _held([fold], guesses)
                ratios += beside
                for title, pairs in comparisons.items():
                    compared[title] += pairs
        else:
            held = _held(folds, [g for part in pool.map(guess, folds) for g in part])
        if name in CUTS:
            paper[name] = [h for h in held if is_paper_optimal(h.observation)]
        truth[name] = [h for h in held if is_truth(h.observation)]
    for name, folds in special_folds(observations).items():
        truth[name] = _held(folds, [g for part in pool.map(guess, folds) for g in part])
    return Cuts(paper, truth, compared, ratios)


def _is_tested(o: Observation) -> bool:
    return is_paper_optimal(o) or is_truth(o)


def _held(folds: Sequence[Fold], guesses: Sequence[Guess]) -> list[Held]:
    """The guesses, each beside those that need no fit."""
    fold_of = {o: fold for fold in folds for o in fold.asked}
    return [Held(g, _errors(fold_of[g.observation], g.observation)) for g in guesses]


def _gpu_fold(
    observations: Sequence[Observation], fold: Fold
) -> tuple[list[Guess], Kinds, list[Ratio]]:
    """A GPU type left out: its rows predicted, and its ratios to others."""
    posterior = fit_posterior(fold.seen)
    kinds = sorted({gpu_type(o.chip) for o in fold.asked})
    comparisons = {
        title: [c for kind in kinds for c in compare_without(observations, tested, kind, posterior)]
        for title, tested in (("Table 1", is_paper_optimal), ("other measurements", is_truth))
    }
    ratios = [card_ratio(observations, kind, posterior) for kind in kinds]
    return guesses_of(posterior, fold.asked), comparisons, [r for r in ratios if r is not None]


def _flops(o: Observation) -> float:
    return o.workload.flops / o.workload.training_steps


def _peak(o: Observation) -> float:
    """FLOP a second of all GPUs; 0 where it is not known."""
    rate = o.chip.peak_tflops(o.workload.precision, free_lunch=o.method != "naive")
    return (rate or 0.0) * 1e12 * o.count


def median_mfu(fold: Fold, asked: Observation) -> float:
    """The median MFU of the asked GPU in what is seen; of all GPUs where it is not. By the same
    clock and with as naive settings: else no guess could be right."""
    seen = [
        o
        for o in fold.seen
        if (o.harness == PAPER) == (asked.harness == PAPER)
        and (o.method == "naive") == (asked.method == "naive")
        and _peak(o)
    ]
    same = [o for o in seen if gpu_type(o.chip) == gpu_type(asked.chip)]
    if not seen:
        return math.nan
    return statistics.median(_flops(o) / (o.step_s or math.inf) / _peak(o) for o in same or seen)


GUESSES: Mapping[str, Callable[[Fold, Observation], float]] = {
    "median MFU per GPU": median_mfu,
    "40 % of peak": lambda fold, asked: SHARE_OF_PEAK,
}
"""What predictions must beat: a share of the peak, guessed from the same evidence."""


def _errors(fold: Fold, o: Observation) -> dict[str, float]:
    """The absolute relative error of each guess; what is inside the rounding counts as none."""
    truth, errors = training_days(o) or 0.0, {}
    for name, share in GUESSES.items():
        seconds = _flops(o) / (share(fold, o) * _peak(o)) if _peak(o) else math.nan
        off = abs(seconds * o.workload.training_steps / SECONDS_PER_DAY - truth)
        errors[name] = 0.0 if off <= half_width_days(o) else off / truth
    return errors
