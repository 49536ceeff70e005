"""Renting instead of owning: offers by the hour, where owning breaks even, what a trial costs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import ROUND_UP, Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import price_catalog
from advisor.costs.amount_words import usd_and_cents
from advisor.costs.cost_of_owning import CENT, DAYS_PER_YEAR, HOURS_PER_DAY
from advisor.costs.price_book import STALE_DAYS
from advisor.typed_input import InputError
from price_catalog.csv_table import read_rows
from price_catalog.model import Rental
from price_catalog.providers import is_aggregated, provider_name

if TYPE_CHECKING:
    from advisor.costs.cost_of_owning import TotalCostOfOwnership


KINDS = ("on-demand", "spot", "reserved")


class RentOffer(NamedTuple):
    """What this many GPUs cost an hour under one kind of contract."""

    kind: str
    rates: tuple[Rental, ...]
    """Of each provider, the cheapest for all the GPUs first: its machine with this many, or its
    machine with one where it names no price of this many."""
    gpu_count: int

    @property
    def middle(self) -> Rental:
        """The break-even rests on this one: half of the providers ask more, half less."""
        return self.rates[len(self.rates) // 2]

    @property
    def times(self) -> int:
        """How many times the price of the middle one's machine all the GPUs cost: 1, or this many
        times the price of one."""
        return self.gpu_count // self.middle.gpu_count

    def usd(self, rate: Rental) -> Decimal:
        """An hour of all the GPUs at one of the rates."""
        return rate.price_per_hour_usd * (self.gpu_count // rate.gpu_count)

    @property
    def providers(self) -> int:
        return len(self.rates)

    @property
    def price_per_hour_usd(self) -> Decimal:
        """The middle one's, for all the GPUs."""
        return self.usd(self.middle)

    @property
    def low_usd(self) -> Decimal:
        return self.usd(self.rates[0])

    @property
    def high_usd(self) -> Decimal:
        return self.usd(self.rates[-1])


class BreakEven(NamedTuple):
    """Renting against owning, for one model on one build."""

    offer: RentOffer
    rent_per_experiment_usd: Decimal
    experiments: Decimal | None
    """From this many on owning is cheaper; None: never, running alone costs more than the rent."""
    utilisation: Decimal | None
    """The same as a share of the lifetime."""
    room: Decimal
    """How many runs the life has room for, as far as the machine is in use; 0 without a machine."""

    @property
    def never_pays(self) -> bool:
        """Whether owning is not cheaper after whole runs within the life in use, or ever."""
        return self.experiments is None or math.ceil(self.experiments) > self.room


def rates_that_count(rentals: Iterable[Rental], today: date) -> list[Rental]:
    """The rates that one gets on a day: of each provider the newest of one product, which is so
    many of one GPU under one kind of contract, in the year up to the newest of any provider.

    What a provider says itself comes before what an aggregator says of it, and a price with
    processor and memory before one without, however new; of one day the cheapest. Outliers do not
    count.
    """
    known = [rental for rental in rentals if not rental.outlier and rental.priced_on <= today]
    products: dict[tuple[str, int, str], list[Rental]] = {}
    for rental in known:
        product = (rental.gpu_id, rental.gpu_count, rental.kind)
        products.setdefault(product, []).append(rental)
    counts = set()
    for offers in products.values():
        since = max(offer.priced_on for offer in offers) - timedelta(days=STALE_DAYS - 1)
        best: dict[str, Rental] = {}
        for offer in offers:
            if offer.priced_on >= since:
                provider = provider_name(offer.provider)
                best[provider] = max(best.get(provider, offer), offer, key=_worth)
        counts |= {offer.rental_id for offer in best.values()}
    return [rental for rental in known if rental.rental_id in counts]


def _worth(rental: Rental) -> tuple[bool, bool, date, Decimal, str]:
    """Which of a provider's rates of one product comes first; larger is first."""
    own = not is_aggregated(rental)
    usd = rental.price_per_hour_usd
    return rental.leaves_out is None, own, rental.priced_on, -usd, rental.rental_id


def rent_offers(
    rentals: Iterable[Rental], gpu_id: str, gpu_count: int, *, today: date
) -> tuple[RentOffer, ...]:
    """What the GPUs cost to rent: on demand, spot and reserved; () where no source says. Strangers'
    machines are no such offer, nor is a price without processor and memory where others have them.

    By `rates_that_count`. Of each provider the machine with exactly this many GPUs, or else this
    many times the price of one: providers that name one price rent out several at that, and the
    few that name more ask another price than the many.
    """
    usable = rates_that_count((rental for rental in rentals if rental.gpu_id == gpu_id), today)
    found: list[RentOffer] = []
    for kind in KINDS:
        every = [r for r in usable if r.kind == kind and r.gpu_count in (1, gpu_count)]
        every = [rental for rental in every if rental.leaves_out is None] or every
        newest = max((rental.priced_on for rental in every), default=today)
        every = [r for r in every if r.priced_on > newest - timedelta(days=STALE_DAYS)]
        every.sort(key=lambda rental: rental.gpu_count)
        own = {provider_name(rental.provider): rental for rental in every}
        if own:
            offer = RentOffer(kind, tuple(own.values()), gpu_count)
            rates = sorted(offer.rates, key=lambda rate: (offer.usd(rate), rate.rental_id))
            found.append(offer._replace(rates=tuple(rates)))
    return tuple(found)


def reserved_usd(price_per_hour_usd: Decimal, years: Decimal) -> Decimal:
    """What a reservation costs: every hour of its years, used or not."""
    return price_per_hour_usd * HOURS_PER_DAY * DAYS_PER_YEAR * years


def rented_usd(price_per_hour_usd: Decimal, training_days: float, experiments: Decimal) -> Decimal:
    """What this many training runs cost by the hour."""
    return price_per_hour_usd * HOURS_PER_DAY * Decimal(str(training_days)) * experiments


def break_even(
    own: TotalCostOfOwnership | None, offer: RentOffer, training_days: float
) -> BreakEven:
    """From how many training runs on, and from which utilisation on, owning is cheaper; of what
    nobody can own (None) the rent by the hour alone."""
    days = Decimal(str(training_days))
    each_usd = rented_usd(offer.price_per_hour_usd, training_days, Decimal(1))
    if own is None:
        return BreakEven(offer, each_usd, None, None, Decimal(0))
    room, running = own.experiments(training_days), own.electricity_usd_per_day
    experiments = utilisation = None
    if offer.kind == "reserved":
        # Paid whole, like the machine: one of the two is cheaper from the first run on.
        whole_usd = reserved_usd(offer.price_per_hour_usd, own.terms.lifetime_years)
        each_usd = whole_usd / room
        if own.life_usd is not None and own.life_usd <= whole_usd:
            experiments = utilisation = Decimal(0)
    elif running is not None and each_usd > running * days:
        experiments = own.fixed_usd / (each_usd - running * days)
        utilisation = experiments * days / (own.terms.lifetime_years * DAYS_PER_YEAR)
    return BreakEven(offer, each_usd, experiments, utilisation, room)


MINUTES = 30
"""Of measuring, unless somebody says otherwise."""
SETUP_MINUTES = 20
"""Longest that the packages may take; then the setup ends with an error, and so does the rent."""
START_MINUTES = 10
"""What a provider may bill before the setup begins."""
IDLE_MINUTES = 5
"""After so long without work SkyPilot gives the machine back."""


class SkyPrice(NamedTuple):
    """What this many GPUs cost an hour on demand, and the most that one task can cost."""

    offer: RentOffer
    minutes: int
    """Of measuring: the task's own timeout."""

    @property
    def billed_minutes(self) -> int:
        """Everything that a provider may bill: start, setup, measuring, idling."""
        return self.minutes + SETUP_MINUTES + START_MINUTES + IDLE_MINUTES

    @property
    def most_usd(self) -> Decimal:
        """At the middle price, which the task does not let SkyPilot exceed: half of the providers
        ask less."""
        usd = self.offer.price_per_hour_usd * self.billed_minutes / 60
        return usd.quantize(CENT, rounding=ROUND_UP)

    def words(self) -> str:
        """``$2.99 an hour ($2.49 to $4.10, 6 providers, August 2026); at most $3.24 ...``."""
        offer = self.offer
        low, high = usd_and_cents(offer.low_usd), usd_and_cents(offer.high_usd)
        spread = "" if low == high else f"{low} to {high}, "
        providers = "1 provider" if offer.providers == 1 else f"{offer.providers} providers"
        return (
            f"{usd_and_cents(offer.price_per_hour_usd)} an hour ({spread}{providers}, "
            f"{offer.middle.priced_on:%B %Y}); at most {usd_and_cents(self.most_usd)} for "
            f"{self.billed_minutes} minutes with start, setup and idling"
        )


@cache
def skypilot_names() -> dict[str, str]:
    """What SkyPilot calls each GPU, by id; GPUs of which nothing says are absent."""
    path = Path(price_catalog.__path__[0]) / "skypilot_names.csv"
    rows = read_rows(path, ("gpu_id", "skypilot"))
    return {row.text("gpu_id"): row.text("skypilot") for row in rows}


def price_of(
    rentals: Iterable[Rental], gpu_id: str, gpu_count: int, minutes: float, *, today: date
) -> SkyPrice:
    """What it costs by the store's rentals. Raises InputError where no provider rents them out on
    demand in one machine."""
    whole = (rental for rental in rentals if rental.gpu_count == gpu_count)
    for offer in rent_offers(whole, gpu_id, gpu_count, today=today):
        if offer.kind == "on-demand":
            return SkyPrice(offer, math.ceil(minutes))
    raise InputError(
        f"no price is known for renting {gpu_count} x {gpu_id} in one machine on demand, so "
        "nothing tells what it may cost: advisor prices refresh, or another --gpu or --gpus"
    )


class Line(NamedTuple):
    """Cost in US dollars as it grows with the number of training runs."""

    name: str
    at_none_usd: float
    each_usd: float

    @property
    def label(self) -> str:
        return "own" if self.name == "own" else f"rent {self.name}"

    def usd(self, experiments: float) -> float:
        return self.at_none_usd + self.each_usd * experiments


def cost_lines(
    own: TotalCostOfOwnership, training_days: float, evens: Iterable[BreakEven]
) -> list[Line]:
    """Owning one build and each way to rent it."""
    running, lines = own.electricity_usd_per_day, []
    if running is not None:
        each = running * Decimal(str(training_days))
        lines.append(Line("own", float(own.fixed_usd), float(each)))
    for offer, each_usd, *_ in evens:
        if offer.kind == "reserved":
            whole = reserved_usd(offer.price_per_hour_usd, own.terms.lifetime_years)
            lines.append(Line("reserved", float(whole), 0.0))
        else:
            lines.append(Line(offer.kind, 0.0, float(each_usd)))
    return lines
