"""A machine that is a parts list, priced by quotes for its parts where these are better (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from advisor.costs.amount_words import usd_as_quoted
from advisor.costs.price_book import (
    OWN_SOURCE,
    PriceBook,
    PriceRange,
    Quality,
    is_fresh,
    kind_class,
    quote_quality,
)
from advisor.typed_input import PriceRule
from price_catalog.model import Host, Part, Quote

PREFIX = "parts:"
"""How the id of a price begins that was added up from parts; no row of the store has such a one."""


class _Line(NamedTuple):
    """One line of a parts list with the price that counts for it."""

    quality: Quality
    day: date
    price_usd: Decimal
    quote: Quote | None
    """None where the price is that of the list itself."""


def with_parts(
    book: PriceBook, hosts: Iterable[Host], rule: PriceRule, *, today: date
) -> PriceBook:
    """The same book, with hosts added up part by part where that is better than the whole price.

    Each part by the rule that holds for all items; what the list itself says of a part is a price
    of its own. The sum is as good as the worst of its lines, as old as the oldest, and the user's
    own when one of them is. The paper's preset stays the paper's.
    """
    if rule == "paper" or not any(kind == "part" for kind, _ in book):
        return book
    as_of = rule if isinstance(rule, date) else today
    chosen, ranges, newer = dict(book.chosen), dict(book.ranges), dict(book.newer)
    for host in hosts:
        if host.gpu_id is not None or not host.parts:
            continue
        sound = _lines(host, book, rule, as_of)
        if all(line.quote is None for line in sound):
            continue
        key = ("host", host.host_id)
        summed, whole = _sum(host, sound), chosen.get(key)
        fresh, own, kinds = zip(*(line.quality for line in sound), strict=True)
        quality = (all(fresh), any(own), min(kinds))
        if whole is None or (quality, summed.quoted_on) > (
            quote_quality(whole, as_of),
            whole.quoted_on,
        ):
            chosen[key], ranges[key] = summed, _range(sound, book)
            if whole is not None and whole.quoted_on > summed.quoted_on:
                newer.setdefault(key, whole)
            elif key in newer and newer[key].quoted_on <= summed.quoted_on:
                del newer[key]
    return PriceBook(chosen, ranges, book.as_of, newer)


def _lines(host: Host, book: PriceBook, rule: PriceRule, as_of: date) -> list[_Line]:
    """The parts list with what counts for each part; [] where something has no price."""
    lines = [_line(part, book, rule, as_of) for part in host.parts]
    return [] if None in lines else [line for line in lines if line is not None]


def _line(part: Part, book: PriceBook, rule: PriceRule, as_of: date) -> _Line | None:
    """What counts for a part; None where nothing was known on the day."""
    found = []
    if not (isinstance(rule, date) and part.priced_on > rule):
        quality = (is_fresh(part.priced_on, None, as_of), False, kind_class("parts-list"))
        found.append(_Line(quality, part.priced_on, part.price_usd, None))
    quote = book.get(("part", part.detail))
    if quote is not None:
        quality = quote_quality(quote, as_of)
        found.append(_Line(quality, quote.quoted_on, quote.price_usd, quote))
    return max(found, key=lambda line: line[:2], default=None)


def _sum(host: Host, lines: list[_Line]) -> Quote:
    quotes = [line.quote for line in lines if line.quote is not None]
    words = "; ".join(
        f"{q.item_id} {usd_as_quoted(q.price_usd)} ({q.vendor}, {q.quoted_on})" for q in quotes
    )
    rest = len(lines) - len(quotes)
    others = f"; the other {rest} as the parts list has them" if rest else ""
    checkable = all(quote.url or quote.file for quote in quotes)
    own = any(quote.origin == "local" for quote in quotes)
    return Quote(
        quote_id=f"{PREFIX}{host.host_id}",
        item_kind="host",
        item_id=host.host_id,
        price_usd=sum((line.price_usd for line in lines), start=Decimal(0)),
        kind="parts-list",
        vendor=f"part by part, {len(quotes)} of {len(lines)} from quotes for parts",
        quoted_on=min(line.day for line in lines),
        source_id=OWN_SOURCE if own else quotes[0].source_id,
        url=next((quote.url for quote in quotes if quote.url), None) if checkable else None,
        file=next((quote.file for quote in quotes if quote.file), None) if checkable else None,
        note=f"Added up: {words}{others}.",
        price_set=None,
        valid_until=min((q.valid_until for q in quotes if q.valid_until), default=None),
        origin="local" if own else "shipped",
    )


def _range(lines: list[_Line], book: PriceBook) -> PriceRange:
    ends = [
        PriceRange(line.price_usd, line.price_usd, 1)
        if line.quote is None
        else book.ranges["part", line.quote.item_id]
        for line in lines
    ]
    return PriceRange(
        sum((end.low_usd for end in ends), start=Decimal(0)),
        sum((end.high_usd for end in ends), start=Decimal(0)),
        min(end.quotes for end in ends),
        any(end.outlying for end in ends),
    )


def parts_in_use(
    book: PriceBook, hosts: Iterable[Host], rule: PriceRule, *, today: date
) -> frozenset[str]:
    """The ids of the quotes for parts by which `with_parts` priced some machine."""
    as_of = rule if isinstance(rule, date) else today
    found = set()
    for host in hosts:
        whole = book.get(("host", host.host_id))
        if whole is not None and whole.quote_id.startswith(PREFIX):
            lines = _lines(host, book, rule, as_of)
            found |= {line.quote.quote_id for line in lines if line.quote is not None}
    return frozenset(found)
