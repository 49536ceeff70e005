"""Reads what people type: money, days, dates. Understood or refused, never misread."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal, NamedTuple, TypeVar, get_args

from bench_runner.typed_numbers import (
    SUFFIXES,
    mistyped,
    plain_money,
    read_measure,
    read_number,
    read_positive,
    read_whole,
)
from bench_runner.untrusted_text import printable
from price_catalog.currencies import ExchangeRate, exchange_rates, without_currency

NamedPrices = Literal["paper", "latest"]
NAMED_PRICES: tuple[NamedPrices, ...] = get_args(NamedPrices)
PriceRule = NamedPrices | date
"""Which prices count: the paper's, the latest, or those known on a day."""
T = TypeVar("T", bound=str)

MAX_BUDGET_USD = Decimal(1_000_000_000)

_BUDGET_HINT = "write a plain amount in US dollars, such as 40000, 40k or $40,000"


class InputError(ValueError):
    """What a person typed cannot be used; the message is one line with how to mend it."""


def install_words(extra: str) -> str:
    """How the packages of an extra are installed: no registry has this program, the clone does."""
    python = sys.executable or "python3"
    python = f'"{python}"' if " " in python else python
    return f'in the folder that you cloned: {python} -m pip install -c constraints.txt ".[{extra}]"'


def shown(text: str, limit: int = 40) -> str:
    """``text`` quoted for an error message: one line, printable, not endless."""
    clean = printable(text)
    return f"'{clean[: limit - 1]}…'" if len(clean) > limit else f"'{clean}'"


_SIZE = re.compile(r"(\d{1,4}(?:\.\d{1,3})?)\s*([mb])", re.IGNORECASE)


def size_named(name: str) -> str | None:
    """``7B`` where a model's name is a number of parameters and nothing else."""
    found = _SIZE.fullmatch(name.strip())
    return None if found is None else f"{found[1]}{found[2].upper()}"


_SIZE_IN = re.compile(r"(?<![\w.])" + _SIZE.pattern + r"(?![a-z0-9])", re.IGNORECASE)


def size_within(name: str) -> str | None:
    """``7B`` of ``llama-7b``: the first number of parameters that a model's name says."""
    found = _SIZE_IN.search(name[:80])
    return None if found is None else f"{found[1]}{found[2].upper()}"


MODELS_LISTED_BY = "advisor data models"


def no_such_model(name: str, known: Collection[str]) -> str:
    """That a model is not known, with the nearest name, or with how one of the user's own is kept
    under a name first."""
    from price_catalog.csv_table import nearest

    keep = "advisor predict --model {} --tokens 300B --keep {}"
    size, hint = size_within(name), nearest(name, known, MODELS_LISTED_BY)
    command = keep.format(f"decoder --parameters {size}", f"my-{size}".lower()) if size else ""
    if size_named(name) is not None:
        return f"{shown(name)} is a size and no model: keep a decoder of it first, {command}"
    if hint.startswith("did you mean"):
        of_size = f" A plain decoder of its size: {command}" if command else ""
        return f"no model is called {shown(name)}: {hint}{of_size}"
    own = keep.format("config.json", "my-model")
    return f"no model is called {shown(name)}; {hint}; keep yours first: {own}"


def parse_choice(text: str, choices: tuple[T, ...], what: str, last: str = " or ") -> T:
    """The one of a few words that the text is, however its letters are cased; ``last`` joins the
    last two. Raises InputError."""
    word = text.strip().casefold()
    for choice in choices:
        if word == choice.casefold():
            return choice
    listed = last.join(filter(None, (", ".join(choices[:-1]), choices[-1])))
    raise InputError(f"{what} {shown(text)} is not known: write {listed}")


_MINUS = ("-", "\u2212", "\u2013")


def _refused(
    what: str,
    text: str,
    otherwise: str,
    hint: str,
    number: str = "",
    unit: str = "",
    currency: str = "",
) -> InputError:
    """What is wrong with a number that was typed: of how it is written, else ``otherwise``, which
    ``hint`` mends. ``number`` is the text without its currency."""
    stripped = text.strip()
    if not stripped:
        return InputError(f"{what} is empty: {hint}")
    if stripped.lstrip("$ ").startswith(_MINUS):
        return InputError(f"{what} {shown(stripped)} is negative: {hint}")
    why = mistyped(number or stripped, unit, currency)
    return InputError(f"{what} {shown(stripped)} {why or f'{otherwise}: {hint}'}")


def _typed_money(text: str, what: str) -> tuple[str, tuple[str, ...]]:
    """An amount apart from its currency. Raises InputError."""
    try:
        number, codes = without_currency(text)
    except ValueError as error:
        raise InputError(f"{what} {shown(text.strip())} {error}") from None
    if not number and {"USD", *exchange_rates()} & {*codes}:
        raise InputError(
            f"{what} {shown(text.strip())} has no amount: write it like 40k {codes[0]}"
        )
    return number, codes


def parse_budget(
    text: str,
    what: str = "budget",
    hint: str = _BUDGET_HINT,
    most: Decimal = MAX_BUDGET_USD,
    currency: str = "",
) -> Decimal:
    """US dollars, or an amount in ``currency``, exact to the cent; ``hint`` is how to write it.
    Raises InputError.

    ``40.000`` is refused: it is forty thousand to one reader and forty to another.
    """
    stripped = text.strip()
    bare, codes = _typed_money(stripped, f"the {what}")
    if codes and "USD" not in codes:
        raise InputError(
            f"the {what} {shown(stripped)} is not in US dollars: convert it first, then write it "
            "like 40000"
        )
    alone = plain_money(bare)
    number = read_number(alone)
    if number is None or number.could_be_thousands or number.unit not in SUFFIXES:
        raise _refused(f"the {what}", stripped, "is not an amount", hint, alone, currency=currency)
    amount = number.value * SUFFIXES[number.unit]
    if amount == 0:
        raise InputError(f"the {what} is zero: {hint}")
    if amount > most:
        raise InputError(f"the {what} {shown(stripped)} is over ${most:,}: {hint}")
    if amount != round(amount, 2):
        again = f" {currency}" if currency else ""
        whole = f"write {amount.quantize(Decimal('0.01'), ROUND_HALF_UP):f}{again}"
        raise InputError(f"the {what} {shown(stripped)} has parts of a cent: {whole}")
    # 4e4 and 40000 are written alike.
    return amount if amount.as_tuple().exponent in (0, -1, -2) else round(amount, 2).normalize() + 0


class Money(NamedTuple):
    """An amount as it was typed, where that was in another currency than US dollars."""

    amount: Decimal
    rate: ExchangeRate


def parse_money(text: str, what: str = "budget") -> tuple[Decimal, Money | None]:
    """US dollars; and, where it was typed in a currency whose rate ships, that amount. Raises
    InputError."""
    bare, codes = _typed_money(text, f"the {what}")
    if not codes or "USD" in codes:
        hint = "write a plain amount, such as 40000, 40k, $40,000 or 40k EUR"
        return parse_budget(text, what, hint), None
    rates = exchange_rates()
    rate = rates.get(codes[0]) if len(codes) == 1 else None
    if rate is None:
        if bare:
            parse_budget(bare, what, most=MAX_BUDGET_USD * 1_000)  # a slip comes before the rate
        *some, last = sorted(rates)
        raise InputError(
            f"the {what} {shown(text.strip())} is in {' or '.join(codes)}, whose rate does not "
            f"ship: write it in USD, {', '.join(some)} or {last}, like 40k USD (a grant of "
            f"advisor plan takes {codes[0]}, with its rate)"
        )
    hint = f"write a plain amount, such as 40000 {rate.code} or 40k {rate.code}"
    amount = parse_budget(bare, what, hint, currency=rate.code)
    usd = (amount * rate.usd_per_unit).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return usd, Money(amount, rate)


def parse_positive(text: str, what: str, unit: str, limit: float) -> float:
    """A positive, finite number of at most ``limit`` of a ``unit`` in the plural.

    A number of days, years, minutes or seconds may be written as any duration (``8w``,
    ``2 months``), one of GiB with its unit (``128GB``). Raises InputError.
    """
    stripped = text.strip()
    found = read_measure(stripped, unit, most=limit)
    if found is None:
        such_as = f"write one such as {_SUCH_AS.get(unit, '30')}"
        raise _refused(f"the {what}", stripped, f"is not a number of {unit}", such_as, unit=unit)
    # Compared before it is converted: 1e999 is no float.
    value = float(found) if found <= limit else 0.0
    if value <= 0:
        raise InputError(
            f"the {what} {shown(stripped)} is out of range: "
            f"write a number of {unit} above 0 and at most {_whole(limit)}"
        )
    return value


def _whole(limit: float) -> str:
    return f"{limit:,.0f}" if limit >= 1e6 else f"{limit:g}"


_SUCH_AS = {
    "days": "30, 8w or 2 months",
    "years": "5, 5y or 18 months",
    "minutes": "90, 90 min or 2h",
    "seconds": "90, 2 min or 1h",
    "GiB": "64 or 128GiB",
    "epochs": "3",
}


def parse_count(text: str, what: str, such_as: str, units: tuple[str, ...] = ()) -> float:
    """How many, as ``300B``, ``3e11``, ``.3T`` or ``300_000_000_000``; above 0. Raises
    InputError."""
    amount = read_positive(text, units=units)
    if amount is None and text.strip().casefold().endswith(("epoch", "epochs")):
        raise InputError(
            f"{what} {shown(text)} is in epochs: write what is seen in all, which is the data set "
            "times the epochs"
        )
    if amount is None:
        raise _refused(what, text, "is not an amount", f"write one such as {such_as}")
    return amount


def parse_whole(text: str, what: str, units: tuple[str, ...] = ()) -> int:
    """A whole number of 1 or more, with or without one of the words in ``units`` behind it. Raises
    InputError."""
    value = read_whole(text, units=units)
    if value is None:
        raise _refused(what, text, "is not a whole number above 0", "write one such as 8")
    return value


_SAMPLES = ("samples", "sample", "sequences", "images")


def parse_samples(text: str, what: str) -> int:
    """How many samples; a batch in tokens, as some write it, is told how to say it. Raises
    InputError."""
    if text.strip().casefold().endswith("tokens"):
        raise InputError(
            f"{what} {shown(text)} is in tokens: write samples, which is the tokens over those of "
            "one sample"
        )
    return parse_whole(text, what, _SAMPLES)


_NO_MONEY = ("number", "percentage", "ratio", "share")


def parse_decimal(text: str, what: str, unit: str, words: tuple[str, ...] = ()) -> Decimal:
    """A number of 0 or more, exact, such as a rate or a price per kWh; a dollar sign before it and
    one of ``words`` behind it are passed over. ``unit`` says what it is, with an example. Raises
    InputError."""
    stripped = text.strip()
    ending = next((word for word in words if stripped.lower().endswith(word)), "")
    bare, codes = stripped[: len(stripped) - len(ending)].rstrip(), tuple[str, ...]()
    if not unit.startswith(_NO_MONEY):
        bare, codes = _typed_money(bare, what)
    if bare.startswith("$") or (codes and "USD" not in codes):
        money = f"in {' or '.join(codes)}" if codes else "money"
        raise InputError(f"{what} {shown(stripped)} is {money}, and no {unit}")
    number = read_number(bare)
    amount = Decimal("NaN")
    if number is not None and not (number.could_be_thousands and number.value >= 10):
        amount = number.value * SUFFIXES.get(number.unit, Decimal("NaN"))
    if not amount.is_finite() or amount >= 10**9 or amount != round(amount, 9):
        such_as, _, example = unit.partition(", such as ")
        hint = f"write one such as {example}" if example else "write a number"
        raise _refused(what, stripped, f"is not a {such_as}", hint, bare)
    return amount


def parse_share(text: str, what: str) -> Decimal:
    """A part of a whole: ``0.8``, ``80%`` and ``80 %`` are one. Raises InputError."""
    such_as = "share, such as 0.8 or 80%"
    if text.rstrip().endswith("%"):
        share = parse_decimal(text.rstrip()[:-1], what, such_as) / 100
    else:
        share = parse_decimal(text, what, such_as)
    if share > 1:
        raise InputError(f"{what} {shown(text.strip())} is more than the whole: write a {such_as}")
    return share


def parse_max_days(text: str) -> float:
    """A time limit in days; at most a century."""
    return parse_positive(text, "time limit", "days", 36_500)


def parse_lifetime_years(text: str) -> float:
    """How long the machine is expected to serve, in years."""
    return parse_positive(text, "lifetime", "years", 50)


def parse_date(text: str) -> date:
    """A day as ISO 8601 writes it. Raises InputError."""
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{shown(text)} is not a date: write it like 2026-11-01") from None


def parse_price_rule(text: str) -> PriceRule:
    """``paper``, ``latest``, or a day: prices as known on that day, none to come. Raises
    InputError."""
    word = text.strip().casefold()
    for named in NAMED_PRICES:
        if word == named:
            return named
    try:
        day = parse_date(word)
    except InputError:
        raise InputError(
            f"the prices {shown(text)} are not known: "
            "write paper, latest, or a day such as 2026-11-01"
        ) from None
    if day > date.today():
        raise InputError(
            f"the prices of {day} are not known yet: write latest, or a day up to {date.today()}"
        )
    return day
