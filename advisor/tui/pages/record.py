"""One record in full, on a page of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click
from textual.screen import ModalScreen
from textual.widgets import Static

from advisor.tui.pages.bars import clickable
from advisor.tui.widgets.lines_view import LinesView, Page

if TYPE_CHECKING:
    from advisor.tui.program.program import Program


class RecordScreen(ModalScreen[None]):
    """A page of text over the screen that it came from."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,space", "dismiss", "close", show=False),
        Binding("y", "copy", "copy", show=False),
        Binding("f1,question_mark", "app.help", "help", show=False),
    ]

    app: Program

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

    def on_click(self, event: Click) -> None:
        if event.widget is self:  # beside the page
            self.dismiss()
