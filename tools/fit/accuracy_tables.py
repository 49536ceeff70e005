"""Predictions of what was held out, as rows of docs/prediction.md."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from advisor.prediction.observed_times import REFERENCE, Observation
from bench_runner.typed_numbers import percent
from tools.fit.baselines import BASELINES
from tools.fit.card_ratios import Ratio
from tools.fit.compare_machines import Comparison
from tools.fit.cross_validate import Guess


@dataclass(frozen=True, slots=True)
class Held:
    """One row that was left out: what was predicted, and how far off each baseline is."""

    guess: Guess
    baselines: dict[str, float]

    @property
    def observation(self) -> Observation:
        """What was measured."""
        return self.guess.observation


def machine_of(o: Observation) -> str:
    """How many GPUs, and how they are joined."""
    if o.count == 1:
        return "1 GPU"
    return f"{o.count} GPUs, {'switch' if o.chip.switched else 'PCIe'}"


def median_error(held: Sequence[Held]) -> float:
    """How far off the middle one is."""
    return statistics.median(h.guess.error for h in held)


def ninth_error(held: Sequence[Held]) -> float:
    """How far off nine in ten are at most."""
    errors = sorted(h.guess.error for h in held)
    return errors[min(len(errors) - 1, int(0.9 * len(errors)))]


def log_bias(held: Sequence[Held]) -> float:
    """Median logarithm of measured over predicted."""
    return statistics.median(h.guess.log_error for h in held)


def share_held(held: Sequence[Held]) -> float:
    """Of the intervals, that hold the measured time."""
    return sum(h.guess.covered for h in held) / len(held)


def half_width(held: Sequence[Held]) -> float:
    """High over middle of the interval, median."""
    return statistics.median(h.guess.high_days / h.guess.days for h in held)


def figures(held: Sequence[Held]) -> str:
    """The columns of `_HEAD`."""
    mean = statistics.fmean(h.guess.error for h in held)
    guessed = " | ".join(_share(baseline_error(held, name)) for name in BASELINES)
    return (
        f"{len(held)} | {percent(median_error(held), 1)} | {percent(mean, 1)} | "
        f"{percent(ninth_error(held), 1)} | {log_bias(held):+.2f} | {percent(share_held(held))} | "
        f"{guessed}"
    )


def _share(value: float) -> str:
    return "no row to go by" if math.isnan(value) else percent(value, 1)


def baseline_error(held: Sequence[Held], name: str) -> float:
    """Median error of a guess without a fit; NaN where it has no row to go by."""
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
        row.insert(_COLUMNS - len(BASELINES), percent(share_held(plain[name])))
        lines.append(f"| {name} | {reach} | {' | '.join(row)} |")
    return "\n".join(lines)


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


def width_table(truth: dict[str, list[Held]]) -> str:
    """How wide the intervals of each cut are."""
    lines = ["| left out | half-width, median | of our own stack |", "|---|---|---|"]
    for name, held in truth.items():
        own = [h for h in held if h.observation.harness == REFERENCE]
        ours = f"x or / {half_width(own):.2f}" if own else ""
        lines.append(f"| {name} | x or / {half_width(held):.2f} | {ours} |")
    return "\n".join(lines)


def compared_table(found: Mapping[str, Sequence[Comparison]]) -> str:
    """Ratios of two machines' times: how far off, and how many of their intervals hold."""
    lines = [
        "| | pairs | median error of the ratio | 90th percentile | in the 90 % interval |",
        "|---" * 5 + "|",
    ]
    for title, every in found.items():
        for same in (False, True):
            kind = "one GPU type, other counts" if same else "two GPU types"
            pairs = [c for c in every if c.same_gpu == same]
            if pairs:
                errors = sorted(math.expm1(c.error) for c in pairs)
                covered = sum(c.covered for c in pairs) / len(pairs)
                lines.append(
                    f"| {title}, {kind} | {len(pairs)} | {percent(statistics.median(errors), 1)} | "
                    f"{percent(errors[int(0.9 * (len(errors) - 1))], 1)} | {percent(covered)} |"
                )
    return "\n".join(lines)
