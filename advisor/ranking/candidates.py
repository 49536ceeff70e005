"""Every build for one model with its cost and its time, in columns (pure).

They are made again when the model, the prices or the evidence change; `advisor.ranking.row_order`
answers questions about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from advisor.costs.cost_of_owning import (
    CENT,
    CostTerms,
    TotalCostOfOwnership,
    total_cost_of_ownership,
)
from advisor.costs.price_book import PriceBook, PriceRange
from advisor.costs.price_interval import price_today
from advisor.ranking.times import BestTime, EvidenceRule, Model, on_host, under_limit
from price_catalog.builds import Build, rack_units_of
from price_catalog.model import Quote
from price_catalog.power import wall_w

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
Availability = Literal["orderable", "not-delivered", "out-of-date", "no-seller"]
"""Whether a build can be ordered at its price: from a seller who delivers; from sellers of whom
one is not known to deliver where the user buys; not any longer (it expired, is a year old, or its
GPUs alone cost as much now); or never, since people who do not sell it name the price."""
AVAILABILITIES: tuple[Availability, ...] = get_args(Availability)


ABOUT = 1.02
"""What was added up of parts or options is not known better than that: a quote moves by more in the
two weeks that it holds. A price that a seller names for the same cards comes first where it is at
most this many times the sum. A choice, not a measurement."""


class AskedPrice(NamedTuple):
    """The price of one item of a build, and what it stands among."""

    item: str
    pieces: int
    quote: Quote
    span: PriceRange | None
    """What the quotes as good as the chosen one ask; None where prices have no ranges."""
    newer: Quote | None
    """A newer quote than the chosen one, which does not count; None where there is none."""


def is_overtaken(build: Build, asked: Quote | None, prices: PriceBook) -> bool:
    """Whether the cards of a whole machine cost as much by a newer quote of someone who sells
    them. What the user was asked is the user's affair."""
    if build.host.gpu_id is None or asked is None or asked.origin == "local":
        return False
    card = prices.get(("gpu", build.gpu.gpu_id))
    return (
        card is not None
        and prices.as_of is not None
        and card.quoted_on > asked.quoted_on
        and prices.is_offered(card)
        and card.price_usd * build.gpu_count >= asked.price_usd
    )


def price_keys(build: Build) -> tuple[tuple[str, str], tuple[str, str]]:
    """Where the price of a build's GPU and that of its host stand; one place for a server."""
    host_id = build.host.host_id
    if build.host.gpu_id is not None:
        return ("server", host_id), ("server", host_id)
    return ("gpu", build.gpu.gpu_id), ("host", host_id)


def build_cents(build: Build, gpu_price_usd: Decimal, host_price_usd: Decimal) -> int:
    """The overall cost in US cents: the whole server, or the host and the GPUs to be bought, of
    each of the machines. What joins several is not in it."""
    if build.host.gpu_id is not None:
        return int(host_price_usd * 100) * build.machines
    bought = gpu_price_usd * (build.gpu_count - build.gpus_owned)
    return int((host_price_usd + bought) * 100) * build.machines


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


def vat_in(country: str | None) -> Decimal:
    """What a budget pays beside prices, as a share of them: VAT where it is bought; 0 where that is
    not said."""
    if country is None:
        return Decimal(0)
    from price_catalog.vendors import load_countries  # late: most ask for any country

    return load_countries()[country].vat or Decimal(0)


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
        buy_in: str | None = None,
        measured_w: Mapping[str, float] | None = None,
    ) -> None:
        """A build that cannot be put together is left out; `builds` says which those are.

        ``network`` joins the machines of builds of several; ``supply`` is the circuit that was
        asked for, under which the builds were made; ``uncounted`` is why a model of the user's own,
        kept by an earlier version, has no estimates; with ``some_gpus`` the builds are of some
        GPUs alone, since no others were asked for; ``buy_in`` is the user's country, None for any;
        ``measured_w`` is what one GPU of a kind draws while it trains, where that was measured.
        """
        self.model = model
        self.network = network
        self.supply = supply
        self.uncounted = uncounted
        self.some_gpus = some_gpus
        self.buy_in = buy_in
        self.vat = vat_in(buy_in)
        self.measured_w = measured_w or {}
        self.evidence = evidence
        self.prices = prices if isinstance(prices, PriceBook) else PriceBook(prices, {})
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
        self.availability: list[Availability] = []
        self.overtaken: list[bool] = []
        """Whether a whole machine's price is no more than its cards alone cost since."""
        self._weights: tuple[CostTerms, list[float]] | None = None
        by_gpu = {(t.gpu_id, t.gpu_count, t.machines): t for t in times}
        for build in builds:
            machines = build.machines
            time = by_gpu.get((build.gpu.gpu_id, build.gpu_count * machines, machines))
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
            self.overtaken.append(is_overtaken(build, host_quote, self.prices))
            self.availability.append(self._available(gpu_quote, host_quote))
            self.times.append(time)
            self.gpu_quotes.append(gpu_quote)
            self.host_quotes.append(host_quote)
            self.cents.append(cents)
            self.days.append(days)
            self.gap.append(gap)
        self.offered = [each in AVAILABILITIES[:2] for each in self.availability]
        """Whether somebody sells all of it at prices of the last year."""
        self._leave_out_old_prices()

    def abroad(self, seller: str) -> str:
        """The country of a seller, as ``, Germany``; empty where that is the buyer's."""
        from price_catalog.vendors import country_abroad  # late: JSON and CSV need none

        return country_abroad(seller, self.buy_in)

    def _available(self, *quotes: Quote | None) -> Availability:
        """Of the build whose `overtaken` was found last."""
        if any(q is None or not self.prices.is_sold(q) for q in quotes):
            return "no-seller"
        if self.overtaken[-1] or any(q and not self.prices.is_offered(q) for q in quotes):
            return "out-of-date"
        if self.buy_in is not None:
            from price_catalog.vendors import delivery  # late: most ask for any country

            sells = {q and q.kind != "owned" and delivery(q.vendor, self.buy_in) for q in quotes}
            if sells & {"does not deliver", "not stated"}:
                return "not-delivered"
        return "orderable"

    def _leave_out_old_prices(self) -> None:
        """While some builds are sold at prices of the last year, older prices say nothing; nor do
        they beside a newer one of the same GPUs.

        Elsewhere (few GPUs are asked for, or the catalogue has aged) they rank as they are.
        """
        held = [i for i, gap in enumerate(self.gap) if gap is None]
        quotes = {i: (self.gpu_quotes[i], self.host_quotes[i]) for i in held}
        old = {i for i in held if any(q and self.prices.is_old(q) for q in quotes[i])}
        sold = any(self.offered[i] for i in held)
        newer = {self.builds[i].cards for i in held if i not in old}
        for i in old:
            if sold or self.builds[i].cards in newer:
                self.gap[i] = "old-price"

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
        """Rankable builds, fastest first; the cheaper of two that are as fast."""
        return sorted(self.rankable, key=lambda i: (self.days[i], self.cents[i]))

    @cached_property
    def configurations(self) -> Mapping[tuple[str, int, int], Sequence[int]]:
        """The rankable builds of each GPU configuration: those that can be ordered first, of these
        the cheapest."""
        at = {each: n for n, each in enumerate(AVAILABILITIES)}
        found: dict[tuple[str, int, int], list[int]] = {}
        for i in sorted(self.by_cost, key=lambda i: at[self.availability[i]]):
            found.setdefault(self.builds[i].cards, []).append(i)
        return found

    def owning(
        self,
        i: int,
        terms: CostTerms,
        *,
        gpu_w: float | None = None,
        rack_units: Decimal | None = None,
    ) -> TotalCostOfOwnership:
        """Every term of owning build ``i``. One GPU draws ``gpu_w``, else what was measured, else
        its TDP; without stated rack units a machine is hosted for nothing."""
        build, stated = self.builds[i], rack_units_of(self.builds[i].host)
        watts = wall_w(build, gpu_w or self.measured_w.get(build.gpu.gpu_id))
        if rack_units is None and stated is not None:
            rack_units = Decimal(str(stated))
        return total_cost_of_ownership(
            Decimal(self.cents[i]) / 100,
            terms,
            wall_w=None if watts is None else Decimal(str(round(watts, 3))),
            rack_units=rack_units,
        )

    def run_usd(self, i: int, terms: CostTerms) -> Decimal | None:
        """What one training run on build ``i`` costs its owner, in US dollars to the cent; None
        where electricity counts and no source states what the build draws."""
        return self.owning(i, terms).experiment_usd(self.days[i])

    def run_weights(self, terms: CostTerms) -> list[float]:
        """What grows with `run_usd`, to order builds by it; undefined where a build cannot be
        ranked."""
        if self._weights is None or self._weights[0] != terms:
            if terms.counts_price_alone:
                weights = [cents * days for cents, days in zip(self.cents, self.days, strict=True)]
            else:
                weights = [float("inf")] * len(self.cents)
                for i in self.rankable:
                    usd = self.run_usd(i, terms)
                    weights[i] = weights[i] if usd is None else float(usd)
            self._weights = terms, weights
        return self._weights[1]

    def unpriced(self, i: int) -> tuple[str, str]:
        """What of build ``i`` needs a quote: ``GPU`` or ``machine``, and its id."""
        build = self.builds[i]
        if build.host.gpu_id is None and self.gpu_quotes[i] is None:
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
    def gaps(self) -> dict[Reason, list[int]]:
        """The builds that can never be ranked, by reason."""
        found: dict[Reason, list[int]] = {reason: [] for reason in REASONS[2:]}
        for i, gap in enumerate(self.gap):
            if gap is not None:
                found[gap].append(i)
        return found

    def cost_usd(self, i: int) -> Decimal | None:
        """The overall cost of build ``i``; None without a price."""
        cents = self.cents[i]
        return None if cents == NO_PRICE else (Decimal(cents) / 100).quantize(CENT)

    def cents_today(self, i: int) -> tuple[int, int, int]:
        """The least, the median and the most that build ``i`` costs if it is ordered today, in US
        cents; its cost where prices are taken at their word. All its prices are taken to move
        together."""
        gpu, host, as_of = self.gpu_quotes[i], self.host_quotes[i], self.prices.as_of
        if gpu is None or host is None or as_of is None:
            return (self.cents[i],) * 3
        build = self.builds[i]
        cards = price_today(gpu, build.gpu, as_of)
        machine = price_today(host, build.gpu, as_of) if host is not gpu else cards
        low, middle, high = (build_cents(build, *ends) for ends in zip(cards, machine, strict=True))
        return low, middle, high

    def asked_prices(self, i: int) -> tuple[AskedPrice, ...]:
        """The prices of build ``i``: one of a whole machine, else the cards' and the host's. What
        is the user's already has none."""
        build, (gpu_key, host_key) = self.builds[i], price_keys(self.builds[i])
        bought = (build.gpu_count - build.gpus_owned) * build.machines
        asked = (
            (build.gpu.name, bought, gpu_key, self.gpu_quotes[i]),
            (build.host.label, build.machines, host_key, self.host_quotes[i]),
        )
        ranges, newer = self.prices.ranges, self.prices.newer
        return tuple(
            AskedPrice(item, pieces, quote, ranges.get(key), newer.get(key))
            for item, pieces, key, quote in (asked if gpu_key != host_key else asked[1:])
            if quote is not None and not build.host_owned
        )


def staircase(order: Iterable[int], cost: Sequence[float], days: Sequence[float]) -> list[int]:
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
