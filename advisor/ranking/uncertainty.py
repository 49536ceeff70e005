"""How sure the first place of a ranking is, as far as the training times go (pure).

The range of the prices is another doubt: `advisor.ranking.price_ranges`.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from advisor.ranking.build_prices import ABOUT
from advisor.ranking.ties import Contender, Doubt, alike, settle
from bench_runner.settings.space import FastSearch, fast_search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.ranking.candidates import Candidates
    from advisor.ranking.question import Question, RankRule

LOOKED_AT = 200
"""How many builds are looked at for the limit: nobody reads doubts about the thousandth."""
WEIGHED = 60
"""How many builds are weighed when a measurement is chosen, the best first."""


class Wanted(NamedTuple):
    """The cheapest measurement that would tell who is first."""

    build: int
    """The candidates' index."""
    search: FastSearch
    """What measuring it takes."""
    left: float
    """How many builds will then still not be told from the first, on average."""


class RankUncertainty:
    """Who may be first instead of the first."""

    def __init__(self, candidates: Candidates, question: Question, order: Sequence[int]) -> None:
        self.candidates = candidates
        self.question = question
        self.order = order
        """The ranked builds that may be first, best first: those that somebody sells, if any."""
        self.first: int | None = order[0] if len(order) else None
        """The candidates' index; None where no build answers."""

    @cached_property
    def tied(self) -> frozenset[int]:
        """Ranked builds that cannot be told from first place: the candidates' indices.

        By overall cost nobody: that depends on no training time. Nor another machine with the GPUs
        of first place: the same time stands for both, whatever it is.
        """
        candidates = self.candidates
        if self.first is None or not self.by_time:
            return frozenset()
        days, low_days = candidates.days, candidates.low_days
        value = days if self._rule == "days" else candidates.experiment_weight
        high = self._high(self.first)
        first, best = self._doubt(self.first), value[self.first]
        return frozenset(
            i
            for i in self.near[1:]
            # Intervals that do not even overlap are told apart: the cheap question first.
            if (value[i] / days[i] * low_days[i] < high or value[i] == best)
            and not self._is_same(i, self.first)
            and alike(self._doubt(i), first)
        )

    @cached_property
    def near(self) -> Sequence[int]:
        """The first of the order, among which all stand that may be as good as first place.

        No interval is wider than the widest; the rest of 100,000 builds need not be looked at.
        """
        if self.first is None:
            return ()
        most = self._high(self.first) * self.candidates.widest
        return self.order[: self._up_to(self.order, most)]

    def are_alike(self, i: int, other: int) -> bool:
        """Whether two builds cannot be told apart by what they are ranked by."""
        return alike(self._doubt(i), self._doubt(other))

    @cached_property
    def perhaps_slow(self) -> list[int]:
        """Ranked builds that may take longer than the limit allows, in their order."""
        limit, candidates = self.question.max_days, self.candidates
        if limit is None:
            return []
        return [i for i in self.order[:LOOKED_AT] if candidates.interval(i)[1] > limit]

    @cached_property
    def perhaps_fast(self) -> list[int]:
        """Builds inside the budget that are left out as too slow but perhaps are not, the nearest
        to the limit first."""
        question, candidates = self.question, self.candidates
        limit, order, days = question.max_days, candidates.by_days, candidates.days
        if limit is None:
            return []
        budget = None if question.budget_usd is None else int(question.budget_usd * 100)
        start = bisect_right(order, limit, key=days.__getitem__)
        end = bisect_right(order, limit * candidates.widest, key=days.__getitem__)
        return [
            i
            for i in order[start:end]
            if candidates.low_days[i] <= limit
            and (budget is None or candidates.cents[i] <= budget)
            and (self.first is None or candidates.offered[i] >= candidates.offered[self.first])
        ]

    @cached_property
    def outside(self) -> list[int]:
        """Of `perhaps_fast` those that may then be first."""
        candidates, first, limit = self.candidates, self.first, self.question.max_days
        if first is None or limit is None:
            return self.perhaps_fast
        budget = self.question.budget_usd
        most = math.inf if budget is None else int(budget * 100)
        days, low_days, cents = candidates.days, candidates.low_days, candidates.cents
        if self.by_time:
            high, order = self._high(first), candidates.order(self._rule)
            end = self._up_to(order, high * candidates.widest)
        else:
            high, order = cents[first], candidates.by_cost
            end = bisect_left(order, high, key=cents.__getitem__)
        return [
            i
            for i in order[:end]
            if days[i] > limit >= low_days[i]
            and cents[i] <= most
            and candidates.offered[i] >= candidates.offered[first]
            and not self._is_same(i, first)
            and (not self.by_time or self._may_beat(i, first, high))
        ]

    def _is_same(self, i: int, first: int) -> bool:
        """Whether the time of one stands for the other, whatever it is: the same GPUs, in machines
        that hold as much of what is offloaded or are joined alike."""
        times, builds = self.candidates.times, self.candidates.builds
        return times[i] is times[first] or (
            builds[i].cards == builds[first].cards
            and self.candidates.days[i] == self.candidates.days[first]
        )

    @property
    def is_sure(self) -> bool:
        """Whether no training time could put another build first."""
        return not (self.tied or self.outside or self.first_may_be_slow or self.first_is_impossible)

    @property
    def first_may_be_slow(self) -> bool:
        """Whether first place itself may take longer than the limit allows."""
        limit = self.question.max_days
        if self.first is None or limit is None:
            return False
        return self.candidates.interval(self.first)[1] > limit

    @property
    def first_is_impossible(self) -> bool:
        """Whether first place goes by a time that is physically impossible: published evidence."""
        best = None if self.first is None else self.candidates.times[self.first]
        return best is not None and best.chosen is not None and best.chosen.verdict == "implausible"

    @cached_property
    def wanted(self) -> Wanted | None:
        """What to measure; None where first place is sure or no measurement would settle it.

        With the published evidence none would: it does not look at others.
        """
        candidates = self.candidates
        if self.is_sure or candidates.evidence != "sound":
            return None
        by_value = sorted({*self.tied, *self.outside}, key=self._value)
        if self.by_time and self.first is not None:
            # One measurement is about every machine with these GPUs; the best of them counts.
            one_each: dict[int, int] = {}
            for i in by_value:
                one_each.setdefault(id(candidates.times[i]), i)
            asked = [self.first, *islice(one_each.values(), WEIGHED)]
            contest = settle([self._contender(i) for i in asked])
            if contest.measure is not None:
                return self._wanted(asked[contest.measure], contest.left)
        # All can be told apart: the limit alone makes it unsure.
        unsure = [self.first] if self.first_may_be_slow else by_value
        open_ = [i for i in unsure if i is not None and not self._settled(i)]
        left = len(by_value) - (not self.first_may_be_slow)
        return self._wanted(open_[0], float(left)) if open_ else None

    @property
    def _rule(self) -> RankRule:
        return self.question.rule

    @property
    def by_time(self) -> bool:
        """Whether the order depends on training times: not where the machines cost nothing."""
        if self._rule == "experiment-cost" and self.first is not None:
            return self.candidates.cents[self.first] > 0
        return self._rule != "cost"

    def _up_to(self, order: Sequence[int], most: float) -> int:
        """How many of these, in the order of the rule, must be looked at to see all up to ``most``:
        a few more where what was added up stands behind what was quoted, and again where it does
        not because the budget does not pay that."""
        if self._rule == "days":
            return bisect_right(order, most, key=self.candidates.days.__getitem__)
        most *= ABOUT**2
        return bisect_right(order, most, key=self.candidates.placed_weight.__getitem__)

    def _value(self, i: int) -> float:
        candidates = self.candidates
        if self._rule == "cost":
            return candidates.cents[i]
        return candidates.days[i] if self._rule == "days" else candidates.experiment_weight[i]

    def _high(self, i: int) -> float:
        """The high end of what build ``i`` is ranked by."""
        candidates = self.candidates
        return self._value(i) / candidates.days[i] * candidates.interval(i)[1]

    def _settled(self, i: int) -> bool:
        best = self.candidates.times[i]
        return best is not None and best.chosen is not None and best.chosen.timing == "synchronised"

    def _doubt(self, i: int) -> Doubt:
        candidates = self.candidates
        value, (low, high), time = self._value(i), candidates.interval(i), candidates.times[i]
        per_day = value / candidates.days[i]
        assert time is not None and time.chosen is not None  # it is ranked
        factor, build = time.chosen.comparison_factor, candidates.builds[i]
        watts = "" if build.limit is None else f" {build.limit.watts:g} W"
        return Doubt(
            value=value,
            low=low * per_day,
            high=high * per_day,
            factor=factor,
            # Two machines have a network between them, of which one knows nothing.
            gpu=f"{build.gpu.gpu_id}{watts}" if build.machines == 1 else None,
        )

    def _may_beat(self, i: int, first: int, high: float) -> bool:
        """Whether build ``i`` cannot be told from first place, whose high end is ``high``."""
        value, candidates = self._value(i), self.candidates
        # Intervals that do not even overlap are told apart: the cheap question first.
        return value / candidates.days[i] * candidates.low_days[i] < high and alike(
            self._doubt(i), self._doubt(first)
        )

    def _contender(self, i: int) -> Contender:
        doubt = self._doubt(i)
        return Contender(
            value=doubt.value,
            low=doubt.low,
            high=doubt.high,
            factor=doubt.factor,
            gpu=doubt.gpu,
            settled=self._settled(i),
            # What the minutes on such a machine cost; nothing on one that is there.
            effort=self.candidates.cents[i] * self._search(i).minutes,
        )

    def _search(self, i: int) -> FastSearch:
        candidates, model = self.candidates, self.candidates.model
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

    def _wanted(self, i: int, left: float) -> Wanted:
        return Wanted(build=i, search=self._search(i), left=left)
