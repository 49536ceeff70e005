"""What a screen may ask of the program, and the program's themes."""

from __future__ import annotations

import gc
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from textual.filter import LineFilter
from textual.message import Message
from textual.theme import BUILTIN_THEMES, Theme

from advisor.tui.program.terminal import TypedAhead
from advisor.tui.widgets.safe_text import SafeFilter

if TYPE_CHECKING:
    from advisor.tui.program.session import RankingSession
    from advisor.tui.program.state import State
    from advisor.tui.program.store_reader import StoreReader


_SAFE = SafeFilter()


class Program(TypedAhead):
    """The terminal program as its screens see it."""

    store_reader: StoreReader
    """The one way to the store."""
    today: date

    session: RankingSession
    """The question, its answer and the selected build, which every screen is about."""

    @property
    def inputs(self) -> State:
        """What is in the fields of the main screen."""
        return self.session.inputs

    def first_answer_shown(self) -> None:
        """Go on as usual after the hurried start: the main screen has its first answer."""
        # What was loaded so far stays: looking through it for garbage would hold up the first
        # picture, and later keys.
        gc.freeze()
        gc.enable()

    @abstractmethod
    def look_at_store(self) -> object:
        """Look, in a thread, whether the store changed, and say so to every screen."""

    @abstractmethod
    def action_go(self, name: str) -> None:
        """Show one of the screens."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Everything that any screen draws passes through these; the last keeps it harmless."""
        return [*super().get_line_filters(), _SAFE]

    @abstractmethod
    def action_assume(self, first: str) -> None:
        """Ask for what the question assumes, this field first."""

    def remember_question(self) -> None:
        """Put the answered question among the last ones."""
        sentence = self.session.sentence()
        if sentence is not None and not self.session.is_old:
            self.session.inputs = self.inputs.with_answered(self.today, sentence)

    @abstractmethod
    def open_build(self, section: str) -> None:
        """Show everything about the selected build, or one section of it."""

    @abstractmethod
    def go_about(self, name: str) -> None:
        """Show one of the screens, about the selected build."""

    def copy_text(self, text: str, what: str) -> None:
        """To the clipboard with OSC 52, which also works over ssh."""
        if not text:
            self.notify("There is nothing to copy.")
            return
        self.copy_to_clipboard(text)
        self.notify(f"Copied {what}.", markup=False)


THEMES = {
    "textual-dark": "dark",
    "textual-light": "light",
    "ansi-dark": "the terminal's own colours, dark",
    "ansi-light": "the terminal's own colours, light",
}
DARKER = {"text-warning": "#7a4a08", "text-success": "#24603a", "text-accent": "#7a4a08"}
"""Textual's own of the light theme have a contrast of 3 to its backgrounds: text needs 4.5."""


def light_theme() -> Theme:
    """Textual's light theme with text that can be read."""
    light = BUILTIN_THEMES["textual-light"]
    return replace(light, variables=light.variables | DARKER)


def theme_after(name: str) -> str:
    """The next of the themes, in turn."""
    names = list(THEMES)
    at = names.index(name) if name in names else -1
    return names[(at + 1) % len(names)]


class StoreChanged(Message):
    """Another program may have written to the store."""


class AnswerChanged(Message):
    """The main screen has a new answer: what shows it is drawn again."""
