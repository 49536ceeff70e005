"""The prices that ship as a page: each GPU's newest, how far prices move, what was not found."""

from __future__ import annotations

from dataclasses import replace
from textwrap import shorten
from typing import Any

from advisor.costs.amount_words import usd_whole
from advisor.costs.price_book import kind_class, kind_order
from advisor.costs.price_interval import price_factors, price_moves
from advisor.ranking.snapshot import Snapshot
from advisor.tables.table_formats import to_markdown
from price_catalog.csv_table import read_rows
from price_catalog.load import CATALOG_FOLDER
from price_catalog.model import Quote

AGES = {"today": 0, "3 months": 91, "6 months": 182, "12 months": 365}
MOST_LETTERS = 160
"""Of what was found instead of a price that was looked for."""


def price_page(snapshot: Snapshot) -> str:
    """The page, as of the day of the newest price that ships."""
    quotes = tuple(quote for quote in snapshot.quotes if quote.origin == "shipped")
    hosts = tuple(host for host in snapshot.hosts if host.origin == "shipped")
    shipped = replace(snapshot, quotes=quotes, hosts=hosts, builds=())
    today = max(quote.quoted_on for quote in quotes)
    missing = [
        {
            "item": row.text("item"),
            "looked for on": row.text("looked_on"),
            "found": shorten(row.text("found"), MOST_LETTERS, placeholder=" …"),
        }
        for row in read_rows(
            CATALOG_FOLDER / "not_found.csv", ("item", "looked_on", "found", "page")
        )
    ]
    return f"""# Prices that ship

Look up what a GPU costs and how old that is, and how far a price moves until you order. Each price
with its page is a row of `advisor prices list --item NAME`, all of them of
`advisor prices list --format csv`; `advisor prices check` says what a ranking rests on.
Made by `advisor prices check --out docs/prices.md`; not edited by hand.

{len(quotes)} prices of {len({quote.item_id for quote in quotes})} GPUs, machines and parts, the
newest of {today}. The newest price of each GPU, for one piece; `advisor data sources` says what a
source is:

{_table(_newest(shipped))}
## If you order today

How far a quote has moved: what 9 in 10 of the later prices of an item ask, as a share of the
earlier one. From each pair of prices of one item at which somebody sold, at most two years apart;
each item counts once. *Held out* are the pairs of an item against an interval made without that
item.

{_table(_moves())}
A card is a GPU alone, a workstation a machine with cards, a server one with HBM modules. *Other*
are empty machines and parts, which have too few pairs of their own: all of them together. The
prices of a build are taken to move together. A quote that is valid until a later day has no
interval, nor has one of yours of the last 30 days, nor have the paper's prices.

## Looked for and not found

{_table(missing)}"""


def _table(rows: list[dict[str, Any]]) -> str:
    return to_markdown(rows, list(rows[0]) if rows else ())


def _newest(snapshot: Snapshot) -> list[dict[str, Any]]:
    """A row a GPU: the newest price that no other corrects, of one day the better kind."""
    corrected = {quote.corrects for quote in snapshot.quotes}
    newest: dict[str, Quote] = {}
    for quote in snapshot.quotes:
        if quote.item_kind == "gpu" and quote.quote_id not in corrected:
            held = newest.setdefault(quote.item_id, quote)
            newest[quote.item_id] = max(held, quote, key=_newness)
    return [
        {
            "GPU": gpu.name,
            "price": usd_whole(newest[gpu.gpu_id].price_usd),
            "date": newest[gpu.gpu_id].quoted_on,
            "kind": newest[gpu.gpu_id].kind,
            "vendor": newest[gpu.gpu_id].vendor,
            "source": newest[gpu.gpu_id].source_id,
        }
        for gpu in snapshot.gpus
        if gpu.gpu_id in newest
    ]


def _newness(quote: Quote) -> tuple[str, int, int, str]:
    kind = quote.kind
    return str(quote.quoted_on), kind_class(kind), kind_order(kind), quote.quote_id


def _moves() -> list[dict[str, Any]]:
    """How far prices move, a row a kind of item."""
    rows = []
    for move in price_moves().values():
        row: dict[str, Any] = {"kind": move.kind}
        for age, days in AGES.items():
            low, _, high = price_factors(move, days)
            row[f"of {age}"] = f"{low * 100:.0f} to {high * 100:.0f} %"
        share = move.held_out_inside / move.held_out_pairs
        row |= {"pairs": move.pairs, "items": move.items}
        row["held out, inside"] = f"{move.held_out_inside} of {move.held_out_pairs} ({share:.0%})"
        rows.append(row)
    return rows
