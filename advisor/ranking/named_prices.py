"""A price that a seller names beside a sum of parts or options that nobody quoted: which of them
comes first. Rankings and plans go by this (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

WHOLE_WORTH = 1.5
"""Of machines as fast as each other: up to so many times the price of the same cards and a host
from parts, or of a seller's options added up, a whole machine at a price that its seller names
comes first: it is one order with one warranty, and somebody has shown that it runs."""
ABOUT = 1.02
"""What was added up of parts or options is not known better than that: a quote moves by more in the
two weeks that it holds. By cost a price that a seller names for the same cards comes first where it
is at most so many times the sum. A choice, not a measurement."""


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
