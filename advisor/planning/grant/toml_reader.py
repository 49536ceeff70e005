"""Reads a TOML file into tables: every error is one line with file, key and what to write.

A table is a Struct whose annotations say what each key holds: ``Annotated[Decimal, Limits(0, 1)]``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import isfinite
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Struct, structs

from advisor.typed_input import MAX_BUDGET_USD, InputError, parse_budget, shown
from advisor.wrong_file import what_it_is
from bench_runner.typed_numbers import mistyped, read_amount, read_measure
from bench_runner.untrusted_text import OutsideError, TooLargeError, check_toml, read_outside
from price_catalog.csv_table import nearest
from price_catalog.currencies import without_currency

MAX_BYTES = 1_000_000
S = TypeVar("S", bound=Struct)
OR_NONE = ", or remove this key"
"""Added for a key that is optional."""
_EXAMPLES = {
    "model": "pythia-1b",
    "gpu": "H100",
    "currency": "EUR",
    "country": "US",
    "rules": "us-equipment-10000",
    "fiscal_year_start": "07-01",
    "prices": "latest",
    "source": "our rate agreement of 2026-03-01",
    "who": "the language group",
}
_SOME_TEXT = 'like "Pythia 1B"'
_TWICE = re.compile(r"Cannot (?:overwrite|declare|mutate)[^(]*(?:\(.*\) twice )?(\(at .*\))?")
"""What the reader of TOML says of a key or a table that is there twice."""
_NO_DAY = re.compile(r"Invalid date or datetime \(at line (\d+)")
_MINUS = ("-", "\u2212")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a number, or the length of a list, may be, and how it may be typed."""

    least: float
    most: float
    above: bool = False
    """Whether it must be more than ``least``."""
    unit: str | None = None
    """What it counts, where it may be typed with another unit: "8w" of days, "1 TB" of GiB."""
    words: tuple[str, ...] = ()
    """What may stand behind the number, as in "3 runs"."""
    usd: bool = False
    """Whether "$" may stand before it."""

    def __str__(self) -> str:
        low, high = (f"{exact(number):f}" for number in (self.least, self.most))
        return f"above {low} and at most {high}" if self.above else f"from {low} to {high}"

    def read(self, value: Any) -> Decimal | None:
        """The number within the limits; None where it is none."""
        if isinstance(value, str):
            value = self._typed(value)
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            return None
        number = Decimal(value)
        return exact(number) if number.is_finite() and self.has(number) else None

    def has(self, number: Decimal | int) -> bool:
        """Whether a number is within them."""
        low, high = exact(self.least), exact(self.most)
        return low <= number <= high and not (self.above and number == low)

    def _typed(self, text: str) -> Decimal | None:
        if self.unit is not None:
            measure = read_measure(text, self.unit, most=self.most)
            if isinstance(measure, Fraction):
                return Decimal(str(float(measure))) if measure <= self.most else None
            return measure
        bare = text.strip()
        # What is at most 2 is a share or a rate, which may be in per cent.
        return read_signed(
            bare.removeprefix("$") if self.usd else bare, self.words, of_a_whole=self.most <= 2
        )

    def per_cent(self, value: Any) -> str:
        """What a share is that was typed in per cent."""
        found = re.fullmatch(r"(\d{1,3}(?:\.\d{1,4})?) ?%?", str(value).strip(), re.ASCII)
        if isinstance(value, bool) or found is None or self.most > 2:
            return ""
        share = Decimal(found[1]) / 100
        return f": {found[1]} % is {share.normalize():f}" if 0 < share <= exact(self.most) else ""


def read_signed(
    text: str, units: tuple[str, ...] = (), *, of_a_whole: bool = False
) -> Decimal | None:
    """A number with or without a sign, and of a share or a rate in per cent too; None where it is
    none."""
    sign = Decimal(-1 if text.startswith(_MINUS) else 1)
    bare = text.removeprefix("-").removeprefix("\u2212")
    if of_a_whole and bare.endswith("%"):
        bare, sign = bare[:-1], sign / 100
    found = read_amount(bare, units=units)
    return None if found is None else found * sign


def exact(number: float | Decimal) -> Decimal:
    """A number as it was typed, without zeros at its end."""
    if number == int(number):
        return Decimal(int(number))
    return Decimal(str(number)) if isinstance(number, float) else number.normalize()


class Line(str):
    """One printable line."""

    @classmethod
    def read(cls, value: Any) -> Line:
        """Without blanks around it. Raises ValueError."""
        if not isinstance(value, str):
            raise ValueError(f"must be text: write it between quotes, {_SOME_TEXT}")
        if not value.strip():
            raise ValueError(f"is empty: write a text between the quotes{OR_NONE}")
        if len(value) > 500 or not value.isprintable():
            raise ValueError("must be one printable line of at most 500 characters")
        return cls(value.strip())


class Payer(Line):
    """Who pays a part, in words that go on to what they pay."""

    @classmethod
    def read(cls, value: Any) -> Payer:
        """Raises ValueError."""
        if not isinstance(value, str):
            raise ValueError('must say who pays, between quotes, like "the faculty"')
        if not value.strip():
            raise ValueError("is empty: write who pays, or remove it and what they pay")
        return cls(Line.read(value))


class Amount(Decimal):
    """Money, typed as a number or as people write it; in dollars it is compared with the most that
    a budget may be once its rate is known."""

    codes: tuple[str, ...] = ()
    """The currencies that its code or sign can mean; empty without one."""

    @property
    def in_dollars(self) -> bool:
        """Whether it was typed with a sign of dollars, whosever they are."""
        return "USD" in self.codes

    @classmethod
    def read(cls, value: Any) -> Self:
        """Raises ValueError."""
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise ValueError('must be an amount, like "$40,000" or 40000')
        if isinstance(value, cls):
            return value
        text = value if isinstance(value, str) else format(Decimal(value), "f")
        try:
            number, codes = without_currency(text)
        except ValueError as error:
            raise ValueError(f"{shown(text)} {error}") from None
        if codes and not number:
            raise ValueError(f"{shown(text)} has no amount: write it like 40k {codes[0]}")
        found = cls(cls.amount(number))
        found.codes = codes
        return found

    @classmethod
    def amount(cls, text: str) -> Decimal:
        """The number alone. Raises ValueError."""
        hint = "write one such as 40000, 40k or EUR 40,000"
        return parse_budget(text, "amount", hint, MAX_BUDGET_USD * 1_000_000)


class AmountOrZero(Amount):
    """Money that may be 0."""

    @classmethod
    def amount(cls, text: str) -> Decimal:
        """Raises ValueError."""
        return Decimal(0) if re.fullmatch(r"0([.,]0+)?", text) else super().amount(text)


@dataclass(frozen=True, slots=True)
class OverheadOn:
    """Whether overhead is charged on a line, and by which rate: false, true or a share."""

    charged: bool
    rate: Decimal | None = None
    """None: that of the institution."""

    @classmethod
    def read(cls, value: Any) -> Self:
        """Raises ValueError."""
        if isinstance(value, bool):
            return cls(charged=value)
        rate = Limits(0, 2).read(value)
        if rate is None:
            raise ValueError('must be true, false or a rate from 0 to 2, like 0.26 or "26%"')
        return cls(charged=rate > 0, rate=rate or None)


def toml_problem(error: Exception, text: str = "") -> str:
    """What is wrong with ``text`` that the reader of TOML does not take."""
    problem = str(error)
    if (no_day := _NO_DAY.match(problem)) is not None:
        key, equals, _ = text.split("\n")[int(no_day[1]) - 1].partition("=")
        which = shown(key.strip(), 40) if equals else "what is there"
        problem = f"{which} (at line {no_day[1]}) is no day of the calendar: write another"
    if isinstance(error, RecursionError):
        problem = "tables or lists stand too deeply in each other"
    twice = _TWICE.fullmatch(problem)
    if twice is not None:
        problem = f"a key or a table is there twice {twice[1] or ''}".rstrip()
        problem += ": remove one of the two"
    return f"not valid TOML: {problem}"


def parse_toml(text: str) -> dict[str, Any]:
    """Its tables; numbers are Decimals. Raises OutsideError, RecursionError and ValueError."""
    check_toml(text)

    def number(text: str) -> Decimal:
        found = float(text)  # beyond all floats it is infinite, and refused
        return exact(found) if isfinite(found) else Decimal(str(found))

    return tomllib.loads(text, parse_float=number)


def read_toml(path: Path, kind: type[S], instead: str) -> S:
    """The whole file, checked. Raises InputError, which says what to give ``instead``."""
    text = ""
    try:
        text = read_outside(path, MAX_BYTES).decode("utf-8-sig")
        found = parse_toml(text)
    except FileNotFoundError:
        raise InputError(f"there is no file {shown(str(path), 200)}: {instead}") from None
    except TooLargeError:
        raise InputError(f"{path.name} is larger than {MAX_BYTES:,} bytes: {instead}") from None
    except OutsideError as error:
        raise InputError(f"{path.name} {error}") from None
    except (RecursionError, ValueError) as error:
        problem = what_it_is(path, "grant")
        if problem is None and isinstance(error, UnicodeDecodeError):
            line = error.object.count(b"\n", 0, error.start) + 1
            problem = f"is not UTF-8 text (line {line}): save it as UTF-8, or {instead}"
        problem = problem or f"is {toml_problem(error, text)}"
        raise InputError(f"{path.name} {problem}") from None
    except OSError as error:
        raise InputError(
            f"{shown(str(path), 200)} cannot be read ({error.strerror}): {instead}"
        ) from None
    read, errors = read_table(kind, found)
    if read is not None:
        return read
    # What names none of the file's tables is a file for another command.
    other = None if found.keys() & set(kind.__struct_fields__) else what_it_is(path, "grant")
    if other is not None:
        raise InputError(f"{path.name} {other}")
    raise wrong(path.name, *next(iter(errors.items())))


def read_table(kind: type[S], found: Any) -> tuple[S | None, dict[str, str]]:
    """The table with everything in it, or what is wrong with each key."""
    errors: dict[str, str] = {}
    read = _table(kind, found, "", errors)
    return (None if errors else read), errors


def wrong(file: str, place: str, problem: str) -> InputError:
    """An InputError that names file, table and key."""
    return InputError(f"{file}, {place}: {problem}")


def missing_text(place: str, hint: str = "") -> str:
    """Of a text that is needed and not there; ``hint`` says why."""
    key = place.rpartition(".")[2]
    return f'is missing{hint}: write {key} = "{_EXAMPLES.get(key, "a name of yours")}"'


_hints = cache(get_type_hints)


def _table(kind: type[S], found: Any, place: str, errors: dict[str, str]) -> S | None:
    if not isinstance(found, dict):
        errors[place] = _what_to_write(kind, None, found, place)
        return None
    hints, values, before = _hints(kind, include_extras=True), {}, len(errors)
    start = f"{place}." if place else ""
    for key in found.keys() - hints.keys():
        errors[start + key] = f"this key is not known; {nearest(key, list(hints))}"
    for field in structs.fields(kind):
        at, hint = start + field.name, hints[field.name]
        if field.name in found:
            values[field.name] = _read(hint, found[field.name], at, errors, needed=field.required)
        elif field.required:
            must = _what_to_write(*_base(hint), None, at)
            is_text = must.startswith("must be text")
            errors[at] = missing_text(at) if is_text else f"is missing; it {must}"
    return kind(**values) if len(errors) == before else None


def _base(hint: Any) -> tuple[Any, Limits | None]:
    """A type without None, and its limits."""
    limits = None
    while get_origin(hint) in (Union, UnionType, Annotated):
        if get_origin(hint) is Annotated:
            limits = next((each for each in hint.__metadata__ if isinstance(each, Limits)), limits)
            hint = hint.__origin__
        else:
            hint = next(each for each in get_args(hint) if each is not type(None))
    return hint, limits


def _read(hint: Any, value: Any, place: str, errors: dict[str, str], *, needed: bool) -> Any:
    kind, limits = _base(hint)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _table(kind, value, place, errors)
    many = get_origin(kind)
    if many is tuple:
        if isinstance(value, list) and (limits is None or limits.has(len(value))):
            item, each = get_args(kind)[0], enumerate(value, start=1)
            return tuple(_read(item, v, f"{place}[{n}]", errors, needed=True) for n, v in each)
    elif many is dict:
        if isinstance(value, dict):
            item, each_of = get_args(kind)[1], value.items()
            return {k: _read(item, v, f"{place}.{k}", errors, needed=True) for k, v in each_of}
    elif kind is Any:
        return value
    else:
        try:
            found = _scalar(kind, limits, value)
            if found is not None:
                return found
        except ValueError as error:  # of a type of our own, which says what to write
            why, example = str(error), _EXAMPLES.get(place.rpartition(".")[2])
            why = why.replace(OR_NONE, "") if needed else why
            errors[place] = why.replace(_SOME_TEXT, f'like "{example}"') if example else why
            return None
    errors[place] = _what_to_write(kind, limits, value, place)
    return None


def _scalar(kind: Any, limits: Limits | None, value: Any) -> Any:
    """The value as it is kept; None where it is no such value. Raises ValueError."""
    if limits is not None:
        number = limits.read(value)
        if kind is int and number is not None:
            return int(number) if number == int(number) else None
        return number
    if get_origin(kind) is Literal:
        said = value.strip().casefold() if isinstance(value, str) else value  # NSF, Nsf, nsf
        known = [each for each in get_args(kind) if type(each) is type(said) and each == said]
        return known[0] if known else None
    if hasattr(kind, "read"):
        return kind.read(value)
    fits = isinstance(value, kind) and not isinstance(value, datetime)
    return value if fits and (kind is bool or not isinstance(value, bool)) else None


def _what_to_write(kind: Any, limits: Limits | None, value: Any, place: str) -> str:
    if limits is not None and kind in (int, Decimal):
        if isinstance(value, str) and (why := mistyped(value)):
            return f"{shown(value)} {why}"
        per_cent = limits.per_cent(value) if kind is Decimal else ""
        return f"must be a {'whole ' * (kind is int)}number {limits}{per_cent}"
    if get_origin(kind) is Literal:
        values = sorted(get_args(kind))
        if isinstance(values[0], str) and isinstance(value, str):
            return f"{shown(value)} is not known; {nearest(value, values)}"
        quotes = ", between quotes" if isinstance(values[0], str) else ""
        return f"must be one of {', '.join(map(str, values))}{quotes}"
    if get_origin(kind) is tuple:
        item, of = _base(get_args(kind)[0])
        if isinstance(item, type) and issubclass(item, Struct):
            return f"must be tables: write [[{place}]] above each"
        if value == []:
            return "is empty: name at least one, or leave the key out for all"
        return f"must be a list of {_list_words(item, of)}"
    if kind is bool:
        return "must be true or false"
    if kind is date:
        return "must be a date: write it without quotes, like 2027-01-31"
    if isinstance(kind, type) and issubclass(kind, Struct):
        if place.endswith("]"):
            return f"must be a table: write [[{place.partition('[')[0]}]] above each"
        return f"must be a table: write [{place}] on a line of its own"
    return f"must be text: write it between quotes, {_SOME_TEXT}"


def _list_words(item: Any, limits: Limits | None) -> str:
    if limits is not None:
        return f"{'whole ' * (item is int)}numbers {limits}"
    if get_origin(item) is Literal:
        return f"texts from these: {', '.join(map(str, sorted(get_args(item))))}"
    if item is date:
        return "dates, without quotes, like [2027-01-31]"
    if issubclass(item, Amount):
        return 'amounts, like ["40k", "40k", "20k"]'
    return 'texts, like ["RTX 3090", "H100"]'
