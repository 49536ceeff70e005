"""What the main screen is made of and how it draws an answer; ranking.py says what it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Grid
from textual.geometry import Size
from textual.widgets import Static

from advisor.answers.wording import RULE_CHOICES
from advisor.tui.pages.bars import PANELS, KeyBar, Tabs, TitleBar, TooSmall
from advisor.tui.pages.model_picker import ModelPicker
from advisor.tui.pages.sized_screen import SizedScreen
from advisor.tui.program.actions import RANKING
from advisor.tui.program.points import plot_data
from advisor.tui.program.settings import State
from advisor.tui.ranking.ranking_rows import RankedRows, counted, ranking_columns, sorted_column
from advisor.tui.ranking.ranking_session import Session
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.lines_view import LinesView
from advisor.tui.widgets.plot.plot import CostTimePlot
from advisor.tui.widgets.plot.style import ANSI_COLOURS, palette, series_marks
from advisor.tui.widgets.table import RankTable
from advisor.tui.widgets.text_input import Field

if TYPE_CHECKING:
    from advisor.tui.program.program import Program

CHOICES = {
    "rule": (
        "Rank by",
        RULE_CHOICES,
    ),
    "prices": ("Prices", {"latest": "latest", "paper": "paper"}),
    "evidence": ("Evidence", {"sound": "sound", "published": "published"}),
}
DETAIL_WIDTH, FRAME_WIDTH, SCROLLBAR_WIDTH = 47, 2, 1
"""As in ranking.tcss."""
RETRY = "(tried again every 2 s)"


class RankingView(SizedScreen):
    """The fields, the table, the picture and the selected build."""

    app: Program

    def __init__(self, state: State, size: Size) -> None:
        super().__init__(size)
        self.session = Session(state)
        self._descending = False
        self._trouble: str | None = None
        self._marked: Sequence[str] = ()
        self._marked_in: tuple[str, bool] | None = None
        self._kept_marks: dict[str, Text] = {}

    def compose(self) -> ComposeResult:
        state = self.session.inputs
        yield TitleBar(RANKING)
        with Grid(id="question"):
            yield Static("Budget $", classes="label")
            yield Field(state.budget, id="budget", max_length=30)
            yield Static("Model", classes="label")
            yield ModelPicker(state.model, self.session.models, self._times_words, id="model")
            yield Static("Max days", classes="label")
            yield Field(state.max_days, placeholder="no limit", id="max_days", max_length=30)
            yield Static("Life, years", classes="label")
            yield Field(state.lifetime, id="lifetime", max_length=30)
            yield Static("GPUs", classes="label")
            yield Field(state.gpus, placeholder="all", id="gpus", max_length=100)
            for name, (label, words) in CHOICES.items():
                yield Static(label, classes="label")
                yield Choice(words, getattr(state, name), id=name)
        yield Static("reading the store …", id="message", markup=False)
        yield Static("", id="note", markup=False)
        yield Tabs(PANELS, "show_panel")
        with Container(id="panels", classes="-table"):
            with Container(id="left"):
                yield RankTable(id="table", fixed_columns=2)
                yield CostTimePlot(id="picture")
            yield LinesView(id="detail")
        yield KeyBar(RANKING)
        yield TooSmall()

    @property
    def table(self) -> RankTable:
        return self.query_one("#table", RankTable)

    @property
    def picture(self) -> CostTimePlot:
        return self.query_one("#picture", CostTimePlot)

    @property
    def detail(self) -> LinesView:
        return self.query_one("#detail", LinesView)

    def _show_rows(self) -> None:
        session = self.session
        answer = session.answer
        assert answer is not None
        ranking, points, question = answer.ranking, answer.points, answer.ranking.question
        rows = RankedRows(
            answer, self._marks(points.series_names), self._warning(), descending=self._descending
        )
        table, picture = self.table, self.picture
        if not len(rows):
            table.empty_message = session.why_empty()
        table.columns = ranking_columns(answer.basis, self._table_width())
        table.sorted_by = sorted_column(question.rule)
        table.sort_descending = self._descending
        table.source = rows
        row = None if session.selected is None else rows.row_of(session.selected)
        table.cursor = 0 if row is None else row
        table.border_subtitle = ranking.candidates.model.name
        picture.data = plot_data(points, ranking, answer.front, answer.basis)
        budget = question.budget_usd if answer.basis == "overall" else None
        picture.budget_usd = None if budget is None else float(budget)
        picture.max_days = question.max_days
        self._show_selected(from_top=False)

    def _show_selected(self, *, from_top: bool) -> None:
        session = self.session
        assert session.answer is not None
        i = session.selected
        self.picture.selected = None if i is None else session.answer.points.at.get(i)
        self.detail.show(session.page(), from_top=from_top)

    def _show_message(self) -> None:
        session, line = self.session, self.query_one("#message", Static)
        answer = session.answer
        line.set_class(bool(session.errors or self._trouble), "-error")
        if session.errors:
            text = "⚠ " + next(iter(session.errors.values()))
        elif self._trouble is not None:
            text = f"⚠ {self._trouble} {RETRY}"
        elif answer is not None:
            text = counted(answer)
            # Where there is room; the footer has the key in any case.
            if len(text) + 10 < self.app.size.width and self.has_class("-wide"):
                text += " · x: why"
        else:
            return
        _write(line, text)

    def _show_note(self) -> None:
        note = self.session.note()
        if self.session.errors and self.session.answer is not None:
            note = f"Below is the last good answer: {self.session.answered_words()}."
        line = self.query_one("#note", Static)
        line.set_class(note is not None, "-said")
        _write(line, note or "")

    def _marks(self, names: Sequence[str]) -> dict[str, Text]:
        """The picture's glyphs in its colours, for the table."""
        look = (self.app.theme, self.app.no_color)
        if self._marked is not names or self._marked_in != look:
            self._marked, self._marked_in = names, look
            marks = series_marks(len(names), coloured=not self.app.no_color)
            colours: Sequence[str] = ANSI_COLOURS
            if not self.app.native_ansi_color:
                colours = palette(self.table.background_colors[1].hex6, 3.0)
            self._kept_marks = {
                name: Text(mark.filled, style=colours[mark.colour])
                for name, mark in zip(names, marks, strict=True)
            }
        return self._kept_marks

    def _warning(self) -> str:
        return "yellow" if self.app.native_ansi_color else self.app.theme_variables["text-warning"]

    def _times_words(self, recipe_id: str) -> str:
        times = self.session.measured.get(recipe_id)
        return f"{times:,} times" if times else "not measured"

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit_columns)

    def _fit_columns(self) -> None:
        columns = ranking_columns(self.session.inputs.cost_basis, self._table_width())
        if columns != self.table.columns:
            self.table.columns = columns

    def _table_width(self) -> int:
        """In cells; before the first layout, what it is going to be."""
        laid_out = self.table.scrollable_content_region.width
        if laid_out:
            return laid_out
        beside = DETAIL_WIDTH + FRAME_WIDTH if self.has_class("-wide") else 0
        return self.app.size.width - beside - SCROLLBAR_WIDTH


def _write(line: Static, text: str) -> None:
    """Show another text; the screen is laid out anew only where it takes other lines."""
    old, width = str(line.content), max(1, line.size.width)
    if text != old:
        line.update(text, layout=-(-len(text) // width) != -(-len(old) // width))
