"""A machine that is a parts list, priced by quotes for its parts where these are better (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from advisor.costs.amount_words import usd_as_quoted
from advisor.costs.price_book import OWN_SOURCE, PriceBook, PriceRange, quote_quality
from price_catalog.model import Host, Part, Quote, QuoteKind

PREFIX = "parts:"
"""How the id of a price begins that was added up from parts; no row of the store has such a one."""
_LISTED: QuoteKind = "parts-list"


def with_parts(book: PriceBook, hosts: Iterable[Host]) -> PriceBook:
    """The same book, with hosts added up part by part where that is better than the whole price.

    Each part by the rule that holds for all items; what the list itself says of a part is a price
    of its own. The sum is as good as the worst of its lines, as old as the oldest, and the user's
    own when one of them is. The paper's preset stays the paper's.
    """
    as_of = book.as_of
    if as_of is None or not any(kind == "part" for kind, _ in book):
        return book
    chosen, ranges, newer = dict(book.chosen), dict(book.ranges), dict(book.newer)
    used: set[str] = set()
    for host in hosts:
        if host.gpu_id is not None:
            continue
        lines = [_line(part, book, as_of) for part in host.parts]
        quotes = [line for line in lines if line.kind != _LISTED]
        if not quotes or any(part.priced_on > as_of for part in host.parts):
            continue
        key, summed = ("host", host.host_id), _sum(host, lines, quotes)
        whole = chosen.get(key)
        fresh, own, _ = quote_quality(summed, as_of)
        quality = (fresh, own, min(quote_quality(line, as_of)[2] for line in lines))
        if whole is not None and (quality, summed.quoted_on) <= (
            quote_quality(whole, as_of),
            whole.quoted_on,
        ):
            continue
        used |= {quote.quote_id for quote in quotes}
        chosen[key], ranges[key] = summed, _range(lines, book)
        latest = [each for each in (newer.pop(key, None), whole) if each is not None]
        if latest and latest[0].quoted_on > summed.quoted_on:
            newer[key] = latest[0]
    return replace(book, chosen=chosen, ranges=ranges, newer=newer, parts_used=frozenset(used))


def _line(part: Part, book: PriceBook, as_of: date) -> Quote:
    """What counts for a part: what the list says of it, or a quote for it that is better."""
    listed = Quote(
        quote_id="",
        item_kind="part",
        item_id=part.detail,
        price_usd=part.price_usd,
        kind=_LISTED,
        vendor="",
        quoted_on=part.priced_on,
        source_id=part.source_id,
    )
    asked = book.get(("part", part.detail), listed)
    return max(listed, asked, key=lambda line: (quote_quality(line, as_of), line.quoted_on))


def _sum(host: Host, lines: Sequence[Quote], quotes: Sequence[Quote]) -> Quote:
    """The lines added up; ``quotes`` are those of which a quote counts."""
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
        kind=_LISTED,
        vendor=f"part by part, {len(quotes)} of {len(lines)} from quotes for parts",
        quoted_on=min(line.quoted_on for line in lines),
        source_id=OWN_SOURCE if own else quotes[0].source_id,
        url=next((quote.url for quote in quotes if quote.url), None) if checkable else None,
        file=next((quote.file for quote in quotes if quote.file), None) if checkable else None,
        note=f"Added up: {words}{others}.",
        valid_until=min((q.valid_until for q in quotes if q.valid_until), default=None),
        origin="local" if own else "shipped",
    )


def _range(lines: Sequence[Quote], book: PriceBook) -> PriceRange:
    """From the cheapest to the dearest of all lines together."""
    ends = [
        PriceRange(line.price_usd, line.price_usd, 1)
        if line.kind == _LISTED
        else book.ranges["part", line.item_id]
        for line in lines
    ]
    return PriceRange(
        sum((end.low_usd for end in ends), start=Decimal(0)),
        sum((end.high_usd for end in ends), start=Decimal(0)),
        min(end.quotes for end in ends),
        any(end.outlying for end in ends),
    )
