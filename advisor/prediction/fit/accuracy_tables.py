"""Predictions of what was held out, as rows of docs/prediction.md."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from advisor.prediction.fit.baselines import BASELINES
from advisor.prediction.fit.card_ratios import Ratio
from advisor.prediction.fit.cross_validate import Guess
from advisor.prediction.fit.observations import REFERENCE, Observation
from advisor.prediction.physics.chip import gpu_type
from bench_runner.typed_numbers import percent

FEWEST = 20
"""Rows of a group from which on it says whether predictions are better than a baseline."""
LEAST_HELD, MOST_HELD = 0.85, 0.95
"""The share of intervals of 90 % that should hold."""


@dataclass(frozen=True, slots=True)
class Held:
    """One row that was left out: what was predicted, and how far off each baseline is."""

    guess: Guess
    baselines: dict[str, float]

    @property
    def observation(self) -> Observation:
        """What was measured."""
        return self.guess.observation


def links_of(o: Observation) -> str:
    return "one" if o.count == 1 else "switch" if o.chip.switched else "PCIe"


def figures(held: Sequence[Held]) -> str:
    guesses = [h.guess for h in held]
    errors = sorted(g.error for g in guesses)
    covered = sum(g.covered for g in guesses) / len(guesses)
    bias = statistics.median(g.log_error for g in guesses)
    ninth = errors[min(len(errors) - 1, int(0.9 * len(errors)))]
    guessed = " | ".join(_share(_baseline(held, name)) for name in BASELINES)
    return (
        f"{len(guesses)} | {percent(statistics.median(errors), 1)} | "
        f"{percent(statistics.fmean(errors), 1)} | {percent(ninth, 1)} | {bias:+.2f} | "
        f"{percent(covered)} | {guessed}"
    )


def _share(value: float) -> str:
    return "no row to go by" if math.isnan(value) else percent(value, 1)


def _baseline(held: Sequence[Held], name: str) -> float:
    errors = [h.baselines[name] for h in held if not math.isnan(h.baselines[name])]
    return statistics.median(errors) if errors else math.nan


_HOLDS = "in the 90 % interval"


_HEAD = f"cells | median | mean | 90th percentile | log bias | {_HOLDS} | {' | '.join(BASELINES)}"


_COLUMNS = 6 + len(BASELINES)


def held_table(
    cuts: dict[str, list[Held]], must: dict[str, float], plain: dict[str, list[Held]]
) -> str:
    """What was held out, a row a cut, beside its goal and the baselines."""
    head = _HEAD.replace(_HOLDS, f"{_HOLDS} | with the widths of the whole")
    lines = [f"| left out | goal | {head} |", "|---" * (_COLUMNS + 3) + "|"]
    for name, held in cuts.items():
        if not held:
            continue
        reach = percent(must[name]) if name in must else ""
        row = figures(held).split(" | ")
        row.insert(_COLUMNS - len(BASELINES), percent(_covered(plain[name])))
        lines.append(f"| {name} | {reach} | {' | '.join(row)} |")
    return "\n".join(lines)


def _covered(held: Sequence[Held]) -> float:
    return sum(h.guess.covered for h in held) / len(held)


def ratio_table(ratios: Sequence[Ratio]) -> str:
    """Cards beside a reference: the medians of their pairs."""
    lines = [
        "| | over | pairs | measured | predicted | 90 % interval | pairs inside | median error |",
        "|---" * 8 + "|",
    ]
    lines += [
        f"| {r.card} | {r.reference} | {r.pairs} | {r.measured:.2f} | {r.predicted:.2f} | "
        f"{r.predicted * math.exp(-r.half):.2f} to {r.predicted * math.exp(r.half):.2f} | "
        f"{r.inside} | {percent(r.off, 1)} |"
        for r in sorted(ratios, key=lambda r: r.card)
    ]
    return "\n".join(lines)


def bert_table(ratios: Sequence[Ratio]) -> str:
    """The same of BERT-large on one GPU."""
    lines = ["| | over | measured | predicted | off |", "|---" * 5 + "|"]
    for r in sorted(ratios, key=lambda r: r.card):
        if r.of_bert is not None:
            measured, predicted = r.of_bert
            off = percent(predicted / measured - 1, 1)
            lines.append(f"| {r.card} | {r.reference} | {measured:.2f} | {predicted:.2f} | {off} |")
    return "\n".join(lines)


def grouped(held: Sequence[Held], key: Callable[[Observation], Hashable]) -> str:
    """One cut, a row a group."""
    lines = [f"| | {_HEAD} |", "|---" * (_COLUMNS + 1) + "|"]
    for group in sorted({key(h.observation) for h in held}, key=str):
        lines.append(f"| {group} | {figures([h for h in held if key(h.observation) == group])} |")
    return "\n".join(lines)


def verdict_on_baselines(cuts: dict[str, list[Held]]) -> str:
    """Where a guess without a fit is at least as good, and where too few or too many intervals
    hold."""
    beaten, uncovered = [], []
    groups, by_chance = 0, 0.0
    for name, held in cuts.items():
        for title, key in (
            ("all", lambda o: ""),
            ("family", lambda o: o.workload.family),
            ("GPU", lambda o: gpu_type(o.chip)),
            ("source", lambda o: o.stack),
            ("", lambda o: f"{o.count} GPUs, {links_of(o)}"),
        ):
            for group in sorted({str(key(h.observation)) for h in held}):
                rows = [h for h in held if str(key(h.observation)) == group]
                if len(rows) < FEWEST:
                    continue
                groups += 1
                by_chance += outside_by_chance(len(rows))
                ours = statistics.median(h.guess.error for h in rows)
                words = f"{name}, {title} {group}".rstrip()
                beaten += [
                    f"{words} ({percent(ours, 1)} against {percent(_baseline(rows, b), 1)} of {b})"
                    for b in BASELINES
                    if _baseline(rows, b) < ours
                ]
                share = sum(h.guess.covered for h in rows) / len(rows)
                if not LEAST_HELD <= share <= MOST_HELD:
                    uncovered.append(f"{words} ({percent(share)} of {len(rows)})")
    lines = [f"Of {groups} groups of {FEWEST} rows or more, a guess without a fit is better in:"]
    lines += [f"- {words}" for words in beaten] or ["- none"]
    lines += [
        "",
        f"If nine in ten of all intervals held, and each for itself, {by_chance:.0f} of these "
        "groups would be outside 85 to 95 % by chance alone, since most are small. The share is "
        f"not between 85 and 95 % in these {len(uncovered)}:",
    ]
    lines += [f"- {words}" for words in uncovered] or ["- none"]
    return "\n".join(lines)


def outside_by_chance(rows: int) -> float:
    """How likely a group of so many intervals is outside, of which each holds in nine of ten."""
    return sum(
        math.comb(rows, held) * 0.9**held * 0.1 ** (rows - held)
        for held in range(rows + 1)
        if not LEAST_HELD <= held / rows <= MOST_HELD
    )


def width_table(truth: dict[str, list[Held]]) -> str:
    """How wide the intervals of each cut are."""
    lines = ["| left out | half-width, median | of our own stack |", "|---|---|---|"]
    for name, held in truth.items():
        every = [h.guess.high_days / h.guess.days for h in held]
        own = [h.guess.high_days / h.guess.days for h in held if h.observation.harness == REFERENCE]
        ours = f"x or / {statistics.median(own):.2f}" if own else ""
        lines.append(f"| {name} | x or / {statistics.median(every):.2f} | {ours} |")
    return "\n".join(lines)
