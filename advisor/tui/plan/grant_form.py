"""A grant written in the program: its text, its common fields, what is wrong with them."""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Grid, Vertical
from textual.widgets import Input, Static, TextArea

from advisor.files import is_file, typed_path
from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.screens import SLIM, Dialog
from advisor.tui.program.actions import GRANT, bindings_of
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
        from advisor.planning.grant.read_grant import check_grant, unknown_names

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


FIELDS = (
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


class GrantFields(Grid):
    """The fields; whoever has the text asks them to `show` it, and takes `written` for it."""

    DEFAULT_CSS = """
    GrantFields {
        height: auto; grid-size: 6; grid-columns: 9 1fr 9 1fr 9 1fr; grid-rows: 1;
        grid-gutter: 0 1; margin-bottom: 1;
    }
    GrantFields.-slim { grid-size: 4; grid-columns: 9 1fr 9 1fr; }
    GrantFields .label { color: $foreground 75%; }
    """

    def compose(self) -> ComposeResult:
        for field in FIELDS:
            if field.key == "model":
                yield Static("", id="of_how_many", classes="label")
                yield Field("1", id=WHICH, max_length=4)
            yield Static(field.label, classes="label")
            yield Field(placeholder=field.hint, id=field.field_id, max_length=200)

    def on_resize(self) -> None:
        self.set_class(self.app.size.width < SLIM, "-slim")

    def show(self, text: str) -> None:
        """Show what the text says, in every field that nobody is typing in; nothing of a text that
        is no TOML."""
        document = _parsed(text)
        if document is None:
            return
        tables = document.get(EXPERIMENTS)
        count = len(tables) if isinstance(tables, list) else 0
        self.query_one("#of_how_many", Static).update(f"Exp. of {count}")
        with self.prevent(Input.Changed):
            for field in FIELDS:
                shown = self.query_one(f"#{field.field_id}", Field)
                if not shown.has_focus:
                    at = self._at(field)
                    shown.value = "" if at is None else _said(_value(document, field, at))

    def written(self, text: str) -> str:
        """The text with what stands in the fields."""
        for field in FIELDS:
            typed = self.query_one(f"#{field.field_id}", Field).value
            at = self._at(field)
            text = text if at is None else with_field(text, field, typed, at)
        return text

    def _at(self, field: GrantField) -> int | None:
        """Which of the tables of its name a field speaks of, from 0; none where no number is
        chosen."""
        if field.table != EXPERIMENTS:
            return 0
        typed = self.query_one(f"#{WHICH}", Field).value.strip()
        return int(typed) - 1 if typed.isascii() and typed.isdecimal() and int(typed) else None


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
