"""What the ranges of the prices leave open: which builds could change places (pure)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from advisor.ranking.rank import Ranking

LOOKED_AT = 200
"""How many builds are looked at: nobody reads doubts about the thousandth."""


def rank_spans(ranking: Ranking) -> list[tuple[int, int]]:
    """The best and the worst rank that each ranked build could take within its price range.

    Prices do not move a ranking by days; only the budget can (`doubt_lines`).
    """
    order = ranking.order[:LOOKED_AT]
    if ranking.question.rule == "days":
        return [(position + 1, position + 1) for position in range(len(order))]
    candidates = ranking.candidates
    weight = candidates.days if ranking.question.rule == "experiment-cost" else None
    ends = []
    for i in ranking.order:
        low, high = candidates.cents_range(i)
        times = 1.0 if weight is None else weight[i]
        ends.append((low * times, high * times))
    lows, highs = sorted(low for low, _ in ends), sorted(high for _, high in ends)
    spans = []
    for position, (cheapest, dearest) in enumerate(ends[:LOOKED_AT], start=1):
        # Surely before it: all whose dearest is below its cheapest. Perhaps: all whose cheapest
        # is not above its dearest, itself not counted.
        best = bisect_left(highs, cheapest) + 1
        worst = bisect_right(lows, dearest)
        spans.append((min(best, position), max(worst, position)))
    return spans
