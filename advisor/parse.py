"""Reads what people type: money, days, dates. Understood or refused, never misread."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from typing import Literal, TypeVar, get_args

NamedPrices = Literal["paper", "latest"]
NAMED_PRICES: tuple[NamedPrices, ...] = get_args(NamedPrices)
PriceRule = NamedPrices | date
"""Which prices count: the paper's, the latest, or those known on a day."""
T = TypeVar("T", bound=str)

MAX_BUDGET_USD = Decimal(1_000_000_000)

_MONEY = re.compile(
    r"""\$?\s*
    (?P<number> \d{1,3}(?:,\d{3})+(?:\.\d{1,2})?   # 40,000 or 40,000.50
              | \d+(?:\.\d+)? )                     # 40000 or 40.5
    \s*(?P<suffix>[km]?)$""",
    re.VERBOSE | re.IGNORECASE,
)
_SUFFIX = {"": 1, "k": 1_000, "m": 1_000_000}
_BUDGET_HINT = "write a plain amount in US dollars, such as 40000, 40k or $40,000"


class InputError(ValueError):
    """What a person typed cannot be used; the message is one line with how to mend it."""


def shown(text: str, limit: int = 40) -> str:
    """``text`` quoted for an error message: one line, printable, not endless."""
    clean = "".join(ch if ch.isprintable() else "?" for ch in text)
    return f"'{clean[: limit - 1]}…'" if len(clean) > limit else f"'{clean}'"


def parse_choice(text: str, choices: tuple[T, ...], what: str, last: str = " or ") -> T:
    """The one of a few words that the text is; ``last`` joins the last two. Raises InputError."""
    for choice in choices:
        if text == choice:
            return choice
    listed = last.join(filter(None, (", ".join(choices[:-1]), choices[-1])))
    raise InputError(f"{what} {shown(text)} is not known: write {listed}")


def parse_budget(text: str, what: str = "budget") -> Decimal:
    """US dollars, exact to the cent. Raises InputError.

    ``40.000`` is refused: it is forty thousand to one reader and forty to another.
    """
    stripped = text.strip()
    if not stripped:
        raise InputError(f"the {what} is empty: {_BUDGET_HINT}")
    if re.match(r"^[-−]", stripped.lstrip("$ ")):
        raise InputError(f"the {what} {shown(stripped)} is negative: {_BUDGET_HINT}")
    if re.search(r"[€£¥]|eur|gbp|chf", stripped, re.IGNORECASE):
        raise InputError(
            f"the {what} {shown(stripped)} is not in US dollars, and no exchange rate is known: "
            "convert it first, then write it like 40000"
        )
    match = _MONEY.match(stripped) if stripped.isascii() else None
    if match is None:
        raise InputError(f"the {what} {shown(stripped)} is not an amount: {_BUDGET_HINT}")
    number, suffix = match["number"], match["suffix"].lower()
    fraction = number.partition(".")[2]
    if not suffix and len(fraction) == 3 and not number.startswith("0."):
        whole = number.partition(".")[0]
        raise InputError(
            f"the {what} {shown(stripped)} could mean {whole} or {whole},{fraction} dollars: "
            "write it without the dot"
        )
    amount = Decimal(number.replace(",", "")) * _SUFFIX[suffix]
    if amount == 0:
        raise InputError(f"the {what} is zero: {_BUDGET_HINT}")
    if amount > MAX_BUDGET_USD:
        raise InputError(
            f"the {what} {shown(stripped)} is over ${MAX_BUDGET_USD:,}: {_BUDGET_HINT}"
        )
    if amount != amount.quantize(Decimal("0.01")):
        raise InputError(f"the {what} {shown(stripped)} has parts of a cent: {_BUDGET_HINT}")
    return amount


def parse_positive(text: str, what: str, unit: str, limit: float) -> float:
    """A positive, finite number of at most ``limit``. Raises InputError."""
    stripped = text.strip()
    if not re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", stripped, re.ASCII):
        raise InputError(
            f"the {what} {shown(stripped)} is not a number of {unit}: write one such as 30"
        )
    number = float(stripped)
    if number == 0 or number > limit:
        raise InputError(
            f"the {what} {shown(stripped)} is out of range: "
            f"write a number of {unit} above 0 and at most {limit:g}"
        )
    return number


def parse_max_days(text: str) -> float:
    """A time limit in days; at most a century."""
    return parse_positive(text, "time limit", "days", 36_500)


def parse_lifetime_years(text: str) -> float:
    """How long the machine is expected to serve, in years."""
    return parse_positive(text, "lifetime", "years", 50)


def parse_price_rule(text: str) -> PriceRule:
    """``paper``, ``latest``, or a day: prices as known on that day. Raises InputError."""
    for named in NAMED_PRICES:
        if text == named:
            return named
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"the prices {shown(text)} are not known: "
            "write paper, latest, or a day such as 2026-11-01"
        ) from None
