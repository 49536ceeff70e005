"""The main screen: a question on top, the ranked builds, the picture, and the selected build."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.widgets import Input

from advisor.tui.pages.bars import PANELS, Tabs
from advisor.tui.pages.model_picker import ModelInput, ModelPicker
from advisor.tui.program.actions import RANKING, bindings_of
from advisor.tui.program.messages import PublishedRead, StoreChanged, StoreRead, StoreTrouble
from advisor.tui.program.settings import TEXT_FIELDS
from advisor.tui.ranking.panels import CHOICES, RETRY, RankingView
from advisor.tui.ranking.ranking_rows import RankedRows, counted
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.fetch_error import StoreReaderError
from advisor.tui.widgets.plot.plot import CostTimePlot
from advisor.tui.widgets.table import RankTable

if TYPE_CHECKING:
    from advisor.tui.program.store_reader import Reading


class RankingScreen(RankingView):
    """Which machine to buy."""

    WHERE = RANKING

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(RANKING)]
    AUTO_FOCUS = "#table"

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
        reading = self.app.store_reader.first_reading(wait=False)
        if reading is None:
            self.read_store()
        else:
            # It came while the program was loading: the first picture shows it, and only then
            # does a thread take turns with the one that draws.
            self._store_read(StoreRead(reading))
            self.call_after_refresh(self._make_published, reading)

    # Reading, in threads

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def read_store(self) -> None:
        """Read what the present inputs need, and post it."""
        try:
            reading = self.app.store_reader.read(self.session.inputs)
        except StoreReaderError as error:
            self.post_message(StoreTrouble(str(error)))
            return
        self.post_message(StoreRead(reading))
        self._post_published(reading)

    # Described, or Textual would write out the whole reading for its own log.
    @work(
        thread=True, exclusive=True, group="published", exit_on_error=False, description="published"
    )
    def _make_published(self, reading: Reading) -> None:
        """Make the field at face value, and post it."""
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
        for name in TEXT_FIELDS:
            self.query_one(f"#{name}").set_class(name in session.errors, "-broken")
        old = session.is_old
        self.query_one("#panels").set_class(old, "-old")
        if not old and session.answer is not None:
            self._show_rows()
        elif session.answer is None and session.errors:
            self.table.empty_message = "No answer yet: the line above says what to mend."
        self._show_note()
        self._show_message()

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
            from advisor.tui.pages.record import RecordScreen

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
        from advisor.tui.pages.export import Exportable, ExportScreen
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
