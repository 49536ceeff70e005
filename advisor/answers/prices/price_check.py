"""The check of the prices: what is stale, outlying, contradicting or unsourced, which machines no
document describes, and what of each budget's ranking rests on it (pure)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from advisor.answers.build_words import gpus_words
from advisor.answers.checklist import with_command
from advisor.answers.wording import KIND_WORDS, is_unquoted, item_names, list_words, price_day
from advisor.costs.amount_words import age_words, usd_and_cents, usd_exact, usd_whole
from advisor.costs.price_book import (
    NEVER,
    OWN_SOURCE,
    STALE_DAYS,
    PriceBook,
    is_fresh,
    kind_class,
    outlying_quotes,
)
from advisor.ranking.candidates import Candidates
from advisor.ranking.question import Question
from advisor.ranking.row_order import Ranking, rank
from advisor.ranking.snapshot import Snapshot
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from bench_runner.typed_numbers import percent
from price_catalog.load import HOST_EXTRA_COLUMNS
from price_catalog.model import Quote

BUDGETS_USD = tuple(Decimal(usd) for usd in (40_000, 60_000, 100_000, 250_000, 500_000))
MODELS = ("pythia-1b", "pythia-6.9b")
FIGURES = tuple(
    name for name in HOST_EXTRA_COLUMNS if name not in ("gpu_id", "spec_source", "note")
)
"""What a document may state of a machine."""
YOUNG_SHARE = 0.8
"""At least so much of each budget's ranking should stand on prices of the last year."""
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
    "passed over": "newer than the price that counts, but of a weaker kind, or not the median",
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
    sources = {source.source_id: source for source in snapshot.sources}
    corrected = {quote.corrects for quote in snapshot.quotes if quote.corrects}
    quotes = [
        quote
        for quote in snapshot.quotes
        if quote.kind not in NEVER and quote.quote_id not in corrected and quote.quoted_on <= today
    ]
    found: list[Problem] = []

    def add(problem: str, quote: Quote, detail: str, other: Quote | None = None) -> None:
        found.append(
            Problem(
                problem,
                names.get((quote.item_kind, quote.item_id), quote.item_id),
                quote.price_usd,
                quote.quoted_on,
                quote.label,
                quote.quote_id in chosen or (other is not None and other.quote_id in chosen),
                detail,
                quote.quote_id,
                None if other is None else other.quote_id,
            )
        )

    for quote in book.values():  # the best price of its item: all others are no better
        if quote.kind != "owned" and not is_fresh(quote.quoted_on, quote.valid_until, today):
            age = age_words(quote.quoted_on, today)
            if (today - quote.quoted_on).days < STALE_DAYS:
                age = f"expired on {quote.valid_until}"
            add("stale", quote, f"{age}: find one of this year")
    far = outlying_quotes(quotes)
    for quote in quotes:
        if quote.quote_id in far:
            add("outlying", quote, PROBLEMS["outlying"])
        source = sources.get(quote.source_id)
        checkable = quote.url or quote.file or (source is not None and source.url)
        if not checkable and quote.kind != "owned":
            where = "your own" if quote.source_id == OWN_SOURCE else quote.source_id
            add("unsourced", quote, f"no page or file to check it by ({where})")
    for low, high in _contradicting(quotes, today):
        words = (
            f"{high.label} asked {usd_exact(high.price_usd)} on {high.quoted_on}: is it the same "
            "machine, with the same memory and warranty?"
        )
        add("contradicting", low, words, high)
    for host in snapshot.hosts:
        asked = book.get(("host" if host.gpu_id is None else "server", host.host_id))
        described = any(getattr(host, name) not in (None, ()) for name in FIGURES)
        if asked is not None and host.origin != "local" and not described:
            add("undescribed", asked, PROBLEMS["undescribed"])
    for key, newer in book.newer.items():
        quote, kind = book[key], KIND_WORDS.get(newer.kind, newer.kind)
        words = f"newer than the {usd_exact(quote.price_usd)} of {quote.quoted_on} that counts"
        add("passed over", newer, f"{words}, but {kind}", quote)
    order = [*PROBLEMS]
    return sorted(found, key=lambda p: (order.index(p.problem), p.item, p.date, p.quote_id))


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


def budget_checks(
    candidates: Sequence[Candidates], problems: Iterable[Problem], *, today: date
) -> list[dict[str, Any]]:
    """What the ranking of each model and budget rests on, a row each."""
    by_quote: dict[str, set[str]] = defaultdict(set)
    for problem in problems:
        if problem.problem != "passed over":
            by_quote[problem.quote_id].add(problem.problem)
            by_quote[problem.against or ""].add(problem.problem)
    return [
        _budget_check(rank(each, Question(budget_usd=usd)), usd, by_quote, today)
        for each in candidates
        for usd in BUDGETS_USD
    ]


def _budget_check(
    answer: Ranking, usd: Decimal, by_quote: Mapping[str, set[str]], today: date
) -> dict[str, Any]:
    rows = answer.rows()
    young = sum((today - price_day(row)).days < STALE_DAYS for row in rows)
    resting: Counter[str] = Counter()
    for row in rows:
        ids = {row.gpu_quote.quote_id, row.host_quote.quote_id}
        resting.update(set().union(*(by_quote.get(quote_id, set()) for quote_id in ids)))
        resting["reported by others"] += "secondary" in (row.gpu_quote.kind, row.host_quote.kind)
        resting["summed"] += is_unquoted(row.build, row.host_quote)
    first = rows[0] if rows else None
    oldest = today if first is None else price_day(first)
    return {
        "model": answer.candidates.model.recipe_id,
        "budget_usd": usd,
        "ranked": len(rows),
        "under_a_year": young,
        "share": f"{percent(young / len(rows))}" if rows else None,
        "rest_on": ", ".join(f"{n} {name}" for name, n in sorted(resting.items()) if n) or None,
        "first": None if first is None else gpus_words(first.build),
        "first_price_of": None if first is None else oldest,
        "first_is_a_sum": first is not None and is_unquoted(first.build, first.host_quote),
        "holds": young >= YOUNG_SHARE * len(rows) and (today - oldest).days < STALE_DAYS,
    }


def check_text(problems: Sequence[Problem], checks: Sequence[dict[str, Any]], width: int) -> str:
    """The check for a person: the rankings first, then what to mend."""
    share, weak = percent(YOUNG_SHARE), [each for each in checks if not each["holds"]]
    head = f"In each ranking {share} or more, and first place, stand on prices of the last year."
    if weak:
        named = ", ".join(f"{each['model']} at {usd_whole(each['budget_usd'])}" for each in weak)
        head = (
            f"Look at {named}: less than {share} of the ranking, or not its first place, stands on "
            "prices of the last year."
        )
    if summed := dict.fromkeys(each["budget_usd"] for each in checks if each["first_is_a_sum"]):
        named = list_words([usd_whole(usd) for usd in summed])
        head += f" At {named} the first is a sum of a seller's options: ask for a quote."
    counts = Counter(each.problem for each in problems)
    counted = Counter(each.problem for each in problems if each.counts)
    said = [f"{counts[name]} {name} ({counted[name]} count)" for name in PROBLEMS if counts[name]]
    rows = [
        each | {"budget": usd_whole(each["budget_usd"]), "recent": each["share"]} for each in checks
    ]
    columns = ["model", "budget", "ranked", "recent", "first", "rest_on"]
    table = to_table(rows, columns, frozenset(columns[1:4]), width=width)
    blocks = [fill(head, width), table, fill(f"Prices: {', '.join(said)}.", width)]
    columns = ["item", "price", "date", "vendor", "counts"]
    for name, words in PROBLEMS.items():
        if counts[name]:
            rows = [
                each._asdict() | {"price": usd_and_cents(each.price_usd)}
                for each in problems
                if each.problem == name
            ]
            table = to_table(rows, columns, frozenset({"price"}), width=width, spare=("vendor",))
            blocks.append(f"{fill(f'{name.capitalize()}: {words}', width)}\n{table}")
    command = "advisor prices check --format csv"
    blocks.append(with_command("Every word and each quote's id:", command, width))
    return "\n\n".join(blocks)
