"""A user's own quotes: what was typed becomes a quote, or a list of all that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from hashlib import blake2b
from typing import Any, NamedTuple

from advisor.costs.price_book import OWN_SOURCE, PLACEHOLDERS
from advisor.tables.table_formats import unguarded
from advisor.typed_input import InputError, parse_budget, parse_date, parse_decimal, shown
from price_catalog.csv_table import nearest
from price_catalog.currencies import (
    DOLLARS,
    WITH_TAX,
    exchange_rates,
    rate_problem,
    without_currency,
)
from price_catalog.gpu_names import find_gpu, index_gpus
from price_catalog.model import (
    HIGHEST_PRICE_USD,
    ITEM_KINDS,
    LOWEST_PRICE_USD,
    QUOTE_KINDS,
    Gpu,
    Host,
    Quote,
    Source,
)

KINDS = tuple(kind for kind in QUOTE_KINDS if kind not in ("parts-list", "rounded", "owned"))
"""What a user may say that a quote is."""
INCLUDES = ("tax", "shipping", "education discount")
ITEMS_LISTED_BY = "advisor prices list"
"""The command that shows every item."""
MAX_CELL = 500
OLDEST = date(2000, 1, 1)

OWN = Source(
    source_id=OWN_SOURCE,
    title="Your own quotes",
    url=None,
    how_measured="Typed in or imported by the user of this store.",
    licence=None,
    published_on=None,
)

_CENT = Decimal("0.01")


# How a cell is read: every reader raises ValueError, an InputError among them.


def _choice(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if (word := text.lower()) not in choices:
            raise ValueError(f"{shown(word)} is not known; {nearest(word, choices)}")
        return word

    return read


def _day(text: str) -> date:
    day = parse_date(text)
    if day < OLDEST:
        raise ValueError(f"{day} is before {OLDEST}: mend the date")
    return day


def _currency(text: str) -> str:
    if not re.fullmatch(r"[A-Z]{3}", code := text.upper(), re.ASCII):
        raise ValueError(f"{shown(code)} is no currency: write it like USD or EUR")
    return code


def _url(text: str) -> str:
    if not re.match(r"https?://[^\s/]+", text):
        raise ValueError(f"{shown(text)} is no web address: begin it with https://")
    return text


class Column(NamedTuple):
    """One value of a quote or of a machine: a column of a file, a flag, a field of a form."""

    name: str
    label: str
    """Before the field of a form."""
    word: str
    """What stands for its value in the help of the flag."""
    hint: str
    """What to write."""
    read: Callable[[str], Any] = str
    """What a cell says by itself; what depends on other cells is read where these are known."""


QUOTE_TABLE = (
    Column("item", "Item", "NAME", "RTX 3090, or a machine's name"),
    Column("price", "Price", "AMOUNT", "of one piece: 900"),
    Column("vendor", "Vendor", "NAME", "who asks it"),
    Column("date", "Date", "DAY", "2026-11-01", _day),
    Column("kind", "Kind", "KIND", ", ".join(KINDS), _choice(*KINDS)),
    Column(
        *("item_kind", "Item kind", "KIND", "gpu, host, server, part; or found by name"),
        _choice(*ITEM_KINDS),
    ),
    Column("currency", "Currency", "CODE", "EUR; empty: USD", _currency),
    Column("usd_per_unit", "USD per unit", "RATE", "of one unit: 1.14"),
    Column("includes", "Includes", "WORDS", "tax; shipping; education discount"),
    Column("valid_until", "Valid until", "DAY", "2026-12-31, or empty", _day),
    Column("delivery", "Delivery", "WORDS", "6 weeks"),
    Column("warranty", "Warranty", "WORDS", "3 years"),
    Column("url", "Page", "URL", "https://…", _url),
    Column("file", "File", "FILE", "where you keep it"),
    Column("note", "Note", "WORDS", "anything else"),
    Column("corrects", "Corrects", "ID", "the quote that this one stands in for"),
)
"""What may be said of a quote; the first five must be."""
COLUMNS = tuple(column.name for column in QUOTE_TABLE)
NEEDED = COLUMNS[:5]


class Items:
    """Finds what a quote is for, by any spelling."""

    def __init__(
        self,
        gpus: Iterable[Gpu],
        hosts: Iterable[Host],
        quote_ids: Iterable[str] | None = (),
    ) -> None:
        """``quote_ids`` are the quotes that may be corrected; None: any id is taken."""
        self.gpus = tuple(gpus)
        self.quote_ids = None if quote_ids is None else frozenset(quote_ids)
        self.gpu_index = index_gpus(self.gpus)
        self.hosts: dict[str, Host] = {}
        """By folded id, name and label."""
        self.parts: dict[str, str] = {}
        """The parts of the machines' parts lists as they are written there, by folded spelling."""
        for host in hosts:
            self.add(host)

    def add(self, host: Host) -> None:
        """Know one machine more."""
        self.hosts |= {folded(name): host for name in (host.host_id, host.name, host.label)}
        self.parts |= {part.detail.casefold(): part.detail for part in host.parts}

    def own_machine(self, name: str) -> Host | None:
        """The machine of the user's that goes by this name, in any case."""
        host = self.hosts.get(folded(name))
        return host if host is not None and host.is_own_quote else None

    def find(self, spelling: str, kind: str) -> tuple[str, str]:
        """The item's kind and id. Raises InputError with the nearest names."""
        part = self.parts.get(spelling.casefold())
        if kind == "part" or (kind == "" and part is not None):
            return "part", part or spelling
        host = self.hosts.get(folded(spelling))
        if host is not None and kind != "gpu":
            found = "host" if host.gpu_id is None else "server"
            if kind in ("", found):
                return found, host.host_id
        names = {host.name for host in self.hosts.values()}
        if kind not in ("", "gpu"):
            raise InputError(f"no {kind} is called {shown(spelling)}; {nearest(spelling, names)}")
        try:
            return "gpu", find_gpu(spelling, self.gpu_index).gpu_id
        except ValueError:
            known = {name for gpu in self.gpus for name in (gpu.name, *gpu.aliases)}
            near = nearest(spelling, known | (names if not kind else set()), ITEMS_LISTED_BY)
            raise InputError(f"{shown(spelling)} is not known; {near}") from None


def folded(name: str) -> str:
    """A name without case, and with one blank where it has several."""
    return " ".join(name.split()).casefold()


class RowError(NamedTuple):
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
        """For a form or a command, whose fields or flags have these labels by column."""
        label = labels.get(self.column or "")
        if label is None:
            return self.message
        return f"{label}{' ' if self.message.startswith('is ') else ': '}{self.message}"


class TypedRow:
    """The cells of a row while they are read; collects what is wrong, the first of each column."""

    def __init__(
        self, cells: Mapping[str, str], table: Sequence[Column], row: int | None = None
    ) -> None:
        """``row`` is the line of the file that it stands on; None for one typed in."""
        self.problems: list[RowError] = []
        self._row = row
        self._table = table
        self.cells = {each.name: self._clean(each.name, cells.get(each.name)) for each in table}

    def _clean(self, column: str, typed: str | None) -> str:
        text = unguarded((typed or "").strip())
        if len(text) > MAX_CELL:
            self.wrong(column, f"is {len(text):,} characters long: write at most {MAX_CELL}")
        elif not text.isprintable():
            self.wrong(column, f"{shown(text)} holds control characters: take them out")
        else:
            return text
        return ""

    def wrong(self, column: str, message: str) -> None:
        """Report a problem of a column; only its first is kept."""
        if not any(problem.column == column for problem in self.problems):
            self.problems.append(RowError(self._row, column, message))

    def need(self, column: str, how: str = "it needs a value") -> None:
        """Report a cell that is empty."""
        if not self.cells[column]:
            self.wrong(column, f"is empty: {how}")

    def read(self, column: str, parse: Callable[[str], Any]) -> Any:
        """What a cell says; None where it is empty, or wrong. ``parse`` raises ValueError."""
        text = self.cells[column]
        try:
            return parse(text) if text else None
        except ValueError as error:
            self.wrong(column, str(error))
            return None

    def values(self) -> dict[str, Any]:
        """What each cell says by itself."""
        return {column.name: self.read(column.name, column.read) for column in self._table}


def make_quote(
    cells: Mapping[str, str],
    items: Items,
    *,
    today: date,
    row: int | None = None,
    item: tuple[str, str] | None = None,
) -> Quote | list[RowError]:
    """A quote from what was typed, or everything that is wrong with it; ``item`` is the kind and id
    of what it is for, where that is known already."""
    typed = TypedRow(cells, QUOTE_TABLE, row)
    for name in NEEDED if item is None else NEEDED[1:]:
        typed.need(name)
    for name in ("price", "vendor"):
        if (placeholder := typed.cells[name]) in PLACEHOLDERS:
            typed.wrong(name, f"{placeholder} stands for what only the seller says: write that")
    said = typed.values()
    day, until, currency = said["date"], said["valid_until"], said["currency"] or "USD"
    if item is None:
        kind = said["item_kind"] or ""
        item = typed.read("item", lambda text: items.find(text, kind)) or ("", "")
    if day is not None and day > today:
        typed.wrong("date", f"{day} is after today, {today}: mend the date")
    if day is not None and until is not None and until < day:
        typed.wrong("valid_until", f"{until} is before the date of the quote, {day}")
    price = usd = None
    if not any(problem.column == "currency" for problem in typed.problems):
        price = typed.read("price", lambda text: _amount(text, currency))
        usd = price and _dollars(typed, price, currency, item[0])
    said["includes"] = typed.read("includes", lambda text: _includes(text, item[0]))
    typed.read("corrects", lambda text: _known_quote(text, items))
    if typed.problems or usd is None:
        return typed.problems
    same = ("kind", "vendor", "url", "note", "includes", "valid_until", "delivery", "warranty")
    made = Quote(
        quote_id="",
        item_kind=item[0],
        item_id=item[1],
        price_usd=usd,
        quoted_on=day,
        source_id=OWN_SOURCE,
        currency=currency,
        price_quoted=None if currency == "USD" else price,
        origin="local",
        **{name: said[name] for name in (*same, "file", "corrects")},
    )
    # An id made of what it says, so that the same one twice is one.
    text = "\0".join(map(str, made[1:]))
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return made._replace(quote_id=f"own:{digest}")


def quote_cells(quote: Quote, names: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """A quote as a person would type it, by column; "" where there is nothing."""
    said = quote._asdict() | {
        "item": names.get((quote.item_kind, quote.item_id), quote.item_id),
        "price": format(quote.price_quoted or quote.price_usd, "f"),
        "date": quote.quoted_on,
    }
    if quote.price_quoted is not None:
        rate = (quote.price_usd / quote.price_quoted).quantize(Decimal("1e-9"))
        said["usd_per_unit"] = format(rate, "f")
    return {name: "" if said.get(name) is None else str(said[name]) for name in COLUMNS}


def no_such_quote(quote_id: str) -> str:
    """What is said of a correction of a quote that is not there."""
    return f"no quote is called {shown(quote_id)}: see advisor prices list"


def _known_quote(text: str, items: Items) -> str:
    if items.quote_ids is not None and text not in items.quote_ids:
        raise ValueError(no_such_quote(text))
    return text


def _includes(text: str, item_kind: str) -> str:
    """Words of INCLUDES; of a machine, which comes with more, any text, and so of an item that is
    not known, which is wrong enough."""
    words = {word.strip().lower() for word in re.split(r"[;,+]", text)} - {""}
    for word in sorted(words - {*INCLUDES}):
        if re.search(r"\b(tax|vat)\b", word):
            raise ValueError(f"{shown(word)}: write tax where the price includes it, else nothing")
    for word in sorted(words - {*INCLUDES}):
        if item_kind in ("", "host", "server"):
            return text
        raise ValueError(f"{shown(word)} is not known; {nearest(word, INCLUDES)}")
    return "; ".join(sorted(words))


def _amount(text: str, currency: str) -> Decimal:
    """The price without its currency, which must be the one that is said."""
    if re.search(WITH_TAX, text):
        raise ValueError(f"{shown(text)} is with tax: write the number, and tax as included")
    try:
        number, codes = without_currency(text, currency)
    except ValueError as error:
        raise ValueError(f"{shown(text)} {error}") from None
    if codes and currency not in codes:
        if currency == "USD":
            rate = _known_rate(codes[0]) if len(codes) == 1 else None
            raise ValueError(
                f"{shown(text)} is in another currency: write {number}, currency "
                f"{' or '.join(codes)} and usd_per_unit "
                f"{rate or 'with the US dollars of one that day'}"
            )
        said = "dollars" if codes == DOLLARS else " or ".join(codes)
        raise ValueError(f"{shown(text)} is in {said}, the currency {currency}: which is it?")
    return parse_budget(number, "price").quantize(_CENT)


def _dollars(typed: TypedRow, price: Decimal, currency: str, item_kind: str) -> Decimal | None:
    """The price in US dollars; None where its rate is wrong."""
    text, usd = typed.cells["usd_per_unit"], price
    if currency != "USD":
        try:
            usd = (price * _rate(text, currency, price)).quantize(_CENT, rounding=ROUND_HALF_UP)
        except ValueError as error:
            typed.wrong("usd_per_unit", str(error))
            return None
    elif text and text.strip("0").strip(".") != "1":
        typed.wrong("usd_per_unit", "is for other currencies than USD: leave it empty")
    if item_kind:
        low, high = LOWEST_PRICE_USD[item_kind], HIGHEST_PRICE_USD[item_kind]
        if not low <= usd <= high:
            words = f"${usd:,} is not a price of one {item_kind} (${low:,} to ${high:,})"
            typed.wrong("price", f"{words}: write the price of one piece")
    return usd


def _rate(text: str, currency: str, price: Decimal) -> Decimal:
    """The US dollars of one unit of a currency. Raises ValueError."""
    # No unit is worth a thousand dollars: one comma is a decimal comma.
    alone = text.count(",") == 1 and "." not in text
    try:
        rate = parse_decimal(text.replace(",", ".") if alone else text, "", "")
    except InputError:
        rate = Decimal(0)
    if not rate:
        lack = f"{shown(text)} is no exchange rate" if text else "the exchange rate is missing"
        known = _known_rate(currency)
        lack += f": write the US dollars of one {currency} on the day of the quote"
        raise ValueError(lack if known is None else f"{lack}, like {known}")
    if problem := rate_problem(currency, rate, price):
        raise ValueError(problem)
    return rate


def _known_rate(currency: str) -> str | None:
    """The US dollars of one with their day, where a rate ships."""
    known = exchange_rates().get(currency)
    return None if known is None else f"{known.usd_per_unit} (of {known.on})"
