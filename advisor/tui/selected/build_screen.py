"""One build: every question about it on one page, each section a key away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Grid
from textual.geometry import Size
from textual.widgets import Input, Static

from advisor.answers.build.build_sections import (
    SECTION_WORDS,
    Section,
    measure_commands,
    section_lines,
)
from advisor.answers.build.one_build import OneBuild, place_words
from advisor.answers.prediction.merge_words import merged_words
from advisor.files import is_file, typed_path
from advisor.tui.pages.bars import KeyBar, TitleBar
from advisor.tui.pages.build_lines import overview_lines
from advisor.tui.pages.evidence_lines import settings_lines, source_lines, verdict_line
from advisor.tui.pages.screens import SizedScreen
from advisor.tui.program.keys import BUILD, actions_of
from advisor.tui.program.program import AnswerChanged
from advisor.tui.widgets.in_thread import write_in_thread
from advisor.tui.widgets.lines import (
    HEADING,
    PLAIN,
    WARNING,
    Line,
    LinesView,
    wrapped,
)
from advisor.tui.widgets.text_input import Field

if TYPE_CHECKING:
    from advisor.ranking.times import TrainingTime

OVERVIEW = "overview"
ACTS = {
    "time": "Enter opens the records of these GPUs; 3 there adds the estimates. A network "
    "(w) offers two machines for one model as well.",
    "price": "a adds a quote; Enter opens the list, where R replaces and d deletes.",
    "measure": "Enter measures on this computer, and asks first. y copies the commands. Tab goes "
    "to records that you have.",
    "rent": "Enter draws where owning and renting break even.",
    "running": "Enter changes your own figures: they are kept, for every build.",
    "power": "Enter asks for your circuit, such as 208V/30A: what it cannot carry is left out.",
    "order": "a keeps the quote that you get, and the ranking counts with it.",
}


FIRST_FIELDS = {"running": "electricity", "power": "circuit"}
"""Of the sections that rest on the person's own figures: the field that is asked for first."""


class BuildScreen(SizedScreen):
    """The selected build, all about it."""

    WHERE = BUILD
    CSS_PATH = "selected.tcss"
    AUTO_FOCUS = "#page"
    HELP = """\
## One build

Every question about it on one page: why it stands where it does, its time and what that rests on,
its price, what it costs to run, whether to rent instead, power, how to measure it, how to order it.
The letter at the right opens a section in full, `Esc` leads back. `←` and `→` go to the builds
beside it in the ranking.
"""

    def __init__(self, size: Size, section: str) -> None:
        super().__init__(size)
        self._section = section

    def compose(self) -> ComposeResult:
        yield TitleBar("ranking")
        yield Static("", id="head", markup=False)
        yield LinesView(self._page, id="page")
        with Grid(id="bring"):
            yield Static("Records from elsewhere", classes="label")
            yield Field(placeholder="a file, such as records.jsonl", id="records", max_length=1000)
        yield Static("", id="said", markup=False)
        yield KeyBar(BUILD)

    def on_mount(self) -> None:
        self._show_section(self._section)

    # What is shown

    def one(self) -> OneBuild | None:
        """The selected build with all about it; None while there is no answer."""
        return self.app.session.one_build(self.app.today)

    @on(AnswerChanged)
    def show(self) -> None:
        """Draw the page anew."""
        one = self.one()
        head = "No build is selected." if one is None else f"{one.name}  ·  {place_words(one)}"
        self.query_one("#head", Static).update(head)
        self.query_one("#page", LinesView).show(self._page, from_top=False)

    def _show_section(self, section: str) -> None:
        self._section = section
        self.query_one("#bring").display = section == "measure"
        self._say(ACTS.get(section, ""))
        self.query_one("#page", LinesView).top = 0
        self.show()
        self.query_one("#page").focus()
        if section in FIRST_FIELDS:
            self.app.action_assume(FIRST_FIELDS[section])

    def _page(self, width: int) -> list[Line]:
        one = self.one()
        if one is None:
            return []
        if self._section == OVERVIEW:
            height = self.query_one("#page").size.height
            return overview_lines(one, width, height, section_keys())
        section: Section = self._section  # type: ignore[assignment]
        lines: list[Line] = [(SECTION_WORDS[section].upper(), HEADING)]
        for said in section_lines(one, section):
            lines.append((said.text, WARNING if said.warns else PLAIN))
        if section == "time":
            lines += self._time_lines(one)
        return wrapped(lines, width)

    def _time_lines(self, one: OneBuild) -> list[Line]:
        """What the time rests on: verdict, source, settings."""
        time: TrainingTime | None = one.row.time if one.row is not None else None
        if time is None and one.left_out is not None:
            time = one.left_out.time
        if time is None:
            return []
        snapshot = self.app.session.snapshot
        assert snapshot is not None  # there is an answer
        source = next((s for s in snapshot.sources if s.source_id == time.source_id), None)
        return [
            ("", PLAIN),
            ("WHAT IT RESTS ON", HEADING),
            verdict_line(time),
            *source_lines(time, source),
            ("", PLAIN),
            ("SETTINGS THAT REACH IT", HEADING),
            *settings_lines(time),
        ]

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        path = typed_path(event.value.strip())
        missing = bool(path.name) and not is_file(path)
        self._say("There is no such file yet." if missing else ACTS["measure"])

    def _say(self, text: str, *, wrong: bool = False) -> None:
        said = self.query_one("#said", Static)
        said.set_class(wrong, "-error")
        said.update(f"⚠ {text}" if wrong else text)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        name = event.value.strip()
        if name:
            self._say("bringing them in …")
            self.merge(typed_path(name))
        else:
            self.action_leave_field()

    def merge(self, path: Path) -> None:
        """Bring in the records of a file, all or none, and say how that went."""
        store = self.app.store_reader.patient_store

        def merge() -> str:
            return merged_words(store().merge(path), str(path))

        def merged(words: str) -> None:
            self._say(f"{path.name}: {words}. {ACTS['measure']}")
            self.query_one("#page").focus()
            self.app.look_at_store()

        write_in_thread(self, merge, merged, lambda why: self._say(why, wrong=True))

    def action_leave_field(self) -> None:
        """Go from a field to the page."""
        self.app.session.pause()
        self.query_one("#page").focus()

    # Actions

    def action_section(self, section: str) -> None:
        """Show one section in full; the same again all of them."""
        self._show_section(OVERVIEW if section == self._section else section)

    def action_back(self) -> None:
        """From a field to the page, from a section to all, from there to the ranking."""
        if isinstance(self.focused, Input):
            self.action_leave_field()
        elif self._section != OVERVIEW:
            self._show_section(OVERVIEW)
        else:
            self.dismiss()

    def action_next_build(self, by: int) -> None:
        """The build above or below in the ranking."""
        if self.app.session.step(by):
            self.show()
            self.query_one("#page", LinesView).top = 0

    def action_act(self) -> None:
        """What the section offers."""
        if self._section in FIRST_FIELDS:
            self.app.action_assume(FIRST_FIELDS[self._section])
        elif self._section == "time":
            self.app.go_about("evidence")
        elif self._section == "price":
            self.app.go_about("prices")
        elif self._section == "rent":
            self.app.go_about("rent")
        elif self._section == "measure":
            self.app.go_about("benchmark")

    def action_copy_page(self) -> None:
        """Copy the page, or the commands where it can be measured."""
        one = self.one()
        if one is None:
            return
        if self._section == "measure":
            self.app.copy_text("\n".join(measure_commands(one).values()), "the commands")
            return
        text = "\n".join(line.rstrip() for line, _ in self._page(100))
        self.app.copy_text(f"{one.name}: {place_words(one)}\n{text}", "the page")


def section_keys() -> dict[Section, str]:
    """The key of each section with its word."""
    keys = {a.action: f"{a.key} {a.footer}" for a in actions_of(BUILD)}
    return {section: keys.get(f"section('{section}')", "") for section in SECTION_WORDS}
