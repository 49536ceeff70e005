"""A user's own quotes: what was typed becomes a quote, or a list of all that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from hashlib import blake2b
from typing import NamedTuple, TypeVar

from advisor.costs.price_book import OWN_SOURCE, PLACEHOLDERS
from advisor.tables.table_formats import unguarded
from advisor.typed_input import InputError, parse_budget, parse_decimal, shown
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
    LOWEST_PRICE_USD,
    Gpu,
    Host,
    Quote,
    QuoteKind,
    Source,
)

T = TypeVar("T")
W = TypeVar("W", bound=str)


class Column(NamedTuple):
    """One value of a quote or of a machine: a column of a file, a flag, a field of a form."""

    name: str
    label: str
    """Before the field of a form."""
    word: str
    """What stands for its value in the help of the flag."""
    hint: str
    """What to write."""


QUOTE_TABLE = (
    Column("item", "Item", "NAME", "RTX 3090, or a machine's name"),
    Column("price", "Price", "AMOUNT", "of one piece: 900"),
    Column("vendor", "Vendor", "NAME", "who asks it"),
    Column("date", "Date", "DAY", "2026-11-01"),
    Column("kind", "Kind", "KIND", "reseller-quote, education, list, street, used, secondary"),
    Column("item_kind", "Item kind", "KIND", "gpu, host, server, part; or found by name"),
    Column("currency", "Currency", "CODE", "EUR; empty: USD"),
    Column("usd_per_unit", "USD per unit", "RATE", "of one unit: 1.14"),
    Column("includes", "Includes", "WORDS", "tax; shipping; education discount"),
    Column("valid_until", "Valid until", "DAY", "2026-12-31, or empty"),
    Column("delivery", "Delivery", "WORDS", "6 weeks"),
    Column("warranty", "Warranty", "WORDS", "3 years"),
    Column("url", "Page", "URL", "https://…"),
    Column("file", "File", "FILE", "where you keep it"),
    Column("note", "Note", "WORDS", "anything else"),
    Column("corrects", "Corrects", "ID", "the quote that this one stands in for"),
)
"""What may be said of a quote; the first five must be."""
COLUMNS = tuple(column.name for column in QUOTE_TABLE)
NEEDED = COLUMNS[:5]
KINDS: tuple[QuoteKind, ...] = (
    "reseller-quote",
    "education",
    "list",
    "street",
    "used",
    "secondary",
)
ITEM_KINDS = ("gpu", "host", "server", "part")
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


class Items:
    """Finds what a quote is for, by any spelling."""

    def __init__(
        self,
        gpus: Iterable[Gpu],
        hosts: Iterable[Host],
        quote_ids: Iterable[str] | None = (),
    ) -> None:
        """``quote_ids`` are the quotes that may be corrected; None: any id is taken."""
        self.gpus, self.hosts = tuple(gpus), tuple(hosts)
        self.quote_ids = None if quote_ids is None else frozenset(quote_ids)
        self._gpus = index_gpus(self.gpus)
        self._hosts = {
            name.casefold(): host
            for host in self.hosts
            for name in (host.host_id, host.name, host.label)
        }
        details = (part.detail for host in self._hosts.values() for part in host.parts)
        self.parts = {detail.casefold(): detail for detail in details}
        """The parts of the machines' parts lists as they are written there, by folded spelling."""

    def find(self, spelling: str, kind: str) -> tuple[str, str]:
        """The item's kind and id. Raises InputError with the nearest names."""
        part = self.parts.get(spelling.casefold())
        if kind == "part" or (kind == "" and part is not None):
            return "part", part or spelling
        host = self._hosts.get(spelling.casefold())
        if host is not None and kind != "gpu":
            found = "host" if host.gpu_id is None else "server"
            if kind in ("", found):
                return found, host.host_id
        names = {host.name for host in self.hosts}
        if kind not in ("", "gpu"):
            raise InputError(f"no {kind} is called {shown(spelling)}; {nearest(spelling, names)}")
        try:
            return "gpu", find_gpu(spelling, self._gpus).gpu_id
        except ValueError:
            known = {name for gpu in self.gpus for name in (gpu.name, *gpu.aliases)}
            near = nearest(spelling, known | (names if not kind else set()), ITEMS_LISTED_BY)
            raise InputError(f"{shown(spelling)} is not known; {near}") from None


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
        """For a form, whose fields have these labels by column."""
        label = labels.get(self.column or "")
        if label is None:
            return self.message
        return f"{label}{' ' if self.message.startswith('is ') else ': '}{self.message}"


class TypedRow:
    """The cells of a row while they are read; collects what is wrong, the first of each column."""

    def __init__(
        self, cells: Mapping[str, str], columns: Iterable[str], row: int | None = None
    ) -> None:
        """``row`` is the line of the file that it stands on; None for one typed in."""
        self.problems: list[RowError] = []
        self._row = row
        self.cells = {name: self._clean(name, cells.get(name) or "") for name in columns}

    def _clean(self, column: str, text: str) -> str:
        text = unguarded(text.strip())
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

    def read(self, column: str, parse: Callable[[str], T]) -> T | None:
        """What a cell says; None where it is empty, or wrong. ``parse`` raises ValueError."""
        text = self.cells[column]
        try:
            return parse(text) if text else None
        except ValueError as error:
            self.wrong(column, str(error))
            return None


def make_quote(
    cells: Mapping[str, str], items: Items, *, today: date, row: int | None = None
) -> Quote | list[RowError]:
    """A quote from what was typed, or everything that is wrong with it."""
    typed = TypedRow(cells, COLUMNS, row)
    for name in NEEDED:
        if not typed.cells[name]:
            typed.wrong(name, "is empty: it needs a value")
    for name in ("price", "vendor"):
        if typed.cells[name] in PLACEHOLDERS:
            placeholder = typed.cells[name]
            typed.wrong(name, f"{placeholder} stands for what only the seller says: write that")
    kind = typed.read("kind", lambda text: _choice(text, KINDS))
    item_kind = typed.read("item_kind", lambda text: _choice(text, ITEM_KINDS)) or ""
    item = typed.read("item", lambda text: items.find(text, item_kind)) or ("", "")
    day, until = typed.read("date", _day), typed.read("valid_until", _day)
    if day is not None and day > today:
        typed.wrong("date", f"{day} is after today, {today}: mend the date")
    if day is not None and until is not None and until < day:
        typed.wrong("valid_until", f"{until} is before the date of the quote, {day}")
    currency = typed.cells["currency"].upper() or "USD"
    price, usd = _price(typed, currency, item[0])
    includes = typed.read("includes", lambda text: _includes(text, item[0]))
    url = typed.read("url", _url)
    corrects = typed.read("corrects", lambda text: _known_quote(text, items))
    if typed.problems or kind is None or day is None or usd is None:
        return typed.problems
    made = Quote(
        quote_id="",
        item_kind=item[0],
        item_id=item[1],
        price_usd=usd,
        kind=kind,
        vendor=typed.cells["vendor"],
        quoted_on=day,
        source_id=OWN_SOURCE,
        url=url,
        note=typed.cells["note"] or None,
        price_set=None,
        currency=currency,
        price_quoted=None if currency == "USD" else price,
        includes=includes,
        valid_until=until,
        delivery=typed.cells["delivery"] or None,
        warranty=typed.cells["warranty"] or None,
        file=typed.cells["file"] or None,
        corrects=corrects,
        origin="local",
    )
    # An id made of what it says, so that the same one twice is one.
    said = "\0".join(map(str, made[1:]))
    digest = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return made._replace(quote_id=f"own:{digest}")


def quote_cells(quote: Quote, names: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """A quote as a person would type it, by column; "" where there is nothing."""
    price, rate = quote.price_quoted or quote.price_usd, None
    if quote.price_quoted is not None:
        rate = (quote.price_usd / quote.price_quoted).quantize(Decimal("1e-9"))
    said = {
        "item": names.get((quote.item_kind, quote.item_id), quote.item_id),
        "price": format(price, "f"),
        "date": quote.quoted_on,
        "usd_per_unit": None if rate is None else format(rate, "f"),
    }
    cells = {name: said[name] if name in said else getattr(quote, name) for name in COLUMNS}
    return {name: "" if value is None else str(value) for name, value in cells.items()}


def no_such_quote(quote_id: str) -> str:
    """What is said of a correction of a quote that is not there."""
    return f"no quote is called {shown(quote_id)}: see advisor prices list"


# How each cell is read: every one raises ValueError, an InputError among them.


def _choice(text: str, choices: Collection[W]) -> W:
    for choice in choices:
        if choice == text.lower():
            return choice
    raise ValueError(f"{shown(text.lower())} is not known; {nearest(text.lower(), choices)}")


def _day(text: str) -> date:
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
            raise ValueError
        day = date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{shown(text)} is not a date: write it like 2026-11-01") from None
    if day < OLDEST:
        raise ValueError(f"{day} is before {OLDEST}: mend the date")
    return day


def _url(text: str) -> str:
    if not re.match(r"https?://[^\s/]+", text):
        raise ValueError(f"{shown(text)} is no web address: begin it with https://")
    return text


def _known_quote(text: str, items: Items) -> str:
    if items.quote_ids is not None and text not in items.quote_ids:
        raise ValueError(no_such_quote(text))
    return text


def _includes(text: str, item_kind: str) -> str:
    """Words of INCLUDES; of a machine, which comes with more, any text, and so of an item that is
    not known, which is wrong enough."""
    words = {word.strip().lower() for word in re.split(r"[;,+]", text)} - {""}
    for word in sorted(words - {*INCLUDES}):
        if item_kind in ("", "host", "server"):
            return text
        raise ValueError(f"{shown(word)} is not known; {nearest(word, INCLUDES)}")
    return "; ".join(sorted(words))


def _price(typed: TypedRow, currency: str, item_kind: str) -> tuple[Decimal | None, Decimal | None]:
    """The price in its own currency and in US dollars."""
    if not re.fullmatch(r"[A-Z]{3}", currency, re.ASCII):
        typed.wrong("currency", f"{shown(currency)} is no currency: write it like USD or EUR")
        return None, None
    price = typed.read("price", lambda text: _amount(text, currency))
    if price is None:
        return None, None
    usd = _dollars(typed, price, currency)
    if item_kind and usd is not None:
        low, high = LOWEST_PRICE_USD[item_kind], HIGHEST_PRICE_USD[item_kind]
        if not low <= usd <= high:
            words = f"${usd:,} is not a price of one {item_kind} (${low:,} to ${high:,})"
            typed.wrong("price", f"{words}: write the price of one piece")
    return price, usd


def _amount(text: str, currency: str) -> Decimal:
    """The price without its currency, which must be the one that is said."""
    if WITH_TAX.search(text):
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


def _dollars(typed: TypedRow, price: Decimal, currency: str) -> Decimal | None:
    """The price in US dollars."""
    text = typed.cells["usd_per_unit"]
    if currency == "USD":
        if text and text.strip("0").strip(".") != "1":
            typed.wrong("usd_per_unit", "is for other currencies than USD: leave it empty")
        return price
    try:
        rate = parse_decimal(text, "", "")
    except InputError:
        rate = Decimal(0)
    if not rate:
        lack = f"{shown(text)} is no exchange rate" if text else "the exchange rate is missing"
        known = _known_rate(currency)
        such = "" if known is None else f", like {known}"
        lack += f": write the US dollars of one {currency} on the day of the quote{such}"
        typed.wrong("usd_per_unit", lack)
    elif problem := rate_problem(currency, rate, price):
        typed.wrong("usd_per_unit", problem)
    else:
        return (price * rate).quantize(_CENT, rounding=ROUND_HALF_UP)
    return None


def _known_rate(currency: str) -> str | None:
    """The US dollars of one with their day, where a rate ships."""
    known = exchange_rates().get(currency)
    return None if known is None else f"{known.usd_per_unit} (of {known.on})"
