"""The numbers that a plan's money is counted in: plain ones, or ones that know where they are from.

A formula is written once, over an `Arithmetic`. The solver hands it `PLAIN`, and gets Decimals; a
report hands it its ledger, and gets numbers each of which is a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from functools import cache, reduce
from operator import mul
from typing import Any, Protocol, TypeVar

from price_catalog.power import at_the_wall_w

N = TypeVar("N")
Number = Decimal | int | float

OPERATIONS: Mapping[str, Callable[[Sequence[Decimal]], Decimal]] = {
    "sum": lambda values: sum(values, Decimal(0)),
    "product": lambda values: reduce(mul, values),
    "difference": lambda values: values[0] - values[1],
    "ratio": lambda values: values[0] / values[1],
    # How many pieces of a size hold an amount.
    "rounded-up ratio": lambda values: (values[0] / values[1]).to_integral_value(ROUND_CEILING),
    # Price and threshold: the price is in the overhead base where it stays below the threshold.
    "below": lambda values: values[0] if values[0] < values[1] else Decimal(0),
    # A share a year and days: what a price of the first day has become by then.
    "growth": lambda values: (1 + values[0]) ** (values[1] / 365),
    # What remains of 1 without these shares.
    "rest": lambda values: 1 - sum(values, Decimal(0)),
    "least": min,
    "count": lambda values: Decimal(len(values)),
    # W of one GPU, number of GPUs, W of the rest and, where known, the supplies' efficiency.
    "at-the-wall": lambda values: at_the_wall_w(*values),
}


def computed(operation: str, values: Sequence[Decimal], decimals: int | None) -> Decimal:
    """An operation on numbers, rounded to a number of decimals, halves up; None: not rounded."""
    value = OPERATIONS[operation](values)
    if decimals is None:
        return value
    return value.quantize(_quantum(decimals), rounding=ROUND_HALF_UP)


@cache
def _quantum(decimals: int) -> Decimal:
    return Decimal(1).scaleb(-decimals)


class Arithmetic(Protocol[N]):
    """How numbers are made and computed with."""

    def leaf(self, kind: str, value: Number, unit: str, label: str, **origin: Any) -> N:
        """A number with its origin."""

    def compute(
        self,
        operation: str,
        of: Sequence[N],
        unit: str,
        label: str,
        *,
        decimals: int | None = None,
    ) -> N:
        """A number computed from others by one of OPERATIONS."""


class _Plain:
    """Numbers alone, without their origin."""

    def leaf(self, kind: str, value: Number, unit: str, label: str, **origin: Any) -> Decimal:
        return value if isinstance(value, Decimal) else Decimal(str(value))

    def compute(
        self,
        operation: str,
        of: Sequence[Decimal],
        unit: str,
        label: str,
        *,
        decimals: int | None = None,
    ) -> Decimal:
        return computed(operation, of, decimals)


PLAIN = _Plain()


def setting(on: Arithmetic[N], key: str, value: Decimal | int, unit: str, label: str) -> N:
    """A setting of the grant or of its institution."""
    return on.leaf("setting", value, unit, label, key=key)
