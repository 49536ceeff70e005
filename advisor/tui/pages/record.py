"""One record in full, on a page of its own."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from advisor.tui.pages.bars import clickable
from advisor.tui.pages.dialog import Dialog
from advisor.tui.widgets.lines_view import LinesView, Page


class RecordScreen(Dialog[None]):
    """A page of text over the screen that it came from."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,space", "dismiss", "close", show=False),
        Binding("y", "copy", "copy", show=False),
        Binding("f1,question_mark", "app.help", "help", show=False),
    ]

    def __init__(self, title: str, page: Page) -> None:
        super().__init__()
        self._title = title
        self._page = page

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = self._title
            yield LinesView(self._page)
            yield Static(
                clickable([("Esc", "close", "screen.dismiss"), ("y", "copy", "screen.copy")]),
                classes="keys",
            )

    def action_copy(self) -> None:
        """Copy the whole page, unwrapped."""
        self.app.copy_text("\n".join(text for text, _ in self._page(10_000)), "the page")
