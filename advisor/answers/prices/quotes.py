"""The ledger as rows: every quote with its age, its marks and whether it counts (pure)."""

from __future__ import annotations

from datetime import date
from typing import Any

from advisor.answers.wording import SUM, item_names
from advisor.costs.amount_words import age_words
from advisor.costs.own_quotes import Items
from advisor.costs.parts import PREFIX
from advisor.costs.price_book import outlying_quotes, quote_marks
from advisor.costs.price_interval import price_today
from advisor.ranking.snapshot import Snapshot
from advisor.typed_input import PriceRule
from price_catalog.model import Quote

_TERMS = ("currency", "price_quoted", "includes", "delivery", "warranty", "origin")
_WHERE = ("url", "file", "note", "corrects", "quote_id")


def ledger_items(snapshot: Snapshot) -> Items:
    """What a quote may be for, and which quotes may be corrected."""
    return Items(snapshot.gpus, snapshot.hosts, (quote.quote_id for quote in snapshot.quotes))


def ledger_rows(
    snapshot: Snapshot, rule: PriceRule, *, today: date
) -> list[tuple[Quote, dict[str, Any]]]:
    """Every quote, and every machine's price that was added up, with what is shown of it."""
    book = snapshot.prices(rule, today=today)
    counts = {q.quote_id for q in book.values() if q.item_kind != "part"} | book.parts_used
    summed = [quote for quote in book.values() if quote.quote_id.startswith(PREFIX)]
    outlying = outlying_quotes(snapshot.quotes)
    corrected = {quote.corrects for quote in snapshot.quotes}
    names = item_names(snapshot.gpus, snapshot.hosts)
    gpus = {gpu.gpu_id: gpu for gpu in snapshot.gpus}
    whole = {host.host_id: gpus.get(host.gpu_id or "") for host in snapshot.hosts}

    def row(quote: Quote) -> dict[str, Any]:
        name, now = quote.quote_id, None
        counting, far = name in counts, name in outlying
        if counting and book.as_of is not None:
            now = price_today(quote, whole.get(quote.item_id), book.as_of)
        marks = quote_marks(quote, today=today, outlying=far, corrected=name in corrected)
        return {
            "item": names.get((quote.item_kind, quote.item_id), quote.item_id),
            "item_kind": quote.item_kind,
            "price_usd": quote.price_usd,
            "kind": quote.kind,
            "vendor": quote.vendor,
            "date": quote.quoted_on,
            "age": age_words(quote.quoted_on, today),
            "valid_until": quote.valid_until,
            "marks": ", ".join((*marks, SUM) if quote.is_summed else marks),
            "counts": counting,
            "today_low_usd": None if now is None else now.low_usd,
            "today_high_usd": None if now is None else now.high_usd,
            **{name: getattr(quote, name) for name in _TERMS},
            "source": quote.source_id,
            **{name: getattr(quote, name) for name in _WHERE},
        }

    return [(quote, row(quote)) for quote in (*summed, *snapshot.quotes)]
