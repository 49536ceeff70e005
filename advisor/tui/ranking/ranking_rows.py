"""The ranked builds as rows of the table, and what is said of them all (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from advisor.answers.wording import (
    PREDICTED_MARK,
    REASONS_SHORT,
    VERDICT_MARKS,
    gpus_words,
    rank_words,
)
from advisor.costs.amounts import days_short, usd_and_cents, usd_whole
from advisor.tui.program.candidates_view import Answer, BuildKey, build_key
from advisor.tui.widgets.table_rows import Column, RowStyle

if TYPE_CHECKING:
    from advisor.ranking.rank import ExcludedRow, RankedRow


_COST = Column(key="overall_cost_usd", title="cost", align="right", sort_key="cost", width=8)
_EXPERIMENT = Column(
    key="experiment_cost_usd",
    title="per exp.",
    align="right",
    sort_key="experiment-cost",
    width=10,
)
_SORTED_COLUMN = {"days": "training_days", "cost": _COST.key, "experiment-cost": _EXPERIMENT.key}


class RankedRows:
    """The ranking as the table's rows; a row is made when it is looked at."""

    def __init__(
        self, answer: Answer, marks: Mapping[str, Text], warning: str, *, descending: bool
    ) -> None:
        """``marks`` are the picture's glyphs by GPU, ``warning`` the colour of doubt."""
        self.answer = answer
        self.view = answer.view
        self.ranking = answer.ranking
        self.marks = marks
        self.warning = warning
        self.descending = descending

    def __len__(self) -> int:
        return len(self.ranking.order)

    def position(self, index: int) -> int:
        """The place in the ranking of a row of the table, and the other way round."""
        return len(self.ranking.order) - 1 - index if self.descending else index

    def build_index(self, index: int) -> int:
        """The candidates' index of a row."""
        return self.ranking.order[self.position(index)]

    def row(self, index: int) -> RankedRow:
        """The ranked build of a row."""
        return self.ranking.row(self.position(index))

    def row_of(self, build_index: int) -> int | None:
        """The row of one of the candidates, None where it is not ranked."""
        try:
            return self.position(self.ranking.order.index(build_index))
        except ValueError:
            return None

    def cells(self, index: int) -> Sequence[str | Text]:
        row = self.row(index)
        time = row.time
        name = row.build.gpu.name
        words = gpus_words(row.build)
        if (row.build.gpu.gpu_id, row.build.gpu_count) in self.view.ambiguous:
            words += f" · {row.build.host.name}"
        if row.build.gpus_owned and not row.build.host_owned:
            words += f" · {row.build.gpus_owned} owned"
        build = Text(words)
        mark = self.marks.get(name)
        if mark is not None:
            build = Text.assemble(mark, " ", build)
        share = "no data" if time.implied_mfu is None else f"{time.implied_mfu:.0%}"
        verdict = VERDICT_MARKS.get(time.verdict or "unchecked", "–")
        doubtful = time.verdict in ("doubtful", "implausible")
        star = "★" if self.build_index(index) in self.answer.front else " "
        rank = f"{rank_words(row)}{star}"
        costs = [usd_whole(row.overall_cost_usd), usd_and_cents(row.experiment_cost_usd)]
        if self.answer.basis == "experiment":
            costs.reverse()
        return (
            rank,
            build,
            costs[0],
            f"{PREDICTED_MARK if time.basis == 'predicted' else ''}{days_short(row.training_days)}",
            costs[1],
            Text(f"{share} {verdict}", style=self.warning if doubtful else ""),
            "owned"
            if row.build.host_owned
            else f"{min(row.gpu_quote.quoted_on, row.host_quote.quoted_on):%Y-%m}",
        )

    def row_style(self, index: int) -> RowStyle | None:
        if self.view.candidates.builds[self.build_index(index)].host_owned:
            return "owned"
        return "front" if self.build_index(index) in self.answer.front else None

    def row_id(self, index: int) -> BuildKey:
        return build_key(self.view.candidates.builds[self.build_index(index)])

    def index_of(self, row_id: Any) -> int | None:
        i = self.view.index.get(row_id)
        return None if i is None else self.row_of(i)


def ranking_columns(basis: str, width: int) -> tuple[Column, ...]:
    """The columns, the kind of cost that is chosen first; names get what ``width`` leaves.

    Where that would be too little for a name, the date of the prices is left to the detail.
    """
    costs = (_EXPERIMENT, _COST) if basis == "experiment" else (_COST, _EXPERIMENT)
    dated = width - OTHER_COLUMNS - _DATE_COLUMN >= MIN_NAME
    room = width - OTHER_COLUMNS - (_DATE_COLUMN if dated else 0)
    columns = (
        Column(key="rank", title="#  ", align="right", width=5),
        Column(key="build", title="build", width=max(15, min(34, room))),
        costs[0],
        Column(key="training_days", title="days", align="right", sort_key="days", width=6),
        costs[1],
        Column(key="implied_mfu", title="MFU", align="right", width=6),
    )
    return (*columns, Column(key="price_date", title="prices", width=7)) if dated else columns


def sorted_column(rule: str) -> str:
    """The column that shows a ranking rule's arrow."""
    return _SORTED_COLUMN[rule]


MIN_NAME = 22
"""Enough for "8 × RTX 6000 Ada" with its glyph, and most longer ones."""
OTHER_COLUMNS, _DATE_COLUMN = 47, 9
"""Cells of all columns but the name and the date, and of the date, gaps and margins included."""

EXCLUDED_COLUMNS = (
    Column(key="build", title="build", sort_key="build", width=20),
    Column(key="reason", title="reason", sort_key="reason", width=15),
    Column(key="cost", title="cost", align="right", sort_key="cost", width=10),
    Column(key="days", title="days", align="right", sort_key="days", width=7),
    Column(key="detail", title="in words", width=46),
)


def excluded_cells(row: ExcludedRow) -> tuple[str, ...]:
    """One left-out build as a row of the table."""
    cost, days = row.overall_cost_usd, row.training_days
    return (
        gpus_words(row.build),
        REASONS_SHORT.get(row.reason, row.reason),
        "no price" if cost is None else usd_whole(cost),
        "no data" if days is None else days_short(days),
        row.detail,
    )


def counted(answer: Answer) -> str:
    """``8 of 16 builds · 6 over budget · 2 implausible``: nothing is left out silently.

    Builds that nobody measured are counted apart: they say more of the evidence than of the
    question, and with them the first figure would drown.
    """
    ranking, candidates = answer.ranking, answer.view.candidates
    counts = dict(ranking.excluded_counts)
    unmeasured = counts.pop("no-time", 0)
    words = [f"{len(ranking):,} of {len(candidates.builds) - unmeasured:,} builds"]
    words += [f"{count:,} {REASONS_SHORT.get(reason, reason)}" for reason, count in counts.items()]
    if unmeasured:
        words.append(f"{unmeasured:,} more unmeasured")
    budget, limit = ranking.question.budget_usd, ranking.question.max_days
    replaced = [
        i
        for i in answer.view.replaced
        if (budget is None or candidates.cents[i] <= budget * 100)
        and (limit is None or candidates.days[i] <= limit)
    ]
    if replaced:
        words.append(f"{len(replaced):,} impossible: predicted")
    return " · ".join(words)
