"""How fast each card is beside a reference: measured, and predicted with the card left out.

Two times count as a pair where one source took both: of one model, length, precision and method on
as many GPUs. Speeds are in samples a second, as the batches may differ.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from advisor.prediction.observed_times import Observation
from advisor.prediction.physics.chip import gpu_type
from tools.fit.compare_machines import half_widths
from tools.fit.cross_validate import is_truth
from tools.fit.fit import Posterior

REFERENCES = ("A100", "H100")
"""What cards are held against: the first of them that the same source measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Speeds of a card over those of a reference: medians over the pairs."""

    card: str
    reference: str
    pairs: int
    measured: float
    predicted: float
    off: float
    """Median of the pairs' absolute relative errors."""
    half: float
    """Half of the ratio's 90 % interval (of the logarithm): median over the pairs."""
    inside: int
    """How many of the pairs their intervals hold."""


def _alike(o: Observation) -> tuple[object, ...]:
    w = o.workload
    return (o.source_id, w.workload_id, w.tokens, w.precision, o.method, o.count)


def _log_speed(o: Observation) -> float:
    assert o.step_s is not None  # only timed observations are compared
    return math.log(o.workload.batch_size / o.step_s)


def fastest_of(truth: Sequence[Observation], card: str) -> dict[tuple[object, ...], Observation]:
    """Of the boards of a card that a source measured (PCIe, SXM) the fastest, by what makes a
    pair."""
    own = [o for o in truth if gpu_type(o.chip) == card]
    return {_alike(o): o for o in sorted(own, key=_log_speed)}


def card_ratio(observations: Sequence[Observation], card: str, without: Posterior) -> Ratio | None:
    """``without`` is a fit that has not seen the card; None where nobody measured it beside a
    reference."""
    truth = [o for o in observations if o.step_s is not None and is_truth(o)]
    own = [o for o in truth if gpu_type(o.chip) == card]
    for reference in REFERENCES:
        beside = fastest_of(truth, reference)
        pairs = [(o, beside[_alike(o)]) for o in own if _alike(o) in beside]
        if reference == card or not pairs:
            continue
        means = [
            without.predict([o for o, _ in pairs])[0],
            without.predict([b for _, b in pairs])[0],
        ]
        measured = [_log_speed(o) - _log_speed(b) for o, b in pairs]
        predicted = [
            math.log(o.workload.batch_size / b.workload.batch_size) - float(mine) + float(other)
            for (o, b), mine, other in zip(pairs, *means, strict=True)
        ]
        apart = [guess - truth for guess, truth in zip(predicted, measured, strict=True)]
        rest = [o for o in observations if gpu_type(o.chip) != card]
        halves = half_widths(without, rest, pairs)
        return Ratio(
            card=card,
            reference=reference,
            pairs=len(pairs),
            measured=math.exp(statistics.median(measured)),
            predicted=math.exp(statistics.median(predicted)),
            off=statistics.median(abs(math.expm1(each)) for each in apart),
            half=statistics.median(halves),
            inside=sum(abs(a) <= half for a, half in zip(apart, halves, strict=True)),
        )
    return None
