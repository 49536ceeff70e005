"""A question before something that takes long: what would happen, and yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from advisor.tui.pages.bars import clickable
from advisor.tui.pages.dialog import Dialog
from advisor.tui.widgets.lines import Line, wrapped
from advisor.tui.widgets.lines_view import LinesView


class ConfirmScreen(Dialog[bool]):
    """Answers True only where the person said so."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", "answer(True)", "yes", show=False),
        Binding("escape,n,q", "answer(False)", "no", show=False),
    ]
    HELP = """\
## Before it starts

`Enter` or `y` goes on, `Esc` or `n` goes back and changes nothing.
"""

    def __init__(self, title: str, lines: Sequence[Line], yes: str) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._yes = yes

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = self._title
            yield LinesView(lambda width: wrapped(self._lines, width))
            keys = [("Enter", self._yes, "screen.answer(True)")]
            keys.append(("Esc", "back", "screen.answer(False)"))
            yield Static(clickable(keys), classes="keys")

    def action_answer(self, yes: bool) -> None:
        """Close with the answer."""
        self.dismiss(yes)
