"""How every picture looks: colour-blind-safe, vector, the same bytes each time."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any

from advisor.costs.amounts import usd_tick

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
"""Okabe and Ito's palette, which colour-blind readers can tell apart; markers differ as well."""
LETTER = 0.6
"""A letter of a label against its size, at most on average."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_STYLE: Any = {
    "svg.hashsalt": "gpu-grant-advisor",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}
WIDE, LEGEND_POINTS = 7.2, 7.0
"""Inches of a picture, and the size of what stands under it."""
BEHIND_WORDS = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
"""No line goes through words."""


@contextmanager
def styled() -> Iterator[Any]:
    """matplotlib's Figure class, in this style, without a screen."""
    # Where its cache may not be written it says so, and draws all the same.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        yield Figure


def svg_of(draw: Callable[[Any], None], height: float) -> str:
    """What ``draw`` puts on a figure of so many inches in height, as SVG."""
    with styled() as figure_class:
        figure = figure_class(figsize=(WIDE, height))
        draw(figure)
        out, all_drawn = _saved(figure)
        if not all_drawn:
            # A name in letters that this font has not: as text, whoever shows the picture has
            # fonts of its own.
            import matplotlib

            with matplotlib.rc_context({"svg.fonttype": "none"}):
                out, _ = _saved(figure)
    # matplotlib ends lines with spaces; the same text without them.
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _saved(figure: Any) -> tuple[io.StringIO, bool]:
    """The figure as SVG, and whether the font has every letter of it; nobody reads of that in the
    words of a library."""
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out, not any("missing from font" in str(each.message) for each in said)


def columns_that_fit(labels: Sequence[str], most: int) -> int:
    """So many columns of a legend stand beside each other under a picture; a mark and the space
    around it are four letters wide."""
    wide = (max(map(len, labels), default=0) + 4) * LEGEND_POINTS * LETTER
    return max(min(most, int(WIDE * 72 // wide)), 1)


def money(sign: str = "$") -> Callable[[float, int | None], str]:
    """Writes ticks of money: ``$40K``."""

    def written(value: float, _: int | None = None) -> str:
        return usd_tick(value, sign)

    return written


def few_ticks(axis: Any, form: Any) -> None:
    """A few ticks on a log axis, at round numbers within the data."""
    from math import ceil, floor, log10

    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = sorted(axis.get_data_interval())
    if low <= 0:  # bars stand on zero, which no log axis has
        low = axis.get_minpos()
    powers = range(floor(log10(low)) - 1, ceil(log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        ticks = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in ticks if low * 0.95 <= tick <= high * 1.05]
        if len(ticks) >= 3:
            break
    # Labels stand clear of each other: more than a fifth of the axis apart.
    apart = max(log10(high / low) / 4.5, 0.01)
    kept: list[float] = []
    for tick in ticks:
        if not kept or log10(tick / kept[-1]) >= apart:
            kept.append(tick)
    axis.set_major_locator(FixedLocator(kept))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(form)


def short_day(day: date) -> str:
    """A day beneath a picture."""
    return f"{day.day} {day:%b %Y}"


def in_two_lines(label: str) -> str:
    """A machine's label, parted where it says in what."""
    return label.replace(" in ", "\nin ", 1)
