"""Where every number of a report comes from: numbered rows, leaves and sums (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from advisor.planning.solver.money.arithmetic import computed


@dataclass(frozen=True, slots=True, kw_only=True)
class Num:
    """A number of the report."""

    value: Decimal
    unit: str
    row: int
    """The row that it comes from, from 1."""
    estimate: bool = False
    """Whether it is shown with as many digits as an estimate is worth; its row has them all."""

    @property
    def about(self) -> Num:
        """The same as an estimate."""
        return replace(self, estimate=True)

    def __str__(self) -> str:
        """A mark for the number in a sentence, which each format of a report replaces."""
        return (
            f"\ue000{self.value}\ue001{self.unit}\ue001{self.row}\ue001{'~' * self.estimate}\ue002"
        )


MARKED = re.compile("\ue000([^\ue000-\ue002]*)\ue001(.*?)\ue001(\\d+)\ue001(~?)\ue002")
"""What `Num.__str__` writes. Its letters are not printable, so no text that is read has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """One row: a leaf with its origin, or an operation on other rows."""

    number: int
    label: str
    unit: str
    value: Decimal
    kind: str
    """``quote``, ``asked``, ``part``, ``rental``, ``time``, ``gpu``, ``host`` or ``model`` of the
    store; a ``setting`` of the grant; a choice of the ``plan``; found by a ``solve`` with a change;
    a factor between ``unit``s; or ``computed``."""
    origin: Mapping[str, Any]
    """Of a leaf: what it is in the store, the grant, the plan or the solver."""
    operation: str | None = None
    of: tuple[int, ...] = ()
    decimals: int | None = None
    """To which it is rounded, halves up."""


@dataclass(slots=True)
class NumberLedger:
    """The rows of one report, each there once."""

    currency: str = "usd"
    """The unit of amounts in the grant's currency, which formulas call ``money``."""
    rows: list[LedgerRow] = field(default_factory=list)
    _known: dict[Any, Num] = field(default_factory=dict)

    def leaf(
        self, kind: str, value: Decimal | int | float, unit: str, label: str, **origin: Any
    ) -> Num:
        """A number with its origin."""
        number = value if isinstance(value, Decimal) else Decimal(str(value))
        unit = self._unit(unit)
        key = _leaf_key(kind, unit, origin)
        held = self._known.get(key)
        if held is not None and held.value == number:
            return held
        return self._add(key, kind=kind, value=number, unit=unit, label=label, origin=origin)

    def derive(self, num: Num, **origin: Any) -> None:
        """From now on that setting is ``num``, which is computed from others."""
        self._known[_leaf_key("setting", num.unit, origin)] = num

    def compute(
        self,
        operation: str,
        of: Sequence[Num],
        unit: str,
        label: str,
        *,
        decimals: int | None = None,
    ) -> Num:
        """A number computed from others."""
        unit = self._unit(unit)
        value = computed(operation, [num.value for num in of], decimals)
        rows = tuple(num.row for num in of)
        key = (operation, rows, decimals, unit)
        held = self._known.get(key)
        if held is not None:
            return held
        return self._add(
            key,
            kind="computed",
            value=value,
            unit=unit,
            label=label,
            origin={},
            operation=operation,
            of=rows,
            decimals=decimals,
        )

    def total(self, of: Sequence[Num], label: str, unit: str = "money") -> Num:
        """A sum; of nothing it is zero by definition."""
        return self.compute("sum", of, unit, label)

    def _unit(self, unit: str) -> str:
        """Dollars among amounts of another currency have their code, as those have."""
        money, mark, each = unit.partition("-per-")
        if money == "money":
            return f"{self.currency}{mark}{each}"
        return unit.replace("usd", "USD") if money == "usd" != self.currency else unit

    def _add(self, key: Any, **values: Any) -> Num:
        number = len(self.rows) + 1
        row = LedgerRow(number=number, **values)
        self.rows.append(row)
        num = Num(value=row.value, unit=row.unit, row=number)
        self._known[key] = num
        return num


def _leaf_key(kind: str, unit: str, origin: Mapping[str, Any]) -> Any:
    return kind, unit, tuple(sorted((k, str(v)) for k, v in origin.items()))
