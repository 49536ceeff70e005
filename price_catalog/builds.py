"""A build: a host and the GPUs that fill it; whether such a machine can be put together."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

from price_catalog.model import Gpu, Host

GPU_COUNTS = (1, 2, 3, 4, 8)
"""For which predictions ship, and of which machines are made."""
HOST_MEMORY_GIB_PER_GPU = 64
"""What the paper gives each GPU, so that a sharded optimiser can be offloaded to the host."""
COOLINGS = ("passive", "blower", "open-air", "flow-through")
TAKES = ("passive", "blower", "open")
CARD_SHARE, MODULE_SHARE = 0.7, 1.05
"""What a machine draws besides its GPUs, as a share of their TDP, where no source states it: above
what any maker in the catalogue states of a server with cards, and of one with modules."""
LEAST_REST_W = 300.0
"""The same, at least, however small its GPUs."""
_CARD = "PCIe"
_OPEN = ("open-air", "flow-through")


class PowerLimit(NamedTuple):
    """A limit on what each card may draw, and what that costs in speed."""

    watts: float
    """Of one card."""
    slowest: float
    """Speed under it, as a share of the speed without it: of the training that loses most."""
    middle: float
    """Of the middle one of the trainings that were measured."""
    fastest: float
    source_id: str


class Build(NamedTuple):
    """One machine that somebody could buy, add to, or already has.

    A tuple, because every start makes two thousand of them and hands them to another process.
    """

    gpu: Gpu
    gpu_count: int
    host: Host
    gpus_owned: int = 0
    """How many of the GPUs need not be bought."""
    obstacle: str | None = None
    """Why it cannot be put together, in words; None where nothing known speaks against it."""
    unknown: tuple[str, ...] = ()
    """What would have to be known to say that it can be; () where it can, or cannot."""
    limit: PowerLimit | None = None
    """The limit on its cards under which the lab's circuit carries it; None: none is needed."""
    machines: int = 1
    """So many alike, for one model, each with ``gpu_count`` GPUs in such a host."""

    @property
    def cards(self) -> tuple[str, int, int]:
        """What tells its GPUs from those of another build: which, how many a machine, machines."""
        return self.gpu.gpu_id, self.gpu_count, self.machines

    @property
    def host_owned(self) -> bool:
        """Whether the machine itself need not be bought."""
        return self.host.kind == "owned"


def enumerate_builds(
    gpus: Iterable[Gpu],
    hosts: Iterable[Host],
    counts: Iterable[int] = GPU_COUNTS,
    *,
    checked: bool = True,
) -> tuple[Build, ...]:
    """Each GPU in each host that takes exactly this many, by GPU, then count, then host.

    A whole server comes with its own GPUs only. GPUs that the user owns count where they are, and
    in each larger host as an upgrade. Without ``checked`` the hosts are taken at their word.
    """
    hosts, counts = tuple(hosts), tuple(counts)
    owned: dict[str | None, int] = {}
    for host in hosts:
        if host.kind == "owned":
            owned[host.gpu_id] = max(owned.get(host.gpu_id, 0), host.max_gpus)
    filled = [host for host in hosts if host.gpu_id is not None]
    bare = [host for host in hosts if host.gpu_id is None]
    builds: list[Build] = []
    for gpu in gpus:
        found = []
        have = owned.get(gpu.gpu_id, 0)
        for host in (*bare, *(each for each in filled if each.gpu_id == gpu.gpu_id)):
            whole = host.gpu_id is not None
            count = host.max_gpus if whole else holds(host, gpu)
            if not (count in counts or host.kind == "owned" or host.is_own_quote):
                continue  # the user's may be of any size
            obstacle = find_obstacle(gpu, count, host) if checked and not whole else None
            known = whole or not checked or obstacle is not None
            unknown = () if known else not_known(gpu, count, host)
            mine = have if not whole and have < count else 0
            mine = count if host.kind == "owned" else mine
            found.append(Build(gpu, count, host, mine, obstacle, unknown))
        found.sort(key=itemgetter(1))  # by count
        builds += found
    return tuple(builds)


def holds(host: Host, gpu: Gpu) -> int:
    """How many of these GPUs fill the host: fewer where they are cards that blow into the case."""
    return host.open_gpus if host.open_gpus and _air(gpu) == "open" else host.max_gpus


def _air(gpu: Gpu) -> str | None:
    """How a card is cooled, as a host takes it; None where it is not known."""
    return "open" if gpu.cooling in _OPEN else gpu.cooling


def find_obstacle(gpu: Gpu, count: int, host: Host) -> str | None:
    """Why this many of these GPUs cannot run in this host; None where nothing known forbids it."""
    if not gpu.form_factor.startswith(_CARD):
        return f"{gpu.form_factor} parts come only on boards and in whole servers"
    if gpu.gpu_id not in host.supported:
        if host.is_own_quote:
            return f"you entered {host.name} for other cards"
        if misfit := _misfit(gpu, count, host):
            return misfit
    if gpu.tdp_w is not None:
        draw_w = gpu.tdp_w * count + (host.base_w or 0.0)
        if host.psu_w is not None and draw_w > host.psu_w:
            return (
                f"GPUs and processors draw {draw_w:g} W, the power supplies of {host.name} give "
                f"{host.psu_w:g} W"
            )
    needed_gib = HOST_MEMORY_GIB_PER_GPU * count
    if host.memory_gib is not None and host.memory_gib < needed_gib:
        return f"{host.name} has {host.memory_gib:g} GB of memory, offloading wants {needed_gib}"
    return None


def _misfit(gpu: Gpu, count: int, host: Host) -> str | None:
    """Why the cards cannot be held or cooled, whatever their power and the memory."""
    air = _air(gpu)
    if air is not None and host.takes and air not in host.takes:
        return _no_air(air, count, host)
    width, room = gpu.slot_width, host.slot_width
    if width is not None and room is not None and width > room:
        return f"a card takes {width} slots, {host.name} has {room} for each"
    if gpu.tdp_w is not None and host.max_gpu_w is not None and gpu.tdp_w > host.max_gpu_w:
        return (
            f"a card draws {gpu.tdp_w:g} W, {host.name} is sold with cards of at most "
            f"{host.max_gpu_w:g} W"
        )
    return None


def _no_air(air: str, count: int, host: Host) -> str:
    if air == "passive":
        return "a card without a fan needs a server's air, which a desktop lacks"
    if air == "open" and host.kind == "desktop":
        return (
            f"a card that blows into the case heats the next one: {host.name} takes {count} cards "
            "that blow out at the back"
        )
    if air == "open":
        return (
            "a card that blows into the case does not fit the bays of a server, which cool cards "
            f"end to end, and no host for {count} such cards is known here"
        )
    return f"{host.name} takes no {air} card"


def not_known(gpu: Gpu, count: int, host: Host) -> tuple[str, ...]:
    """What no source was found to state, so that it is not known whether these cards fit.

    A card that the maker names fits, with the supplies that the maker sells for it; of one alone
    the width is no question. What the processors draw matters where the supplies would not give the
    estimate too. A whole server comes with its GPUs: only its memory may not be known. Of a machine
    that the user entered the vendor was asked.
    """
    if host.is_own_quote:
        return ()
    if host.gpu_id is not None:
        return () if host.memory_gib is not None else ("memory",)
    gaps = []
    if gpu.gpu_id not in host.supported:
        if not host.takes or gpu.cooling is None:
            gaps.append("cooling")
        if count > 1 and (host.slot_width is None or gpu.slot_width is None):
            gaps.append("slots")
        if host.kind == "server" and (host.max_gpu_w is None or gpu.tdp_w is None):
            gaps.append("power per card")
    if gpu.tdp_w is None or host.psu_w is None:
        if gpu.gpu_id not in host.supported:
            gaps.append("power supply")
    elif host.base_w is None and gpu.tdp_w * count + rest_w(gpu, count) > host.psu_w:
        gaps.append("processor power")
    if host.memory_gib is None:
        gaps.append("memory")
    return tuple(gaps)


def rest_w(gpu: Gpu, count: int) -> float:
    """What a machine draws besides these GPUs, estimated where no source states it, in W."""
    share = CARD_SHARE if gpu.form_factor.startswith(_CARD) else MODULE_SHARE
    return max(share * (gpu.tdp_w or 0.0) * count, LEAST_REST_W)


def rack_units_of(host: Host) -> float | None:
    """What a machine takes in a rack: nothing where it stands on the floor; None: not known."""
    return 0.0 if host.kind == "desktop" else host.rack_units
