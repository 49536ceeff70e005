"""What a build costs by the quotes of its parts, and whether its price still stands (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from advisor.costs.cost import overall_cost_usd
from advisor.costs.price_book import PriceBook
from price_catalog.builds import Build
from price_catalog.model import Quote


def taken_at_its_word(quote: Quote) -> bool:
    """Whether somebody sells at this price, where no book of prices tells."""
    return True


def is_overtaken(
    build: Build, asked: Quote | None, prices: Mapping[tuple[str, str], Quote]
) -> bool:
    """Whether the cards of a whole machine cost as much by a newer quote of somebody who sells
    them. What the user was asked is the user's affair."""
    if build.host.gpu_id is None or asked is None or asked.origin == "local":
        return False
    card = prices.get(("gpu", build.gpu.gpu_id))
    return (
        isinstance(prices, PriceBook)
        and card is not None
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
    count = build.gpu_count - build.gpus_owned
    return int(overall_cost_usd(host_price_usd, gpu_price_usd, count) * 100) * build.machines
