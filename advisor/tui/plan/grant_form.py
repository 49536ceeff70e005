"""A grant written in the program: its text, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from textual import on
from textual.widget import Widget
from textual.widgets import TextArea

from advisor.files import is_file, typed_path
from advisor.tui.pages.form import Form, FormField, Judged
from advisor.tui.program.session import RankingSession

START = """\
[grant]
title = "My grant"
start = 2027-01-01
years = 3
# funder = "nsf"
# objective = "cheapest"

[budget]
total = "{total}"

[[experiments]]
model = "{model}"
runs = 2
# by = 2027-06-01

{owned}# [[allocations]]
# name = "Campus cluster"
# gpu = "A100"
# usd_per_gpu_hour = 0.14

# [[costs]]
# name = "Project storage"
# kind = "storage"
# amount = 1200
# per = "year"

[running]
{longest}utilisation = 0.8

[institution]
rules = "us-equipment-10000"
# overhead_rate = 0.55
"""
"""What a new grant begins with."""
OWNED = """\
[[owned]]
gpu = "{gpu}"
gpu_count = {count}

"""
NO_OWNED = "".join(f"# {line}\n" if line else "\n" for line in OWNED.splitlines())
SHOWN = 4
"""How many errors are shown at once."""


class GrantForm(Form):
    """Closes with the path of the file that was written; with nothing where none was."""

    WHERE = "grant"
    SIZE = "page tall"
    GRID = "line"
    FIELDS = (FormField("file", "File", "grant.toml"),)
    HELP = """\
## A grant

Write what stands on the right of each `=`. Take the `#` away from a line to ask for it; write
another `[[experiments]]` or `[[owned]]` for one more. `overhead_rate` is that of your agreement.
What is wrong is said as you type. `Ctrl+S` saves the file and plans it, `Esc` goes back and changes
nothing. `advisor plan --example` prints every key that there is.
"""

    def __init__(self, path: Path | None, session: RankingSession) -> None:
        self._path, self._text = _text_of(path)
        self._text = self._text or new_grant(session)
        super().__init__("A grant", {"file": str(self._path or "grant.toml")})

    def more(self) -> Iterable[Widget]:
        yield TextArea(self._text, id="text", show_line_numbers=False)

    @property
    def text(self) -> TextArea:
        return self.query_one("#text", TextArea)

    def on_mount(self) -> None:
        self.text.focus()
        self.typed()

    @on(TextArea.Changed)
    def typed(self) -> None:
        self.look(self.texts)

    def judge(self, texts: dict[str, str]) -> Judged:
        """What is wrong with each key; a grant may name a model that is kept only later."""
        from advisor.planning.grant.read_grant import check_grant, unknown_names

        path = typed_path(texts["file"] or "grant.toml")
        grant, errors = check_grant(self.text.text, path, self.app.today)
        snapshot = self.app.session.snapshot
        if grant is not None and snapshot is not None:
            errors = unknown_names(grant, snapshot)
        each = [f"{field}: {words}" if field else words for field, words in errors.items()]
        more = len(each) - SHOWN
        lines = each[:SHOWN] + ([f"and {more} more"] if more > 0 else [])
        words = "\n".join(lines) or "Nothing is wrong: ^s saves it and plans."
        return Judged(words, partial(self._save, path) if grant is not None else None)

    def _save(self, path: Path) -> None:
        """Write the file, and plan it; a file that is not this grant's is left alone."""
        from advisor.files import write_whole

        wrong = ""
        if path.suffix.lower() != ".toml":
            wrong = "the file of a grant ends in .toml: name it grant.toml"
        else:
            try:
                write_whole(path, self.text.text, overwrite=path == self._path)
            except FileExistsError:
                wrong = f"{path} is there already: name another file"
            except OSError as error:
                wrong = f"{path} cannot be written: {error.strerror}"
        if wrong:
            self.say(wrong, wrong=True)
            self.query_one("#file").focus()
        else:
            self.dismiss(str(path))


def new_grant(session: RankingSession) -> str:
    """What a new grant begins with: the model, budget and time limit that are asked about, and the
    machines that the lab has."""
    asked, snapshot = session.asked, session.snapshot
    total, model, longest, owned = "$100,000", "pythia-1b", "", ""
    if asked is not None and snapshot is not None:
        model, question = asked.key.recipe_id, asked.question
        if question.budget_usd is not None:
            total = f"${question.budget_usd:,.0f}"
        if question.max_days is not None:
            longest = f"longest_run_days = {question.max_days:g}\n"
        gpus = {gpu.gpu_id: gpu.name for gpu in snapshot.gpus}
        owned = "".join(
            OWNED.format(gpu=gpus[host.gpu_id or ""], count=host.max_gpus)
            for host in snapshot.hosts
            if host.kind == "owned" and host.gpu_id in gpus
        )
    owned = owned or NO_OWNED.format(gpu="RTX A6000", count=2)
    return START.format(total=total, model=model, owned=owned, longest=longest)


def _text_of(path: Path | None) -> tuple[Path | None, str]:
    """The file of a grant and its text; nothing where there is none that can be read."""
    from advisor.planning.grant.toml_reader import MAX_BYTES

    with suppress(OSError, UnicodeDecodeError):
        if path is not None and is_file(path) and path.stat().st_size <= MAX_BYTES:
            return path, path.read_text(encoding="utf-8-sig")
    return None, ""
