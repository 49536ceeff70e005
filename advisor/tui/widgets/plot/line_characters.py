"""The characters that the picture's lines are drawn with, with and without Unicode."""

from __future__ import annotations

from typing import NamedTuple


class Lines(NamedTuple):
    """The characters that lines are drawn with."""

    axis_x: str = "─"
    axis_y: str = "│"
    corner: str = "└"
    tick_x: str = "┴"
    tick_y: str = "┤"
    grid_x: str = "┈"
    grid_y: str = "┊"
    front_x: str = "─"
    front_y: str = "│"
    front_corner: str = "┐"
    budget: str = "┃"
    max_days: str = "━"
    crosshair_x: str = "╌"
    crosshair_y: str = "╎"
    interval: str = "│"
    interval_top: str = "┬"
    interval_bottom: str = "┴"
    dot: str = "·"
    on_axis: str = "◂"
    before: str = "◂"
    beyond: str = "▸"
    above: str = "▴"
    below: str = "▾"


UNICODE = Lines()
ASCII = Lines(
    axis_x="-",
    axis_y="|",
    corner="+",
    tick_x="+",
    tick_y="+",
    grid_x=".",
    grid_y=".",
    front_x="-",
    front_y="|",
    front_corner="+",
    budget="!",
    max_days="=",
    crosshair_x="-",
    crosshair_y=":",
    interval="|",
    interval_top="-",
    interval_bottom="-",
    dot=".",
    on_axis="<",
    before="<",
    beyond=">",
    above="^",
    below="v",
)
