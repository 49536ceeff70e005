"""Which measurement would tell the first row from those that may be as good (pure)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from advisor.ranking.interval_comparison import Doubt, alike, reaches
from advisor.ranking.rank import Ranking
from bench_runner.settings.paper_space import FastSearch, fast_search
from bench_runner.typed_numbers import NORMAL_90

_UPPER = (1.8339, 1.2816, 0.9674, 0.7279, 0.5244, 0.3407, 0.1679)
DEVIATIONS = (*(-z for z in _UPPER), 0.0, *reversed(_UPPER))
"""A normal distribution in 15 equally likely parts, the middle of each in standard deviations."""


class Wanted(NamedTuple):
    """The cheapest measurement that would tell who is first."""

    build: int
    """The candidates' index."""
    search: FastSearch
    """What measuring it takes."""
    left: float
    """How many rows will then still not be told from the first, on average."""


def wanted(ranking: Ranking) -> Wanted | None:
    """What to measure; None where the first row's time is measured and nothing is as good, where
    times do not matter, and with the published evidence, which looks at no others."""
    if not ranking.table or ranking.question.rule == "cost":
        return None
    if ranking.candidates.evidence != "sound" or not ranking.candidates.cents[ranking.order[0]]:
        return None
    asked = [row[0] for row in ranking.table[: ranking.tied_rows]]
    contest = settle([_contender(ranking, i) for i in asked])
    if contest.measure is not None:
        i = asked[contest.measure]
        return Wanted(i, _search(ranking, i), contest.left)
    if _settled(ranking, asked[0]):
        return None
    return Wanted(asked[0], _search(ranking, asked[0]), float(len(asked) - 1))


def _settled(ranking: Ranking, i: int) -> bool:
    best = ranking.candidates.times[i]
    return best is not None and best.chosen is not None and best.chosen.timing == "synchronised"


def _contender(ranking: Ranking, i: int) -> Contender:
    doubt = ranking.doubt(i)
    return Contender(
        value=doubt.value,
        low=doubt.low,
        high=doubt.high,
        factor=doubt.factor,
        gpu=doubt.gpu,
        settled=_settled(ranking, i),
        # What the minutes on such a machine cost; nothing on one that is there.
        effort=ranking.candidates.cents[i] * _search(ranking, i).minutes,
    )


def _search(ranking: Ranking, i: int) -> FastSearch:
    candidates, model = ranking.candidates, ranking.candidates.model
    best = candidates.times[i]
    settings = best.chosen.settings if best is not None and best.chosen is not None else None
    return fast_search(
        model.family,
        candidates.builds[i].gpu_count,
        compiles=model.compiles,
        days=candidates.days[i],
        training_steps=model.training_steps,
        settings=settings,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender(Doubt):
    """One build of a ranking that may be measured."""

    settled: bool
    """Whether it was measured already, as well as it can be."""
    effort: float
    """What a measurement costs, in any unit."""


class Contest(NamedTuple):
    """How sure first place is."""

    tied: tuple[int, ...]
    """Contenders that cannot be told from the first; empty where first place is sure."""
    measure: int | None
    """The one to measure; None where nothing need or can be measured."""
    left: float
    """How many will still not be told from the first once that is measured, on average over what
    it may find."""


def settle(contenders: Sequence[Contender]) -> Contest:
    """Find the builds that may be the first instead, and what to measure.

    Best is the measurement that leaves the fewest builds not told from the first, on average over
    what it may find; of those that leave about as few (half a build more), the cheapest. It tells
    how fast the user's own software is, too, so from then on predictions are compared with it as
    with each other.
    """
    if not contenders:
        return Contest(tied=(), measure=None, left=0.0)
    first = min(range(len(contenders)), key=lambda i: contenders[i].value)
    tied = tuple(i for i, c in enumerate(contenders) if i != first and alike(c, contenders[first]))
    group = (first, *tied)
    open_ = [i for i in group if not contenders[i].settled]
    if not tied or not open_:
        return Contest(tied=tied, measure=None, left=float(len(tied)))
    # Of equal values the surer one is first.
    best, second = sorted(group, key=lambda i: (contenders[i].value, contenders[i].high))[:2]
    lows = sorted(contenders[i].near[0] for i in group)
    around = {
        i: sum(reaches(contenders[i], contenders[j], near=True) for j in group if j != i)
        for i in (best, second)
    }
    left = {}
    for i in open_:
        rival = second if i == best else best
        left[i] = _left(contenders[i], contenders[rival], lows, around[rival])
    fewest = min(left.values())
    good = [i for i in open_ if left[i] <= fewest + 0.5]
    chosen = min(good, key=lambda i: (contenders[i].effort, left[i], i))
    return Contest(tied=tied, measure=chosen, left=left[chosen])


def _left(asked: Contender, rival: Contender, lows: Sequence[float], around: int) -> float:
    """How many builds are not told from the first once ``asked`` is measured, on average.

    ``rival`` is the first of the others; ``lows`` are the ordered low ends of all, ``around`` is
    how many of all cannot be told from the rival.
    """
    low, high = asked.near if rival.factor is not None else (asked.low, asked.high)
    sd = math.log(high / low) / (2 * NORMAL_90) if low > 0 else 0.0
    of_others = around - reaches(asked, rival, near=True)
    total = 0
    for deviations in DEVIATIONS:
        found = asked.value * math.exp(sd * deviations)
        if found <= rival.value:
            # Of the others those that may be as fast as it was found to be.
            total += bisect_left(lows, found) - (asked.near[0] < found)
        else:
            total += of_others + (found < rival.near[1])
    return total / len(DEVIATIONS)
