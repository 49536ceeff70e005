"""Several machines for one model: what a time on one of them becomes, over which network (pure).

    time on N machines = time on one / N x (1 + wait log2 N + cost x wire / computing)

``wire`` is what a ring all-reduce between N machines sends through one machine's network at line
rate (Thakur et al., 2005): 2 (N - 1) / N of the bytes exchanged in a step. ``wait`` is what the
machines lose to each other a doubling, ``cost`` how much of the wire's time shows: below 1 where
some of it hides behind computing, above it where the protocol stays below line rate. Both follow
from public measurements (`tools.fit.scaling`), as does how far a loss may be off. No
loss is negative: nothing is faster than linear.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from advisor.typed_input import InputError, parse_choice, shown
from bench_runner.typed_numbers import read_whole

Fabric = Literal["ethernet-10", "ethernet-25", "ethernet-100", "infiniband-hdr", "infiniband-ndr"]
"""One port a machine: Ethernet by TCP, InfiniBand by remote direct memory access."""
FABRICS: tuple[Fabric, ...] = get_args(Fabric)
KEPT = Path(__file__).with_name("scaling.json")
OCTAVE_SPREAD = 0.35
"""What each doubling between a network's speed and the nearest measured one adds to the standard
deviation of a loss's logarithm. A judgement: nothing was measured there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The network between machines."""

    gbit: float
    """Gigabits a second of one machine, one way."""
    direct: bool
    """Whether GPUs' memory is reached directly (InfiniBand, RoCE), and not by TCP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """What public measurements over several machines say; see `tools.fit.scaling`."""

    wait: float
    """Share of the computing that each doubling of the machines loses."""
    direct_cost: float
    """Seconds that show for each second on the wire, with direct memory access."""
    tcp_cost: float
    """The same by TCP."""
    spread: float
    """Standard deviation of the logarithm of a loss of a new source, measured over predicted."""
    t90: float
    """So many of them either side hold 9 in 10: Student's t with as many sources."""
    direct_gbit: tuple[float, ...]
    """The speeds that were measured."""
    tcp_gbit: tuple[float, ...]
    rows: int
    sources: int


def parse_fabric(text: str) -> Fabric:
    """A network by its name. Raises InputError."""
    return parse_choice(text, FABRICS, "network", last=", ")


def link_of(fabric: Fabric) -> Link:
    """What a name stands for."""
    speeds = {"hdr": 200.0, "ndr": 400.0}
    kind, _, speed = fabric.partition("-")
    return Link(gbit=speeds.get(speed) or float(speed), direct=kind == "infiniband")


def link_of_speed(gbit: float) -> Link:
    """A network of which only the speed is told: up to 100 Gbit/s as Ethernet, above InfiniBand."""
    return Link(gbit=gbit, direct=gbit > 100.0)


def fabric_words(fabric: Fabric) -> str:
    """``25 Gbit/s Ethernet``, ``InfiniBand HDR``."""
    kind, _, speed = fabric.partition("-")
    return f"{speed} Gbit/s Ethernet" if kind == "ethernet" else f"InfiniBand {speed.upper()}"


@cache
def kept_scaling() -> Scaling:
    """The fit that ships."""
    row = json.loads(KEPT.read_text(encoding="utf-8"))
    lists = {name: tuple(row[name]) for name in ("direct_gbit", "tcp_gbit")}
    return Scaling(**{**row, **lists})


def doubt(link: Link, scaling: Scaling | None = None) -> float:
    """By which factor what a network costs may be off, at 90 %."""
    fit = scaling or kept_scaling()
    measured = fit.direct_gbit if link.direct else fit.tcp_gbit
    octaves = min((abs(math.log2(link.gbit / speed)) for speed in measured), default=0.0)
    return math.exp(fit.t90 * math.hypot(fit.spread, OCTAVE_SPREAD * octaves))


def parse_machines(text: str, most: int) -> int:
    """How many machines. Raises InputError."""
    machines = read_whole(text)
    if machines is None or machines > most:
        raise InputError(
            f"the number of machines {shown(text)} is not a whole number from 1 to {most}"
        )
    return machines
