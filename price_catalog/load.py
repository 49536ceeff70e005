"""Reads and validates the catalogue's tables: GPUs, machines, quotes and their sources.

To add a GPU, a machine or a price is to add a row. A row names its source by id, a price in US
dollars with a point, a date like 2024-09-21; what is not known stays empty. Where a price's own day
is not known its row has the earliest day that it can be of: no price is made fresher than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from price_catalog.builds import COOLINGS, TAKES
from price_catalog.csv_table import Row, nearest, read_rows
from price_catalog.gpu_names import find_gpu, index_gpus, normalise
from price_catalog.model import (
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

QUOTED_KINDS = tuple(kind for kind in QUOTE_KINDS if kind != "owned")
ITEM_KINDS = ("gpu", "host", "server", "part")

SOURCE_COLUMNS = ("source_id", "title", "url", "how_measured", "licence", "published_on")
GPU_COLUMNS = tuple(Gpu.__dataclass_fields__)
HOST_COLUMNS = ("host_id", "name", "kind", "max_gpus")
HOST_EXTRA_COLUMNS = tuple(
    name for name in Host.__dataclass_fields__ if name not in (*HOST_COLUMNS, "parts", "origin")
)
PART_COLUMNS = ("host_id", "role", "detail", "price_usd", "priced_on", "source_id")
QUOTE_EXTRA_COLUMNS = (
    "currency",
    "price_quoted",
    "includes",
    "valid_until",
    "delivery",
    "warranty",
    "file",
    "corrects",
)
QUOTE_COLUMNS = tuple(
    name for name in Quote._fields if name not in (*QUOTE_EXTRA_COLUMNS, "origin")
)
RENTAL_COLUMNS = tuple(name for name in Rental._fields if name not in ("leaves_out", "origin"))
_HUNDREDTH_OF_A_CENT = Decimal("0.0001")


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
    sources = load_sources(folder / "sources.csv")
    source_ids = frozenset(source.source_id for source in sources)
    gpus = load_gpus(folder / "gpus.csv", source_ids)
    hosts = load_hosts(folder / "machines.csv", folder / "machine_parts.csv", source_ids, gpus=gpus)
    quotes: list[Quote] = []
    rentals: list[Rental] = []
    first_seen: dict[str, str] = {}
    for path in sorted((folder / "quotes").glob("*.csv")):
        for quote in load_quotes(path, gpus=gpus, hosts=hosts, source_ids=source_ids):
            _refuse_seen(path, "quote_id", quote.quote_id, first_seen)
            quotes.append(quote)
    for path in sorted((folder / "rentals").glob("*.csv")):
        for rental in load_rentals(path, gpus=gpus, source_ids=source_ids):
            _refuse_seen(path, "rental_id", rental.rental_id, first_seen)
            rentals.append(rental)
    return Catalog(
        sources=sources, gpus=gpus, hosts=hosts, quotes=tuple(quotes), rentals=tuple(rentals)
    )


def load_sources(path: Path) -> tuple[Source, ...]:
    """Read a table of sources."""
    rows = read_rows(path, SOURCE_COLUMNS)
    _refuse_duplicates(rows, "source_id")
    return tuple(Source(**_cells(row, Source)) for row in rows)


def _cells(row: Row, record: type, **read: object) -> dict[str, Any]:
    """The fields of a record as its annotations have them, each from the column of its name; those
    in ``read`` were read already."""
    readers: Mapping[Any, Callable[[str], object]] = {
        str: row.text,
        str | None: row.optional_text,
        float: row.number,
        float | None: row.optional_number,
        int: row.whole_number,
        int | None: row.optional_whole_number,
        Decimal: row.money,
        Decimal | None: row.optional_money,
        date: row.day,
        date | None: row.optional_day,
    }
    return read | {
        name: readers[kind](name)
        for name, kind in _kinds(record).items()
        if name not in read and name in row.cells
    }


_kinds = cache(get_type_hints)


def load_gpus(path: Path, source_ids: frozenset[str]) -> tuple[Gpu, ...]:
    """Read a table of GPUs; no two of them may share a name or an alias."""
    rows = read_rows(path, GPU_COLUMNS)
    _refuse_duplicates(rows, "gpu_id")
    holders: dict[str, Gpu] = {}
    gpus = []
    for row in rows:
        gpu = _gpu(row, source_ids)
        gpus.append(gpu)
        for column, spellings in (
            ("gpu_id", (gpu.gpu_id,)),
            ("name", (gpu.name,)),
            ("aliases", gpu.aliases),
        ):
            for spelling in spellings:
                holder = holders.setdefault(normalise(spelling), gpu)
                if holder is not gpu:
                    raise row.error(
                        column,
                        f"'{spelling}' already stands for {holder.gpu_id}; "
                        "a spelling may belong to one GPU only",
                    )
    return tuple(gpus)


def _gpu(row: Row, source_ids: frozenset[str]) -> Gpu:
    gpu_id = row.text("gpu_id")
    if gpu_id != gpu_id.lower() or " " in gpu_id:
        mended = "-".join(gpu_id.lower().split())
        raise row.error("gpu_id", f"'{gpu_id}' has capitals or spaces; write it like '{mended}'")
    _check_field_sources(row, "field_sources", GPU_COLUMNS, source_ids)
    aliases = tuple(alias.strip() for alias in row.cells["aliases"].split(";") if alias.strip())
    cooling = row.choice("cooling", COOLINGS) if row.cells["cooling"] else None
    return Gpu(**_cells(row, Gpu, aliases=aliases, cooling=cooling))


def _check_field_sources(
    row: Row, column: str, fields: Collection[str], source_ids: frozenset[str]
) -> None:
    """Raise ValueError where a cell is not ``field=source_id`` pairs between semicolons."""
    for item in row.text(column).split(";"):
        field, equals, source = item.strip().partition("=")
        if not equals or field not in fields:
            raise row.error(
                column,
                f"'{item.strip()}' is not field=source with a field of this table; "
                f"{nearest(field, fields)}",
            )
        source_id = source.split(" ", 1)[0]
        if source_id not in source_ids:
            raise row.error(
                column,
                f"source '{source_id}' is not in sources.csv; {nearest(source_id, source_ids)}",
            )


def load_hosts(
    path: Path, parts_path: Path, source_ids: frozenset[str], *, gpus: Iterable[Gpu]
) -> tuple[Host, ...]:
    """Read a table of machines and the one with their parts."""
    rows = read_rows(path, HOST_COLUMNS, HOST_EXTRA_COLUMNS)
    gpus = tuple(gpus)
    gpu_ids = [gpu.gpu_id for gpu in gpus]
    _refuse_duplicates(rows, "host_id")
    for row in rows:
        if row.cells["spec_source"]:
            _check_field_sources(row, "spec_source", HOST_EXTRA_COLUMNS, source_ids)
    parts: dict[str, list[Part]] = {row.text("host_id"): [] for row in rows}
    part_lines: dict[tuple[str, str, str], int] = {}
    for row in read_rows(parts_path, PART_COLUMNS):
        line = (row.text("host_id"), row.text("role"), row.text("detail").casefold())
        if line in part_lines:
            raise row.error(
                "detail",
                f"'{row.text('detail')}' is already in line {part_lines[line]}; keep one of them "
                "(for two of a part write '2 x' before it and the price of both)",
            )
        part_lines[line] = row.line
        source_id = row.choice("source_id", source_ids)
        parts[row.choice("host_id", parts)].append(Part(**_cells(row, Part, source_id=source_id)))
    return tuple(
        Host(
            **_cells(
                row,
                Host,
                kind=row.choice("kind", SOLD_HOST_KINDS),
                parts=tuple(parts[row.text("host_id")]),
                gpu_id=row.choice("gpu_id", gpu_ids) if row.cells["gpu_id"] else None,
                takes=_several(row, "takes", TAKES),
                supported=_several(row, "supported", gpu_ids),
            )
        )
        for row in rows
    )


def _several(row: Row, column: str, known: Collection[str]) -> tuple[str, ...]:
    """Words of a fixed list, between semicolons."""
    words = tuple(word.strip() for word in row.cells[column].split(";") if word.strip())
    for word in words:
        if word not in known:
            raise row.error(column, f"'{word}' is not known here; {nearest(word, known)}")
    return words


def load_quotes(
    path: Path,
    *,
    gpus: Iterable[Gpu],
    hosts: Iterable[Host],
    source_ids: frozenset[str],
) -> tuple[Quote, ...]:
    """Read a table of quotes.

    A GPU may be given by any of its spellings. A host's quote without a price is the exact sum
    of its parts list, so that no price is written down twice.
    """
    rows = read_rows(path, QUOTE_COLUMNS, QUOTE_EXTRA_COLUMNS)
    _refuse_duplicates(rows, "quote_id")
    gpu_index = index_gpus(gpus)
    hosts_by_id = {host.host_id: host for host in hosts}
    return tuple(_quote(row, gpu_index, hosts_by_id, source_ids) for row in rows)


def _quote(
    row: Row,
    gpu_index: Mapping[str, Gpu],
    hosts: Mapping[str, Host],
    source_ids: frozenset[str],
) -> Quote:
    item_kind = row.choice("item_kind", ITEM_KINDS)
    if item_kind == "gpu":
        try:
            item_id = find_gpu(row.text("item_id"), gpu_index).gpu_id
        except ValueError as error:
            raise row.error("item_id", str(error)) from None
        price_usd = row.money("price_usd")
    elif item_kind == "part":
        item_id, price_usd = row.text("item_id"), row.money("price_usd")
    else:
        item_id = row.choice("item_id", hosts)
        if (item_kind == "server") != (hosts[item_id].gpu_id is not None):
            raise row.error(
                "item_kind", "is server for a machine that comes with its GPUs, host for others"
            )
        price_usd = row.optional_money("price_usd") or _parts_total(row, hosts[item_id])
    return Quote(
        **_cells(
            row,
            Quote,
            item_kind=item_kind,
            item_id=item_id,
            price_usd=price_usd,
            kind=row.choice("kind", QUOTED_KINDS),
            source_id=row.choice("source_id", source_ids),
            currency=row.cells["currency"] or "USD",
        )
    )


def load_rentals(
    path: Path, *, gpus: Iterable[Gpu], source_ids: frozenset[str]
) -> tuple[Rental, ...]:
    """Read a table of rental prices."""
    rows = read_rows(path, RENTAL_COLUMNS, ("leaves_out",))
    _refuse_duplicates(rows, "rental_id")
    gpu_ids = frozenset(gpu.gpu_id for gpu in gpus)
    return tuple(
        Rental(
            **_cells(
                row,
                Rental,
                provider=provider_name(row.text("provider")),
                gpu_id=row.choice("gpu_id", gpu_ids),
                price_per_hour_usd=row.money("price_per_hour_usd", _HUNDREDTH_OF_A_CENT),
                kind=row.choice("kind", RENTAL_KINDS),
                source_id=row.choice("source_id", source_ids),
                outlier=row.choice("outlier", ("yes", "no")) == "yes",
            )
        )
        for row in rows
    )


def _parts_total(row: Row, host: Host) -> Decimal:
    if not host.parts:
        raise row.error(
            "price_usd",
            f"is empty and {host.host_id} has no parts list to add up; write a price in US dollars",
        )
    if any(part.priced_on > row.day("quoted_on") for part in host.parts):
        raise row.error("quoted_on", f"is before the newest price in {host.host_id}'s parts list")
    return sum((part.price_usd for part in host.parts), start=Decimal(0))


def _refuse_duplicates(rows: Iterable[Row], column: str) -> None:
    lines: dict[str, int] = {}
    for row in rows:
        value = row.text(column)
        if value in lines:
            raise row.error(
                column, f"'{value}' is already in line {lines[value]}; keep one of them"
            )
        lines[value] = row.line


def _refuse_seen(path: Path, column: str, value: str, first_seen: dict[str, str]) -> None:
    """Raise ValueError where another table has an id already; note that this one has it."""
    if value in first_seen:
        raise ValueError(
            f"{path.name}: {column} '{value}' is already in {first_seen[value]}; give one of them "
            "another id"
        )
    first_seen[value] = path.name
