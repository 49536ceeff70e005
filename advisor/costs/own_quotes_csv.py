"""Own quotes as a CSV file: read whole or not at all, and written so that nothing runs them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from advisor.costs.own_machines import (
    MACHINE_COLUMNS,
    OwnMachine,
    machine_cells,
    quoted,
    read_machine,
)
from advisor.costs.own_quotes import (
    COLUMNS,
    NEEDED,
    Items,
    RowError,
    make_quote,
    no_such_quote,
    quote_cells,
)
from advisor.tables.table_formats import to_csv
from advisor.typed_input import shown
from advisor.wrong_file import what_it_is
from bench_runner.untrusted_text import MIB, OutsideError, read_outside
from price_catalog.csv_table import nearest
from price_catalog.model import OWN_QUOTE, Gpu, Host, Quote

MAX_FILE_MB = 64
MAX_QUOTES = 100_000
FACTS = tuple(name for name in MACHINE_COLUMNS if name != "machine")
"""The columns that describe a machine of the user's own, whose name is the item."""
_MARKS = {",": "comma", ";": "semicolon", "\t": "tab"}
"""What parts the cells of a row."""
_NAMED_MARK = re.compile(r'"?sep=([,;\t])"?[;,\t]*\r?\n?', re.IGNORECASE)
"""A first line by which a spreadsheet says it."""
MAX_PROBLEMS = 100
"""After this many, reading stops: there is something wrong with all of the file."""


class Preview(NamedTuple):
    """What an import would do: keep all quotes, or, with any problem, nothing."""

    quotes: tuple[Quote, ...] = ()
    problems: tuple[RowError, ...] = ()
    hosts: tuple[Host, ...] = ()
    """Machines of the user's own that the file describes and the store lacks."""

    @property
    def stopped(self) -> bool:
        """Whether there may be more problems."""
        return len(self.problems) >= MAX_PROBLEMS


class _Unreadable(Exception):
    """The file as a whole cannot be read."""

    def __init__(self, message: str, row: int | None = None, column: str | None = None) -> None:
        self.problem = RowError(row, column, message)


def read_quotes(path: Path, items: Items, *, today: date) -> Preview:
    """Read a CSV file of quotes. Never raises for what the file holds."""
    try:
        return _read(path, items, today)
    except _Unreadable as error:
        found = what_it_is(path, "quotes")
        return Preview(problems=(error.problem if found is None else RowError(None, None, found),))


def _read(path: Path, items: Items, today: date) -> Preview:
    # A correction may name a quote of a later row, so ids are checked at the end.
    known, items = items.quote_ids or (), Items(items.gpus, items.hosts.values(), None)
    quotes: dict[str, tuple[int, Quote]] = {}
    hosts: list[Host] = []
    problems: list[RowError] = []
    for row, cells in _rows(_text(path), problems):
        if len(quotes) >= MAX_QUOTES:
            raise _Unreadable(f"holds more than {MAX_QUOTES:,} quotes: split it")
        if len(problems) >= MAX_PROBLEMS:
            return Preview(problems=tuple(problems))
        made: OwnMachine | Quote | list[RowError]
        if any(cells.get(name, "").strip() for name in FACTS):
            made = _described(row, cells, items, today)
        else:
            made = make_quote(cells, items, today=today, row=row)
        if isinstance(made, OwnMachine):
            if made.host.host_id not in items.hosts:
                hosts.append(made.host)
                items.add(made.host)
            made = made.quote
        if isinstance(made, list):
            problems += made
        elif made.quote_id in quotes:
            earlier = quotes[made.quote_id][0]
            words = f"says the same as row {earlier}: keep one of them"
            problems.append(RowError(row, "item", words))
        else:
            quotes[made.quote_id] = (row, made)
    for row, quote in quotes.values():
        if quote.corrects and quote.corrects not in known and quote.corrects not in quotes:
            problems.append(RowError(row, "corrects", no_such_quote(quote.corrects)))
    if problems:
        problems.sort(key=lambda problem: problem.row or 0)
        return Preview(problems=tuple(problems[:MAX_PROBLEMS]))
    if not quotes:
        raise _Unreadable("holds no quotes: write one a row under the header")
    return Preview(tuple(quote for _, quote in quotes.values()), (), tuple(hosts))


def _described(
    row: int, cells: Mapping[str, str], items: Items, today: date
) -> OwnMachine | list[RowError]:
    """The machine that a row describes with its price, or what is wrong with it."""
    name = cells["item"].strip().removesuffix(f" ({OWN_QUOTE})")
    held, corrects = items.own_machine(name), cells.get("corrects", "")
    typed = {**cells, "machine": name}
    made = read_machine(typed, items, today=today, row=row, replaces=held, corrects=corrects)
    if isinstance(made, list):
        columns = {"machine": "item"}
        return [
            RowError(row, columns.get(column or "", column), words) for _, column, words in made
        ]
    if held is not None:
        theirs, ours = machine_cells(held, items.gpus), machine_cells(made.host, items.gpus)
        other = next((name for name in FACTS if ours[name] != theirs[name]), None)
        if other is not None:
            words = (
                f"{shown(cells.get(other, ''))} is not what {shown(held.name)} has: correct that "
                f"with advisor prices correct --machine {quoted(held.name)}"
            )
            return [RowError(row, other, words)]
    return made


def _rows(text: str, problems: list[RowError]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows with the line that each starts on; those of another width are ``problems``."""
    named, start = _NAMED_MARK.match(text), 1
    if named is not None:
        text, start = text[named.end() :], 2
    mark = named[1] if named else max(_MARKS, key=text[:10_000].partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    first, header = start, list[str]()
    try:
        for cells in reader:
            # Spreadsheets write the columns that were once typed in and emptied.
            while cells and not cells[-1].strip() and len(cells) > len(header):
                cells.pop()
            if not header:
                header = _header(cells)
            elif len(cells) == len(header) and any(cell.strip() for cell in cells):
                yield start, dict(zip(header, cells, strict=True))
            elif any(cell.strip() for cell in cells):
                words = (
                    f"has {len(cells)} cells where the header has {len(header)}: put text that "
                    f"contains a {_MARKS[mark]} between double quotes"
                )
                words += ", and 900.50 for 900,50" if mark == "," else ""
                problems.append(RowError(start, None, words))
            start = reader.line_num + first
    except csv.Error as error:
        words = f"is not valid CSV ({shown(str(error), 80)[1:-1]}): put double quotes around the "
        raise _Unreadable(f"{words}cell and double those inside it", start) from None
    if not header:
        raise _Unreadable("is empty: its first row names the columns " + ", ".join(NEEDED), 1)


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
    needs = f"the header needs {', '.join(NEEDED)}"
    columns = (*COLUMNS, *FACTS, "quote_id")
    if not any(nearest(name, columns).startswith("did you mean") for name in names):
        raise _Unreadable(f"is no table of quotes: {needs}", 1)
    for name in names:
        if name not in columns:
            known = nearest(name, (*COLUMNS, *FACTS))
            known = known if known.startswith("did you mean") else needs
            raise _Unreadable(f"column {shown(name)} is not known; {known}", 1, shown(name)[1:-1])
        if names.count(name) > 1:
            raise _Unreadable(f"column '{name}' is there twice: remove one", 1, name)
    for name in NEEDED:
        if name not in names:
            raise _Unreadable(f"column '{name}' is missing: {needs}", 1, name)
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
    for quote in quotes:
        facts = own.get(quote.item_id, {})
        row = quote_cells(quote, names) | facts | {"quote_id": quote.quote_id}
        rows.append(row | ({"item": facts["machine"]} if facts else {}))
    described = any("machine" in row for row in rows)
    return to_csv(rows, (*COLUMNS, *(FACTS if described else ()), "quote_id")) + "\n"
