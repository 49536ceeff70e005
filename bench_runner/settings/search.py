"""Which settings to try next, which to leave out and why, when to stop. Pure.

Exhaustive tries everything. Fast searches in three short steps, since which kernels are fastest
depends little on what is sharded or kept: the combinations with the leanest kernels, other kernels
at the combination that was fastest, and with the winning kernels those combinations that were
close. It leaves out what cannot fit, and what would not beat the best even by the most favourable
step that the records so far allow; other kernels of a combination that lost are not named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings.batch_and_sharding import FAST_TRIES, label
from bench_runner.settings.exact_settings import (
    Kernels,
    canonical,
    kernels_of,
    pure_half,
    with_kernels,
)
from bench_runner.settings.fastest_possible_step import (
    LeastStep,
    Situation,
    best_of,
    promise,
    without_micro_batch,
)

Strategy = Literal["fast", "exhaustive"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

CLOSE = 1.1
"""Combinations within this factor of the fastest are tried again with the winning kernels."""
FAILURES = 2
"""So many trials that break, with none that works, and other kernels are tried."""

_Found = Mapping[Settings, Measurement]


class Try(NamedTuple):
    """Run this one next."""

    settings: Settings
    reason: str


class LeaveOut(NamedTuple):
    """Do not run this one."""

    settings: Settings
    reason: str


def next_action(
    candidates: Sequence[Settings],
    done: Sequence[Measurement],
    situation: Situation,
    strategy: Strategy,
) -> Try | LeaveOut | None:
    """The next thing to do about the candidates that ``done`` says nothing of; None at the end."""
    found = {canonical(without_micro_batch(r.settings)): r for r in done if r.settings is not None}
    if strategy == "exhaustive":
        left = (settings for settings in candidates if settings not in found)
        return next((Try(settings, "next in the list") for settings in left), None)
    exact = [settings for settings in candidates if not settings.changes_training]
    naive = [settings for settings in exact if not settings.free_lunch]
    return (
        # Measured for comparison; they say nothing about the others.
        _combination(naive, {}, [s for s in naive if s not in found], situation)
        or _tuned([s for s in exact if s.free_lunch], found, situation)
        or _changed([s for s in candidates if s.changes_training], found)
    )


def named_ahead(candidates: Sequence[Settings], strategy: Strategy) -> list[Settings]:
    """The candidates that a search is sure to try or to leave out with a reason."""
    if strategy == "exhaustive":
        return list(candidates)
    exact = [settings for settings in candidates if not settings.changes_training]
    starts = _starts([settings for settings in exact if settings.free_lunch])
    return [s for s in exact if not s.free_lunch or starts[0] in (None, kernels_of(s))]


def expected_trials(candidates: Sequence[Settings], strategy: str) -> float:
    """About how many settings a search measures."""
    if strategy == "exhaustive":
        return float(len(candidates))
    tuned = [settings for settings in candidates if settings.free_lunch]
    if not tuned:
        return float(len(candidates))
    combinations = {(s.sharding, s.offloading, s.activation_checkpointing) for s in tuned}
    others = {other for step in kernel_steps(tuned, tuned[0]) for other in step}
    first = max(1.0, len(combinations) * FAST_TRIES)
    return len(candidates) - len(tuned) + first + len(others)


# The steps of the fast search


def _tuned(tuned: Sequence[Settings], found: _Found, situation: Situation) -> Try | LeaveOut | None:
    starts = _starts(tuned)
    for at, start in enumerate(starts):
        combinations = [s for s in tuned if start in (None, kernels_of(s))]
        tried = [found[settings] for settings in combinations if settings in found]
        best = best_of(tried)
        broken = sum(record.status == "failed" for record in tried)
        if best is None and broken >= FAILURES and len(starts) > 1:
            continue
        left = [settings for settings in combinations if settings not in found]
        if (action := _combination(combinations, found, left, situation)) is not None:
            return action
        if best is not None and best.settings is not None:
            base = canonical(without_micro_batch(best.settings))
            better = [s for s in combinations if promise(s) < promise(base)]
            again = [each for s in better for each in _repaired(s, starts[at:], tuned, found)]
            for each in again:
                if each not in found:
                    return Try(each, "with other kernels, as it broke with those")
            return _other_kernels(tuned, found, _fastest([base, *again], found), combinations)
        if not broken:
            return None  # Nothing fits in the leanest way, so nothing fits.
    return None


def _starts(tuned: Sequence[Settings]) -> list[Kernels | None]:
    """The kernels to begin with: the leanest, then without the lean loss and inputs, then none.
    None alone where no kernels are to be chosen: they are the paper's, whatever is sharded."""
    alone = {
        replace(s, sharding=None, offloading=False, activation_checkpointing=False) for s in tuned
    }
    if len(alone) <= 1:
        return [None]
    first = kernels_of(tuned[0])
    plain = replace(first, loss="plain", inputs="full")
    wanted = [first, plain]
    wanted += [replace(plain, compilation="whole"), replace(plain, compilation="regional")]
    wanted.append(replace(plain, compilation="none"))
    there = set(map(kernels_of, tuned))
    return [kernels for kernels in dict.fromkeys(wanted) if kernels in there]


def _combination(
    combinations: Sequence[Settings],
    found: _Found,
    left: list[Settings],
    situation: Situation,
) -> Try | LeaveOut | None:
    """What to do next about combinations that share their kernels; ``left`` are undecided."""
    evidence = LeastStep([found[s] for s in combinations if s in found], situation)
    left.sort(key=promise)
    for settings in left:
        if (reason := evidence.why_left_out(settings)) is not None:
            return LeaveOut(settings, reason)
    if not left:
        return None
    hope = "nothing measured speaks against it"
    if (floor := evidence.floor(left[0])) is not None:
        hope = f"at best {floor[0]:.3g} s a step"
    return Try(left[0], f"most promising of those left: {hope}")


def _repaired(
    settings: Settings,
    starts: Sequence[Kernels | None],
    tuned: Sequence[Settings],
    found: _Found,
) -> Iterator[Settings]:
    """A combination with one kernel after the other, up to those that do not break. Else one
    broken trial of what promises most would leave it out, and all that is made of it."""
    for kernels in starts:
        again = settings if kernels is None else with_kernels(settings, kernels)
        if again in tuned:
            yield again
            if again not in found or found[again].status != "failed":
                return


def kernel_steps(candidates: Sequence[Settings], best: Settings) -> list[list[Settings]]:
    """The candidates that differ from the best by one choice of kernels, choice by choice:
    compilation and attention together, which depend on each other; loss; inputs; weights; and the
    paper's kernels."""
    mine, known = kernels_of(best), set(candidates)
    attentions = dict.fromkeys(kernels_of(s).attention for s in candidates if s.free_lunch)
    compiled = [
        replace(mine, compilation="regional" if regional else "whole", attention=attention)
        for regional in (True, False)
        for attention in attentions
    ]
    alone = best
    if best.sharding is not None:
        # What shards has half-precision weights of its own, so the other ones are tried without.
        alone = replace(best, sharding=None, offloading=False)
    papers = replace(
        best, compilation=None, loss="plain", inputs="full", attention=None, weights="fp32"
    )
    steps = [
        [with_kernels(best, k) for k in (*compiled, replace(mine, compilation="none"))],
        [with_kernels(best, replace(mine, loss=loss)) for loss in ("plain", "fused")],
        [with_kernels(best, replace(mine, inputs=inputs)) for inputs in ("full", "trimmed")],
        [
            with_kernels(best, replace(mine, weights="fp32")),
            with_kernels(alone, replace(mine, weights="half")),
        ],
        [papers],
    ]
    return [[s for s in dict.fromkeys(step) if s in known and s != best] for step in steps]


def _other_kernels(
    tuned: Sequence[Settings], found: _Found, base: Settings, combinations: Sequence[Settings]
) -> Try | None:
    """Other kernels at the fastest combination, then the close combinations with the winner."""
    best = base
    for place in range(len(kernel_steps(tuned, base))):
        step = kernel_steps(tuned, best)[place]
        for settings in step:
            if settings not in found:
                return Try(settings, f"other kernels for the best so far, {label(best)}")
        best = _fastest([best, *step], found)
    if kernels_of(best) == kernels_of(base):
        return None
    for settings in combinations:
        again = with_kernels(settings, kernels_of(best))
        close = _step_s(found, settings) <= CLOSE * _step_s(found, base)
        if close and again in tuned and again not in found:
            return Try(again, f"close to the best, with the kernels of {label(best)}")
    return None


def _changed(changed: Sequence[Settings], found: _Found) -> Try | None:
    """The fastest exact settings without FP32 copies; where nothing exact fits, the leanest that
    do."""
    best = best_of(list(found.values()))
    wanted = sorted(
        (each for each in changed if kernels_of(each) == kernels_of(changed[0])), key=promise
    )
    if best is not None and best.settings is not None and not best.settings.changes_training:
        twin = pure_half(canonical(without_micro_batch(best.settings)))
        wanted = [twin] if twin in changed else wanted
    for settings in wanted:
        if settings not in found:
            return Try(settings, "without FP32 copies, which changes the training")
        if found[settings].status == "ok":
            break
    return None


def _fastest(some: Sequence[Settings], found: _Found) -> Settings:
    return min(some, key=lambda settings: _step_s(found, settings))


def _step_s(found: _Found, settings: Settings) -> float:
    record = found.get(settings)
    if record is None or record.status != "ok" or record.step_s is None:
        return float("inf")
    return record.step_s
