"""Dollars and days as text, the figure alone, for every room; advisor.answers.wording owns the
phrases around them.

One amount is written in several ways because the places differ in what they have room for and in
what the figure is worth; each way has its name here.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from bench_runner.typed_numbers import plain

WHOLE = {"CLP", "ISK", "JPY", "KRW", "PYG", "UGX", "VND"}
"""Currencies that have no hundredths in use (ISO 4217)."""


def usd_exact(amount: Decimal) -> str:
    """``$20,900`` or ``$4.50``: cents only where there are any."""
    whole = amount == amount.to_integral_value()
    return usd_whole(amount) if whole else usd_and_cents(amount)


def usd_whole(amount: Decimal | float) -> str:
    """``$20,900``, rounded."""
    return f"${amount:,.0f}"


def usd_and_cents(amount: Decimal) -> str:
    """``$343.56``, ``$20,900.00``."""
    return f"${amount:,.2f}"


def usd_as_quoted(amount: Decimal) -> str:
    """With the digits that the quote has: ``$900``, ``$900.00``."""
    return f"${amount:,}"


def usd_rounded(amount: Decimal | float) -> str:
    """For a person, three digits: ``$26,000``, ``$9,870``, ``$344``, ``$0.60``."""
    value = float(f"{float(amount):.3g}")
    return f"${value:,.2f}" if 0 < abs(value) < 10 else f"${value:,.0f}"


def usd_tick(amount: float, sign: str = "$") -> str:
    """A mark of an axis: ``$0.5``, ``$500``, ``$40K``, ``$2.5K``, ``$1M``; with another sign,
    ``€40K``."""
    for unit, letter in ((1e6, "M"), (1e3, "K")):
        if float(f"{amount:.3g}") >= unit:
            return f"{sign}{plain(amount / unit)}{letter}"
    return f"{sign}{amount:,.0f}" if amount >= 10 else f"{sign}{plain(amount, 2)}"


def days_exact(days: float) -> str:
    """As typed or published, six digits at most: ``30``, ``3.5``."""
    return plain(days, 6)


def days_short(days: float) -> str:
    """Three digits, but never a whole day rounded away: ``0.153``, ``36.3``, ``1992``."""
    return f"{days:.0f}" if days >= 100 else plain(days)


def days_rounded(days: float) -> str:
    """For a person, three digits: ``0.153``, ``36.3``, ``1,990``, never with an exponent. By way of
    the four that the store keeps, so that what was just computed and what is kept are told alike.
    """
    value = float(f"{float(f'{days:.4g}'):.3g}")
    return f"{value:,.0f}" if value >= 100 else plain(value)


def days_of_four_digits(days: float) -> str:
    """As measured: ``0.1532``, ``33.51``, ``1992``."""
    return plain(days, 4)


def minutes_words(minutes: float) -> str:
    """How long something takes that is estimated: ``6 min``, ``2.5 h``."""
    return f"{max(1, round(minutes))} min" if minutes < 120 else f"{plain(minutes / 60, 2)} h"


def counted(count: int, one: str) -> str:
    """``1 new row``, ``40 new rows``."""
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def are(count: int) -> str:
    """``is`` of one, ``are`` of more."""
    return "is" if count == 1 else "are"


def day_words(day: date) -> str:
    """As a letter has it: ``1 January 2027``."""
    return f"{day.day} {day:%B %Y}"


def age_words(day: date, today: date) -> str:
    """How old a price is: ``12 days``, ``5 months``, ``2.2 years``."""
    days = (today - day).days
    if days < 1:
        return "today"
    if days < 60:
        return f"{days} days"
    return f"{days // 30} months" if days < 730 else f"{days / 365:.1f} years"


def seconds_words(seconds: float) -> str:
    """As a sentence has them."""
    return f"{seconds:g} {'second' if seconds == 1 else 'seconds'}"
