"""What the workers tell the screens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from advisor.rank import Field
    from advisor.tui.feed import Reading


@dataclass
class StoreRead(Message):
    """The store was read."""

    reading: Reading


@dataclass
class PublishedRead(Message):
    """The same field at face value was made."""

    field: Field
    published: Field


@dataclass
class StoreTrouble(Message):
    """The store could not be read; it will be tried again."""

    text: str
    """One line that says what and how to mend it."""


@dataclass
class StoreNote(Message):
    """The store did something on its own that a person should know."""

    text: str


@dataclass
class StoreChanged(Message):
    """Another program may have written to the store."""
