"""All that is remembered: the inputs, how to undo a change, and the last questions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from functools import partial
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
MAX_STATE_BYTES = 512 * 1024
MAX_TEXT, MAX_ANSWER = 200, 400
MAX_RECENT = 10
CHOICES: dict[str, tuple[str, ...]] = {
    "rule": RANK_RULES,
    "prices": NAMED_PRICES,
    "evidence": EVIDENCE_RULES,
    "software": SOFTWARE,
}


class KeptQuestion(NamedTuple):
    """One question as it was typed, and what the answer was."""

    fields: dict[str, str]
    asked_on: str = ""
    """A day as YYYY-MM-DD."""
    answer: str = ""
    """The answer's sentence on that day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The inputs as they were typed, how the program looked, and what was asked last."""

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
    questions: tuple[KeptQuestion, ...] = ()
    """The newest first."""

    def question(self) -> dict[str, str]:
        """The question alone, as it was typed and chosen."""
        return {name: getattr(self, name) for name in QUESTION_FIELDS}

    def with_question(self, other: State) -> State:
        """The same look with another question."""
        changes: dict[str, Any] = other.question()
        return replace(self, **changes)

    def with_answered(self, day: date, answer: str) -> State:
        """The same with its question, answered on this day, as the newest of the last ones."""
        new = KeptQuestion(self.question(), day.isoformat(), answer[:MAX_ANSWER])
        if self.questions and self.questions[0].fields == new.fields:
            return self
        others = [each for each in self.questions if each.fields != new.fields]
        return replace(self, questions=(new, *others)[:MAX_RECENT])

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


QUESTION_FIELDS = tuple(
    each.name for each in fields(State) if each.name not in ("theme", "questions")
)


class Change(NamedTuple):
    """Something that was kept or deleted in the store."""

    words: str
    back: Callable[[Store], object]
    """Takes it back; in a thread, may raise StoreError."""
    again: Callable[[Store], object]


OwnPrices = tuple[frozenset["Host"], frozenset["Quote"]]
"""All machines and quotes of the user's own."""


def change_prices(store: Store, change: Callable[[Store], object], words: str) -> Change:
    """Change the user's own prices; how that is taken back. Raises StoreError."""
    before = _own_prices(store)
    change(store)
    after = _own_prices(store)
    return Change(words, partial(_restore, wanted=before), partial(_restore, wanted=after))


def _own_prices(store: Store) -> OwnPrices:
    with store.reading() as reader:
        hosts = frozenset(host for host in reader.hosts() if host.origin == "local")
        return hosts, frozenset(quote for quote in reader.quotes() if quote.origin == "local")


def _restore(store: Store, wanted: OwnPrices) -> None:
    """Make the user's own prices what they were, whatever they are now."""
    from advisor.costs.own_quotes import OWN

    hosts, quotes = wanted
    for host in _own_prices(store)[0] - hosts:
        store.remove("host", host.host_id)  # with its prices
    for quote in _own_prices(store)[1] - quotes:
        store.remove("quote", quote.quote_id)
    hosts_now, quotes_now = _own_prices(store)
    # What a quote corrects comes before it.
    missing = sorted(quotes - quotes_now, key=lambda quote: quote.corrects is not None)
    store.add([OWN], quote=missing, host=hosts - hosts_now)


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
        kept = _read_object(path)
    except ValueError as error:
        return State(), f"{path} was ignored ({error}): the defaults are shown and replace it"
    rows = kept.get("questions")
    asked = [_question(row) for row in rows] if isinstance(rows, list) else []
    questions = tuple(each for each in asked if each is not None)
    return State(**_usable(kept), questions=questions[:MAX_RECENT]), None


def _read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of this program's; {} where there is no file.

    Raises ValueError with the reason where it cannot be used.
    """
    try:
        if not is_plain_file(path):
            raise ValueError("it is no plain file")
        with path.open("rb") as file:
            raw = file.read(MAX_STATE_BYTES + 1)
        if len(raw) > MAX_STATE_BYTES:
            raise ValueError(f"it is larger than {MAX_STATE_BYTES:,} bytes")
        found = json_outside(raw)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(getattr(error, "strerror", None) or str(error)) from error
    if not isinstance(found, dict):
        raise ValueError("it is not a JSON object")
    return found


def _usable(kept: dict[str, Any]) -> dict[str, Any]:
    """The inputs and the theme that a State can hold; anything else keeps its default."""
    return {
        name: text
        for name, text in kept.items()
        if name in (*QUESTION_FIELDS, "theme")
        and _is_line(text, MAX_TEXT)
        and text in CHOICES.get(name, (text,))
    }


def _question(row: Any) -> KeptQuestion | None:
    if not isinstance(row, dict) or not isinstance(row.get("fields"), dict):
        return None
    day: Any = row.get("asked_on")
    answer: Any = row.get("answer")
    if not (_is_line(day, MAX_TEXT) and _is_line(answer, MAX_ANSWER)):
        return None
    return KeptQuestion(State(**_usable(row["fields"])).question(), day, answer)


def _is_line(text: Any, most: int) -> bool:
    return isinstance(text, str) and len(text) <= most and (text.isprintable() or not text)


def save_state(path: Path, state: State) -> str | None:
    """Write the state, whole or not at all; returns one line where that failed."""
    from advisor.files import private_folder, write_whole

    content = asdict(state) | {"questions": [each._asdict() for each in state.questions]}
    try:
        private_folder(path.parent)
        write_whole(path, json.dumps(content, indent=2) + "\n", overwrite=True, private=True)
    except OSError as error:
        return f"the settings were not kept in {path}: {error.strerror or error}"
    return None
