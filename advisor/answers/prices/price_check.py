"""The check of the prices: what is stale, outlying, contradicting or unsourced, and which machines
no document describes (pure)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from advisor.answers.checklist import with_command
from advisor.answers.wording import item_names
from advisor.costs.amount_words import age_words, usd_and_cents, usd_exact
from advisor.costs.price_book import (
    NEVER,
    OWN_SOURCE,
    STALE_DAYS,
    PriceBook,
    is_fresh,
    kind_class,
    outlying_quotes,
)
from advisor.ranking.snapshot import Snapshot
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from price_catalog.load import HOST_FACTS
from price_catalog.model import Quote

CONTRADICTING = Decimal("1.5")
"""Two sellers who ask this many times as much as each other for one item contradict each other."""
WITHIN_DAYS = 90
"""The same, where their quotes are no further apart than this."""
PROBLEMS = {
    "stale": "the best price of the item is a year old or has expired: find a newer one",
    "outlying": "far from the others of its item: is it for one piece?",
    "contradicting": "another seller asked much more: is it the same machine?",
    "unsourced": "no page or file to check it by: add one",
    "undescribed": "no document states its watts, rack units, memory or links: find its maker's",
}
"""What each problem means, and how to mend it."""


class Problem(NamedTuple):
    """What is wrong with the price of one item, and how to mend it."""

    problem: str
    """One of PROBLEMS."""
    item: str
    price_usd: Decimal
    date: date
    vendor: str
    counts: bool
    """Whether this quote, or the one that it is held against, is the one that counts."""
    detail: str
    quote_id: str
    against: str | None
    """The id of the quote that it is held against."""


def price_problems(snapshot: Snapshot, book: PriceBook, *, today: date) -> list[Problem]:
    """All that is wrong, worst kind first as in PROBLEMS, then by item."""
    names, chosen = item_names(snapshot.gpus, snapshot.hosts), {q.quote_id for q in book.values()}
    found = [
        Problem(
            problem=problem,
            item=names.get((quote.item_kind, quote.item_id), quote.item_id),
            price_usd=quote.price_usd,
            date=quote.quoted_on,
            vendor=quote.label,
            counts=bool({quote.quote_id, other and other.quote_id} & chosen),
            detail=detail or PROBLEMS[problem],
            quote_id=quote.quote_id,
            against=other and other.quote_id,
        )
        for problem, quote, detail, other in _problems(snapshot, book, today)
    ]
    order = [*PROBLEMS]
    return sorted(found, key=lambda p: (order.index(p.problem), p.item, p.date, p.quote_id))


def _problems(
    snapshot: Snapshot, book: PriceBook, today: date
) -> Iterator[tuple[str, Quote, str, Quote | None]]:
    """Each problem, the quote that has it, what is said of it, and the quote it is held against."""
    corrected = {quote.corrects for quote in snapshot.quotes if quote.corrects}
    quotes = [
        quote
        for quote in snapshot.quotes
        if quote.kind not in NEVER and quote.quote_id not in corrected and quote.quoted_on <= today
    ]
    for quote in book.values():  # the best price of its item: all others are no better
        if quote.kind != "owned" and not is_fresh(quote.quoted_on, quote.valid_until, today):
            age = age_words(quote.quoted_on, today)
            if (today - quote.quoted_on).days < STALE_DAYS:
                age = f"expired on {quote.valid_until}"
            yield "stale", quote, f"{age}: find one of this year", None
    far, pages = outlying_quotes(quotes), {each.source_id: each.url for each in snapshot.sources}
    for quote in quotes:
        if quote.quote_id in far:
            yield "outlying", quote, "", None
        checkable = quote.url or quote.file or pages.get(quote.source_id)
        if not checkable and quote.kind != "owned":
            where = "your own" if quote.source_id == OWN_SOURCE else quote.source_id
            yield "unsourced", quote, f"no page or file to check it by ({where})", None
    for low, high in _contradicting(quotes, today):
        words = (
            f"{high.label} asked {usd_exact(high.price_usd)} on {high.quoted_on}: is it the same "
            "machine, with the same memory and warranty?"
        )
        yield "contradicting", low, words, high
    for host in snapshot.hosts:
        asked = book.get(("host" if host.gpu_id is None else "server", host.host_id))
        described = any(getattr(host, name) not in (None, ()) for name in HOST_FACTS)
        if asked is not None and host.origin != "local" and not described:
            yield "undescribed", asked, "", None


def _contradicting(quotes: Iterable[Quote], today: date) -> Iterator[tuple[Quote, Quote]]:
    """Of each item the two sellers whose prices of about one time are furthest apart."""
    items: dict[tuple[str, str], list[Quote]] = defaultdict(list)
    for quote in quotes:
        sold = kind_class(quote.kind) >= kind_class("list")
        if sold and is_fresh(quote.quoted_on, quote.valid_until, today):
            items[quote.item_kind, quote.item_id].append(quote)
    for asked in items.values():
        asked.sort(key=lambda quote: (quote.price_usd, quote.quote_id))
        pairs = [
            (low, high)
            for low in asked
            for high in reversed(asked)
            if high.price_usd >= CONTRADICTING * low.price_usd
            and high.vendor.casefold() != low.vendor.casefold()
            and abs((high.quoted_on - low.quoted_on).days) <= WITHIN_DAYS
        ]
        if pairs:
            yield max(pairs, key=lambda pair: pair[1].price_usd / pair[0].price_usd)


def check_text(problems: Sequence[Problem], width: int) -> str:
    """The check for a person: how many of each kind, then a table of each."""
    counts, counted = Counter(p.problem for p in problems), Counter[str]()
    counted.update(p.problem for p in problems if p.counts)
    said = [f"{counts[name]} {name} ({counted[name]} count)" for name in PROBLEMS if counts[name]]
    blocks = [fill(f"Prices: {', '.join(said) or 'no problem found'}.", width)]
    columns = ["item", "price", "date", "vendor", "counts"]
    for name, words in PROBLEMS.items():
        rows = [
            each._asdict() | {"price": usd_and_cents(each.price_usd)}
            for each in problems
            if each.problem == name
        ]
        if rows:
            table = to_table(rows, columns, frozenset({"price"}), width=width, spare=("vendor",))
            blocks.append(f"{fill(f'{name.capitalize()}: {words}', width)}\n{table}")
    command = "advisor prices check --format csv"
    blocks.append(with_command("Every word and each quote's id:", command, width))
    return "\n\n".join(blocks)
