"""What is kept between runs: the inputs, earlier questions, the last plan and result."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args

from advisor.parse import NAMED_PRICES, NamedPrices
from advisor.ranking.question import RANK_RULES, RankRule
from advisor.ranking.times import EVIDENCE_RULES, EvidenceRule
from advisor.ranking.typed_question import TypedQuestion
from bench_runner.outside import is_plain_file, json_outside

APP_NAME = "gpu-grant-advisor"
MAX_STATE_BYTES = 64 * 1024
MAX_TEXT = 200
CostBasis = Literal["overall", "experiment"]
COST_BASES: tuple[CostBasis, ...] = get_args(CostBasis)
QUESTION_FIELDS = (
    *("budget", "model", "max_days", "lifetime", "gpus", "circuit", "network"),
    *("rule", "prices", "evidence", "cost_basis"),
)
TEXT_FIELDS = ("budget", "model", "max_days", "lifetime", "gpus")
"""What of the question is typed; the rest is chosen."""
TERM_NAMES = ("electricity", "pue", "hosting", "staff", "utilisation", "resale", "financing")
"""What a machine costs to run, as typed: the person's own, whatever the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The inputs as they were typed, and how the program looked."""

    budget: str = "40000"
    model: str = "pythia-1b"
    max_days: str = ""
    lifetime: str = "5"
    gpus: str = ""
    rule: RankRule = "days"
    prices: NamedPrices = "latest"
    evidence: EvidenceRule = "sound"
    cost_basis: CostBasis = "overall"
    """Which cost the table and the picture show: of the machine, or of one experiment on it."""
    circuit: str = ""
    """The room's, as ``208V/30A``; empty for any."""
    network: str = ""
    """Between two machines for one model, as ``ethernet-25``; empty for one machine."""
    electricity: str = ""
    pue: str = ""
    hosting: str = ""
    staff: str = ""
    utilisation: str = ""
    resale: str = ""
    financing: str = ""
    selected: str = ""
    """The build that the person chose."""
    descending: bool = False
    """Whether the table shows the ranking from its end."""
    looked_by: str = ""
    """The column in whose order the table is, where no rule ranks by it."""
    sorts: str = ""
    """How the other lists are sorted, as ``quotes:price:down times:days:up``."""
    theme: str = "textual-dark"
    welcomed: bool = False
    """Whether the welcome page has been seen."""

    def sort_of(self, name: str) -> tuple[str | None, bool]:
        """The column by which a list is sorted, and whether downwards."""
        for kept in self.sorts.split():
            which, _, rest = kept.partition(":")
            if which == name:
                column, _, way = rest.partition(":")
                return column or None, way == "down"
        return None, False

    def with_sort(self, name: str, column: str | None, *, descending: bool) -> State:
        """The same with one list sorted another way."""
        others = [kept for kept in self.sorts.split() if kept.partition(":")[0] != name]
        if column is not None:
            others.append(f"{name}:{column}:{'down' if descending else 'up'}")
        return replace(self, sorts=" ".join(others))

    def question(self) -> dict[str, str]:
        """The question alone, as it was typed and chosen."""
        return {name: getattr(self, name) for name in QUESTION_FIELDS}

    def typed(self) -> TypedQuestion:
        """The question in the fields; where they are empty, no limit and all GPUs."""
        return TypedQuestion(
            budget=self.budget,
            model=self.model,
            max_days=self.max_days if self.max_days.strip() else None,
            lifetime=self.lifetime,
            gpus=self.gpus if self.gpus.strip(" ,") else None,
            circuit=self.circuit if self.circuit.strip() else None,
            network=self.network.strip() or None,
            rule=self.rule,
            prices=self.prices,
            evidence=self.evidence,
        )


def state_file() -> Path:
    """Where the state is kept, unless $ADVISOR_STATE names another file."""
    named = os.environ.get("ADVISOR_STATE")
    if named:
        return Path(named)
    from platformdirs import user_state_dir  # late: not needed where the path is given

    return Path(user_state_dir(APP_NAME)) / "state.json"


def load_state(path: Path) -> tuple[State, str | None]:
    """The state of the last run, and one line to show where it could not be used."""
    try:
        kept = read_object(path, MAX_STATE_BYTES)
    except ValueError as error:
        return State(), f"{path} was ignored ({error}): the defaults are shown and replace it"
    return State(**_usable(kept)), None


def read_object(path: Path, most_bytes: int) -> dict[str, Any]:
    """The JSON object in a file of this program's; {} where there is no file.

    Raises ValueError with the reason where it cannot be used.
    """
    try:
        if not is_plain_file(path):
            raise ValueError("it is no plain file")
        with path.open("rb") as file:
            raw = file.read(most_bytes + 1)
        if len(raw) > most_bytes:
            raise ValueError(f"it is larger than {most_bytes:,} bytes")
        found = json_outside(raw)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(getattr(error, "strerror", None) or str(error)) from error
    if not isinstance(found, dict):
        raise ValueError("it is not a JSON object")
    return found


def _usable(kept: dict[str, Any]) -> dict[str, Any]:
    """The entries that a State can hold; anything else keeps its default."""
    choices: dict[str, tuple[str, ...]] = {
        "rule": RANK_RULES,
        "prices": NAMED_PRICES,
        "evidence": EVIDENCE_RULES,
        "cost_basis": COST_BASES,
    }
    found: dict[str, Any] = {}
    for each in fields(State):
        value = kept.get(each.name)
        if type(value) is not type(each.default):
            continue
        if isinstance(value, str):
            if len(value) > MAX_TEXT or not value.isprintable():
                continue
            if each.name in choices and value not in choices[each.name]:
                continue
        found[each.name] = value
    return found


def save_state(path: Path, state: State) -> str | None:
    """Write the state, whole or not at all; returns one line where that failed."""
    from advisor.files import write_whole

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(asdict(state), indent=2) + "\n", overwrite=True)
    except OSError as error:
        return f"the settings were not kept in {path}: {error.strerror or error}"
    return None


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


class KeptThings:
    """Questions, plans and results of this run and of earlier ones."""

    def __init__(self, path: Path | None, today: date, say: Callable[[str], None]) -> None:
        """``path`` is where the file is, None for nowhere; ``say`` shows one line of what is wrong
        with it."""
        self._path = path
        self._today = today
        self._say = say
        self._kept: Kept | None = None
        self._changed = False

    @property
    def has_file(self) -> bool:
        """Whether anything outlives this run."""
        return self._path is not None

    def _things(self) -> Kept:
        if self._kept is None:
            self._kept, note = (Kept(), None) if self._path is None else load_kept(self._path)
            if note:
                self._say(note)
        return self._kept

    @property
    def questions(self) -> Sequence[KeptQuestion]:
        """The newest first."""
        return self._things().questions

    def remember(self, asked: State, answer: str) -> None:
        """Put a question among the last ones; written when the program is left."""
        changed = self._things().remember(asked, answer, self._today)
        self._changed = changed or self._changed

    def name_it(self, asked: State, answer: str, name: str) -> None:
        """Keep a question under a name."""
        self._things().name_it(asked, answer, self._today, name)
        self._write_change()

    def forget(self, question: KeptQuestion) -> None:
        """Drop one of those that were kept."""
        self._things().forget(question)
        self._write_change()

    def note(self, screen: str) -> KeptNote | None:
        """What a screen last showed, in this run or one before."""
        return self._things().notes.get(screen)

    def keep_note(
        self,
        screen: str,
        title: str,
        text: str,
        layouts: dict[int, str] | None = None,
        **asked: str,
    ) -> None:
        """Keep what a screen shows, such as a plan, for when it is opened again; ``layouts`` are
        the same text for other widths."""
        made_on = self._today.isoformat()
        self._things().note(
            screen,
            KeptNote(title=title, made_on=made_on, text=text, asked=asked, layouts=layouts or {}),
        )
        self._write_change()

    def _write_change(self) -> None:
        self._changed = True
        self.write()

    def write(self) -> None:
        """Write the file where anything changed."""
        if self._path is not None and self._changed and self._kept is not None:
            self._changed = False
            problem = save_kept(self._path, self._kept)
            if problem:
                self._path = None  # said once
                self._say(problem)
