"""The ranked builds as a table: its columns, rows and order (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.text import Text

from advisor.answers.build_words import gpus_words, machine_words, short_gpus_words
from advisor.answers.interval_bar import LABEL, Axis, axis_for, interval_bar
from advisor.answers.ranking.verdict import chance_of
from advisor.answers.wording import (
    VERDICT_MARKS,
    age_short,
    estimate_mark,
    percent_words,
    price_day,
    rank_words,
)
from advisor.costs.amounts import days_rounded, usd_rounded
from advisor.tables.text_table import cut_words
from advisor.tui.program.answer import Answer, BuildKey, build_key, short_gpu_name
from advisor.tui.widgets.plot.scale import format_usd
from advisor.tui.widgets.table_layout import Column, RowStyle
from bench_runner.typed_numbers import percent
from price_catalog.model import OWN_QUOTE

if TYPE_CHECKING:
    from advisor.ranking.rank import RankedRow
    from price_catalog.builds import Build


GLYPH_WIDTH = 2
"""Cells of the picture's glyph before a name."""
SAID_IN_FULL = 26
"""From this many cells on a cut name keeps the "RTX" of its GPU."""
FIGURES_FROM = 26
"""From this width on the ends of an interval are written beside its bar."""
NO_SELLER = "†"
"""The mark of what nobody is known to sell at its price, in table and picture."""
ON_ONE_AXIS = 20
"""So many builds, the first, choose the axis on which all intervals are drawn."""
OLD_DAYS, STALE_DAYS = 180, 365
"""From when on a price's age is coloured, and from when on it is a warning."""


class RankedRows:
    """The ranking as the table's rows; a row is made when it is looked at."""

    def __init__(
        self,
        answer: Answer,
        marks: Mapping[str, Text],
        colours: Colours,
        *,
        columns: Sequence[Column],
        today: date,
        order: Order,
        words: Sequence[str] = (),
    ) -> None:
        """``marks`` are the picture's glyphs by GPU; a row must have all of ``words``."""
        self.answer = answer
        self.view = answer.view
        self.ranking = answer.ranking
        self.marks = marks
        self.colours = colours
        self.columns = columns
        self.today = today
        self.descending = order.descending
        self._widths = {column.key: column.width or 0 for column in columns}
        self._places = self._filtered(words) if words else None
        if order.looked_by:
            shown = range(len(self.ranking.order)) if self._places is None else self._places
            self._places = sorted(shown, key=lambda place: self._look_key(order.looked_by, place))
        self._names: dict[int, str] = {}
        self._offered = self.ranking.candidates.offered
        self.axis = self._axis()

    def _filtered(self, words: Sequence[str]) -> list[int]:
        """The places of the ranking whose machine, maker or vendor has every word."""
        found = []
        for place in range(len(self.ranking.order)):
            row = self.ranking.row(place)
            build = row.build
            text = (
                f"{gpus_words(build)} {build.host.name} {row.gpu_quote.vendor} "
                f"{row.host_quote.vendor} {row.time.basis} {row.time.source_id}"
            ).lower()
            if all(word in text for word in words):
                found.append(place)
        return found

    def _look_key(self, column: str, place: int) -> tuple[float, str]:
        """What a column that no rule ranks by is ordered by."""
        row = self.ranking.row(place)
        match column:
            case "machine":
                return 0.0, f"{gpus_words(row.build).partition(' × ')[2]} {row.build.gpu_count:5}"
            case "chance":
                return -(chance_of(self.ranking, row) or 0.0), ""
            case "mfu":
                return -(row.time.implied_mfu or 0.0), ""
            case "latest":
                return row.training_days_high, ""
            case _:
                return -float(price_day(row).toordinal()), ""

    def _axis(self) -> Axis | None:
        width = self._widths.get("interval", 0)
        if not width:
            return None
        if width < FIGURES_FROM:
            width += 2 * LABEL
        candidates = self.ranking.candidates
        intervals = [candidates.interval(i) for i in self.ranking.order[:ON_ONE_AXIS]]
        return axis_for(intervals, self.ranking.question.max_days, width)

    def __len__(self) -> int:
        return len(self.ranking.order) if self._places is None else len(self._places)

    def position(self, index: int) -> int:
        """The place in the ranking of a row of the table."""
        at = len(self) - 1 - index if self.descending else index
        return at if self._places is None else self._places[at]

    def build_index(self, index: int) -> int:
        """The candidates' index of a row."""
        return self.ranking.order[self.position(index)]

    def row(self, index: int) -> RankedRow:
        """The ranked build of a row."""
        return self.ranking.row(self.position(index))

    def row_of(self, build_index: int) -> int | None:
        """The row of one of the candidates, None where it is not shown."""
        try:
            place = self.ranking.order.index(build_index)
            at = place if self._places is None else self._places.index(place)
        except ValueError:
            return None
        return len(self) - 1 - at if self.descending else at

    def cells(self, index: int) -> Sequence[str | Text]:
        row = self.row(index)
        shown = {column.key: self._cell(column.key, index, row) for column in self.columns}
        return tuple(shown.values())

    def _cell(self, key: str, index: int, row: RankedRow) -> str | Text:
        """What one column says of a row."""
        time = row.time
        match key:
            case "rank":
                return f"{rank_words(row)}{self._place_mark(self.build_index(index))}"
            case "build":
                return self._name(index, row)
            case "overall_cost_usd":
                usd = usd_rounded(row.overall_cost_usd)
                wide = len(usd) > (COST.width or 0)
                return format_usd(float(row.overall_cost_usd)) if wide else usd
            case "experiment_cost_usd":
                return f"{estimate_mark(time)}{usd_rounded(row.experiment_cost_usd)}"
            case "training_days":
                return f"{estimate_mark(time)}{days_rounded(row.training_days)}"
            case "interval":
                return self._bar(row)
            case "chance":
                return self._chance(row)
            case "implied_mfu":
                share = "–" if time.implied_mfu is None else f"{percent(time.implied_mfu)}"
                doubtful = time.verdict in ("doubtful", "implausible")
                mark = VERDICT_MARKS.get(time.verdict or "unchecked", "–")
                return Text(f"{share} {mark}", style=self.colours.warning if doubtful else "")
            case _:
                return self._age(row)

    def _place_mark(self, i: int) -> str:
        """Whether no other is both cheaper and faster, or nobody is known to sell it."""
        if not self._offered[i]:
            return NO_SELLER
        return "★" if i in self.answer.front else " "

    def _name(self, index: int, row: RankedRow) -> Text:
        """GPUs and, where there are several machines with them, which."""
        i = self.build_index(index)
        if i not in self._names:
            self._name_all_like(row)
        name = Text(self._names.get(i, gpus_words(row.build)))
        mark = self.marks.get(short_gpu_name(row.build))
        return name if mark is None else Text.assemble(mark, " ", name)

    def _name_all_like(self, row: RankedRow) -> None:
        """Cut the names of all machines with these GPUs so that they stay apart."""
        alike = self.view.candidates.alike.get(row.build.cards, ())
        builds = [self.view.candidates.builds[i] for i in alike]
        names = names_apart(builds, self._widths["build"] - GLYPH_WIDTH)
        self._names.update(zip(alike, names, strict=True))

    def _bar(self, row: RankedRow) -> Text:
        """The interval with the limit in it; what lies beyond the limit stands out."""
        axis = self.axis
        if axis is None:
            return Text()
        low, high = row.training_days_low, row.training_days_high
        width = self._widths["interval"]
        bar = Text(_on_axis(interval_bar(axis, row.training_days, low, high), width))
        limit = self.ranking.question.max_days
        if limit is not None and axis.limit is not None and high > limit:
            cut = (axis.width - width) // 2
            bar.stylize(self.colours.warning, axis.column(limit) + 1 - cut)
        return bar

    def _chance(self, row: RankedRow) -> Text:
        chance = chance_of(self.ranking, row)
        if chance is None:
            return Text("–")
        style = self.colours.good if chance >= 0.9 else self.colours.warning if chance < 0.5 else ""
        return Text(percent_words(chance), style=style)

    def _age(self, row: RankedRow) -> Text:
        """The age of the older price, in a word and a colour."""
        said = words = age_short(row, self.today)
        if words.startswith("own ") and self._widths["price_date"] < len(words):
            words = "own"
        if row.build.host_owned:
            return Text(words)
        days = (self.today - price_day(row)).days
        aged = days >= OLD_DAYS or said.removeprefix("own ") in ("used", "told", "sum")
        style = self.colours.bad if days >= STALE_DAYS else self.colours.warning if aged else ""
        return Text(words, style=style or self.colours.good)

    def row_style(self, index: int) -> RowStyle | None:
        if self.view.candidates.builds[self.build_index(index)].host_owned:
            return "owned"
        return "front" if self.build_index(index) in self.answer.front else None

    def row_id(self, index: int) -> BuildKey:
        return build_key(self.view.candidates.builds[self.build_index(index)])

    def index_of(self, row_id: Any) -> int | None:
        i = self.view.index.get(row_id)
        return None if i is None else self.row_of(i)


class Colours(NamedTuple):
    """What tells a good figure from one to look at, in the present theme; empty without colour."""

    good: str
    warning: str
    bad: str


def _cards(build: Build) -> str:
    """``4 × RTX 5090``: the mark of a machine of the user's follows the machine."""
    return short_gpus_words(build).removesuffix(f" ({OWN_QUOTE})")


def names_apart(builds: Sequence[Build], room: int) -> list[str]:
    """Machines with the same GPUs by name, in so many cells, so that they stay apart."""
    if not builds:
        return []
    names = [_full_name(build, several=len(builds) > 1) for build in builds]
    said = OWN_QUOTE if room >= SAID_IN_FULL else "own"
    marks = [f" ({said})" if build.host.is_own_quote else "" for build in builds]
    room = max(max(room, 8) - max(map(len, marks)), 8)
    keep = len(_cards(builds[0]))
    if room < SAID_IN_FULL and any(len(name) > room for name in names):
        # "2 × 5090", as people say it: what comes after it tells the machines apart.
        names = [name.replace(" × RTX ", " × ", 1) for name in names]
        keep = len(_cards(builds[0]).replace(" × RTX ", " × ", 1))
    cut = cut_words(names, room, keep=keep)
    return [name + mark for name, mark in zip(cut, marks, strict=True)]


def _full_name(build: Build, *, several: bool) -> str:
    words = _cards(build)
    if build.gpus_owned and not build.host_owned:
        words += f", {build.gpus_owned} yours"
    if build.host_owned:
        words += ", yours"
    elif several:
        words += f", {machine_words(build)}"
    return words


def _on_axis(drawn: str, width: int) -> str:
    """What is drawn on an axis for a column: where that is too narrow for figures beside the
    bars, the axis is wider by their room, which is cut off again."""
    if len(drawn) <= width:
        return drawn
    cut = (len(drawn) - width) // 2
    return "".join(sign if sign in "├─●┤│┼" else " " for sign in drawn[cut : cut + width])


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
