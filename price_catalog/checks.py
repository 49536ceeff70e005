"""Checks that a catalogue holds together, wherever its rows came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from price_catalog.gpu_names import normalise
from price_catalog.load import Catalog
from price_catalog.model import Gpu, Host

LOWEST_PRICE_USD = {
    "gpu": Decimal(20),
    "host": Decimal(100),
    "server": Decimal(1_000),
    "part": Decimal(1),
}
HIGHEST_PRICE_USD = {
    "gpu": Decimal(250_000),
    "host": Decimal(1_000_000),
    "server": Decimal(5_000_000),
    "part": Decimal(500_000),
}
"""Beyond these a price is a slip of the pen, a total for several, or another currency."""

FIGURES = (
    "launched_on",
    "memory_gib",
    "memory_bandwidth_gb_s",
    "fp32_tflops",
    "tf32_tflops",
    "fp16_tflops",
    "bf16_tflops",
    "fp8_tflops",
    "tdp_w",
    "nvlink_gb_s",
    "slot_width",
    "cooling",
)
"""The fields of a GPU that somebody must have said."""
HOST_FIGURES = (
    "takes",
    "open_gpus",
    "supported",
    "lanes_per_gpu",
    "slot_width",
    "max_gpu_w",
    "psu_w",
    "psu_count",
    "psu_efficiency",
    "base_w",
    "wall_w",
    "rack_units",
    "memory_gib",
    "gpu_link",
    "noise_dba",
    "weight_kg",
)
"""The same of a host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogIssue:
    """One thing that is wrong."""

    rule: str
    """``duplicate``, ``unsourced``, ``dangling``, ``price``, ``sum``, ``future``, ``rate``."""
    where: str
    """Which record, e.g. ``quote paper-table5:a100``."""
    message: str
    """What is wrong with it and how to mend it, in one line."""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


def check_catalog(catalog: Catalog, *, today: date) -> tuple[CatalogIssue, ...]:
    """Everything that is wrong with a catalogue, () where nothing is."""
    return tuple(
        problem
        for check in (
            _duplicates(catalog),
            _references(catalog),
            _prices(catalog),
            _futures(catalog, today),
            _rates(catalog.gpus),
        )
        for problem in check
    )


def _duplicates(catalog: Catalog) -> Iterator[CatalogIssue]:
    for kind, ids in (
        ("source", [source.source_id for source in catalog.sources]),
        ("gpu", [gpu.gpu_id for gpu in catalog.gpus]),
        ("host", [host.host_id for host in catalog.hosts]),
        ("quote", [quote.quote_id for quote in catalog.quotes]),
        ("rental", [rental.rental_id for rental in catalog.rentals]),
    ):
        for name, times in sorted(Counter(ids).items()):
            if times > 1:
                yield CatalogIssue(
                    rule="duplicate",
                    where=f"{kind} {name}",
                    message=f"stands {times} times; keep one of them",
                )
    holders: dict[str, str] = {}
    for gpu in catalog.gpus:
        for spelling in (gpu.gpu_id, gpu.name, *gpu.aliases):
            holder = holders.setdefault(normalise(spelling), gpu.gpu_id)
            if holder != gpu.gpu_id:
                yield CatalogIssue(
                    rule="duplicate",
                    where=f"gpu {gpu.gpu_id}",
                    message=f"'{spelling}' already stands for {holder}; remove it from one of them",
                )
    seen: dict[tuple[object, ...], str] = {}
    for quote in catalog.quotes:
        same = (
            quote.item_kind,
            quote.item_id,
            quote.vendor.casefold(),
            quote.quoted_on,
            quote.kind,
            quote.price_usd,
            quote.corrects,  # it may mend the page or the note alone
        )
        first = seen.setdefault(same, quote.quote_id)
        if first != quote.quote_id:
            yield CatalogIssue(
                rule="duplicate",
                where=f"quote {quote.quote_id}",
                message=f"says the same as {first}; keep one of them",
            )


def _references(catalog: Catalog) -> Iterator[CatalogIssue]:
    sources = {source.source_id for source in catalog.sources}
    items = {
        "gpu": {gpu.gpu_id for gpu in catalog.gpus},
        "host": {host.host_id for host in catalog.hosts if host.gpu_id is None},
        "server": {host.host_id for host in catalog.hosts if host.gpu_id is not None},
    }
    named = [(f"quote {quote.quote_id}", quote.source_id) for quote in catalog.quotes]
    named += [
        (f"host {host.host_id}, {part.role}", part.source_id)
        for host in catalog.hosts
        for part in host.parts
    ]
    named += [(f"rental {rental.rental_id}", rental.source_id) for rental in catalog.rentals]
    figured: list[tuple[str, Gpu | Host, str, tuple[str, ...]]] = []
    figured += [(f"gpu {gpu.gpu_id}", gpu, gpu.field_sources, FIGURES) for gpu in catalog.gpus]
    figured += [
        (f"host {host.host_id}", host, host.spec_source or "", HOST_FIGURES)
        for host in catalog.hosts
    ]
    for name, record, words, fields in figured:
        said = _field_sources(words)
        named += [(f"{name}, {field}", source_id) for field, source_id in said.items()]
        for field in fields:
            if getattr(record, field) not in (None, ()) and field not in said:
                yield CatalogIssue(
                    rule="unsourced",
                    where=f"{name}, {field}",
                    message="has a figure whose source is not named; name it",
                )
    for where, source_id in named:
        if source_id not in sources:
            yield CatalogIssue(
                rule="unsourced",
                where=where,
                message=f"source '{source_id}' is not among the sources; add it there",
            )
    for quote in catalog.quotes:
        # A part need not be in a parts list: it may be priced for whoever puts one together.
        if quote.item_kind != "part" and quote.item_id not in items.get(quote.item_kind, set()):
            yield CatalogIssue(
                rule="dangling",
                where=f"quote {quote.quote_id}",
                message=f"is for {quote.item_kind} '{quote.item_id}', which is not in the "
                "catalogue; add it or mend the id",
            )


def _field_sources(words: str) -> dict[str, str]:
    """The source id of each field that the words account for."""
    pairs = (item.strip().partition("=") for item in words.split(";"))
    return {field: source.split(" ", 1)[0] for field, _, source in pairs if field}


def _prices(catalog: Catalog) -> Iterator[CatalogIssue]:
    priced = [
        (quote.item_kind, f"quote {quote.quote_id}", quote.price_usd) for quote in catalog.quotes
    ]
    priced += [
        ("part", f"host {host.host_id}, {part.role}", part.price_usd)
        for host in catalog.hosts
        for part in host.parts
    ]
    for kind, where, price_usd in priced:
        if kind not in LOWEST_PRICE_USD:
            continue  # a dangling reference, told above
        low, high = LOWEST_PRICE_USD[kind], HIGHEST_PRICE_USD[kind]
        if not low <= price_usd <= high:
            yield CatalogIssue(
                rule="price",
                where=where,
                message=f"${price_usd:,} is not a price of one {kind} "
                f"(${low:,} to ${high:,}); write US dollars for one piece",
            )
    hosts = {host.host_id: host for host in catalog.hosts}
    for quote in catalog.quotes:
        host = hosts.get(quote.item_id) if quote.item_kind == "host" else None
        if quote.kind == "parts-list" and host is not None and quote.price_usd != _total(host):
            yield CatalogIssue(
                rule="sum",
                where=f"quote {quote.quote_id}",
                message=f"${quote.price_usd:,} is not the sum of its parts, ${_total(host):,}; "
                "leave the price empty so that it is added up",
            )


def _total(host: Host) -> Decimal:
    return sum((part.price_usd for part in host.parts), start=Decimal(0))


def _futures(catalog: Catalog, today: date) -> Iterator[CatalogIssue]:
    dated: list[tuple[str, date | None]] = []
    dated += [(f"quote {quote.quote_id}", quote.quoted_on) for quote in catalog.quotes]
    dated += [
        (f"host {host.host_id}, {part.role}", part.priced_on)
        for host in catalog.hosts
        for part in host.parts
    ]
    dated += [(f"rental {rental.rental_id}", rental.priced_on) for rental in catalog.rentals]
    dated += [(f"source {source.source_id}", source.published_on) for source in catalog.sources]
    dated += [(f"gpu {gpu.gpu_id}, launched_on", gpu.launched_on) for gpu in catalog.gpus]
    for where, day in dated:
        if day is not None and day > today:
            yield CatalogIssue(
                rule="future",
                where=where,
                message=f"{day} is after today, {today}; mend the date",
            )


def _rates(gpus: Iterable[Gpu]) -> Iterator[CatalogIssue]:
    """Slips that datasheets invite: rates with sparsity, or with FP16 accumulate, in one column."""
    for gpu in gpus:
        for slower, faster in (
            ("fp32_tflops", "tf32_tflops"),
            ("tf32_tflops", "fp16_tflops"),
            ("fp16_tflops", "fp8_tflops"),
        ):
            low, high = getattr(gpu, slower), getattr(gpu, faster)
            if low is not None and high is not None and low > 1.01 * high:  # datasheets round
                yield CatalogIssue(
                    rule="rate",
                    where=f"gpu {gpu.gpu_id}",
                    message=f"{slower} {low:g} is above {faster} {high:g}; one of the two is not "
                    "the dense rate with FP32 accumulate",
                )
        both = gpu.fp16_tflops is not None and gpu.bf16_tflops is not None
        if both and gpu.fp16_tflops != gpu.bf16_tflops:
            yield CatalogIssue(
                rule="rate",
                where=f"gpu {gpu.gpu_id}",
                message=f"fp16 {gpu.fp16_tflops:g} and bf16 {gpu.bf16_tflops:g} differ; with FP32 "
                "accumulate tensor cores run both at one rate",
            )
