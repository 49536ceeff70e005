"""Whether a record is what a record is: every field of its kind, every number in its range.

Records come from other people's machines. Whoever reads one may rely on what is checked here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import date
from functools import cache
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from bench_runner.untrusted_text import printable

LARGEST_COUNT = 2**31 - 1
"""What the store's columns hold."""
LONGEST_NAME = 200
LONGEST_REASON = 10_000
DEEPEST = 12
"""Objects within objects, of what a record tells about its environment."""


class Kind(NamedTuple):
    """What a value is to be."""

    says: str
    """``a number above 0``: what is said where a value is none."""
    holds: Callable[[Any], bool]


class Field(NamedTuple):
    """What a field is to hold."""

    kind: Kind
    may_be_null: bool = True
    is_list: bool = False
    """Of such values."""


def is_name(value: object) -> bool:
    """Text of one line that steers no terminal: no control or direction characters."""
    return (
        isinstance(value, str)
        and bool(value.strip())
        and value.isprintable()
        and len(value) <= LONGEST_NAME
    )


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_index(value: object) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_COUNT


def _is_day(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(date.fromisoformat(value))
    except ValueError:
        return False


NAME = Kind(f"one line of printable text, at most {LONGEST_NAME} letters", is_name)
NUMBER = Kind("a number", _is_number)
SECONDS = Kind("a number of 0 or more", lambda value: _is_number(value) and value >= 0)
POSITIVE = Kind("a number above 0", lambda value: _is_number(value) and value > 0)
COUNT = Kind(f"a whole number from 1 to {LARGEST_COUNT}", lambda v: _is_index(v) and v > 0)
INDEX = Kind(f"a whole number from 0 to {LARGEST_COUNT}", _is_index)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
TEXT = Kind(
    f"text of at most {LONGEST_REASON} letters",
    lambda value: isinstance(value, str) and len(value) <= LONGEST_REASON,
)
OBJECT = Kind("an object", lambda value: isinstance(value, Mapping))
ANY_TEXT = Kind("text", lambda value: isinstance(value, str))
DAY = Kind("a day such as 2026-11-22", _is_day)
CAPABILITY = Kind(
    "two numbers such as [9, 0]",
    lambda value: (
        isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_index, value))
    ),
)
WORD = Kind(
    # The library would fetch a kernel of a name like org/kernel, and run it.
    "a word such as sdpa",
    lambda value: isinstance(value, str) and value.isidentifier(),
)
RATES = Kind(
    "an object of numbers above 0 by size",
    lambda value: (
        isinstance(value, Mapping)
        and all(
            name.isascii() and name.isdigit() and len(name) < 11 and POSITIVE.holds(rate)
            for name, rate in value.items()
        )
    ),
)
_BY_TYPE: Mapping[object, Kind] = {str: NAME, int: COUNT, float: SECONDS, bool: FLAG, date: DAY}
_CLOSER: Mapping[str, Kind] = {
    "reason": TEXT,
    "training_days": POSITIVE,
    "training_days_high": POSITIVE,
    "step_s": POSITIVE,
    "allocator_retries": INDEX,
}
"""Of the fields of a measurement, what their type does not say."""
_ENVIRONMENT: Mapping[str, Field] = {
    "about": Field(OBJECT),
    "about.usable_memory_gib": Field(POSITIVE),
    "about.capability": Field(CAPABILITY),
    "about.attention": Field(WORD),
    "climb": Field(OBJECT),
    "climb.samples_per_s": Field(RATES),
    "gpu": Field(OBJECT),
    "gpu.power_w": Field(SECONDS),
    "gpu.counted_w": Field(SECONDS),
    "nodes": Field(OBJECT),
    "versions": Field(OBJECT),
    "probes": Field(OBJECT, is_list=True),
    "gpu_s": Field(SECONDS),
    "parameters": Field(NUMBER),
    "configuration_key": Field(TEXT),
    "log_tail": Field(ANY_TEXT),
}
_PROBE: Mapping[str, Field] = {
    "micro_batch_size": Field(COUNT, may_be_null=False),
    "fits": Field(FLAG, may_be_null=False),
    "pass_s": Field(POSITIVE),
    "peak_memory_gib": Field(SECONDS),
}


def check_object(row: object, kind: type, what: str) -> None:
    """Raise ValueError where a JSON object is not of this kind of record: a key is missing or
    unknown, a value of another type or none of the choices. ``what`` names it: ``the record``."""
    if not isinstance(row, Mapping):
        raise ValueError(f"{what} is {_shown(row)}, not an object or null")
    known = _fields_of(kind)
    needed = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}
    if missing := sorted(needed - row.keys()):
        more = f" and {len(missing) - 1} more keys are" if len(missing) > 1 else " is"
        raise ValueError(f"{missing[0]!r}{more} missing: {what} is incomplete")
    if unknown := row.keys() - known.keys():
        raise ValueError(f"{what} has a key {min(unknown)!r}: a newer bench_runner wrote it")
    _check(row, {name: known[name] for name in row}, "" if what == "the record" else f"{what}.")


def check_environment(environment: Mapping[str, Any]) -> None:
    """Raise ValueError where what is read of a record's environment is not of its kind."""
    _check_plain(environment, "environment", DEEPEST)
    for path, field in _ENVIRONMENT.items():  # an object is checked before what lies within
        outer, _, name = path.partition(".")
        within = (environment.get(outer) or {}) if name else environment
        _check({path: within.get(name or outer)}, {path: field}, "environment.")
    for probe in environment.get("probes") or ():
        _check(probe, _PROBE, "environment.probes.")


@cache
def _fields_of(kind: type) -> Mapping[str, Field]:
    return {name: _field(name, hint) for name, hint in get_type_hints(kind).items()}


def _field(name: str, hint: object) -> Field:
    """What a field must hold, by its type."""
    parts = get_args(hint) if NoneType in get_args(hint) else (hint,)
    (what,) = (part for part in parts if part is not NoneType)
    if get_origin(what) is tuple:
        return Field(SECONDS, may_be_null=False, is_list=True)
    kind = _CLOSER.get(name) or _BY_TYPE.get(what, OBJECT)
    if get_origin(what) is Literal:
        choices = get_args(what)
        kind = Kind(f"one of {', '.join(choices)}", lambda value: value in choices)
    return Field(kind, NoneType in parts)


def _check_plain(value: object, where: str, depth: int) -> None:
    """What JSON can say, of finite numbers, not endlessly deep."""
    if depth == 0:
        raise ValueError(f"{where.partition('.')[0]} holds objects {DEEPEST} deep or more")
    if isinstance(value, Mapping):
        for name, each in value.items():
            if not isinstance(name, str):
                raise ValueError(f"{where} has a name that is no text")
            _check_plain(each, f"{where}.{name}"[:100], depth - 1)
    elif isinstance(value, list | tuple):
        for each in value:
            _check_plain(each, where, depth - 1)
    elif not (value is None or isinstance(value, str | bool) or _is_number(value)):
        raise ValueError(f"{printable(where)} is {_shown(value)}, not a finite number")


def _check(row: Mapping[str, Any], fields: Mapping[str, Field], where: str) -> None:
    """Raise ValueError for the first of these fields that is missing or not of its kind."""
    for name, (kind, may_be_null, is_list) in fields.items():
        value = row.get(name)
        if value is None and may_be_null:
            continue
        if is_list and isinstance(value, list | tuple):
            for odd in (each for each in value if not kind.holds(each)):
                raise ValueError(f"{where}{name} holds {_shown(odd)}, not {kind.says}")
        elif is_list or not kind.holds(value):
            said = f"a list of {kind.says}" if is_list else kind.says
            shown = _shown(value) if name in row else "missing"
            raise ValueError(f"{where}{name} is {shown}, not {said}")


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a huge number"
    clean = printable(text)
    return clean if len(clean) <= 60 else clean[:59] + "…"
