"""A build: a host and the GPUs that fill it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from price_catalog.model import Gpu, Host

GPU_COUNTS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One machine that somebody could buy."""

    gpu: Gpu
    gpu_count: int
    host: Host


def enumerate_builds(
    gpus: Iterable[Gpu], hosts: Iterable[Host], counts: Iterable[int] = GPU_COUNTS
) -> tuple[Build, ...]:
    """Each GPU in each host that takes exactly so many of them, by GPU, then count, then host."""
    hosts = tuple(hosts)
    fitting = [(count, host) for count in counts for host in hosts if host.max_gpus == count]
    return tuple(
        Build(gpu=gpu, gpu_count=count, host=host) for gpu in gpus for count, host in fitting
    )
