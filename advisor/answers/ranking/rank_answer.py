"""The answer of `advisor rank` for a person: one sentence, at most ten rows, what to doubt .

`rank_details` has everything, for ``--details``; `rank_exports` has it as JSON and CSV.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from advisor.answers.build_words import machine_words, short_gpus_words
from advisor.answers.checklist import WIDTH, Doubt, doubt_block
from advisor.answers.gpu_count_notes import LOOKED_AT, faster_notes, uneven_notes
from advisor.answers.interval_bar import axis_for, bars_heading, interval_bar
from advisor.answers.ranking.doubts import doubts_of, doubts_title
from advisor.answers.ranking.verdict import chance_of, verdict
from advisor.answers.wording import (
    QUOTED_FIRST,
    age_short,
    estimate_mark,
    percent_words,
    rank_words,
)
from advisor.costs.amounts import days_rounded, usd_rounded
from advisor.ranking.rank import RankedRow, Ranking
from advisor.tables.plain_values import fill
from advisor.tables.text_table import cut_words

if TYPE_CHECKING:
    from advisor.ranking.question import CandidatesKey
    from price_catalog.model import Rental

MOST_ROWS = 10
NARROWEST = 60
WITH_RUNS = 76
"""Columns from which on there is room for what a run costs."""
GAP = " "


def rank_answer(
    ranking: Ranking,
    rentals: Iterable[Rental] = (),
    key: CandidatesKey | None = None,
    *,
    width: int = WIDTH,
) -> str:
    """The answer, the best rows, and what to doubt with the command that settles it."""
    width = max(width, NARROWEST)
    rows = [ranking.row(place) for place in shown_places(ranking)]
    table = table_lines(ranking, rows, width) if rows else []
    title, doubts = titled_doubts(ranking, rentals, key)
    blocks = [fill(verdict(ranking).sentence, width)]
    blocks.append("\n".join([*table, *_foot(ranking, rows, width)]))
    return "\n\n".join([*blocks, *doubt_block(title, doubts, width)])


def titled_doubts(
    ranking: Ranking, rentals: Iterable[Rental], key: CandidatesKey | None
) -> tuple[str, list[Doubt]]:
    """What to doubt of first place; what would help, where nothing answers."""
    if len(ranking) or key is None:
        return doubts_title(ranking), doubts_of(ranking, rentals, key)
    from advisor.answers.ranking.suggestions import TITLE, suggestions  # late: rarely needed

    return TITLE, suggestions(ranking, rentals, key)


def shown_places(ranking: Ranking) -> list[int]:
    """The places that a short answer shows, best first: of more than `MOST_ROWS`, without dearer
    machines with the same GPUs."""
    count = len(ranking)
    if count <= MOST_ROWS:
        return list(range(count))
    candidates = ranking.candidates
    cheapest: dict[tuple[str, int, int], int] = {}
    found = []
    for place in range(count):
        i = ranking.order[place]
        key = candidates.builds[i].cards
        if candidates.cents[i] >= cheapest.get(key, candidates.cents[i] + 1):
            continue
        cheapest[key] = candidates.cents[i]
        found.append(place)
        if len(found) == MOST_ROWS:
            break
    return found


def table_lines(ranking: Ranking, rows: Sequence[RankedRow], width: int) -> list[str]:
    """The best builds, with the interval of their days drawn and the limit in it."""
    limit, today = ranking.question.max_days, date.today()
    marks = [estimate_mark(row.time) for row in rows]

    def marked(figures: Iterable[str]) -> list[str]:
        return [mark + figure for mark, figure in zip(marks, figures, strict=True)]

    head = _Column("", [rank_words(row) for row in rows])
    figures = [
        _Column("price", [usd_rounded(row.overall_cost_usd) for row in rows]),
        _Column("days", marked(days_rounded(row.training_days) for row in rows)),
    ]
    tail = [_Column("prices", [age_short(row, today) for row in rows])]
    if width >= WITH_RUNS:
        runs = [
            (estimate_mark(row.time) if row.experiment_cost_usd else "")
            + usd_rounded(row.experiment_cost_usd)
            for row in rows
        ]
        tail.insert(0, _Column("a run", runs))
    if limit is not None:
        chances = [chance_of(ranking, row) or 0.0 for row in rows]
        tail.insert(0, _Column("chance", [percent_words(chance) for chance in chances]))
    bar_width = 31 if width >= WIDTH else max(16, width // 4)
    intervals = [interval(row) for row in rows]
    axis = axis_for(intervals, limit, bar_width)
    bars = []
    if axis is not None:
        drawn = [interval_bar(axis, row.training_days, *interval(row)) for row in rows]
        bars.append(_Column(bars_heading(axis), drawn, right=False))
    others = [head, *figures, *bars, *tail]
    room = max(width - sum(column.width + len(GAP) for column in others), 8)
    names = [f"{short_gpus_words(row.build)}, {machine_words(row.build)}" for row in rows]
    columns = [
        head,
        _Column("machine", cut_words(names, room), right=False),
        *figures,
        *bars,
        *tail,
    ]
    lines = []
    for n in range(-1, len(rows)):
        if n >= 0 and not _sold(ranking, rows[n]) and (not n or _sold(ranking, rows[n - 1])):
            lines.append("    No seller is known at these prices:")
        lines.append(GAP.join(column.cell(n) for column in columns).rstrip())
    return lines


def interval(row: RankedRow) -> tuple[float, float]:
    """The least and the most days."""
    return row.training_days_low, row.training_days_high


def _sold(ranking: Ranking, row: RankedRow) -> bool:
    return ranking.candidates.offered[ranking.order[row.rank - 1]]


@dataclass(frozen=True, slots=True)
class _Column:
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


def _foot(ranking: Ranking, rows: Sequence[RankedRow], width: int) -> list[str]:
    """How many there are, how many are left out and why, and where all of them stand."""
    lines = fill(_several_words(ranking), width).splitlines() if ranking.candidates.network else []
    if ranking.quoted_first and rows:
        lines += fill(f"1 comes first: {QUOTED_FIRST}.", width).splitlines()
    uneven = uneven_notes(ranking.candidates.model, [row.build for row in rows])
    for note in [*faster_notes(ranking.rows(LOOKED_AT), rows), *(f"{each}." for each in uneven)]:
        lines += fill(note, width).splitlines()
    fit = len(ranking)
    words = f"{fit:,} of {len(ranking.candidates.builds):,} builds fit."
    if len(rows) < fit:
        words += f" {len(rows)} are shown, without dearer machines for the same GPUs."
    words += " All of them, and why the others do not: add --details."
    return [*lines, *fill(words, width).splitlines()]


def _several_words(ranking: Ranking) -> str:
    """What the rows of two machines are, and where they stand."""
    from advisor.ranking.fabric import fabric_words  # late: most ask for one machine

    builds, fabric = ranking.candidates.builds, ranking.candidates.network
    assert fabric is not None  # it was asked for
    between = f"with {fabric_words(fabric)} between them"
    place = next((n for n, i in enumerate(ranking.order, 1) if builds[i].machines > 1), None)
    if place is None:
        return f"No two machines {between} answer the question."
    return (
        f"Two machines for one model {between}: predicted, the best at place {place}. The price of "
        "the network is not counted."
    )
