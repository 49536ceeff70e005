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
from typing import Any, Literal, get_args, get_origin, get_type_hints

from bench_runner.untrusted_text import printable

LARGEST_COUNT = 2**31 - 1
"""What the store's columns hold."""
LONGEST_NAME = 200
LONGEST_REASON = 10_000
DEEPEST = 12
"""Objects within objects, of what a record tells about its environment."""

Check = Callable[[object], bool]


def is_name(value: object) -> bool:
    """Text of one line that steers no terminal: no control or direction characters."""
    if not isinstance(value, str) or not value.strip():
        return False
    return value.isprintable() and len(value) <= LONGEST_NAME


def is_number(value: object) -> bool:
    """A finite number; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def is_seconds(value: object) -> bool:
    """A finite number of 0 or more."""
    return is_number(value) and value >= 0  # type: ignore[operator]


def is_positive(value: object) -> bool:
    """A finite number above 0."""
    return is_number(value) and value > 0  # type: ignore[operator]


def is_count(value: object) -> bool:
    """A whole number from 1 on that the store can hold."""
    return type(value) is int and 1 <= value <= LARGEST_COUNT


def is_index(value: object) -> bool:
    """The same from 0 on."""
    return type(value) is int and 0 <= value <= LARGEST_COUNT


def is_flag(value: object) -> bool:
    """True or false."""
    return isinstance(value, bool)


def is_text(value: object) -> bool:
    """Text of any kind, not endless."""
    return isinstance(value, str) and len(value) <= LONGEST_REASON


def is_object(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_any_text(value: object) -> bool:
    return isinstance(value, str)


def _is_day(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(date.fromisoformat(value))
    except ValueError:
        return False


def _is_capability(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(is_index, value))


def _is_word(value: object) -> bool:
    # The library would fetch a kernel of a name like org/kernel, and run it.
    return isinstance(value, str) and value.isidentifier()


def _is_rates(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        name.isascii() and name.isdigit() and len(name) < 11 and is_positive(rate)
        for name, rate in value.items()
    )


_SAY: dict[Check, str] = {
    is_name: f"one line of printable text, at most {LONGEST_NAME} letters",
    is_number: "a number",
    is_seconds: "a number of 0 or more",
    is_positive: "a number above 0",
    is_count: f"a whole number from 1 to {LARGEST_COUNT}",
    is_index: f"a whole number from 0 to {LARGEST_COUNT}",
    is_flag: "true or false",
    is_text: f"text of at most {LONGEST_REASON} letters",
    is_object: "an object",
    _is_any_text: "text",
    _is_day: "a day such as 2026-11-22",
    _is_capability: "two numbers such as [9, 0]",
    _is_word: "a word such as sdpa",
    _is_rates: "an object of numbers above 0 by size",
}
Field = tuple[Check, bool, bool]
"""The check, whether it may be null, whether it is a list of such."""

_BY_TYPE: Mapping[object, Check] = {
    str: is_name,
    int: is_count,
    float: is_seconds,
    bool: is_flag,
    date: _is_day,
}
_CLOSER: Mapping[str, Check] = {
    "reason": is_text,
    "training_days": is_positive,
    "training_days_high": is_positive,
    "step_s": is_positive,
    "allocator_retries": is_index,
}
"""Of the fields of a measurement, what their type does not say."""
_ENVIRONMENT: Mapping[str, Field] = {
    "about": (is_object, True, False),
    "about.usable_memory_gib": (is_positive, True, False),
    "about.capability": (_is_capability, True, False),
    "about.attention": (_is_word, True, False),
    "climb": (is_object, True, False),
    "climb.samples_per_s": (_is_rates, True, False),
    "gpu": (is_object, True, False),
    "gpu.power_w": (is_seconds, True, False),
    "gpu.counted_w": (is_seconds, True, False),
    "nodes": (is_object, True, False),
    "versions": (is_object, True, False),
    "probes": (is_object, True, True),
    "gpu_s": (is_seconds, True, False),
    "parameters": (is_number, True, False),
    "configuration_key": (is_text, True, False),
    "log_tail": (_is_any_text, True, False),
}
_PROBE: Mapping[str, Field] = {
    "micro_batch_size": (is_count, False, False),
    "fits": (is_flag, False, False),
    "pass_s": (is_positive, True, False),
    "peak_memory_gib": (is_seconds, True, False),
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
    for objects in (False, True):  # what lies within an object, once that is known to be one
        found = dict(environment)
        for path in _ENVIRONMENT if objects else ():
            outer, _, name = path.partition(".")
            if name and name in (environment.get(outer) or {}):
                found[path] = environment[outer][name]
        _check(found, {n: field for n, field in _ENVIRONMENT.items() if n in found}, "environment.")
    for probe in environment.get("probes") or ():
        if wrong := wrong_field(probe, _PROBE):
            said = _shown(probe[wrong]) if wrong in probe else "missing"
            raise ValueError(f"environment.probes.{wrong} is {said}")


@cache
def _fields_of(kind: type) -> Mapping[str, Field]:
    return {name: _field(name, hint) for name, hint in get_type_hints(kind).items()}


def _field(name: str, hint: object) -> Field:
    """What a field must hold, by its type."""
    parts = get_args(hint) if NoneType in get_args(hint) else (hint,)
    (what,) = (part for part in parts if part is not NoneType)
    if get_origin(what) is tuple:
        return is_seconds, False, True
    check = _CLOSER.get(name) or _BY_TYPE.get(what, is_object)
    if get_origin(what) is Literal:
        choices = get_args(what)

        def check(value: object) -> bool:
            return value in choices

        _SAY[check] = f"one of {', '.join(choices)}"
    return check, NoneType in parts, False


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
    elif not (value is None or isinstance(value, str | bool) or is_number(value)):
        raise ValueError(f"{printable(where)} is {_shown(value)}, not a finite number")


def _check(row: Mapping[str, Any], fields: Mapping[str, Field], where: str) -> None:
    if (name := wrong_field(row, fields)) is None:
        return
    check, _, is_list = fields[name]
    value = row[name]
    if is_list and isinstance(value, list | tuple):
        odd = next(each for each in value if not check(each))
        raise ValueError(f"{where}{name} holds {_shown(odd)}, not {_SAY[check]}")
    said = f"a list of {_SAY[check]}" if is_list else _SAY[check]
    raise ValueError(f"{where}{name} is {_shown(value)}, not {said}")


def wrong_field(row: Mapping[str, Any], fields: Mapping[str, Field]) -> str | None:
    """The first of these fields that is missing or not of its kind; None where all are right."""
    for name, (check, may_be_null, is_list) in fields.items():
        value = row.get(name)
        if value is None and may_be_null:
            continue
        values = value if is_list and isinstance(value, list | tuple) else [value]
        if (is_list and values is not value) or not all(map(check, values)):
            return name
    return None


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a huge number"
    clean = printable(text)
    return clean if len(clean) <= 60 else clean[:59] + "…"
