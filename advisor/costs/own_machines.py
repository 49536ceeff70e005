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
from price_catalog.gpu_names import find_gpu, index_gpus
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


class _Figure(NamedTuple):
    """A number that is said of a machine."""

    least: int | Decimal
    most: int
    words: str
    """What it is a number of, and how to write it."""
    units: tuple[str, ...] = ()
    """What may be written behind it."""


_FIGURES = {
    "count": _Figure(1, MAX_COUNT, f"GPUs: write 1 to {MAX_COUNT}"),
    "watts": _Figure(50, 200_000, "W at the wall, such as 10200", ("watts", "w")),
    "rack_units": _Figure(
        0, 60, "rack units, such as 8, or 0 where it stands on the floor", ("u",)
    ),
    "noise": _Figure(10, 130, "dB(A), such as 50", ("db(a)", "dba", "db")),
    "weight": _Figure(Decimal("0.1"), 5_000, "kg, such as 45", ("kg",)),
    "host_memory": _Figure(1, 65_536, "GiB of memory: write it like 512GB or 1TiB"),
}


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
    form = _MachineForm(cells, gpus, hosts, replaces)
    host = form.host()
    typed = {name: cells.get(name, "") for name in QUOTE_COLUMNS}
    typed["kind"] = typed["kind"].strip() or DEFAULT_KIND
    # Prices are checked for a machine of its kind, also while the machine itself is not right.
    stand_in = host or Host(
        host_id=_PREFIX, name=_PREFIX, kind="server", max_gpus=1, parts=(), gpu_id=form.gpu_id
    )
    typed |= {"item": stand_in.host_id, "corrects": corrects}
    typed["item_kind"] = "host" if stand_in.gpu_id is None else "server"
    others = [other for other in hosts if other.host_id != stand_in.host_id]
    quote = make_quote(typed, Items(gpus, [*others, stand_in], quote_ids), today=today)
    problems = form.problems + (quote if isinstance(quote, list) else [])
    if problems or host is None or isinstance(quote, list):
        return problems
    return OwnMachine(host, quote)


class _MachineForm(TypedRow):
    """The cells of a machine while they are read; collects what is wrong."""

    def __init__(
        self,
        cells: Mapping[str, str],
        gpus: Sequence[Gpu],
        hosts: Sequence[Host],
        replaces: Host | None,
    ) -> None:
        super().__init__()
        self._gpus = index_gpus(gpus)
        self._named = {gpu.gpu_id: gpu for gpu in gpus}
        self._hosts = hosts
        self._replaces = replaces
        self._cells = {name: self.clean(name, cells.get(name, "")) for name in MACHINE_COLUMNS}
        self.gpu_id = self._gpu()

    def host(self) -> Host | None:
        """The machine; None where something is wrong."""
        name, count = self._name(), self._number("count")
        if not self._cells["count"]:
            self.wrong("count", "is empty: say how many GPUs it has or takes, as in 8")
        supported = self._fits()
        watts, rack_units = self._number("watts"), self._number("rack_units")
        self._check_watts(watts, count)
        memory_gib = self._number("host_memory")
        links = self._cells["links"]
        if len(links) > MAX_LINKS:
            self.wrong("links", f"is {len(links)} characters long: write at most {MAX_LINKS}")
        noise, weight = self._number("noise"), self._number("weight")
        if self.problems or name is None or count is None:
            return None
        whole = self.gpu_id is not None
        return Host(
            host_id=self._host_id(name) if self._replaces is None else self._replaces.host_id,
            name=name,
            kind="desktop" if rack_units == 0 else "server",
            max_gpus=int(count),
            parts=(),
            gpu_id=self.gpu_id,
            supported=supported,
            wall_w=watts if whole else None,
            base_w=None if whole else watts,
            rack_units=rack_units,
            memory_gib=memory_gib,
            gpu_link=links or None,
            noise_dba=noise,
            weight_kg=weight,
            origin="local",
        )

    def _name(self) -> str | None:
        name = " ".join(self._cells["machine"].split())
        if not name:
            self.wrong("machine", 'is empty: name the machine, as in "Exxact 8 x H200"')
            return None
        if len(name) > MAX_NAME:
            self.wrong("machine", f"is {len(name)} characters long: write at most {MAX_NAME}")
            return None
        wanted = name.casefold()
        taken = {part.detail.casefold() for host in self._hosts for part in host.parts}
        if self._replaces is None or wanted != self._replaces.name.casefold():
            taken |= {
                spelling.casefold()
                for host in self._hosts
                if self._replaces is None or host.host_id != self._replaces.host_id
                for spelling in (host.host_id, host.name)
            }
        try:
            find_gpu(name, self._gpus)
            taken.add(wanted)
        except ValueError:
            pass
        if wanted in taken:
            own = find_own(name, self._hosts)
            how = (
                f"advisor prices correct --machine {quoted(own.name)}"
                if own is not None
                else f"advisor prices add --item {quoted(name)}"
            )
            self.wrong(
                "machine",
                f"{shown(name)} is there already: choose another name, or price that with {how}",
            )
            return None
        return name

    def _host_id(self, name: str) -> str:
        """From the name; a machine that was once called so and renamed keeps its own."""
        held, text = {host.host_id for host in self._hosts}, _folded(name)
        while True:
            digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
            if f"{_PREFIX}{digest}" not in held:
                return f"{_PREFIX}{digest}"
            text = digest

    def _gpu(self) -> str | None:
        """The GPU that it comes with."""
        text = self._cells["gpu"]
        return self._find("gpu", text) if text else None

    def _find(self, column: str, text: str) -> str | None:
        try:
            return find_gpu(text, self._gpus).gpu_id
        except ValueError as error:
            self.wrong(column, str(error))
            return None

    def _fits(self) -> tuple[str, ...]:
        """The cards that a machine without GPUs takes."""
        text = self._cells["fits"]
        if self._cells["gpu"]:
            if text:
                self.wrong("fits", "is for a machine without GPUs: leave out this or the GPU")
            return ()
        names = [name.strip() for name in re.split(r"[,;]", text) if name.strip()]
        if not names:
            self.wrong(
                "gpu",
                "is empty: name the GPU that it comes with, or, of a machine without GPUs, the "
                'cards that it takes as fits, as in "RTX 6000 Ada, A6000"',
            )
            return ()
        found = []
        for name in names:
            gpu_id = self._find("fits", name)
            if gpu_id is None:
                continue
            gpu = self._named[gpu_id]
            if not gpu.form_factor.startswith("PCIe"):
                self.wrong(
                    "fits", f"{gpu.name} is no card: it comes in whole machines, named as the GPU"
                )
            found.append(gpu_id)
        return tuple(dict.fromkeys(found))

    def _number(self, name: str) -> float | None:
        """A figure; None where there is none, or a wrong one. Of memory a GB and a TB are sold as
        GiB and TiB."""
        text, figure = self._cells[name], _FIGURES[name]
        if not text:
            return None
        if name == "count":
            value: int | Decimal | Fraction | None = read_whole(text)
        elif name == "host_memory":
            value = read_measure(text, "GiB")
        else:
            value = read_amount(text, units=figure.units)
        if value is None or not figure.least <= value <= figure.most:
            why = mistyped(text) if figure.units else None
            self.wrong(name, f"{shown(text)} {why or f'is not a number of {figure.words}'}")
            return None
        return float(value)

    def _check_watts(self, watts: float | None, count: float | None) -> None:
        gpu = self._named.get(self.gpu_id or "")
        if watts is None or count is None or gpu is None or gpu.tdp_w is None:
            return
        if watts < gpu.tdp_w * count:
            self.wrong(
                "watts",
                f"{watts:,.0f} W is less than its {count:.0f} GPUs draw, "
                f"{gpu.tdp_w * count:,.0f} W: write what the whole machine draws at the wall, or "
                "leave it out",
            )


def machine_cells(host: Host, gpus: Iterable[Gpu]) -> dict[str, str]:
    """A machine as a person would type it, by column; "" where there is nothing."""
    names = {gpu.gpu_id: gpu.name for gpu in gpus}
    watts = host.base_w if host.gpu_id is None else host.wall_w
    rack_units = 0.0 if host.kind == "desktop" else host.rack_units
    return {
        "machine": host.name,
        "gpu": names.get(host.gpu_id or "", ""),
        "count": str(host.max_gpus),
        "fits": ", ".join(names.get(gpu_id, gpu_id) for gpu_id in host.supported),
        "watts": _text(watts),
        "rack_units": _text(rack_units),
        "host_memory": _text(host.memory_gib),
        "links": host.gpu_link or "",
        "noise": _text(host.noise_dba),
        "weight": _text(host.weight_kg),
    }


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


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
