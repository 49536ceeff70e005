"""Numbers as people type them, read in one place: 40k, 40,000, 40 000, 40_000, 4e4, .3T, 300B.

What a number is of (dollars, days, tokens) is for the caller to say; `advisor.typed_input` does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

NORMAL_90 = 1.645
"""Standard deviations from the middle to either end of a 90 % interval."""
MOST_LETTERS = 60
_MOST_DIGITS = 25
"""Of one number: what Python's Decimals keep without rounding."""
_SPACES = str.maketrans("\u00a0\u202f\u2009\u2019", "   '")
"""Those that text programs put between thousands, and the apostrophe that they curl."""
_NUMBER = re.compile(
    r"""(?P<whole> \d{1,3} (?P<separator>[,_ ']) \d{3} (?: (?P=separator)\d{3} )*
                 | \d+ | (?=\.\d) )
    (?P<fraction> \.\d+ )?
    (?P<exponent> e[+-]?\d{1,3} )?
    \ *(?P<unit> [a-z]+ | )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
SUFFIXES: Mapping[str, Decimal] = {
    "": Decimal(1),
    "k": Decimal(1_000),
    "thousand": Decimal(1_000),
    "m": Decimal(10**6),
    "million": Decimal(10**6),
    "b": Decimal(10**9),
    "bn": Decimal(10**9),
    "billion": Decimal(10**9),
    "t": Decimal(10**12),
    "trillion": Decimal(10**12),
}
"""What stands behind an amount of anything that is counted."""

_YEAR = 365
"""Days, as everywhere in this program."""
_DAYS: Mapping[str, Fraction] = {
    word: days
    for words, days in (
        ("s sec secs second seconds", Fraction(1, 86_400)),
        ("min mins minute minutes", Fraction(1, 1_440)),
        ("h hr hrs hour hours", Fraction(1, 24)),
        ("d day days", Fraction(1)),
        ("w wk wks week weeks", Fraction(7)),
        ("mo month months", Fraction(_YEAR, 12)),
        ("y yr yrs year years", Fraction(_YEAR)),
    )
    for word in words.split()
}
"""The days of each unit that a duration may have."""
_GIB: Mapping[str, Fraction] = {
    word: Fraction(size)
    for words, size in (("g gb gib", 1), ("t tb tib", 1024), ("m mb mib", Fraction(1, 1024)))
    for word in words.split()
}
"""A GB of memory is sold as 2**30 bytes."""


class Number(NamedTuple):
    """A number and the letters behind it."""

    value: Decimal
    unit: str
    """In lower case; empty where there is none."""
    could_be_thousands: bool
    """Whether its point could separate thousands, as in ``40.000``."""


def read_number(text: str) -> Number | None:
    """The number that the text is, not negative; None where it is none."""
    stripped = text.strip().translate(_SPACES)
    match = _NUMBER.fullmatch(stripped) if len(stripped) <= MOST_LETTERS else None
    if match is None:
        return None
    whole, fraction, exponent = match["whole"], match["fraction"] or "", match["exponent"] or ""
    plain = re.sub("[,_ ']", "", whole) + fraction
    if len(plain) > _MOST_DIGITS or (
        exponent and match["unit"] and match["unit"].lower() in SUFFIXES
    ):
        return None
    # Four digits before a point, or commas, say that it separates no thousands.
    grouped = len(fraction) == 4 and len(whole) <= 3 and whole.strip("0") != ""
    doubtful = grouped and not exponent and not match["unit"]
    return Number(Decimal(plain + exponent), match["unit"].lower(), doubtful)


_COMMA = re.compile(
    r"(\d+),(\d{1,2}|\d{4,})((?:e[+-]?\d{1,3})?\s*[a-z]*)", re.IGNORECASE | re.ASCII
)
_SPACED_COMMA = re.compile(
    r"(\d{1,3}(?:([ '_])\d{3})(?:\2\d{3})*),(\d{1,2})(\s*[a-z]*)", re.IGNORECASE | re.ASCII
)
_POINTS = re.compile(r"(\d{1,3}(?:\.\d{3})+)(?:,(\d+))?(\s*[a-z]*)", re.IGNORECASE | re.ASCII)


def mistyped(text: str, unit: str = "", currency: str = "") -> str:
    """What is wrong with how a number is written, or that it could be two, and what to write
    instead; empty where nothing better is known than that it is none. ``unit`` is in the plural,
    ``currency`` is written again."""
    stripped = text.strip().translate(_SPACES)
    if len(stripped) > MOST_LETTERS:
        return ""
    number = read_number(stripped)
    if number is not None and number.could_be_thousands:
        one, thousand = f"{number.value.normalize():f}", f"{number.value * 1000:.0f}"
        # Three decimals are in doubt however often they are written; a fourth says what they are.
        alone = one + "0" if len(one.partition(".")[2]) == 3 else one
        of_what = f" {unit or currency}" if unit or currency else ""
        again = f" {currency}" if currency else ""
        write = f"write {alone}{again} or {thousand}{again}"
        return f"could mean {one} or {int(thousand):,}{of_what}: {write}"
    if (comma := _COMMA.fullmatch(stripped)) is not None:
        return f"has a comma for the decimal point: write {comma[1]}.{comma[2]}{comma[3]}"
    if (spaced := _SPACED_COMMA.fullmatch(stripped)) is not None:
        whole = re.sub("[ '_]", "", spaced[1])
        cents = f".{spaced[3]}" if spaced[3].strip("0") else ""
        return f"has a comma for the decimal point: write {whole}{cents}{spaced[4]}"
    if number is None and (points := _POINTS.fullmatch(stripped)) is not None:
        fraction = f".{points[2]}" if points[2] else ""
        meant = points[1].replace(".", "") + fraction + points[3]
        return f"has points between thousands: write {meant}"
    return ""


_NO_CENTS = re.compile(r"(?<=\d)(?:\.|(,))[-\u2013\u2014]{1,2}$")
_CENTS = re.compile(r"(\d{4,}),(\d{2})", re.ASCII)


def plain_money(text: str) -> str:
    """An amount of money with a point before its cents, where it is written as on the continent of
    Europe and can mean one thing alone: ``90.000,00``, ``1.234.567``, ``90 000,50``, ``90'000.-``.
    """
    stripped = text.strip().translate(_SPACES)
    if len(stripped) > MOST_LETTERS:
        return text
    stripped = _NO_CENTS.sub(lambda dash: ",00" if dash[1] else "", stripped)
    if (plain := _CENTS.fullmatch(stripped)) is not None:
        return f"{plain[1]}.{plain[2]}"
    if (spaced := _SPACED_COMMA.fullmatch(stripped)) is not None:
        return re.sub("[ '_]", "", spaced[1]) + f".{spaced[3]}{spaced[4]}"
    points = _POINTS.fullmatch(stripped)
    if points is not None and not points[3]:
        cents = points[2] or ""
        if len(cents) == 2 or (not cents and points[1].count(".") > 1):
            return points[1].replace(".", "") + (f".{cents}" if cents else "")
    return stripped


def read_amount(text: str, *, units: tuple[str, ...]) -> Decimal | None:
    """How many of something, with or without a suffix (``300B``) and one of the words in
    ``units`` behind it; None where the text is no number or could be two."""
    stripped = text.strip()
    for unit in units:
        if stripped.lower().endswith(unit):
            stripped = stripped[: -len(unit)].rstrip()
            break
    number = read_number(stripped)
    if number is None or number.could_be_thousands or number.unit not in SUFFIXES:
        return None
    return number.value * SUFFIXES[number.unit]


def read_measure(text: str, unit: str, *, most: float | None = None) -> Fraction | None:
    """How many of a ``unit`` in the plural: a duration in days, years, minutes or seconds, however
    it is written (``8w``, ``2 months``), a memory in GiB (``128GB``), or plain numbers of anything
    else; 0 or more. None where it is none, or could be two.

    More than ``most`` of the unit is never meant, so that ``45.000`` is 45 where 45,000 are more.
    """
    number = read_number(text)
    if number is None:
        return None
    if number.could_be_thousands and (most is None or number.value * 1000 <= most):
        return None
    factors: Mapping[str, Fraction]
    if not number.unit:
        factors = {"": Fraction(1)}
    elif unit in _DAYS:
        factors = {word: days / _DAYS[unit] for word, days in _DAYS.items()}
    elif unit == "GiB":
        factors = _GIB
    else:
        factors = {word: Fraction(size) for word, size in SUFFIXES.items()}
    factor = factors.get(number.unit)
    return None if factor is None else Fraction(number.value) * factor


def read_positive(text: str, *, units: tuple[str, ...] = ()) -> float | None:
    """`read_amount` as a float above 0 and below infinity."""
    amount = read_amount(text, units=units)
    value = 0.0 if amount is None else float(amount)
    return value if 0 < value < float("inf") else None


def read_whole(text: str, *, units: tuple[str, ...] = ()) -> int | None:
    """A whole number of 1 or more, below a million million, of ``units``; None where it is not
    one."""
    amount = read_amount(text, units=units)
    if amount is None or not 1 <= amount < 10**12 or amount != amount.to_integral_value():
        return None
    return int(amount)


def plain(value: float | Decimal, digits: int = 3) -> str:
    """A number with so many digits for a person, never with an exponent: ``0.153``, ``36.3``,
    ``1990``, ``12,300``."""
    rounded = Decimal(f"{value:.{digits}g}")
    if not rounded.is_finite():
        return str(value)
    return f"{rounded:,f}" if abs(rounded) >= 10_000 else f"{rounded:f}"


def flops_words(flops: float) -> str:
    """``1.2 × 10^21 FLOPs``: of a whole training there are too many for a suffix."""
    if flops < 1e6:
        return f"{plain(flops)} FLOPs"
    mantissa, _, exponent = f"{flops:.2e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')} × 10^{int(exponent)} FLOPs"


def count_words(amount: float) -> str:
    """``400B``, ``1.28B``, ``14M``, ``0.3T`` as ``300B``: three digits and the suffix."""
    for suffix, size in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("K", 1e3)):
        if amount >= size * 0.9995:
            scaled = amount / size
            digits = 0 if scaled >= 99.95 else 1 if scaled >= 9.995 else 2
            text = f"{scaled:,.{digits}f}"
            return (text.rstrip("0").rstrip(".") if "." in text else text) + suffix
    return plain(amount)


def percent(share: float | Decimal, digits: int = 0) -> str:
    """A part of a whole as a person reads it everywhere: ``69 %``, ``4.2 %``; what is typed needs
    no space."""
    return f"{float(share) * 100:.{digits}f} %"
