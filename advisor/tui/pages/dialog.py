"""What all pages that lie over a screen have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.events import Click
from textual.screen import ModalScreen, ScreenResultType

from advisor.tui.widgets.closed_once import ClosedOnce

if TYPE_CHECKING:
    from advisor.tui.program.program import Program


class Dialog(ClosedOnce, ModalScreen[ScreenResultType]):
    """A page over the screen that it came from; a click beside it closes it without a result."""

    app: Program

    def on_click(self, event: Click) -> None:
        if event.widget is self:
            self.dismiss()
