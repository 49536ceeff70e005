"""Which builds, in which order, which left out and why (pure).

The work is split by how often it is needed. `Field` holds every build with its cost and its time
for one model, and is made when the model, the prices or the evidence change. `rank` answers one
question about a field and runs at every key press: it filters orders that were sorted before, so
that even 100,000 builds take milliseconds. Rows are made only when somebody looks at them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from advisor.cost import CENT, DEFAULT_LIFETIME_YEARS, experiment_cost_usd, overall_cost_usd
from advisor.facts import BestTime, Model, TrainingTime
from advisor.prices import PriceBook
from price_catalog.builds import Build
from price_catalog.model import Quote

NO_PRICE = -1
RULES = ("days", "cost", "experiment-cost")
REASONS = (
    "over-budget",
    "too-slow",
    "does-not-fit",
    "implausible-time",
    "no-time",
    "no-price",
    "cannot-be-built",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person asks of a field of builds."""

    budget_usd: Decimal | None = None
    """None: no limit."""
    max_days: float | None = None
    rule: str = "days"
    """``days``: fastest first; ``cost``: cheapest; ``experiment-cost``: cheapest a run."""
    lifetime_years: float = DEFAULT_LIFETIME_YEARS

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rank by '{self.rule}' is not one of {', '.join(RULES)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedRow:
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
    training_days: float
    training_days_low: float
    training_days_high: float
    experiment_cost_usd: Decimal
    on_pareto_front: bool
    outlying_prices: frozenset[str] = frozenset()
    """The kinds of items (gpu, host, server) whose price is far from others as good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedRow:
    """One build that is left out, with the reason."""

    build: Build
    reason: str
    """One of REASONS."""
    detail: str
    """The reason in words."""
    overall_cost_usd: Decimal | None
    training_days: float | None
    time: TrainingTime | None


class Field:
    """Every build for one model, with cost and time in columns (parallel lists by build)."""

    def __init__(
        self,
        model: Model,
        builds: Sequence[Build],
        times: Iterable[BestTime],
        prices: Mapping[tuple[str, str], Quote],
        evidence: str,
    ) -> None:
        """A build that cannot be put together is left out; `builds` says which those are."""
        self.model = model
        self.evidence = evidence
        self.prices = prices
        self.builds = builds
        self.times: list[BestTime | None] = []
        self.gpu_quotes: list[Quote | None] = []
        self.host_quotes: list[Quote | None] = []
        self.cents: list[int] = []
        """Overall cost in US cents; NO_PRICE where a price is missing."""
        self.days: list[float] = []
        """Training days where the build can be ranked; undefined elsewhere."""
        self.gap: list[str | None] = []
        """Why the build can never be ranked, whatever the question; None where it can."""
        by_gpu = {(t.gpu_id, t.gpu_count): t for t in times}
        for build in builds:
            gpu_id = build.gpu.gpu_id
            time = by_gpu.get((gpu_id, build.gpu_count))
            gpu_key, host_key = price_keys(build)
            gpu_quote, host_quote = prices.get(gpu_key), prices.get(host_key)
            cents = NO_PRICE
            if gpu_quote is not None and host_quote is not None:
                cents = build_cents(build, gpu_quote.price_usd, host_quote.price_usd)
            gap, days = _gap(time, cents, evidence)
            if build.obstacle is not None:
                gap = "cannot-be-built"
            self.times.append(time)
            self.gpu_quotes.append(gpu_quote)
            self.host_quotes.append(host_quote)
            self.cents.append(cents)
            self.days.append(days)
            self.gap.append(gap)

    def at_face_value(self) -> Field:
        """The same builds and prices with the times that the published evidence would use."""
        times = [
            replace(time, chosen=time.published or time.chosen, published=None)
            for time in self.times
            if time is not None
        ]
        return Field(self.model, self.builds, times, self.prices, "published")

    @cached_property
    def rankable(self) -> list[int]:
        """Builds that have a price and a usable time."""
        return [i for i, gap in enumerate(self.gap) if gap is None]

    @cached_property
    def by_cost(self) -> list[int]:
        """Rankable builds, cheapest first; the faster of two at one price."""
        return sorted(self.rankable, key=lambda i: (self.cents[i], self.days[i]))

    @cached_property
    def by_days(self) -> list[int]:
        """Rankable builds, fastest first; the cheaper of two as fast as each other."""
        return sorted(self.rankable, key=lambda i: (self.days[i], self.cents[i]))

    @cached_property
    def by_experiment_cost(self) -> list[int]:
        """Rankable builds, cheapest an experiment first. The lifetime is a common factor."""
        weight, days = self.experiment_weight, self.days
        return sorted(self.rankable, key=lambda i: (weight[i], days[i]))

    @cached_property
    def experiment_weight(self) -> list[float]:
        """Overall cents x days: proportional to the cost of an experiment."""
        return [cents * days for cents, days in zip(self.cents, self.days, strict=True)]

    @cached_property
    def gaps(self) -> dict[str, list[int]]:
        """The builds that can never be ranked, by reason."""
        found: dict[str, list[int]] = {reason: [] for reason in REASONS[2:]}
        for i, gap in enumerate(self.gap):
            if gap is not None:
                found[gap].append(i)
        return found

    def has_quote(self, i: int) -> tuple[bool, bool]:
        """Whether the GPU and the host of build ``i`` have a price."""
        return self.gpu_quotes[i] is not None, self.host_quotes[i] is not None

    def cost_usd(self, i: int) -> Decimal | None:
        """The overall cost of build ``i``; None without a price."""
        cents = self.cents[i]
        return None if cents == NO_PRICE else (Decimal(cents) / 100).quantize(CENT)

    def cents_range(self, i: int) -> tuple[int, int]:
        """The overall cost of build ``i`` at both ends of its price ranges, in US cents."""
        cents = self.cents[i]
        if cents == NO_PRICE or not isinstance(self.prices, PriceBook):
            return cents, cents
        gpu_key, host_key = price_keys(self.builds[i])
        gpu, host = self.prices.ranges.get(gpu_key), self.prices.ranges.get(host_key)
        if gpu is None or host is None:
            return cents, cents
        build = self.builds[i]
        return (
            build_cents(build, gpu.low_usd, host.low_usd),
            build_cents(build, gpu.high_usd, host.high_usd),
        )

    def outlying_prices(self, i: int) -> frozenset[str]:
        """The kinds of items of build ``i`` whose price is far from others as good."""
        if not isinstance(self.prices, PriceBook):
            return frozenset()
        ranges = self.prices.ranges
        keys = price_keys(self.builds[i])
        return frozenset(key[0] for key in keys if key in ranges and ranges[key].outlying)

    @cached_property
    def costs_in_order(self) -> list[int]:
        """The cents of `by_cost`, to find a budget by bisection."""
        return [self.cents[i] for i in self.by_cost]

    @cached_property
    def cost_front(self) -> list[int]:
        """The rankable builds that no other one beats on overall cost and on time at once."""
        return _staircase(self.by_cost, self.cents, self.days)

    def order(self, rule: str) -> list[int]:
        """The rankable builds in the order of a rule."""
        if rule == "days":
            return self.by_days
        return self.by_cost if rule == "cost" else self.by_experiment_cost


def price_keys(build: Build) -> tuple[tuple[str, str], tuple[str, str]]:
    """Where the price of a build's GPU and that of its host stand; one place for a server."""
    host_id = build.host.host_id
    if build.host.gpu_id is not None:
        return ("server", host_id), ("server", host_id)
    return ("gpu", build.gpu.gpu_id), ("host", host_id)


def build_cents(build: Build, gpu_price_usd: Decimal, host_price_usd: Decimal) -> int:
    """The overall cost in US cents: the whole server, or the host and the GPUs to be bought."""
    if build.host.gpu_id is not None:
        return int(host_price_usd * 100)
    count = build.gpu_count - build.gpus_owned
    return int(overall_cost_usd(host_price_usd, gpu_price_usd, count) * 100)


def _gap(time: BestTime | None, cents: int, evidence: str) -> tuple[str | None, float]:
    """Why a build cannot be ranked at all, and its days."""
    chosen = time.chosen if time is not None else None
    if chosen is None:
        return "no-time", 0.0
    if chosen.status == "infeasible":
        return "does-not-fit", 0.0
    if chosen.status != "ok" or chosen.training_days is None:
        return "no-time", 0.0
    if evidence == "sound" and chosen.verdict == "implausible":
        return "implausible-time", chosen.training_days
    return "no-price" if cents == NO_PRICE else None, chosen.training_days


def rank(field: Field, question: Question) -> Ranking:
    """Answer one question about a field of builds."""
    order = field.order(question.rule)
    over: Sequence[int] = ()
    slow: Sequence[int] = ()
    if question.budget_usd is not None:
        budget = int(question.budget_usd * 100)
        over = field.by_cost[bisect_right(field.costs_in_order, budget) :]
        if over:
            cents = field.cents
            order = [i for i in order if cents[i] <= budget]
    if question.max_days is not None:
        days, limit = field.days, question.max_days
        slow = [i for i in order if days[i] > limit]
        if slow:
            order = [i for i in order if days[i] <= limit]
    return Ranking(field, question, order, over, slow)


def _staircase(order: Sequence[int], cost: Sequence[float], days: Sequence[float]) -> list[int]:
    """Of builds in order of cost those that are faster than every cheaper one, equals included."""
    front: list[int] = []
    best_days, best_cost = float("inf"), -1.0
    for i in order:
        if days[i] < best_days:
            best_days, best_cost = days[i], cost[i]
        elif days[i] > best_days or cost[i] != best_cost:
            continue
        front.append(i)
    return front


class Ranking:
    """The answer: which builds, in which order, and which not. Holds indices into the field."""

    def __init__(
        self,
        field: Field,
        question: Question,
        order: Sequence[int],
        over_budget: Sequence[int],
        too_slow: Sequence[int],
    ) -> None:
        self.field = field
        self.question = question
        self.order = order
        """Build indices, best first."""
        self._reasons: tuple[tuple[str, Sequence[int]], ...] = (
            ("over-budget", over_budget),
            ("too-slow", too_slow),
            *field.gaps.items(),
        )

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def excluded_counts(self) -> dict[str, int]:
        """How many builds are left out, by reason; reasons that hit nobody are absent."""
        return {reason: len(builds) for reason, builds in self._reasons if builds}

    @cached_property
    def excluded_order(self) -> list[tuple[int, str]]:
        """Every left-out build with its reason, grouped by reason."""
        return [(i, reason) for reason, builds in self._reasons for i in builds]

    @cached_property
    def front(self) -> frozenset[int]:
        """The builds that no other ranked build beats on cost and on time at once.

        Cost is the overall cost, or the cost per experiment where that is the rule.
        """
        field, question = self.field, self.question
        if question.rule == "experiment-cost":
            ranked = set(self.order)
            order = [i for i in field.by_experiment_cost if i in ranked]
            return frozenset(_staircase(order, field.experiment_weight, field.days))
        # What beats a build on cost and time is inside every limit that the build is inside, so
        # the front of all builds, cut at the limits, is the front of those within them.
        cents, days = field.cents, field.days
        budget = None if question.budget_usd is None else int(question.budget_usd * 100)
        limit = question.max_days
        return frozenset(
            i
            for i in field.cost_front
            if (budget is None or cents[i] <= budget) and (limit is None or days[i] <= limit)
        )

    def row(self, position: int) -> RankedRow:
        """The build at ``position`` (0 is the best), in full."""
        i = self.order[position]
        field = self.field
        time, gpu_quote, host_quote = field.times[i], field.gpu_quotes[i], field.host_quotes[i]
        assert time is not None and time.chosen is not None  # _gap keeps the others out
        assert gpu_quote is not None and host_quote is not None
        chosen = time.chosen
        days = field.days[i]
        overall = Decimal(field.cents[i]) / 100
        cents_low, cents_high = field.cents_range(i)
        low, high = chosen.training_days_low, chosen.training_days_high
        return RankedRow(
            rank=position + 1,
            build=field.builds[i],
            gpu_quote=gpu_quote,
            host_quote=host_quote,
            time=chosen,
            overall_cost_usd=overall.quantize(CENT),
            overall_cost_low_usd=(Decimal(cents_low) / 100).quantize(CENT),
            overall_cost_high_usd=(Decimal(cents_high) / 100).quantize(CENT),
            training_days=days,
            training_days_low=days if low is None else low,
            training_days_high=days if high is None else high,
            experiment_cost_usd=experiment_cost_usd(overall, days, self.question.lifetime_years),
            on_pareto_front=i in self.front,
            outlying_prices=field.outlying_prices(i),
        )

    def rows(self, limit: int | None = None) -> list[RankedRow]:
        """The ranked builds in full, best first; at most ``limit`` of them."""
        count = len(self.order) if limit is None else min(limit, len(self.order))
        return [self.row(position) for position in range(count)]

    def excluded_row(self, position: int) -> ExcludedRow:
        """The left-out build at ``position`` of `excluded_order`, in full."""
        i, reason = self.excluded_order[position]
        field = self.field
        time = field.times[i]
        cost = field.cost_usd(i)
        chosen = time.chosen if time is not None else None
        return ExcludedRow(
            build=field.builds[i],
            reason=reason,
            detail=field.builds[i].obstacle
            or _detail(reason, cost, time, self.question, field.has_quote(i)),
            overall_cost_usd=cost,
            training_days=chosen.training_days if chosen is not None else None,
            time=chosen,
        )

    @cached_property
    def refused(self) -> list[ExcludedRow]:
        """Published times that are impossible, where a prediction stands in their place."""
        found = []
        for i, time in enumerate(self.field.times):
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
                    build=self.field.builds[i],
                    reason="implausible-time",
                    detail=f"the published {published.training_days:g} days "
                    f"{published.verdict_reason}; a prediction stands in its place",
                    overall_cost_usd=self.field.cost_usd(i),
                    training_days=published.training_days,
                    time=published,
                )
            )
        return found

    def excluded(self) -> list[ExcludedRow]:
        """Every left-out build in full, grouped by reason."""
        return [self.excluded_row(position) for position in range(len(self.excluded_order))]


def _detail(
    reason: str,
    cost: Decimal | None,
    time: BestTime | None,
    question: Question,
    has_quote: tuple[bool, bool],
) -> str:
    chosen = time.chosen if time is not None else None
    if reason == "over-budget" and cost is not None and question.budget_usd is not None:
        return f"costs ${cost:,.0f}, ${cost - question.budget_usd:,.0f} over the budget"
    if reason == "too-slow" and chosen is not None:
        return f"takes {chosen.training_days:g} days, the limit is {question.max_days:g}"
    if reason == "does-not-fit" and chosen is not None:
        return chosen.reason or "does not fit with any of the settings tried"
    if reason == "implausible-time" and time is not None and chosen is not None:
        detail = f"{chosen.training_days:g} days {chosen.verdict_reason}"
        if time.naive is not None and time.naive.training_days is not None:
            detail += f" (naive settings: {time.naive.training_days:g} days)"
        return detail
    if reason == "no-price":
        item = "GPU" if not has_quote[0] else "machine"
        return f"no price for the {item} under the chosen price rule"
    if chosen is not None and chosen.reason:
        return f"{chosen.status}: {chosen.reason}"
    return "nobody has measured this model on this machine"
