"""Points to draw, and the picture's widget in a given state."""

from __future__ import annotations

import random

from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.plot import CostTimePlot

NAMES = ("RTX 4090", "RTX 6000 Ada", "A100 80GB", "H100 SXM")
COST_USD = (
    *(4_200.0, 6_900.0, 14_300.0, 28_500.0),
    *(10_300.0, 18_900.0, 38_800.0, 74_000.0),
    *(2_000.0, 35_000.0, 70_500.0, 135_000.0),
    *(36_000.0, 67_500.0, 127_500.0, 250_000.0),
)
DAYS = (
    *(330.0, 165.0, 98.0, 58.0),
    *(233.0, 117.0, 70.0, 41.0),
    *(140.0, 69.0, 42.0, 22.0),
    *(59.0, 33.0, 16.0, 4.0),
)
FRONT = (8, 2, 3, 13, 14, 15)
PREDICTED, DOUBTFUL, OWNED, EXCLUDED = (4, 7), (13,), (10,), (6,)


def sixteen() -> PlotData:
    """Four GPU types at four counts, with every flag in use."""
    flags = bytearray(16)
    for indices, flag in (
        (FRONT, PointFlag.FRONT),
        (PREDICTED, PointFlag.PREDICTED),
        (DOUBTFUL, PointFlag.DOUBTFUL),
        (OWNED, PointFlag.OWNED),
        (EXCLUDED, PointFlag.EXCLUDED),
    ):
        for index in indices:
            flags[index] |= flag
    return PlotData(
        x_usd=COST_USD,
        y_times=DAYS,
        series=[i // 4 for i in range(16)],
        gpu_count=[1, 2, 4, 8] * 4,
        flags=bytes(flags),
        series_names=NAMES,
        series_slots=range(4),
        y_low=[days * 0.7 for days in DAYS],
        y_high=[days * 1.5 for days in DAYS],
    )


def scattered(count: int, types: int) -> PlotData:
    """Points of many types around a line on which faster is dearer."""
    chance = random.Random(1)
    cost_usd = [10 ** chance.gauss(4.5, 0.6) for _ in range(count)]
    return PlotData(
        x_usd=cost_usd,
        y_times=[10 ** chance.gauss(6, 0.4) / cost for cost in cost_usd],
        series=[i % types for i in range(count)],
        gpu_count=[1 << i % 4 for i in range(count)],
        series_names=[f"GPU type {i}" for i in range(types)],
        series_slots=range(types),
        flags=bytes(count),
    )


def plain(cost_usd: list[float], days: list[float], names: tuple[str, ...] = ("A",)) -> PlotData:
    """Points without flags, the types taken in turn."""
    count = len(cost_usd)
    return PlotData(
        x_usd=cost_usd,
        y_times=days,
        series=[i % len(names) for i in range(count)],
        gpu_count=[1] * count,
        series_names=names,
        series_slots=range(len(names)),
        flags=bytes(count),
    )


def plot(data: PlotData, **state: object) -> CostTimePlot:
    """A widget in a given state."""
    widget = CostTimePlot(data)
    for name, value in state.items():
        setattr(widget, name, value)
    return widget


def lines(widget: CostTimePlot) -> list[str]:
    return [widget.render_line(y).text for y in range(widget.size.height)]


def place_of(widget: CostTimePlot, index: int) -> tuple[int, int]:
    """Where a point is drawn on the widget."""
    layout = widget.arranged
    assert layout is not None
    cell = layout.cells[index]
    assert cell is not None
    return cell
