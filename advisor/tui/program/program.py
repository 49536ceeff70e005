"""What a screen may ask of the program; the program itself, `app.py`, knows the screens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from textual.filter import LineFilter

from advisor.tui.program.typed_ahead import TypedAhead
from advisor.tui.widgets.safe_filter import SafeFilter

if TYPE_CHECKING:
    from advisor.tui.program.kept_things import KeptThings
    from advisor.tui.program.ranking_session import RankingSession
    from advisor.tui.program.settings import State
    from advisor.tui.program.store_reader import StoreReader


_SAFE = SafeFilter()


class Program(TypedAhead):
    """The terminal program as its screens see it."""

    store_reader: StoreReader
    """The one way to the store."""
    kept_things: KeptThings
    """Questions, plans and results of earlier runs."""
    today: date

    @property
    @abstractmethod
    def inputs(self) -> State:
        """What stands in the fields of the main screen."""

    @property
    @abstractmethod
    def session(self) -> RankingSession:
        """The question, its answer and the selected build, which every screen is about."""

    @abstractmethod
    def first_answer_shown(self) -> None:
        """The main screen has its first answer on the terminal."""

    @abstractmethod
    def look_at_store(self) -> object:
        """Look, in a thread, whether the store changed, and say so to every screen."""

    @abstractmethod
    def ask_sample(self, budget: str, model: str) -> None:
        """Put a question into the main screen."""

    @abstractmethod
    def action_go(self, name: str) -> None:
        """Show one of the screens."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Everything that any screen draws passes through these; the last keeps it harmless."""
        return [*super().get_line_filters(), _SAFE]

    @abstractmethod
    def question_changed(self) -> None:
        """Something of the question was changed on another screen: answer it anew."""

    @abstractmethod
    def remember_question(self) -> None:
        """Put the answered question among the last ones."""

    @abstractmethod
    def ask(self, **values: str) -> None:
        """Put something into the question and show the answer."""

    @abstractmethod
    def open_build(self, section: str) -> None:
        """Show everything about the selected build, or one section of it."""

    @abstractmethod
    def go_filtered(self, name: str, words: str) -> None:
        """Show one of the screens with lists, with this filter."""

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
