"""Sentences in which every number says which solve, or which row, it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from advisor.costs.amount_words import WHOLE, usd_exact
from advisor.planning.sensitivity.changes import Change

Value = int | float | Decimal
Money = Callable[[Decimal], str]
"""How an amount in the grant's currency is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A number that was found by solving again with something changed."""

    value: Value
    unit: str
    """``money``, ``money-per-hour``, ``days``, ``runs``, ``machines``, ``share``."""
    change: Change
    reads: str
    """``cost``: what the changed plan costs; ``at-least``: a lower bound on its cost;
    ``over-budget``: that less the budget; ``saves``:
    what it costs less than this plan; ``left-out``, ``machines``: runs it leaves out, machines it
    buys; ``more-runs``, ``sooner``: against this plan; ``threshold``: where the decision changes
    (``change`` holds the value); ``least``: the least change with which there is a plan;
    ``enough``: one with which there is;
    ``bought``: machines of one kind that it buys in one year; ``direct``: straight from the row
    that ``change`` names."""


def money(cents: int, change: Change, reads: str) -> Solved:
    """An amount that was found so, from whole cents."""
    return Solved(value=Decimal(cents) / 100, unit="money", change=change, reads=reads)


Words = tuple[str | Solved, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing worth saying about a plan."""

    words: Words
    weight: float = 0.0
    """Smaller comes first."""

    @property
    def change(self) -> Change | None:
        """With which its first number was found; None where it has none."""
        return next((word.change for word in self.words if isinstance(word, Solved)), None)

    def text(self, written: Money = usd_exact) -> str:
        """As a person reads it, its amounts as ``written`` has them."""
        return "".join(w if isinstance(w, str) else _words(w, written) for w in self.words)


def _words(number: Solved, written: Money) -> str:
    money, _, each = number.unit.partition("-per-")
    if money != "money":
        return number_words(number.value, number.unit)
    amount = Decimal(str(number.value))
    if not each:
        return written(amount)
    sign = written(Decimal(0)).removesuffix("0")
    return f"{sign}{_rate(amount)} {'an hour' if each == 'hour' else 'a kWh'}"


def number_words(value: Value, unit: str) -> str:
    """A number with its unit, as a person reads it."""
    number = Decimal(str(value))
    if unit == "usd":
        return usd_exact(number)
    if unit == "usd-per-hour":
        return f"${_rate(number)} an hour"
    if unit == "usd-per-kwh":
        return f"${_rate(number)} a kWh"
    if unit == "share":
        return f"{plainly(number * 100, 4)} %"
    if unit == "days":
        return f"{plainly(number, 5)} days" if number != 1 else "1 day"
    if unit in ("runs", "machines"):
        return f"{number:f} {unit[:-1] if number == 1 else unit}"
    if unit in ("kwh", "hours"):
        return f"{number:,.0f} {'kWh' if unit == 'kwh' else unit}"
    if unit == "kg":
        return f"{number:,.0f} kg" if number >= 10 else f"{plainly(number, 3)} kg"
    if unit == "gpu-hours":
        return f"{number:,.0f} GPU-hours"
    if unit in ("parameters", "tokens", "images", "steps"):
        return f"{_millions(number)} {unit}"
    code, _, rate = unit.partition("-per-")
    if len(code) == 3 and code.isupper():
        each = {"hour": " an hour", "kwh": " a kWh"}.get(rate)
        whole = 0 if code in WHOLE else 2
        return f"{code} {number:,.{whole}f}" if each is None else f"{code} {_rate(number)}{each}"
    return f"{number.normalize():f} {unit}" if unit in ("W", "kW") else f"{number.normalize():f}"


def _rate(number: Decimal) -> str:
    """Of an hour or a kWh: cents, to a hundredth of one, finer where it is less than a cent."""
    digits = max(4, 3 - number.adjusted()) if number else 4
    whole, _, rest = f"{number:,.{digits}f}".partition(".")
    return f"{whole}.{rest.rstrip('0').ljust(2, '0')}"


def _millions(number: Decimal) -> str:
    """``405 million``, ``2.8 billion``, three digits."""
    for power, name in ((12, "trillion"), (9, "billion"), (6, "million")):
        if number >= 10**power:
            return f"{plainly(number / 10**power, 3)} {name}"
    return f"{number:,.0f}"


def plainly(number: Decimal, digits: int) -> str:
    """Rounded to significant digits, without trailing zeros."""
    rounded = Decimal(f"{number:.{digits}g}").normalize()
    return f"{rounded:,f}"


def lines(findings: Iterable[Finding], written: Money = usd_exact) -> list[str]:
    """The texts, one a line."""
    return [finding.text(written) for finding in findings]
