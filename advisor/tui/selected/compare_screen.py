"""Two builds side by side."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from advisor.answers.build.build_sections import SECTION_WORDS, section_lines
from advisor.answers.build.one_build import OneBuild, place_words
from advisor.tui.pages.bars import KeyBar, TitleBar
from advisor.tui.pages.screens import SizedScreen
from advisor.tui.program.actions import COMPARE, bindings_of
from advisor.tui.program.running_costs import read_terms
from advisor.tui.widgets.lines import HEADING, PLAIN, STRONG, Line, LinesView, wrapped

BETWEEN = " │ "


class CompareScreen(SizedScreen):
    """The marked build at the left, the selected one at the right."""

    CSS_PATH = "selected.tcss"
    WHERE = COMPARE
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(COMPARE)]
    AUTO_FOCUS = "#page"
    HELP = """\
## Two builds side by side

The one that you marked with `c` at the left, the selected one at the right. `Esc` leads back, `y`
copies both.
"""

    def compose(self) -> ComposeResult:
        yield TitleBar("ranking")
        yield Static("Two builds side by side", id="head")
        yield LinesView(self._page, id="page")
        yield KeyBar(COMPARE)

    def _page(self, width: int) -> list[Line]:
        session = self.app.session
        terms, _ = read_terms(session.inputs)
        pair = session.pair(terms, self.app.today)
        return [] if pair is None else side_by_side(*pair, width)

    def action_copy(self) -> None:
        """Both, as text."""
        self.app.copy_text("\n".join(text.rstrip() for text, _ in self._page(120)), "both builds")


def side_by_side(left: OneBuild, right: OneBuild, width: int) -> list[Line]:
    """Every section of both, in two columns."""
    half = max(20, (width - len(BETWEEN)) // 2)
    lines: list[Line] = []

    def row(one: list[Line], other: list[Line], role: str) -> None:
        for at in range(max(len(one), len(other))):
            a = one[at][0] if at < len(one) else ""
            b = other[at][0] if at < len(other) else ""
            lines.append((f"{a:<{half}}{BETWEEN}{b}", role))

    for words in ((left.name, right.name), (place_words(left), place_words(right))):
        role = STRONG if words[0] == left.name else PLAIN
        row(wrapped([(words[0], PLAIN)], half), wrapped([(words[1], PLAIN)], half), role)
    for section, heading in SECTION_WORDS.items():
        lines.append(("", PLAIN))
        lines.append((heading.upper(), HEADING))
        most = 8 if section == "running" else 4
        said = [
            wrapped([(s.text, PLAIN) for s in section_lines(one, section)[:most]], half)
            for one in (left, right)
        ]
        row(said[0], said[1], PLAIN)
    return lines
