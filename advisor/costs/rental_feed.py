"""Today's rental prices of the clouds, through the gpuhunt package, as dated rows."""

from __future__ import annotations

import importlib
import logging
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from advisor.parse import install_words
from price_catalog.model import Gpu, Rental, Source
from price_catalog.providers import CloudNames, provider_name, rental_kind

TIMEOUT_S = 30.0
OUTLYING = 4
"""A price per GPU so many times the middle one, or so many times less, is an outlier."""
SOURCE = Source(
    source_id="gpuhunt",
    title="gpuhunt, catalogue of cloud offers",
    url="https://github.com/dstackai/gpuhunt",
    how_measured="The providers' own offers as the gpuhunt package collects them; of each instance "
    "the cheapest region. Offers whose GPU has several forms and does not say which were left out.",
    licence="MPL-2.0",
    published_on=None,
)


class RefreshError(ValueError):
    """No price could be renewed; the message is one line that says why and what stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What the providers said."""

    rentals: tuple[Rental, ...]
    answered: tuple[str, ...]
    failed: tuple[str, ...]
    """Providers whose prices could not be read; the others' are there all the same."""
    left_out: int
    """Offers of GPUs that we do not know, or whose form is not stated."""


def fetch_rentals(gpus: Iterable[Gpu], *, today: date) -> Refreshed:
    """Ask for the prices of today. Raises RefreshError where nothing could be had."""
    try:
        gpuhunt = importlib.import_module("gpuhunt")
    except ImportError:
        raise RefreshError(
            "renewing prices needs the gpuhunt package, and those that are there stay; "
            f"{install_words('prices')}"
        ) from None
    with _quietly():
        catalog = gpuhunt.Catalog(auto_reload=False)
        try:
            catalog.load()
        except Exception as error:
            cause = error.__cause__ or error
            words = " ".join(f"{type(cause).__name__}: {cause}".split())[:120]
            raise RefreshError(
                f"no provider's prices could be read ({words}): check the network; the prices "
                "that are there stay"
            ) from None
        return _collect(catalog, CloudNames(gpus), today)


def _collect(catalog: Any, names: CloudNames, today: date) -> Refreshed:
    cheapest: dict[tuple[str, str, str, int, str], Rental] = {}
    answered, left_out = [], 0
    for provider in sorted(catalog.catalog):
        try:
            offers = catalog.query(provider=[provider], min_gpu_count=1)
        except Exception:
            continue  # told as failed below; the others are kept
        answered.append(provider)
        for offer in offers:
            rental = _rental(offer, names, today)
            if rental is None:
                left_out += 1
                continue
            key = (
                rental.provider,
                rental.instance or "",
                rental.gpu_id,
                rental.gpu_count,
                rental.kind,
            )
            held = cheapest.get(key)
            if held is None or rental.price_per_hour_usd < held.price_per_hour_usd:
                cheapest[key] = rental
    expected = _providers() or catalog.catalog
    return Refreshed(
        rentals=_marked(cheapest.values()),
        answered=tuple(answered),
        failed=tuple(sorted(set(expected) - set(answered))),
        left_out=left_out,
    )


def _providers() -> tuple[str, ...]:
    """Those that gpuhunt publishes a catalogue of; () where it no longer says."""
    try:
        module = importlib.import_module("gpuhunt._internal.catalog")
        return tuple(module.OFFLINE_PROVIDERS)
    except (ImportError, AttributeError):
        return ()


def _rental(offer: Any, names: CloudNames, today: date) -> Rental | None:
    if not offer.gpu_name or not offer.gpu_count:
        return None
    gpu_id = names.gpu_id(offer.provider, offer.instance_name, offer.gpu_name, offer.gpu_memory)
    price = Decimal(str(offer.price))
    if gpu_id is None or not price.is_finite() or not 0 < price < 100_000:
        return None
    kind = rental_kind(offer.provider, "spot" if offer.spot else "on-demand")
    ids = (str(today), offer.provider, offer.instance_name, offer.location)
    return Rental(
        rental_id=f"gpuhunt:{':'.join(ids)}:{offer.gpu_count}:{kind}",
        provider=provider_name(offer.provider),
        instance=offer.instance_name,
        gpu_id=gpu_id,
        gpu_count=offer.gpu_count,
        price_per_hour_usd=max(
            price.quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP), Decimal("0.0001")
        ),
        kind=kind,
        region=offer.location,
        priced_on=today,
        source_id=SOURCE.source_id,
        url=None,
        note=None,
        origin="local",
    )


def _marked(rentals: Iterable[Rental]) -> tuple[Rental, ...]:
    """The same, with those marked that are far from the middle of their GPU and kind."""

    groups: dict[tuple[str, str], list[Rental]] = {}
    for rental in rentals:
        groups.setdefault((rental.gpu_id, rental.kind), []).append(rental)
    found = []
    for group in groups.values():
        each = sorted(rental.price_per_hour_usd / rental.gpu_count for rental in group)
        middle = each[len(each) // 2]
        for rental in group:
            price = rental.price_per_hour_usd / rental.gpu_count
            far = len(each) >= 3 and not middle / OUTLYING <= price <= middle * OUTLYING
            found.append(rental._replace(outlier=far))
    return tuple(sorted(found, key=lambda rental: rental.rental_id))


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the package's tracebacks in the log, and without waiting for ever."""
    logger = logging.getLogger("gpuhunt")
    before, waited = logger.level, socket.getdefaulttimeout()
    logger.setLevel(logging.CRITICAL + 1)
    socket.setdefaulttimeout(TIMEOUT_S)
    try:
        yield
    finally:
        socket.setdefaulttimeout(waited)
        logger.setLevel(before)
