"""A user's own quotes: what was typed becomes a quote, or a list of all that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from hashlib import blake2b
from typing import NamedTuple

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
        self, gpus: Iterable[Gpu], hosts: Iterable[Host], quote_ids: Iterable[str] = ()
    ) -> None:
        self.gpus, self.hosts = tuple(gpus), tuple(hosts)
        self._gpus = index_gpus(self.gpus)
        self._hosts = {
            name.casefold(): host
            for host in self.hosts
            for name in (host.host_id, host.name, host.label)
        }
        self._hosts_named = sorted({host.name for host in self._hosts.values()})
        self.parts = {
            part.detail.casefold(): part.detail
            for host in self._hosts.values()
            for part in host.parts
        }
        """The parts of the machines' parts lists as they are written there, by folded spelling."""
        self.quote_ids: frozenset[str] | None = frozenset(quote_ids)
        """Quotes that may be corrected; None: any id is taken."""

    def correcting(self, quote_ids: frozenset[str] | None) -> Items:
        """The same items, where these quotes may be corrected."""
        items = copy(self)
        items.quote_ids = quote_ids
        return items

    def with_host(self, host: Host) -> Items:
        """The same items and one machine more."""
        return Items(self.gpus, [*self.hosts, host]).correcting(self.quote_ids)

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
        try:
            if kind in ("", "gpu"):
                return "gpu", find_gpu(spelling, self._gpus).gpu_id
        except ValueError:
            known = {gpu.name for gpu in self._gpus.values()}
            known |= {alias for gpu in self._gpus.values() for alias in gpu.aliases}
            known |= set() if kind == "gpu" else set(self._hosts_named)
            raise InputError(
                f"{shown(spelling)} is not known; {nearest(spelling, known, ITEMS_LISTED_BY)}"
            ) from None
        raise InputError(
            f"no {kind} is called {shown(spelling)}; {nearest(spelling, self._hosts_named)}"
        )


def make_quote(
    cells: Mapping[str, str], items: Items, *, today: date, row: int | None = None
) -> Quote | list[RowError]:
    """A quote from what was typed, or everything that is wrong with it."""
    return _Form(cells, items, today, row).quote()


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
        """A cell's text as a program wants it; empty where it cannot be read."""
        text = unguarded(text.strip())
        if not text.isprintable():
            self.wrong(column, f"{shown(text)} holds control characters: take them out")
            return ""
        return text

    def wrong(self, column: str, message: str) -> None:
        """Report a problem of a column; only its first is kept."""
        if not any(problem.column == column for problem in self.problems):
            self.problems.append(RowError(row=self._row, column=column, message=message))


class _Form(TypedRow):
    """One row while it is read; collects what is wrong."""

    def __init__(
        self, cells: Mapping[str, str], items: Items, today: date, row: int | None
    ) -> None:
        super().__init__(row)
        self._items = items
        self._today = today
        self._cells = {name: self._cell(name, cells.get(name, "") or "") for name in COLUMNS}

    def _cell(self, column: str, text: str) -> str:
        length = len(unguarded(text.strip()))
        if length > MAX_CELL:
            self.wrong(column, f"is {length:,} characters long: write at most {MAX_CELL}")
            return ""
        return self.clean(column, text)

    def quote(self) -> Quote | list[RowError]:
        cells = self._cells
        for name in NEEDED:
            if not cells[name]:
                self.wrong(name, "is empty: it needs a value")
        for name in ("price", "vendor"):
            if cells[name] in PLACEHOLDERS:
                self.wrong(name, f"{cells[name]} stands for what only the seller says: write that")
        typed_kind, item_kind = cells["kind"].lower(), cells["item_kind"].lower()
        kind = next((kind for kind in KINDS if kind == typed_kind), None)
        if typed_kind and kind is None:
            self.wrong("kind", f"{shown(typed_kind)} is not known; {nearest(typed_kind, KINDS)}")
        if item_kind and item_kind not in ITEM_KINDS:
            self.wrong(
                "item_kind", f"{shown(item_kind)} is not known; {nearest(item_kind, ITEM_KINDS)}"
            )
            item_kind = ""
        item = ("", "")
        if cells["item"]:
            try:
                item = self._items.find(cells["item"], item_kind)
            except InputError as error:
                self.wrong("item", str(error))
        day = self._day("date")
        until = self._day("valid_until")
        if day is not None and day > self._today:
            self.wrong("date", f"{day} is after today, {self._today}: mend the date")
        if day is not None and until is not None and until < day:
            self.wrong("valid_until", f"{until} is before the date of the quote, {day}")
        price, usd = self._price(item[0])
        currency = cells["currency"].upper() or "USD"
        includes = self._includes(item[0])
        if cells["url"] and not re.match(r"https?://[^\s/]+", cells["url"]):
            self.wrong("url", f"{shown(cells['url'])} is no web address: begin it with https://")
        corrects = cells["corrects"] or None
        known = self._items.quote_ids
        if corrects is not None and known is not None and corrects not in known:
            self.wrong("corrects", no_such_quote(corrects))
        if self.problems or kind is None or day is None or usd is None:
            return self.problems
        return _identified(
            Quote(
                quote_id="",
                item_kind=item[0],
                item_id=item[1],
                price_usd=usd,
                kind=kind,
                vendor=cells["vendor"],
                quoted_on=day,
                source_id=OWN_SOURCE,
                url=cells["url"] or None,
                note=cells["note"] or None,
                price_set=None,
                currency=currency,
                price_quoted=None if currency == "USD" else price,
                includes=includes,
                valid_until=until,
                delivery=cells["delivery"] or None,
                warranty=cells["warranty"] or None,
                file=cells["file"] or None,
                corrects=corrects,
                origin="local",
            )
        )

    def _day(self, name: str) -> date | None:
        text = self._cells[name]
        if not text:
            return None
        try:
            if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
                raise ValueError
            day = date.fromisoformat(text)
        except ValueError:
            self.wrong(name, f"{shown(text)} is not a date: write it like 2026-11-01")
            return None
        if day < OLDEST:
            self.wrong(name, f"{day} is before {OLDEST}: mend the date")
        return day

    def _price(self, item_kind: str) -> tuple[Decimal | None, Decimal | None]:
        """The price in its own currency and in US dollars."""
        cells = self._cells
        currency = cells["currency"].upper() or "USD"
        if not re.fullmatch(r"[A-Z]{3}", currency, re.ASCII):
            self.wrong("currency", f"{shown(currency)} is no currency: write it like USD or EUR")
            return None, None
        if not cells["price"] or cells["price"] in PLACEHOLDERS:
            return None, None
        try:
            number = self._number(cells["price"], currency)
            price = parse_budget(number, "price").quantize(_CENT)
        except InputError as error:
            self.wrong("price", str(error))
            return None, None
        usd = self._dollars(price, currency)
        if item_kind and usd is not None:
            low, high = LOWEST_PRICE_USD[item_kind], HIGHEST_PRICE_USD[item_kind]
            if not low <= usd <= high:
                self.wrong(
                    "price",
                    f"${usd:,} is not a price of one {item_kind} (${low:,} to ${high:,}): write "
                    "the price of one piece",
                )
                return price, None
        return price, usd

    def _number(self, text: str, currency: str) -> str:
        """The price without its currency, which must be the one that is said. Raises InputError."""
        if WITH_TAX.search(text):
            raise InputError(f"{shown(text)} is with tax: write the number, and tax as included")
        try:
            number, codes = without_currency(text, currency)
        except ValueError as error:
            raise InputError(f"{shown(text)} {error}") from None
        if not codes or currency in codes:
            return number
        if currency == "USD":
            rate = _known_rate(codes[0]) if len(codes) == 1 else None
            raise InputError(
                f"{shown(text)} is in another currency: write {number}, currency "
                f"{' or '.join(codes)} and usd_per_unit "
                f"{rate or 'with the US dollars of one that day'}"
            )
        said = "dollars" if codes == DOLLARS else " or ".join(codes)
        raise InputError(f"{shown(text)} is in {said}, the currency {currency}: which is it?")

    def _dollars(self, price: Decimal, currency: str) -> Decimal | None:
        """The price in US dollars."""
        typed = self._cells["usd_per_unit"]
        if currency == "USD":
            if typed and typed.strip("0").strip(".") != "1":
                self.wrong("usd_per_unit", "is for other currencies than USD: leave it empty")
            return price
        rate = _rate(typed)
        if rate is None:
            lack = (
                f"{shown(typed)} is no exchange rate" if typed else "the exchange rate is missing"
            )
            known = _known_rate(currency)
            such = "" if known is None else f", like {known}"
            problem = (
                f"{lack}: write the US dollars of one {currency} on the day of the quote{such}"
            )
        else:
            problem = rate_problem(currency, rate, price) or ""
        if rate is None or problem:
            self.wrong("usd_per_unit", problem)
            return None
        return (price * rate).quantize(_CENT, rounding=ROUND_HALF_UP)

    def _includes(self, item_kind: str) -> str | None:
        """Words of INCLUDES; of a machine, which comes with more, any text, and so of an item that
        is not known, which is wrong enough."""
        words = [word.strip().lower() for word in re.split(r"[;,+]", self._cells["includes"])]
        words = [word for word in words if word]
        if item_kind in ("", "host", "server") and any(word not in INCLUDES for word in words):
            return self._cells["includes"]
        for word in words:
            if word not in INCLUDES:
                self.wrong("includes", f"{shown(word)} is not known; {nearest(word, INCLUDES)}")
        return "; ".join(sorted(set(words))) or None


def no_such_quote(quote_id: str) -> str:
    """What is said of a correction of a quote that is not there."""
    return f"no quote is called {shown(quote_id)}: see advisor prices list"


def _identified(quote: Quote) -> Quote:
    """The quote with an id made of what it says, so that the same one twice is one."""
    said = "\0".join(map(str, quote[1:]))
    digest = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return quote._replace(quote_id=f"own:{digest}")


def _known_rate(currency: str) -> str | None:
    """The US dollars of one with their day, where a rate ships."""
    known = exchange_rates().get(currency)
    return None if known is None else f"{known.usd_per_unit} (of {known.on})"


def _rate(text: str) -> Decimal | None:
    """US dollars of one unit of another currency; None where it is none."""
    try:
        return parse_decimal(text, "", "") or None
    except InputError:
        return None
