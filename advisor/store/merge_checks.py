"""Whether rows from somebody else's file or store are such as this program would write itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

from advisor.costs.own_quotes import ITEM_KINDS, KINDS
from advisor.parse import shown
from advisor.store.engine import duckdb
from advisor.store.look_through import MAX_ROWS
from advisor.store.store_error import StoreError
from price_catalog.csv_table import nearest
from price_catalog.model import RENTAL_KINDS, HostKind

MAX_MERGED = 500_000
"""Rows of one file or store; they take a gigabyte in memory."""
_CHOICES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "quote": {"item_kind": ITEM_KINDS, "kind": KINDS},
    "rental": {"kind": RENTAL_KINDS},
    "host": {"kind": get_args(HostKind)},
}
_Rows = Iterable[Mapping[str, Any]]


def check_words(table: str, row: Mapping[str, Any]) -> None:
    """Raise ValueError where a word is none that is known, or text could steer a terminal."""
    for column, known in _CHOICES.get(table, {}).items():
        word = row.get(column)
        if word not in known:
            raise ValueError(
                f"{column} {shown(str(word))} is not known; {nearest(str(word), known)}"
            )
    if table == "recipe" and row.get("definition") is not None:
        from advisor.prediction.model.own_model import from_text

        from_text(row["definition"])
    if (url := row.get("url")) and not re.match(r"https?://[^\s/]+", str(url)):
        raise ValueError(f"url {shown(str(url))} is no web address: begin it with https://")
    for column, value in row.items():
        for text in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(text, str) and not text.isprintable():
                raise ValueError(f"{column} {shown(text)} holds control characters")


def check_room(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Raise StoreError where a table has become larger than what is read of any store."""
    row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    if row is not None and row[0] > MAX_ROWS:
        raise StoreError(
            f"with these the store would hold {row[0]:,} rows in the table {table}, and no more "
            f"than {MAX_ROWS:,} are read; nothing was added: keep fewer, or another --store"
        )


def check_number(count: int, path: Path) -> None:
    """Raise StoreError where more rows are to be merged than memory should have to hold."""
    if count > MAX_MERGED:
        raise StoreError(
            f"{path} holds more than {MAX_MERGED:,} rows to merge; nothing was added: ask for "
            "fewer, or read prices in by advisor prices import"
        )


def check_items(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, _Rows]) -> None:
    """Raise StoreError where a price is for a GPU or a machine that nobody knows."""
    gpus = _ids(connection, "SELECT gpu_id FROM gpu") | {
        row["gpu_id"] for row in tables.get("gpu", ())
    }
    hosts = _ids(connection, "SELECT host_id FROM host") | {
        row["host_id"] for row in tables.get("host", ())
    }
    known = {"gpu": gpus, "host": hosts, "server": hosts}
    for row in tables.get("quote", ()):
        items = known.get(row["item_kind"])
        if items is not None and row.get("item_id") not in items:
            raise _unknown("quote", row["quote_id"], row["item_kind"], row.get("item_id"), items)
    for row in tables.get("rental", ()):
        if row.get("gpu_id") not in gpus:
            raise _unknown("rental", row["rental_id"], "gpu", row.get("gpu_id"), gpus)


def _ids(connection: duckdb.DuckDBPyConnection, query: str) -> set[str]:
    return {name for (name,) in connection.execute(query).fetchall()}


def _unknown(table: str, row_id: Any, kind: str, item_id: Any, known: set[str]) -> StoreError:
    return StoreError(
        f"{table} {shown(str(row_id))} is for the {kind} {shown(str(item_id))}, which is not known "
        f"here; {nearest(str(item_id), known)}; nothing was added"
    )
