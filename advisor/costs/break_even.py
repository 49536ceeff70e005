"""The break-even of renting against owning as lines of cost, and where they cross.

What every drawing of it shows; how it looks is the drawing's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from advisor.costs.rental import BreakEven, reserved_usd

if TYPE_CHECKING:
    from advisor.costs.tco import TotalCostOfOwnership


class Line(NamedTuple):
    """Cost in US dollars as it grows with the number of training runs."""

    name: str
    at_none_usd: float
    each_usd: float

    @property
    def label(self) -> str:
        return "own" if self.name == "own" else f"rent {self.name}"

    def usd(self, experiments: float) -> float:
        return self.at_none_usd + self.each_usd * experiments


class Chart(NamedTuple):
    """Owning one build against renting it."""

    lines: Sequence[Line]
    crossings: Sequence[tuple[str, float, float]]
    """Kind of rent, training runs, US dollars."""
    most_runs: float
    """Where it ends to the right: a little beyond the crossings, within the lifetime."""
    most_usd: float
    """At its top."""


def chart_of(
    own: TotalCostOfOwnership, training_days: float | None, evens: Sequence[BreakEven]
) -> Chart:
    """The lines, where they cross, and how much of them to show."""
    lines, life_runs = _lines(own, training_days, evens)
    met = crossings(lines, life_runs)
    most_runs = min(life_runs, max([2.2 * runs for _, runs, _ in met], default=life_runs))
    most_usd = max(line.usd(most_runs) for line in lines) * 1.05
    return Chart(lines, met, most_runs, most_usd)


def _lines(
    own: TotalCostOfOwnership, training_days: float | None, evens: Sequence[BreakEven]
) -> tuple[list[Line], float]:
    """Owning and renting as lines, and how many training runs the lifetime has room for."""
    days = Decimal(str(training_days or 0))
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


def round_steps(highest: float) -> list[float]:
    """Round numbers up to ``highest``, about five of them."""
    size: float = 10 ** (len(str(int(highest / 5))) - 1) if highest >= 5 else 0.1
    step = next(size * m for m in (1, 2, 5, 10, 20, 50) if highest / (size * m) <= 6)
    return [step * n for n in range(int(highest / step) + 1)]
