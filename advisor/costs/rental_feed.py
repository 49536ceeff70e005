"""Today's rental prices of the clouds, from the static files that dstack's gpuhunt publishes."""

from __future__ import annotations

import csv
import io
import os
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from time import monotonic
from urllib.error import HTTPError, URLError
from urllib.request import build_opener

from advisor.costs.amount_words import counted, usd_as_quoted
from advisor.costs.rental import rates_that_count
from advisor.typed_input import shown
from price_catalog.model import Gpu, Rental, Source
from price_catalog.providers import CloudNames, provider_name, rental_kind

ADDRESS = "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v3"
ADDRESS_VARIABLE = "GPUHUNT_CATALOG_URL"
"""Another address of the same files, as gpuhunt has it. Proxies are those of the environment."""
PROVIDERS = ("aws", "azure", "cloudrift", "gcp", "lambdalabs", "nebius", "oci", "runpod", "verda")
_TEXT, _NUMBER = "[^\ufffd]{1,120}", r"(?=[\d.]*[1-9])\d{0,5}(\.\d*)?([eE][+-]?\d\d?)?"
_FORMS = {
    "instance_name": _TEXT,
    "location": f"({_TEXT})?",
    "price": _NUMBER,
    "gpu_count": r"([1-9]\d?|1[01]\d|12[0-8])(\.0*)?",
    "gpu_name": _TEXT,
    "gpu_memory": _NUMBER,
    "spot": "True|False",
}
"""What each column of an offer holds."""
COLUMNS = tuple(_FORMS)
TIMEOUT_S, DEADLINE_S = 20.0, 90.0
"""Of one answer that does not go on; of one file."""
MOST_BYTES, MOST_UNPACKED_BYTES = 32 * 2**20, 256 * 2**20
MOST_USD_PER_HOUR = Decimal(10_000)
_LEAST = Decimal("0.0001")
"""US dollars: what is kept of a rate."""
OUTLYING = 4
"""A price per GPU this many times the middle one, or this many times less, is an outlier."""
MOVED = 3
"""A price that moved by more than this many times since the last one is held back."""
FEWEST = Decimal(1) / 3
"""Of the prices that are held of a provider: fewer are a file that was cut."""
SOURCE = Source(
    source_id="gpuhunt",
    title="gpuhunt, catalogue of cloud offers",
    url="https://github.com/dstackai/gpuhunt",
    how_measured="The providers' own offers as gpuhunt publishes them; of each instance the "
    "cheapest region. Offers whose GPU has several forms and does not say which were left out.",
    licence="MPL-2.0",
    published_on=None,
)
Product = tuple[str, str | None, str, int, str]


class FeedError(ValueError):
    """What is wrong with the file of one provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What the providers said, and what of it is not kept."""

    rentals: tuple[Rental, ...]
    failed: Mapping[str, str]
    """Providers whose prices could not be read, with the reason; those that are held stay."""
    refused: tuple[str, ...]
    """Offers with something that no offer has, by name."""
    held_back: tuple[str, ...]
    """Prices that moved too far to be believed."""
    changed: tuple[str, ...]
    """Prices that are others than the last ones."""
    new: int
    left_out: int
    """Offers of GPUs that we do not know, or whose form is not stated."""


def fetch_rentals(gpus: Iterable[Gpu], held: Iterable[Rental], *, today: date) -> Refreshed:
    """Ask for the prices of today; ``held`` are those that are known."""
    base = os.environ.get(ADDRESS_VARIABLE, ADDRESS).rstrip("/")
    names, before = CloudNames(gpus), _newest(held, today)
    refused: list[str] = []
    failed: dict[str, str] = {}
    asked: list[Rental] = []
    left_out = 0
    with ThreadPoolExecutor(max_workers=len(PROVIDERS)) as pool:
        files = {name: pool.submit(_fetched, base, name) for name in PROVIDERS}
    for provider, file in files.items():
        try:
            offers: dict[Product, Rental] = {}
            for line, row in enumerate(_rows(provider, file.result()), start=2):
                try:
                    rental = _rental(provider, row, names, today)
                except ValueError as error:
                    refused.append(f"{provider}, line {line}: {error}")
                    continue
                left_out += rental is None and bool(row["gpu_name"])
                if rental is not None:
                    kept = offers.get(_product(rental), rental)
                    cheaper = min(kept, rental, key=lambda each: each.price_per_hour_usd)
                    offers[_product(rental)] = cheaper
            known = sum(product[0] == provider_name(provider) for product in before)
            if len(offers) < FEWEST * known:
                raise FeedError(f"has {counted(len(offers), 'price')} where {known} are known")
            asked += offers.values()
        except (FeedError, OSError) as error:
            failed[provider] = " ".join(str(error).split())[:120]
    moved = {True: list[str](), False: list[str]()}
    kept_rentals: list[Rental] = []
    for rental in asked:
        last = before.get(_product(rental), rental)
        old, usd = last.price_per_hour_usd, rental.price_per_hour_usd
        far = not old / MOVED <= usd <= old * MOVED
        if old != usd:
            moved[far].append(
                f"{rental.provider} {rental.instance}, {rental.gpu_count} x {rental.gpu_id}, "
                f"{rental.kind}: {usd_as_quoted(old)} to {usd_as_quoted(usd)} an hour"
            )
        if not far:
            kept_rentals.append(rental)
    return Refreshed(
        rentals=_marked(kept_rentals),
        failed=failed,
        refused=tuple(refused),
        held_back=tuple(moved[True]),
        changed=tuple(moved[False]),
        new=sum(_product(rental) not in before for rental in kept_rentals),
        left_out=left_out,
    )


def _product(rental: Rental) -> Product:
    """What is the same from day to day."""
    name = provider_name(rental.provider)
    return name, rental.instance, rental.gpu_id, rental.gpu_count, rental.kind


def _newest(held: Iterable[Rental], today: date) -> dict[Product, Rental]:
    """The last price of each product that came by this feed."""
    by_product: dict[Product, list[Rental]] = defaultdict(list)
    for rental in held:
        if rental.source_id == SOURCE.source_id:
            by_product[_product(rental)].append(rental._replace(outlier=False))
    found = {product: rates_that_count(rows, today) for product, rows in by_product.items()}
    return {product: rows[0] for product, rows in found.items() if rows}


def _fetched(base: str, provider: str) -> bytes:
    """The zipped file of a provider. Raises FeedError and OSError."""
    version = _read(f"{base}/{provider}/version", 64).decode("ascii", "replace").strip()
    if not re.fullmatch(r"[\w.-]{1,32}", version, re.ASCII):
        raise FeedError("has no version")
    return _read(f"{base}/{provider}/{version}/catalog.zip", MOST_BYTES)


def _read(address: str, most: int) -> bytes:
    """What stands at an address, as far as it is not endless. Raises FeedError and OSError."""
    if not address.startswith(("https://", "http://")):
        raise FeedError(f"is not at a web address: {ADDRESS_VARIABLE} begins with https://")
    until, parts, size = monotonic() + DEADLINE_S, [], 0
    try:
        with build_opener().open(address, timeout=TIMEOUT_S) as answer:
            while part := answer.read1(2**16):
                parts.append(part)
                size += len(part)
                if size > most or monotonic() > until:
                    raise FeedError("is too large" if size > most else "comes too slowly")
    except HTTPError as error:
        raise FeedError(f"answers {error.code}") from None
    except URLError as error:
        raise FeedError(f"cannot be reached ({error.reason})") from None
    return b"".join(parts)


def _rows(provider: str, data: bytes) -> Iterable[Mapping[str, str]]:
    """The offers of a file. Raises FeedError where it is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            inside = archive.getinfo(f"{provider}.csv")
            if inside.file_size > MOST_UNPACKED_BYTES:
                raise FeedError("is too large")
            text = archive.read(inside).decode("utf-8", "replace")
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, RuntimeError):
        raise FeedError("is no zip file with its table") from None
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), restval="")
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise FeedError(f"has no column {missing[0]}")
        rows = list(reader)
    except csv.Error as error:
        raise FeedError(f"is no CSV ({error})") from None
    if not rows:
        raise FeedError("has no offers")
    return rows


def _rental(provider: str, row: Mapping[str, str], names: CloudNames, today: date) -> Rental | None:
    """An offer; None where its GPU is none of ours. Raises ValueError, which names what it has
    that no offer has."""
    if not row["gpu_name"] or row["gpu_count"] in ("", "0"):
        return None
    for name, form in _FORMS.items():
        if not row[name].isprintable() or not re.fullmatch(form, row[name], re.ASCII):
            raise ValueError(f"{name} {shown(row[name])} is none of an offer")
    instance, location = row["instance_name"], row["location"]
    price, count = Decimal(row["price"]), int(float(row["gpu_count"]))
    if price > MOST_USD_PER_HOUR:
        raise ValueError(f"price {shown(row['price'])} is above ${MOST_USD_PER_HOUR:,} an hour")
    gpu_id = names.gpu_id(provider, instance, row["gpu_name"], float(row["gpu_memory"]))
    if gpu_id is None:
        return None
    # RunPod's machines of its own have a data centre, those of their owners only a country.
    community = provider == "runpod" and len(location) == 2
    name = provider_name("runpod-community" if community else provider)
    kind = rental_kind(name, "spot" if row["spot"] == "True" else "on-demand")
    return Rental(
        rental_id=f"gpuhunt:{today}:{name}:{instance}:{location}:{count}:{kind}",
        provider=name,
        instance=instance,
        gpu_id=gpu_id,
        gpu_count=count,
        price_per_hour_usd=max(price.quantize(_LEAST, rounding=ROUND_HALF_UP), _LEAST),
        kind=kind,
        region=location or None,
        priced_on=today,
        source_id=SOURCE.source_id,
        origin="local",
    )


def _marked(rentals: Iterable[Rental]) -> tuple[Rental, ...]:
    """The same, with those marked that are far from the middle of their GPU and kind."""
    groups: dict[tuple[str, str], list[Rental]] = defaultdict(list)
    for rental in rentals:
        groups[rental.gpu_id, rental.kind].append(rental)
    found = []
    for group in groups.values():
        each = sorted(rental.price_per_hour_usd / rental.gpu_count for rental in group)
        middle = each[len(each) // 2]
        for rental in group:
            price = rental.price_per_hour_usd / rental.gpu_count
            far = len(each) >= 3 and not middle / OUTLYING <= price <= middle * OUTLYING
            found.append(rental._replace(outlier=far))
    return tuple(sorted(found, key=lambda rental: rental.rental_id))
