"""A user's own machines and quotes: kept together, corrected, deleted. Shipped rows stay."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.store.connection import transaction
from advisor.store.engine import duckdb
from advisor.store.exchange import Tables, add_rows, quote_tables
from advisor.store.predictions import predict_anew
from advisor.store.rows import host_values
from price_catalog.model import Host, Quote, Source


def machine_tables(host: Host, quote: Quote | None, sources: Iterable[Source]) -> Tables:
    """The rows of a machine and its price. Raises StoreError."""
    prices = quote_tables([] if quote is None else [quote], sources)
    return {**prices, "host": [host_values(host)]}


def replace_machine(
    connection: duckdb.DuckDBPyConnection,
    host: Host,
    quote: Quote | None,
    sources: Iterable[Source],
) -> bool:
    """Put a machine in the place of the user's one with its id, in one transaction."""
    tables = machine_tables(host, quote, sources)
    with transaction(connection):
        if not _delete(connection, "host", "host_id = $id", host.host_id):
            return False
        add_rows(connection, tables)
        predict_anew(connection)
    return True


def remove_machine(connection: duckdb.DuckDBPyConnection, host_id: str) -> bool:
    """Delete a machine with the user's prices of it, in one transaction."""
    with transaction(connection):
        if not _delete(connection, "host", "host_id = $id", host_id):
            return False
        _delete(connection, "quote", "item_id = $id AND item_kind IN ('host', 'server')", host_id)
        predict_anew(connection)
    return True


def remove_quote(connection: duckdb.DuckDBPyConnection, quote_id: str) -> bool:
    """Delete a quote of the user's."""
    with transaction(connection):
        return _delete(connection, "quote", "quote_id = $id", quote_id)


def _delete(connection: duckdb.DuckDBPyConnection, table: str, which: str, row_id: str) -> bool:
    gone = connection.execute(
        f"DELETE FROM {table} WHERE origin = 'local' AND {which} RETURNING 1", {"id": row_id}
    ).fetchall()
    return bool(gone)
