"""Which of the quotes for an item counts, and how far to trust it (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from advisor.typed_input import PriceRule
from price_catalog.model import Host, Quote, QuoteKind

STALE_DAYS = 365
"""A quote of this age or older is stale."""
OUTLYING = Decimal(2)
"""How many times the median, or its inverse, makes a price outlying."""
OUTLYING_FROM = 3
"""The fewest prices that can have an outlier."""
FAR_OFF = Decimal(10)
"""The same where there are fewer, and beside quotes of any kind."""
SELLERS_DAYS = 90
"""Sellers whose quotes are so close to the newest are asked alike: the middle one counts."""
OWN_SOURCE = "own-quotes"
"""The source of what a user typed in; without a page or a file it cannot be checked."""


def add_command(item_id: str, today: date) -> str:
    """How a price of an item is entered. What a seller has to say is a word that is refused as it
    stands: a figure might be kept as if somebody had asked it."""
    return f"advisor prices add --item {item_id} --price PRICE --vendor VENDOR --date {today}"


PLACEHOLDERS = frozenset({"PRICE", "VENDOR", "NAME"})
"""What stands in a suggested command for what only the user knows."""


_KINDS: dict[QuoteKind, tuple[int, int]] = {
    "education": (3, 4),
    "reseller-quote": (3, 3),
    "parts-list": (3, 2),
    "street": (3, 1),
    "list": (3, 0),
    "used": (2, 0),
    "secondary": (1, 0),
    "owned": (4, 0),
}
"""The class of a kind (what somebody sells at, what others sold at, what others tell of), and
which of one class and day comes first."""
_OFFERED_FROM = 2
"""From this class on somebody sells at the price; below it others tell of it."""
NEVER: tuple[QuoteKind, ...] = ("rounded",)
"""Kinds that count for the paper alone."""


def kind_class(kind: QuoteKind) -> int:
    """How good the quotes of a kind are; larger is better."""
    return _KINDS.get(kind, (0, 0))[0]


RULE_WORDS = (
    "A quote under a year old and not expired comes before an older one; of these your own before "
    "others'; then what sellers ask (education, reseller quote, parts list, street, list), "
    "then used, then reported by others; last what you or a file added at under half or over twice "
    "what others ask. Of these each seller's newest, and of the sellers within "
    "90 days of the newest the median by price, of two the dearer. A machine that is a parts "
    "list is added up part by part where quotes for its parts make that better; the sum is as old "
    "as its oldest part."
)


class PriceRange(NamedTuple):
    """What the quotes that are as good as the chosen one ask for an item."""

    low_usd: Decimal
    high_usd: Decimal
    quotes: int
    outlying: bool = False
    """Whether the chosen quote is far from the middle of them."""
    usual_usd: Decimal | None = None
    """The middle of the others, whatever their kind, where the chosen quote is far off them."""


@dataclass(frozen=True, slots=True, eq=False)
class PriceBook(Mapping[tuple[str, str], Quote]):
    """The quote that counts for each (item kind, item id), and the range that it stands in."""

    chosen: Mapping[tuple[str, str], Quote]
    ranges: Mapping[tuple[str, str], PriceRange]
    as_of: date | None = None
    """The day that prices are judged on; None where they are taken at their word."""
    newer: Mapping[tuple[str, str], Quote] = field(default_factory=dict)
    """The newest quote of an item where a newer one than the chosen is passed over."""
    parts_used: frozenset[str] = frozenset()
    """The ids of the quotes for parts by which a machine is priced."""

    def is_sold(self, quote: Quote) -> bool:
        """Whether who asks this price sells the item, and does not only tell of it."""
        return self.as_of is None or kind_class(quote.kind) >= _OFFERED_FROM

    def is_offered(self, quote: Quote) -> bool:
        """Whether somebody sells at this price: it is fresh, and no others tell of it."""
        as_of = self.as_of or quote.quoted_on
        return self.is_sold(quote) and is_fresh(quote.quoted_on, quote.valid_until, as_of)

    def is_old(self, quote: Quote) -> bool:
        """Whether a shipped price is of a year ago or older; a user's own is the user's affair."""
        return (
            self.as_of is not None
            and quote.origin != "local"
            and (self.as_of - quote.quoted_on).days >= STALE_DAYS
        )

    def __getitem__(self, key: tuple[str, str]) -> Quote:
        return self.chosen[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.chosen)

    def __len__(self) -> int:
        return len(self.chosen)


Quality = tuple[bool, bool, int]
"""Whether a quote is fresh, whether it is the user's own, the class of its kind; larger is
better."""


def is_fresh(quoted_on: date, valid_until: date | None, as_of: date) -> bool:
    """Whether a price is less than a year old and has not expired."""
    expired = valid_until is not None and valid_until < as_of
    return (as_of - quoted_on).days < STALE_DAYS and not expired


def quote_quality(quote: Quote, as_of: date) -> Quality:
    """How good a quote is on a day, before its own day counts."""
    fresh = is_fresh(quote.quoted_on, quote.valid_until, as_of)
    return fresh, quote.origin == "local", kind_class(quote.kind)


def choose_quotes(
    quotes: Iterable[Quote],
    rule: PriceRule,
    *,
    today: date | None = None,
    hosts: Iterable[Host] = (),
) -> PriceBook:
    """Choose one quote an item, and say what the others as good as it ask.

    ``paper``: the figures that the paper's section 4.1 computes with, and nothing else.
    ``latest``: by RULE_WORDS. A day: the same, from what was known on that day. Rounded figures
    count for ``paper`` alone; what another quote corrects counts no more. ``hosts`` say which
    machines have the same GPUs.
    """
    if rule == "paper":
        paper = {(q.item_kind, q.item_id): q for q in quotes if q.price_set == "paper"}
        return PriceBook(
            paper, {key: PriceRange(q.price_usd, q.price_usd, 1) for key, q in paper.items()}
        )
    as_of = rule if isinstance(rule, date) else today or date.today()
    known = [
        quote
        for quote in quotes
        if quote.kind not in NEVER and not (isinstance(rule, date) and quote.quoted_on > rule)
    ]
    corrected = {quote.corrects for quote in known if quote.corrects is not None}
    usual = usual_prices(known, hosts)
    best: dict[tuple[str, str], tuple[Quality, list[Quote]]] = {}
    newest: dict[tuple[str, str], Quote] = {}
    for quote in known:
        if quote.quote_id in corrected:
            continue
        quality = quote_quality(quote, as_of)
        if quote.origin != "shipped" and is_far_off(quote, usual(quote)):
            quality = (quality[0], False, 0)
        key = (quote.item_kind, quote.item_id)
        newest[key] = max(newest.get(key, quote), quote, key=lambda q: (q.quoted_on, q.quote_id))
        held = best.get(key)
        if held is None or quality > held[0]:
            best[key] = (quality, [quote])
        elif quality == held[0]:
            held[1].append(quote)
    chosen, ranges = {}, {}
    for key, (_, equals) in best.items():
        chosen[key] = quote = _newest(equals)
        ranges[key] = _range(quote, equals, usual(quote))
    newer = {key: newest[key] for key, q in chosen.items() if newest[key].quoted_on > q.quoted_on}
    return PriceBook(chosen, ranges, as_of, newer)


def _newest(equals: list[Quote]) -> Quote:
    """Of quotes of one quality the newest of each seller, of one day the better kind; of the
    sellers near the newest the middle one by price."""
    newest = max(quote.quoted_on for quote in equals)
    sellers: dict[str, list[Quote]] = defaultdict(list)
    for quote in equals:
        if (newest - quote.quoted_on).days <= SELLERS_DAYS:
            sellers[quote.vendor.casefold()].append(quote)
    asked = []
    for quotes in sellers.values():
        best = max((quote.quoted_on, _KINDS[quote.kind][1]) for quote in quotes)
        asked.append(_middle(q for q in quotes if (q.quoted_on, _KINDS[q.kind][1]) == best))
    return _middle(asked)


def _middle(quotes: Iterable[Quote]) -> Quote:
    """The middle one by price, of two the dearer."""
    ordered = sorted(quotes, key=lambda quote: (quote.price_usd, quote.quote_id))
    return ordered[len(ordered) // 2]


def usual_prices(
    quotes: Sequence[Quote], hosts: Iterable[Host]
) -> Callable[[Quote], Decimal | None]:
    """What others ask, whatever their kind and age, for the item of a quote; where no seller's
    price of it ships, for machines with the same GPUs: the median; None where no others do."""
    cards = {host.host_id: (host.gpu_id, host.max_gpus) for host in hosts if host.gpu_id}
    asked: dict[Hashable, dict[str, Decimal]] = defaultdict(dict)

    def items_of(quote: Quote) -> tuple[Hashable, Hashable]:
        alike = cards.get(quote.item_id, quote.item_id)
        return (quote.item_kind, quote.item_id), (quote.item_kind, alike)

    corrected = {quote.corrects for quote in quotes if quote.corrects}
    for quote in quotes:
        if quote.kind not in NEVER and quote.quote_id not in corrected:
            itself, alike = items_of(quote)
            asked[alike][quote.quote_id] = quote.price_usd
            if quote.origin == "shipped":  # merged ones of one machine do not vouch for each other
                asked[itself][quote.quote_id] = quote.price_usd
    # Sorted once an item: a store may hold a quote a day of it.
    ordered = {item: sorted((usd, each) for each, usd in q.items()) for item, q in asked.items()}

    def usual(quote: Quote) -> Decimal | None:
        for item in items_of(quote):
            prices = ordered.get(item, [])
            mine = {each for each in (quote.quote_id, quote.corrects) if each in asked[item]}
            places = sorted(bisect_left(prices, (asked[item][each], each)) for each in mine)
            if len(places) == len(prices):
                continue
            middle = (len(prices) - len(places)) // 2
            for place in places:
                middle += place <= middle
            return prices[middle][0]
        return None

    return usual


def is_far_off(quote: Quote, usual_usd: Decimal | None) -> bool:
    """Whether a price is under half or over twice what others ask."""
    return usual_usd is not None and is_outlying(quote.price_usd, usual_usd, OUTLYING_FROM)


def _range(chosen: Quote, equals: list[Quote], usual_usd: Decimal | None) -> PriceRange:
    """From the quotes of the year up to the chosen one that are not outlying among themselves; the
    chosen one is outlying, too, at ten times or a tenth of what all others ask."""
    since = chosen.quoted_on - timedelta(days=STALE_DAYS - 1)
    prices = sorted(quote.price_usd for quote in equals if quote.quoted_on >= since)
    middle = prices[len(prices) // 2]
    kept = [price for price in prices if not is_outlying(price, middle, len(prices))]
    outlying = is_outlying(chosen.price_usd, middle, len(prices))
    kept.append(chosen.price_usd)
    if usual_usd and not usual_usd / FAR_OFF <= chosen.price_usd <= usual_usd * FAR_OFF:
        return PriceRange(min(kept), max(kept), len(kept) - 1, True, usual_usd)
    return PriceRange(min(kept), max(kept), len(kept) - 1, outlying)


def is_outlying(price: Decimal, median: Decimal, count: int) -> bool:
    """Whether a price is far from the median of ``count`` prices."""
    return count >= OUTLYING_FROM and not median / OUTLYING <= price <= median * OUTLYING


def outlying_quotes(quotes: Iterable[Quote]) -> frozenset[str]:
    """The ids of quotes far from the median of those of their item within a year of them.

    A corrected quote neither counts in a median nor is outlying.
    """
    standing = [quote for quote in quotes if quote.kind not in NEVER]
    corrected = {quote.corrects for quote in standing}
    items: dict[tuple[str, str], list[Quote]] = {}
    for quote in standing:
        if quote.quote_id not in corrected:
            items.setdefault((quote.item_kind, quote.item_id), []).append(quote)
    found = set()
    for rivals in items.values():
        for quote in rivals:
            near = sorted(
                other.price_usd
                for other in rivals
                if abs((other.quoted_on - quote.quoted_on).days) <= STALE_DAYS
            )
            if is_outlying(quote.price_usd, near[len(near) // 2], len(near)):
                found.add(quote.quote_id)
    return frozenset(found)


def quote_marks(
    quote: Quote, *, today: date, outlying: bool = False, corrected: bool = False
) -> tuple[str, ...]:
    """What speaks against a quote: ``stale``, ``expired``, ``unsourced``, ``outlying``,
    ``corrected``."""
    marks = []
    if (today - quote.quoted_on).days >= STALE_DAYS and quote.kind != "owned":
        marks.append("stale")
    if quote.valid_until is not None and quote.valid_until < today:
        marks.append("expired")
    if quote.source_id == OWN_SOURCE and not quote.url and not quote.file:
        marks.append("unsourced")
    if outlying:
        marks.append("outlying")
    if corrected:
        marks.append("corrected")
    return tuple(marks)


def owned_quote(host: Host, today: date) -> Quote:
    """A machine that the user has costs nothing to have; it stands in the book like a server."""
    return Quote(
        quote_id=host.host_id,
        item_kind="server",
        item_id=host.host_id,
        price_usd=Decimal(0),
        kind="owned",
        vendor="already yours",
        quoted_on=today,
        source_id=OWN_SOURCE,
        origin="local",
    )
