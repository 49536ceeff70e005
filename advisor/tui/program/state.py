"""All that is remembered: the inputs, how to undo a change, and earlier questions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.costs.cost_terms import TERMS
from advisor.ranking.question import RANK_RULES, RankRule
from advisor.ranking.times import EVIDENCE_RULES, EvidenceRule
from advisor.ranking.typed_question import SOFTWARE, TypedQuestion
from advisor.typed_input import NAMED_PRICES, NamedPrices
from bench_runner.untrusted_text import is_plain_file, json_outside

if TYPE_CHECKING:
    from advisor.store import Store
    from price_catalog.model import Host, Quote

APP_NAME = "gpu-grant-advisor"
MAX_STATE_BYTES = 64 * 1024
MAX_TEXT = 200
CHOICES: dict[str, tuple[str, ...]] = {
    "rule": RANK_RULES,
    "prices": NAMED_PRICES,
    "evidence": EVIDENCE_RULES,
    "software": SOFTWARE,
}


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
    buy_in: str = ""
    """The country where the person buys, as ``US``; empty for any."""
    circuit: str = ""
    """The room's, as ``208V/30A``; empty for any."""
    network: str = ""
    """Between two machines for one model, as ``ethernet-25``; empty for one machine."""
    software: str = "ours"
    """Whose settings a machine is trained with."""
    electricity: str = ""
    pue: str = ""
    hosting: str = ""
    staff: str = ""
    utilisation: str = ""
    resale: str = ""
    financing: str = ""
    theme: str = "textual-dark"

    def question(self) -> dict[str, str]:
        """The question alone, as it was typed and chosen."""
        return {name: getattr(self, name) for name in QUESTION_FIELDS}

    def with_question(self, other: State) -> State:
        """The same look with another question."""
        changes: dict[str, Any] = other.question()
        return replace(self, **changes)

    def typed(self) -> TypedQuestion:
        """The question in the fields; where they are empty, no limit and all GPUs."""
        return TypedQuestion(
            budget=self.budget,
            model=self.model,
            max_days=self.max_days if self.max_days.strip() else None,
            terms={term.name: getattr(self, term.name) for term in TERMS},
            in_form=True,
            buy_in=self.buy_in.strip() or None,
            gpus=self.gpus if self.gpus.strip(" ,") else None,
            circuit=self.circuit if self.circuit.strip() else None,
            network=self.network.strip() or None,
            software=self.software,
            rule=self.rule,
            prices=self.prices,
            evidence=self.evidence,
        )


QUESTION_FIELDS = tuple(each.name for each in fields(State) if each.name != "theme")


class Change(NamedTuple):
    """Something that was kept or deleted in the store."""

    words: str
    back: Callable[[Store], object]
    """Takes it back; in a thread, may raise StoreError."""
    again: Callable[[Store], object]


class OwnPrices(NamedTuple):
    """All machines and quotes of the user's own."""

    hosts: frozenset[Host]
    quotes: frozenset[Quote]


def change_prices(store: Store, change: Callable[[Store], object], words: str) -> Change:
    """Change the user's own prices; how that is taken back. Raises StoreError."""
    before = _own_prices(store)
    change(store)
    after = _own_prices(store)
    return Change(words, partial(_restore, wanted=before), partial(_restore, wanted=after))


def _own_prices(store: Store) -> OwnPrices:
    with store.reading() as reader:
        return OwnPrices(
            frozenset(host for host in reader.hosts() if host.origin == "local"),
            frozenset(quote for quote in reader.quotes() if quote.origin == "local"),
        )


def _restore(store: Store, wanted: OwnPrices) -> None:
    """Make the user's own prices what they were, whatever they are now."""
    from advisor.costs.own_quotes import OWN

    for host in _own_prices(store).hosts - wanted.hosts:
        store.remove_machine(host.host_id)  # with its prices
    for quote in _own_prices(store).quotes - wanted.quotes:
        store.remove_quote(quote.quote_id)
    now = _own_prices(store)
    # What a quote corrects comes before it.
    quotes = sorted(wanted.quotes - now.quotes, key=lambda quote: quote.corrects is not None)
    store.add([OWN], quote=quotes, host=wanted.hosts - now.hosts)


MAX_UNDO = 200


class Inputs:
    """The inputs of this run as they change, and what can be undone."""

    def __init__(self, state: State) -> None:
        self.inputs = state
        self._undo: list[State | Change] = []
        self._redo: list[State | Change] = []
        self._edited = ""

    def change(self, **values: str) -> bool:
        """Put other values into fields; whether that changed any.

        Key presses in one field are undone together.
        """
        if all(getattr(self.inputs, name) == value for name, value in values.items()):
            return False
        edited = next(iter(values))
        if edited != self._edited:
            self.did(self.inputs)
            self._edited = edited
        changes: dict[str, Any] = dict(values)
        self.inputs = replace(self.inputs, **changes)
        return True

    def pause(self) -> None:
        """What comes next is a change of its own, also in the same field."""
        self._edited = ""

    def did(self, step: State | Change) -> None:
        """What was just kept, or the question before it became another, can be undone."""
        self.pause()
        self._undo = [*self._undo[-MAX_UNDO:], step]
        self._redo.clear()

    def undo(self) -> Change | bool:
        """Take back the last change; whether there was one, or what the store has to take back."""
        return self._step(self._undo, self._redo)

    def redo(self) -> Change | bool:
        """Do again what was taken back last."""
        return self._step(self._redo, self._undo)

    def _step(self, steps: list[State | Change], others: list[State | Change]) -> Change | bool:
        self.pause()
        while steps:
            step = steps.pop()
            if isinstance(step, Change):
                others.append(step)
                return step
            if step.question() != self.inputs.question():
                others.append(self.inputs)
                self.inputs = self.inputs.with_question(step)
                return True
        return False

    def restore_defaults(self) -> None:
        """Every field as it was shipped; can be undone."""
        self.did(self.inputs)
        self.inputs = self.inputs.with_question(State())


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
    found: dict[str, Any] = {}
    for each in fields(State):
        value = kept.get(each.name)
        fits = type(value) is type(each.default)
        if fits and isinstance(value, str):
            choices = CHOICES.get(each.name)
            fits = _is_line(value, MAX_TEXT) and (choices is None or value in choices)
        if fits:
            found[each.name] = value
    return found


def save_state(path: Path, state: State) -> str | None:
    """Write the state, whole or not at all; returns one line where that failed."""
    return _written(path, asdict(state), 2, "the settings were")


def _written(path: Path, content: dict[str, Any], indent: int, what: str) -> str | None:
    from advisor.files import private_folder, write_whole

    try:
        private_folder(path.parent)
        write_whole(path, json.dumps(content, indent=indent) + "\n", overwrite=True, private=True)
    except OSError as error:
        return f"{what} not kept in {path}: {error.strerror or error}"
    return None


MAX_BYTES = 512 * 1024
MAX_RECENT = 10


class KeptQuestion(NamedTuple):
    """One question as it was typed, and what the answer was."""

    fields: dict[str, str]
    asked_on: str
    """A day as YYYY-MM-DD."""
    answer: str = ""
    """The answer's sentence on that day."""


class Kept:
    """The last questions, of this run and of earlier ones: one small JSON file, read when first
    asked for and written where it changed. A damaged one is ignored with a word."""

    def __init__(self, path: Path | None, today: date, say: Callable[[str], None]) -> None:
        """``path`` is where the file is, None for nowhere; ``say`` shows one line of what is wrong
        with it."""
        self._path = path
        self._today = today.isoformat()
        self._say = say
        self._changed = False

    @property
    def has_file(self) -> bool:
        """Whether anything outlives this run."""
        return self._path is not None

    @cached_property
    def questions(self) -> list[KeptQuestion]:
        """The newest first."""
        found: dict[str, Any] = {}
        try:
            found = {} if self._path is None else read_object(self._path, MAX_BYTES)
        except ValueError as error:
            lost = "earlier questions are not shown"
            self._say(f"{self._path} was ignored ({error}): {lost}")
        rows = found.get("questions")
        read = [_question(row) for row in rows] if isinstance(rows, list) else []
        return [question for question in read if question is not None][:MAX_RECENT]

    def remember(self, asked: State, answer: str) -> None:
        """Put a question among the last ones; written when the program is left."""
        new = KeptQuestion(asked.question(), self._today, answer[:400])
        old = self.questions
        if not old or old[0].fields != new.fields:
            others = [question for question in old if question.fields != new.fields]
            old[:] = [new, *others][:MAX_RECENT]
            self._changed = True

    def write(self) -> None:
        """Write the file where anything changed."""
        if self._path is None or not self._changed:
            return
        self._changed = False
        content = {"questions": [each._asdict() for each in self.questions]}
        problem = _written(self._path, content, 1, "the questions were")
        if problem:
            self._path = None  # said once
            self._say(problem)


def _question(row: Any) -> KeptQuestion | None:
    if not isinstance(row, dict) or not isinstance(row.get("fields"), dict):
        return None
    # An older version knew fewer fields.
    texts = {name: row["fields"].get(name, getattr(State(), name)) for name in QUESTION_FIELDS}
    for name, text in texts.items():
        if not _is_line(text, MAX_TEXT) or (name in CHOICES and text not in CHOICES[name]):
            return None
    said = {name: row.get(name, "") for name in ("asked_on", "answer")}
    if not all(_is_line(text, 400) for text in said.values()):
        return None
    return KeptQuestion(fields={k: str(v) for k, v in texts.items()}, **said)


def _is_line(text: Any, most: int) -> bool:
    return isinstance(text, str) and len(text) <= most and (text.isprintable() or not text)
