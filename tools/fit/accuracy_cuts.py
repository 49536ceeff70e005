"""Everything that docs/prediction.md rests on: each cut left out of the fit, and predicted."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from advisor.prediction.observed_times import Observation, cell
from advisor.prediction.physics.chip import gpu_type
from tools.fit.accuracy_tables import Held
from tools.fit.baselines import baseline_errors
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
    hold_out_block,
    is_own,
    is_paper_optimal,
    is_truth,
    special_folds,
)
from tools.fit.fit import Posterior, fit_posterior

HANDS = 9
"""Into how many hands models, GPUs and sources are dealt; a hand is left out whole."""


Kinds = dict[str, list[Comparison]]


@dataclass(frozen=True, slots=True)
class Cuts:
    """What was left out, cut by cut, and what was predicted of it."""

    paper: dict[str, list[Held]]
    truth: dict[str, list[Held]]
    compared: Kinds
    ratios: list[Ratio]

    @property
    def named(self) -> dict[str, list[Held]]:
        """Every cut, those of Table 1 under names of their own."""
        return {**{f"Table 1, {name}": held for name, held in self.paper.items()}, **self.truth}


def cuts_of(
    pool: ProcessPoolExecutor, observations: Sequence[Observation], like: Posterior | None
) -> Cuts:
    """Every cut; with the widths of another fit where one is given, else all fitted anew."""
    paper, truth = {}, {}
    compared: Kinds = {}
    ratios: list[Ratio] = []
    for name in {**CUTS, **WIDER_CUTS}:
        if name == "a whole GPU type":
            folds = folds_of(observations, _is_tested, CUTS[name])
            held, compared, ratios = _of_gpus(pool, observations, folds, like)
        else:
            held = _held(pool, observations, name, like)
        if name in CUTS:
            paper[name] = [h for h in held if is_paper_optimal(h.observation)]
        truth[name] = [h for h in held if is_truth(h.observation)]
    for name, folds in special_folds(observations).items():
        truth[name] = _of_folds(pool, folds, name, like)
    return Cuts(paper, truth, compared, ratios)


def own_of(cuts: dict[str, list[Held]]) -> dict[str, list[Held]]:
    """Our own stack's times alone."""
    return {name: [h for h in held if is_own(h.observation)] for name, held in cuts.items()}


def _held(
    pool: ProcessPoolExecutor,
    observations: Sequence[Observation],
    name: str,
    like: Posterior | None,
) -> list[Held]:
    """Every tested row, of Table 1 and of the others, with all that shares its key left out."""
    key = {**CUTS, **WIDER_CUTS}[name]
    if name in ("a whole model", "a whole source"):
        key = dealt([o for o in observations if _is_tested(o)], key, HANDS)
    folds = folds_of(observations, _is_tested, key)
    if key is not cell:
        return _of_folds(pool, folds, name, like)
    started = time.monotonic()
    made = [
        pool.submit(hold_out_block, observations, _is_tested, start, like)
        for start in range(BLOCKS)
    ]
    errors = {
        o.observation_id: error
        for fold in folds
        for o, error in zip(fold.asked, baseline_errors(fold), strict=True)
    }
    held = [Held(g, errors[g.observation.observation_id]) for part in made for g in part.result()]
    print(f"{name}: {len(held)} held out, {time.monotonic() - started:.0f} s", file=sys.stderr)
    return held


def _is_tested(o: Observation) -> bool:
    return is_paper_optimal(o) or is_truth(o)


def _of_folds(
    pool: ProcessPoolExecutor, folds: Sequence[Fold], name: str, like: Posterior | None
) -> list[Held]:
    started = time.monotonic()
    held = []
    for fold, guesses in zip(folds, pool.map(partial(guess, like=like), folds), strict=True):
        pairs = zip(guesses, baseline_errors(fold), strict=True)
        held += [Held(g, errors) for g, errors in pairs]
    print(f"{name}: {len(held)} held out, {time.monotonic() - started:.0f} s", file=sys.stderr)
    return held


def _gpu_fold(
    observations: Sequence[Observation], fold: Fold, like: Posterior | None
) -> tuple[list[Guess], Kinds, list[Ratio]]:
    """A GPU type left out: its rows predicted, and its ratios to others."""
    posterior = fit_posterior(fold.seen, like)
    kinds = sorted({gpu_type(o.chip) for o in fold.asked})
    comparisons = {
        title: [c for kind in kinds for c in compare_without(observations, tested, kind, posterior)]
        for title, tested in (("Table 1", is_paper_optimal), ("other measurements", is_truth))
    }
    ratios = [card_ratio(observations, kind, posterior) for kind in kinds]
    return guesses_of(posterior, fold.asked), comparisons, [r for r in ratios if r is not None]


def _of_gpus(
    pool: ProcessPoolExecutor,
    observations: Sequence[Observation],
    folds: Sequence[Fold],
    like: Posterior | None,
) -> tuple[list[Held], Kinds, list[Ratio]]:
    started = time.monotonic()
    made = [pool.submit(_gpu_fold, observations, fold, like) for fold in folds]
    held: list[Held] = []
    ratios: list[Ratio] = []
    found: Kinds = {"Table 1": [], "other measurements": []}
    for fold, part in zip(folds, made, strict=True):
        guesses, comparisons, beside = part.result()
        held += [Held(g, e) for g, e in zip(guesses, baseline_errors(fold), strict=True)]
        ratios += beside
        for title, pairs in comparisons.items():
            found[title] += pairs
    print(f"GPUs: {len(held)} held out, {time.monotonic() - started:.0f} s", file=sys.stderr)
    return held, found, ratios
