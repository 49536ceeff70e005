"""What can be built: rows, and text for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from advisor.answers.build_words import build_words
from advisor.answers.checklist import with_command
from advisor.answers.price_facts import machine_object
from advisor.costs.amount_words import counted
from advisor.ranking.snapshot import Snapshot
from advisor.tables.plain_values import cut_words, fill
from advisor.tables.text_table import to_table
from price_catalog.builds import Build, not_known
from price_catalog.power import CIRCUITS, ESTIMATED, Supply, circuits, wall_w
from price_catalog.power_limits import on_circuit

MOST_OBSTACLES = 6
"""How many obstacles are named before the rest is counted."""


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
    gaps = build.unknown or not_known(build.gpu, build.gpu_count, build.host)
    amps: dict[str, str | None] = {f"amps_{volts}v": None for volts, _ in CIRCUITS}
    if (watts := wall_w(build)) is not None:
        for volts, needed, breaker_a in circuits(watts):
            breaker = "several" if breaker_a is None else f"{breaker_a} A breaker"
            amps[f"amps_{volts}v"] = f"{needed:.1f} ({breaker})"
    return {
        "build": build_words(build),
        "host": build.host.name,
        "can_be_built": "no" if build.obstacle else "not known" if build.unknown else "yes",
        "obstacle": build.obstacle,
        "not_known": ", ".join(gaps) or None,
        **machine_object(build),
        **amps,
        "lanes_per_gpu": build.host.lanes_per_gpu,
    }


def builds_text(rows: Sequence[Mapping[str, Any]], command: str, width: int) -> str:
    """What can be built with its power first; of the rest why not, by reason."""
    by_answer: dict[str, list[Mapping[str, Any]]] = {"yes": [], "not known": [], "no": []}
    for row in rows:
        by_answer[row["can_be_built"]].append(row)
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
                "120 V": _breaker(row["amps_120v"]),
                "208 V": _breaker(row["amps_208v"]),
                "heat, BTU/h": "not known" if heat is None else f"{heat:,}",
            }
            for name, row in zip(names, can, strict=True)
            for heat in (row["heat_btu_per_h"],)
        ]
        columns = tuple(table[0])
        spare = ("heat, BTU/h", "208 V")
        blocks.append(to_table(table, columns, frozenset(columns[1:]), width=width, spare=spare))
    lines = []
    for title, which, key in (
        ("Not known to fit, because not stated", unknown, "not_known"),
        ("Cannot be built", cannot, "obstacle"),
    ):
        reasons = Counter(row[key] for row in which).most_common()
        lines += [f"{title}:"] if reasons else []
        for words, number in reasons[:MOST_OBSTACLES]:
            lines.append(fill(f"  {number:,}  {words}", width, subsequent_indent="     "))
        if rest := reasons[MOST_OBSTACLES:]:
            others = counted(len(rest), "other reason")
            lines.append(f"  {sum(number for _, number in rest):,}  for {others}")
    blocks += ["\n".join(lines)] if lines else []
    words = "Every build with slots, lanes, memory, weight and noise:"
    blocks.append(with_command(words, command, width))
    return "\n\n".join(blocks)


def _watts(row: Mapping[str, Any]) -> str:
    mark, watts = "≈" if row["wall_w_is"] in ESTIMATED else "", row["wall_w"]
    return "not known" if watts is None else f"{mark}{watts:,} W"


def _breaker(text: str | None) -> str:
    """``20 A`` for ``15.3 (20 A breaker)``: the breaker that carries it for hours."""
    if text is None:
        return "not known"
    return text.partition("(")[2].removesuffix(")").removesuffix(" breaker")
