"""A few rows of a user's own, which everything must leave as they are."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import duckdb

from advisor.ranking.times import TrainingTime
from advisor.store import Store
from price_catalog.model import Quote, Source
from tests.facts_for_tests import make_quote
from tests.store_for_tests import record

OWN_SOURCE = Source(
    source_id="own",
    title="Our lab",
    url=None,
    how_measured="advisor bench",
    licence=None,
    published_on=date(2026, 11, 20),
)
OWN_QUOTE = make_quote(
    *("gpu", "rtx-3090", "899.99"),
    quote_id="q-own",
    kind="used",
    vendor='a shop; with "quotes" and ünïcode',
    quoted_on=date(2026, 11, 1),
    source_id="own",
    origin="local",
)


def add_own_rows(path: Path) -> None:
    """A few rows of a user's own."""
    store = Store(path)
    store.add(
        measurement=[
            record("m-1"),
            record("m-2", status="infeasible", reason="out of memory", settings=None),
        ],
        sources=[OWN_SOURCE],
    )
    store.add(quote=[OWN_QUOTE])


def own_rows(path: Path) -> tuple[tuple[TrainingTime, ...], list[Quote], list[Source]]:
    """What `add_own_rows` added."""
    with Store(path).reading() as reader:
        return (
            reader.times(origin="local"),
            [quote for quote in reader.quotes() if quote.quote_id == "q-own"],
            [source for source in reader.sources() if source.source_id == "own"],
        )


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = connection.execute(
            "SELECT table_name FROM duckdb_tables() ORDER BY table_name"
        ).fetchall()
        return {
            name: connection.execute(f"FROM {name} ORDER BY ALL").fetchall() for (name,) in tables
        }
