"""What can be put together, and what it draws, needs and gives off: rows for `advisor prices`."""

from __future__ import annotations

from typing import Any

from advisor.answers.build_words import build_words
from advisor.ranking.snapshot import Snapshot
from price_catalog.builds import Build, not_known, rack_units_of
from price_catalog.power import (
    Supply,
    circuits,
    heat_btu_per_h,
    power_basis,
    wall_w,
)
from price_catalog.power_limits import on_circuit


def build_rows(
    snapshot: Snapshot, gpu_ids: frozenset[str] | None, supply: Supply | None
) -> list[dict[str, Any]]:
    """Every build with its checks: what it draws, needs and gives off, and why it cannot be."""
    return [
        _build_row(build)
        for build in on_circuit(snapshot.builds, supply)
        if gpu_ids is None or build.gpu.gpu_id in gpu_ids
    ]


def _build_row(build: Build) -> dict[str, Any]:
    host = build.host
    watts = wall_w(build)
    gaps = build.unknown or not_known(build.gpu, build.gpu_count, host)
    row: dict[str, Any] = {
        "build": build_words(build),
        "host": host.name,
        "can_be_built": "no" if build.obstacle else "not known" if build.unknown else "yes",
        "obstacle": build.obstacle,
        "not_known": ", ".join(gaps) or None,
        "wall_w": None if watts is None else round(watts),
        "wall_w_is": None if watts is None else power_basis(build),
        "limit_w_per_card": None if build.limit is None else build.limit.watts,
    }
    for volts in (120, 208, 230):
        row[f"amps_{volts}v"] = None
    if watts is not None:
        for circuit in circuits(watts):
            breaker = "several" if circuit.breaker_a is None else f"{circuit.breaker_a} A breaker"
            row[f"amps_{circuit.volts}v"] = f"{circuit.amps:.1f} ({breaker})"
    row["btu_per_h"] = None if watts is None else round(heat_btu_per_h(watts))
    row["rack_units"] = rack_units_of(host)
    row["weight_kg"], row["noise_dba"] = host.weight_kg, host.noise_dba
    row["gpu_link"], row["lanes_per_gpu"] = host.gpu_link, host.lanes_per_gpu
    memory = host.memory_gib
    row["memory_gib_per_gpu"] = None if memory is None else memory / build.gpu_count
    return row
