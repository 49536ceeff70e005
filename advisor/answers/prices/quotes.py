"""The ledger as rows: every quote with its age, its marks and whether it counts (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any

from advisor.answers.wording import SUM, item_names
from advisor.costs.amount_words import age_words
from advisor.costs.own_quotes import Items
from advisor.costs.parts import PREFIX, _line, parts_in_use
from advisor.costs.price_book import (
    PriceBook,
    outlying_quotes,
    quote_marks,
)
from advisor.costs.price_today import price_today
from advisor.ranking.snapshot import Snapshot
from advisor.typed_input import PriceRule
from price_catalog.model import Host, Quote


def ledger_items(snapshot: Snapshot) -> Items:
    """What a quote may be for, and which quotes may be corrected."""
    return Items(snapshot.gpus, snapshot.hosts, (quote.quote_id for quote in snapshot.quotes))


def ledger_columns(
    snapshot: Snapshot,
    rule: PriceRule,
    *,
    today: date,
    keep: Callable[[Quote], bool] | None = None,
) -> tuple[Sequence[Quote], dict[str, Sequence[Any]]]:
    """Every quote, and every machine's price that was added up of them, with what is shown of each
    by columns; only those to ``keep``, where that is said."""
    held = snapshot.quotes
    names = item_names(snapshot.gpus, snapshot.hosts)
    book = snapshot.prices(rule, today=today)
    used = parts_in_use(book, snapshot.hosts, rule, today=today)
    counts = {q.quote_id for q in book.values() if q.item_kind != "part" or q.quote_id in used}
    summed = [quote for quote in book.values() if quote.quote_id.startswith(PREFIX)]
    outlying = outlying_quotes(held)
    corrected = {quote.corrects for quote in held}
    quotes: Sequence[Quote] = (*summed, *held)
    if keep is not None:
        quotes = list(filter(keep, quotes))
    fields: Sequence[Sequence[Any]] = tuple(zip(*quotes, strict=True)) or ((),) * len(Quote._fields)
    of = dict(zip(Quote._fields, fields, strict=True))
    ids, days = of["quote_id"], of["quoted_on"]
    ages = {day: age_words(day, today) for day in set(days)}
    gpus = {gpu.gpu_id: gpu for gpu in snapshot.gpus}
    items = {host.host_id: gpus.get(host.gpu_id or "") for host in snapshot.hosts}
    now = [
        price_today(quote, items.get(quote.item_id), book.as_of)
        if quote.quote_id in counts and book.as_of is not None
        else None
        for quote in quotes
    ]
    marks = [
        quote_marks(quote, today=today, outlying=id_ in outlying, corrected=id_ in corrected)
        for quote, id_ in zip(quotes, ids, strict=True)
    ]
    return quotes, {
        "item": [
            names.get(item, item[1]) for item in zip(of["item_kind"], of["item_id"], strict=True)
        ],
        "item_kind": of["item_kind"],
        "price_usd": of["price_usd"],
        "kind": of["kind"],
        "vendor": of["vendor"],
        "date": days,
        "age": [ages[day] for day in days],
        "valid_until": of["valid_until"],
        "marks": [
            ", ".join((*found, SUM) if kind == "parts-list" else found)
            for found, kind in zip(marks, of["kind"], strict=True)
        ],
        "counts": [id_ in counts for id_ in ids],
        "today_low_usd": [None if each is None else each.low_usd for each in now],
        "today_high_usd": [None if each is None else each.high_usd for each in now],
        "currency": of["currency"],
        "price_quoted": of["price_quoted"],
        "includes": of["includes"],
        "delivery": of["delivery"],
        "warranty": of["warranty"],
        "origin": of["origin"],
        "source": of["source_id"],
        "url": of["url"],
        "file": of["file"],
        "note": of["note"],
        "corrects": of["corrects"],
        "quote_id": ids,
    }


def ledger_rows(
    snapshot: Snapshot, rule: PriceRule, *, today: date
) -> list[tuple[Quote, dict[str, Any]]]:
    """Every quote with what is shown of it, and every machine's price that was added up of them."""
    quotes, columns = ledger_columns(snapshot, rule, today=today)
    rows = zip(*columns.values(), strict=True)
    return [
        (quote, dict(zip(columns, row, strict=True)))
        for quote, row in zip(quotes, rows, strict=True)
    ]


def part_rows(
    book: PriceBook, hosts: Iterable[Host], rule: PriceRule, *, today: date
) -> list[dict[str, Any]]:
    """Every parts list line by line, with the price that would count and where it comes from."""
    as_of = rule if isinstance(rule, date) else today
    rows: list[dict[str, Any]] = []
    for host in hosts:
        if host.gpu_id is not None:
            continue
        whole = book.get(("host", host.host_id))
        summed = whole is not None and whole.quote_id.startswith(PREFIX)
        for part in host.parts:
            line = None if rule == "paper" else _line(part, book, rule, as_of)
            quote = None if line is None else line.quote
            rows.append(
                {
                    "machine": host.name,
                    "part": part.detail,
                    "role": part.role,
                    "list_usd": part.price_usd,
                    "list_date": part.priced_on,
                    "quote_usd": None if quote is None else quote.price_usd,
                    "vendor": None if quote is None else quote.vendor,
                    "quote_date": None if quote is None else quote.quoted_on,
                    "counts": "quote"
                    if summed and quote is not None
                    else "list"
                    if summed
                    else "whole price",
                }
            )
    return rows
