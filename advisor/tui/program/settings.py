"""What the terminal program keeps between runs: the last question, the theme, the first welcome."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields, replace
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
    for field in fields(State):
        value = kept.get(field.name)
        if type(value) is not type(field.default):
            continue
        if isinstance(value, str):
            if len(value) > MAX_TEXT or not value.isprintable():
                continue
            if field.name in choices and value not in choices[field.name]:
                continue
        found[field.name] = value
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
