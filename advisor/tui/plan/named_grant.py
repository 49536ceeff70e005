"""The field for a grant's file, which is looked at while it is being named."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message
from textual.widgets import Input

from advisor.files import is_file, typed_path
from advisor.tui.widgets.text_input import Field
from advisor.typed_input import InputError

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
        number: int = 0

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
        self.forget()
        name = event.value.strip()
        if name:
            self.look_at(self._number, typed_path(name))
        else:
            self.post_message(self.Looked("", number=self._number))

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def look_at(self, number: int, path: Path) -> None:
        """Read the grant that is being named, and post what is wrong with it."""
        from advisor.planning.grant.read_grant import read_grant

        if not is_file(path):
            self.post_message(self.Looked("There is no such file yet.", number=number))
            return
        try:
            grant = read_grant(path, self.app.today)
        except (InputError, OSError) as error:
            self.post_message(self.Looked(str(error), wrong=True, number=number))
        else:
            words = f"{grant.title}: nothing is wrong with it. Enter plans it."
            self.post_message(self.Looked(words, number=number))

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        if event.number != self._number:
            event.stop()
