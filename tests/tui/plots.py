"""A picture's widget in a given state, and what it draws where."""

from __future__ import annotations

from advisor.tui.widgets.plot.data import PlotData
from advisor.tui.widgets.plot.plot import CostTimePlot


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
    layout = widget._arrange(widget.size)
    assert layout is not None
    column, row = layout.grid.cell_of(index)
    return layout.frame.left + 1 + column, layout.frame.top + row
