"""What it costs to measure on a rented GPU: by the hour, and at most (pure)."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_UP, Decimal
from functools import cache
from pathlib import Path

import price_catalog
from advisor.costs.amounts import usd_and_cents
from advisor.costs.rental import RentOffer, rent_offers
from advisor.parse import InputError
from price_catalog.model import Rental

MINUTES = 30
"""Of measuring, unless somebody says otherwise."""
SETUP_MINUTES = 20
"""Longest that the packages may take; then the setup ends with an error, and so does the rent."""
START_MINUTES = 10
"""What a provider may bill before the setup begins."""
IDLE_MINUTES = 5
"""After so long without work SkyPilot gives the machine back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkyPrice:
    """What so many GPUs cost an hour on demand, and the most that one task can cost."""

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
        return _cents(self.offer.price_per_hour_usd * self.billed_minutes / 60)

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


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), rounding=ROUND_UP)


def skypilot_name(gpu_id: str) -> str | None:
    """What SkyPilot calls a GPU (price_catalog/skypilot_names.csv); None where nothing says."""
    return _skypilot_names().get(gpu_id)


@cache
def _skypilot_names() -> dict[str, str]:
    path = Path(price_catalog.__path__[0]) / "skypilot_names.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {row["gpu_id"]: row["skypilot"] for row in csv.DictReader(file)}


def price_of(
    rentals: Iterable[Rental], gpu_id: str, gpu_count: int, minutes: float, *, today: date
) -> SkyPrice:
    """What it costs by the store's rentals. Raises InputError where nobody rents them out on
    demand in one machine."""
    for offer in rent_offers(rentals, gpu_id, gpu_count, today=today):
        if offer.kind == "on-demand" and offer.times == 1:
            return SkyPrice(offer=offer, minutes=math.ceil(minutes))
    raise InputError(
        f"no price is known for renting {gpu_count} x {gpu_id} in one machine on demand, so "
        "nothing tells what it may cost: advisor prices refresh, or another --gpu or --gpus"
    )
