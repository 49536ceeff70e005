"""The main screen: a question on top, the ranked builds, the picture, and the selected build."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Grid
from textual.geometry import Size
from textual.widgets import Input, Static

from advisor.state import State
from advisor.tui.actions import RANKING, bindings_of
from advisor.tui.asking import TEXT_FIELDS
from advisor.tui.controls.bars import PANELS, KeyBar, Tabs, TitleBar, TooSmall
from advisor.tui.controls.choice import Choice
from advisor.tui.controls.field import Field
from advisor.tui.controls.lines_view import LinesView
from advisor.tui.controls.model_picker import ModelInput, ModelPicker
from advisor.tui.feed import FeedError
from advisor.tui.messages import PublishedRead, StoreChanged, StoreRead, StoreTrouble
from advisor.tui.picture import plot_data
from advisor.tui.screens.sizes import SizedScreen
from advisor.tui.session import Session
from advisor.tui.view import RankedRows, counted, ranking_columns, sorted_column
from advisor.tui.widgets.plot import CostTimePlot
from advisor.tui.widgets.plot_style import ANSI_COLOURS, palette, series_marks
from advisor.tui.widgets.rank_table import RankTable

if TYPE_CHECKING:
    from advisor.tui.app import AdvisorApp
    from advisor.tui.feed import Reading

CHOICES = {
    "rule": (
        "Rank by",
        {"days": "fastest", "cost": "cheapest", "experiment-cost": "per experiment"},
    ),
    "prices": ("Prices", {"latest": "latest", "paper": "paper"}),
    "evidence": ("Evidence", {"sound": "sound", "published": "published"}),
}
DETAIL_WIDTH, FRAME_WIDTH, SCROLLBAR_WIDTH = 47, 2, 1
"""As in styles/ranking.tcss."""
RETRY = "(tried again every 2 s)"


class RankingScreen(SizedScreen):
    """Which machine to buy."""

    WHERE = RANKING

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(RANKING)]
    AUTO_FOCUS = "#table"
    app: AdvisorApp

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

    def on_mount(self) -> None:
        self.table.border_title = "1 Builds"
        self.table.empty_message = "Reading the store …"
        self.picture.border_title = "2 Cost against time"
        self.picture.empty_message = "No build to draw."
        self.detail.border_title = "3 Selected build"
        self.watch(self.app, "theme", self._restyle, init=False)
        for name in TEXT_FIELDS:
            if name != "model":
                # Watched, not heard by message: the answer is then drawn together with the key.
                field = self.query_one(f"#{name}", Input)
                self.watch(field, "value", partial(self._typed, name), init=False)
        reading = self.app.feed.first_reading(wait=False)
        if reading is None:
            self.read_store()
        else:
            # It came while the program was loading: the first picture shows it.
            self._store_read(StoreRead(reading))
            self._make_published(reading)

    @property
    def table(self) -> RankTable:
        return self.query_one("#table", RankTable)

    @property
    def picture(self) -> CostTimePlot:
        return self.query_one("#picture", CostTimePlot)

    @property
    def detail(self) -> LinesView:
        return self.query_one("#detail", LinesView)

    # Reading, in threads

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def read_store(self) -> None:
        """Read what the present inputs need, and post it."""
        try:
            reading = self.app.feed.read(self.session.inputs)
        except FeedError as error:
            self.post_message(StoreTrouble(str(error)))
            return
        self.post_message(StoreRead(reading))
        self._post_published(reading)

    @work(thread=True, exclusive=True, group="published", exit_on_error=False)
    def _make_published(self, reading: Reading) -> None:
        """Make the field at face value, and post it."""
        self._post_published(reading)

    def _post_published(self, reading: Reading) -> None:
        if reading.field is not None and reading.field.evidence == "sound":
            self.post_message(PublishedRead(reading.field, reading.field.at_face_value()))

    @on(StoreRead)
    def _store_read(self, event: StoreRead) -> None:
        self._trouble = None
        first = self.session.snapshot is None
        self.session.accept(event.reading)
        self.show_answer()
        if first:
            self.call_after_refresh(self.app.first_answer_shown)

    @on(PublishedRead)
    def _published_read(self, event: PublishedRead) -> None:
        self.session.accept_published(event.field, event.published)
        self._show_note()

    @on(StoreTrouble)
    def _store_trouble(self, event: StoreTrouble) -> None:
        self._trouble = event.text
        if self.session.answer is None:
            self.table.empty_message = f"{event.text} {RETRY}"
        self._show_message()

    @on(StoreChanged)
    def _store_changed(self) -> None:
        self.read_store()

    # The answer, at every key press

    def show_answer(self) -> None:
        """Answer the inputs, or keep the last answer and say what is wrong."""
        session = self.session
        if session.ask():
            self.read_store()
        for name in TEXT_FIELDS:
            self.query_one(f"#{name}").set_class(name in session.errors, "-broken")
        old = session.is_old
        self.query_one("#panels").set_class(old, "-old")
        if not old and session.answer is not None:
            self._show_rows()
        self._show_note()
        self._show_message()

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
        table.border_subtitle = ranking.field.model.name
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
            if self.app.native_ansi_color:
                colours = list(ANSI_COLOURS)
            else:
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

    def _restyle(self) -> None:
        self.call_after_refresh(self.show_answer)

    # The fields

    def _typed(self, name: str, value: str) -> None:
        self._change(**{name: value})

    @on(ModelPicker.Changed)
    def _model_typed(self, event: ModelPicker.Changed) -> None:
        self._change(model=event.text)

    @on(Choice.Changed)
    def _chosen(self, event: Choice.Changed) -> None:
        self.session.pause()
        self._choose(event.choice.id or "", event.value)

    def _choose(self, name: str, value: str) -> None:
        values = {name: value}
        if name == "rule":
            self._descending = False
            if value != "days":
                # Ranked by a cost, that cost is the one to look at.
                values["cost_basis"] = "overall" if value == "cost" else "experiment"
        self._change(**values)

    def _change(self, **values: str) -> None:
        if self.session.change(**values):
            self.show_answer()

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_leave_field()

    def ask(self, **values: str) -> None:
        """Put a question into the fields for the person."""
        self.session.pause()
        self._change(**values)
        self._write_fields()

    # Selection, both ways

    @on(RankTable.RowHighlighted)
    def _row_highlighted(self, event: RankTable.RowHighlighted) -> None:
        rows = self.table.source
        # New rows may have moved the cursor since the message was sent: the table knows best.
        if isinstance(rows, RankedRows) and len(rows):
            i = rows.build_index(self.table.cursor)
            if i != self.session.selected:
                self.session.select(i)
                self._show_selected(from_top=True)

    @on(CostTimePlot.PointSelected)
    def _point_selected(self, event: CostTimePlot.PointSelected) -> None:
        rows, answer = self.table.source, self.session.answer
        if answer is None or not isinstance(rows, RankedRows):
            return
        i = answer.points.builds[event.index]
        self.session.select(i)
        row = rows.row_of(i)
        if row is not None:
            self.table.cursor = row
        self.detail.show(self.session.page(), from_top=True)

    @on(RankTable.RowOpened)
    @on(CostTimePlot.PointOpened)
    def action_open_record(self) -> None:
        """Open everything about the selected build on a page of its own."""
        if self.session.selected is not None:
            from advisor.tui.screens.record import RecordScreen

            self.app.push_screen(RecordScreen("Selected build", self.session.page()))

    @on(RankTable.HeaderClicked)
    def _header_clicked(self, event: RankTable.HeaderClicked) -> None:
        if event.sort_key == self.session.inputs.rule:
            self._descending = not self._descending
            self.show_answer()
        else:
            self.session.pause()
            self._choose("rule", event.sort_key)
            self._write_fields()

    # Actions

    def action_focus_field(self, name: str) -> None:
        """Go to a field."""
        self.query_one(f"#{name}").focus()

    def action_leave_field(self) -> None:
        """Go from a field to the panel that is shown."""
        self.session.pause()
        self.query_one(ModelPicker).close()
        self.query_one(f"#{self.panel}").focus()

    def action_next_choice(self, name: str) -> None:
        """Take the next of a few values."""
        self.query_one(f"#{name}", Choice).action_step(1)

    def action_toggle_cost(self) -> None:
        """Show the machine's cost or that of one experiment, in table and picture at once."""
        inputs = self.session.inputs
        basis = "experiment" if inputs.cost_basis == "overall" else "overall"
        values = {"cost_basis": basis}
        if inputs.rule != "days":
            values["rule"] = "cost" if basis == "overall" else "experiment-cost"
        self.session.pause()
        self._change(**values)
        self._write_fields()

    def action_show_excluded(self) -> None:
        """Open the list of what is left out."""
        from advisor.tui.screens.excluded import ExcludedScreen

        answer, snapshot = self.session.answer, self.session.snapshot
        if answer is not None and snapshot is not None:
            self.app.push_screen(ExcludedScreen(answer.ranking, snapshot, counted(answer)))

    def action_export(self) -> None:
        """Ask where to save the table or the picture."""
        answer, selected = self.session.answer, self.session.selected
        if answer is None:
            self.app.notify("There is nothing to save yet.")
            return
        from advisor.tui import exports
        from advisor.tui.screens.export import Exportable, ExportScreen

        self.app.push_screen(
            ExportScreen(
                Exportable(
                    name=exports.ranking_name(answer),
                    columns=exports.RANKING_COLUMNS,
                    rows=lambda: exports.ranking_rows(answer, excluded=True),
                    picture=lambda: exports.ranking_picture(answer, selected),
                )
            )
        )

    def action_copy_row(self) -> None:
        """Copy the selected build as one line."""
        text = self.session.one_line()
        self.app.copy_text(text or "", "the selected build" if text else "")

    def action_copy_table(self) -> None:
        """Copy the ranked builds as Markdown."""
        from advisor.tui import exports

        answer = self.session.answer
        if answer is not None:
            rows = exports.ranking_rows(answer, excluded=False)
            self.app.copy_text(exports.markdown(rows), f"{len(rows):,} rows as Markdown")

    def action_restore_defaults(self) -> None:
        """Put every field back."""
        self.session.restore_defaults()
        self._write_fields()
        self.show_answer()

    def action_undo(self) -> None:
        """Take back the last change of a field."""
        if self.session.undo():
            self._write_fields()
            self.show_answer()
        else:
            self.app.notify("Nothing to undo.")

    def _write_fields(self) -> None:
        """Make the fields show the session's inputs."""
        inputs = self.session.inputs
        for name in TEXT_FIELDS:
            if name == "model":
                self.query_one(ModelPicker).write(inputs.model)
                continue
            field = self.query_one(f"#{name}", Input)
            with field.prevent(Input.Changed):
                field.value = getattr(inputs, name)
        for name in CHOICES:
            self.query_one(f"#{name}", Choice).value = getattr(inputs, name)

    @property
    def panel(self) -> str:
        """Which panel is in front where there is room for one only."""
        panels = self.query_one("#panels")
        return next(name for name in PANELS if panels.has_class(f"-{name}"))

    def action_show_panel(self, name: str) -> None:
        """Bring a panel to the front and go to it."""
        self.query_one(Tabs).here = name
        panels = self.query_one("#panels")
        for each in PANELS:
            panels.set_class(each == name, f"-{each}")
        self.query_one(f"#{name}").focus()

    def key_escape(self) -> None:
        """Leave a field, or close the list of models first."""
        picker = self.query_one(ModelPicker)
        if picker.is_open and isinstance(self.focused, ModelInput):
            picker.close()
        else:
            self.action_leave_field()


def _write(line: Static, text: str) -> None:
    """Show another text; the screen is laid out anew only where it takes other lines."""
    old, width = str(line.content), max(1, line.size.width)
    if text != old:
        line.update(text, layout=-(-len(text) // width) != -(-len(old) // width))
