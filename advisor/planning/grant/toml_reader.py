"""Reads a TOML file into a Struct: every error is one line with file, key and what to write."""

from __future__ import annotations

import math
import re
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

import msgspec
from msgspec import inspect

from advisor.parse import (
    FOREIGN,
    MAX_BUDGET_USD,
    InputError,
    parse_budget,
    parse_positive,
    shown,
)
from advisor.wrong_file import what_it_is
from bench_runner.outside import OutsideError, TooLargeError, check_toml, read_outside
from bench_runner.typed_numbers import mistyped, read_amount, read_measure
from price_catalog.csv_table import nearest
from price_catalog.currency_signs import without_currency

_UNITS = (("_days", "days"), ("years", "years"), ("_months", "months"), ("_gib", "GiB"))
"""By how a key ends: what its number counts."""
_WORDS = {
    "runs": ("runs", "run"),
    "gpu_hours_a_year": ("gpu-hours", "gpu hours", "hours"),
    "host_watts": ("watts", "w"),
    "network_gbit": ("gbit/s", "gbit"),
    "gpu_count": ("gpus",),
    "max_gpus": ("gpus",),
}
"""What may stand behind the number of a key."""
_MINUS = ("-", "\u2212")
_LARGEST_SHARE = 2.0
"""What is at most that is a share or a rate, which may be in per cent."""


def with_numbers(value: Any, node: Any, key: str = "") -> Any:
    """The same with a number wherever ``node`` (of `msgspec.inspect`) has one and a text writes it.

    What cannot be read stays as it is, for the checks behind this to refuse.
    """
    if isinstance(node, inspect.UnionType):
        node = next(each for each in node.types if not isinstance(each, inspect.NoneType))
    if isinstance(node, inspect.StructType) and isinstance(value, dict):
        kinds = {field.name: field.type for field in node.fields}
        return {
            name: with_numbers(each, kinds[name], name) if name in kinds else each
            for name, each in value.items()
        }
    if isinstance(node, inspect.VarTupleType) and isinstance(value, list):
        return [with_numbers(each, node.item_type, key) for each in value]
    whole = isinstance(node, inspect.IntType)
    if whole and isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, str) or not (whole or isinstance(node, inspect.FloatType)):
        return value
    number = _read(value, key, node)
    if number is None or (whole and number != int(number)):
        return value
    try:
        return int(number) if whole else float(number)
    except OverflowError:  # more than is ever meant
        return value


def _read(text: str, key: str, node: Any) -> Decimal | Fraction | None:
    """The number, or None."""
    unit = next((unit for ending, unit in _UNITS if key.endswith(ending)), None)
    if unit is not None:
        return read_measure(text, unit, most=node.le)
    bare = text.strip()
    if key.startswith("usd_"):
        bare = bare.removeprefix("$")
    of_a_whole = node.le is not None and node.le <= _LARGEST_SHARE
    return read_signed(bare, _WORDS.get(key, ()), of_a_whole=of_a_whole)


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


MAX_BYTES = 1_000_000
UsdPerUnit = Annotated[float, msgspec.Meta(ge=1e-6, le=1_000_000)]
"""No currency is worth less."""
_MOST = MAX_BUDGET_USD * 1_000_000
"""Of any currency; in dollars it is compared once its rate is known."""
S = TypeVar("S", bound=msgspec.Struct)
_SAID = re.compile(r"(.*?)(?: - at `\$((?:\.\w+|\[\d+\])*)`)?", re.DOTALL)
"""An error of msgspec: the problem and the path to it."""
OR_NONE = ", or remove this key"
"""Said of a key that is not needed."""
_EXAMPLES = {
    "model": "pythia-1b",
    "gpu": "H100",
    "currency": "EUR",
    "rules": "us-equipment-10000",
    "fiscal_year_start": "07-01",
    "prices": "latest",
    "source": "our rate agreement of 2026-03-01",
    "who": "the language group",
}
_SOME_TEXT = 'like "Pythia 1B"'
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_TWICE = re.compile(r"Cannot (?:overwrite|declare|mutate)[^(]*(?:\(.*\) twice )?(\(at .*\))?")
"""What the reader of TOML says of a key or a table that is there twice."""


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
    """Money, typed as a number or as people write it."""

    codes: tuple[str, ...] = ()
    """What the code or the sign that it was typed with stands for; without one, nothing."""

    @property
    def in_dollars(self) -> bool:
        """Whether it was typed with a sign of dollars, whosever they are."""
        return "USD" in self.codes

    @classmethod
    def read(cls, value: Any) -> Self:
        """Raises ValueError."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError('must be an amount, like "$40,000" or 40000')
        text = value if isinstance(value, str) else format(Decimal(str(value)), "f")
        try:
            number, codes = without_currency(text)
        except ValueError as error:
            raise ValueError(f"{shown(text)} {error}") from None
        if not codes and FOREIGN.search(number):
            raise ValueError('must be a number alone, or one with its code, like "EUR 40,000"')
        if codes and not number:
            raise ValueError(f"{shown(text)} has no amount: write it like 40k {codes[0]}")
        found = cls(cls.amount(number))
        found.codes = codes
        return found

    @classmethod
    def amount(cls, text: str) -> Decimal:
        """The number alone. Raises ValueError."""
        return parse_budget(text, "amount", "write one such as 40000, 40k or 40,000", _MOST)


class AmountOrZero(Amount):
    """Money that may be 0."""

    @classmethod
    def amount(cls, text: str) -> Decimal:
        """Raises ValueError."""
        return Decimal(0) if re.fullmatch(r"0([.,]0+)?", text) else super().amount(text)


class OverheadOn:
    """Whether overhead is charged on a line, and by which rate: false, true or a share. No
    dataclass: of those msgspec reads tables."""

    __slots__ = ("charged", "rate")

    def __init__(self, *, charged: bool, rate: Decimal | None = None) -> None:
        self.charged, self.rate = charged, rate  # without a rate that of the institution

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OverheadOn) and self._both == other._both

    def __hash__(self) -> int:
        return hash(self._both)

    def __repr__(self) -> str:
        return f"OverheadOn(charged={self.charged}, rate={self.rate})"

    @property
    def _both(self) -> tuple[bool, Decimal | None]:
        return self.charged, self.rate

    @classmethod
    def read(cls, value: Any) -> Self:
        """Raises ValueError."""
        if isinstance(value, bool):
            return cls(charged=value)
        rate = value
        if isinstance(value, str):
            rate = read_signed(value.strip(), of_a_whole=True)
        elif isinstance(value, int | float):
            rate = exact(value)
        if not isinstance(rate, Decimal) or not rate.is_finite() or not 0 <= rate <= 2:
            raise ValueError('must be true, false or a rate from 0 to 2, like 0.26 or "26%"')
        return cls(charged=rate > 0, rate=rate or None)


class _Duration(float):
    """A length of time, typed as a number of its unit or as people write it (``"8w"``)."""

    unit: ClassVar[str]
    most: ClassVar[int]
    may_be_zero: ClassVar[bool] = True
    example: ClassVar[str]

    @classmethod
    def read(cls, value: Any) -> _Duration:
        """Raises ValueError."""
        hint = f"must be a number {'from 0 to' if cls.may_be_zero else 'above 0 and at most'} "
        hint += f"{cls.most}, or a text like {cls.example}"
        if isinstance(value, str):
            try:
                return cls(parse_positive(value, "duration", cls.unit, cls.most))
            except InputError:
                raise ValueError(hint) from None
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value <= cls.most or (value == 0 and not cls.may_be_zero):
            raise ValueError(hint)
        return cls(value)


class LeadDays(_Duration):
    """From an order to the first run; whole days."""

    unit, most, example = "days", 1000, '"8w"'

    @classmethod
    def read(cls, value: Any) -> _Duration:
        """Raises ValueError."""
        read = super().read(value)
        if isinstance(value, float) and not read.is_integer():
            raise ValueError(f'must be a whole number from 0 to {cls.most}, or a text like "8w"')
        return cls(math.ceil(read))


class QueueDays(_Duration):
    """Waiting before each run."""

    unit, most, example = "days", 365, '"12h"'


class LifetimeYears(_Duration):
    """How long a machine serves."""

    unit, most, example = "years", 50, '"5y"'
    may_be_zero = False


def exact(number: float) -> Decimal:
    """A number as it was typed."""
    return Decimal(int(number)) if float(number).is_integer() else Decimal(str(number))


def toml_problem(error: Exception) -> str:
    """What is wrong with text that the reader of TOML does not take."""
    problem = str(error)
    if isinstance(error, RecursionError):
        problem = "tables or lists stand too deeply in each other"
    twice = _TWICE.fullmatch(problem)
    if twice is not None:
        problem = f"a key or a table is there twice {twice[1] or ''}".rstrip()
        problem += ": remove one of the two"
    return f"not valid TOML: {problem}"


def read_toml(path: Path, kind: type[S], instead: str) -> S:
    """The whole file, checked. Raises InputError, which says what to give ``instead``."""
    import tomllib

    try:
        text = read_outside(path, MAX_BYTES).decode("utf-8-sig")
        check_toml(text)
        found = tomllib.loads(text)
    except FileNotFoundError:
        raise InputError(f"there is no file {shown(str(path), 200)}: {instead}") from None
    except TooLargeError:
        raise InputError(f"{path.name} is larger than {MAX_BYTES:,} bytes: {instead}") from None
    except OutsideError as error:
        raise InputError(f"{path.name} {error}") from None
    except UnicodeDecodeError as error:
        if (other := what_it_is(path, "grant")) is not None:
            raise InputError(f"{path.name} {other}") from None
        line = error.object.count(b"\n", 0, error.start) + 1
        told = f"{path.name} is not UTF-8 text (line {line}): save it as UTF-8, or {instead}"
        raise InputError(told) from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        problem = what_it_is(path, "grant") or f"is {toml_problem(error)}"
        raise InputError(f"{path.name} {problem}") from None
    except OSError as error:
        raise InputError(
            f"{shown(str(path), 200)} cannot be read ({error.strerror}): {instead}"
        ) from None
    try:
        return convert(found, kind, path.name)
    except InputError:
        # What names none of the file's tables is a file for another command.
        if not found.keys() & {field.name for field in msgspec.structs.fields(kind)} and (
            (other := what_it_is(path, "grant")) is not None
        ):
            raise InputError(f"{path.name} {other}") from None
        raise


def convert(found: Any, kind: type[S], file: str) -> S:
    """A Struct from plain values. Raises InputError."""
    found = with_numbers(found, inspect.type_info(kind))
    try:
        return msgspec.convert(
            found, kind, dec_hook=lambda own, value: own.read(value), builtin_types=(date,)
        )
    except msgspec.ValidationError as error:
        raise _explained(file, found, kind, error) from None


def wrong(file: str, place: str, problem: str) -> InputError:
    """An InputError that names file, table and key."""
    return InputError(f"{file}, {place}: {problem}")


def missing(file: str, place: str, must: str | None = None, hint: str = "") -> InputError:
    """An InputError of a key that is needed and not there; ``must`` says what it takes, where that
    is no text, and ``hint`` why it is needed."""
    key = place.rpartition(".")[2]
    example = f'write {key} = "{_EXAMPLES.get(key, "a name of yours")}"'
    told = must is None or must.startswith("must be text")
    return wrong(file, place, f"is missing{hint}: {example}" if told else f"is missing; it {must}")


def _explained(
    file: str, value: Any, kind: type[msgspec.Struct], error: msgspec.ValidationError
) -> InputError:
    """What msgspec found, with what to write instead: the type at the place says it."""
    said = _SAID.fullmatch(str(error))
    assert said is not None
    problem, path = said[1], said[2] or ""
    key = re.search("(?:unknown|required) field `(.*)`", problem, re.DOTALL)
    steps: list[str | int] = [
        int(number) if number else name for name, number in _STEP.findall(path)
    ]
    if key is not None and problem.startswith("Object missing"):
        steps.append(key[1])
    node: Any = inspect.type_info(kind)
    place, needed = "", False
    for step in steps:
        if isinstance(step, int):
            node, value, place = node.item_type, value[step], f"{place}[{step + 1}]"
        else:
            field = next(field for field in node.fields if field.name == step)
            node, needed = field.type, field.required
            value = value.get(step)
            place = f"{place}.{step}" if place else step
        if isinstance(node, inspect.UnionType):
            node = next(each for each in node.types if not isinstance(each, inspect.NoneType))
    if error.__cause__ is not None:  # a type of our own, which has said it
        why = str(error.__cause__)
        example = _EXAMPLES.get(place.rpartition(".")[2])
        if example is not None:
            why = why.replace(_SOME_TEXT, f'like "{example}"')
        return wrong(file, place, why.replace(OR_NONE, "") if needed else why)
    if value is None:
        return missing(file, place, _what_to_write(node, value, place))
    if key is not None and problem.startswith("Object contains"):
        known = [field.name for field in node.fields]
        place = f"{place}.{key[1]}" if place else key[1]
        return wrong(file, place, f"this key is not known; {nearest(key[1], known)}")
    return wrong(file, place, _what_to_write(node, value, place))


def _what_to_write(node: Any, value: Any, place: str) -> str:
    number = isinstance(node, inspect.IntType | inspect.FloatType)
    if number and isinstance(value, str) and (why := mistyped(value)):
        return f"{shown(value)} {why}"
    if isinstance(node, inspect.LiteralType) and not isinstance(node.values[0], str):
        return f"must be one of {', '.join(map(str, node.values))}"
    if isinstance(node, inspect.LiteralType) and isinstance(value, str):
        return f"{shown(value)} is not known; {nearest(value, [str(v) for v in node.values])}"
    if isinstance(node, inspect.LiteralType):
        return f"must be one of {', '.join(map(str, node.values))}, between quotes"
    if isinstance(node, inspect.IntType):
        return f"must be a whole number from {node.ge} to {node.le}"
    if isinstance(node, inspect.FloatType):
        return f"must be a number {_between(node)}{_as_share(node, value)}"
    if isinstance(node, inspect.BoolType):
        return "must be true or false"
    if isinstance(node, inspect.DateType):
        return "must be a date: write it without quotes, like 2027-01-31"
    if isinstance(node, inspect.StructType):
        if place.endswith("]"):
            return f"must be a table: write [[{place.partition('[')[0]}]] above each"
        return f"must be a table: write [{place}] on a line of its own"
    if isinstance(node, inspect.VarTupleType):
        if isinstance(node.item_type, inspect.StructType):
            return f"must be tables: write [[{place}]] above each"
        if value == []:
            return "is empty: name at least one, or leave the key out for all"
        return f"must be a list of {_list_words(node.item_type)}"
    return f"must be text: write it between quotes, {_SOME_TEXT}"


def _between(node: inspect.FloatType) -> str:
    low = f"above {node.gt} and at most" if node.ge is None else f"from {exact(node.ge):f} to"
    high = "" if node.le is None else f"{exact(node.le):f}"
    return f"{low} {high}"


def _as_share(node: inspect.FloatType, value: Any) -> str:
    """What a share is that was typed in per cent."""
    typed = str(value).strip()
    found = re.fullmatch(r"(\d{1,3}(?:\.\d{1,4})?) ?%?", typed, re.ASCII)
    if isinstance(value, bool) or found is None or node.le is None or node.le > 2:
        return ""
    share = Decimal(found[1]) / 100
    return f": {found[1]} % is {share.normalize():f}" if 0 < share <= node.le else ""


def _list_words(item: Any) -> str:
    if isinstance(item, inspect.IntType):
        return f"whole numbers from {item.ge} to {item.le}"
    if isinstance(item, inspect.LiteralType):
        return f"texts from these: {', '.join(map(str, item.values))}"
    if isinstance(item, inspect.FloatType):
        return f"numbers {_between(item)}"
    if isinstance(item, inspect.DateType):
        return "dates, without quotes, like [2027-01-31]"
    if issubclass(item.cls, Amount):
        return 'amounts, like ["40k", "40k", "20k"]'
    return 'texts, like ["RTX 3090", "H100"]'
