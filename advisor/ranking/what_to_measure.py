"""Which measurement would tell the first row from those that may be as good (pure)."""

from __future__ import annotations

from typing import NamedTuple

from advisor.ranking.interval_comparison import Doubt, reaches
from advisor.ranking.row_order import Ranking
from bench_runner.settings.batch_and_sharding import fast_search_minutes


class Wanted(NamedTuple):
    """The measurement that tells most about who is first."""

    build: int
    """The candidates' index."""
    minutes: float
    """How long measuring it takes."""
    left: int
    """How many rows will then still not be told from it, if it finds what is estimated."""


def wanted(ranking: Ranking) -> Wanted | None:
    """What to measure: of the rows that cannot be told from the first, which are ordered by price,
    the first that was not measured. None where all of them were, where times do not matter, and
    with the published evidence, which looks at no others."""
    candidates, model = ranking.candidates, ranking.candidates.model
    if not ranking.table or ranking.question.rule == "cost":
        return None
    if candidates.evidence != "sound" or not candidates.cents[ranking.order[0]]:
        return None
    group = [row[0] for row in ranking.table[: ranking.tied_rows]]
    for i in group:
        best = candidates.times[i]
        chosen = None if best is None else best.chosen
        if chosen is None or chosen.timing == "synchronised":
            continue
        minutes = fast_search_minutes(
            model.family,
            candidates.builds[i].gpu_count,
            compiles=model.compiles,
            days=candidates.days[i],
            training_steps=model.training_steps,
            settings=chosen.settings,
        )
        value = ranking.doubt(i).value
        found = Doubt(value=value, low=value, high=value)
        # It tells how fast the user's own software is, too: estimates are then compared with it
        # as with each other.
        left = [j for j in group if j != i and reaches(found, ranking.doubt(j), near=True)]
        return Wanted(i, minutes, len(left))
    return None
