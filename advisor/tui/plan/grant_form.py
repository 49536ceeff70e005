"""A grant written in the program: its text, its common fields, what is wrong with them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from textual import on
from textual.widget import Widget
from textual.widgets import Static, TextArea

from advisor.files import is_file, typed_path
from advisor.tui.pages.form import Form, FormField, Judged
from advisor.tui.program.keys import GRANT
from advisor.tui.program.session import RankingSession
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


EXPERIMENTS = "experiments"
OWNED = "owned"
SEVERAL = (EXPERIMENTS, OWNED)
"""Tables of which a grant has any number."""
WHICH = "which"
"""The field that chooses the experiment which others speak of."""


class GrantField(NamedTuple):
    """One key of one table of the text."""

    label: str
    table: str
    key: str
    kind: type
    hint: str

    @property
    def field_id(self) -> str:
        return f"of_{self.table}_{self.key}"


GRANT_FIELDS = (
    GrantField("Title", "grant", "title", str, "My grant"),
    GrantField("Budget", "budget", "total", str, "$100,000"),
    GrantField("Currency", "budget", "currency", str, "USD"),
    GrantField("Start", "grant", "start", date, "2027-01-01"),
    GrantField("Years", "grant", "years", int, "3"),
    GrantField("Model", EXPERIMENTS, "model", str, "pythia-1b"),
    GrantField("Runs", EXPERIMENTS, "runs", int, "1"),
    GrantField("Done by", EXPERIMENTS, "by", date, "grant's end"),
    GrantField("Funder", "grant", "funder", str, "plain"),
    GrantField("Overhead", "institution", "overhead_rate", float, "as the rules"),
    GrantField("Goal", "grant", "objective", str, "cheapest"),
    GrantField("Own GPU", OWNED, "gpu", str, "RTX A6000"),
    GrantField("GPUs each", OWNED, "gpu_count", int, "1"),
    GrantField("Machines", OWNED, "machines", int, "1"),
)
"""An experiment's are those of the one that is chosen, a machine's those of the lab's first."""
_TABLE = re.compile(r"\s*\[\[?\s*[\w.\"' -]+\s*\]?\]\s*(#.*)?")
_LINE = re.compile(r"\s*([\w-]+)\s*=\s*(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s#\"'\[{]+)(\s*#.*)?")
BEFORE, AFTER = GRANT_FIELDS[:5], GRANT_FIELDS[5:]
"""An experiment's come after the field that chooses it."""


class GrantForm(Form):
    """Closes with the path of the file that was written; with nothing where none was."""

    WHERE = GRANT
    SIZE = "page tall"
    GRID = "thirds"
    FIELDS = (
        FormField("file", "File", "grant.toml"),
        *(FormField(each.field_id, each.label, each.hint, 200) for each in BEFORE),
        FormField(WHICH, "", "1", 4),
        *(FormField(each.field_id, each.label, each.hint, 200) for each in AFTER),
    )
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

    def __init__(self, path: Path | None, session: RankingSession) -> None:
        self._path, self._text = _text_of(path)
        self._text = self._text or new_grant(session)
        super().__init__("A grant", {"file": str(self._path or "grant.toml"), WHICH: "1"})

    def more(self) -> Iterable[Widget]:
        """The text itself."""
        yield TextArea(self._text, id="text", show_line_numbers=False)

    @property
    def text(self) -> TextArea:
        return self.query_one("#text", TextArea)

    def on_mount(self) -> None:
        """The text first."""
        self.text.focus()
        self._text_changed()

    @on(TextArea.Changed)
    def _text_changed(self) -> None:
        """Show what the text says, in every field that nobody is typing in; nothing of a text that
        is no TOML."""
        document = _parsed(self.text.text)
        if document is not None:
            tables = document.get(EXPERIMENTS)
            count = len(tables) if isinstance(tables, list) else 0
            self.query_one(f"#label_{WHICH}", Static).update(f"Exp. of {count}")
            with self.prevent(Field.Changed):
                for field in GRANT_FIELDS:
                    if self.here != field.field_id:
                        at = self._at(field)
                        said = "" if at is None else _said(_value(document, field, at))
                        self.query_one(f"#{field.field_id}", Field).value = said
        self.look(self.texts)

    def typed(self) -> None:
        """Write into the text what stands in the fields."""
        if self.here == WHICH:
            self._text_changed()
            return
        made = self.text.text
        for field in GRANT_FIELDS:
            if (at := self._at(field)) is not None:
                shown = self.query_one(f"#{field.field_id}", Field).value
                made = with_field(made, field, shown, at)
        if made != self.text.text:
            self.text.text = made  # which is judged in turn
        else:
            self.look(self.texts)

    def _at(self, field: GrantField) -> int | None:
        """Which of the tables of its name a field speaks of, from 0; none where no number is
        chosen."""
        if field.table != EXPERIMENTS:
            return 0
        typed = self.query_one(f"#{WHICH}", Field).value.strip()
        return int(typed) - 1 if typed.isascii() and typed.isdecimal() and int(typed) else None

    def named(self, name: str, text: str) -> str:
        if name.endswith("_model"):
            return self.app.session.model_named(text)
        if name.endswith("_gpu"):
            return self.app.session.gpu_named(text)
        return text.casefold() if name.endswith(("_funder", "_objective")) else text

    def judge(self, texts: dict[str, str]) -> Judged:
        """What is wrong with each field; a grant may name a model that is kept only later."""
        from advisor.planning.grant.read_grant import check_grant, unknown_names

        path = typed_path(texts["file"] or "grant.toml")
        found = check_grant(self.text.text, path, self.app.today)
        errors, snapshot = found.errors, self.app.session.snapshot
        if found.grant is not None and snapshot is not None:
            errors = unknown_names(found.grant, snapshot)
        each = [f"{field}: {words}" if field else words for field, words in errors.items()]
        more = len(each) - SHOWN
        lines = each[:SHOWN] + ([f"and {more} more"] if more > 0 else [])
        words = "\n".join(lines) or "Nothing is wrong: ^s saves it and plans."
        return Judged(words, partial(self._save, path) if found.grant is not None else None)

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
    asked, snapshot, text = session.asked, session.snapshot, START
    if asked is None or snapshot is None:
        return text
    of = {(field.table, field.key): field for field in GRANT_FIELDS}
    text = with_field(text, of[EXPERIMENTS, "model"], asked.key.recipe_id, 0)
    if asked.question.budget_usd is not None:
        text = with_field(text, of["budget", "total"], f"${asked.question.budget_usd:,.0f}", 0)
    if asked.question.max_days is not None:
        days = f"longest_run_days = {asked.question.max_days:g}"
        text = text.replace("[running]\n", f"[running]\n{days}\n")
    gpus = {gpu.gpu_id: gpu.name for gpu in snapshot.gpus}
    owned = [host for host in snapshot.hosts if host.kind == "owned" and host.gpu_id in gpus]
    for n, host in enumerate(owned):
        text = with_field(text, of[OWNED, "gpu"], gpus[host.gpu_id or ""], n)
        text = with_field(text, of[OWNED, "gpu_count"], str(host.max_gpus), n)
    return text


def _text_of(path: Path | None) -> tuple[Path | None, str]:
    """The file of a grant and its text; nothing where there is none that can be read."""
    from advisor.planning.grant.toml_reader import MAX_BYTES

    with suppress(OSError, UnicodeDecodeError):
        if path is not None and is_file(path) and path.stat().st_size <= MAX_BYTES:
            return path, path.read_text(encoding="utf-8-sig")
    return None, ""


def with_field(text: str, field: GrantField, typed: str, at: int) -> str:
    """The text of a grant with one value another, and nothing else: an empty one takes the line
    out. A text in which that line cannot be told stays as it is. ``at`` counts tables of a name of
    which there are several; the next one that there is not yet is begun."""
    document = _parsed(text)
    if document is not None and _said(_value(document, field, at)) == typed:
        return text
    literal = _literal(field.kind, typed) if typed.strip() else None
    made = _edited(text, field, literal, at)
    if document is not None and _parsed(made) != _expected(document, field, literal, at):
        return text
    return made


def _edited(text: str, field: GrantField, literal: str | None, at: int) -> str:
    lines = text.split("\n")
    header = f"[[{field.table}]]" if field.table in SEVERAL else f"[{field.table}]"
    starts = [n for n, line in enumerate(lines) if _bare(line) == header]
    if at >= len(starts):
        if literal is None or at > len(starts):
            return text
        before = text.rstrip("\n")
        return f"{before}\n\n{header}\n{field.key} = {literal}\n".lstrip("\n")
    start = starts[at]
    tables = (n for n in range(start + 1, len(lines)) if _TABLE.fullmatch(lines[n]))
    end = next(tables, len(lines))
    for number in range(start + 1, end):
        found = _LINE.fullmatch(lines[number])
        if found is None or found[1] != field.key:
            continue
        if literal is None:
            del lines[number]
        else:
            lines[number] = f"{field.key} = {literal}{found[3] or ''}"
        return "\n".join(lines)
    if literal is not None:
        lines.insert(start + 1, f"{field.key} = {literal}")
    return "\n".join(lines)


def _bare(line: str) -> str:
    return line.partition("#")[0].replace(" ", "").strip()


def _expected(
    document: dict[str, Any], field: GrantField, literal: str | None, at: int
) -> dict[str, Any]:
    """The document with this one value another."""
    made = dict(document)
    tables = made.get(field.table)
    if field.table in SEVERAL:
        every = tables if isinstance(tables, list) else []
        old = every[at] if at < len(every) else {}
    else:
        every, old = [], tables or {}
    new = {key: value for key, value in old.items() if key != field.key}
    if literal is not None:
        new[field.key] = tomllib.loads(f"x = {literal}")["x"]
    elif field.table not in made or (field.table in SEVERAL and at >= len(every)):
        return made
    made[field.table] = [*every[:at], new, *every[at + 1 :]] if field.table in SEVERAL else new
    return made


def _literal(kind: type, typed: str) -> str:
    """A number or a day where one was typed; else text, which the check of the grant speaks of."""
    word = typed.strip()
    if kind is int and word.isascii() and word.isdecimal():
        return str(int(word)) if len(word) < 10 else json.dumps(word)
    if kind is float and (share := re.fullmatch(r"(\d{0,3}\.?\d{1,6}) ?(%?)", word, re.ASCII)):
        number = Decimal(share[1]) / (100 if share[2] else 1)
        return f"{number.normalize():f}"
    if kind is date and re.fullmatch(r"\d{4}-\d\d-\d\d", word, re.ASCII):
        with suppress(ValueError):
            return date.fromisoformat(word).isoformat()
    return json.dumps(typed, ensure_ascii=False).replace("\x7f", "\\u007f")


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _value(document: dict[str, Any], field: GrantField, at: int) -> Any:
    table = document.get(field.table)
    if field.table in SEVERAL:
        table = table[at] if isinstance(table, list) and at < len(table) else None
    return table.get(field.key) if isinstance(table, dict) else None


def _said(value: Any) -> str:
    return "" if value is None else str(value)
