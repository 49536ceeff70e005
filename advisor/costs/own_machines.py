"""The user's own machines: those they have, and those that a vendor quoted, with their price.

Read whole: a machine without a sound price, or a price without a sound machine, is neither.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from typing import NamedTuple

from advisor.costs.own_quotes import COLUMNS, Column, Items, RowError, TypedRow, make_quote
from advisor.typed_input import InputError, shown
from bench_runner.typed_numbers import mistyped, read_amount, read_measure, read_whole
from price_catalog.gpu_names import find_gpu, index_gpus, normalise
from price_catalog.model import Gpu, Host, Quote

MACHINE_TABLE = (
    Column("machine", "Name", "NAME", "Exxact 8 x H200"),
    Column("gpu", "GPU", "GPU", "H200; empty: without"),
    Column("count", "How many", "N", "8, or cards it takes"),
    Column("fits", "Takes cards", "GPUS", "A6000, L40S; no GPU"),
    Column("watts", "Watts", "W", "at the wall: 10200"),
    Column("rack_units", "Rack units", "U", "8; 0: on the floor"),
    Column("host_memory", "Memory", "GIB", "1TiB"),
    Column("links", "Links", "WORDS", "NVLink"),
    Column("noise", "Noise dB(A)", "DBA", "50"),
    Column("weight", "Weight kg", "KG", "45"),
)
"""What is said of the machine; the other columns are those of a quote."""
MACHINE_COLUMNS = tuple(column.name for column in MACHINE_TABLE)
QUOTE_COLUMNS = tuple(name for name in COLUMNS if name not in ("item", "item_kind", "corrects"))
DEFAULT_KIND = "reseller-quote"
MAX_NAME, MAX_LINKS, MAX_COUNT = 80, 200, 64
_PREFIX = "machine:"


_FIGURES: Mapping[str, tuple[int | Decimal, int, str, tuple[str, ...]]] = {
    "count": (1, MAX_COUNT, f"GPUs: write 1 to {MAX_COUNT}", ()),
    "watts": (50, 200_000, "W at the wall, such as 10200", ("watts", "w")),
    "rack_units": (0, 60, "rack units, such as 8, or 0 where it stands on the floor", ("u",)),
    "noise": (10, 130, "dB(A), such as 50", ("db(a)", "dba", "db")),
    "weight": (Decimal("0.1"), 5_000, "kg, such as 45", ("kg",)),
    "host_memory": (1, 65_536, "GiB of memory: write it like 512GB or 1TiB", ()),
}
"""The numbers of a machine: the least, the most, what it is a number of, and what may be written
behind it."""


class OwnMachine(NamedTuple):
    """A machine and what a vendor asks for it."""

    host: Host
    quote: Quote


def quoted(name: str) -> str:
    """A name as it is typed in a command: with quotes where it needs them."""
    return f'"{name}"' if not set(name) & set('"$`\\!') else shlex.quote(name)


def find_own(name: str, hosts: Iterable[Host]) -> Host | None:
    """The machine of the user's that goes by this name, in any case."""
    wanted = _folded(name)
    own = (host for host in hosts if host.is_own_quote)
    return next((host for host in own if _folded(host.name) == wanted), None)


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def read_machine(
    cells: Mapping[str, str],
    gpus: Sequence[Gpu],
    hosts: Sequence[Host],
    quote_ids: Iterable[str] = (),
    *,
    today: date,
    replaces: Host | None = None,
    corrects: str = "",
) -> OwnMachine | list[RowError]:
    """A machine with its price from what was typed, or all that is wrong with it.

    ``replaces`` is the machine of the user's that this one corrects, ``corrects`` its quote.
    """
    typed = TypedRow(cells, MACHINE_COLUMNS)
    index = index_gpus(gpus)
    gpu = typed.read("gpu", lambda text: find_gpu(text, index))
    host = _host(typed, gpu, index, hosts, replaces)
    quoted_cells = {name: cells.get(name, "") for name in QUOTE_COLUMNS}
    quoted_cells["kind"] = quoted_cells["kind"].strip() or DEFAULT_KIND
    # Prices are checked for a machine of its kind, also while the machine itself is not right.
    stand_in = host or Host(
        host_id=_PREFIX,
        name=_PREFIX,
        kind="server",
        max_gpus=1,
        parts=(),
        gpu_id=None if gpu is None else gpu.gpu_id,
    )
    quoted_cells |= {"item": stand_in.host_id, "corrects": corrects}
    quoted_cells["item_kind"] = "host" if stand_in.gpu_id is None else "server"
    others = [other for other in hosts if other.host_id != stand_in.host_id]
    quote = make_quote(quoted_cells, Items(gpus, [*others, stand_in], quote_ids), today=today)
    problems = typed.problems + (quote if isinstance(quote, list) else [])
    if problems or host is None or isinstance(quote, list):
        return problems
    return OwnMachine(host, quote)


def _host(
    typed: TypedRow,
    gpu: Gpu | None,
    index: Mapping[str, Gpu],
    hosts: Sequence[Host],
    replaces: Host | None,
) -> Host | None:
    """The machine; None where something is wrong."""
    for column, how in (
        ("machine", 'is empty: name the machine, as in "Exxact 8 x H200"'),
        ("count", "is empty: say how many GPUs it has or takes, as in 8"),
    ):
        if not typed.cells[column]:
            typed.wrong(column, how)
    name = typed.read("machine", lambda text: _free_name(text, hosts, index, replaces))
    supported = _fits(typed, index)
    figures = {
        name: typed.read(name, lambda text, name=name: _figure(name, text))  # type: ignore[misc]
        for name in _FIGURES
    }
    count, watts, rack_units = figures["count"], figures["watts"], figures["rack_units"]
    if watts and count and gpu and watts < (gpu.tdp_w or 0) * count:
        typed.wrong(
            "watts",
            f"{watts:,.0f} W is less than its {count:.0f} GPUs draw, "
            f"{(gpu.tdp_w or 0) * count:,.0f} W: write what the whole machine draws at the wall, "
            "or leave it out",
        )
    links = typed.read("links", lambda text: _short(text, MAX_LINKS))
    if typed.problems or name is None or count is None:
        return None
    return Host(
        host_id=_host_id(name, hosts) if replaces is None else replaces.host_id,
        name=name,
        kind="desktop" if rack_units == 0 else "server",
        max_gpus=int(count),
        parts=(),
        gpu_id=None if gpu is None else gpu.gpu_id,
        supported=supported,
        wall_w=None if gpu is None else watts,
        base_w=watts if gpu is None else None,
        rack_units=rack_units,
        memory_gib=figures["host_memory"],
        gpu_link=links,
        noise_dba=figures["noise"],
        weight_kg=figures["weight"],
        origin="local",
    )


def _short(text: str, most: int) -> str:
    if len(text) > most:
        raise ValueError(f"is {len(text)} characters long: write at most {most}")
    return text


def _free_name(
    text: str, hosts: Sequence[Host], index: Mapping[str, Gpu], replaces: Host | None
) -> str:
    """A name that no GPU, part or other machine has."""
    name = _short(" ".join(text.split()), MAX_NAME)
    if replaces is not None and name.casefold() == replaces.name.casefold():
        return name
    taken = {part.detail.casefold() for host in hosts for part in host.parts}
    for host in hosts:
        if replaces is None or host.host_id != replaces.host_id:
            taken |= {host.host_id.casefold(), host.name.casefold()}
    if name.casefold() not in taken and normalise(name) not in index:
        return name
    own = find_own(name, hosts)
    how = f"add --item {quoted(name)}" if own is None else f"correct --machine {quoted(own.name)}"
    raise ValueError(
        f"{shown(name)} is there already: choose another name, or price that with advisor prices "
        f"{how}"
    )


def _host_id(name: str, hosts: Sequence[Host]) -> str:
    """From the name; a machine that was once called so and renamed keeps its own."""
    held, text = {host.host_id for host in hosts}, _folded(name)
    while True:
        text = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        if f"{_PREFIX}{text}" not in held:
            return f"{_PREFIX}{text}"


def _fits(typed: TypedRow, index: Mapping[str, Gpu]) -> tuple[str, ...]:
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
    return typed.read("fits", lambda text: _cards(text, index)) or ()


def _cards(text: str, index: Mapping[str, Gpu]) -> tuple[str, ...]:
    found = [find_gpu(name, index) for name in re.split(r"[,;]", text) if name.strip()]
    for gpu in found:
        if not gpu.form_factor.startswith("PCIe"):
            raise ValueError(f"{gpu.name} is no card: it comes in whole machines, named as the GPU")
    return tuple(dict.fromkeys(gpu.gpu_id for gpu in found))


def _figure(name: str, text: str) -> float:
    """A number of a machine. Of memory a GB and a TB are sold as GiB and TiB."""
    least, most, words, units = _FIGURES[name]
    value: int | Decimal | Fraction | None
    if name == "count":
        value = read_whole(text)
    elif name == "host_memory":
        value = read_measure(text, "GiB")
    else:
        value = read_amount(text, units=units)
    if value is None or not least <= value <= most:
        why = mistyped(text) if units else None
        raise ValueError(f"{shown(text)} {why or f'is not a number of {words}'}")
    return float(value)


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


MAX_OWNED = 64


def own_machine(text: str, gpus: tuple[Gpu, ...]) -> Host:
    """A machine that the user has, from ``2 x A6000``. Raises InputError."""
    match = re.fullmatch(r"\s*(\d{1,3})\s*[x×*]\s*(\S.*?)\s*", text, re.ASCII | re.IGNORECASE)
    if match is None or not 1 <= int(match[1]) <= MAX_OWNED:
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
        parts=(),
        gpu_id=gpu.gpu_id,
        origin="local",
    )
