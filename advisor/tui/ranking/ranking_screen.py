"""The main screen: a question on top, the ranked builds, the picture, and the selected build."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.geometry import Size
from textual.widgets import Input, Static

from advisor.tui.pages.bars import KeyBar, Tabs, TitleBar, TooSmall
from advisor.tui.pages.model_picker import ModelInput
from advisor.tui.pages.sized_screen import SizedScreen
from advisor.tui.program.actions import RANKING, bindings_of
from advisor.tui.program.messages import PublishedRead, StoreChanged, StoreRead, StoreTrouble
from advisor.tui.program.settings import State
from advisor.tui.ranking.build_panels import PANELS, BuildPanels
from advisor.tui.ranking.question_fields import QuestionFields
from advisor.tui.ranking.ranking_rows import counted
from advisor.tui.ranking.ranking_session import RankingSession
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.fetch_error import FetchError
from advisor.tui.widgets.lines_view import LinesView
from advisor.tui.widgets.plot.plot import CostTimePlot
from advisor.tui.widgets.rank_table import RankTable

if TYPE_CHECKING:
    from advisor.tui.program.program import Program
    from advisor.tui.program.store_reader import Reading

RETRY = "(tried again every 2 s)"


class RankingScreen(SizedScreen):
    """Which machine to buy."""

    WHERE = RANKING

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(RANKING)]
    AUTO_FOCUS = "#table"
    app: Program

    def __init__(self, state: State, size: Size) -> None:
        super().__init__(size)
        self.session = RankingSession(state)
        self._trouble: str | None = None

    def compose(self) -> ComposeResult:
        yield TitleBar(RANKING)
        yield QuestionFields(
            self.session.inputs,
            models=self.session.models,
            times=lambda recipe_id: self.session.measured.get(recipe_id, 0),
            typed=lambda name, text: self._change(**{name: text}),
        )
        yield Static("reading the store …", id="message", markup=False)
        yield Static("", id="note", markup=False)
        yield Tabs(PANELS, "show_panel")
        yield BuildPanels(self.session)
        yield KeyBar(RANKING)
        yield TooSmall()

    def on_mount(self) -> None:
        self.watch(self.app, "theme", self._restyle, init=False)
        reading = self.app.store_reader.first_reading(wait=False)
        if reading is None:
            self.read_store()
        else:
            # It came while the program was loading: the first picture shows it, and only then
            # does a thread take turns with the one that draws.
            self._store_read(StoreRead(reading))
            self.call_after_refresh(self._make_published, reading)

    @property
    def fields(self) -> QuestionFields:
        return self.query_one(QuestionFields)

    @property
    def panels(self) -> BuildPanels:
        return self.query_one(BuildPanels)

    @property
    def table(self) -> RankTable:
        return self.panels.table

    @property
    def picture(self) -> CostTimePlot:
        return self.panels.picture

    @property
    def detail(self) -> LinesView:
        return self.panels.detail

    def on_resize(self) -> None:
        self.call_after_refresh(self.panels.fit_columns)

    # Reading, in threads

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def read_store(self) -> None:
        """Read what the present inputs need, and post it."""
        try:
            reading = self.app.store_reader.read(self.session.inputs)
        except FetchError as error:
            self.post_message(StoreTrouble(str(error)))
            return
        self.post_message(StoreRead(reading))
        self._post_published(reading)

    # Described, or Textual would write out the whole reading for its own log.
    @work(
        thread=True, exclusive=True, group="published", exit_on_error=False, description="published"
    )
    def _make_published(self, reading: Reading) -> None:
        """Take the published times at face value, and post what that makes."""
        self._post_published(reading)

    def _post_published(self, reading: Reading) -> None:
        if reading.candidates is not None and reading.candidates.evidence == "sound":
            self.post_message(PublishedRead(reading.candidates, reading.candidates.at_face_value()))

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
        self.session.accept_published(event.candidates, event.published)
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
        self.fields.mark(session.errors)
        old = session.is_old
        self.panels.set_class(old, "-old")
        if not old and session.answer is not None:
            self.panels.show()
        elif session.answer is None and session.errors:
            self.table.empty_message = "No answer yet: the line above says what to mend."
        self._show_note()
        self._show_message()

    def _restyle(self) -> None:
        self.call_after_refresh(self.show_answer)

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

    # The fields

    @on(Choice.Changed)
    def _chosen(self, event: Choice.Changed) -> None:
        self.session.pause()
        self._choose(event.choice.id or "", event.value)

    def _choose(self, name: str, value: str) -> None:
        values = {name: value}
        if name == "rule":
            self.panels.descending = False
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
        self.fields.write(self.session.inputs)

    # The panels

    @on(RankTable.RowOpened)
    @on(CostTimePlot.PointOpened)
    def action_open_record(self) -> None:
        """Open everything about the selected build on a page of its own."""
        if self.session.selected is not None:
            from advisor.tui.pages.record import RecordScreen

            self.app.push_screen(RecordScreen("Selected build", self.session.page()))

    @on(RankTable.HeaderClicked)
    def _header_clicked(self, event: RankTable.HeaderClicked) -> None:
        if event.sort_key == self.session.inputs.rule:
            self.panels.descending = not self.panels.descending
            self.show_answer()
        else:
            self.session.pause()
            self._choose("rule", event.sort_key)
            self.fields.write(self.session.inputs)

    # Actions

    def action_focus_field(self, name: str) -> None:
        """Go to a field."""
        self.query_one(f"#{name}").focus()

    def action_leave_field(self) -> None:
        """Go from a field to the panel that is shown."""
        self.session.pause()
        self.fields.picker.close()
        self.query_one(f"#{self.panels.front}").focus()

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
        self.fields.write(self.session.inputs)

    def action_show_excluded(self) -> None:
        """Open the list of what is left out."""
        from advisor.tui.ranking.left_out import ExcludedScreen

        answer, snapshot = self.session.answer, self.session.snapshot
        if answer is not None and snapshot is not None:
            self.app.push_screen(ExcludedScreen(answer.ranking, snapshot, counted(answer)))

    def action_export(self) -> None:
        """Ask where to save the table or the picture."""
        answer, selected = self.session.answer, self.session.selected
        if answer is None:
            self.app.notify("There is nothing to save yet.")
            return
        from advisor.tui.pages.export_page import Exportable, ExportScreen
        from advisor.tui.ranking import ranking_exports

        self.app.push_screen(
            ExportScreen(
                Exportable(
                    name=ranking_exports.ranking_name(answer),
                    columns=ranking_exports.RANKING_COLUMNS,
                    rows=lambda: ranking_exports.ranking_rows(answer, excluded=True),
                    picture=lambda: ranking_exports.ranking_picture(answer, selected),
                )
            )
        )

    def action_copy_row(self) -> None:
        """Copy the selected build as one line."""
        text = self.session.one_line()
        self.app.copy_text(text or "", "the selected build" if text else "")

    def action_copy_table(self) -> None:
        """Copy the ranked builds as Markdown."""
        from advisor.tui.ranking import ranking_exports

        answer = self.session.answer
        if answer is not None:
            rows = ranking_exports.ranking_rows(answer, excluded=False)
            self.app.copy_text(ranking_exports.markdown(rows), f"{len(rows):,} rows as Markdown")

    def action_restore_defaults(self) -> None:
        """Put every field back."""
        self.session.restore_defaults()
        self.fields.write(self.session.inputs)
        self.show_answer()

    def action_undo(self) -> None:
        """Take back the last change of a field."""
        if self.session.undo():
            self.fields.write(self.session.inputs)
            self.show_answer()
        else:
            self.app.notify("Nothing to undo.")

    def action_show_panel(self, name: str) -> None:
        """Bring a panel to the front and go to it."""
        self.query_one(Tabs).here = name
        self.panels.bring(name)
        self.query_one(f"#{name}").focus()

    def key_escape(self) -> None:
        """Leave a field, or close the list of models first."""
        picker = self.fields.picker
        if picker.is_open and isinstance(self.focused, ModelInput):
            picker.close()
        else:
            self.action_leave_field()


def _write(line: Static, text: str) -> None:
    """Show another text; the screen is laid out anew only where it takes other lines."""
    old, width = str(line.content), max(1, line.size.width)
    if text != old:
        line.update(text, layout=-(-len(text) // width) != -(-len(old) // width))
