"""Amounts in the currency of the grant: prices are converted, and sums are computed again."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from advisor.planning.report.number_ledger import LedgerRow, Num
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report import Block, Cell, Picture, Section, words_of

RATES = {"usd-per-hour": 6, "usd-per-kwh": 6}
"""Rates so fine that thousands of hours of them are right to the hundredth."""


class InCurrency:
    """From US dollars to the grant's currency.

    Only what is a price, a setting or the cost of another plan is converted; what is computed from
    those is computed again from the converted ones. So the lines of every table add up to its
    totals, and an amount is the same wherever it stands.
    """

    def __init__(self, given: Material) -> None:
        self._given = given
        currency = given.loaded.grant.currency
        self.code = currency.code
        self._decimals = {"usd": currency.decimals, **RATES}
        self._known: dict[int, Num] = {}
        grant = given.loaded.grant
        self._stated = grant.stated
        self._lines = {(f.key, f.usd): f.stated for f in given.loaded.problem.fixed}

    def num(self, num: Num) -> Num:
        """A number; one that is no money, or already in it, stays as it is."""
        if self.code == "USD" or num.unit not in self._decimals:
            return num
        if num.row not in self._known:
            self._known[num.row] = self._converted(num)
        return self._known[num.row]

    def _converted(self, num: Num) -> Num:
        ledger = self._given.ledger
        row = ledger.rows[num.row - 1]
        unit = self.code + num.unit.removeprefix("usd")
        label = f"{row.label}, in {self.code}"
        if row.operation is not None:
            parts = [Num(value=r.value, unit=r.unit, row=r.number) for r in map(self._row, row.of)]
            asked = next((part for part in parts if part.unit == self.code), None)
            if asked is not None:  # its seller asks it so
                return asked
            of = [self.num(part) for part in parts]
            decimals = row.decimals
            if decimals is not None and num.unit == "usd":
                decimals = min(decimals, self._decimals["usd"])
            return ledger.compute(row.operation, of, unit, label, decimals=decimals)
        stated = self._as_stated(row)
        if stated is not None:  # never in dollars: there and back it could be another amount
            return ledger.leaf("setting", stated, unit, label, **row.origin)
        rate = self._given.book.setting(
            "budget.usd_per_unit",
            self._given.loaded.grant.currency.usd_per_unit,
            "factor",
            f"US dollars a {self.code}",
        )
        return ledger.compute("ratio", [num, rate], unit, label, decimals=self._decimals[num.unit])

    def _as_stated(self, row: LedgerRow) -> Decimal | None:
        """A setting that the grant has in its own currency."""
        if row.kind != "setting":
            return None
        key = str(row.origin.get("key"))
        return self._lines.get((key, row.value)) or self._stated.get(key)

    def is_stated(self, num: Num) -> bool:
        """Whether the grant has it in its own currency."""
        return self._as_stated(self._row(num.row)) is not None

    def _row(self, number: int) -> Any:
        return self._given.ledger.rows[number - 1]

    def cell(self, cell: Cell) -> Cell:
        """A number, converted; anything else as it is."""
        return self.num(cell) if isinstance(cell, Num) else cell

    def text(self, text: str) -> str:
        """Each number of a text, converted."""
        return "".join(str(self.cell(word)) for word in words_of(text))

    def section(self, section: Section) -> Section:
        """Each number of it."""
        return replace(section, blocks=tuple(map(self._block, section.blocks)))

    def _block(self, block: Block) -> Block:
        if isinstance(block, Picture):
            return block
        if isinstance(block, str):
            return self.text(block)
        if isinstance(block, tuple):
            return tuple(map(self.text, block))
        convert = self._if_stated if block.as_written else self.cell
        return replace(block, rows=tuple(tuple(map(convert, row)) for row in block.rows))

    def _if_stated(self, cell: Cell) -> Cell:
        return self.num(cell) if isinstance(cell, Num) and self.is_stated(cell) else cell

    def objects(self, value: Any) -> Any:
        """Each number of objects and lists."""
        if isinstance(value, dict):
            return {key: self.objects(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.objects(each) for each in value]
        return self.num(value) if isinstance(value, Num) else value
