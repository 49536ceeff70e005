"""What a build draws at the wall, which circuit carries it and what heat the room must take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from price_catalog.builds import Build

BTU_PER_HOUR_PER_WATT = 3.412
CONTINUOUS_SHARE = 0.8
"""A breaker carries this much of its rating for hours (the US electrical code's 80 % rule)."""
CIRCUITS = ((120, (15, 20, 30)), (208, (20, 30, 50, 60)), (230, (16, 32, 63)))
"""Volts, and the breakers in A that such circuits usually have."""


class Circuit(NamedTuple):
    """One supply at one voltage."""

    volts: int
    amps: float
    breaker_a: int | None
    """The smallest usual breaker that carries it for hours; None where several are needed."""


def wall_w(build: Build, measured_gpu_w: float | None = None) -> float | None:
    """W at the wall at full load; None where the GPUs' power is not known.

    GPUs at their TDP, unless a measured power of one GPU is given, and the processors, over the
    efficiency of the power supplies. A maker's own figure for a whole server counts as it is.
    """
    host = build.host
    if host.wall_w is not None and measured_gpu_w is None:
        return host.wall_w
    gpu_w = build.gpu.tdp_w if measured_gpu_w is None else measured_gpu_w
    if gpu_w is None:
        return None
    return (gpu_w * build.gpu_count + (host.base_w or 0.0)) / (host.psu_efficiency or 1.0)


def circuits(watts: float) -> tuple[Circuit, ...]:
    """What the build needs at each voltage."""
    found = []
    for volts, breakers in CIRCUITS:
        amps = watts / volts
        enough = (b for b in breakers if b * CONTINUOUS_SHARE >= amps)
        found.append(Circuit(volts, amps, next(enough, None)))
    return tuple(found)


class Supply(NamedTuple):
    """The circuit that a lab has: one of the usual ones, or any other."""

    volts: int
    breaker_a: int

    @property
    def watts(self) -> float:
        """What it carries for hours."""
        return self.volts * self.breaker_a * CONTINUOUS_SHARE


def supply_obstacle(build: Build, supply: Supply) -> str | None:
    """Why a circuit does not carry a build; None where it does, or where its power is unknown."""
    watts = wall_w(build)
    if watts is None or watts <= supply.watts:
        return None
    return (
        f"it draws {watts:,.0f} W at the wall, {watts / supply.volts:.1f} A; a circuit of "
        f"{supply.volts} V and {supply.breaker_a} A carries {supply.watts:,.0f} W for hours"
    )


def heat_btu_per_h(watts: float) -> float:
    """The heat that cooling must carry away: all of the power."""
    return watts * BTU_PER_HOUR_PER_WATT


def on_circuit(builds: Iterable[Build], supply: Supply | None) -> tuple[Build, ...]:
    """The builds; those that the circuit does not carry cannot be built, and say why.

    Without a circuit nothing changes. What draws an unknown power is not judged.
    """
    if supply is None:
        return tuple(builds)
    return tuple(
        build
        if build.obstacle is not None or (reason := supply_obstacle(build, supply)) is None
        else replace(build, obstacle=reason)
        for build in builds
    )
