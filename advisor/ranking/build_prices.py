"""What a build costs, whether its price still holds, and which prices come before sums (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from advisor.costs.price_book import PriceBook
from price_catalog.builds import Build
from price_catalog.model import Quote


def is_overtaken(build: Build, asked: Quote | None, prices: PriceBook) -> bool:
    """Whether the cards of a whole machine cost as much by a newer quote of someone who sells
    them. What the user was asked is the user's affair."""
    if build.host.gpu_id is None or asked is None or asked.origin == "local":
        return False
    card = prices.get(("gpu", build.gpu.gpu_id))
    return (
        card is not None
        and prices.as_of is not None
        and card.quoted_on > asked.quoted_on
        and prices.is_offered(card)
        and card.price_usd * build.gpu_count >= asked.price_usd
    )


def price_keys(build: Build) -> tuple[tuple[str, str], tuple[str, str]]:
    """Where the price of a build's GPU and that of its host stand; one place for a server."""
    host_id = build.host.host_id
    if build.host.gpu_id is not None:
        return ("server", host_id), ("server", host_id)
    return ("gpu", build.gpu.gpu_id), ("host", host_id)


def build_cents(build: Build, gpu_price_usd: Decimal, host_price_usd: Decimal) -> int:
    """The overall cost in US cents: the whole server, or the host and the GPUs to be bought, of
    each of the machines. What joins several is not in it."""
    if build.host.gpu_id is not None:
        return int(host_price_usd * 100) * build.machines
    bought = gpu_price_usd * (build.gpu_count - build.gpus_owned)
    return int((host_price_usd + bought) * 100) * build.machines


WHOLE_WORTH = 1.5
"""Of machines as fast as each other: up to this many times the price of the same cards and a host
from parts, or of a seller's options added up, a whole machine at a price that its seller names
comes first: it is one order with one warranty, and somebody has shown that it runs."""
ABOUT = 1.02
"""What was added up of parts or options is not known better than that: a quote moves by more in the
two weeks that it holds. A price that a seller names for the same cards comes first where it is at
most this many times the sum. A choice, not a measurement."""


class NamedPrices:
    """What sellers ask for whole machines, by kind: the same cards, and alike in whatever else
    whoever compares them goes by."""

    def __init__(
        self, value: Sequence[float], kinds: Mapping[int, Hashable], named: Iterable[int]
    ) -> None:
        """``value`` is what is compared; ``named`` are those of ``kinds`` whose sellers ask a
        price, the others are sums."""
        self._value, self._kinds = value, kinds
        self._asked: dict[Hashable, list[int]] = {}
        for i in named:
            self._asked.setdefault(kinds[i], []).append(i)
        for asked in self._asked.values():
            asked.sort(key=value.__getitem__)

    def up_to(self, i: int) -> Iterator[int]:
        """Those that come before the sum ``i``, the dearest first."""
        asked = self._asked.get(self._kinds[i], [])
        end = bisect_right(asked, ABOUT * self._value[i], key=self._value.__getitem__)
        return reversed(asked[:end])

    def before(self, i: int) -> int | None:
        """The dearest of them; None where there is none."""
        return next(self.up_to(i), None)
