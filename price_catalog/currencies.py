"""Currencies: how an amount is typed, by code or sign, and the shipped exchange rates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cache
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
    **dict.fromkeys(("₹", "rs", "rs.", "rupees", "rupee"), ("INR",)),
    "kr": ("SEK", "NOK", "DKK"),
}
_IN_SMALL = ("usd", "eur", "gbp", "chf", "cad", "inr")
"""Codes that are known however their letters are cased."""
_NAMES = "|".join(map(re.escape, sorted((*_SIGNS, *_IN_SMALL), key=len, reverse=True)))
_NAME = rf"(?:(?i:{_NAMES})|[A-Z]{{3}})"
_FIRST = rf"({_NAME})\s*(?![a-zA-Z])"
_LAST = rf"(?:(?<=[\d\s.,kKmM-])|^)({_NAME})$"
"""Patterns are text here: `re` compiles each when an amount first needs it."""
_TAX = r"(?:vat|gst|tax|taxes|mwst\.?|ust\.?|tva|iva|btw)"
_WITHOUT_TAX = (
    r"(?i)[\s,(]*(?:\b(?:ex|exc|excl|excluding|exclusive of|without|plus|before|zzgl|hors)\b\.?"
    rf"|\+)\s*{_TAX}\)?$|[\s,(]*\b(?:net|netto|ht)\)?$"
)
"""What may stand behind an amount: prices are without tax here."""
WITH_TAX = (
    rf"(?i)\b(?:inc|incl|including|inclusive of|with|inkl)\b\.?\s*{_TAX}\)?$"
    r"|\b(?:ttc|brutto|gross)\)?$"
)
_NO_PRICE = (
    r"(?i)tb[acd]|n/?a|poa|-+|\?+|ask|call.*|(?:up)?on request|price on (?:request|application)"
    r"|(?:on )?quot(?:e|ation)|auf anfrage|sur demande"
)
"""What sellers write where they name no price."""
_AS_IN_INDIA = (
    r"(?ai)(\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d{1,2})?|\d[\d,]*(?:\.\d+)?(?=\s*[a-z]))"
    r"\s*(?:(lakhs?|lacs?)|(crores?|cr))?(?:\s+of)?"
)
"""Commas between two digits, 1,20,000; lakh (100,000) and crore (10,000,000)."""


def without_currency(text: str, currency: str = "") -> tuple[str, tuple[str, ...]]:
    """The amount, and what its currency may be, the likeliest first, before it or behind it,
    without what says that tax is not in it; ``currency`` is what it is in where it does not say.
    Raises ValueError, which says what is wrong with either."""
    number = text.strip()
    if len(number) > _MOST_LETTERS or number.rstrip("kKmM").isdecimal():
        return number, ()
    if re.fullmatch(_NO_PRICE, number):
        raise ValueError("is no price yet: ask for it, and leave it out until then")
    if re.search(WITH_TAX, number):
        raise ValueError("is with tax: write the amount without it")
    number = re.sub(_WITHOUT_TAX, "", number)
    codes: tuple[str, ...] = ()
    if (first := re.match(_FIRST, number)) is not None:
        number, codes = number[first.end() :], _codes(first[1])
    if (last := re.search(_LAST, number)) is not None:
        behind = _codes(last[1])
        both = tuple(code for code in codes or behind if code in behind)
        if not both:
            raise ValueError(f"has two currencies: write it like 40k {codes[0]} or 40k {behind[0]}")
        number, codes = number[: last.start()].rstrip(), both
    if codes and (re.match(_FIRST, number) or re.search(_LAST, number)):
        raise ValueError(f"has its currency twice: write it like 40k {codes[0]}")
    if (indian := re.fullmatch(_AS_IN_INDIA, number)) is not None:
        times = 10**5 if indian[2] else 10**7 if indian[3] else 1
        plain = f"{(Decimal(indian[1].replace(',', '')) * times).normalize():f}"
        if "INR" not in (codes or (currency,)):
            raise ValueError(
                f"is counted as in India: write {plain}, or of rupees what they are in US dollars"
            )
        number = plain
    return number, codes


def _codes(name: str) -> tuple[str, ...]:
    return _SIGNS.get(name.lower(), (name.upper(),))


FAR = Decimal("1.25")
"""A rate this many times the shipped one, or its inverse, is a slip: none of the currencies moved
by so much in ten years."""
DEAREST = 5
"""US dollars: more than one unit of any currency is worth (the Kuwaiti dinar, 3.3)."""
RATES = Path(__file__).with_name("exchange_rates.csv")


class ExchangeRate(NamedTuple):
    """One currency."""

    code: str
    """As ISO 4217 has it."""
    usd_per_unit: Decimal
    on: date
    source: str
    read_in: str


@cache
def exchange_rates() -> dict[str, ExchangeRate]:
    """The rates that come with the program, by code."""
    from price_catalog.csv_table import RATE, read_records  # late: most type US dollars

    in_dollars = {"usd_per_unit": lambda row, column: row.needed(column, RATE)}
    rates = read_records(RATES, ExchangeRate, in_dollars)
    return {rate.code: rate for rate in rates}


def rate_problem(code: str, rate: Decimal, amount: Decimal | None = None) -> str | None:
    """Why this is not the US dollars of one unit of a currency, with the right ones, and what the
    amount makes by them; None where it may be."""
    known = exchange_rates().get(code)
    if known is None and rate > DEAREST:
        inverse = f"{Decimal(f'{1 / rate:.3g}'):f}"
        right = f"like {inverse} where one dollar is {code} {rate}"
        return f"one {code} is not worth ${rate}: write its US dollars, {right}"
    if known is None or 1 / FAR <= rate / known.usd_per_unit <= FAR:
        return None
    right = f"{known.usd_per_unit} (of {known.on})"
    why = f"is far from {right}"
    if 1 / FAR <= rate * known.usd_per_unit <= FAR:
        why = f"is the {code} of one US dollar"
    makes = "" if amount is None else f", which makes ${amount * known.usd_per_unit:,.0f}"
    return f"{rate} {why}: write the US dollars of one {code}, like {right}{makes}"
