"""One row that somebody typed, while it is read: the first thing that is wrong with each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.parse import shown
from advisor.tables.table_formats import unguarded


@dataclass(frozen=True, slots=True, kw_only=True)
class RowError:
    """One cell that cannot be used."""

    row: int | None
    """The line of the file on which the row starts, the header being 1; None for one typed in."""
    column: str | None
    message: str

    def __str__(self) -> str:
        where = [] if self.row is None else [f"row {self.row}"]
        where += [] if self.column is None else [f"column '{self.column}'"]
        return f"{', '.join(where)}: {self.message}" if where else self.message

    def said(self, labels: Mapping[str, str]) -> str:
        """For a form, whose fields have these labels by column."""
        label = labels.get(self.column or "")
        if label is None:
            return self.message
        return f"{label}{' ' if self.message.startswith('is ') else ': '}{self.message}"


class TypedRow:
    """Collects what is wrong with a row."""

    def __init__(self, row: int | None = None) -> None:
        """``row`` is the line of the file that it stands on; None for one typed in."""
        self.problems: list[RowError] = []
        self._row = row

    def clean(self, column: str, text: str) -> str:
        """A cell's text as a program wants it; empty where nobody could read it."""
        text = unguarded(text.strip())
        if not text.isprintable():
            self.wrong(column, f"{shown(text)} holds control characters: take them out")
            return ""
        return text

    def wrong(self, column: str, message: str) -> None:
        """Of several things that are wrong with a column the first is told."""
        if not any(problem.column == column for problem in self.problems):
            self.problems.append(RowError(row=self._row, column=column, message=message))
