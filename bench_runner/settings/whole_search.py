"""The fast search of the whole space: combinations, kernels, and the best combinations again.

The whole space is the paper's 12 or 22 combinations times up to 36 kernels. Which kernels are
fastest depends little on what is sharded or kept, so three short searches stand for it: the
combinations with the leanest kernels; other kernels at the combination that was fastest; and with
the winning kernels those combinations that were close. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from bench_runner.records.measurement import Compilation, Measurement, Settings
from bench_runner.settings import search, settings_tried
from bench_runner.settings.paper_space import label
from bench_runner.settings.search import LeaveOut, Situation, Strategy, Try, without_micro_batch
from bench_runner.settings.settings_tried import (
    Kernels,
    canonical,
    explicit,
    kernels_of,
    with_kernels,
)

CLOSE = 1.1
"""Combinations within this factor of the fastest are tried again with the winning kernels."""
LOST = 1.2
"""Kernels that lost by more than this factor are not tried again when another kernel has won."""
FAILURES = 2
"""So many trials that break, with none that works, and other kernels are tried."""


def next_action(
    candidates: Sequence[Settings],
    done: Sequence[Measurement],
    situation: Situation,
    strategy: Strategy,
) -> Try | LeaveOut | None:
    """The next thing to do, as bench_runner.settings.search says; None at the end.

    ``fast`` leaves most of a whole space aside without a word for each: what it does not name was
    not tried, because its kernels or its combination lost where they were.
    """
    changed = [settings for settings in candidates if settings.weights == "pure"]
    if strategy == "fast" and changed:
        exact = [settings for settings in candidates if settings not in changed]
        rest = [r for r in done if r.settings is None or not r.settings.changes_training]
        action = next_action(exact, rest, situation, strategy) if exact else None
        return action or _changed(changed, done)
    tuned = [settings for settings in candidates if settings.free_lunch]
    groups = list(dict.fromkeys(kernels_of(settings) for settings in tuned))
    if strategy != "fast" or not _is_whole(tuned):
        return search.next_action(candidates, done, situation, strategy)
    naive = [settings for settings in candidates if not settings.free_lunch]
    action = search.next_action(naive, done, situation, strategy) if naive else None
    if action is not None:
        return action
    found = {canonical(without_micro_batch(r.settings)): r for r in done if r.settings is not None}
    for start in _starts(groups):
        combinations = [settings for settings in tuned if kernels_of(settings) == start]
        tried = [found[settings] for settings in combinations if settings in found]
        best = search.best_of(tried)
        broken = sum(record.status == "failed" for record in tried)
        if best is None and broken >= FAILURES:
            continue
        action = _within(combinations, tried, situation)
        if action is not None:
            return action
        if best is not None and best.settings is not None:
            base = without_micro_batch(best.settings)
            again = [
                each
                for settings in combinations
                if search.promise(settings) < search.promise(base)
                for each in _instead_of_broken(settings, start, groups, tuned, found)
            ]
            for each in again:
                if each not in found:
                    return Try(settings=each, reason="with other kernels, as it broke with those")
            base = _fastest(found, [base, *again])
            return _from_there(tuned, found, base, combinations)
        if not broken:
            return None  # Nothing fits in the leanest way, so nothing fits.
    return None


def _changed(changed: Sequence[Settings], done: Sequence[Measurement]) -> Try | None:
    """The fastest exact settings with the change; where nothing exact fits, the leanest that do."""
    found = {canonical(without_micro_batch(r.settings)): r for r in done if r.settings is not None}
    best = search.best_of(done)
    wanted = sorted(
        (each for each in changed if kernels_of(each) == kernels_of(changed[0])), key=search.promise
    )
    if best is not None and best.settings is not None and not best.settings.changes_training:
        twin = settings_tried.pure_half(canonical(without_micro_batch(best.settings)))
        wanted = [twin] if twin in changed else wanted
    for settings in wanted:
        if settings not in found:
            return Try(settings=settings, reason="without FP32 copies, which changes the training")
        if found[settings].status == "ok":
            break
    return None


def named_ahead(candidates: Sequence[Settings], strategy: Strategy) -> list[Settings]:
    """The candidates that a search is sure to try or to leave out with a reason."""
    if strategy == "fast":
        candidates = [settings for settings in candidates if not settings.changes_training]
    tuned = [settings for settings in candidates if settings.free_lunch]
    if strategy != "fast" or not _is_whole(tuned):
        return list(candidates)
    first = kernels_of(tuned[0])
    return [s for s in candidates if not s.free_lunch or kernels_of(s) == first]


def _is_whole(tuned: Sequence[Settings]) -> bool:
    """Whether more than the paper's own kernels is asked for, and more than one of each."""
    lean = {
        replace(s, sharding=None, offloading=False, activation_checkpointing=False) for s in tuned
    }
    return len(lean) > 1


def _starts(groups: Sequence[Kernels]) -> list[Kernels]:
    """The kernels to begin with: the leanest, then without the lean loss and inputs, then none."""
    first = groups[0]
    plain = replace(first, loss="plain", inputs="full")
    ways: tuple[Compilation, ...] = ("whole", "regional", "none")
    wanted = (first, plain, *(replace(plain, compilation=way) for way in ways))
    return [kernels for kernels in dict.fromkeys(wanted) if kernels in groups]


def _instead_of_broken(
    settings: Settings,
    start: Kernels,
    groups: Sequence[Kernels],
    tuned: Sequence[Settings],
    found: dict[Settings, Measurement],
) -> list[Settings]:
    """A combination that broke with the first kernels, with others, up to those that do not break.

    Else one broken trial of what promises most would leave it out, and all that is made of it.
    """
    tries: list[Settings] = []
    broken = settings in found and found[settings].status == "failed"
    for other in _starts(groups):
        again = with_kernels(settings, other)
        if not broken or other == start or again not in tuned or again in tries:
            continue
        tries.append(again)
        broken = again in found and found[again].status == "failed"
    return tries


def _within(
    combinations: Sequence[Settings], tried: Sequence[Measurement], situation: Situation
) -> Try | LeaveOut | None:
    """The paper's search over combinations that share their kernels."""

    def said(record: Measurement) -> Measurement:
        assert record.settings is not None
        return replace(record, settings=explicit(record.settings))

    action = search.next_action(
        [explicit(settings) for settings in combinations],
        [said(record) for record in tried],
        situation,
        "fast",
    )
    if action is None:
        return None
    reason = action.reason
    for settings in combinations:
        # By the names that stand everywhere else.
        reason = reason.replace(label(explicit(settings)), label(settings))
    return replace(action, settings=canonical(action.settings), reason=reason)


def _from_there(
    tuned: Sequence[Settings],
    found: dict[Settings, Measurement],
    base: Settings,
    combinations: Sequence[Settings],
) -> Try | None:
    """Other kernels at the fastest combination, then the close combinations with the winner."""
    best = base
    winners = [base]
    while True:
        open_ones = [
            settings
            for settings in settings_tried.moves(tuned, best)
            if settings not in found and not _lost_before(settings, winners, found)
        ]
        if open_ones:
            return Try(
                settings=open_ones[0],
                reason=f"other kernels for the best so far, {label(best)}",
            )
        better = _fastest(found, [best, *settings_tried.moves(tuned, best)])
        if better == best:
            break
        best = better
        winners.append(best)
    if kernels_of(best) == kernels_of(base):
        return None
    limit = CLOSE * _step_s(found, base)
    for settings in combinations:
        again = with_kernels(settings, kernels_of(best))
        if _step_s(found, settings) <= limit and again in tuned and again not in found:
            return Try(
                settings=again, reason=f"close to the best, with the kernels of {label(best)}"
            )
    return None


def _lost_before(
    settings: Settings, winners: Sequence[Settings], found: dict[Settings, Measurement]
) -> bool:
    """Whether the same change, made to an earlier winner, made it clearly slower."""
    best = explicit(winners[-1])
    wanted = explicit(settings)
    change = {
        field.name: getattr(wanted, field.name)
        for field in fields(wanted)
        if getattr(wanted, field.name) != getattr(best, field.name)
    }
    for earlier in winners[:-1]:
        twin = canonical(replace(explicit(earlier), **change))
        took = _step_s(found, twin)
        # What did not fit says nothing: the winner may need less memory.
        if LOST * _step_s(found, earlier) < took < float("inf"):
            return True
    return False


def _fastest(found: dict[Settings, Measurement], some: Sequence[Settings]) -> Settings:
    return min(some, key=lambda settings: _step_s(found, settings))


def _step_s(found: dict[Settings, Measurement], settings: Settings) -> float:
    record = found.get(settings)
    if record is None or record.status != "ok" or record.step_s is None:
        return float("inf")
    return record.step_s
