"""From what a person typed to a question, field by field, with what is wrong (pure).

The command line and the terminal program both read it here, so that a text means the same on both.
They differ in two things only:

- While a person is still typing, the beginning of a model's name may stand for the first that it
  fits (``guess_model_by``). A command must name it exactly: a wrong model is a wrong answer.
- None is what was not asked. The terminal program hands over None for an empty field; an empty
  text, as a script's unset variable leaves one (``--gpus ""``), is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from advisor.costs.cost_terms import read_terms
from advisor.ranking.question import CandidatesKey, Question, RankRule, parse_rank_rule
from advisor.ranking.times import parse_evidence_rule
from advisor.typed_input import (
    InputError,
    Money,
    PriceRule,
    parse_choice,
    parse_max_days,
    parse_money,
    parse_price_rule,
    shown,
    size_named,
)
from bench_runner.typed_numbers import MOST_LETTERS
from price_catalog.csv_table import nearest
from price_catalog.gpu_names import LISTED_BY, index_gpus, normalise
from price_catalog.power import Supply

if TYPE_CHECKING:
    from advisor.ranking.fabric import Fabric
    from advisor.ranking.snapshot import Snapshot
    from advisor.ranking.times import Model

T = TypeVar("T")
_CIRCUIT = re.compile(r"\s*(\d{2,3})\s*V?\s*[/x×,; ]\s*(\d{1,3})\s*A?\s*", re.ASCII | re.IGNORECASE)


class TypedQuestion(NamedTuple):
    """The texts as typed; None where nothing was asked."""

    model: str
    budget: str | None = None
    max_days: str | None = None
    terms: Mapping[str, str | None] = MappingProxyType({})
    """What owning costs, by the names of `advisor.costs.cost_terms.TERMS`."""
    in_form: bool = False
    """Whether they were typed into a form, whose labels say that a share is in per cent."""
    buy_in: str | None = None
    """The country where one buys; None: any."""
    gpus: str | None = None
    circuit: str | None = None
    network: str | None = None
    """Between two machines of a kind, which are then candidates too; None: one machine."""
    software: str | None = None
    rule: str = "days"
    prices: str = "latest"
    evidence: str = "sound"


class RankRequest(NamedTuple):
    """What was typed, understood."""

    key: CandidatesKey
    question: Question


def read_question(
    typed: TypedQuestion,
    snapshot: Snapshot,
    *,
    guess_model_by: Mapping[str, int] | None = None,
) -> tuple[RankRequest | None, dict[str, str]]:
    """The question, or for each broken field one line that says what and how to mend it.

    ``guess_model_by`` is how many times each model has: where given, a part of a model's name
    stands for the first that `matching_models` finds; a size alone stands for none.
    """
    errors: dict[str, str] = {}

    def read(field: str, text: str | None, parse: Callable[[str], T], absent: T) -> T:
        try:
            return absent if text is None else parse(text)
        except InputError as error:
            errors[field] = str(error)
            return absent

    def model_id(text: str) -> str:
        # Of a size alone none is meant more than another.
        if guess_model_by is not None and text.strip() and size_named(text) is None:
            guesses = matching_models(text, snapshot, guess_model_by)
            if guesses:
                return guesses[0].recipe_id
        return snapshot.model(text).recipe_id

    def known_prices(text: str) -> PriceRule:
        prices = parse_price_rule(text)
        snapshot.check_day(prices)
        return prices

    # In this order they are reported.
    rule: RankRule = read("rule", typed.rule, parse_rank_rule, "days")
    none: tuple[Decimal | None, Money | None] = (None, None)
    budget_usd, budget_typed = read("budget", typed.budget, parse_money, none)
    recipe_id = read("model", typed.model, model_id, "")
    max_days = read("max_days", typed.max_days, parse_max_days, None)
    terms, wrong = read_terms(typed.terms, in_form=typed.in_form)
    errors |= wrong
    question = Question(
        rule=rule,
        budget_usd=budget_usd,
        budget_typed=budget_typed,
        max_days=max_days,
        terms=terms,
    )
    key = CandidatesKey(
        recipe_id=recipe_id,
        prices=read("prices", typed.prices, known_prices, "latest"),
        evidence=read("evidence", typed.evidence, parse_evidence_rule, "sound"),
        supply=read("circuit", typed.circuit, parse_circuit, None),
        network=read("network", typed.network, _network, None),
        software=read("software", typed.software, parse_software, "ours"),
        buy_in=read("buy_in", typed.buy_in, parse_country, None),
        gpu_ids=read("gpus", typed.gpus, lambda text: match_gpus(text, snapshot), None),
    )
    return (None, errors) if errors else (RankRequest(key, question), errors)


SOFTWARE = ("ours", "plain", "tuned")
"""Whose program trains: ours, a plain one of PyTorch, or one that somebody tuned for speed."""


def parse_software(text: str) -> str:
    """Raises InputError."""
    return parse_choice(text, SOFTWARE, "software", last=" or ")


def parse_country(text: str) -> str:
    """A country by its two letters. Raises InputError."""
    from price_catalog.vendors import find_country  # late: most ask for any country

    try:
        return find_country(text)
    except ValueError as error:
        raise InputError(f"the country {error}") from None


def _network(text: str) -> Fabric:
    from advisor.ranking.fabric import parse_fabric  # late: most ask for one machine

    return parse_fabric(text)


def matching_models(text: str, snapshot: Snapshot, measured: Mapping[str, int]) -> list[Model]:
    """Models whose id or name has every word of the text.

    The one of that very name first, then those with times, then those that start with the text.
    """
    text, plus, training = text.partition("+")
    if plus:
        try:
            found = matching_models(text, snapshot, measured)[:1]
            return [snapshot.model(f"{model.recipe_id}+{training}") for model in found]
        except InputError:
            return []
    wanted = text.strip().lower()
    words = wanted.split()

    def place(model: Model) -> tuple[bool, bool, bool] | None:
        names = (model.recipe_id.lower(), model.name.lower())
        if not all(any(_has(name, word) for name in names) for word in words):
            return None
        starts = any(name.startswith(wanted) for name in names)
        # False sorts before True.
        return (wanted not in names, model.recipe_id not in measured, not starts)

    placed = [
        (at, n) for n, model in enumerate(snapshot.models) if (at := place(model)) is not None
    ]
    return [snapshot.models[n] for _, n in sorted(placed)]


def _has(name: str, word: str) -> bool:
    """Whether a name has the word; a number as a whole: ``7b`` is none of ``1.7b``."""
    if not word[0].isdigit():
        return word in name
    return re.search(rf"(?<![\d.]){re.escape(word)}", name) is not None


def match_gpus(text: str, snapshot: Snapshot) -> frozenset[str]:
    """The ids of the GPUs that a filter lets through: names between commas or semicolons. Raises
    InputError.

    A full name or alias means that GPU; whole words of a name, such as ``RTX`` or ``3090``, mean
    every GPU that has them. A filter without a name is an error: None, and not an empty text, asks
    for all.
    """
    names = [name.strip() for name in re.split("[,;]", text) if name.strip()]
    if not names:
        raise InputError('no GPU is named: write them like --gpus "RTX 3090,H100"')
    index = index_gpus(snapshot.gpus)
    found: set[str] = set()
    for name in names:
        exact = index.get(normalise(name))
        if exact is not None:
            found.add(exact.gpu_id)
            continue
        wanted = set(name.lower().split())
        like = {gpu.gpu_id for gpu in snapshot.gpus if wanted <= set(gpu.name.lower().split())}
        if not like:
            known = [gpu.name for gpu in snapshot.gpus]
            near = nearest(name, known, LISTED_BY)
            raise InputError(f"no GPU is called {shown(name)}: {near}")
        found |= like
    return frozenset(found)


def parse_circuit(text: str) -> Supply:
    """A circuit from ``120V/15A``. Raises InputError."""
    # An endless text would be looked through once for each of its blanks, and again for each.
    match = _CIRCUIT.fullmatch(text) if len(text) <= MOST_LETTERS else None
    if match is None:
        raise InputError(f"the circuit {shown(text)} is not understood: write it like 120V/15A")
    supply = Supply(int(match[1]), int(match[2]))
    if not 90 <= supply.volts <= 480 or not 5 <= supply.breaker_a <= 400:
        raise InputError(
            f"a circuit of {supply.volts} V and {supply.breaker_a} A is not one: volts are 90 to "
            "480, amperes 5 to 400"
        )
    return supply
