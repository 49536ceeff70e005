"""Which measurement would tell the first row from those that may be as good (pure)."""

from __future__ import annotations

from typing import NamedTuple

from advisor.ranking.rank import Ranking
from advisor.ranking.ties import Contender, settle
from bench_runner.settings.space import FastSearch, fast_search


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
