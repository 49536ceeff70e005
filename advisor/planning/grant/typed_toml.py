"""Numbers that a grant writes as texts, read as flags read them: ``"80%"``, ``"8w"``, ``"3k"``."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from msgspec import inspect

from bench_runner.typed_numbers import read_amount, read_measure

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
