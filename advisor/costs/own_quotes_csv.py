"""Own quotes as a CSV file: read whole or not at all, and written so that nothing runs them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import chain
from pathlib import Path

from advisor.costs.own_machines import (
    MACHINE_COLUMNS,
    QUOTE_COLUMNS,
    find_own,
    machine_cells,
    quoted,
    read_machine,
)
from advisor.costs.own_quotes import COLUMNS, NEEDED, Items, RowError, make_quote, no_such_quote
from advisor.tables.table_formats import to_csv
from advisor.typed_input import shown
from advisor.wrong_file import what_it_is
from bench_runner.untrusted_text import MIB, OutsideError, read_outside
from price_catalog.csv_table import nearest
from price_catalog.model import OWN_QUOTE, Gpu, Host, Quote

MAX_FILE_MB = 64
MAX_QUOTES = 100_000
MAX_MACHINES = 1_000
"""So many machines of the user's own may one file describe."""
FACTS = tuple(name for name in MACHINE_COLUMNS if name != "machine")
"""The columns that describe a machine of the user's own, whose name is the item."""
_MARKS = {",": "comma", ";": "semicolon", "\t": "tab"}
"""What parts the cells of a row."""
_NAMED_MARK = re.compile(r'"?sep=([,;\t])"?[;,\t]*\r?\n?', re.IGNORECASE)
"""A first line by which a spreadsheet says it."""
MAX_PROBLEMS = 100
"""After this many, reading stops: there is something wrong with all of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What an import would do: keep all quotes, or, with any problem, nothing."""

    quotes: tuple[Quote, ...] = ()
    problems: tuple[RowError, ...] = ()
    stopped: bool = False
    """Whether reading stopped at MAX_PROBLEMS."""
    hosts: tuple[Host, ...] = ()
    """Machines of the user's own that the file describes and the store lacks."""


def read_quotes(path: Path, items: Items, *, today: date) -> Preview:
    """Read a CSV file of quotes. Never raises for what the file holds."""
    try:
        return _Reading(items, today).read(path)
    except _Unreadable as error:
        problem = error.problem
        if (found := what_it_is(path, "quotes")) is not None:
            problem = RowError(row=None, column=None, message=found)
        return Preview(problems=(problem,))


class _Unreadable(Exception):
    """The file as a whole cannot be read."""

    def __init__(self, message: str, row: int | None = None, column: str | None = None) -> None:
        super().__init__(message)
        self.problem = RowError(row=row, column=column, message=message)


class _Reading:
    """One file while it is read."""

    def __init__(self, items: Items, today: date) -> None:
        self._known_ids = items.quote_ids or frozenset()
        # A correction may name a quote of a later row, so ids are checked at the end.
        self._items = items.correcting(None)
        self._today = today
        self._rows_by_id: dict[str, int] = {}
        self._problems: list[RowError] = []
        self._hosts: list[Host] = []

    def read(self, path: Path) -> Preview:
        quotes: list[Quote] = []
        stopped = False
        for row, cells in self._rows(io.StringIO(_text(path), newline="")):
            if len(quotes) >= MAX_QUOTES:
                raise _Unreadable(f"holds more than {MAX_QUOTES:,} quotes: split it")
            if len(self._problems) >= MAX_PROBLEMS:
                stopped = True
                break
            made = self._quote(row, cells)
            if isinstance(made, list):
                self._problems += made
                continue
            quotes.append(made)
            earlier = self._rows_by_id.setdefault(made.quote_id, row)
            if earlier != row:
                message = f"says the same as row {earlier}: keep one of them"
                self._problems.append(RowError(row=row, column="item", message=message))
        for quote in quotes if not stopped else ():
            named = quote.corrects
            if named and named not in self._known_ids and named not in self._rows_by_id:
                row = self._rows_by_id[quote.quote_id]
                message = no_such_quote(named)
                self._problems.append(RowError(row=row, column="corrects", message=message))
        if self._problems:
            problems = sorted(self._problems, key=lambda problem: problem.row or 0)
            return Preview(problems=tuple(problems[:MAX_PROBLEMS]), stopped=stopped)
        if not quotes:
            raise _Unreadable("holds no quotes: write one a row under the header")
        return Preview(quotes=tuple(quotes), hosts=tuple(self._hosts))

    def _quote(self, row: int, cells: Mapping[str, str]) -> Quote | list[RowError]:
        """The quote of a row; a machine that the row describes is known from then on."""
        if not any(cells.get(name, "").strip() for name in FACTS):
            return make_quote(cells, self._items, today=self._today, row=row)
        name = cells["item"].strip().removesuffix(f" ({OWN_QUOTE})")
        held = find_own(name, self._items.hosts)
        typed = {column: cells.get(column, "") for column in (*FACTS, *QUOTE_COLUMNS)}
        made = read_machine(
            {**typed, "machine": name},
            self._items.gpus,
            self._items.hosts,
            today=self._today,
            replaces=held,
        )
        if isinstance(made, list):
            return [
                replace(each, row=row, column="item" if each.column == "machine" else each.column)
                for each in made
            ]
        if held is None:
            if len(self._hosts) == MAX_MACHINES:
                raise _Unreadable(f"describes more than {MAX_MACHINES:,} machines: split it", row)
            self._hosts.append(made.host)
            self._items = self._items.with_host(made.host)
        elif (other := _other_fact(made.host, held, self._items.gpus)) is not None:
            message = (
                f"{shown(cells.get(other, ''))} is not what {shown(held.name)} has: correct that "
                f"with advisor prices correct --machine {quoted(held.name)}"
            )
            return [RowError(row=row, column=other, message=message)]
        known = {**cells, "item": made.host.host_id, "item_kind": "", "kind": made.quote.kind}
        return make_quote(known, self._items, today=self._today, row=row)

    def _rows(self, lines: Iterable[str]) -> Iterator[tuple[int, dict[str, str]]]:
        lines = iter(lines)
        first, before = next(lines, ""), 0
        if named := _NAMED_MARK.fullmatch(first):
            first, before = next(lines, ""), 1
        mark = named[1] if named else max(_MARKS, key=first[:10_000].count)
        reader = csv.reader(chain([first] if first else [], lines), delimiter=mark, strict=True)
        header: list[str] | None = None
        start = 1 + before
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
            # Spreadsheets write the columns that were once typed in and emptied.
            if header is None:
                while cells and not cells[-1].strip():
                    cells.pop()
                header = _header(cells)
            elif any(cell.strip() for cell in cells):
                while len(cells) > len(header) and not cells[-1].strip():
                    cells.pop()
                if len(cells) != len(header):
                    message = (
                        f"has {len(cells)} cells where the header has {len(header)}: put text "
                        f"that contains a {_MARKS[mark]} between double quotes"
                        + (", and 900.50 for 900,50" if mark == "," else "")
                    )
                    self._problems.append(RowError(row=start, column=None, message=message))
                else:
                    yield start, dict(zip(header, cells, strict=True))
            start = reader.line_num + 1 + before
        if header is None:
            raise _Unreadable("is empty: its first row names the columns " + ", ".join(NEEDED), 1)


def _other_fact(one: Host, other: Host, gpus: Sequence[Gpu]) -> str | None:
    """The first column in which two descriptions of a machine differ."""
    theirs = machine_cells(other, gpus)
    ours = machine_cells(one, gpus)
    return next((name for name in FACTS if ours[name] != theirs[name]), None)


def _text(path: Path) -> str:
    """A whole file or pipe."""
    try:
        raw = read_outside(path, MAX_FILE_MB * MIB)
    except OutsideError as error:
        raise _Unreadable(str(error)) from None
    except OSError as error:
        raise _Unreadable(f"cannot be read ({error.strerror}): name a CSV file") from None
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        what = f"byte {error.start} is not {encoding.removesuffix('-sig').upper()}"
        row = raw.count(b"\n", 0, error.start) + 1
        raise _Unreadable(f"{what}: save the file as CSV UTF-8", row) from None


def _header(cells: Sequence[str]) -> list[str]:
    names = [cell.strip().lower().replace(" ", "_") for cell in cells]
    names = ["price" if name == "price_usd" else name for name in names]
    for name in names:
        if name not in (*COLUMNS, *FACTS, "quote_id"):
            needed = f"the header needs {', '.join(NEEDED)}"
            known = nearest(name, (*COLUMNS, *FACTS))
            known = known if known.startswith("did you mean") else needed
            raise _Unreadable(f"column {shown(name)} is not known; {known}", 1, shown(name)[1:-1])
        if names.count(name) > 1:
            raise _Unreadable(f"column '{name}' is there twice: remove one", 1, name)
    for name in NEEDED:
        if name not in names:
            raise _Unreadable(
                f"column '{name}' is missing: the header needs {', '.join(NEEDED)}", 1, name
            )
    return names


def quotes_csv(
    quotes: Iterable[Quote],
    names: Mapping[tuple[str, str], str],
    gpus: Sequence[Gpu] = (),
    hosts: Iterable[Host] = (),
) -> str:
    """Quotes as the CSV that `read_quotes` reads, with what is known of the user's own machines
    among the ``hosts``; no cell of it is run by a spreadsheet."""
    own = {host.host_id: machine_cells(host, gpus) for host in hosts if host.is_own_quote}
    rows: list[dict[str, str]] = []
    columns: tuple[str, ...] = COLUMNS
    for quote in quotes:
        row = quote_cells(quote, names) | {"quote_id": quote.quote_id}
        if quote.item_id in own:
            facts = own[quote.item_id]
            row |= {"item": facts["machine"]} | {name: facts[name] for name in FACTS}
            columns = (*COLUMNS, *FACTS)
        rows.append(row)
    return to_csv(rows, (*columns, "quote_id")) + "\n"


def quote_cells(quote: Quote, names: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """A quote as a person would type it, by column; "" where there is nothing."""
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
