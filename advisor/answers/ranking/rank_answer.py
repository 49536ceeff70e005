"""The answer of `advisor rank` for a person: one sentence, one table of GPUs, what to do next.

`rank_details` has everything, for ``--details``; `rank_json_csv` has it as JSON and CSV.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from advisor.answers.build_words import gpus_words, machine_words
from advisor.answers.checklist import WIDTH, doubt_block
from advisor.answers.interval_bar import axis_for, bars_heading, interval_bar
from advisor.answers.ranking.before_you_order import MOST_SHOWN, steps_of, steps_title
from advisor.answers.ranking.question_words import terms_words
from advisor.answers.ranking.rank_sentence import Verdict
from advisor.answers.wording import TimeUnit, estimate_mark, percent_words, rank_words, time_unit
from advisor.costs.amount_words import counted, days_rounded, usd_rounded
from advisor.ranking.candidates import Availability
from advisor.ranking.row_order import RankedRow, Ranking
from advisor.tables.plain_values import cut_words, fill

if TYPE_CHECKING:
    from advisor.ranking.question import CandidatesKey
    from price_catalog.model import Rental

MOST_ROWS = 10
NARROWEST = 60
WITH_INTERVAL = 90
"""Columns from which on there is room for the price interval."""
LEAST_BAR, WIDEST_BAR, LEAST_SOLD, WITH_NAME = 15, 31, 13, 24
"""Columns of the bars and of the last column; from the last on that has the machine's name."""
GAP, SOLD_GAP = " ", "  "
"""Before a column; the second beside it before the last one, which is text after numbers."""
NOT_SOLD: dict[Availability, str] = {
    "not-delivered": "delivered?",
    "out-of-date": "out of date",
    "no-seller": "no seller",
}
"""What the table says of a row that cannot be ordered at its price; it fits the last column."""


def rank_answer(
    ranking: Ranking, rentals: Iterable[Rental], key: CandidatesKey, *, width: int = WIDTH
) -> str:
    """The answer, the best rows, and what to do next, each with its command."""
    width, found = max(width, NARROWEST), Verdict(ranking, rentals)
    blocks = [fill(found.sentence, width)]
    if ranking.table:
        lines = table_lines(ranking, range(min(len(ranking.table), MOST_ROWS)), width)
        blocks.append("\n".join([*lines, fill(_foot(ranking), width)]))
    steps = steps_of(found, key)[:MOST_SHOWN]
    return "\n\n".join([*blocks, *doubt_block(steps_title(found), steps, width)])


class _Column(NamedTuple):
    heading: str
    cells: list[str]
    right: bool = True

    @property
    def width(self) -> int:
        return max(map(len, (self.heading, *self.cells)))

    def cell(self, n: int) -> str:
        """The cell of row ``n``, the heading of row -1; as wide as the column."""
        text = self.heading if n < 0 else self.cells[n]
        return text.rjust(self.width) if self.right else text.ljust(self.width)


def table_lines(ranking: Ranking, places: Sequence[int], width: int) -> list[str]:
    """These rows of the table, with the interval of their days drawn and the limit in it."""
    rows, limit = [ranking.lead(place) for place in places], ranking.question.max_days
    unit = unit_of(ranking)
    columns = [
        _Column("", [rank_words(row) for row in rows]),
        _Column("GPUs", [gpus_words(row.build) for row in rows], right=False),
        _Column(f"{unit.word}s", [time_figure(row, unit) for row in rows]),
    ]
    if limit is not None:
        chances = [ranking.chance(ranking.table[place][0]) or 0.0 for place in places]
        columns.append(_Column("chance", [percent_words(chance) for chance in chances]))
    columns.append(_Column("from", [usd_rounded(row.overall_cost_usd) for row in rows]))
    prices = [price_interval_words(row) for row in rows]
    if width >= WITH_INTERVAL and any(prices):
        columns.append(_Column("if ordered today", prices))
    if limit is None:
        columns.append(_Column("a run", [run_words(row) for row in rows]))
    left = width - sum(column.width + len(GAP) for column in columns)
    spans = [(row.training_days_low, row.training_days_high) for row in rows]
    bar_width = min(left - LEAST_SOLD - len(GAP), WIDEST_BAR)
    axis = axis_for(spans, limit, bar_width, unit) if bar_width >= LEAST_BAR else None
    if axis is not None:
        pairs = zip(rows, spans, strict=True)
        bars = [interval_bar(axis, row.training_days, *span) for row, span in pairs]
        columns.insert(3, _Column(bars_heading(axis), bars, right=False))
        left -= bar_width + len(GAP)
    if left < LEAST_SOLD:
        left += columns.pop().width + len(GAP)
    room = left - len(SOLD_GAP)  # the column on its left ends where it begins
    sold = [sold_as(ranking, place, row, room) for place, row in zip(places, rows, strict=True)]
    cells = [f"{SOLD_GAP}{words}" for words in cut_words(sold, room)]
    columns.append(_Column(f"{SOLD_GAP}sold as", cells, right=False))
    return [GAP.join(column.cell(n) for column in columns).rstrip() for n in range(-1, len(rows))]


def unit_of(ranking: Ranking) -> TimeUnit:
    """The unit of the times of a table: that of its fastest row that can be ordered, which is
    the first unless another order was asked for."""
    first = 1 if ranking.question.rule == "days" else ranking.sold_rows or None
    days, rows = ranking.candidates.days, ranking.table[:first]
    return time_unit(min((days[offers[0]] for offers in rows), default=1.0))


def time_figure(row: RankedRow, unit: TimeUnit) -> str:
    """``≈36.3``, under a head that names the unit."""
    return estimate_mark(row.time) + days_rounded(row.training_days * unit.a_day)


def run_words(row: RankedRow) -> str:
    """``≈$570``: what a run costs its owner."""
    usd = row.experiment_cost_usd
    if usd is None:
        return "no data"
    return f"{estimate_mark(row.time) if usd else ''}{usd_rounded(usd)}"


def price_interval_words(row: RankedRow) -> str:
    """``$14,900 - $19,800``; empty where the price has no interval."""
    low, high = usd_rounded(row.price_low_usd), usd_rounded(row.price_high_usd)
    return "" if low == high else f"{low} - {high}"


def sold_as(ranking: Ranking, place: int, row: RankedRow, room: int) -> str:
    """``Kiebel workstation, 7 offers``; why it cannot be ordered where that is so."""
    if row.build.host_owned:
        return "yours"
    offers = len(ranking.table[place])
    count = f", {counted(offers, 'offer')}" if offers > 1 else ""
    if row.availability in NOT_SOLD:
        return f"{NOT_SOLD[row.availability]}{count if room >= WITH_NAME else ''}"
    if room < WITH_NAME:
        return count.removeprefix(", ") or "1 offer"
    name = machine_words(row.build)
    whole = f"{name}{ranking.candidates.abroad(row.host_quote.vendor)}"
    (name,) = cut_words([whole if len(whole + count) <= room else name], room - len(count))
    return f"{name}{count}"


def _foot(ranking: Ranking) -> str:
    """The order of the rows, and where the rest stands."""
    words = f"Order: {ranking.order_words}."
    if len(ranking.table) > MOST_ROWS:
        words += f" {MOST_ROWS} of {len(ranking.table)} rows are shown."
    if ranking.candidates.buy_in is not None:
        words += f" Bought in {ranking.candidates.buy_in}: freight and import are not counted."
    if ranking.question.max_days is None:
        words += f" A run: its share of {terms_words(ranking.question.terms)}."
    what, fit = ("offer" if ranking.sold_rows else "price"), "fits" if len(ranking) == 1 else "fit"
    why = ", and why others do not" if ranking.sold_rows else "; none can be ordered"
    return f"{words} {counted(len(ranking), what)} {fit} the question: --details lists them{why}"
