"""What a build draws at the wall, which circuit carries it and what heat the room must take."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, NamedTuple

from price_catalog.builds import HOST_MEMORY_GIB_PER_GPU, Build, rest_w

BTU_PER_HOUR_PER_WATT = 3.412
CONTINUOUS_SHARE = 0.8
"""A breaker carries this much of its rating for hours (the US electrical code's 80 % rule)."""
CIRCUITS = ((120, (15, 20, 30)), (208, (20, 30, 50, 60)), (230, (16, 32, 63)))
"""Volts, and the breakers in A that such circuits usually have."""
MOST_OUTLET_A = 32
"""The largest of these breakers behind an outlet in a wall; above it a machine room has
them."""

MEMORY_W_PER_GIB = 0.4
"""0.3 to 0.5 W a GB as a general page has it (source memory-and-drive-watts)."""
DRIVES_W = 20.0
"""Two drives of 10 W, the upper end of the same page."""
SERVER_FAN_SHARE = 0.15
"""Of all that a server draws: the upper end of 10 to 15 % (source server-power-shares)."""
DESKTOP_FANS_W = 36.0
"""Six case fans of 6 W, the upper end of a general page (source case-fan-watts)."""
LEAST_EFFICIENCY = 0.80
"""Of a supply of which no source states a class: what the lowest of 80 PLUS demands at any load
(source eighty-plus). No class wastes more; what has no class is not sold in such machines."""


class Circuit(NamedTuple):
    """One supply at one voltage."""

    volts: int
    amps: float
    breaker_a: int | None
    """The smallest usual breaker that carries it for hours; None where several are needed."""


Basis = Literal["stated", "estimated", "parts", "supply"]
"""What the watts at the wall rest on: ``stated`` of the whole machine; ``estimated``, as no source
states what the rest draws; ``parts``, cards and processors as stated, with fans, memory and drives
estimated; ``supply``, the same with LEAST_EFFICIENCY, as no source states the supplies'. Of a
machine that the user entered, what is stated is what was typed, which is of all but the cards."""


ESTIMATED: tuple[Basis, ...] = ("estimated", "supply")
"""Of these much is estimated."""


class PowerFigures(NamedTuple):
    """What a machine's power at full load is computed from, in W; None where not known."""

    gpu_w: Decimal | None
    """One GPU: its TDP, or what was measured."""
    gpu_count: int
    basis: Basis = "stated"
    base_w: Decimal | None = None
    """The processors, all GPUs aside; where it is estimated, with what the supplies waste in it."""
    psu_efficiency: Decimal | None = None
    """Between 0 and 1; None where the other figures are of the wall already."""
    stated_w: Decimal | None = None
    """A maker's own figure for a whole server; it counts as it is."""
    beside_w: Decimal | None = None
    """Fans, memory and drives, where ``base_w`` is the processors alone: `beside_w`'s estimate."""

    @property
    def wall_w(self) -> Decimal | None:
        """W at the wall; None where the GPUs' power is not known."""
        if self.stated_w is not None:
            return self.stated_w
        if self.gpu_w is None:
            return None
        count = Decimal(self.gpu_count)
        base = (self.base_w or Decimal(0)) + (self.beside_w or Decimal(0))
        return at_the_wall_w(self.gpu_w, count, base, self.psu_efficiency or Decimal(1))


def at_the_wall_w(
    gpu_w: Decimal, gpu_count: Decimal, base_w: Decimal, psu_efficiency: Decimal = Decimal(1)
) -> Decimal:
    """GPUs and processors, over the efficiency of the power supplies."""
    return (gpu_w * gpu_count + base_w) / psu_efficiency


def power_figures(
    build: Build, measured_gpu_w: float | None = None, *, base_w: Decimal | None = None
) -> PowerFigures:
    """A build's figures: GPUs at their TDP, unless a measured power of one GPU is given.

    ``base_w`` counts where the host's own is not known; without it the rest is estimated. Of a
    server whose maker states one figure only the GPUs' share changes with a measurement. Several
    machines draw what they draw together.
    """
    host, tdp_w, together = build.host, build.gpu.tdp_w, Decimal(build.machines)
    if measured_gpu_w is None and build.limit is not None:
        measured_gpu_w = build.limit.watts
    gpu_w = tdp_w if measured_gpu_w is None else measured_gpu_w
    exact_w = None if gpu_w is None else Decimal(str(gpu_w))
    figures = PowerFigures(exact_w, build.gpu_count * build.machines)
    if host.wall_w is not None and (measured_gpu_w is None or tdp_w is not None):
        more_w = ((gpu_w or 0.0) - (tdp_w or 0.0)) * build.gpu_count
        return figures._replace(stated_w=Decimal(str(host.wall_w + more_w)) * together)
    known = base_w if host.base_w is None else Decimal(str(host.base_w))
    if known is None:  # as makers state it of whole machines: at the wall
        known = None if gpu_w is None else Decimal(str(_estimated_rest_w(build))) * together
        return figures._replace(base_w=known, basis="estimated")
    efficiency, beside = Decimal(str(host.psu_efficiency or LEAST_EFFICIENCY)), None
    if host.base_w is not None and host.is_own_quote:
        known *= efficiency  # typed at the wall, with fans, memory, drives and the supplies' loss
    elif host.base_w is not None:
        beside = Decimal(str(beside_w(build))) * together
    return figures._replace(
        basis="parts" if host.psu_efficiency else "supply",
        base_w=known * together,
        psu_efficiency=efficiency,
        beside_w=beside,
    )


def beside_w(build: Build) -> float:
    """What fans, memory and drives draw with the GPUs at full load, estimated in W."""
    host, count = build.host, build.gpu_count
    memory_gib = host.memory_gib or float(HOST_MEMORY_GIB_PER_GPU * count)
    parts_w = MEMORY_W_PER_GIB * memory_gib + DRIVES_W
    if host.kind == "desktop":
        return round(parts_w + DESKTOP_FANS_W, 1)
    rest_of_it_w = (build.gpu.tdp_w or 0.0) * count + (host.base_w or 0.0) + parts_w
    return round(parts_w + rest_of_it_w * SERVER_FAN_SHARE / (1 - SERVER_FAN_SHARE), 1)


def _estimated_rest_w(build: Build) -> float:
    """What is not GPUs, in W at the wall: never more than its power supplies take for it."""
    host, estimate = build.host, rest_w(build.gpu, build.gpu_count)
    if host.psu_w is None:
        return estimate
    most_w = host.psu_w / (host.psu_efficiency or LEAST_EFFICIENCY)
    return max(0.0, min(estimate, most_w - (build.gpu.tdp_w or 0.0) * build.gpu_count))


def wall_w(build: Build, measured_gpu_w: float | None = None) -> float | None:
    """W at the wall at full load, estimated where it must be; None where the GPUs' power is not
    known."""
    watts = power_figures(build, measured_gpu_w).wall_w
    return None if watts is None else float(watts)


def is_estimated(build: Build) -> bool:
    """Whether much of what a build draws is estimated, because no source states it."""
    return power_figures(build).basis in ESTIMATED


def circuits(watts: float) -> tuple[Circuit, ...]:
    """What the build needs at each voltage."""
    found = []
    for volts, breakers in CIRCUITS:
        amps = watts / volts
        enough = (b for b in breakers if b * CONTINUOUS_SHARE >= amps)
        found.append(Circuit(volts, amps, next(enough, None)))
    return tuple(found)


def needs_machine_room(watts: float) -> bool:
    """Whether no usual outlet carries so much for hours, at any of the voltages."""
    return all(c.breaker_a is None or c.breaker_a > MOST_OUTLET_A for c in circuits(watts))


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
    draws = "is estimated to draw" if is_estimated(build) else "draws"
    return (
        f"it {draws} {watts:,.0f} W at the wall, {watts / supply.volts:.1f} A; a circuit of "
        f"{supply.volts} V and {supply.breaker_a} A carries {supply.watts:,.0f} W for hours"
    )


def heat_btu_per_h(watts: float) -> float:
    """The heat that cooling must carry away: all of the power."""
    return watts * BTU_PER_HOUR_PER_WATT
