"""A grant written in the program: its text, and what is wrong with each field as it is typed."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Static, TextArea

from advisor.files import is_file, typed_path
from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.dialog import Dialog
from advisor.tui.plan.grant_fields import WHICH, GrantFields
from advisor.tui.program.actions import bindings_of
from advisor.tui.program.dialog_actions import GRANT
from advisor.tui.widgets.text_input import Field

START = """\
[grant]
title = "My grant"
start = 2027-01-01
years = 3

[budget]
total = "$100,000"

[[experiments]]
model = "pythia-1b"
runs = 2
# by = 2027-06-01

# [[owned]]
# gpu = "RTX A6000"
# gpu_count = 2

# [[allocations]]
# name = "Campus cluster"
# gpu = "A100"
# usd_per_gpu_hour = 0.14

# [[costs]]
# name = "Project storage"
# kind = "storage"
# amount = 1200
# per = "year"

[running]
utilisation = 0.8

[institution]
rules = "us-equipment-10000"
"""
"""What a new grant begins with."""
SHOWN = 4
"""So many errors at once."""


class GrantForm(Dialog[Path]):
    """Answers with the file that was written; with nothing where none was."""

    CSS_PATH = "plan.tcss"
    WHERE = GRANT
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(GRANT)]
    HELP = """\
## A grant

The fields write the lines of the text below them: `Tab` goes from one to the next. `Exp. of 1`
chooses the experiment whose model, runs and last day stand beside it; one more than there are
begins another. `Own GPU`, how many are in each machine and how many machines are the first of what
the lab has. `Overhead` is the rate of your agreement, as 55% or 0.55. Everything else is written in
the text, on the right of each `=`: take the `#` away from the lines of an allocation or of another
cost to ask for it. What is wrong is said below as you type. `Ctrl+S` saves the file and plans it,
`Esc` goes back and changes nothing. `advisor plan --example` prints every key that there is.
"""

    def __init__(self, path: Path | None) -> None:
        super().__init__()
        self._path = path
        self._text = START

    def compose(self) -> ComposeResult:
        from advisor.planning.grant.toml_reader import MAX_BYTES

        name = "grant.toml"
        path = self._path
        try:
            if path is not None and is_file(path) and path.stat().st_size <= MAX_BYTES:
                self._text, name = path.read_text(encoding="utf-8-sig"), str(path)
            else:
                self._path = None
        except (OSError, UnicodeDecodeError):
            self._path = None
        with Vertical(classes="page") as box:
            box.border_title = "A grant"
            yield Field(name, id="file", max_length=500)
            yield GrantFields()
            yield TextArea(self._text, id="text", show_line_numbers=False)
            yield Static("", id="wrong", markup=False)
            yield DialogKeys(GRANT)

    def on_mount(self) -> None:
        """The text first."""
        self.query_one("#text").focus()
        self.query_one(GrantFields).show(self._text)
        self._check()

    @on(TextArea.Changed)
    def _text_changed(self) -> None:
        self.query_one(GrantFields).show(self.query_one("#text", TextArea).text)
        self._check()

    @on(Field.Changed)
    def _field_changed(self, event: Field.Changed) -> None:
        text = self.query_one("#text", TextArea)
        if event.input.id == WHICH:
            self.query_one(GrantFields).show(text.text)
            return
        if event.input.parent is self.query_one(GrantFields):
            made = self.query_one(GrantFields).written(text.text)
            if made != text.text:
                text.text = made  # which is checked in turn
                return
        self._check()

    def _file(self) -> Path:
        return typed_path(self.query_one("#file", Field).value.strip() or "grant.toml")

    def _check(self) -> bool:
        """Say what is wrong with each field; whether it is a grant, which may name a model that is
        kept only later."""
        from advisor.planning.grant.text_errors import check_grant, unknown_names

        text = self.query_one("#text", TextArea).text
        found = check_grant(text, self._file(), self.app.today)
        errors, snapshot = found.errors, self.app.session.snapshot
        if found.grant is not None and snapshot is not None:
            errors = unknown_names(found.grant, snapshot)
        each = [f"{field}: {words}" if field else words for field, words in errors.items()]
        more = len(each) - SHOWN
        lines = each[:SHOWN] + ([f"and {more} more"] if more > 0 else [])
        self._tell("\n".join(lines) or "Nothing is wrong: ^s saves it and plans.", wrong=bool(each))
        return found.grant is not None

    def _tell(self, words: str, *, wrong: bool) -> None:
        said = self.query_one("#wrong", Static)
        said.set_class(wrong, "-wrong")
        said.update(words)

    def action_save(self) -> None:
        """Write the file, and plan it; a file that is not this grant's is left alone."""
        from advisor.files import write_whole

        if not self._check():
            return
        path = self._file()
        if path.suffix.lower() != ".toml":
            self._tell("the file of a grant ends in .toml: name it grant.toml", wrong=True)
            return
        own = self._path is not None and path == self._path
        try:
            write_whole(path, self.query_one("#text", TextArea).text, overwrite=own)
        except FileExistsError:
            self._tell(f"{path} is there already: name another file", wrong=True)
            return
        except OSError as error:
            self._tell(f"{path} cannot be written: {error.strerror}", wrong=True)
            return
        self.dismiss(path)

    def action_leave(self) -> None:
        """Go back and change nothing."""
        self.dismiss()
