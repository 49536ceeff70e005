"""A letter on every field and list: one key goes there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Key
from textual.geometry import Offset
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from advisor.tui.program.actions import bindings_of
from advisor.tui.program.dialog_actions import JUMP
from advisor.tui.widgets.closed_once import ClosedOnce

LETTERS = "asdfghjklqwertyuiopzxcvbnm"


class JumpScreen(ClosedOnce, ModalScreen[Widget | None]):
    """Shows the letters; closes with the widget whose letter was pressed."""

    WHERE = JUMP
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(JUMP)]
    DEFAULT_CSS = """
    JumpScreen { background: transparent; layers: marks; }
    JumpScreen Static { layer: marks; position: absolute; width: 3; height: 1;
        background: $accent; color: $background; text-style: bold; }
    """

    def __init__(self, places: dict[str, tuple[Widget, Offset]]) -> None:
        super().__init__()
        self._places = places

    def compose(self) -> ComposeResult:
        for letter, (_, offset) in self._places.items():
            mark = Static(f" {letter} ", markup=False)
            mark.styles.offset = (offset.x, offset.y)
            yield mark

    def on_key(self, event: Key) -> None:
        event.stop()
        if event.key in self._places:
            self.dismiss(self._places[event.key][0])
        elif event.key != "escape":
            self.dismiss(None)


def places_on(screen: Screen[object]) -> dict[str, tuple[Widget, Offset]]:
    """A letter for everything that can have the focus and is in view."""
    focusable: Iterable[Widget] = screen.focus_chain
    shown = [w for w in focusable if w.region.area and w.is_on_screen]
    return {
        letter: (widget, widget.region.offset)
        for letter, widget in zip(LETTERS, shown, strict=False)
    }
