"""One record in full, on a page of its own."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.dialog import Dialog
from advisor.tui.program.actions import bindings_of
from advisor.tui.program.dialog_actions import RECORD
from advisor.tui.widgets.lines_view import LinesView, Page


class RecordScreen(Dialog[None]):
    """A page of text over the screen that it came from."""

    CSS_PATH = "dialogs.tcss"
    WHERE = RECORD
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(RECORD)]

    def __init__(self, title: str, page: Page) -> None:
        super().__init__()
        self._title = title
        self._page = page

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = self._title
            yield LinesView(self._page)
            yield DialogKeys(RECORD)

    def action_copy(self) -> None:
        """Copy the whole page, unwrapped."""
        self.app.copy_text("\n".join(text for text, _ in self._page(10_000)), "the page")
