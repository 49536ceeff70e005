"""The ranked builds, their picture, and the selected build."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Static

from advisor.tui.pages.build_lines import point_line, selected_page
from advisor.tui.program.answer import plot_data
from advisor.tui.program.session import RankingSession
from advisor.tui.ranking.ranking_rows import (
    Cards,
    RankedRows,
    gap_at,
    ranking_columns,
    with_limit,
)
from advisor.tui.widgets.lines import LinesView
from advisor.tui.widgets.plot.plot import CostTimePlot
from advisor.tui.widgets.plot.style import palette, series_marks
from advisor.tui.widgets.rank_table import RankTable
from advisor.tui.widgets.safe_text import shorten

if TYPE_CHECKING:
    from advisor.tui.program.answer import Answer
    from advisor.tui.program.program import Program

PANELS = {"table": "Builds", "picture": "Picture", "detail": "Selected build"}
SHORT_BELOW = 110
"""Cells of the line below the picture for which a build is described in fewer words."""
FRAME_WIDTH, SCROLLBAR_WIDTH = 2, 1
"""As in ranking.tcss."""


class BuildPanels(Container):
    """Shows the session's answer, side by side or one panel at a time; selects in all at once."""

    app: Program

    def __init__(self, session: RankingSession) -> None:
        super().__init__(id="panels", classes="-table")
        self._session = session
        self._opened: set[Cards] = set()
        """The rows whose offers are shown."""
        self._marked: Sequence[str] = ()
        self._marked_in = ""
        self._kept_marks: dict[str, Text] = {}
        self._has_drawn = False

    def compose(self) -> ComposeResult:
        yield RankTable(id="table")
        with Container(id="lower"):
            with Container(id="drawn"):
                yield CostTimePlot(id="picture")
                yield Static("", id="point", markup=False)
            yield LinesView(id="detail")

    def on_mount(self) -> None:
        self.table.border_title = "1 Builds"
        self.table.empty_message = "Reading the store …"
        self.picture.border_title = "2 Cost against time"
        self.picture.empty_message = "No build to draw."
        self.detail.border_title = "3 Selected build"

    @property
    def table(self) -> RankTable:
        return self.query_one("#table", RankTable)

    @property
    def picture(self) -> CostTimePlot:
        return self.query_one("#picture", CostTimePlot)

    @property
    def detail(self) -> LinesView:
        return self.query_one("#detail", LinesView)

    @property
    def front(self) -> str:
        return next(name for name in PANELS if self.has_class(f"-{name}"))

    def bring(self, name: str) -> None:
        for each in PANELS:
            self.set_class(each == name, f"-{each}")

    # The answer

    def show(self) -> None:
        session = self._session
        answer = session.answer
        assert answer is not None
        ranking, points, question = answer.ranking, answer.points.drawn, answer.ranking.question
        width = self._table_width()
        columns = ranking_columns(answer, width)
        rows = RankedRows(
            answer,
            self._marks(points.series_names, points.series_slots),
            columns=columns,
            today=self.app.today,
            opened=frozenset(self._opened),
        )
        table, picture = self.table, self.picture
        if not len(ranking):
            table.empty_message = session.why_empty()
        table.gap = gap_at(width)
        table.columns = with_limit(columns, rows.axis)
        table.sorted_by = question.rule
        table.source = rows
        row = None if session.selected is None else rows.row_of(session.selected)
        table.cursor = 0 if row is None else row
        table.border_subtitle = ranking.candidates.model.name
        picture.data = plot_data(answer)
        self._show_selected(from_top=False)

    def follow(self) -> None:
        """Put the cursor on the selected build."""
        if self.query_one_optional(CostTimePlot) is None:
            return  # it is not there yet, or no longer
        rows, i = self.table.source, self._session.selected
        row = rows.row_of(i) if isinstance(rows, RankedRows) and i is not None else None
        if row is not None and row != self.table.cursor:
            self.table.cursor = row
            self._show_selected(from_top=True)

    def _show_selected(self, *, from_top: bool) -> None:
        session = self._session
        assert session.answer is not None
        i = session.selected
        self.picture.selected = None if i is None else session.answer.points.at.get(i)
        show_detail = partial(
            self.detail.show, selected_page(session, self.app.today), from_top=from_top
        )
        if self._has_drawn:
            show_detail()
        else:  # what it loads comes after the first picture
            self._has_drawn = True
            self.call_after_refresh(show_detail)
        self._show_point(i)

    def _show_point(self, i: int | None) -> None:
        """The line below the picture: what is under the cursor or the mouse."""
        line = self.query_one("#point", Static)
        width = (line.size.width or self.app.size.width) - 2
        text = "" if i is None else point_line(self._session, i, short=width < SHORT_BELOW)
        line.update(shorten(text, width), layout=False)

    def _marks(self, names: Sequence[str], slots: Sequence[int]) -> dict[str, Text]:
        """The picture's glyphs in its colours, for the table."""
        if self._marked is not names or self._marked_in != self.app.theme:
            self._marked, self._marked_in = names, self.app.theme
            marks, colours = series_marks(slots), palette(self.app)
            self._kept_marks = {
                name: Text(mark.filled, style=colours[mark.colour])
                for name, mark in zip(names, marks, strict=True)
            }
        return self._kept_marks

    def toggle_offers(self) -> bool:
        """Show or hide the offers of the row under the cursor; whether it has several."""
        rows = self.table.source
        if not isinstance(rows, RankedRows) or not len(rows):
            return False
        row = rows.row(self.table.cursor)
        if len(rows.ranking.table[row.group - 1]) == 1:
            return False
        self._opened ^= {row.build.cards}
        self._session.select(rows.ranking.table[row.group - 1][0])
        self.show()
        return True

    def is_closed(self) -> bool:
        """Whether the row under the cursor has offers that are not shown."""
        rows = self.table.source
        return isinstance(rows, RankedRows) and len(rows) > 0 and rows.is_closed(self.table.cursor)

    def fit_columns(self) -> None:
        """Give the table the columns that it has room for."""
        if self.query_one_optional(CostTimePlot) is None:
            return  # the program is being left
        rows = self.table.source
        if not isinstance(rows, RankedRows):
            return
        if ranking_columns(rows.answer, self._table_width()) != rows.columns:
            self.show()

    def _table_width(self) -> int:
        """In cells; before the first layout, what it is going to be."""
        laid_out = self.table.scrollable_content_region.width
        if laid_out:
            return laid_out
        frame = FRAME_WIDTH if self.screen.has_class("-wide") else 0
        return self.app.size.width - frame - SCROLLBAR_WIDTH

    # Selection, both ways

    @on(RankTable.RowHighlighted)
    def _row_highlighted(self, event: RankTable.RowHighlighted) -> None:
        rows = self.table.source
        # New rows may have moved the cursor since the message was sent: the table knows best.
        if isinstance(rows, RankedRows) and len(rows):
            i = rows.build_index(self.table.cursor)
            if i != self._session.selected:
                self._session.select(i)
                self._show_selected(from_top=True)

    @on(CostTimePlot.PointSelected)
    def _point_selected(self, event: CostTimePlot.PointSelected) -> None:
        rows, answer = self.table.source, self._session.answer
        if answer is None or not isinstance(rows, RankedRows):
            return
        i = _build_at(answer, event.index)
        if i is None:
            return
        self._session.select(i)
        row = rows.row_of(i)
        if row is not None:
            self.table.cursor = row
        self.detail.show(selected_page(self._session, self.app.today), from_top=True)
        self._show_point(i)


def _build_at(answer: Answer, point: int | None) -> int | None:
    """The build of a point of the picture; None where a newer answer has fewer points."""
    builds = answer.points.builds
    return None if point is None or point >= len(builds) else builds[point]
