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
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from advisor.parse import InputError, parse_choice, shown
from advisor.ranking.times import Model, TrainingTime
from bench_runner.records.measurement import Settings
from bench_runner.settings.space import accumulation_steps, even_batch, micro_batch_sizes
from bench_runner.typed_numbers import read_whole

Fabric = Literal["ethernet-10", "ethernet-25", "ethernet-100", "infiniband-hdr", "infiniband-ndr"]
"""One port a machine: Ethernet by TCP, InfiniBand by remote direct memory access."""
FABRICS: tuple[Fabric, ...] = get_args(Fabric)
KEPT = Path(__file__).with_name("scaling.json")
OCTAVE_SPREAD = 0.35
"""What each doubling between a network's speed and the nearest measured one adds to the standard
deviation of a loss's logarithm. A judgement: nothing was measured there."""
SECONDS_PER_DAY = 86_400.0
STAGES = {"zero-1": 1, "zero-2": 2, "fsdp-shard-grad-op": 2, "zero-3": 3, "fsdp-full-shard": 3}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowdown:
    """How many times as long a step takes as with linear scaling; 1 is linear."""

    middle: float
    low: float
    """With ``high`` the interval that holds 9 in 10."""
    high: float


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


def wire_s(sent: float, machines: int, link: Link) -> float:
    """Seconds on the wire at line rate where each step exchanges ``sent`` bytes."""
    return 2.0 * (machines - 1) / machines * sent * 8.0 / (link.gbit * 1e9)


def bytes_a_parameter(settings: Settings | None, *, half: bool, passes: int) -> float:
    """What a ring moves for each parameter in a step, both its halves counted as one ring.

    As the physics of one machine has it (`advisor.prediction.physics.step_time.traffic_terms`):
    single-precision gradients once a step; with ZeRO's stage 1 values as wide as weights; above it
    gradients leave after every pass, and stage 3 gathers weights twice a pass.
    """
    stage = STAGES.get(settings.sharding or "", 0) if settings is not None else 0
    width = 2.0 if half else 4.0
    if stage == 0:
        return 4.0
    if stage == 1:
        return width
    return passes * width * (1.5 if stage == 3 else 0.5)


def doubt(link: Link, scaling: Scaling | None = None) -> float:
    """By which factor what a network costs may be off, at 90 %."""
    fit = scaling or kept_scaling()
    measured = fit.direct_gbit if link.direct else fit.tcp_gbit
    octaves = min((abs(math.log2(link.gbit / speed)) for speed in measured), default=0.0)
    return math.exp(fit.t90 * math.hypot(fit.spread, OCTAVE_SPREAD * octaves))


def slowdown(
    compute_s: float, sent: float, machines: int, link: Link, scaling: Scaling | None = None
) -> Slowdown:
    """How far from linear a step is that computes ``compute_s`` on each machine."""
    fit = scaling or kept_scaling()
    cost = fit.direct_cost if link.direct else fit.tcp_cost
    loss = fit.wait * math.log2(machines) + cost * wire_s(sent, machines, link) / compute_s
    factor = doubt(link, fit)
    return Slowdown(middle=1.0 + loss, low=1.0 + loss / factor, high=1.0 + loss * factor)


def shared_settings(settings: Settings | None, batch_size: int, gpu_count: int) -> Settings | None:
    """One machine's settings with the batch shared by the GPUs of several: fewer passes, then
    smaller."""
    if settings is None or settings.micro_batch_size is None:
        return settings
    batch, most = even_batch(batch_size, gpu_count), settings.micro_batch_size
    micro = max(size for size in micro_batch_sizes(batch, gpu_count) if size <= most)
    return replace(
        settings,
        micro_batch_size=micro,
        gradient_accumulation_steps=accumulation_steps(batch, gpu_count, micro),
    )


def over_machines(time: TrainingTime, model: Model, machines: int, fabric: Fabric) -> TrainingTime:
    """One machine's time as that of several alike, predicted; what is no time stays as it is.

    A batch that gives some GPU no sample is infeasible.
    """
    days = time.training_days
    if time.status != "ok" or days is None or machines == 1:
        return time
    count = machines * time.gpu_count
    # A plain time: what the store hands out knows its own row by heart.
    values: dict[str, Any] = {f.name: getattr(time, f.name) for f in fields(TrainingTime)}
    values |= {"gpu_count": count, "node_count": machines, "reason": None}
    if model.batch_size < count:
        why = f"a batch of {model.batch_size:,} cannot be shared by {count} GPUs"
        values |= {"status": "infeasible", "reason": why, "training_days": None}
        return TrainingTime(**values)
    one = days, time.training_days_low or days, time.training_days_high or days
    settings = shared_settings(time.settings, model.batch_size, count)
    scaled = scaled_days(
        one, settings, model.parameters, model.training_steps, model.precision, machines, fabric
    )
    slow = scaled.slowdown
    doubt = math.log(slow.high / slow.middle)
    factor = math.exp(math.hypot(math.log(time.comparison_factor or 1.0), doubt))
    values |= dict.fromkeys(
        (
            "paper_settings_days",
            "paper_settings_days_low",
            "paper_settings_days_high",
            "other_software_days_low",
            "other_software_days_high",
            "implied_mfu_printed",
        )
    )
    values |= {
        "measurement_id": f"{time.measurement_id}:{machines} x {fabric}",
        "settings": settings,
        "basis": "predicted",
        "rests_on": "estimated",
        "training_days": scaled.days,
        "training_days_low": scaled.low,
        "training_days_high": scaled.high,
        "comparison_factor": factor,
        "implied_mfu": None if time.implied_mfu is None else time.implied_mfu / slow.middle,
    }
    return TrainingTime(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledDays:
    """Days over several machines with their interval."""

    days: float
    low: float
    high: float
    slowdown: Slowdown


def scaled_days(
    one: tuple[float, float, float],
    settings: Settings | None,
    parameters: int,
    steps: int,
    precision: str,
    machines: int,
    link: Fabric | Link,
) -> ScaledDays:
    """Days on several machines from those on one (middle, low, high).

    ``settings`` are those on several. The doubts of the one and of the scaling are independent:
    their logarithms add up in squares.
    """
    days, low, high = one
    if isinstance(link, str):
        link = link_of(link)
    passes = 1 if settings is None else settings.gradient_accumulation_steps or 1
    sent = parameters * bytes_a_parameter(settings, half=precision != "fp32", passes=passes)
    slow = slowdown(days * SECONDS_PER_DAY / steps / machines, sent, machines, link)
    middle = days / machines * slow.middle
    below = math.hypot(math.log(days / low), math.log(slow.middle / slow.low))
    above = math.hypot(math.log(high / days), math.log(slow.high / slow.middle))
    return ScaledDays(
        days=middle,
        low=middle * math.exp(-below),
        high=middle * math.exp(above),
        slowdown=slow,
    )


def parse_machines(text: str, most: int) -> int:
    """How many machines. Raises InputError."""
    machines = read_whole(text)
    if machines is None or machines > most:
        raise InputError(
            f"the number of machines {shown(text)} is not a whole number from 1 to {most}"
        )
    return machines
