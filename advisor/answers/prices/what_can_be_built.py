"""What can be built: rows, and text for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from advisor.answers.build_words import build_words
from advisor.answers.checklist import with_command
from advisor.costs.amount_words import counted as counted_of
from advisor.ranking.snapshot import Snapshot
from advisor.tables.plain_values import cut_words, fill
from advisor.tables.text_table import to_table
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


MOST_OBSTACLES = 6
"""How many obstacles are told before the rest is counted."""
_BASIS = {"estimated": "≈"}


def builds_text(rows: Sequence[Mapping[str, Any]], command: str, width: int) -> str:
    """What can be built with its power first; of the rest why not, by reason."""
    by_answer = {
        answer: [row for row in rows if row["can_be_built"] == answer]
        for answer in ("yes", "not known", "no")
    }
    can, unknown, cannot = by_answer.values()
    counts = [f"{f'{len(can):,}' if can else 'None'} of {len(rows):,} builds can be put together"]
    counts += [f"{len(cannot):,} cannot"] if cannot else []
    are = "is" if len(unknown) == 1 else "are"
    counts += [f"{len(unknown):,} {are} not known to fit"] if unknown else []
    blocks = [fill(f"{', '.join(counts)}.", width)]
    if can:
        names = cut_words([row["build"] for row in can], max(width - 48, 30))
        table = [
            {
                "build": name,
                "at the wall": _watts(row),
                "120 V": _amps(row["amps_120v"]),
                "208 V": _amps(row["amps_208v"]),
                "heat, BTU/h": f"{row['btu_per_h']:,}" if row["btu_per_h"] else "not known",
            }
            for name, row in zip(names, can, strict=True)
        ]
        columns = tuple(table[0])
        spare = ("heat, BTU/h", "208 V")
        blocks.append(to_table(table, columns, frozenset(columns[1:]), width=width, spare=spare))
    lines = []
    for title, which, key in (
        ("Not known to fit, because not stated", unknown, "not_known"),
        ("Cannot be built", cannot, "obstacle"),
    ):
        counted = Counter(str(row[key]) for row in which).most_common()
        if counted:
            lines.append(f"{title}:")
        for words, number in counted[:MOST_OBSTACLES]:
            lines.append(fill(f"  {number:,}  {words}", width, subsequent_indent="     "))
        if len(counted) > MOST_OBSTACLES:
            rest = sum(number for _, number in counted[MOST_OBSTACLES:])
            others = counted_of(len(counted) - MOST_OBSTACLES, "other reason")
            lines.append(f"  {rest:,}  for {others}")
    if lines:
        blocks.append("\n".join(lines))
    words = "Every build with slots, lanes, memory, weight and noise:"
    blocks.append(with_command(words, command, width))
    return "\n\n".join(blocks)


def _watts(row: Mapping[str, Any]) -> str:
    if row["wall_w"] is None:
        return "not known"
    return f"{_BASIS.get(row['wall_w_is'], '')}{row['wall_w']:,} W"


def _amps(text: str | None) -> str:
    """``20 A`` for ``15.3 (20 A breaker)``: the breaker that carries it for hours."""
    if text is None:
        return "not known"
    return text.partition("(")[2].removesuffix(")").removesuffix(" breaker")
