"""Which GPUs, in which order, which builds are left out and why (pure).

A row of the table is a GPU configuration; the machines that hold it are the row's offers. `rank`
answers one question about a set of candidates and runs at every key press.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from advisor.costs.amount_words import days_exact
from advisor.costs.cost_of_owning import CENT
from advisor.ranking.candidates import (
    ABOUT,
    AVAILABILITIES,
    AskedPrice,
    Availability,
    Candidates,
    Reason,
    staircase,
)
from advisor.ranking.exclusion_reasons import exclusion_text
from advisor.ranking.interval_comparison import Doubt, alike, chance_within
from advisor.ranking.question import Question
from advisor.ranking.times import TrainingTime
from price_catalog.builds import Build
from price_catalog.model import Quote


class RankedRow(NamedTuple):
    """One machine with one GPU configuration that answers the question."""

    rank: int
    group: int
    """The number of its row in the table."""
    build: Build
    gpu_quote: Quote
    """For a whole server both quotes are that of the server, with its GPUs."""
    host_quote: Quote
    time: TrainingTime
    overall_cost_usd: Decimal
    price_low_usd: Decimal
    """What it costs if it is ordered today, with price_high_usd: 9 in 10 are between."""
    price_high_usd: Decimal
    training_days: float
    training_days_low: float
    training_days_high: float
    experiment_cost_usd: Decimal | None
    """None where the question counts electricity and no source states what the machine draws."""
    on_pareto_front: bool
    availability: Availability
    tied_with: int
    """The number of the first row of its group, from which it cannot be told; its own, if it is
    that row."""
    asked: tuple[AskedPrice, ...] = ()
    """Each of its prices among others; () of what is the user's already."""


class ExcludedRow(NamedTuple):
    """One build that is left out, with the reason."""

    build: Build
    reason: Reason
    detail: str
    """The reason in words."""
    overall_cost_usd: Decimal | None
    training_days: float | None
    time: TrainingTime | None


ORDER = {
    "days": ("fastest first", "cheapest first"),
    "cost": ("cheapest first", "fastest first"),
    "experiment-cost": ("cheapest a run first", "with the cheapest machine first"),
}
"""The order of the rows by the question's rule, and that of a group."""


def rank(candidates: Candidates, question: Question) -> Ranking:
    """Answer one question about a set of candidates."""
    return Ranking(candidates, question)


def named_first(candidates: Candidates, offers: list[int]) -> list[int]:
    """Offers of the same GPUs, the cheapest first: a sum of parts or options stands behind a price
    that a seller names and that it cannot be told from, as in plans."""
    cents, availability, first = candidates.cents, candidates.availability, offers[0]
    for i in offers:
        quote, whole = candidates.host_quotes[i], candidates.builds[i].host.gpu_id
        named = whole is not None and quote is not None and not quote.is_summed
        if named and availability[i] == availability[first] and cents[i] <= ABOUT * cents[first]:
            return [i, *(each for each in offers if each != i)]
    return offers


class Ranking:
    """The answer: which GPU configurations, in which order, and what is left out. Holds indices
    into the candidates."""

    def __init__(self, candidates: Candidates, question: Question) -> None:
        self.candidates = candidates
        self.question = question
        cents, days = candidates.cents, candidates.days
        self.budget_cents: int | None = None
        """What the budget leaves for prices, which are before VAT; None for no limit."""
        if question.budget_usd is not None:
            self.budget_cents = int(question.budget_usd * 100 / (1 + candidates.vat))
        budget = math.inf if self.budget_cents is None else self.budget_cents
        limit = math.inf if question.max_days is None else question.max_days
        self._value: Sequence[float] = days
        self._second: Sequence[float] = cents
        self._cost: Sequence[float] = cents
        if question.rule == "experiment-cost":
            self._value = self._cost = candidates.run_weights(question.terms)
        elif question.rule == "cost":
            self._value, self._second = cents, days
        self._doubts: dict[int, Doubt] = {}
        self._behind: set[int] = set()
        """Sums that a price which a seller names stands before though they are less."""
        rows: list[list[int]] = []
        for offers in candidates.configurations.values():
            left = [i for i in offers if cents[i] <= budget and days[i] <= limit]
            if left:
                rows.append(self._offers_in_order(left))
        sold = [row for row in rows if self._class(row[0]) == 0]
        leads = {row[0]: row for row in rows}
        order, groups = self._arranged([row[0] for row in sold or rows])
        if sold:
            rest = (row[0] for row in rows if self._class(row[0]))
            order += sorted(rest, key=lambda i: (self._class(i), self._value[i], self._second[i]))
        self.table = [leads[i] for i in order]
        """The rows, best first; of each the offers, first the one that the row is shown with: the
        cheapest that can be ordered, or what a seller asks for hardly more than a sum."""
        self.tied_rows = groups.count(0)
        """So many rows, the first, cannot be told apart."""
        self._tied_with = [*groups, *range(len(groups), len(self.table))]
        """Of each row the first row of its group."""
        self.sold_rows = len(sold)
        """So many rows, the first, can be ordered."""
        over = [i for i in candidates.by_cost if cents[i] > budget]
        slow = [i for i in candidates.by_days if days[i] > limit and cents[i] <= budget]
        self._reasons: tuple[tuple[Reason, Sequence[int]], ...] = (
            ("over-budget", over),
            ("too-slow", slow),
            *candidates.gaps.items(),
        )

    def _class(self, i: int) -> int:
        """0 for what can be ordered, 1 for what is not delivered, 2 for the rest."""
        return min(AVAILABILITIES.index(self.candidates.availability[i]), 2)

    def _offers_in_order(self, offers: list[int]) -> list[int]:
        """The offers of one row, which come in the order of their availability and price; where
        another host makes the GPUs faster, by the rule of the table."""
        days = self.candidates.days
        if all(days[i] == days[offers[0]] for i in offers):
            named = named_first(self.candidates, offers)
            self._behind.update(offers[: offers.index(named[0])])
            return named
        first = self._class(offers[0])
        best, _ = self._arranged([i for i in offers if self._class(i) == first])
        return best + [i for i in offers if self._class(i) != first]

    def _arranged(self, items: Iterable[int]) -> tuple[list[int], list[int]]:
        """Builds in the order of the rule, and of each the place where its group begins.

        A group is what cannot be told from the best of what is left. What something outside it
        beats is not in it.
        """
        value, second = self._value, self._second
        left = sorted(items, key=lambda i: (value[i], second[i]))
        arranged, begins = list[int](), list[int]()
        while left:
            best = self.doubt(left[0])
            tied = [i for i in left if i == left[0] or alike(self.doubt(i), best)]
            rest = set(left).difference(tied)
            beaten = {
                i
                for i in tied
                if any(value[j] <= value[i] and second[j] <= second[i] for j in rest)
            }
            group = sorted(set(tied) - beaten, key=lambda i: (second[i], value[i], i))
            begins += [len(arranged)] * len(group)
            arranged += group
            left = [i for i in left if i not in group]
        return arranged, begins

    def doubt(self, i: int) -> Doubt:
        """What build ``i`` is ranked by, and how sure its days are: a price is what is asked."""
        if i not in self._doubts:
            self._doubts[i] = self._doubt(i)
        return self._doubts[i]

    def _doubt(self, i: int) -> Doubt:
        candidates, value = self.candidates, self._value[i]
        time, build, days = candidates.times[i], candidates.builds[i], candidates.days[i]
        assert time is not None and time.chosen is not None  # it is ranked
        down, up, factor = 1.0, 1.0, None
        if self.question.rule != "cost" and days:
            low, high = candidates.interval(i)
            down, up = days / low if low else math.inf, high / days
            factor = time.chosen.comparison_factor
        watts = "" if build.limit is None else f" {build.limit.watts:g} W"
        return Doubt(
            value=value,
            low=value / down,
            high=value * up,
            factor=factor,
            # Two machines have a network between them, of which one knows nothing.
            gpu=f"{build.gpu.gpu_id}{watts}" if build.machines == 1 else None,
        )

    @property
    def order_words(self) -> str:
        """The order of these rows: only what they show is explained."""
        words, within = ORDER[self.question.rule]
        if len(set(self._tied_with)) < len(self.table):
            words += f"; what cannot be told apart is one group (=), {within}"
        if 0 < self.sold_rows < len(self.table):
            words += "; what cannot be ordered at its price is last"
        return words

    def budget_chance(self, i: int) -> float | None:
        """How likely a build still costs no more than the budget if it is ordered today, 0 to 1;
        None where there is none."""
        if self.budget_cents is None:
            return None
        low, middle, high = self.candidates.cents_today(i)
        return chance_within(self.budget_cents, middle, low, high)

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def order(self) -> list[int]:
        """The ranked builds, row by row."""
        return [i for row in self.table for i in row]

    @cached_property
    def places(self) -> dict[int, tuple[int, int]]:
        """Of each ranked build its place in `order`, from 0, and its row."""
        pairs = ((i, row) for row, offers in enumerate(self.table) for i in offers)
        return {i: (place, row) for place, (i, row) in enumerate(pairs)}

    @cached_property
    def excluded_counts(self) -> dict[Reason, int]:
        """How many builds are left out, by reason; reasons without a build are absent."""
        return {reason: len(builds) for reason, builds in self._reasons if builds}

    @cached_property
    def excluded_order(self) -> list[tuple[int, Reason]]:
        """Every left-out build with its reason, grouped by reason."""
        return [(i, reason) for reason, builds in self._reasons for i in builds]

    @cached_property
    def front(self) -> frozenset[int]:
        """The builds that no other ranked build beats on cost and on time at once; where some can
        be ordered, of these. Cost is that of a run where that is the rule. A sum of parts or
        options is not beside the price that a seller names and that stands before it."""
        return self.front_by(self._cost)

    def front_by(self, cost: Sequence[float], *, unsold: bool = False) -> frozenset[int]:
        """The same by another cost, or with what cannot be ordered."""
        days, offered = self.candidates.days, self.candidates.offered
        ranked = [
            i
            for i in self.order
            if (unsold or not self.sold_rows or offered[i]) and i not in self._behind
        ]
        return frozenset(staircase(sorted(ranked, key=lambda i: (cost[i], days[i])), cost, days))

    def chance(self, i: int) -> float | None:
        """How likely a build keeps the limit of days, 0 to 1; None where none was asked for."""
        limit, candidates = self.question.max_days, self.candidates
        if limit is None:
            return None
        return chance_within(limit, candidates.days[i], *candidates.interval(i))

    def lead(self, row: int) -> RankedRow:
        """The build that a row of the table is shown with, in full."""
        return self.machine(self.table[row][0])

    def machine(self, i: int) -> RankedRow:
        """A ranked build in full."""
        candidates, (place, row) = self.candidates, self.places[i]
        time, gpu, host = (
            candidates.times[i],
            candidates.gpu_quotes[i],
            candidates.host_quotes[i],
        )
        assert time and time.chosen and gpu and host  # _gap keeps the others out
        low, high = candidates.interval(i)
        cents_low, _, cents_high = candidates.cents_today(i)
        usd, usd_low, usd_high = (
            (Decimal(cents) / 100).quantize(CENT)
            for cents in (candidates.cents[i], cents_low, cents_high)
        )
        return RankedRow(
            rank=place + 1,
            group=row + 1,
            build=candidates.builds[i],
            gpu_quote=gpu,
            host_quote=host,
            time=time.chosen,
            overall_cost_usd=usd,
            price_low_usd=usd_low,
            price_high_usd=usd_high,
            training_days=candidates.days[i],
            training_days_low=low,
            training_days_high=high,
            experiment_cost_usd=candidates.run_usd(i, self.question.terms),
            on_pareto_front=i in self.front,
            availability=candidates.availability[i],
            tied_with=self._tied_with[row] + 1,
            asked=candidates.asked_prices(i),
        )

    def rows(self) -> list[RankedRow]:
        """The ranked builds in full, row by row."""
        return [self.machine(i) for i in self.order]

    def excluded_row(self, position: int) -> ExcludedRow:
        """The left-out build at ``position`` of `excluded_order`, in full."""
        i, reason = self.excluded_order[position]
        time = self.candidates.times[i]
        detail = exclusion_text(self.candidates, i, reason, self.question)
        return self._excluded(i, reason, detail, None if time is None else time.chosen)

    def _excluded(
        self, i: int, reason: Reason, detail: str, time: TrainingTime | None
    ) -> ExcludedRow:
        days = None if time is None else time.training_days
        cost = self.candidates.cost_usd(i)
        return ExcludedRow(self.candidates.builds[i], reason, detail, cost, days, time)

    @cached_property
    def refused(self) -> list[ExcludedRow]:
        """Published times that are impossible, where a prediction stands in their place."""
        found = []
        for i, best in enumerate(self.candidates.times):
            wrong, chosen = (None, None) if best is None else (best.published, best.chosen)
            if wrong is None or wrong.verdict != "implausible":
                continue
            if chosen is not None and chosen.basis == "predicted":
                days = days_exact(wrong.training_days or 0.0)
                detail = (
                    f"the published {days} days {wrong.verdict_reason}; a prediction stands in "
                )
                detail += "its place"
                found.append(self._excluded(i, "implausible-time", detail, wrong))
        return found

    def excluded(self) -> list[ExcludedRow]:
        """Every left-out build in full, grouped by reason."""
        return [self.excluded_row(position) for position in range(len(self.excluded_order))]
