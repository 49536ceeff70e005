"""Currencies: how an amount is typed, by code or sign, and the shipped exchange rates."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

_MOST_LETTERS = 60
"""Longer is no amount, and would be looked through once for each of its blanks."""
DOLLARS = ("USD", "CAD", "AUD", "NZD", "SGD", "HKD")
"""What a dollar sign alone may stand for, the likeliest first."""
_SIGNS: Mapping[str, tuple[str, ...]] = {
    "$": DOLLARS,
    "dollars": DOLLARS,
    **dict.fromkeys(("us$", "usd$"), ("USD",)),
    "us dollars": ("USD",),
    **dict.fromkeys(("c$", "c $", "ca$", "ca $", "can$", "cdn$", "cad$"), ("CAD",)),
    **dict.fromkeys(("$cad", "$ cad", "$ca", "$ ca"), ("CAD",)),
    **dict.fromkeys(("a$", "au$"), ("AUD",)),
    "nz$": ("NZD",),
    "s$": ("SGD",),
    "hk$": ("HKD",),
    **dict.fromkeys(("€", "euro", "euros"), ("EUR",)),
    **dict.fromkeys(("£", "pound", "pounds"), ("GBP",)),
    **dict.fromkeys(("fr.", "sfr.", "sfr"), ("CHF",)),
    "¥": ("JPY", "CNY"),
    "₩": ("KRW",),
    "₹": ("INR",),
    "kr": ("SEK", "NOK", "DKK"),
}
_IN_SMALL = ("usd", "eur", "gbp", "chf", "cad")
"""Codes that are known however their letters are cased."""
_NAMES = "|".join(map(re.escape, sorted((*_SIGNS, *_IN_SMALL), key=len, reverse=True)))
_NAME = rf"(?:(?i:{_NAMES})|[A-Z]{{3}})"
_FIRST = re.compile(rf"({_NAME})\s*(?![a-zA-Z])")
_LAST = re.compile(rf"(?:(?<=[\d\s.,kKmM-])|^)({_NAME})$")


class TypedMoney(NamedTuple):
    """An amount as it was typed, apart from its currency."""

    number: str
    codes: tuple[str, ...]
    """What its currency may be, the likeliest first; empty where it has none."""


def without_currency(text: str) -> TypedMoney:
    """The amount and its currency, before it or behind it. Raises ValueError, which says what is
    wrong with the currency."""
    number = text.strip()
    if len(number) > _MOST_LETTERS:
        return TypedMoney(number, ())
    codes: tuple[str, ...] = ()
    if (first := _FIRST.match(number)) is not None:
        number, codes = number[first.end() :], _codes(first[1])
    if (last := _LAST.search(number)) is not None:
        behind = _codes(last[1])
        both = tuple(code for code in codes or behind if code in behind)
        if not both:
            raise ValueError(f"has two currencies: write it like 40k {codes[0]} or 40k {behind[0]}")
        number, codes = number[: last.start()].rstrip(), both
    if codes and (_FIRST.match(number) or _LAST.search(number)):
        raise ValueError(f"has its currency twice: write it like 40k {codes[0]}")
    return TypedMoney(number, codes)


def _codes(name: str) -> tuple[str, ...]:
    return _SIGNS.get(name.lower(), (name.upper(),))


RATES = Path(__file__).with_name("exchange_rates.csv")


class ExchangeRate(NamedTuple):
    """One currency."""

    code: str
    """As ISO 4217 has it."""
    usd_per_unit: Decimal
    on: date
    source: str


def exchange_rates() -> dict[str, ExchangeRate]:
    """The rates that come with the program, by code."""
    with RATES.open(encoding="utf-8", newline="") as file:
        return {
            row["currency"]: ExchangeRate(
                code=row["currency"],
                usd_per_unit=Decimal(row["usd_per_unit"]),
                on=date.fromisoformat(row["on"]),
                source=row["source"],
            )
            for row in csv.DictReader(file)
        }
