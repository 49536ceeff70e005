"""Text fields on one line, and the line that filters a table; whoever asks judges the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.validation import ValidationResult
from textual.widget import Widget
from textual.widgets import Input, Static

LONGEST = 512
"""Cells that a text without a limit can be scrolled through."""
MOST_EARLIER = 20
"""How many earlier texts of a field are kept."""


class Field(Input):
    """An input without a frame, by style: Input's own ``compact`` would style it once more."""

    DEFAULT_CSS = """
    Field { border: none !important; height: 1; padding: 0; background: $foreground 10%; }
    Field:focus { background: $foreground 22%; }
    Field:ansi { text-style: underline; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z", "undo_typed", "undo", show=False),
    ]
    _earlier: tuple[str, ...] = ()
    """What stood here when the person came, the newest last."""

    def on_focus(self) -> None:
        """What is typed from now on can be taken back."""
        if self.value not in self._earlier[-1:]:
            self._earlier = (*self._earlier[-MOST_EARLIER:], self.value)

    def undo_text(self) -> None:
        """Back to what stood here before, a visit at a time."""
        while self._earlier:
            before = self._earlier[-1]
            if before != self.value:
                self.value = before
                return
            self._earlier = self._earlier[:-1]

    def action_undo_typed(self) -> None:
        """The screen's own undo where it has one; else of this text."""
        undo = getattr(self.screen, "action_undo", self.undo_text)
        undo()

    @property
    def content_width(self) -> int:
        """The same for every text: another width would lay the whole screen out at a key press."""
        return (self.max_length or LONGEST) + 1

    def on_resize(self) -> None:
        """Show a text from its beginning, where it fits or nobody is in it: it was scrolled before
        it had a width."""
        if len(self.value) < self.size.width or not self.has_focus:
            self.scroll_to(0, 0, animate=False, immediate=True)

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

    def action_undo_typed(self) -> None:
        """A filter is no part of a question."""
        self.undo_text()

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def action_clear(self) -> None:
        """Clear the filter; with nothing to clear, leave."""
        if self.value:
            self.value = ""
        else:
            self.post_message(self.Left())


class FilterLine(Horizontal):
    """Tells the words while they are typed."""

    DEFAULT_CSS = """
    FilterLine {
        height: 1;
        padding: 0 1;
        display: none;
        .label { width: 9; color: $foreground 75%; }
        Input { width: 30; }
        &.-on { display: block; }
    }
    """

    @dataclass
    class Typed(Message):
        """Rows must have each of these words, in lower case."""

        words: tuple[str, ...]

    def __init__(self) -> None:
        super().__init__(
            Static("/ filter", classes="label"),
            FilterInput(placeholder="all", max_length=100, id="filter"),
            id="filtering",
        )

    @classmethod
    async def shown_on(cls, parent: Widget, before: str) -> FilterLine:
        """The line of this widget, in sight and with the focus; most are never made."""
        line = parent.query_one_optional(cls)
        if line is None:
            line = cls()
            await parent.mount(line, before=before)
        line.add_class("-on")
        line.query_one(FilterInput).focus()
        return line

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(tuple(event.value.lower().split())))

    @on(FilterInput.Left)
    def fold(self) -> None:
        """Out of sight, where nothing is typed."""
        self.set_class(bool(self.query_one(FilterInput).value), "-on")
