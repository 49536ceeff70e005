"""Whether a record is what a record is: every field of its kind, every number in its range.

Records come from other people's machines. Whoever reads one may rely on what is checked here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

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


def is_flag(value: object) -> bool:
    """True or false."""
    return isinstance(value, bool)


def is_text(value: object) -> bool:
    """Text of any kind, not endless."""
    return isinstance(value, str) and len(value) <= LONGEST_REASON


def is_any_text(value: object) -> bool:
    return isinstance(value, str)


def is_index(value: object) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_COUNT


def _is_day(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(date.fromisoformat(value))
    except ValueError:
        return False


def is_object(value: object) -> bool:
    return isinstance(value, Mapping)


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
    is_any_text: "text",
}
Field = tuple[Check, bool, bool]
"""The check, whether it may be null, whether it is a list of such."""

_RECORD: Mapping[str, Field] = {
    "measurement_id": (is_name, False, False),
    "recipe_id": (is_name, False, False),
    "recipe_hash": (is_name, True, False),
    "gpu": (is_name, False, False),
    "gpu_count": (is_count, False, False),
    "reason": (is_text, True, False),
    "training_days": (is_positive, True, False),
    "training_days_low": (is_seconds, True, False),
    "training_days_high": (is_positive, True, False),
    "source_id": (is_name, False, False),
    "pass_s": (is_seconds, False, True),
    "sync_pass_s": (is_seconds, False, True),
    "update_s": (is_seconds, False, True),
    "step_s": (is_positive, True, False),
    "peak_memory_gib": (is_seconds, True, False),
    "environment": (is_object, False, False),
    "first_pass_s": (is_seconds, False, True),
    "fetch_s": (is_seconds, False, True),
    "mfu": (is_seconds, True, False),
    "allocator_retries": (is_index, True, False),
    "lab": (is_name, True, False),
}
_SETTINGS: Mapping[str, Field] = {
    "free_lunch": (is_flag, False, False),
    "activation_checkpointing": (is_flag, False, False),
    "offloading": (is_flag, False, False),
    "micro_batch_size": (is_count, True, False),
    "gradient_accumulation_steps": (is_count, True, False),
}
_PROBE: Mapping[str, Field] = {
    "micro_batch_size": (is_count, False, False),
    "fits": (is_flag, False, False),
    "pass_s": (is_positive, True, False),
    "peak_memory_gib": (is_seconds, True, False),
}
_ENVIRONMENT: Mapping[str, Field] = {
    "about": (is_object, True, False),
    "climb": (is_object, True, False),
    "gpu": (is_object, True, False),
    "nodes": (is_object, True, False),
    "exchange": (is_object, True, False),
    "versions": (is_object, True, False),
    "probes": (is_object, True, True),
    "gpu_s": (is_seconds, True, False),
    "parameters": (is_number, True, False),
    "configuration_key": (is_text, True, False),
    "log_tail": (is_any_text, True, False),
}
_GPU: Mapping[str, Field] = {
    "power_w": (is_seconds, True, False),
    "counted_w": (is_seconds, True, False),
}


def check_record(row: Mapping[str, Any]) -> None:
    """Raise ValueError where a field of a record's JSON object is not of its kind."""
    _check(row, _RECORD, "")
    settings = row.get("settings")
    if settings is not None:
        if not isinstance(settings, Mapping):
            raise ValueError(f"settings is {_shown(settings)}, not an object or null")
        _check(settings, _SETTINGS, "settings.")
    measured_on = row.get("measured_on")
    if measured_on is not None and not _is_day(measured_on):
        raise ValueError(f"measured_on is {_shown(measured_on)}, not a day such as 2026-11-22")
    environment = row.get("environment")
    if environment is not None:
        _check_environment(environment)


def _check_environment(environment: Mapping[str, Any]) -> None:
    _check_plain(environment, "environment", DEEPEST)
    _check(environment, _ENVIRONMENT, "environment.")
    for probe in environment.get("probes") or ():
        _check(probe, _PROBE, "environment.probes.")
        if "micro_batch_size" not in probe or "fits" not in probe:
            raise ValueError("environment.probes holds one without micro_batch_size or fits")
    _check(environment.get("gpu") or {}, _GPU, "environment.gpu.")
    about = environment.get("about") or {}
    usable = about.get("usable_memory_gib")
    if usable is not None and not is_positive(usable):
        raise ValueError(f"environment.about.usable_memory_gib is {_shown(usable)}, not above 0")
    capability = about.get("capability")
    if capability is not None and not (
        isinstance(capability, list | tuple)
        and len(capability) == 2
        and all(map(is_index, capability))
    ):
        raise ValueError(
            f"environment.about.capability is {_shown(capability)}, not two numbers such as [9, 0]"
        )
    attention = about.get("attention")
    if attention is not None and not (isinstance(attention, str) and attention.isidentifier()):
        # The library would fetch a kernel of a name like org/kernel, and run it.
        raise ValueError(
            f"environment.about.attention is {_shown(attention)}, not a word such as sdpa"
        )
    rates = (environment.get("climb") or {}).get("samples_per_s")
    if rates is not None and not (
        isinstance(rates, Mapping)
        and all(
            name.isascii() and name.isdigit() and len(name) < 11 and is_positive(rate)
            for name, rate in rates.items()
        )
    ):
        raise ValueError(
            "environment.climb.samples_per_s is not an object of numbers above 0 by size"
        )


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
    present = {name: field for name, field in fields.items() if name in row}
    if (name := wrong_field(row, present)) is None:
        return  # a name that is missing is for whoever needs it
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
