"""Which of the quotes for an item counts: a rule that is shown, never a guess."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from price_catalog.model import Quote

_BETTER_KINDS = ("reseller-quote", "parts-list", "list", "street", "used", "secondary")
"""Best first: what somebody would sell at today comes before what others paid or asked."""

PriceBook = Mapping[tuple[str, str], Quote]
"""The quote that counts for each (item kind, item id)."""


def choose_quotes(quotes: Iterable[Quote], rule: str | date) -> PriceBook:
    """Choose one quote an item.

    ``paper``: the figures that the paper's section 4.1 computes with, and nothing else.
    ``latest``: the newest quote, and of several from one day the better kind. Rounded figures
    never count. A day: the same, from what was known on that day.
    """
    book: dict[tuple[str, str], Quote] = {}
    for quote in quotes:
        if rule == "paper":
            if quote.price_set != "paper":
                continue
        elif quote.kind == "rounded" or (isinstance(rule, date) and quote.quoted_on > rule):
            continue
        key = (quote.item_kind, quote.item_id)
        held = book.get(key)
        if held is None or _preference(quote) > _preference(held):
            book[key] = quote
    return book


def _preference(quote: Quote) -> tuple[date, int, str]:
    kinds = _BETTER_KINDS
    better = -kinds.index(quote.kind) if quote.kind in kinds else -len(kinds)
    return (quote.quoted_on, better, quote.quote_id)
