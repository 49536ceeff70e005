"""Text fields on one line; whoever asks judges the text."""

from __future__ import annotations

from typing import ClassVar

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.validation import ValidationResult
from textual.widgets import Input

LONGEST = 512
"""Cells that a text without a limit can be scrolled through."""


class Field(Input):
    """An input without a frame, by style: Input's own ``compact`` would style it once more."""

    DEFAULT_CSS = """
    Field { border: none !important; height: 1; padding: 0; background: $foreground 10%; }
    Field:focus { background: $foreground 22%; }
    Field:ansi { text-style: underline; }
    """

    @property
    def content_width(self) -> int:
        """The same for every text: another width would lay the whole screen out at a key press."""
        return (self.max_length or LONGEST) + 1

    def on_resize(self) -> None:
        """A text was scrolled before it had a width."""
        if not self.has_focus:
            self.scroll_home(animate=False, immediate=True)
        self.watch_selection()

    def watch_selection(self) -> None:
        """Show a text that fits from its beginning, whatever longer one was there before."""
        if super().content_width <= self.size.width:
            self.scroll_home(animate=False)

    def validate(self, value: str) -> ValidationResult | None:
        """Nothing to do: what is wrong with a text depends on the other fields too."""
        return None


class FilterInput(Field):
    """Where the filter is typed."""

    HELP = """\
## Filter

Rows that have every word are shown, while you type. `Enter` or `↓` goes to the rows, `Esc` clears
the filter first and leaves second.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "leave", "to the rows", show=False),
        Binding("escape", "clear", "clear", show=False),
    ]

    class Left(Message):
        """The person wants to go to the rows."""

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def action_clear(self) -> None:
        if self.value:
            self.value = ""
        elif self.screen.is_modal:
            raise SkipAction
        else:
            self.post_message(self.Left())
