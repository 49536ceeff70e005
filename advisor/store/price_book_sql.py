"""The rule of `advisor.costs.price_book.choose_quotes`, for stores with very many quotes.

That one leads, and what it tells quotes apart by, their order and its limits are taken from it.
It stands here a second time because reading 100,000 quotes for it takes twice as long as importing
DuckDB does, and choosing among them as long again; this takes a third of that.

DuckDB looks for the newest day of each group of quotes that the rule tells apart; which group is
the best of its item is decided here, among hundreds instead of hundreds of thousands; then the
quotes that were chosen, and nothing else, are read. One query for all of it would take twice as
long, most of that in planning. The tests hold the two ways against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from advisor.costs.price_book import (
    NEVER,
    STALE_DAYS,
    PriceBook,
    PriceRange,
    Quality,
    choose_quotes,
    is_outlying,
    kind_order,
    quality_of,
    usual_prices,
)
from advisor.parse import PriceRule
from advisor.store.engine import duckdb
from advisor.store.sql import query
from price_catalog.model import Quote, QuoteKind

Item = tuple[str, str]
_NO_PRICE_IS_ABOVE = Decimal(10**12)


class _Group(NamedTuple):
    """Quotes of one item that differ in price and day alone."""

    kind: QuoteKind
    origin: str
    fresh: bool
    newest: date

    @property
    def quality(self) -> Quality:
        return quality_of(self.fresh, self.origin, self.kind)


class _Range(NamedTuple):
    """A row of quote_ranges.sql."""

    item_kind: str
    item_id: str
    place: int
    middle_usd: Decimal
    low_usd: Decimal
    high_usd: Decimal
    quotes: int


def choose_in_store(
    connection: duckdb.DuckDBPyConnection, rule: PriceRule, *, today: date
) -> PriceBook:
    """Choose one quote an item, as `choose_quotes` does it."""
    if rule == "paper":
        answer = connection.execute("SELECT rowid FROM quote WHERE price_set = 'paper'")
        places = [place for (place,) in answer.fetchall()]
        return choose_quotes(_quotes_at(connection, places), rule, today=today)
    as_of = rule if isinstance(rule, date) else today
    asked = _asked(connection, rule, as_of)
    answer = connection.execute(query("quote_groups"), {**asked, "never": list(NEVER)})
    groups = answer.fetchall()
    best = _best_groups(groups)
    found = _ranges(connection, asked, best, {})
    # Only where some price is far from the middle one are the prices near it counted apart.
    bounds = {
        item: usual_prices(row.middle_usd)
        for item, row in found.items()
        if is_outlying(row.low_usd, row.middle_usd, row.quotes)
        or is_outlying(row.high_usd, row.middle_usd, row.quotes)
    }
    if bounds:
        found |= _ranges(connection, asked, {item: best[item] for item in bounds}, bounds)
    newest = _newest_places(connection, asked, groups, best)
    # Both at once: finding quotes by their places goes through the whole table.
    chosen: dict[Item, Quote] = {}
    newer: dict[Item, Quote] = {}
    for quote in _quotes_at(connection, [*(row.place for row in found.values()), *newest]):
        item = (quote.item_kind, quote.item_id)
        is_chosen = quote.quoted_on == best[item][0].newest
        (chosen if is_chosen else newer)[item] = quote
    ranges = {}
    for item, quote in chosen.items():
        row, price = found[item], quote.price_usd
        low, high = bounds.get(item, (row.low_usd, row.high_usd))
        ranges[item] = PriceRange(
            min(row.low_usd, price),
            max(row.high_usd, price),
            row.quotes,
            not low <= price <= high,
        )
    return PriceBook(chosen, ranges, as_of, newer)


def _newest_places(
    connection: duckdb.DuckDBPyConnection,
    asked: Mapping[str, Any],
    groups: Iterable[tuple[Any, ...]],
    best: Mapping[Item, list[_Group]],
) -> list[int]:
    """Where the newest quote stands of each item that has a newer one than the chosen."""
    days: dict[Item, date] = {}
    for item_kind, item_id, *rest in groups:
        item, day = (item_kind, item_id), _Group(*rest).newest
        if day > max(best[item][0].newest, days.get(item, date.min)):
            days[item] = day
    if not days:
        return []
    answer = connection.execute(
        query("quotes_newest"),
        {
            "item_kinds": [kind for kind, _ in days],
            "item_ids": [item_id for _, item_id in days],
            "days": list(days.values()),
            "corrected": asked["corrected"],
            "never": list(NEVER),
        },
    )
    return [place for (place,) in answer.fetchall()]


def _asked(connection: duckdb.DuckDBPyConnection, rule: PriceRule, as_of: date) -> dict[str, Any]:
    """What both queries are asked with."""
    known_until = rule if isinstance(rule, date) else None
    corrected = connection.execute(
        "SELECT quote.rowid FROM quote SEMI JOIN (SELECT corrects FROM quote"
        " WHERE corrects IS NOT NULL AND NOT list_contains($never, kind)"
        " AND ($known_until IS NULL OR quoted_on <= $known_until)"
        ") AS newer ON quote.quote_id = newer.corrects",
        {"known_until": known_until, "never": list(NEVER)},
    ).fetchall()
    return {
        "as_of": as_of,
        "fresh_from": as_of - timedelta(days=STALE_DAYS - 1),
        "known_until": known_until,
        "corrected": [place for (place,) in corrected],  # the ids of 100,000 are slow to compare
    }


def _best_groups(rows: Iterable[tuple[Any, ...]]) -> dict[Item, list[_Group]]:
    """The groups of the best quality of each item; first the one with the chosen quote."""
    groups: dict[Item, list[_Group]] = {}
    for item_kind, item_id, *rest in rows:
        groups.setdefault((item_kind, item_id), []).append(_Group(*rest))
    best = {}
    for item, rivals in groups.items():
        quality = max(group.quality for group in rivals)
        equals = [group for group in rivals if group.quality == quality]
        equals.sort(key=lambda group: (group.newest, kind_order(group.kind)), reverse=True)
        best[item] = equals
    return best


def _ranges(
    connection: duckdb.DuckDBPyConnection,
    asked: Mapping[str, Any],
    best: Mapping[Item, list[_Group]],
    bounds: Mapping[Item, tuple[Decimal, Decimal]],
) -> dict[Item, _Range]:
    """The chosen quote of each item and what those as good ask, within the bounds."""
    rows = []
    for item, groups in best.items():
        newest, (low, high) = groups[0].newest, bounds.get(item, (Decimal(0), _NO_PRICE_IS_ABOVE))
        first = kind_order(groups[0].kind)
        rows += [
            (
                *item,
                group.kind,
                group.origin,
                group.fresh,
                newest,
                low,
                high,
                kind_order(group.kind) == first,
            )
            for group in groups
        ]
    names = (
        "item_kinds",
        "item_ids",
        "kinds",
        "origins",
        "freshes",
        "newests",
        "lowest",
        "highest",
        "is_first",
    )
    lists = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    if not lists:
        return {}
    answer = connection.execute(query("quote_ranges"), {**asked, **lists, "stale_days": STALE_DAYS})
    found = [_Range(*row) for row in answer.fetchall()]
    return {(row.item_kind, row.item_id): row for row in found}


def _quotes_at(connection: duckdb.DuckDBPyConnection, places: list[int]) -> list[Quote]:
    answer = connection.execute(query("quotes_at"), {"places": places})
    names = [column[0] for column in answer.description or ()]
    return [Quote(**dict(zip(names, row, strict=True))) for row in answer.fetchall()]
