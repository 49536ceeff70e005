"""Saving the table or the picture, in the format of the file's ending, never over another file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from textual import on
from textual.widgets import Input
from textual.widgets.input import Selection

from advisor.files import typed_path, write_whole
from advisor.tables.table_formats import TABLE_FORMATS, table_text
from advisor.tui.pages.form import Form, FormField, Judged
from advisor.tui.program.keys import EXPORT
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.rank_table import RankTable
from advisor.typed_input import InputError

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
    picture: Callable[[str], bytes] | None = None
    """Draws the picture as ``svg`` or ``png``, where the screen has one; may raise InputError."""
    seen: RankTable | None = None
    """The table on the screen, which Markdown shows as it is."""
    first: str = ".csv"
    """The kind of file that is offered first: of what the person looks at."""


class ExportScreen(Form):
    """Asks where to."""

    WHERE = EXPORT
    AUTO_FOCUS = "Input"
    SIZE = "page small"
    HELP = """\
## Saving

`↓` and `↑` choose what is saved; so does the ending of the file's name: `.csv` and `.json` have
every figure of the rows on the screen, `.md` the table as it is shown, `.svg` and `.png` the
picture. `Enter` saves. A file that is already there is replaced only when you press `Enter` twice.
A file is there in full or not at all.
"""

    def __init__(self, what: Exportable) -> None:
        words = dict(FORMAT_WORDS)
        if what.picture is None:
            words = {ending: text for ending, text in words.items() if ending not in PICTURES}
        first = what.first if what.first in words else ".csv"
        super().__init__("Save", {"format": first, "path": f"{what.name}{first}"})
        self.FIELDS = (
            FormField("format", "What (↑ ↓)", choices=words),
            FormField("path", "File", f"such as {what.name}.csv"),
        )
        self.START = f"in this folder, unless it has a path: {Path.cwd()}"
        self._words = words
        self._what = what
        self._confirmed: Path | None = None
        """The file that the next Enter may replace."""

    @on(Choice.Changed)
    def _format_chosen(self, event: Choice.Changed) -> None:
        field = self.query_one("#path", Input)
        path = field.value.strip()
        stem = path[: -len(Path(path).suffix)] if Path(path).suffix in FORMAT_WORDS else path
        field.value = stem + event.value
        # The next letter replaces the name and not the ending.
        field.selection = Selection(0, len(stem))

    def typed(self) -> None:
        """The ending chooses the kind of file."""
        self._confirmed = None
        suffix = Path(self.texts["path"]).suffix.lower()
        if suffix in self._words:
            self.query_one(Choice).value = suffix
        self.say(self.START)

    def action_step(self, by: int) -> None:
        """Another kind of file, from wherever the focus is."""
        self.query_one(Choice).action_step(by)

    def judge(self, texts: dict[str, str]) -> Judged:
        if not texts["path"]:
            return Judged("the file has no name: write one such as builds.csv", field="path")
        path = typed_path(texts["path"])
        suffix = path.suffix.lower()
        if suffix not in self._words:
            endings = ", ".join(self._words)
            why = f"what to save is not clear: end the name in one of {endings}"
            return Judged(why, field="path")
        again = self._confirmed == path
        return Judged("", self.does(partial(self._save, path, suffix, overwrite=again)))

    def _save(self, path: Path, suffix: str, *, overwrite: bool) -> str:
        what = self._what
        try:
            if not self.app.is_web:  # a browser keeps it on its own machine
                if path.is_dir():
                    raise IsADirectoryError(f"{path} is a folder")
                if path.exists() and not overwrite:
                    raise FileExistsError(path)
            if suffix in PICTURES and what.picture is not None:
                content = what.picture(suffix[1:])
            elif suffix == ".md" and what.seen is not None:
                rows = what.seen.rows_seen()
                content = table_text(rows, list(rows[0]) if rows else (), "markdown").encode()
            else:
                content = table_text(what.rows(), what.columns, TABLE_FORMATS[suffix]).encode()
            if self.app.is_web:
                file = BytesIO(content)
                self.app.call_from_thread(self.app.deliver_binary, file, save_filename=path.name)
                return f"Your browser saves {path.name}."
            write_whole(path, content, overwrite=overwrite)
        except FileExistsError:
            self._confirmed = path
            raise InputError(f"{path} is already there: Enter again replaces it") from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"{path} was not written ({reason}): choose another place") from None
        return f"Saved {path}."
