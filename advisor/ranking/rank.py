"""Which builds, in which order, which left out and why (pure).

`rank` answers one question about a set of candidates and runs at every key press: it filters orders
that were sorted before. Rows are made only when somebody looks at them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from advisor.costs.amounts import days_exact
from advisor.costs.price_book import PriceRange
from advisor.costs.tco import CENT, experiment_cost_usd
from advisor.ranking.build_prices import WHOLE_WORTH
from advisor.ranking.candidates import Candidates, Reason, staircase
from advisor.ranking.exclusion_reasons import exclusion_text
from advisor.ranking.question import Question
from advisor.ranking.ties import chance_within
from advisor.ranking.times import TrainingTime
from advisor.ranking.uncertainty import RankUncertainty
from price_catalog.builds import Build
from price_catalog.model import Quote


class RankedRow(NamedTuple):
    """One build that answers the question."""

    rank: int
    build: Build
    gpu_quote: Quote
    """For a whole server both quotes are that of the server, with its GPUs."""
    host_quote: Quote
    time: TrainingTime
    overall_cost_usd: Decimal
    overall_cost_low_usd: Decimal
    """At the low end of what the quotes as good as the chosen ones ask."""
    overall_cost_high_usd: Decimal
    price_low_usd: Decimal
    """What it costs if it is ordered today, with price_high_usd: 9 in 10 are between."""
    price_high_usd: Decimal
    training_days: float
    training_days_low: float
    training_days_high: float
    experiment_cost_usd: Decimal
    on_pareto_front: bool
    tied_with_first: bool = False
    """Whether it cannot be told from first place; never so for first place itself."""
    outlying_prices: frozenset[str] = frozenset()
    """The kinds of items (gpu, host, server) whose price is far from others as good."""
    gpu_range: PriceRange | None = None
    """What the quotes as good as the chosen one ask; None where prices have no ranges."""
    host_range: PriceRange | None = None
    gpu_newer: Quote | None = None
    """A newer quote than the chosen one, which does not count; None where there is none."""
    host_newer: Quote | None = None


class ExcludedRow(NamedTuple):
    """One build that is left out, with the reason."""

    build: Build
    reason: Reason
    detail: str
    """The reason in words."""
    overall_cost_usd: Decimal | None
    training_days: float | None
    time: TrainingTime | None


def rank(candidates: Candidates, question: Question) -> Ranking:
    """Answer one question about a set of candidates."""
    # What somebody sells at a price of the last year comes before what nobody is known to sell:
    # an old price or one told by others puts nothing first while there is a better one.
    head, tail = candidates.offered_order(question.rule)
    over: Sequence[int] = ()
    slow: Sequence[int] = ()
    if question.budget_usd is not None:
        budget = int(question.budget_usd * 100)
        over = candidates.by_cost[bisect_right(candidates.costs_in_order, budget) :]
        if over:
            head, tail = (candidates.within(question.rule, part, budget) for part in (head, tail))
    if question.max_days is not None:
        days, limit = candidates.days, question.max_days
        slow = [i for i in candidates.order(question.rule) if days[i] > limit]
        if slow:
            out = set(over)
            slow = [i for i in slow if i not in out]
            head = [i for i in head if days[i] <= limit]
            tail = [i for i in tail if days[i] <= limit]
    offered = len(head) if head and tail else None
    return Ranking(
        candidates, question, _quoted_first(candidates, question, head) + tail, over, slow, offered
    )


LESS_SURE = 0.05
"""By so much a machine may be less likely to keep the limit of days than those it comes before. A
choice."""


def _quoted_first(candidates: Candidates, question: Question, head: list[int]) -> list[int]:
    """The order by days with something to order first: where the fastest is a sum of parts or
    options that nobody quoted, the fastest that a seller quotes whole, where no faster sum costs
    less than it and none can be told from it.

    More money makes no first place slower by that: whatever is faster than it, and could have been
    first for less money, costs as much or more.
    """
    if question.rule != "days" or not head or not candidates.is_summed(head[0]):
        return head
    limit, days, cents = question.max_days, candidates.days, candidates.cents
    uncertainty = RankUncertainty(candidates, question, head)
    least: dict[tuple[str, int, int], int] = {}
    for best in uncertainty.near:
        cards = candidates.builds[best].cards
        if candidates.is_summed(best):
            least[cards] = min(cents[best], least.get(cards, cents[best]))
        # What is much dearer than the same cards as a sum comes first nowhere.
        elif cards not in least or cents[best] <= WHOLE_WORTH * least[cards]:
            break
    else:
        return head

    def chance(i: int) -> float:
        return 1.0 if limit is None else chance_within(limit, days[i], *candidates.interval(i))

    before, enough = head[: head.index(best)], chance(best) + LESS_SURE
    if all(
        cents[best] <= cents[i] and chance(i) <= enough and uncertainty.are_alike(best, i)
        for i in before
    ):
        return [best, *(i for i in head if i != best)]
    return head


class Ranking:
    """The answer: which candidates, in which order, and which not. Holds indices into them."""

    def __init__(
        self,
        candidates: Candidates,
        question: Question,
        order: Sequence[int],
        over_budget: Sequence[int],
        too_slow: Sequence[int],
        offered: int | None = None,
    ) -> None:
        self.candidates = candidates
        self.question = question
        self.order = order
        """Build indices, best first."""
        self.offered = len(order) if offered is None else offered
        """So many of them, the first, are sold at prices of the last year, where any is."""
        self._reasons: tuple[tuple[Reason, Sequence[int]], ...] = (
            ("over-budget", over_budget),
            ("too-slow", too_slow),
            *candidates.gaps.items(),
        )

    def __len__(self) -> int:
        return len(self.order)

    @property
    def all_alike(self) -> bool:
        """Whether all of the ranked builds are sold at prices of the last year, or none is."""
        return self.offered == len(self.order)

    @property
    def quoted_first(self) -> bool:
        """Whether first place is a quoted machine before a sum of fewer days."""
        if self.question.rule != "days" or self.offered < 2:
            return False
        first, second = self.order[:2]
        return self.candidates.days[first] > self.candidates.days[second]

    @cached_property
    def excluded_counts(self) -> dict[Reason, int]:
        """How many builds are left out, by reason; reasons that hit nobody are absent."""
        return {reason: len(builds) for reason, builds in self._reasons if builds}

    @cached_property
    def excluded_order(self) -> list[tuple[int, Reason]]:
        """Every left-out build with its reason, grouped by reason."""
        return [(i, reason) for reason, builds in self._reasons for i in builds]

    @cached_property
    def front(self) -> frozenset[int]:
        """The builds that no other ranked build beats on cost and on time at once.

        Cost is the overall cost, or the cost per experiment where that is the rule. Where some are
        sold at prices of the last year, an old or a told price beats none of them.
        """
        candidates, question = self.candidates, self.question
        if question.rule == "experiment-cost":
            ranked = set(self.order[: self.offered])
            order = [i for i in candidates.by_experiment_cost if i in ranked]
            return frozenset(staircase(order, candidates.experiment_weight, candidates.days))
        # What beats a build on cost and time is inside every limit that the build is inside, so
        # the front of all builds, cut at the limits, is the front of those within them.
        cents, days = candidates.cents, candidates.days
        budget = None if question.budget_usd is None else int(question.budget_usd * 100)
        limit = question.max_days
        return frozenset(
            i
            for i in (candidates.cost_front if self.all_alike else candidates.offered_front)
            if (budget is None or cents[i] <= budget) and (limit is None or days[i] <= limit)
        )

    @cached_property
    def uncertainty(self) -> RankUncertainty:
        """How sure first place is, as far as the training times go."""
        return RankUncertainty(self.candidates, self.question, self.order[: self.offered])

    def row(self, position: int) -> RankedRow:
        """The build at ``position`` (0 is the best), in full."""
        i = self.order[position]
        candidates = self.candidates
        time, gpu_quote, host_quote = (
            candidates.times[i],
            candidates.gpu_quotes[i],
            candidates.host_quotes[i],
        )
        assert time is not None and time.chosen is not None  # _gap keeps the others out
        assert gpu_quote is not None and host_quote is not None
        chosen = time.chosen
        days = candidates.days[i]
        overall = Decimal(candidates.cents[i]) / 100
        cents_low, cents_high = candidates.cents_range(i)
        today_low, today_high = candidates.cents_today(i)
        low, high = candidates.interval(i)
        (gpu_range, gpu_newer), (host_range, host_newer) = candidates.told_prices(i)
        return RankedRow(
            rank=position + 1,
            build=candidates.builds[i],
            gpu_quote=gpu_quote,
            host_quote=host_quote,
            time=chosen,
            overall_cost_usd=overall.quantize(CENT),
            overall_cost_low_usd=(Decimal(cents_low) / 100).quantize(CENT),
            overall_cost_high_usd=(Decimal(cents_high) / 100).quantize(CENT),
            price_low_usd=(Decimal(today_low) / 100).quantize(CENT),
            price_high_usd=(Decimal(today_high) / 100).quantize(CENT),
            training_days=days,
            training_days_low=low,
            training_days_high=high,
            experiment_cost_usd=experiment_cost_usd(overall, days, self.question.lifetime_years),
            on_pareto_front=i in self.front,
            tied_with_first=i in self.uncertainty.tied,
            outlying_prices=candidates.outlying_prices(i),
            gpu_range=gpu_range,
            host_range=host_range,
            gpu_newer=gpu_newer,
            host_newer=host_newer,
        )

    def rows(self, limit: int | None = None) -> list[RankedRow]:
        """The ranked builds in full, best first; at most ``limit`` of them."""
        count = len(self.order) if limit is None else min(limit, len(self.order))
        return [self.row(position) for position in range(count)]

    def excluded_row(self, position: int) -> ExcludedRow:
        """The left-out build at ``position`` of `excluded_order`, in full."""
        i, reason = self.excluded_order[position]
        candidates = self.candidates
        time = candidates.times[i]
        chosen = time.chosen if time is not None else None
        return ExcludedRow(
            build=candidates.builds[i],
            reason=reason,
            detail=exclusion_text(candidates, i, reason, self.question),
            overall_cost_usd=candidates.cost_usd(i),
            training_days=chosen.training_days if chosen is not None else None,
            time=chosen,
        )

    @cached_property
    def refused(self) -> list[ExcludedRow]:
        """Published times that are impossible, where a prediction stands in their place."""
        found = []
        for i, time in enumerate(self.candidates.times):
            published = time.published if time is not None else None
            if (
                time is None
                or published is None
                or published.verdict != "implausible"
                or time.chosen is None
                or time.chosen.basis != "predicted"
            ):
                continue
            found.append(
                ExcludedRow(
                    build=self.candidates.builds[i],
                    reason="implausible-time",
                    detail=f"the published {days_exact(published.training_days or 0.0)} days "
                    f"{published.verdict_reason}; a prediction stands in its place",
                    overall_cost_usd=self.candidates.cost_usd(i),
                    training_days=published.training_days,
                    time=published,
                )
            )
        return found

    def excluded(self) -> list[ExcludedRow]:
        """Every left-out build in full, grouped by reason."""
        return [self.excluded_row(position) for position in range(len(self.excluded_order))]
