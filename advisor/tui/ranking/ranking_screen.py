"""The main screen: a question on top, the ranked builds, the picture, and the selected build."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.events import ScreenResume
from textual.geometry import Size
from textual.widgets import Input, Static

from advisor.tui.pages.build_lines import selected_line
from advisor.tui.pages.screens import SizedScreen, TooSmall
from advisor.tui.pages.title_and_key_bars import KeyBar, Tabs, TitleBar
from advisor.tui.program.program import AnswerChanged, StoreChanged
from advisor.tui.program.session import RankingSession
from advisor.tui.program.state import CHOICES
from advisor.tui.ranking.build_panels import PANELS, BuildPanels
from advisor.tui.ranking.question_fields import QuestionFields
from advisor.tui.widgets.choice import Choice, OpensPage
from advisor.tui.widgets.in_thread import in_thread
from advisor.tui.widgets.lines import PLAIN, Line, LinesView, wrapped
from advisor.tui.widgets.plot.plot import CostTimePlot
from advisor.tui.widgets.rank_table import RankTable

if TYPE_CHECKING:
    from advisor.tui.program.store_reader import Reading


RETRY = "(tried again every 2 s)"
KEEP_COMMAND = re.compile(r"(?:[;:] keep| A plain) .*advisor predict .*", re.DOTALL)


class RankingScreen(SizedScreen):
    """Which machine to buy."""

    WHERE = "ranking"

    AUTO_FOCUS = "#table"
    HELP = """\
## The ranking

`F2` asks what to buy, `F3` and `F7` show the times and prices that it rests on, `F6` measures, `F8`
plans a grant. Prices leave out tax and people; printed times may be too low.

The first line says what to buy. The table has a row for each GPU configuration that fits; `+` or
`Enter` opens its offers, `Enter` on an offer opens the machine's page. `x` says what is left out.

- The fastest comes first. What cannot be told from it is one group, `1=`, cheapest first.
- **Bold** is on the Pareto front: no machine is both cheaper and faster.
- `≈` is an estimate, not measured. The bar is its 90 % interval, with your limit in it.
- `†` cannot be ordered at its price. It stands below what is on sale, however fast it is.
- *from* is the cheapest offer that can be ordered. *60 d?* is the chance to finish within 60 days.
- *a run* is what one training run costs under the question's assumptions: life, use, power.
- *sum*: the seller's options added up. *told*: by others, who do not sell it. *used*: second-hand.
"""

    def __init__(self, session: RankingSession, size: Size) -> None:
        super().__init__(size)
        self.session = session
        self._trouble: str | None = None
        """What is wrong with the store."""
        self._said_for = 0
        """How wide the terminal was for which the answer was written."""

    def compose(self) -> ComposeResult:
        yield TitleBar("ranking")
        yield QuestionFields(self.session.inputs, lambda name, text: self._change(**{name: text}))
        yield Static("reading the store …", id="message", markup=False)
        yield Tabs(PANELS, "show_panel")
        yield BuildPanels(self.session)
        yield KeyBar("ranking")

    def on_mount(self) -> None:
        self.watch(self.app, "theme", self._restyle, init=False)
        reading = self.app.store_reader.first_reading(wait=False)
        if reading is None:
            self.read_store()
        else:
            self._store_read(reading)  # it came while the program was loading

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
        self.call_after_refresh(self._fit_columns)

    def _fit_columns(self) -> None:
        panels = self.query_one_optional(BuildPanels)
        if panels is not None:
            panels.fit_columns()
            if self._said_for not in (0, self.app.size.width):
                self._say()

    @on(ScreenResume)
    def _follow(self) -> None:
        """Another screen may have chosen another build."""
        panels = self.query_one_optional(BuildPanels)
        if panels is not None and self.session.answer is not None and not self.session.is_old:
            panels.follow()

    # Reading, in threads

    def read_store(self) -> None:
        read, inputs = self.app.store_reader.read, self.session.inputs
        in_thread(self, "read", lambda: read(inputs), self._store_read, self._store_trouble)

    def _store_read(self, reading: Reading) -> None:
        self._trouble = None
        first = self.session.snapshot is None
        self.session.accept(reading)
        self.show_answer()
        for screen in self.app.screen_stack:
            if screen is not self:
                screen.post_message(AnswerChanged())
        if first:
            self.call_after_refresh(self.app.first_answer_shown)

    def _store_trouble(self, text: str) -> None:
        self._trouble = text
        if self.session.answer is None:
            self.table.empty_message = f"{text} {RETRY}"
        self._say()

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
        self._say()

    def _restyle(self) -> None:
        self.call_after_refresh(self.show_answer)

    def _say(self) -> None:
        """The answer, or what is wrong, in the lines above the table."""
        session, width = self.session, self.app.size.width - 2
        self._said_for = self.app.size.width
        message = self.query_one("#message", Static)
        message.set_class(bool(session.errors or self._trouble), "-error")
        lines = message_lines(session, self._trouble)
        if lines:
            # A count of GPUs stays with their name, which the widget does not look for.
            _write(message, "\n".join(each for each, _ in wrapped(lines, width)))
        if self.has_class("-tiny"):
            self.query(TooSmall).refresh()

    # The fields

    @on(Choice.Changed)
    def _chosen(self, event: Choice.Changed) -> None:
        self.session.pause()
        if self.session.change(**{event.choice.id or "": event.value}):
            self.show_answer()

    @on(OpensPage.Opened)
    def _assume(self) -> None:
        self.app.action_assume("lifetime")

    def _change(self, **values: str) -> None:
        if self.session.change(**values):
            self.show_answer()

    def ask(self, **values: str) -> None:
        """Put a question into the fields for the person."""
        self.session.pause()
        if values.get("model", self.session.inputs.model) != self.session.inputs.model:
            self.session.start_at_first()
        if self.session.change(**values):
            self.show_answer()
            self.app.notify("The question is another one now. ^z brings the old one back.")
        self.fields.write(self.session.inputs)

    # The panels

    @on(RankTable.RowOpened)
    @on(CostTimePlot.PointOpened)
    def action_open_build(self) -> None:
        in_table = self.focused is self.table
        if not (in_table and self.panels.is_closed() and self.panels.toggle_offers()):
            self._open("overview")

    def action_toggle_offers(self) -> None:
        if not self.panels.toggle_offers():
            self.app.notify("This row has one offer: Enter opens it.")

    def _open(self, section: str) -> None:
        if self.session.selected is None:
            self.app.notify("No build is selected yet.")
        else:
            self.app.open_build(section)

    def action_measure(self) -> None:
        self._open("measure")

    def action_whole_screen(self) -> None:
        whole = not self.has_class("-whole")
        self.set_class(whole, "-whole")
        self.query_one("#picture" if whole else f"#{self.panels.front}").focus()

    @on(RankTable.HeaderClicked)
    def _header_clicked(self, event: RankTable.HeaderClicked) -> None:
        self.session.pause()
        if self.session.change(rule=event.key):
            self.show_question()

    # Actions

    @on(Input.Submitted)
    def action_leave_field(self) -> None:
        self.session.pause()
        self.app.remember_question()
        self.fields.picker.close()
        self.query_one(f"#{self.panels.front}").focus()

    def action_next_choice(self, name: str) -> None:
        values = CHOICES[name]
        value = values[(values.index(getattr(self.session.inputs, name)) + 1) % len(values)]
        self.session.pause()
        self.session.change(**{name: value})
        self.show_question()

    def action_show_excluded(self) -> None:
        from advisor.tui.ranking.left_out import ExcludedScreen

        answer, session = self.session.answer, self.session
        if answer is not None:
            about = partial(session.about, today=self.app.today)
            self.app.push_screen(ExcludedScreen(answer.ranking, about, session.counted()))

    def action_export(self) -> None:
        answer, selected = self.session.answer, self.session.selected
        if answer is None:
            self.app.notify("There is nothing to save yet.")
            return
        from advisor.tui.pages.export_page import ExportScreen
        from advisor.tui.ranking.ranking_exports import exportable

        sentence = self.session.sentence() or ""
        drawn = self.has_class("-whole") or self.panels.front == "picture"
        first = ".svg" if drawn or self.focused is self.picture else ".csv"
        what = exportable(answer, selected, sentence, self.table, first)
        self.app.push_screen(ExportScreen(what))

    def action_copy_row(self) -> None:
        text = selected_line(self.session)
        self.app.copy_text(text or "", "the selected build" if text else "")

    def action_restore_defaults(self) -> None:
        self.session.restore_defaults()
        self.show_question()
        self.app.notify("Every field is as it was shipped. ^z brings your question back.")

    def show_question(self) -> None:
        self.fields.write(self.session.inputs)
        self.show_answer()

    def action_show_panel(self, name: str) -> None:
        self.query_one(Tabs).here = name
        self.panels.bring(name)
        self.query_one(f"#{name}").focus()

    def key_escape(self) -> None:
        """Leave the whole picture or a field; close the list of models first."""
        if self.has_class("-whole"):
            self.action_whole_screen()
            return
        picker = self.fields.picker
        if picker.is_open and self.focused is picker.field:
            picker.close()
        else:
            self.action_leave_field()


def _write(line: Static, new: str) -> None:
    """Show another text; the screen is laid out again only where it takes other lines."""
    old, least = str(line.content), line.styles.min_height
    if new != old:
        room = 1 if least is None else int(least.value)
        rows = [max(room, each.count("\n") + 1) for each in (old, new)]
        line.update(new, layout=rows[0] != rows[1])


def message_lines(session: RankingSession, trouble: str | None) -> list[Line]:
    """The answer in one sentence, or what is wrong with the fields or the store, and which answer
    is below then; none while there is neither."""
    if session.errors:
        lines = [(f"⚠ {with_remedy(*next(iter(session.errors.items())))}", PLAIN)]
        if session.answer is not None:
            lines.append((f"Below is the last good answer: {session.answered_words()}.", PLAIN))
        return lines
    said = session.sentence() if trouble is None else f"⚠ {trouble} {RETRY}"
    return [] if said is None else [(said, PLAIN)]


def with_remedy(name: str, problem: str) -> str:
    """What is wrong with a field; where a command would mend it, the key that does."""
    if name != "model":
        return problem
    said, listed, _ = KEEP_COMMAND.sub("", problem).partition("; known: ")
    if listed:  # which the picker shows
        return f"{said}. m: one of those that are here; U: a model of your own."
    if said.endswith("is a size and no model"):
        return f"{said}. \N{DOWNWARDS ARROW}: one of the list; U: a model of your own."
    return f"{said}{'' if said.endswith('?') else '.'} U: a model of your own."
