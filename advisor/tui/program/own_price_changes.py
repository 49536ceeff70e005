"""A change of the user's own prices, and how it is undone and done again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from advisor.tui.program.state import Change

if TYPE_CHECKING:
    from advisor.store import Store
    from price_catalog.model import Host, Quote


class OwnPrices(NamedTuple):
    """All machines and quotes of the user's own."""

    hosts: frozenset[Host]
    quotes: frozenset[Quote]


def change_prices(store: Store, change: Callable[[Store], object], words: str) -> Change:
    """Change the user's own prices; how that is taken back. Raises StoreError."""
    before = _own_prices(store)
    change(store)
    after = _own_prices(store)
    return Change(words, partial(_restore, wanted=before), partial(_restore, wanted=after))


def _own_prices(store: Store) -> OwnPrices:
    with store.reading() as reader:
        return OwnPrices(
            frozenset(host for host in reader.hosts() if host.origin == "local"),
            frozenset(quote for quote in reader.quotes() if quote.origin == "local"),
        )


def _restore(store: Store, wanted: OwnPrices) -> None:
    """Make the user's own prices what they were, whatever they are now."""
    from advisor.costs.own_quotes import OWN

    for host in _own_prices(store).hosts - wanted.hosts:
        store.remove_machine(host.host_id)  # with its prices
    for quote in _own_prices(store).quotes - wanted.quotes:
        store.remove_quote(quote.quote_id)
    now = _own_prices(store)
    # What a quote corrects comes before it.
    quotes = sorted(wanted.quotes - now.quotes, key=lambda quote: quote.corrects is not None)
    store.add([OWN], quote=quotes, host=wanted.hosts - now.hosts)
