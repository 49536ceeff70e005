"""One build: every question about it on one page, each section a key away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.geometry import Size
from textual.widgets import Static

from advisor.answers.builds.build_sections import (
    SECTION_WORDS,
    Section,
    measure_commands,
    section_lines,
)
from advisor.answers.builds.one_build import OneBuild, place_words
from advisor.tui.pages.build_lines import overview_lines
from advisor.tui.pages.evidence_lines import settings_lines, source_lines, verdict_line
from advisor.tui.pages.screens import SizedScreen
from advisor.tui.pages.title_and_key_bars import KeyBar, TitleBar
from advisor.tui.program.keys import actions_of
from advisor.tui.program.program import AnswerChanged
from advisor.tui.widgets.lines import (
    HEADING,
    PLAIN,
    WARNING,
    Line,
    LinesView,
    wrapped,
)

if TYPE_CHECKING:
    from advisor.ranking.times import TrainingTime

OVERVIEW = "overview"
ACTS = {
    "time": "Enter opens the records of these GPUs; 3 there adds the estimates. A network "
    "(w) offers two machines for one model as well.",
    "price": "a adds a quote; Enter opens the list, where R replaces and d deletes.",
    "measure": "Enter measures on this computer, and asks first. y copies the commands. I brings "
    "in records that you have.",
    "rent": "Enter draws where owning and renting break even.",
    "running": "Enter changes your own figures: they are kept, for every build.",
    "power": "Enter asks for your circuit, such as 208V/30A: what it cannot carry is left out.",
    "order": "a keeps the quote that you get, and the ranking counts with it.",
}


LEADS_TO = {"time": "evidence", "price": "prices", "rent": "rent", "measure": "benchmark"}
"""The screen that Enter goes to from a section."""
FIRST_FIELDS = {"running": "electricity", "power": "circuit"}
"""Of the sections that rest on the person's own figures: the field that is asked for first."""


class BuildScreen(SizedScreen):
    """The selected build, all about it."""

    WHERE = "build"
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
        yield Static("", id="said", markup=False)
        yield KeyBar("build")

    def on_mount(self) -> None:
        self._show_section(self._section)

    # What is shown

    def one(self) -> OneBuild | None:
        """The selected build with all about it; None while there is no answer."""
        return self.app.session.one_build(self.app.today)

    @on(AnswerChanged)
    def show(self) -> None:
        one = self.one()
        head = "No build is selected." if one is None else f"{one.name}  ·  {place_words(one)}"
        self.query_one("#head", Static).update(head)
        self.query_one("#page", LinesView).show(self._page, from_top=False)

    def _show_section(self, section: str) -> None:
        self._section = section
        self.query_one("#said", Static).update(ACTS.get(section, ""))
        self.query_one("#page").scroll_to(y=0, animate=False)
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

    # Actions

    def action_section(self, section: str) -> None:
        self._show_section(OVERVIEW if section == self._section else section)

    def action_back(self) -> None:
        if self._section != OVERVIEW:
            self._show_section(OVERVIEW)
        else:
            self.dismiss()

    def action_next_build(self, by: int) -> None:
        if self.app.session.step(by):
            self.show()
            self.query_one("#page").scroll_to(y=0, animate=False)

    def action_act(self) -> None:
        if self._section in FIRST_FIELDS:
            self.app.action_assume(FIRST_FIELDS[self._section])
        elif self._section in LEADS_TO:
            self.app.go_about(LEADS_TO[self._section])

    def action_copy_page(self) -> None:
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
    keys = {a.action: f"{a.key} {a.footer}" for a in actions_of("build")}
    return {section: keys.get(f"section('{section}')", "") for section in SECTION_WORDS}
