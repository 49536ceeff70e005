"""Reads the catalogue's CSV tables; every error is one line that says where and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

R = TypeVar("R")

MOST_NAMED = 15
"""Names that a line of an error lists."""


def nearest(word: str, known: Collection[str], listed_by: str = "") -> str:
    """What is known instead of ``word``: the nearest spellings, or all of them where few, else the
    command that lists all, where there is one."""
    from difflib import get_close_matches  # only a broken row pays for it

    by_folded = {name.casefold(): name for name in known}
    contained = [part for part in word.casefold().split() if part in by_folded]
    if " " not in word:  # it may be the first of a longer name
        by_folded = {name.casefold().partition(" ")[0]: name for name in known} | by_folded
    spelt = get_close_matches(word.casefold(), list(by_folded), n=6, cutoff=0.5)
    close = list(dict.fromkeys(by_folded[name] for name in (*contained, *spelt)))[:3]
    if close:
        return "did you mean " + " or ".join(f"'{name}'" for name in close) + "?"
    if len(known) <= MOST_NAMED:
        between = "; " if any(", " in name for name in known) else ", "
        return "known: " + between.join(sorted(known))
    # Of a thing with several spellings their number says nothing.
    return f"none is near: {listed_by} lists them" if listed_by else f"none of {len(known)} is near"


class Kind(NamedTuple):
    """What a cell may hold."""

    pattern: str
    make: Callable[[str], Any]
    form: str


_ABOVE_0 = r"(?=.*[1-9])"
TEXT = Kind("(?s:.+)", str, "a text")
NUMBER = Kind(_ABOVE_0 + r"(\d{1,9}(\.\d*)?|\.\d+)", float, "a number above 0, like 71 or 154.8")
COUNT = Kind(_ABOVE_0 + r"\d{1,9}", int, "a whole number above 0, like 8")
MONEY = Kind(_ABOVE_0 + r"\d{1,9}(\.\d\d?)?", Decimal, "a price in US dollars, like 1300.00")
RATE = Kind(_ABOVE_0 + r"\d{1,9}(\.\d{1,4})?", Decimal, "US dollars, like 1.2345")
DAY = Kind(r"\d{4}-\d\d-\d\d", date.fromisoformat, "a date, like 2024-09-21")
_KINDS: Mapping[object, Kind] = {
    **{str: TEXT, str | None: TEXT, float: NUMBER, float | None: NUMBER},
    **{int: COUNT, int | None: COUNT, Decimal: MONEY, Decimal | None: MONEY},
    **{date: DAY, date | None: DAY, bool: Kind("yes|no", "yes".__eq__, "yes or no")},
}


class Row(NamedTuple):
    """One record of a table, which knows where it stands."""

    path: Path
    line: int
    cells: dict[str, str]

    def error(self, column: str, problem: str) -> ValueError:
        """A one-line error that names file, line and column."""
        return ValueError(f"{self.path.name} line {self.line}, column '{column}': {problem}")

    def needed(self, column: str, kind: Kind = TEXT) -> Any:
        """What a cell holds, which may not be empty."""
        if not (text := self.cells[column]):
            raise self.error(column, f"is empty; write {kind.form}")
        try:
            if re.fullmatch(kind.pattern, text, re.ASCII):
                return kind.make(text)
        except ValueError:
            pass  # the 31st of February
        raise self.error(column, f"'{text}' is not {kind.form}")

    def optional(self, column: str, kind: Kind = TEXT) -> Any:
        return self.needed(column, kind) if self.cells[column] else None

    def text(self, column: str) -> str:
        return str(self.needed(column))

    def words(self, column: str, known: Collection[str] | None = None) -> tuple[str, ...]:
        """The words between semicolons, each of them one of those that are known."""
        words = tuple(word.strip() for word in self.cells[column].split(";") if word.strip())
        for word in words:
            if known is not None and word not in known:
                raise self.error(column, f"'{word}' is not known here; {nearest(word, known)}")
        return words

    def choice(self, column: str, known: Collection[str]) -> str:
        if (word := self.text(column)) not in known:
            raise self.error(column, f"'{word}' is not known here; {nearest(word, known)}")
        return word


Reader = Callable[[Row, str], Any]
"""Reads one column of a row."""


def one_of(known: Collection[str], *, needed: bool = True) -> Reader:
    return lambda row, name: row.choice(name, known) if needed or row.cells[name] else None


def several_of(known: Collection[str]) -> Reader:
    return lambda row, column: row.words(column, known)


_types = cache(get_type_hints)


def _reader(annotation: Any) -> Reader:
    if annotation == tuple[str, ...]:
        return Row.words
    kind = _KINDS[annotation]
    if type(None) in get_args(annotation):
        return lambda row, column: row.optional(column, kind)
    return lambda row, column: row.needed(column, kind)


def read_records(
    path: Path,
    record: Callable[..., R],
    readers: Mapping[str, Reader] = MappingProxyType({}),
    *,
    key: str = "",
    seen: dict[str, Row] | None = None,
) -> list[R]:
    """A record for each row: a field has a reader, or is read from the column of its name as its
    annotation says; one that has a default needs no column. ``key`` is there once in all tables
    that share ``seen``.
    """
    fields = {name: kind for name, kind in _types(record).items() if name not in _NO_COLUMNS}
    has_default = {
        name: given.default is not given.empty
        for name, given in signature(record).parameters.items()
    }
    columns = [name for name in fields if not has_default[name]]
    optional = [name for name in fields if has_default[name]]
    reads = {name: readers.get(name) or _reader(kind) for name, kind in fields.items()}
    order = [*readers, *(name for name in reads if name not in readers)]
    seen = {} if seen is None else seen
    records = []
    for row in read_rows(path, columns, optional):
        if key and (first := seen.setdefault(row.text(key), row)) is not row:
            raise row.error(
                key,
                f"'{row.text(key)}' is already in "
                f"{'' if first.path == path else first.path.name + ' '}line {first.line}; "
                "keep one of them",
            )
        said = (name for name in order if row.cells[name] or not has_default[name])
        records.append(record(**{name: reads[name](row, name) for name in said}))
    return records


_NO_COLUMNS = ("origin", "parts", "return")


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
