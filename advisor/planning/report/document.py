"""What a report holds, whatever form it is given, and how a template becomes sections of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import Any, Self

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from advisor.costs.amount_words import day_words, usd_and_cents
from advisor.planning.currency import CENTS_BELOW
from advisor.planning.grant.candidates.cost_lines import line_words
from advisor.planning.grant.funder import Paper
from advisor.planning.report.number_ledger import MARKED, LedgerRow, Num
from advisor.planning.sensitivity.solved_amounts import number_words

FOLDER = Path(__file__).with_name("templates")
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
    """Of its amounts."""
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


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return f"{text[:1].upper()}{text[1:]}"


def listed(names: Iterable[object]) -> str:
    """``A, B and C``; with semicolons where the names have commas."""
    every = list(dict.fromkeys(map(str, names)))
    mark, end = ("; ", "; and ") if any(", " in name for name in every) else (", ", " and ")
    if len(every) < 2:
        return "".join(every)
    return f"{mark.join(every[:-1])}{end}{every[-1]}"


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        autoescape=False,  # plain text, whose formats mask what others wrote
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # A name cannot begin a paragraph, a list or a section.
        finalize=lambda value: " ".join(value.split("\n")) if isinstance(value, str) else value,
    )
    found.filters |= {"listed": listed, "capital": capital, "day_words": day_words}
    found.filters["line_words"] = lambda cost: line_words(cost.kind, cost.name)
    return found


def filled(name: str, **values: Any) -> str:
    """A template of the folder with these values in it."""
    return _environment().get_template(name).render(**values)


def sections_of(
    name: str, blocks: Iterable[ReportTable | Picture | None], **values: Any
) -> tuple[Section, ...]:
    """The sections of a template: ``## Title``, paragraphs and lists with empty lines between, and
    ``[Name]`` where that table or picture stands, if there is one. Lines of a paragraph are joined;
    sections with nothing in them are left out."""
    named = {block.name: block for block in blocks if block is not None}
    found = []
    for part in re.split(r"^## ", filled(name, **values), flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        here: list[Block] = []
        for lines in re.split(r"\n\s*\n", body):
            text = " ".join(lines.split())
            if mark := re.fullmatch(r"\[([\w -]+)\]", text):
                here += [named[mark[1]]] if mark[1] in named else []
            elif text.startswith("- "):
                items = re.split(r"^- ", lines.lstrip(), flags=re.MULTILINE)[1:]
                here.append(tuple(" ".join(item.split()) for item in items))
            elif text:
                here.append(text)
        found.append(Section(title=title.strip(), blocks=tuple(here)))
    return tuple(section for section in found if section.blocks)
