"""The field for a grant's file, which is looked at while it is being named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message
from textual.widgets import Input

from advisor.files import is_file, typed_path
from advisor.tui.widgets.in_thread import in_thread
from advisor.tui.widgets.text_input import Field

if TYPE_CHECKING:
    from advisor.tui.program.program import Program

GRANT = "grant.toml"
"""What Enter takes where nothing is typed: it stands there in grey."""


class NamedGrant(Field):
    """The path of a grant; tells what is wrong with the file before anybody plans it."""

    app: Program

    @dataclass
    class Looked(Message):
        """What the file holds that is being named; nothing where none is."""

        text: str
        wrong: bool = False

    def __init__(self) -> None:
        super().__init__(placeholder=GRANT, id="grant", max_length=500, select_on_focus=False)
        self._number = 0

    def name_grant(self, name: str) -> None:
        """Put a name here that need not be looked at."""
        with self.prevent(Input.Changed):
            self.value = name

    def forget(self) -> None:
        """What was asked of a file until now is not waited for any longer."""
        self._number += 1

    @on(Input.Changed)
    def _named(self, event: Input.Changed) -> None:
        """Read the grant that is being named, and say what is wrong with it."""
        self.forget()
        number, name = self._number, event.value.strip()

        def looked(text: str, *, wrong: bool = False) -> None:
            if number == self._number:
                self.post_message(self.Looked(text, wrong))

        in_thread(
            self, "look", lambda: self._look_at(name), looked, lambda why: looked(why, wrong=True)
        )

    def _look_at(self, name: str) -> str:
        from advisor.planning.grant.read_grant import read_grant

        path = typed_path(name)
        if not name:
            return ""
        if not is_file(path):
            return "There is no such file yet."
        return (
            f"{read_grant(path, self.app.today).title}: nothing is wrong with it. Enter plans it."
        )
