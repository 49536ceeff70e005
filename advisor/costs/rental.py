"""Renting instead of owning: the same GPUs by the hour, and where the two break even (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from advisor.costs.cost import DAYS_PER_YEAR, HOURS_PER_DAY
from advisor.costs.price_book import STALE_DAYS
from price_catalog.model import Rental
from price_catalog.providers import provider_name

if TYPE_CHECKING:
    from advisor.costs.tco import TotalCostOfOwnership

KINDS = ("on-demand", "spot", "reserved")


@dataclass(frozen=True, slots=True, kw_only=True)
class RentOffer:
    """What so many GPUs cost an hour under one kind of contract."""

    kind: str
    cheapest: Rental
    middle: Rental
    """By this one the break-even is told: half of the providers ask more, half less."""
    dearest: Rental
    providers: int
    price_per_hour_usd: Decimal
    """The middle one's, for all the GPUs."""
    low_usd: Decimal
    high_usd: Decimal
    times: int
    """How many of the instance make up the GPUs: 1, or, where nobody rents so many in one
    machine, so many machines of one GPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """Renting against owning, for one model on one build."""

    offer: RentOffer
    rent_per_experiment_usd: Decimal
    experiments: Decimal | None
    """From so many on owning is cheaper; None: never, running alone costs more than the rent."""
    utilisation: Decimal | None
    """The same as a share of the lifetime; above 1 the machine never pays for itself."""


def rent_offers(
    rentals: Iterable[Rental], gpu_id: str, gpu_count: int, *, today: date
) -> tuple[RentOffer, ...]:
    """What the GPUs cost to rent: on demand, spot and reserved; () where nobody says. Strangers'
    machines are no such offer, nor is a price without processor and memory where others have them.

    Of each provider its newest price in the year up to the newest one that was known on the day
    ``today``. Outliers do not count. Machines with exactly so many GPUs; only where there are none,
    several of one GPU each.
    """
    usable = [
        rental
        for rental in rentals
        if rental.gpu_id == gpu_id and not rental.outlier and rental.priced_on <= today
    ]
    found = []
    for kind in KINDS:
        offers = [rental for rental in usable if rental.kind == kind]
        times = 1
        same = [rental for rental in offers if rental.gpu_count == gpu_count]
        if not same:
            same, times = [rental for rental in offers if rental.gpu_count == 1], gpu_count
        whole = [rental for rental in same if rental.leaves_out is None]
        newest = _newest_by_provider(whole or same)
        if not newest:
            continue
        newest.sort(key=lambda rental: (rental.price_per_hour_usd, rental.rental_id))
        middle = newest[len(newest) // 2]
        found.append(
            RentOffer(
                kind=kind,
                cheapest=newest[0],
                middle=middle,
                dearest=newest[-1],
                providers=len(newest),
                price_per_hour_usd=middle.price_per_hour_usd * times,
                low_usd=newest[0].price_per_hour_usd * times,
                high_usd=newest[-1].price_per_hour_usd * times,
                times=times,
            )
        )
    return tuple(found)


def _newest_by_provider(rentals: list[Rental]) -> list[Rental]:
    if not rentals:
        return []
    since = max(rental.priced_on for rental in rentals) - timedelta(days=STALE_DAYS - 1)
    latest: dict[tuple[str, str | None], Rental] = {}
    for rental in rentals:
        if rental.priced_on < since:
            continue
        key = (provider_name(rental.provider), rental.instance)
        held = latest.get(key)
        if held is None or (rental.priced_on, rental.rental_id) > (held.priced_on, held.rental_id):
            latest[key] = rental
    return list(latest.values())


def reserved_usd(price_per_hour_usd: Decimal, years: Decimal) -> Decimal:
    """What a reservation costs: every hour of its years, used or not."""
    return price_per_hour_usd * HOURS_PER_DAY * DAYS_PER_YEAR * years


def rented_usd(price_per_hour_usd: Decimal, training_days: float, experiments: Decimal) -> Decimal:
    """What so many training runs cost by the hour."""
    return price_per_hour_usd * HOURS_PER_DAY * Decimal(str(training_days)) * experiments


def break_even(own: TotalCostOfOwnership, offer: RentOffer, training_days: float) -> BreakEven:
    """From how many training runs on, and from which utilisation on, owning is cheaper."""
    each_usd = rented_usd(offer.price_per_hour_usd, training_days, Decimal(1))
    if offer.kind == "reserved":
        each_usd = _reserved_each_usd(own, offer, training_days)
    running = own.electricity_usd_per_day
    days = Decimal(str(training_days))
    experiments = utilisation = None
    if offer.kind == "reserved":
        # Paid whole, like the machine: one of the two is cheaper from the first run on.
        whole_usd = reserved_usd(offer.price_per_hour_usd, own.terms.lifetime_years)
        if own.life_usd is not None and own.life_usd <= whole_usd:
            experiments = utilisation = Decimal(0)
    elif running is not None and each_usd > running * days:
        experiments = own.fixed_usd / (each_usd - running * days)
        utilisation = experiments * days / (own.terms.lifetime_years * DAYS_PER_YEAR)
    return BreakEven(
        offer=offer,
        rent_per_experiment_usd=each_usd,
        experiments=experiments,
        utilisation=utilisation,
    )


def _reserved_each_usd(
    own: TotalCostOfOwnership, offer: RentOffer, training_days: float
) -> Decimal:
    whole_usd = reserved_usd(offer.price_per_hour_usd, own.terms.lifetime_years)
    return whole_usd / own.experiments(training_days)
