"""From what stands in the fields to a question, field by field, with what is wrong (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from advisor.parse import (
    InputError,
    parse_budget,
    parse_lifetime_years,
    parse_max_days,
    shown,
)
from advisor.ranking.question import Question

if TYPE_CHECKING:
    from advisor.ranking.snapshot import Snapshot
    from advisor.ranking.times import Model


class Typed(Protocol):
    """What stands in the fields, as typed."""

    @property
    def budget(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def max_days(self) -> str: ...
    @property
    def lifetime(self) -> str: ...
    @property
    def gpus(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def prices(self) -> str: ...
    @property
    def evidence(self) -> str: ...


TEXT_FIELDS = ("budget", "model", "max_days", "lifetime", "gpus")


class CandidatesKey(NamedTuple):
    """What a set of candidates depends on; the question asked of it is apart."""

    recipe_id: str
    prices: str
    evidence: str
    gpu_ids: frozenset[str] | None


class RankRequest(NamedTuple):
    """The inputs, understood."""

    key: CandidatesKey
    question: Question


def read_inputs(
    typed: Typed, snapshot: Snapshot, measured: Mapping[str, int]
) -> tuple[RankRequest | None, dict[str, str]]:
    """The question, or for each broken field one line that says what and how to mend it."""
    errors: dict[str, str] = {}
    values: dict[str, object] = {}
    readers: dict[str, Callable[[], object]] = {
        "budget": lambda: parse_budget(typed.budget),
        "model": lambda: find_model(typed.model, snapshot, measured).recipe_id,
        "max_days": lambda: parse_max_days(typed.max_days) if typed.max_days.strip() else None,
        "lifetime": lambda: parse_lifetime_years(typed.lifetime),
        "gpus": lambda: match_gpus(typed.gpus, snapshot),
    }
    for name, read in readers.items():
        try:
            values[name] = read()
        except InputError as error:
            errors[name] = str(error)
    if errors:
        return None, errors
    key = CandidatesKey(values["model"], typed.prices, typed.evidence, values["gpus"])  # type: ignore[arg-type]
    question = Question(
        budget_usd=values["budget"],  # type: ignore[arg-type]
        max_days=values["max_days"],  # type: ignore[arg-type]
        rule=typed.rule,
        lifetime_years=values["lifetime"],  # type: ignore[arg-type]
    )
    return RankRequest(key=key, question=question), {}


def matching_models(text: str, snapshot: Snapshot, measured: Mapping[str, int]) -> list[Model]:
    """Models whose id or name has every word of the text.

    The one of that very name first, then those with times, then those that start with the text.
    """
    wanted = text.strip().lower()
    words = wanted.split()

    def place(model: Model) -> tuple[bool, bool, bool] | None:
        names = (model.recipe_id.lower(), model.name.lower())
        if not all(any(word in name for name in names) for word in words):
            return None
        starts = any(name.startswith(wanted) for name in names)
        # False sorts before True.
        return (wanted not in names, model.recipe_id not in measured, not starts)

    placed = [
        (at, n) for n, model in enumerate(snapshot.models) if (at := place(model)) is not None
    ]
    return [snapshot.models[n] for _, n in sorted(placed)]


def find_model(text: str, snapshot: Snapshot, measured: Mapping[str, int]) -> Model:
    """The model that the text names, or the first that it fits. Raises InputError."""
    if text.strip():
        found = matching_models(text, snapshot, measured)
        if found:
            return found[0]
    return snapshot.model(text)


def match_gpus(text: str, snapshot: Snapshot) -> frozenset[str] | None:
    """The GPUs that a comma-separated filter lets through; None lets all. Raises InputError.

    A full name or alias means that GPU; anything else means every GPU whose name has it.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        return None
    found: set[str] = set()
    for name in names:
        try:
            found |= snapshot.gpu_ids([name])
        except InputError:
            wanted = name.lower()
            like = {gpu.gpu_id for gpu in snapshot.gpus if wanted in gpu.name.lower()}
            if not like:
                from price_catalog.table import nearest  # only when something was misspelt

                known = [gpu.name for gpu in snapshot.gpus]
                raise InputError(
                    f"no GPU is called {shown(name)}: {nearest(name, known)}"
                ) from None
            found |= like
    return frozenset(found)
