"""Reads and validates the catalogue's tables: GPUs, machines, quotes and their sources.

To add a GPU, a machine or a price is to add a row. A row names its source by id, a price in US
dollars with a point, a date like 2024-09-21; what is not known stays empty. Where a price's own day
is not known its row has the earliest day that it can be of: no price is made fresher than it is.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path

from price_catalog.builds import COOLINGS, TAKES
from price_catalog.csv_table import (
    DAY,
    MONEY,
    RATE,
    Reader,
    Row,
    nearest,
    one_of,
    read_records,
    several_of,
)
from price_catalog.gpu_names import find_gpu, index_gpus, normalise
from price_catalog.model import (
    ITEM_KINDS,
    QUOTE_KINDS,
    RENTAL_KINDS,
    SOLD_HOST_KINDS,
    Gpu,
    Host,
    Part,
    Quote,
    Rental,
    Source,
)
from price_catalog.providers import provider_name

CATALOG_FOLDER = Path(__file__).parent

GPU_COLUMNS = tuple(Gpu.__dataclass_fields__)
HOST_FACTS = frozenset(Host.__dataclass_fields__) - {
    *("host_id", "name", "kind", "max_gpus", "gpu_id", "parts", "spec_source", "note", "origin")
}
"""What a document may state of a machine."""
RENTAL_COLUMNS = tuple(name for name in Rental._fields if name not in ("leaves_out", "origin"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Everything that the tables say."""

    sources: tuple[Source, ...]
    gpus: tuple[Gpu, ...]
    hosts: tuple[Host, ...]
    quotes: tuple[Quote, ...]
    rentals: tuple[Rental, ...] = ()


def load_catalog(folder: Path | None = None) -> Catalog:
    """The tables in ``folder``; those that ship, read once, unless it is given."""
    return _shipped_catalog() if folder is None else _read_catalog(Path(folder))


@cache
def _shipped_catalog() -> Catalog:
    return _read_catalog(CATALOG_FOLDER)


def _read_catalog(folder: Path) -> Catalog:
    sources = read_records(folder / "sources.csv", Source, key="source_id")
    source_ids = frozenset(source.source_id for source in sources)
    gpus = _load_gpus(folder / "gpus.csv", source_ids)
    gpu_ids = [gpu.gpu_id for gpu in gpus]
    hosts = _load_hosts(folder, source_ids, gpu_ids)
    quoted: dict[str, Reader] = {
        "item_kind": one_of(ITEM_KINDS),
        "kind": one_of([kind for kind in QUOTE_KINDS if kind != "owned"]),
        "source_id": one_of(source_ids),
        **_item_readers(gpus, hosts),
    }
    rented: dict[str, Reader] = {
        "provider": lambda row, column: provider_name(row.text(column)),
        "gpu_id": one_of(gpu_ids),
        "price_per_hour_usd": lambda row, column: row.needed(column, RATE),
        "kind": one_of(RENTAL_KINDS),
        "source_id": one_of(source_ids),
    }
    seen: dict[str, Row] = {}
    quotes: list[Quote] = []
    for path in sorted((folder / "quotes").glob("*.csv")):
        quotes += read_records(path, Quote, quoted, key="quote_id", seen=seen)
    rentals: list[Rental] = []
    for path in sorted((folder / "rentals").glob("*.csv")):
        rentals += read_records(path, Rental, rented, key="rental_id", seen=seen)
    return Catalog(
        sources=tuple(sources),
        gpus=tuple(gpus),
        hosts=tuple(hosts),
        quotes=tuple(quotes),
        rentals=tuple(rentals),
    )


def _load_gpus(path: Path, source_ids: frozenset[str]) -> list[Gpu]:
    """No two GPUs may share a name or an alias."""
    holders: dict[str, str] = {}

    def own(row: Row, column: str) -> tuple[str, ...]:
        words = row.words(column) if column == "aliases" else (row.text(column),)
        for word in words:
            holder = holders.setdefault(normalise(word), row.text("gpu_id"))
            if holder != row.text("gpu_id"):
                raise row.error(
                    column,
                    f"'{word}' already stands for {holder}; a spelling may belong to one GPU only",
                )
        return words

    def gpu_id(row: Row, column: str) -> str:
        (word,) = own(row, column)
        if word != (mended := "-".join(word.lower().split())):
            raise row.error(column, f"'{word}' has capitals or spaces; write it like '{mended}'")
        return word

    readers: dict[str, Reader] = {
        "gpu_id": gpu_id,
        "name": lambda row, column: own(row, column)[0],
        "aliases": own,
        "cooling": one_of(COOLINGS, needed=False),
        "field_sources": _sourced(GPU_COLUMNS, source_ids),
    }
    return read_records(path, Gpu, readers, key="gpu_id")


def _sourced(fields: Collection[str], source_ids: frozenset[str], *, needed: bool = True) -> Reader:
    """``field=source_id`` pairs between semicolons."""

    def read(row: Row, column: str) -> str | None:
        text = row.text(column) if needed else row.cells[column]
        for item in map(str.strip, text.split(";") if text else ()):
            field, equals, source = item.partition("=")
            if not equals or field not in fields:
                raise row.error(
                    column,
                    f"'{item}' is not field=source with a field of this table; "
                    f"{nearest(field, fields)}",
                )
            source_id = source.split(" ", 1)[0]
            if source_id not in source_ids:
                raise row.error(
                    column,
                    f"source '{source_id}' is not in sources.csv; {nearest(source_id, source_ids)}",
                )
        return text or None

    return read


def _load_hosts(folder: Path, source_ids: frozenset[str], gpu_ids: Collection[str]) -> list[Host]:
    """The machines with their parts."""
    readers: dict[str, Reader] = {
        "kind": one_of(SOLD_HOST_KINDS),
        "gpu_id": one_of(gpu_ids, needed=False),
        "takes": several_of(TAKES),
        "supported": several_of(gpu_ids),
        "spec_source": _sourced({*HOST_FACTS, "gpu_id"}, source_ids, needed=False),
    }
    hosts = read_records(folder / "machines.csv", Host, readers, key="host_id")
    parts: dict[str, list[Part]] = {host.host_id: [] for host in hosts}
    lines: dict[tuple[str, str, str], int] = {}

    def detail(row: Row, column: str) -> str:
        said = row.text(column)
        part = (row.text("host_id"), row.text("role"), said.casefold())
        if (line := lines.setdefault(part, row.line)) != row.line:
            raise row.error(
                column,
                f"'{said}' is already in line {line}; keep one of them (for two of a part write "
                "'2 x' before it and the price of both)",
            )
        return said

    def keep(
        host_id: str, role: str, detail: str, price_usd: Decimal, priced_on: date, source_id: str
    ) -> None:
        parts[host_id].append(Part(role, detail, price_usd, priced_on, source_id))

    readers = {"host_id": one_of(parts), "detail": detail, "source_id": one_of(source_ids)}
    read_records(folder / "machine_parts.csv", keep, readers)
    return [replace(host, parts=tuple(parts[host.host_id])) for host in hosts]


def _item_readers(gpus: Collection[Gpu], hosts: Collection[Host]) -> dict[str, Reader]:
    """What a quote is for, and its price.

    A GPU may be given by any of its spellings. A host's quote without a price is the exact sum
    of its parts list, so that no price is written down twice.
    """
    index = index_gpus(gpus)
    by_id = {host.host_id: host for host in hosts}

    def item_id(row: Row, column: str) -> str:
        kind = row.text("item_kind")
        if kind == "gpu":
            try:
                return find_gpu(row.text(column), index).gpu_id
            except ValueError as error:
                raise row.error(column, str(error)) from None
        if kind == "part":
            return row.text(column)
        host = by_id[row.choice(column, by_id)]
        if (kind == "server") != (host.gpu_id is not None):
            raise row.error(
                "item_kind", "is server for a machine that comes with its GPUs, host for others"
            )
        return host.host_id

    def price_usd(row: Row, column: str) -> Decimal:
        host = by_id.get(row.text("item_id"))
        if row.cells[column] or row.text("item_kind") in ("gpu", "part") or host is None:
            return Decimal(row.needed(column, MONEY))
        if not host.parts:
            raise row.error(
                column,
                f"is empty and {host.host_id} has no parts list to add up; "
                "write a price in US dollars",
            )
        if any(part.priced_on > row.needed("quoted_on", DAY) for part in host.parts):
            raise row.error(
                "quoted_on", f"is before the newest price in {host.host_id}'s parts list"
            )
        return sum((part.price_usd for part in host.parts), start=Decimal(0))

    return {"item_id": item_id, "price_usd": price_usd}
