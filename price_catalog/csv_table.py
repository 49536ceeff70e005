"""Reads the catalogue's CSV tables; every error is one line that says where and how to mend it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T", bound=str)
V = TypeVar("V")
_CENT = Decimal("0.01")
_HIGHEST = Decimal(10**9)


MOST_NAMED = 12
"""Names that a line of an error lists."""


def nearest(word: str, known: Collection[str], listed_by: str = "") -> str:
    """What is known instead of ``word``: the nearest spellings, or all of them where few, else the
    command that lists all, where there is one."""
    from difflib import get_close_matches  # only a broken row pays for it

    by_folded = {name.casefold(): name for name in known}
    contained = [part for part in word.casefold().split() if part in by_folded]
    spelt = get_close_matches(word.casefold(), list(by_folded), n=3, cutoff=0.5)
    close = list(dict.fromkeys((*contained, *spelt)))[:3]
    if close:
        return "did you mean " + " or ".join(f"'{by_folded[name]}'" for name in close) + "?"
    if len(known) <= MOST_NAMED:
        between = "; " if any(", " in name for name in known) else ", "
        return "known: " + between.join(sorted(known))
    # Of a thing with several spellings their number says nothing.
    return f"none is near: {listed_by} lists them" if listed_by else f"none of {len(known)} is near"


class Row(NamedTuple):
    """One record of a table, which knows where it stands."""

    path: Path
    line: int
    cells: dict[str, str]

    def error(self, column: str, problem: str) -> ValueError:
        """A one-line error that names file, line and column."""
        return ValueError(f"{self.path.name} line {self.line}, column '{column}': {problem}")

    def _needed(self, column: str, value: V | None, needs: str) -> V:
        if value is None:
            raise self.error(column, f"is empty; {needs}")
        return value

    def optional_text(self, column: str) -> str | None:
        return self.cells[column] or None

    def text(self, column: str) -> str:
        return self._needed(column, self.optional_text(column), "this column needs a value")

    def choice(self, column: str, known: Collection[T]) -> T:
        value = self.text(column)
        for choice in known:
            if value == choice:
                return choice
        raise self.error(column, f"'{value}' is not known here; {nearest(value, known)}")

    def optional_number(self, column: str) -> float | None:
        value = self.cells[column]
        number = _decimal(value) if value else None
        if value and (number is None or number <= 0):
            raise self.error(
                column,
                f"'{value}' is not a number above 0; write it like 71 or 154.8, "
                "and leave the cell empty where nothing is known",
            )
        return None if number is None else float(number)

    def number(self, column: str) -> float:
        return self._needed(column, self.optional_number(column), "write a number above 0")

    def optional_whole_number(self, column: str) -> int | None:
        value = self.cells[column]
        number = _decimal(value) if value else None
        if value and (number is None or not value.isdigit() or number <= 0):
            raise self.error(column, f"'{value}' is not a whole number above 0; write it like 8")
        return int(value) if value else None

    def whole_number(self, column: str) -> int:
        return self._needed(column, self.optional_whole_number(column), "write a number like 8")

    def optional_money(self, column: str, smallest: Decimal = _CENT) -> Decimal | None:
        value = self.cells[column]
        money = _decimal(value) if value else None
        if value and (money is None or money <= 0 or money != money.quantize(smallest)):
            raise self.error(
                column,
                f"'{value}' is not a price in US dollars; write digits and a point, like 1300.00",
            )
        return money

    def money(self, column: str, smallest: Decimal = _CENT) -> Decimal:
        needs = "write a price in US dollars, like 1300.00"
        return self._needed(column, self.optional_money(column, smallest), needs)

    def optional_day(self, column: str) -> date | None:
        value = self.cells[column]
        try:
            if value and len(value) != len("2024-09-21"):
                raise ValueError
            return date.fromisoformat(value) if value else None
        except ValueError:
            raise self.error(column, f"'{value}' is not a date; write it like 2024-09-21") from None

    def day(self, column: str) -> date:
        return self._needed(column, self.optional_day(column), "write a date like 2024-09-21")


def _decimal(text: str) -> Decimal | None:
    """A number in plain digits below a thousand million: nothing here is larger."""
    if not set(text) <= set("+-.0123456789"):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if abs(number) < _HIGHEST else None


def read_rows(path: Path, columns: Sequence[str], optional: Sequence[str] = ()) -> list[Row]:
    """Every row of a CSV table with these columns in any order, cells stripped.

    An ``optional`` column that is not there reads as empty.
    """
    import csv

    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"{path.name} is missing; it belongs at {path}") from None
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} is not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None

    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    rows: list[Row] = []
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(path, header, columns, optional)
        start = reader.line_num + 1
        for cells in reader:
            if cells and len(cells) != len(header):
                raise ValueError(
                    f"{path.name} line {start}: has {len(cells)} cells where the header has "
                    f"{len(header)}; put text that contains a comma between double quotes"
                )
            if cells:
                stripped = (cell.strip() for cell in cells)
                named = dict.fromkeys(optional, "") | dict(zip(header, stripped, strict=True))
                rows.append(Row(path, start, named))
            start = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"{path.name} line {reader.line_num}: is not valid CSV ({error}); "
            "put double quotes around the cell and double those inside it"
        ) from None
    return rows


def _check_header(
    path: Path, header: Sequence[str], columns: Sequence[str], optional: Sequence[str]
) -> None:
    known = (*columns, *optional)
    for name in header:
        if name not in known:
            raise ValueError(
                f"{path.name} line 1: column '{name}' is not known; {nearest(name, known)}"
            )
        if header.count(name) > 1:
            raise ValueError(f"{path.name} line 1: column '{name}' is there twice; remove one")
    missing = [name for name in columns if name not in header]
    if missing:
        raise ValueError(
            f"{path.name} line 1: column '{missing[0]}' is missing; "
            f"the header is {','.join(columns)}"
        )
