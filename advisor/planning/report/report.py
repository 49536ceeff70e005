"""What a report holds, whatever form it is given (pure records)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Self

from advisor.costs.amount_words import usd_and_cents
from advisor.planning.currency import CENTS_BELOW
from advisor.planning.grant.funder import Paper
from advisor.planning.report.number_ledger import MARKED, LedgerRow, Num
from advisor.planning.sensitivity.solved_amounts import number_words

Cell = str | Num | None
"""None is shown as "no data"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table; the last row is a total where ``total`` says so."""

    name: str
    """Short and unique: the name of its sheet and of its CSV file."""
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: bool = False
    after: int = 0
    """Rows behind the total, of who pays it; the last of them is strong as the total is."""

    @classmethod
    def of(
        cls, name: str, columns: Sequence[str], rows: Iterable[tuple[Cell, ...]], **more: Any
    ) -> Self:
        """A table from any rows; ``more`` are its other fields."""
        return cls(name=name, columns=tuple(columns), rows=tuple(rows), **more)

    def strong(self, number: int) -> bool:
        """Whether a row, from 1, is a total."""
        return self.total and number in (len(self.rows), len(self.rows) - self.after)

    def shown(self, cell: Cell) -> str:
        """A cell as a person reads it; amounts have cents where one of the table has."""
        if isinstance(cell, Num) and cell.unit == "usd" and self._has_cents():
            return usd_and_cents(cell.value)
        return shown(cell)

    def _has_cents(self) -> bool:
        nums = (c for row in self.rows for c in row if isinstance(c, Num) and c.unit == "usd")
        return any(num.value != num.value.to_integral_value() for num in nums)

    def pieces(self, most: int) -> list[ReportTable]:
        """The table with at most ``most`` columns after the first, in as many tables as that
        takes: fifteen years do not stand beside each other on a page."""
        if len(self.columns) <= most + 1 or not all(self.numeric()[1:]):
            return [self]
        found = []
        for at in range(1, len(self.columns), most):
            cut = slice(at, at + most)
            rows = tuple((row[0], *row[cut]) for row in self.rows)
            # Who pays is said of all years together: of some of them those rows are empty.
            told = tuple(row for row in rows if any(cell != "" for cell in row[1:]))
            found.append(
                replace(
                    self,
                    name=f"{self.name}, {self.columns[cut][0]} to {self.columns[cut][-1]}",
                    columns=(self.columns[0], *self.columns[cut]),
                    rows=told,
                    after=self.after - (len(rows) - len(told)),
                )
            )
        if len(found[-1].columns) == 2:
            found[-1] = replace(found[-1], name=f"{self.name}, {self.columns[-1]}")
        return found

    def numeric(self) -> list[bool]:
        """Which columns hold numbers; those are set to the right."""
        return [
            any(isinstance(row[at], Num) for row in self.rows) for at in range(len(self.columns))
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A drawing, as SVG."""

    name: str
    caption: str
    svg: str


Block = str | tuple[str, ...] | ReportTable | Picture
"""A paragraph, a list, a table or a picture. Numbers stand in text as `Num.__str__` marks them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the report."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The whole."""

    title: str
    made_on: date
    sections: tuple[Section, ...]
    """Of the annex: everything that a reader may want to check."""
    rows: tuple[LedgerRow, ...]
    """The annex's ledger; without rows no number is marked with the row that it comes from."""
    form: tuple[Section, ...] = ()
    """What the funder reads: the budget in its own lines, and the justification."""
    paper: Paper = "a4"
    currency: str = "USD"
    """Of its amounts; the ledger begins in US dollars, as prices are kept."""
    decimal_comma: bool = False
    """Whether the funder's offices write 1,50 for one and a half."""
    converted: str | None = None
    """At which rate, of which day and source; None where nothing is converted."""
    objects: Mapping[str, Any] = field(default_factory=dict)
    """The plan and its money as data, for programs: numbers are ``Num``."""

    def tables(self) -> list[ReportTable]:
        """Every table, in order."""
        sections = (*self.form, *self.sections)
        return [b for s in sections for b in s.blocks if isinstance(b, ReportTable)]

    def pictures(self) -> list[Picture]:
        """Every picture, in order."""
        return [b for s in self.sections for b in s.blocks if isinstance(b, Picture)]

    def parts(self) -> tuple[Report, Report]:
        """What the funder reads, without marks, and the annex."""
        funder = replace(self, sections=self.form, rows=(), form=())
        return funder, replace(self, title=f"{self.title}: annex", form=())


def shown(cell: Cell) -> str:
    """A cell as a person reads it, without its row."""
    if cell is None:
        return "no data"
    if isinstance(cell, str):
        return cell
    digits = max(cell.value.adjusted() + 1, 2) if cell.estimate else None
    value = cell.value if digits is None else Decimal(f"{cell.value:.{digits}g}")
    return number_words(value, cell.unit)


MONEY = re.compile("usd|[A-Z]{3}")
"""Units of amounts."""


def in_prose(cell: str | Num) -> str:
    """A word or a number of a sentence: an amount without its cents, unless it is small."""
    if isinstance(cell, Num) and MONEY.fullmatch(cell.unit) and abs(cell.value) >= CENTS_BELOW:
        whole = cell.value.to_integral_value(ROUND_HALF_UP)
        return number_words(whole, cell.unit).removesuffix(".00")
    return shown(cell)


def words_of(text: str) -> list[str | Num]:
    """A text, parted into plain words and the numbers that are marked in it."""
    *parts, last = MARKED.split(text)
    found: list[str | Num] = []
    for at in range(0, len(parts), 5):
        before, value, unit, row, estimate = parts[at : at + 5]
        found += [before] if before else []
        number = Num(value=Decimal(value), unit=unit, row=int(row), estimate=bool(estimate))
        found.append(number)
    return [*found, last] if last else found


def plain_text(text: str) -> str:
    """A text as a person reads it, without the rows of its numbers."""
    return "".join(map(in_prose, words_of(text)))
