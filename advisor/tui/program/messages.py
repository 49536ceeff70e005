"""What the workers tell the screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from advisor.tui.program.store_reader import Reading


class StoreRead(Message):
    """The store was read."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self.reading = reading


class StoreTrouble(Message):
    """The store could not be read; it will be tried again.

    The text is one line that says what is wrong and how to mend it.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class StoreNote(Message):
    """The store did something on its own that a person should know."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class StoreChanged(Message):
    """Another program may have written to the store."""


class AnswerChanged(Message):
    """The main screen has answered anew: what is about its answer is to be drawn again."""
