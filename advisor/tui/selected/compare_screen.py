"""Two builds side by side."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.widgets import Static

from advisor.answers.builds.build_sections import SECTION_WORDS, section_lines
from advisor.answers.builds.one_build import OneBuild, place_words
from advisor.answers.wording import short_time
from advisor.costs.amount_words import days_rounded, usd_rounded
from advisor.ranking.row_order import RankedRow
from advisor.tui.pages.screens import SizedScreen
from advisor.tui.pages.title_and_key_bars import KeyBar, TitleBar
from advisor.tui.widgets.lines import HEADING, PLAIN, STRONG, Line, LinesView, wrapped
from bench_runner.typed_numbers import plain

BETWEEN = " │ "
FIGURES: tuple[tuple[str, Callable[[RankedRow], float], Callable[[float], str]], ...] = (
    ("price", lambda row: float(row.overall_cost_usd), usd_rounded),
    ("time", lambda row: row.training_days, short_time),
    ("a run", lambda row: float(row.experiment_cost_usd or 0), usd_rounded),
    ("GPU GiB", lambda row: row.build.gpu_count * row.build.gpu.memory_gib, days_rounded),
)
"""What is compared in figures: its name, the figure, and how it is written."""


class CompareScreen(SizedScreen):
    """The marked build at the left, the selected one at the right."""

    CSS_PATH = "selected.tcss"
    WHERE = "comparison"
    AUTO_FOCUS = "#page"

    def compose(self) -> ComposeResult:
        yield TitleBar("ranking")
        yield Static("Two builds side by side", id="head")
        yield LinesView(self._page, id="page")
        yield KeyBar("comparison")

    def _page(self, width: int) -> list[Line]:
        pair = self.app.session.pair(self.app.today)
        return [] if pair is None else side_by_side(*pair, width)

    def action_copy(self) -> None:
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
    lines += [("", PLAIN), *differences(left, right, width)]
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


def differences(left: OneBuild, right: OneBuild, width: int) -> list[Line]:
    """Price, days and the like of both, with how much more or less the right one has."""
    if left.row is None or right.row is None:
        return []
    column = max(9, (width - 9) // 4)
    heading = f"{'':<9}{'left':>{column}}{'right':>{column}}{'difference':>{column + 2}}"
    lines = [(heading, HEADING)]
    for name, figure, written in FIGURES:
        one, other = figure(left.row), figure(right.row)
        marks = [each.costs.mark if name in ("time", "a run") else "" for each in (left, right)]
        sign = "+" if other > one else "-" if other < one else ""
        times = f"  ({plain(other / one, 2)} times)" if one and sign else ""
        difference = f"{sign}{max(marks)}{written(abs(other - one))}" if sign else "the same"
        first, second = (f"{m}{written(n)}" for m, n in zip(marks, (one, other), strict=True))
        cells = f"{first:>{column}}{second:>{column}}{difference:>{column + 2}}"
        lines.append((f"{name:<9}{cells}{times}", PLAIN))
    return lines
