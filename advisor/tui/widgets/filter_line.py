"""A line for words that rows must have: made when first needed, in sight while it is used."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from advisor.tui.widgets.text_input import FilterInput


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
