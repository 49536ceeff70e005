"""A build: a host and the GPUs that fill it; whether such a machine can be put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from price_catalog.model import Gpu, Host

GPU_COUNTS = (1, 2, 4, 8)
HOST_MEMORY_GIB_PER_GPU = 64
"""What the paper gives each GPU, so that a sharded optimiser can be offloaded to the host."""
_CARD = "PCIe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One machine that somebody could buy, add to, or already has."""

    gpu: Gpu
    gpu_count: int
    host: Host
    gpus_owned: int = 0
    """How many of the GPUs need not be bought."""
    obstacle: str | None = None
    """Why it cannot be put together, in words; None where nothing known speaks against it."""

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
    """Each GPU in each host that takes exactly so many, by GPU, then count, then host.

    A whole server comes with its own GPUs only. GPUs that the user owns count where they are, and
    in each larger host as an upgrade. Without ``checked`` the hosts are taken at their word.
    """
    hosts, counts = tuple(hosts), tuple(counts)
    empty = [
        (count, host)
        for count in counts
        for host in hosts
        if host.max_gpus == count and host.gpu_id is None
    ]
    filled: dict[str, list[Host]] = {}
    for host in hosts:
        if host.gpu_id is not None and (host.kind == "owned" or host.max_gpus in counts):
            filled.setdefault(host.gpu_id, []).append(host)
    builds: list[Build] = []
    for gpu in gpus:
        theirs = [
            Build(
                gpu=gpu,
                gpu_count=count,
                host=host,
                obstacle=find_obstacle(gpu, count, host) if checked else None,
            )
            for count, host in empty
        ]
        if gpu.gpu_id in filled:
            theirs = _with_own_gpus(gpu, filled[gpu.gpu_id], theirs)
        builds += theirs
    return tuple(builds)


def _with_own_gpus(gpu: Gpu, hosts: Sequence[Host], bare: Sequence[Build]) -> list[Build]:
    """The builds of one GPU with its whole servers and owned machines among them.

    Who has some of the GPUs buys only the others for a larger host.
    """
    most = max((host.max_gpus for host in hosts if host.kind == "owned"), default=0)
    upgraded = [
        replace(build, gpus_owned=most) if build.gpu_count > most else build for build in bare
    ]
    whole = [
        Build(
            gpu=gpu,
            gpu_count=host.max_gpus,
            host=host,
            gpus_owned=host.max_gpus if host.kind == "owned" else 0,
        )
        for host in hosts
    ]
    return sorted([*upgraded, *whole], key=lambda build: build.gpu_count)


def find_obstacle(gpu: Gpu, count: int, host: Host) -> str | None:
    """Why so many of these GPUs cannot run in this host; None where nothing known forbids it."""
    if host.takes and gpu.form_factor not in host.takes:
        return _misfit(gpu, count, host)
    width, room = gpu.slot_width, host.slot_width
    if width is not None and room is not None and width > room:
        return f"a card takes {width} slots, {host.name} has {room} for each"
    if gpu.tdp_w is not None:
        if host.max_gpu_w is not None and gpu.tdp_w > host.max_gpu_w:
            return (
                f"a card draws {gpu.tdp_w:g} W, {host.name} is sold with cards of at most "
                f"{host.max_gpu_w:g} W"
            )
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


def not_known(gpu: Gpu, host: Host) -> tuple[str, ...]:
    """What `find_obstacle` could not look at, because nobody was found who states it."""
    if host.gpu_id is not None:  # it comes with its GPUs, so they fit
        return () if host.memory_gib is not None else ("memory",)
    gaps = []
    if not host.takes:
        gaps.append("form factor")
    if host.slot_width is None or gpu.slot_width is None:
        gaps.append("slots")
    if gpu.tdp_w is None or host.psu_w is None:
        gaps.append("power supply")
    elif host.base_w is None:
        gaps.append("what the processors draw")
    if host.memory_gib is None:
        gaps.append("memory")
    return tuple(gaps)


def _misfit(gpu: Gpu, count: int, host: Host) -> str:
    if not gpu.form_factor.startswith(_CARD):
        return f"{gpu.form_factor} parts come only on boards and in whole servers"
    if host.kind == "desktop":
        return "a card without a fan needs a server's air, which a desktop lacks"
    return (
        "a consumer card does not fit the bays of a server, which cool cards end to end, and no "
        f"host for {count} such cards has a known price: add one with advisor prices add"
    )


def rack_units_of(host: Host) -> float | None:
    """What a machine takes in a rack: nothing where it stands on the floor; None: not known."""
    return 0.0 if host.kind == "desktop" else host.rack_units
