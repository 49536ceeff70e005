"""Saving the table or the picture, in the format of the file's ending, never over another file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static
from textual.widgets.input import Selection

from advisor.files import typed_path, write_whole
from advisor.tables.table_formats import TABLE_FORMATS, table_text
from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.screens import Dialog
from advisor.tui.program.actions import EXPORT, bindings_of
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.fetch_error import FetchError

FORMAT_WORDS = {
    ".csv": "table as CSV",
    ".md": "table as Markdown",
    ".json": "table as JSON",
    ".svg": "picture as SVG",
    ".png": "picture as PNG",
}
PICTURES = (".svg", ".png")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exportable:
    """What a screen can save."""

    name: str
    """The file's name without its ending."""
    columns: Sequence[str]
    rows: Callable[[], Sequence[dict[str, Any]]]
    """Makes the rows; runs in a thread and may raise FetchError."""
    picture: Callable[[str], bytes] | None
    """Draws the picture as ``svg`` or ``png``, where the screen has one; may raise InputError."""


class ExportScreen(Dialog[None]):
    """Asks where to."""

    WHERE = EXPORT
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(EXPORT)]
    AUTO_FOCUS = "Input"
    HELP = """\
## Saving

`↓` and `↑` choose what is saved; so does the ending of the file's name: `.csv`, `.md` or `.json`
the table, `.svg` or `.png` the picture. `Enter` saves. A file that is already there is replaced
only when you press `Enter` twice.
A file is there in full or not at all.
"""

    @dataclass
    class Saved(Message):
        """The file was written."""

        path: Path

    @dataclass
    class Ready(Message):
        """The file is made and goes to the browser that shows the program."""

        name: str
        content: bytes

    @dataclass
    class Failed(Message):
        """It was not; the text says why and how to mend it."""

        text: str
        exists: Path | None = None

    def __init__(self, what: Exportable) -> None:
        super().__init__()
        self._what = what
        self._confirmed: Path | None = None
        """The file that the person was told of and may replace."""

    def compose(self) -> ComposeResult:
        words = dict(FORMAT_WORDS)
        if self._what.picture is None:
            words = {ending: text for ending, text in words.items() if ending not in PICTURES}
        with Vertical(classes="page small") as box:
            box.border_title = "Save"
            yield Static("What (↑ ↓)", classes="label")
            yield Choice(words, ".csv", id="format")
            yield Static("File (in this folder unless it has a path)", classes="label")
            yield Input(f"{self._what.name}.csv", id="path", compact=True)
            yield Static(f"this folder: {Path.cwd()}", id="said", markup=False)
            yield DialogKeys(EXPORT)

    @on(Choice.Changed)
    def _format_chosen(self, event: Choice.Changed) -> None:
        event.stop()
        field = self.query_one("#path", Input)
        path = field.value.strip()
        stem = path[: -len(Path(path).suffix)] if Path(path).suffix in FORMAT_WORDS else path
        field.value = stem + event.value
        # The next letter replaces the name and not the ending.
        field.selection = Selection(0, len(stem))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._confirmed = None
        suffix = Path(event.value.strip()).suffix.lower()
        choice = self.query_one(Choice)
        if suffix in choice.words:
            choice.value = suffix

    def action_step(self, by: int) -> None:
        """Another kind of file, from wherever the focus is."""
        self.query_one(Choice).action_step(by)

    @on(Input.Submitted)
    def action_save(self) -> None:
        """Check the path, then write in a thread."""
        text = self.query_one("#path", Input).value.strip()
        if not text:
            self._say("the file has no name: write one such as builds.csv")
            return
        path = typed_path(text)
        suffix = path.suffix.lower()
        if suffix not in self.query_one(Choice).words:
            endings = ", ".join(self.query_one(Choice).words)
            self._say(f"what to save is not clear: end the name in one of {endings}")
            return
        self._say("saving …", wrong=False)
        self._write(path, suffix, overwrite=self._confirmed == path)

    @work(thread=True, exclusive=True, group="export", exit_on_error=False)
    def _write(self, path: Path, suffix: str, *, overwrite: bool) -> None:
        what = self._what
        try:
            if not self.app.is_web:  # a browser keeps it on its own machine
                if path.is_dir():
                    raise IsADirectoryError(f"{path} is a folder")
                if path.exists() and not overwrite:
                    raise FileExistsError(path)
            if suffix in PICTURES and what.picture is not None:
                content = what.picture(suffix[1:])
            else:
                content = table_text(what.rows(), what.columns, TABLE_FORMATS[suffix]).encode()
            if self.app.is_web:
                self.post_message(self.Ready(path.name, content))
                return
            write_whole(path, content, overwrite=overwrite)
        except FileExistsError:
            self.post_message(
                self.Failed(f"{path} is already there: Enter again replaces it", exists=path)
            )
        except (FetchError, ValueError) as error:
            self.post_message(self.Failed(str(error)))
        except OSError as error:
            reason = error.strerror or str(error)
            self.post_message(
                self.Failed(f"{path} was not written ({reason}): choose another place")
            )
        else:
            self.post_message(self.Saved(path))

    @on(Saved)
    def _saved(self, event: Saved) -> None:
        self.app.notify(f"Saved {event.path}.", markup=False)
        self.dismiss()

    @on(Ready)
    def _ready(self, event: Ready) -> None:
        self.app.deliver_binary(BytesIO(event.content), save_filename=event.name)
        self.app.notify(f"Your browser saves {event.name}.", markup=False)
        self.dismiss()

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self._confirmed = event.exists
        self._say(event.text)

    def _say(self, text: str, *, wrong: bool = True) -> None:
        line = self.query_one("#said", Static)
        line.set_class(wrong, "-error")
        line.update(f"⚠ {text}" if wrong else text)
