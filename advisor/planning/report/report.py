"""What a report holds, whatever form it is given (pure records)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from advisor.planning.report.number_ledger import LedgerRow, Num
from advisor.planning.sensitivity.solved_amounts import number_words

Cell = str | Num | None
"""None is shown as "no data"."""
Words = tuple[str | Num, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Running text."""

    words: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullets:
    """A list."""

    items: tuple[Words, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table; the last row is a total where ``total`` says so."""

    name: str
    """Short and unique: the name of its sheet and of its CSV file."""
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: bool = False

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


Block = Paragraph | Bullets | ReportTable | Picture


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
    rows: tuple[LedgerRow, ...]

    def tables(self) -> list[ReportTable]:
        """Every table, in order."""
        return [b for s in self.sections for b in s.blocks if isinstance(b, ReportTable)]


def shown(cell: Cell) -> str:
    """A cell as a person reads it, without its row."""
    if cell is None:
        return "no data"
    return cell if isinstance(cell, str) else number_words(cell.value, cell.unit)


def joined(words: Words) -> str:
    """Words as plain text, without their rows."""
    return "".join(shown(word) for word in words)
