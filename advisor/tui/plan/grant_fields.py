"""The common fields of a grant, beside its text: each writes the line of the text that it is."""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from textual.app import ComposeResult
from textual.containers import Grid
from textual.widgets import Input, Static

from advisor.tui.pages.sized_screen import SLIM
from advisor.tui.widgets.text_input import Field

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
