"""What took somebody time and is kept between runs: questions, the last plan, the last result.

One small JSON file beside the settings. A damaged one is ignored with a word, never a traceback.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from advisor.parse import NAMED_PRICES
from advisor.ranking.question import RANK_RULES
from advisor.ranking.times import EVIDENCE_RULES
from advisor.tui.program.settings import COST_BASES, QUESTION_FIELDS, State, read_object

MAX_BYTES = 512 * 1024
MAX_RECENT = 10
MAX_NAMED = 50
MAX_NAME = 60
MAX_NOTES = 8
MAX_NOTE_CHARACTERS = 60_000
MAX_LAYOUTS = 4
_CHOICES: dict[str, tuple[str, ...]] = {
    "rule": RANK_RULES,
    "prices": NAMED_PRICES,
    "evidence": EVIDENCE_RULES,
    "cost_basis": COST_BASES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptQuestion:
    """One question as it was typed, and what the answer was."""

    fields: dict[str, str]
    asked_on: str
    """A day as YYYY-MM-DD."""
    answer: str = ""
    """The answer's sentence on that day."""
    name: str = ""
    """The person's own; empty for one of the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptNote:
    """What a screen last showed: a plan, a benchmark's result."""

    title: str
    made_on: str
    text: str
    asked: dict[str, str] = field(default_factory=dict)
    """What it was made from, as typed: a grant's path, an objective."""
    layouts: dict[int, str] = field(default_factory=dict)
    """The same text laid out for so many cells, where its lines depend on the width."""

    def fitting(self, width: int) -> str:
        """The text for so many cells: the widest layout that fits, else the narrowest."""
        if not self.layouts:
            return self.text
        fitting = [each for each in self.layouts if each <= width]
        return self.layouts[max(fitting, default=min(self.layouts))]


@dataclass(slots=True)
class Kept:
    """All of it."""

    questions: list[KeptQuestion] = field(default_factory=list)
    """The newest first; the named ones are never pushed out by others."""
    notes: dict[str, KeptNote] = field(default_factory=dict)
    """By screen."""

    def remember(self, state: State, answer: str, today: date) -> bool:
        """Put a question in front; whether that changed anything."""
        asked = state.question()
        if self.questions and self.questions[0].fields == asked and not self.questions[0].name:
            return False
        new = KeptQuestion(fields=asked, asked_on=today.isoformat(), answer=answer[:400])
        named = [q for q in self.questions if q.name]
        recent = [q for q in self.questions if not q.name and q.fields != asked]
        self.questions = [new, *recent[: MAX_RECENT - 1], *named]
        return True

    def name_it(self, state: State, answer: str, today: date, name: str) -> None:
        """Keep a question under a name; an older one of that name gives way."""
        asked = state.question()
        new = KeptQuestion(
            fields=asked, asked_on=today.isoformat(), answer=answer[:400], name=name[:MAX_NAME]
        )
        recent = [q for q in self.questions if not q.name]
        named = [q for q in self.questions if q.name and q.name != new.name]
        self.questions = [*recent, new, *named[: MAX_NAMED - 1]]

    def forget(self, question: KeptQuestion) -> None:
        """Drop one."""
        self.questions = [q for q in self.questions if q is not question]

    def note(self, screen: str, note: KeptNote) -> None:
        """Keep what a screen shows."""
        layouts = {w: text[:MAX_NOTE_CHARACTERS] for w, text in note.layouts.items()}
        text = note.text[:MAX_NOTE_CHARACTERS]
        self.notes[screen] = replace(note, text=text, layouts=layouts)
        while len(self.notes) > MAX_NOTES:
            del self.notes[next(iter(self.notes))]


def load_kept(path: Path) -> tuple[Kept, str | None]:
    """What was kept, and one line to show where the file could not be used."""
    try:
        found = read_object(path, MAX_BYTES)
    except ValueError as error:
        return Kept(), f"{path} was ignored ({error}): earlier questions and plans are not shown"
    return Kept(questions=_questions(found), notes=_notes(found)), None


def _questions(found: dict[str, Any]) -> list[KeptQuestion]:
    rows = found.get("questions")
    read = [_question(row) for row in rows] if isinstance(rows, list) else []
    usable = [question for question in read if question is not None]
    recent = [q for q in usable if not q.name][:MAX_RECENT]
    return [*recent, *[q for q in usable if q.name][:MAX_NAMED]]


def _question(row: Any) -> KeptQuestion | None:
    if not isinstance(row, dict) or not isinstance(row.get("fields"), dict):
        return None
    texts = {name: row["fields"].get(name) for name in QUESTION_FIELDS}
    for name, text in texts.items():
        if not _is_line(text, 200) or (name in _CHOICES and text not in _CHOICES[name]):
            return None
    said = {name: row.get(name, "") for name in ("asked_on", "answer", "name")}
    if not all(_is_line(text, 400) for text in said.values()):
        return None
    return KeptQuestion(fields={k: str(v) for k, v in texts.items()}, **said)


def _notes(found: dict[str, Any]) -> dict[str, KeptNote]:
    rows = found.get("notes")
    usable: dict[str, KeptNote] = {}
    for screen, row in list(rows.items())[:MAX_NOTES] if isinstance(rows, dict) else ():
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            continue
        asked = row.get("asked", {})
        lines = (row.get("title", ""), row.get("made_on", ""))
        fine = isinstance(asked, dict) and all(_is_line(v, 4000) for v in asked.values())
        if fine and all(_is_line(line, 400) for line in lines):
            usable[str(screen)] = KeptNote(
                title=lines[0],
                made_on=lines[1],
                text=_printable(row["text"]),
                asked={str(k): v for k, v in asked.items()},
                layouts=_layouts(row.get("layouts")),
            )
    return usable


def _layouts(found: Any) -> dict[int, str]:
    rows = list(found.items())[:MAX_LAYOUTS] if isinstance(found, dict) else []
    return {
        int(width): _printable(text)
        for width, text in rows
        if isinstance(text, str) and width.isascii() and width.isdigit() and len(width) < 5
    }


def _printable(text: str) -> str:
    return "".join(ch for ch in text if ch.isprintable() or ch == "\n")[:MAX_NOTE_CHARACTERS]


def _is_line(text: Any, most: int) -> bool:
    return isinstance(text, str) and len(text) <= most and (text.isprintable() or not text)


def save_kept(path: Path, kept: Kept) -> str | None:
    """Write it, whole or not at all; returns one line where that failed."""
    from advisor.files import write_whole

    content = {
        "questions": [asdict(question) for question in kept.questions],
        "notes": {screen: asdict(note) for screen, note in kept.notes.items()},
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(content, indent=1) + "\n", overwrite=True)
    except OSError as error:
        return f"the questions were not kept in {path}: {error.strerror or error}"
    return None
