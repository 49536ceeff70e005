"""Which point an arrow key or the mouse means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from advisor.tui.widgets.plot.grid import PlotGrid

Direction = Literal["left", "right", "up", "down"]

CELL_HEIGHT = 2.0
"""A character cell is about twice as high as it is wide."""
SIDEWAYS = 2.0
"""How much dearer a step across the asked direction is than one along it."""
REACH_COLUMNS, REACH_ROWS = 3, 1
"""How far from a point the mouse may be, so that its label belongs to it too."""

EVERY_POINT = 4000
"""Up to this many points the arrow keys reach every one, beyond it those that are drawn."""


def reachable(winners: Mapping[tuple[int, int], int], count: int) -> Iterable[int]:
    """Which of this many points the arrow keys can reach."""
    return winners.values() if count > EVERY_POINT else range(count)


def neighbour(
    grid: PlotGrid, candidates: Iterable[int], start: int, direction: Direction
) -> int | None:
    """The nearest point in that direction on the screen, or None at the edge.

    Points in the very same place follow one another in the order of their rows.
    """
    x_log, y_log = grid.points.x_log, grid.points.y_log
    per_x = grid.columns / grid.x.span
    per_y = CELL_HEIGHT * grid.rows / grid.y.span
    from_x, from_y = x_log[start], y_log[start]
    horizontal = direction in ("left", "right")
    forward = direction in ("right", "up")
    sign = 1.0 if forward else -1.0
    best: tuple[float, int] | None = None
    for index in candidates:
        dx = (x_log[index] - from_x) * per_x * sign
        dy = (y_log[index] - from_y) * per_y * sign
        ahead, aside = (dx, dy) if horizontal else (dy, dx)
        if ahead > 0:
            cost = ahead + SIDEWAYS * abs(aside)
        elif ahead == 0 == aside and index != start and (index > start) == forward:
            cost = 0.0
        else:
            continue
        candidate = (cost, abs(index - start))
        if best is None or candidate < best:
            best, found = candidate, index
    return None if best is None else found


def point_at(winners: Mapping[tuple[int, int], int], column: int, row: int) -> int | None:
    """The drawn point nearest to this cell, within reach; a point's own cell always wins."""
    near = [
        (abs(dx) + CELL_HEIGHT * abs(dy), dx > 0, winners[column + dx, row + dy])
        for dy in range(-REACH_ROWS, REACH_ROWS + 1)
        for dx in range(-REACH_COLUMNS, REACH_COLUMNS + 1)
        if (column + dx, row + dy) in winners
    ]
    return min(near)[2] if near else None
