"""Every build for one model with its cost and its time, in columns and sorted once (pure).

They are made anew when the model, the prices or the evidence change; `advisor.ranking.rank`
answers questions about them by filtering their orders, so that even 100,000 builds take
milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

from advisor.costs.price_book import PriceBook, PriceRange
from advisor.costs.price_today import price_today
from advisor.costs.tco import CENT
from advisor.ranking.build_prices import (
    WHOLE_WORTH,
    NamedPrices,
    build_cents,
    is_overtaken,
    price_keys,
    taken_at_its_word,
)
from advisor.ranking.question import RankRule
from advisor.ranking.times import BestTime, EvidenceRule, Model, at_face_value, on_host, under_limit
from price_catalog.builds import Build
from price_catalog.model import Quote

if TYPE_CHECKING:
    from advisor.ranking.fabric import Fabric
    from price_catalog.power import Supply

NO_PRICE = -1
Reason = Literal[
    "over-budget",
    "too-slow",
    "does-not-fit",
    "implausible-time",
    "no-time",
    "no-price",
    "cannot-be-built",
    "fit-not-known",
    "old-price",
]
"""Why a build is left out; the first two depend on the question."""
REASONS: tuple[Reason, ...] = get_args(Reason)


def gap_and_days(
    time: BestTime | None, cents: int, evidence: EvidenceRule
) -> tuple[Reason | None, float]:
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


class Candidates:
    """Every build for one model, with cost and time in columns (parallel lists by build)."""

    def __init__(
        self,
        model: Model,
        builds: Sequence[Build],
        times: Iterable[BestTime],
        prices: Mapping[tuple[str, str], Quote],
        evidence: EvidenceRule,
        network: Fabric | None = None,
        supply: Supply | None = None,
        uncounted: str | None = None,
        some_gpus: bool = False,
    ) -> None:
        """A build that cannot be put together is left out; `builds` says which those are.

        ``network`` joins the machines of builds of several; ``supply`` is the circuit that was
        asked for, under which the builds were made; ``uncounted`` is why a model of the user's own,
        kept by an earlier version, has no estimates; with ``some_gpus`` the builds are of some
        GPUs alone, since no others were asked for.
        """
        self.model = model
        self.network = network
        self.supply = supply
        self.uncounted = uncounted
        self.some_gpus = some_gpus
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
        self.gap: list[Reason | None] = []
        """Why the build can never be ranked, whatever the question; None where it can."""
        self._split: dict[RankRule, tuple[list[int], list[int]]] = {}
        self.offered: list[bool] = []
        """Whether somebody sells all of it at prices of the last year."""
        self.overtaken: list[bool] = []
        """Whether a whole machine's price is no more than its cards alone cost since: nobody sells
        it so any longer."""
        is_offered = prices.is_offered if isinstance(prices, PriceBook) else taken_at_its_word
        self._given = tuple(times)
        by_gpu = {(t.gpu_id, t.gpu_count, t.machines): t for t in self._given}
        for build in builds:
            gpu_id = build.gpu.gpu_id
            machines = build.machines
            time = by_gpu.get((gpu_id, build.gpu_count * machines, machines))
            if time is not None:
                held = build.host.memory_gib
                time = on_host(time, None if held is None else held * machines)
            if time is not None and build.limit is not None:
                time = under_limit(time, build.limit)
            gpu_key, host_key = price_keys(build)
            gpu_quote, host_quote = prices.get(gpu_key), prices.get(host_key)
            cents = NO_PRICE
            if gpu_quote is not None and host_quote is not None:
                cents = build_cents(build, gpu_quote.price_usd, host_quote.price_usd)
            gap, days = gap_and_days(time, cents, evidence)
            if build.obstacle is not None:
                gap = "cannot-be-built"
            elif build.unknown:
                gap = "fit-not-known"
            overtaken = is_overtaken(build, host_quote, prices)
            self.overtaken.append(overtaken)
            self.offered.append(
                gpu_quote is not None
                and host_quote is not None
                and is_offered(gpu_quote)
                and is_offered(host_quote)
                and not overtaken
            )
            self.times.append(time)
            self.gpu_quotes.append(gpu_quote)
            self.host_quotes.append(host_quote)
            self.cents.append(cents)
            self.days.append(days)
            self.gap.append(gap)
        self._leave_out_old_prices()

    def _leave_out_old_prices(self) -> None:
        """While some builds are sold at prices of the last year, older prices say nothing.

        Where none is (few GPUs are asked for, or the catalogue has aged), they rank as they are.
        """
        prices = self.prices
        if not isinstance(prices, PriceBook) or not any(
            sold and gap is None for sold, gap in zip(self.offered, self.gap, strict=True)
        ):
            return
        for i, gap in enumerate(self.gap):
            quotes = (self.gpu_quotes[i], self.host_quotes[i])
            if gap is None and any(quote and prices.is_old(quote) for quote in quotes):
                self.gap[i] = "old-price"

    def at_face_value(self) -> Candidates:
        """The same builds and prices with the times that the published evidence would use."""
        times = at_face_value(self._given)  # not those under a power limit: it is applied anew
        return Candidates(
            self.model,
            self.builds,
            times,
            self.prices,
            "published",
            self.network,
            self.supply,
            some_gpus=self.some_gpus,
        )

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
        """Rankable builds, fastest first; of those as fast as each other whole machines, which
        one seller answers for, before the same cards at a price that was added up, unless they
        cost much more; then the cheaper. What is on sale is held against what is on sale."""
        days, cents = self.days, self.cents
        cards = [(build.cards, sold) for build, sold in zip(self.builds, self.offered, strict=True)]
        summed: dict[tuple[tuple[str, int, int], bool], int] = {}
        for i in self.rankable:
            if self.is_summed(i):
                summed[cards[i]] = min(cents[i], summed.get(cards[i], cents[i]))

        def place(i: int) -> int:
            if self.is_summed(i):
                return 1
            least = summed.get(cards[i])
            return 0 if least is None or cents[i] <= WHOLE_WORTH * least else 2

        return sorted(self.rankable, key=lambda i: (days[i], place(i), cents[i]))

    @cached_property
    def by_experiment_cost(self) -> list[int]:
        """Rankable builds, cheapest an experiment first. The lifetime is a common factor."""
        weight, days = self.experiment_weight, self.days
        return sorted(self.rankable, key=lambda i: (weight[i], days[i]))

    @cached_property
    def placed_cents(self) -> list[float]:
        """What the order by cost goes by: cents, of a sum those of a whole machine before it."""
        return self._placed("cost")

    @cached_property
    def placed_weight(self) -> list[float]:
        """The same for the cost of an experiment, in the unit of `experiment_weight`."""
        return self._placed("experiment-cost")

    def _placed(self, rule: RankRule) -> list[float]:
        value = self._values[rule]
        placed = list(value)
        for i, first in self._behind[rule].items():
            placed[i] = max(value[i], value[first])
        return placed

    @cached_property
    def _values(self) -> Mapping[RankRule, Sequence[float]]:
        return {"cost": self.cents, "experiment-cost": self.experiment_weight}

    @cached_property
    def _named(self) -> Mapping[RankRule, NamedPrices]:
        """What sellers ask for whole machines, on sale or not, by what is least in an order."""
        kinds = {i: (self.builds[i].cards, self.offered[i]) for i in self.rankable}
        named = [i for i in self.rankable if not self.is_summed(i)]
        return {rule: NamedPrices(value, kinds, named) for rule, value in self._values.items()}

    @cached_property
    def _behind(self) -> Mapping[RankRule, Mapping[int, int]]:
        """The sums that stand behind named prices, and the dearest of those."""
        summed = [i for i in self.rankable if self.is_summed(i)]
        return {
            rule: {i: j for i in summed if (j := named.before(i)) is not None}
            for rule, named in self._named.items()
        }

    def within(self, rule: RankRule, order: list[int], budget_cents: int) -> list[int]:
        """What of an order a budget pays. No sum stands behind a price that is over the budget."""
        cents = self.cents
        order = [i for i in order if cents[i] <= budget_cents]
        if rule == "days":
            return order
        behind, named = self._behind[rule], self._named[rule]
        alone = [i for i in order if i in behind and cents[behind[i]] > budget_cents]
        if not alone:
            return order
        value = self._values[rule]
        placed = self.placed_cents if rule == "cost" else self.placed_weight
        paid = {
            i: next((value[j] for j in named.up_to(i) if cents[j] <= budget_cents), value[i])
            for i in alone
        }
        anew = {i: max(value[i], other) for i, other in paid.items()}
        return sorted(order, key=lambda i: (anew.get(i, placed[i]), self.is_summed(i)))

    @cached_property
    def _cheapest_named_first(self) -> dict[RankRule, list[int]]:
        def ordered(least: list[int], placed: list[float]) -> list[int]:
            return sorted(least, key=lambda i: (placed[i], self.is_summed(i)))

        return {
            "cost": ordered(self.by_cost, self.placed_cents),
            "experiment-cost": ordered(self.by_experiment_cost, self.placed_weight),
        }

    @cached_property
    def experiment_weight(self) -> list[float]:
        """Overall cents x days: proportional to the cost of an experiment."""
        return [cents * days for cents, days in zip(self.cents, self.days, strict=True)]

    def is_summed(self, i: int) -> bool:
        """Whether the price of build ``i`` is a sum of parts or options that nobody quoted."""
        quote = self.host_quotes[i]
        return self.builds[i].host.gpu_id is None or (quote is not None and quote.is_summed)

    def unpriced(self, i: int) -> tuple[str, str]:
        """What of build ``i`` needs a quote: ``GPU`` or ``machine``, and its id."""
        build = self.builds[i]
        if build.host.gpu_id is None and not self.has_quote(i)[0]:
            return "GPU", build.gpu.gpu_id
        return "machine", build.host.host_id

    def interval(self, i: int) -> tuple[float, float]:
        """The least and the most days of build ``i``; its days where no interval is known."""
        time, days = self.times[i], self.days[i]
        assert time is not None and time.chosen is not None  # only what was timed is asked for
        low, high = time.chosen.training_days_low, time.chosen.training_days_high
        return (
            days if low is None else min(low, days),
            days if high is None else max(high, days),
        )

    @cached_property
    def low_days(self) -> list[float]:
        """The least days of each rankable build; undefined elsewhere."""
        low = list(self.days)
        for i in self.rankable:
            low[i] = self.interval(i)[0]
        return low

    @cached_property
    def widest(self) -> float:
        """How many times its least days a rankable build takes, at most."""
        days, low = self.days, self.low_days
        return max((days[i] / low[i] for i in self.rankable if low[i] > 0), default=1.0)

    @cached_property
    def gaps(self) -> dict[Reason, list[int]]:
        """The builds that can never be ranked, by reason."""
        found: dict[Reason, list[int]] = {reason: [] for reason in REASONS[2:]}
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

    def cents_today(self, i: int) -> tuple[int, int]:
        """The least and the most that build ``i`` costs if it is ordered today, in US cents; its
        cost where prices are taken at their word. All its prices are taken to move together."""
        gpu, host = self.gpu_quotes[i], self.host_quotes[i]
        as_of = self.prices.as_of if isinstance(self.prices, PriceBook) else None
        if gpu is None or host is None or as_of is None:
            return self.cents[i], self.cents[i]
        build = self.builds[i]
        cards = price_today(gpu, build.gpu, as_of)
        machine = price_today(host, build.gpu, as_of) if host is not gpu else cards
        return (
            build_cents(build, cards.low_usd, machine.low_usd),
            build_cents(build, cards.high_usd, machine.high_usd),
        )

    def told_prices(self, i: int) -> tuple[tuple[PriceRange | None, Quote | None], ...]:
        """Of the GPU and the host of build ``i``: the range that the price stands in, and a newer
        quote that does not count."""
        if not isinstance(self.prices, PriceBook):
            return (None, None), (None, None)
        ranges, newer = self.prices.ranges, self.prices.newer
        gpu, host = price_keys(self.builds[i])
        return (ranges.get(gpu), newer.get(gpu)), (ranges.get(host), newer.get(host))

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
        return staircase(self.by_cost, self.cents, self.days)

    @cached_property
    def offered_front(self) -> list[int]:
        """The same of the builds that somebody sells at prices of the last year."""
        sold = [i for i in self.by_cost if self.offered[i]]
        return staircase(sold, self.cents, self.days)

    @cached_property
    def alike(self) -> Mapping[tuple[str, int, int], Sequence[int]]:
        """The rankable builds of the same cards: several where only their hosts tell them apart."""
        found: dict[tuple[str, int, int], list[int]] = {}
        for i in self.rankable:
            found.setdefault(self.builds[i].cards, []).append(i)
        return found

    def order(self, rule: RankRule) -> list[int]:
        """The rankable builds in the order of a rule."""
        return self.by_days if rule == "days" else self._cheapest_named_first[rule]

    def offered_order(self, rule: RankRule) -> tuple[list[int], list[int]]:
        """The same in two: what somebody sells at a price of the last year, and the rest."""
        if rule not in self._split:
            order, offered = self.order(rule), self.offered
            self._split[rule] = (
                [i for i in order if offered[i]],
                [i for i in order if not offered[i]],
            )
        return self._split[rule]


def staircase(order: Sequence[int], cost: Sequence[float], days: Sequence[float]) -> list[int]:
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
