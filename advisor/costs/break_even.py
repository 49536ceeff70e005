"""The break-even of renting against owning as a picture: an SVG file, and lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from advisor.costs.rental import BreakEven, reserved_usd

if TYPE_CHECKING:
    from advisor.answers.ownership import Asked


class Line(NamedTuple):
    """Cost in US dollars as it grows with the number of training runs."""

    name: str
    at_none_usd: float
    each_usd: float

    def usd(self, experiments: float) -> float:
        return self.at_none_usd + self.each_usd * experiments


def cost_lines(asked: Asked, evens: Sequence[BreakEven]) -> tuple[list[Line], float]:
    """Owning and renting as lines, and how many training runs the lifetime has room for."""
    own = asked.own
    days = Decimal(str(asked.training_days or 0))
    running = own.electricity_usd_per_day
    lines = []
    if running is not None:
        lines.append(Line("own", float(own.fixed_usd), float(running * days)))
    for even in evens:
        if even.offer.kind == "reserved":
            whole = reserved_usd(even.offer.price_per_hour_usd, own.terms.lifetime_years)
            lines.append(Line("reserved", float(whole), 0.0))
        else:
            lines.append(Line(even.offer.kind, 0.0, float(even.rent_per_experiment_usd)))
    return lines, float(own.terms.lifetime_years * 365 / days)


def crossings(lines: Sequence[Line], most: float) -> list[tuple[str, float, float]]:
    """Where renting by the hour meets owning: (kind, training runs, US dollars)."""
    own = next((line for line in lines if line.name == "own"), None)
    found = []
    for line in lines:
        if own is None or line.each_usd <= own.each_usd:
            continue
        at = (own.at_none_usd - line.at_none_usd) / (line.each_usd - own.each_usd)
        if 0 < at <= most:
            found.append((line.name, at, own.usd(at)))
    return found


def _steps(highest: float) -> list[float]:
    """Round numbers up to ``highest``, about five of them."""
    size: float = 10 ** (len(str(int(highest / 5))) - 1) if highest >= 5 else 0.1
    step = next(size * m for m in (1, 2, 5, 10, 20, 50) if highest / (size * m) <= 6)
    return [step * n for n in range(int(highest / step) + 1)]


def _usd(amount: float) -> str:
    return f"${amount / 1000:,.0f}K" if amount >= 1000 else f"${amount:,.0f}"


GLYPHS = {"own": "●", "on-demand": "◆", "spot": "▲", "reserved": "■"}


def break_even_text(asked: Asked, evens: Sequence[BreakEven], width: int, height: int) -> list[str]:
    """The same picture in characters; each line has a glyph of its own."""
    lines, most = cost_lines(asked, evens)
    meets = crossings(lines, most)
    right = min(most, max([2.2 * at for _, at, _ in meets], default=most))
    top = max(line.usd(right) for line in lines) * 1.05
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
        name = "own" if line.name == "own" else f"rent {line.name}"
        ends.setdefault(row_of(line.usd(right)), []).append(name)
    for _, at, usd in meets:
        if at <= right:
            grid[row_of(usd)][round(at / right * (columns - 1))] = "×"
    labels = {row_of(step): _usd(step) for step in _steps(top) if step <= top}
    drawn = [
        f"{labels.get(at, ''):>{left - 2}} │{''.join(cells)} {', '.join(ends.get(at, []))}"
        for at, cells in enumerate(grid)
    ]
    drawn.append(" " * (left - 1) + "└" + "─" * columns)
    axis = [" "] * (columns + tail)
    for step in _steps(right):
        text = f"{step:g}"
        at = round(step / right * (columns - 1))
        if (
            at + len(text) <= len(axis)
            and not "".join(axis[max(at - 1, 0) : at + len(text)]).strip()
        ):
            axis[at : at + len(text)] = text
    drawn.append(" " * left + "".join(axis).rstrip() + " training runs")
    return drawn
