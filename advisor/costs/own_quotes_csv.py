"""Own quotes as a CSV file: read whole or not at all, and written so that nothing runs them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

from advisor.costs.own_quotes import COLUMNS, NEEDED, Items, RowError, make_quote
from advisor.parse import shown
from advisor.tables import to_csv
from bench_runner.outside import MIB, OutsideError, read_outside
from price_catalog.csv_table import nearest
from price_catalog.model import Quote

MAX_FILE_MB = 32
MAX_QUOTES = 200_000
"""A file of more would take memory without end; each needs about a kilobyte."""
MAX_PROBLEMS = 100
"""After so many, reading stops: there is something wrong with all of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What an import would do: all of ``quotes``, or, with any problem, nothing."""

    quotes: tuple[Quote, ...]
    problems: tuple[RowError, ...]
    stopped: bool = False
    """Whether reading stopped at MAX_PROBLEMS."""


def read_quotes(path: Path, items: Items, *, today: date) -> Preview:
    """Read a CSV file of quotes, every row of it. Never raises for what the file holds."""
    try:
        return _Reading(items, today).read(path)
    except _Unreadable as error:
        return Preview(quotes=(), problems=(error.problem,))


class _Unreadable(Exception):
    """The file as a whole cannot be read."""

    def __init__(self, message: str, row: int | None = None, column: str | None = None) -> None:
        super().__init__(message)
        self.problem = RowError(row=row, column=column, message=message)


class _Reading:
    """One file while it is read."""

    def __init__(self, items: Items, today: date) -> None:
        self._items = items
        self._today = today
        self._problems: list[RowError] = []
        self._stopped = False

    def read(self, path: Path) -> Preview:
        quotes: dict[str, int] = {}
        found: list[Quote] = []
        for row, cells in self._rows(_text(path)):
            if len(quotes) >= MAX_QUOTES:
                raise _Unreadable(f"holds more than {MAX_QUOTES:,} quotes: split it")
            if len(self._problems) >= MAX_PROBLEMS:
                self._stopped = True
                break
            made = make_quote(cells, self._items, today=self._today, row=row)
            if isinstance(made, list):
                self._problems += made
            elif made.quote_id in quotes:
                message = f"says the same as row {quotes[made.quote_id]}: keep one of them"
                self._problems.append(RowError(row=row, column="item", message=message))
            else:
                quotes[made.quote_id] = row
                found.append(made)
        if not found and not self._problems:
            raise _Unreadable("holds no quotes: write one a row under the header")
        return Preview(
            quotes=() if self._problems else tuple(found),
            problems=tuple(self._problems),
            stopped=self._stopped,
        )

    def _rows(self, text: str) -> Iterator[tuple[int, dict[str, str]]]:
        first_line = text[: text.find("\n")] if "\n" in text else text
        mark = max(",;\t", key=first_line[:10_000].count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
        header: list[str] | None = None
        start = 1
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                said = shown(str(error), 80)[1:-1]
                raise _Unreadable(
                    f"is not valid CSV ({said}): put double quotes around the cell and double "
                    "those inside it",
                    start,
                ) from None
            if header is None:
                header = _header(cells)
            elif any(cell.strip() for cell in cells):
                if len(cells) != len(header):
                    message = (
                        f"has {len(cells)} cells where the header has {len(header)}: put text "
                        "that contains a comma between double quotes"
                    )
                    self._problems.append(RowError(row=start, column=None, message=message))
                else:
                    yield start, dict(zip(header, cells, strict=True))
            start = reader.line_num + 1
        if header is None:
            raise _Unreadable("is empty: its first row names the columns " + ", ".join(NEEDED), 1)


def _text(path: Path) -> str:
    try:
        data = read_outside(path, MAX_FILE_MB * MIB)
    except OutsideError as error:
        raise _Unreadable(str(error)) from None
    except OSError as error:
        raise _Unreadable(f"cannot be read ({error.strerror}): name a CSV file") from None
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise _Unreadable(
            f"byte {error.start} is not {encoding.removesuffix('-sig').upper()}: save the file as "
            "CSV UTF-8",
            row,
        ) from None


def _header(cells: Sequence[str]) -> list[str]:
    names = [cell.strip().lower().replace(" ", "_") for cell in cells]
    names = ["price" if name == "price_usd" else name for name in names]
    for name in names:
        if name not in COLUMNS and name != "quote_id":
            raise _Unreadable(
                f"column {shown(name)} is not known; {nearest(name, COLUMNS)}", 1, shown(name)[1:-1]
            )
        if names.count(name) > 1:
            raise _Unreadable(f"column '{name}' is there twice: remove one", 1, name)
    for name in NEEDED:
        if name not in names:
            raise _Unreadable(
                f"column '{name}' is missing: the header needs {', '.join(NEEDED)}", 1, name
            )
    return names


def quotes_csv(quotes: Iterable[Quote], names: Mapping[tuple[str, str], str]) -> str:
    """Quotes as the CSV that `read_quotes` reads; no cell of it is run by a spreadsheet."""
    rows = [quote_cells(quote, names) | {"quote_id": quote.quote_id} for quote in quotes]
    return to_csv(rows, (*COLUMNS, "quote_id")) + "\n"


def quote_cells(quote: Quote, names: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """A quote as somebody would type it, by column; "" where there is nothing."""
    rate = ""
    if quote.price_quoted is not None:
        rate = format((quote.price_usd / quote.price_quoted).quantize(Decimal("1e-9")), "f")
    price = quote.price_usd if quote.price_quoted is None else quote.price_quoted
    return {
        "item": names.get((quote.item_kind, quote.item_id), quote.item_id),
        "price": format(price, "f"),
        "vendor": quote.vendor,
        "date": quote.quoted_on.isoformat(),
        "kind": quote.kind,
        "item_kind": quote.item_kind,
        "currency": quote.currency,
        "usd_per_unit": rate,
        "includes": quote.includes or "",
        "valid_until": quote.valid_until.isoformat() if quote.valid_until else "",
        "delivery": quote.delivery or "",
        "warranty": quote.warranty or "",
        "url": quote.url or "",
        "file": quote.file or "",
        "note": quote.note or "",
        "corrects": quote.corrects or "",
    }
