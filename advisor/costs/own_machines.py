"""The user's own machines: those they have, and those that a vendor quoted, with their price.

Read whole: a machine without a sound price, or a price without a sound machine, is neither.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from typing import NamedTuple

from advisor.costs.own_quotes import (
    COLUMNS,
    Column,
    Items,
    RowError,
    TypedRow,
    folded,
    make_quote,
)
from advisor.typed_input import InputError, shown
from bench_runner.typed_numbers import mistyped, read_amount, read_measure, read_whole
from price_catalog.gpu_names import find_gpu, index_gpus, normalise
from price_catalog.model import Gpu, Host, Quote

Number = int | Decimal | Fraction


def _figure(
    least: Number,
    most: Number,
    words: str,
    *units: str,
    read: Callable[[str], Number | None] | None = None,
) -> Callable[[str], float]:
    """Reads a number of ``words``, behind which ``units`` may be written."""

    def figure(text: str) -> float:
        value = read_amount(text, units=units) if read is None else read(text)
        if value is None or not least <= value <= most:
            why = mistyped(text) if units else ""
            raise ValueError(f"{shown(text)} {why or f'is not a number of {words}'}")
        return float(value)

    return figure


def _short(most: int) -> Callable[[str], str]:
    def read(text: str) -> str:
        text = " ".join(text.split())
        if len(text) > most:
            raise ValueError(f"is {len(text)} characters long: write at most {most}")
        return text

    return read


def _gib(text: str) -> Number | None:
    """A GB and a TB of memory are sold as GiB and TiB."""
    return read_measure(text, "GiB")


MAX_COUNT = 64
MACHINE_TABLE = (
    Column("machine", "Name", "NAME", "Exxact 8 x H200", _short(80)),
    Column("gpu", "GPU", "GPU", "H200; empty: without"),
    Column(
        *("count", "How many", "N", "8, or cards it takes"),
        _figure(1, MAX_COUNT, f"GPUs: write 1 to {MAX_COUNT}", read=read_whole),
    ),
    Column("fits", "Takes cards", "GPUS", "A6000, L40S; no GPU"),
    Column(
        *("watts", "Watts", "W", "at the wall: 10200"),
        _figure(50, 200_000, "W at the wall, such as 10200", "watts", "w"),
    ),
    Column(
        *("rack_units", "Rack units", "U", "8; 0: on the floor"),
        _figure(0, 60, "rack units, such as 8, or 0 where it stands on the floor", "u"),
    ),
    Column(
        *("host_memory", "Memory", "GIB", "1TiB"),
        _figure(1, 65_536, "GiB of memory: write it like 512GB or 1TiB", read=_gib),
    ),
    Column("links", "Links", "WORDS", "NVLink", _short(200)),
    Column(
        *("noise", "Noise dB(A)", "DBA", "50"),
        _figure(10, 130, "dB(A), such as 50", "db(a)", "dba", "db"),
    ),
    Column(
        *("weight", "Weight kg", "KG", "45"),
        _figure(Decimal("0.1"), 5_000, "kg, such as 45", "kg"),
    ),
)
"""What is said of the machine; the other columns are those of a quote."""
MACHINE_COLUMNS = tuple(column.name for column in MACHINE_TABLE)
QUOTE_COLUMNS = tuple(name for name in COLUMNS if name not in ("item", "item_kind", "corrects"))
DEFAULT_KIND = "reseller-quote"
_PREFIX = "machine:"


class OwnMachine(NamedTuple):
    """A machine and what a vendor asks for it."""

    host: Host
    quote: Quote


def quoted(name: str) -> str:
    """A name as it is typed in a command: with quotes where it needs them."""
    return f'"{name}"' if not set(name) & set('"$`\\!') else shlex.quote(name)


def read_machine(
    cells: Mapping[str, str],
    items: Items,
    *,
    today: date,
    row: int | None = None,
    replaces: Host | None = None,
    corrects: str = "",
) -> OwnMachine | list[RowError]:
    """A machine with its price from what was typed, or all that is wrong with it.

    ``replaces`` is the machine of the user's that this one corrects, ``corrects`` its quote.
    """
    typed = TypedRow(cells, MACHINE_TABLE, row)
    typed.need("machine", 'name the machine, as in "Exxact 8 x H200"')
    typed.need("count", "say how many GPUs it has or takes, as in 8")
    gpu = typed.read("gpu", lambda text: find_gpu(text, items.gpu_index))
    said = typed.values()
    if (name := said["machine"]) is not None:
        typed.read("machine", lambda _: _check_free(name, items, replaces))
    supported = _fits(typed, items)
    count, watts = said["count"], said["watts"]
    if watts and count and gpu and watts < (gpu.tdp_w or 0) * count:
        typed.wrong(
            "watts",
            f"{watts:,.0f} W is less than its {count:.0f} GPUs draw, "
            f"{(gpu.tdp_w or 0) * count:,.0f} W: write what the whole machine draws at the wall, "
            "or leave it out",
        )
    host_id = _host_id(name or "", items) if replaces is None else replaces.host_id
    asked = {column: cells.get(column, "") for column in QUOTE_COLUMNS} | {"corrects": corrects}
    asked["kind"] = asked["kind"].strip() or DEFAULT_KIND
    # Prices are checked for a machine of its kind, also while the machine itself is not right.
    item = ("host" if gpu is None else "server", host_id)
    quote = make_quote(asked, items, today=today, row=row, item=item)
    if typed.problems or isinstance(quote, list):
        return typed.problems + (quote if isinstance(quote, list) else [])
    host = Host(
        host_id=host_id,
        name=name,
        kind="desktop" if said["rack_units"] == 0 else "server",
        max_gpus=int(count),
        gpu_id=None if gpu is None else gpu.gpu_id,
        supported=supported,
        wall_w=None if gpu is None else watts,
        base_w=watts if gpu is None else None,
        rack_units=said["rack_units"],
        memory_gib=said["host_memory"],
        gpu_link=said["links"],
        noise_dba=said["noise"],
        weight_kg=said["weight"],
        origin="local",
    )
    return OwnMachine(host, quote)


def _check_free(name: str, items: Items, replaces: Host | None) -> None:
    """Raises ValueError for a name that a GPU, a part or another machine has."""
    held = items.hosts.get(folded(name))
    of_another = held is not None and (replaces is None or held.host_id != replaces.host_id)
    if of_another or name.casefold() in items.parts or normalise(name) in items.gpu_index:
        own = items.own_machine(name)
        how = f"add --item {quoted(name)}"
        if own is not None:
            how = f"correct --machine {quoted(own.name)}"
        raise ValueError(
            f"{shown(name)} is there already: choose another name, or price that with advisor "
            f"prices {how}"
        )


def _host_id(name: str, items: Items) -> str:
    """From the name; a machine that was once called so and renamed keeps its own."""
    text = folded(name)
    while True:
        text = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        if f"{_PREFIX}{text}" not in items.hosts:
            return f"{_PREFIX}{text}"


def _fits(typed: TypedRow, items: Items) -> tuple[str, ...]:
    """The cards that a machine without GPUs takes."""
    text = typed.cells["fits"]
    if typed.cells["gpu"]:
        if text:
            typed.wrong("fits", "is for a machine without GPUs: leave out this or the GPU")
        return ()
    if not text.strip(" ,;"):
        typed.wrong(
            "gpu",
            "is empty: name the GPU that it comes with, or, of a machine without GPUs, the "
            'cards that it takes as fits, as in "RTX 6000 Ada, A6000"',
        )
    return typed.read("fits", lambda text: _cards(text, items.gpu_index)) or ()


def _cards(text: str, index: Mapping[str, Gpu]) -> tuple[str, ...]:
    found = [find_gpu(name, index) for name in re.split(r"[,;]", text) if name.strip()]
    for gpu in found:
        if not gpu.form_factor.startswith("PCIe"):
            raise ValueError(f"{gpu.name} is no card: it comes in whole machines, named as the GPU")
    return tuple(dict.fromkeys(gpu.gpu_id for gpu in found))


def machine_cells(host: Host, gpus: Iterable[Gpu]) -> dict[str, str]:
    """A machine as a person would type it, by column; "" where there is nothing."""
    names = {gpu.gpu_id: gpu.name for gpu in gpus}
    said = {
        "machine": host.name,
        "gpu": names.get(host.gpu_id or ""),
        "count": host.max_gpus,
        "fits": ", ".join(names.get(gpu_id, gpu_id) for gpu_id in host.supported),
        "watts": host.base_w if host.gpu_id is None else host.wall_w,
        "rack_units": 0.0 if host.kind == "desktop" else host.rack_units,
        "host_memory": host.memory_gib,
        "links": host.gpu_link,
        "noise": host.noise_dba,
        "weight": host.weight_kg,
    }
    return {
        name: "" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)
        for name, value in said.items()
    }


def own_machine(text: str, gpus: tuple[Gpu, ...]) -> Host:
    """A machine that the user has, from ``2 x A6000``. Raises InputError."""
    match = re.fullmatch(r"\s*(\d{1,3})\s*[x×*]\s*(\S.*?)\s*", text, re.ASCII | re.IGNORECASE)
    if match is None or not 1 <= int(match[1]) <= MAX_COUNT:
        raise InputError(f"{shown(text)} is no machine: write it like 2 x A6000")
    try:
        gpu = find_gpu(match[2], index_gpus(gpus))
    except ValueError as error:
        raise InputError(str(error)) from None
    count = int(match[1])
    return Host(
        host_id=f"own:{count}x{gpu.gpu_id}",
        name=f"your {count} × {gpu.name}",
        kind="owned",
        max_gpus=count,
        gpu_id=gpu.gpu_id,
        origin="local",
    )
