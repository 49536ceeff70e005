"""The ranking as a table: a row for each GPU configuration, which opens into its offers (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from rich.text import Text

from advisor.answers.build_words import gpus_words, machine_words
from advisor.answers.interval_bar import LABEL, Axis, axis_for, interval_bar
from advisor.answers.ranking.rank_answer import NOT_SOLD, run_words, time_figure, unit_of
from advisor.answers.wording import (
    age_short,
    percent_words,
    rank_words,
    short_time,
)
from advisor.costs.amount_words import counted, usd_rounded
from advisor.tables.plain_values import cut_words
from advisor.tui.program.answer import Answer, BuildKey, build_key, short_gpu_name
from advisor.tui.widgets.plot.scale import format_usd
from advisor.tui.widgets.table_layout import MARGIN, Column, RowSource, RowStyle, fitted
from price_catalog.model import OWN_QUOTE

if TYPE_CHECKING:
    from advisor.ranking.row_order import RankedRow
    from price_catalog.builds import Build

Cards = tuple[str, int, int]
"""What tells a row from the others: `Build.cards`."""
FIGURES_FROM = 26
"""From this width on the ends of an interval are written beside its bar."""
NO_SELLER = "†"
"""The mark of what cannot be ordered at its price, in table and picture."""
ON_ONE_AXIS = 20
"""So many rows, the first, choose the axis on which all intervals are drawn."""
CLOSED, OPEN = "▸", "▾"
OFFER_INDENT = "    "


class RankedRows(RowSource):
    """The rows, and of the opened ones the offers; a line is made when it is looked at."""

    def __init__(
        self,
        answer: Answer,
        marks: Mapping[str, Text],
        *,
        columns: Sequence[Column],
        today: date,
        opened: Collection[Cards] = (),
    ) -> None:
        """``marks`` are the picture's glyphs by GPU."""
        self.answer = answer
        self.ranking = answer.ranking
        self.marks = marks
        self.columns = columns
        self.today = today
        self.unit = unit_of(answer.ranking)
        self._widths = {column.key: column.width for column in columns}
        table = self.ranking.table
        self._lines: list[tuple[int, int | None]] = []
        """The row of each line, and which of its offers; None for the row itself."""
        builds = self.ranking.candidates.builds
        for row, offers in enumerate(table):
            self._lines.append((row, None))
            if builds[offers[0]].cards in opened:
                self._lines += [(row, offer) for offer in range(len(offers))]
        self._at = {line: at for at, line in enumerate(self._lines)}
        self._rows: dict[int, RankedRow] = {}
        self.opened = opened
        self.axis = self._axis()

    def _axis(self) -> Axis | None:
        width = self._widths.get("interval", 0)
        if not width:
            return None
        if width < FIGURES_FROM:
            width += 2 * LABEL
        candidates = self.ranking.candidates
        spans = [candidates.interval(offers[0]) for offers in self.ranking.table[:ON_ONE_AXIS]]
        return axis_for(spans, self.ranking.question.max_days, width, self.unit)

    def __len__(self) -> int:
        return len(self._lines)

    def build_index(self, index: int) -> int:
        """The candidates' index of a line."""
        row, offer = self._lines[index]
        return self.ranking.table[row][offer or 0]

    def row(self, index: int) -> RankedRow:
        """The ranked build of a line."""
        if index not in self._rows:  # asked for by every part of a line that is drawn
            self._rows[index] = self.ranking.machine(self.build_index(index))
        return self._rows[index]

    def is_closed(self, index: int) -> bool:
        row, offer = self._lines[index]
        offers = self.ranking.table[row]
        opened = self.ranking.candidates.builds[offers[0]].cards in self.opened
        return offer is None and len(offers) > 1 and not opened

    def row_of(self, build_index: int) -> int | None:
        """The line of one of the candidates: of its offer where that is shown, else of its row."""
        place = self.ranking.places.get(build_index)
        if place is None:
            return None
        row = place[1]
        offer = self.ranking.table[row].index(build_index)
        return self._at.get((row, offer or None), self._at[row, None])

    def cells(self, index: int) -> Sequence[str | Text]:
        (_, offer), row = self._lines[index], self.row(index)
        if offer is not None:
            shown: dict[str, str | Text] = {"build": f"{OFFER_INDENT}{self._machine(row.build)}"}
            shown |= {"sold": self._seller(row), "days": self._days(row)}
            shown |= {key: self._cell(key, index, row) for key in (COST.key, EXPERIMENT.key)}
            return tuple(shown.get(column.key, "") for column in self.columns)
        return tuple(self._cell(column.key, index, row) for column in self.columns)

    def _cell(self, key: str, index: int, row: RankedRow) -> str | Text:
        """What one column says of a row."""
        match key:
            case "rank":
                mark = NO_SELLER if row.availability in NOT_SOLD else " "
                return f"{rank_words(row)}{mark}"
            case "build":
                return self._name(row)
            case COST.key:
                usd = usd_rounded(row.overall_cost_usd)
                wide = len(usd) > COST.width
                return format_usd(float(row.overall_cost_usd)) if wide else usd
            case EXPERIMENT.key:
                return run_words(row)
            case "days":
                return self._days(row)
            case "interval":
                return self._bar(row)
            case "chance":
                chance = self.ranking.chance(self.build_index(index))
                return "–" if chance is None else percent_words(chance)
            case _:
                return self._offers(index, row)

    def _days(self, row: RankedRow) -> str:
        return time_figure(row, self.unit)

    def _name(self, row: RankedRow) -> Text:
        """The GPUs with their glyph; what of them is there already says so."""
        build = row.build
        name = gpus_words(build).removesuffix(f" ({OWN_QUOTE})")
        if build.host_owned:
            name += ", yours"
        elif build.gpus_owned:
            name += f", {build.gpus_owned} yours"
        if build.host.is_own_quote:
            name += f" ({OWN_QUOTE})"
        mark = self.marks.get(short_gpu_name(build))
        return Text(name) if mark is None else Text.assemble(mark, " ", name)

    def _machine(self, build: Build) -> str:
        """An offer's machine, cut to the column."""
        mark = f" ({OWN_QUOTE})" if build.host.is_own_quote else ""
        room = max(self._widths["build"] - len(OFFER_INDENT) - len(mark), 8)
        return cut_words([machine_words(build)], room)[0] + mark

    def _offers(self, index: int, row: RankedRow) -> str:
        """How many offers a row has, and whether they are shown; or why there is none."""
        offers = len(self.ranking.table[self._lines[index][0]])
        why = NOT_SOLD.get(row.availability, "")
        if offers == 1:
            return why or self._seller(row)
        return f"{CLOSED if self.is_closed(index) else OPEN} {why or counted(offers, 'offer')}"

    def _seller(self, row: RankedRow) -> str:
        """``Kiebel, 11 mo``: who asks the price, and how old it is; why it cannot be ordered."""
        why = NOT_SOLD.get(row.availability)
        age = age_short(row, self.today)
        return why or (age if row.build.host_owned else f"{row.host_quote.vendor}, {age}")

    def _bar(self, row: RankedRow) -> str:
        """The interval with the limit in it."""
        if self.axis is None:
            return ""
        low, high = row.training_days_low, row.training_days_high
        drawn = interval_bar(self.axis, row.training_days, low, high)
        width = self._widths["interval"]
        if len(drawn) <= width:
            return drawn
        # Too narrow for figures beside the bars: the axis is wider by their room, cut off again.
        cut = (len(drawn) - width) // 2
        return "".join(sign if sign in "├─●┤│┼" else " " for sign in drawn[cut : cut + width])

    def row_style(self, index: int) -> RowStyle | None:
        (_, offer), row = self._lines[index], self.row(index)
        if offer is not None or row.availability in NOT_SOLD:
            return "dimmed"
        if row.build.host_owned:
            return "owned"
        return "front" if self.build_index(index) in self.answer.front else None

    def row_id(self, index: int) -> tuple[BuildKey | Cards, bool]:
        """Of a row its cards, whatever it is shown with; of an offer the build."""
        build, of_row = self.row(index).build, self._lines[index][1] is None
        return (build.cards if of_row else build_key(build)), of_row

    def index_of(self, row_id: Any) -> int | None:
        """The line of a row or offer of an earlier answer."""
        key, of_row = row_id
        if not of_row:
            i = self.answer.view.index.get(key)
            return None if i is None else self.row_of(i)
        builds = self.ranking.candidates.builds
        at = (n for n, offers in enumerate(self.ranking.table) if builds[offers[0]].cards == key)
        return self._at.get((next(at, -1), None))


COST = Column("cost", "from", 7, "right", sorts=True)
EXPERIMENT = Column("experiment-cost", "a run", 8, "right", sorts=True)
"""The key of a column that is sorted by is the rule of the ranking."""
SLIM = 79
"""In a narrower table the columns stand close together."""
BAR, LEAST_BAR = 36, 9
NAME, WHOLE_NAME, LEAST_NAME = 30, 24, 21
"""Cells of the GPUs with their glyph, or of a machine: the second fits "8 × RTX PRO 6000 Max-Q",
the third "8 × RTX 6000 Ada"."""
SOLD, LEAST_SOLD = 24, 11


def gap_at(width: int) -> int:
    """Cells between the columns of a table that is so wide."""
    return 1 if width < SLIM else 2


def ranking_columns(answer: Answer, width: int) -> tuple[Column, ...]:
    """The columns for a width in cells, at most seven, always in this order: with a limit the
    chance to keep it takes the place of the cost of a run, where the table is narrow the bar goes.
    """
    gap, max_days = gap_at(width), answer.ranking.question.max_days
    title = f"{unit_of(answer.ranking).word}s"
    wide = 6 if title == "days" else len(f"{title} ▲")
    chance: tuple[Column, ...] = ()
    cost: tuple[Column, ...] = (COST, EXPERIMENT)
    if max_days is not None:
        limit = f"{short_time(max_days)}?"
        chance = (Column("chance", limit, max(5, len(limit)), "right"),)
        cost = (EXPERIMENT,) if answer.is_by_run else (COST,)
    bar = Column("interval", "", BAR, least=LEAST_BAR)
    columns: Sequence[Column] = ()
    widths: Sequence[int] = ()
    for least, bars in ((WHOLE_NAME, (bar,)), (LEAST_NAME, (bar,)), (WHOLE_NAME, ())):
        columns = (
            Column("rank", "# ", 4, "right"),
            Column("build", "GPUs", NAME, least=least),
            Column("days", title, wide, "right", sorts=True),
            *bars,
            *chance,
            *cost,
            Column("sold", "offers", SOLD, least=LEAST_SOLD),
        )
        widths = fitted(columns, width - 2 * MARGIN, gap)
        if len(widths) == len(columns):
            break
    return tuple(
        column._replace(width=cells) for column, cells in zip(columns, widths, strict=False)
    )


def with_limit(columns: Sequence[Column], axis: Axis | None) -> tuple[Column, ...]:
    """The same with the limit written at its line."""

    def titled(column: Column) -> Column:
        if axis is None or column.key != "interval" or axis.limit is None:
            return column
        width = column.width
        at = axis.column(axis.limit) - (axis.width - width) // 2
        words = short_time(axis.limit)
        after = at + 1 + len(words) <= width
        title = f"{'':<{at}}│{words}" if after else f"{words:>{max(at, 0)}}│"
        return column._replace(title=title[:width])

    return tuple(map(titled, columns))
