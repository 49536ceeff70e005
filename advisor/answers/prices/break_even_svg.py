"""The picture of owning against renting as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from advisor.costs.amounts import usd_tick
from advisor.costs.break_even import chart_of, round_steps
from advisor.costs.rental import BreakEven
from bench_runner.outside import printable

if TYPE_CHECKING:
    from advisor.answers.prices.ownership import Ownership

WIDTH, HEIGHT = 760, 440


LEFT, RIGHT, TOP, BOTTOM = 90, 170, 50, 56


COLOURS = {"own": "#000000", "on-demand": "#0072B2", "spot": "#009E73", "reserved": "#D55E00"}
"""Okabe and Ito's, which colour-blind people tell apart; the lines carry their names as well."""


DASHES = {"own": "", "on-demand": "8 4", "spot": "2 4", "reserved": "12 4 2 4"}


def break_even_svg(owned: Ownership, evens: Sequence[BreakEven]) -> str:
    """The picture: training runs across, US dollars up."""
    lines, meets, right, top = chart_of(owned.own, owned.training_days, evens)

    def x(experiments: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * experiments / right

    def y(usd: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * usd / top

    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {HEIGHT}",
            "font-family": "sans-serif",
            "font-size": "13",
        },
    )
    ET.SubElement(svg, "rect", {"width": str(WIDTH), "height": str(HEIGHT), "fill": "#ffffff"})
    build, _, rest = owned.heading.partition(": ")
    _text(svg, 12, 18, build, size="12")
    _text(svg, 12, 34, rest, size="12")
    for step in round_steps(top):
        at = f"{y(step):.1f}"
        ET.SubElement(
            svg,
            "line",
            {"x1": str(LEFT), "x2": f"{WIDTH - RIGHT}", "y1": at, "y2": at, "stroke": "#dddddd"},
        )
        _text(svg, LEFT - 8, y(step) + 4, usd_tick(step), anchor="end")
    for step in round_steps(right):
        _text(svg, x(step), HEIGHT - BOTTOM + 20, f"{step:g}", anchor="middle")
    _text(svg, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "training runs", anchor="middle")
    for line in lines:
        colour = COLOURS[line.name]
        ET.SubElement(
            svg,
            "line",
            {
                "x1": f"{x(0):.1f}",
                "y1": f"{y(line.usd(0)):.1f}",
                "x2": f"{x(right):.1f}",
                "y2": f"{y(line.usd(right)):.1f}",
                "stroke": colour,
                "stroke-width": "2.5",
                "stroke-dasharray": DASHES[line.name],
            },
        )
        _text(svg, x(right) + 8, y(line.usd(right)) + 4, line.label, colour=colour)
    for name, runs, usd in meets:
        ET.SubElement(
            svg,
            "circle",
            {"cx": f"{x(runs):.1f}", "cy": f"{y(usd):.1f}", "r": "5", "fill": COLOURS[name]},
        )
        # Above and before the point: there the line that it is on has not been yet.
        _text(svg, x(runs) - 8, y(usd) - 10, f"{runs:.1f} runs", anchor="end", colour=COLOURS[name])
    return ET.tostring(svg, encoding="unicode") + "\n"


def _text(
    svg: ET.Element,
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    colour: str = "#222222",
    size: str = "13",
) -> None:
    clean = printable(text, " ")
    ET.SubElement(
        svg,
        "text",
        {
            "x": f"{x:.1f}",
            "y": f"{y:.1f}",
            "text-anchor": anchor,
            "fill": colour,
            "font-size": size,
        },
    ).text = clean
