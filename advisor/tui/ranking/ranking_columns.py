"""Which columns the ranking has room for, and in whose order its rows can be looked at (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from advisor.answers.ranking.interval_bar import Axis
from advisor.costs.amounts import days_rounded
from advisor.tui.widgets.table_rows import Column

COST = Column(key="overall_cost_usd", title="price", align="right", sort_key="cost", width=7)
EXPERIMENT = Column(
    key="experiment_cost_usd",
    title="a run",
    align="right",
    sort_key="experiment-cost",
    width=8,
)
LOOKED_BY = {
    "machine": "build",
    "chance": "chance",
    "mfu": "implied_mfu",
    "latest": "interval",
    "age": "price_date",
}
"""Columns that the rows can be looked at by though no rule ranks by them: sort key to column."""
PLACE = "place"
"""What the column of the places is sorted by: the ranking's own order."""
_SORTED_COLUMN = {"days": "training_days", "cost": COST.key, "experiment-cost": EXPERIMENT.key}
MARGIN = 1
"""Cells at either end of a line."""
SLIM = 79
"""In a narrower table the columns stand close together."""
LEAST_NAME, SLIM_NAME, LEAST_BAR, SHORT_AGE = 14, 19, 7, 5
"""There a name, where there is no more room, and where the bar gives way; a bar; an age."""
MIN_NAME = 18
"""Enough for "8 × RTX 6000 Ada" with its glyph."""
NARROWEST_BAR, WIDEST_BAR = 12, 40
BOTH_COSTS_FROM, MFU_FROM = 90, 100
"""From this width on there is room for both kinds of cost, and for the share of the peak."""


class Order(NamedTuple):
    """In which order the rows are looked at, with their places unchanged."""

    looked_by: str
    """A column that no rule ranks by; empty for the ranking's own order."""
    descending: bool

    def turned(self) -> Order:
        """The same from its end."""
        return self._replace(descending=not self.descending)

    def clicked(self, sort_key: str | None, rule: str) -> Order | None:
        """What a click on a column's head asks for; None for another rule of the ranking."""
        if sort_key == PLACE:
            return Order("", not self.looked_by and not self.descending)
        if sort_key == (self.looked_by or rule):
            return self.turned()
        if sort_key in LOOKED_BY:
            return Order(sort_key or "", False)
        return Order("", False) if sort_key == rule else None

    def next(self, columns: Sequence[Column]) -> Order:
        """By the next of these columns; after the last by none."""
        keys = [c.sort_key for c in columns if c.sort_key in LOOKED_BY]
        at = keys.index(self.looked_by) + 1 if self.looked_by in keys else 0
        return Order((keys[at] or "") if at < len(keys) else "", False)


def gap_at(width: int) -> int:
    """Cells between the columns of a table that is so wide."""
    return 1 if width < SLIM else 2


def ranking_columns(basis: str, width: int, max_days: float | None) -> tuple[Column, ...]:
    """The columns for so many cells, always in this order; what there is no room for is left to
    the page of the build: first the share of the peak, then the other kind of cost."""
    slim, gap = width < SLIM, gap_at(width)
    rank = Column(key="rank", title="# ", align="right", sort_key=PLACE, width=4)
    days = Column(
        key="training_days", title="days", align="right", sort_key="days", width=6 if slim else 7
    )
    age = Column(key="price_date", title="prices", align="right", sort_key="age", width=8)
    if slim:
        age = age._replace(title="age", width=SHORT_AGE)
    both = width >= BOTH_COSTS_FROM
    # With room for one of them it is the chosen one; with room for both, each keeps its place.
    first = EXPERIMENT if basis == "experiment" and not both else COST
    others = [age]
    if max_days is not None:
        title = f"{days_rounded(max_days)} d?"
        chance = max(4, len(title)) if slim else max(7, len(title) + 2)
        others.insert(
            0,
            Column(key="chance", title=title, align="right", sort_key="chance", width=chance),
        )
    if both:
        others.insert(-1, EXPERIMENT)
    if width >= MFU_FROM:
        others.insert(
            -1, Column(key="implied_mfu", title="MFU", align="right", sort_key="mfu", width=6)
        )
    fixed = (rank, first, days, *others)
    # The margins, and a gap after every column but the last, the name's among them.
    left = width - 2 * MARGIN - sum((column.width or 0) + gap for column in fixed)
    least_name, least_bar = (LEAST_NAME, LEAST_BAR) if slim else (MIN_NAME, NARROWEST_BAR)
    drawn: tuple[Column, ...] = ()
    if left >= least_name + gap + least_bar:
        share = (left - gap) * 2 // 5
        if slim:
            share = min(share, left - gap - SLIM_NAME)
        bar = min(WIDEST_BAR, max(least_bar, share))
        drawn = (Column(key="interval", title="", sort_key="latest", width=bar),)
        left -= bar + gap
    build = Column(key="build", title="machine", sort_key="machine", width=max(12, min(64, left)))
    return (rank, build, first, days, *drawn, *others)


def with_limit(columns: Sequence[Column], axis: Axis | None) -> tuple[Column, ...]:
    """The same with the limit written at its line."""

    def titled(column: Column) -> Column:
        if axis is None or column.key != "interval" or axis.limit is None:
            return column
        width = column.width or 0
        at = axis.column(axis.limit) - (axis.width - width) // 2
        words = f"{days_rounded(axis.limit)} d"
        after = at + 1 + len(words) <= width
        title = f"{'':<{at}}│{words}" if after else f"{words:>{max(at, 0)}}│"
        return column._replace(title=title[:width])

    return tuple(map(titled, columns))


def sorted_column(order: Order, rule: str) -> str:
    """The column that shows the arrow."""
    return LOOKED_BY.get(order.looked_by) or _SORTED_COLUMN[rule]
