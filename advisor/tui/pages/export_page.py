"""Saving the table or the picture, in the format of the file's ending, never over another file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from advisor.files import typed_path, write_whole
from advisor.tables.table_formats import TABLE_FORMATS, render_rows
from advisor.tui.pages.form import Form, FormField, Judged
from advisor.tui.widgets.rank_table import RankTable
from advisor.typed_input import InputError

TABLES = {".csv": "table", ".md": "table as seen", ".json": "table"}
FORMAT_WORDS = TABLES | {".svg": "picture", ".png": "picture"}
PICTURES = (".svg", ".png")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exportable:
    """What a screen can save."""

    name: str
    """The file's name without its ending."""
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

    WHERE = "export"
    AUTO_FOCUS = "Input"
    SIZE = "page small"
    GRID = "line"
    FIELDS = (FormField("path", "File", "such as builds.csv"),)
    HELP = """\
## Saving

The ending of the file's name chooses what is saved: `.csv` and `.json` have every figure of the
rows on the screen, `.md` the table as it is shown, `.svg` and `.png` the picture. `Enter` saves. A
file that is already there is replaced only when you press `Enter` twice. A file is there in full or
not at all.
"""

    def __init__(self, what: Exportable) -> None:
        kinds = FORMAT_WORDS if what.picture is not None else TABLES
        first = what.first if what.first in kinds else ".csv"
        super().__init__("Save", {"path": f"{what.name}{first}"})
        self.START = f"Into {Path.cwd()}, unless it has a path. The ending chooses: " + ", ".join(
            f"{ending} {words}" for ending, words in kinds.items()
        )
        self._kinds = kinds
        self._what = what
        self._confirmed: Path | None = None
        """The file that the next Enter may replace."""

    def typed(self) -> None:
        """Another name may be there already."""
        self._confirmed = None
        self.say(self.START)

    def judge(self, texts: dict[str, str]) -> Judged:
        if not texts["path"]:
            return Judged("the file has no name: write one such as builds.csv", field="path")
        path = typed_path(texts["path"])
        suffix = path.suffix.lower()
        if suffix not in self._kinds:
            endings = ", ".join(self._kinds)
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
                seen = what.seen.rows_seen()
                content = f"{render_rows(seen, 'markdown')}\n".encode()
            else:
                found = what.rows()
                content = f"{render_rows(found, TABLE_FORMATS[suffix])}\n".encode()
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
