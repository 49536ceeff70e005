"""One of a few values, stepped through by a key or a click; or several, on a page that opens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual.app import RenderResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from advisor.tui.widgets.safe_text import shorten


class Choice(Widget, can_focus=True):
    """Shows the chosen value between two arrows."""

    FOOTER: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ("→", "next value", "focused.step(1)"),
        ("←", "value before", "focused.step(-1)"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,down,space", "step(1)", tooltip="Take the next value"),
        Binding("left,up", "step(-1)", tooltip="Take the value before"),
        Binding("enter", "step(1)", tooltip="Take the next value"),
    ]
    DEFAULT_CSS = """
    Choice { height: 1; width: 1fr; pointer: pointer; }
    Choice:focus { text-style: reverse; }
    """

    value: reactive[str] = reactive("")

    @dataclass
    class Changed(Message):
        """The person chose another value."""

        choice: Choice
        value: str

        @property
        def control(self) -> Choice:
            return self.choice

    def __init__(self, words: Mapping[str, str], value: str, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.words = words
        """What is shown for each value."""
        self.set_reactive(Choice.value, value if value in words else next(iter(words)))

    def render(self) -> RenderResult:
        return Content(f"‹ {self.words[self.value]} ›")

    def action_step(self, by: int) -> None:
        values = list(self.words)
        self.value = values[(values.index(self.value) + by) % len(values)]
        self.post_message(self.Changed(self, self.value))

    def on_click(self, event: Click) -> None:
        event.stop()
        self.action_step(1)


class FormChoice(Choice, inherit_bindings=False):
    """The same on a form, where Enter keeps what is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = Choice.BINDINGS[:2]


class OpensPage(Widget, can_focus=True):
    """Says in one line what is set on a page, and opens it."""

    FOOTER: ClassVar[tuple[tuple[str, str, str], ...]] = (("Enter", "change", "focused.open"),)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "open", tooltip="Open the page of these values")
    ]
    DEFAULT_CSS = """
    OpensPage { height: 1; width: 1fr; pointer: pointer; }
    OpensPage:focus { text-style: reverse; }
    """

    words: reactive[str] = reactive("")

    class Opened(Message):
        """The person wants the page."""

    def __init__(self, words: str, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.set_reactive(OpensPage.words, words)

    def render(self) -> RenderResult:
        """The letter of its key, the first, is underlined, as in the names of fields."""
        said = shorten(self.words, max(0, self.size.width - 2))
        return Content.assemble("‹ ", (said[:1], "underline bold"), said[1:])

    def action_open(self) -> None:
        self.post_message(self.Opened())

    def on_click(self, event: Click) -> None:
        event.stop()
        self.action_open()
