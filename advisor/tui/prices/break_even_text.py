"""Owning against renting drawn with characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.costs.amounts import usd_tick
from advisor.costs.break_even import chart_of, round_steps
from advisor.costs.rental import BreakEven

if TYPE_CHECKING:
    from advisor.answers.prices.ownership import Ownership

GLYPHS = {"own": "●", "on-demand": "◆", "spot": "▲", "reserved": "■"}


def break_even_text(
    owned: Ownership, evens: Sequence[BreakEven], width: int, height: int
) -> list[str]:
    """The same picture in characters; each line has a glyph of its own."""
    lines, meets, right, top = chart_of(owned.own, owned.training_days, evens)
    left, tail = 9, 16
    columns, rows = max(width - left - tail, 10), max(height - 2, 5)
    grid = [[" "] * columns for _ in range(rows)]
    ends: dict[int, list[str]] = {}

    def row_of(usd: float) -> int:
        return min(rows - 1, max(0, rows - 1 - round(usd / top * (rows - 1))))

    for line in lines:
        for column in range(columns):
            usd = line.usd(right * column / (columns - 1))
            grid[row_of(usd)][column] = GLYPHS[line.name]
        ends.setdefault(row_of(line.usd(right)), []).append(line.label)
    for _, at, usd in meets:
        grid[row_of(usd)][round(at / right * (columns - 1))] = "×"
    labels = {row_of(step): usd_tick(step) for step in round_steps(top) if step <= top}
    drawn = [
        f"{labels.get(at, ''):>{left - 2}} │{''.join(cells)} {', '.join(ends.get(at, []))}"
        for at, cells in enumerate(grid)
    ]
    drawn.append(" " * (left - 1) + "└" + "─" * columns)
    axis = [" "] * (columns + tail)
    for step in round_steps(right):
        text = f"{step:g}"
        at = round(step / right * (columns - 1))
        if (
            at + len(text) <= len(axis)
            and not "".join(axis[max(at - 1, 0) : at + len(text)]).strip()
        ):
            axis[at : at + len(text)] = text
    drawn.append(" " * left + "".join(axis).rstrip() + " training runs")
    return drawn
