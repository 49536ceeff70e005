"""A user's own machines, quotes and models: added, corrected, deleted. Shipped rows stay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.parse import shown
from advisor.store.engine import duckdb
from advisor.store.merge.exchange import Tables, add_rows, quote_tables
from advisor.store.predictions import predict_anew
from advisor.store.rows import Values, host_values, insert_missing, plain_values
from advisor.store.seed import audit_local, auditor_of, model_of
from advisor.store.storage.connection import transaction
from advisor.store.storage.store_error import StoreError
from price_catalog.model import Host, Quote, Source

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel


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


def model_values(own: OwnModel) -> Values:
    """The row of a model of a user's own, its definition in it. Raises ValueError."""
    from advisor.prediction.model.own_model import to_text

    model = model_of(own.recipe)
    if own.parameters is not None:
        ratio = own.parameters / model.parameters
        model = replace(
            model,
            parameters=own.parameters,
            flops_lowest=model.flops_lowest * ratio,
            flops_full=model.flops_full * ratio,
        )
    return {**plain_values(model), "definition": to_text(own)}


def keep_model(connection: duckdb.DuckDBPyConnection, own: OwnModel, *, force: bool) -> int:
    """Keep a model with its predictions, in one transaction; how many times are predicted.

    ``force`` replaces another of the user's own that has its id. Raises StoreError.
    """
    recipe = own.recipe
    values = model_values(own)
    with transaction(connection):
        held = connection.execute(
            "SELECT recipe_id, origin, definition FROM recipe"
            " WHERE recipe_id = $id OR lower(name) IN ($id, lower($name))"
            " OR lower(recipe_id) = lower($name) ORDER BY origin DESC",
            {"id": recipe.recipe_id, "name": recipe.name},
        ).fetchall()
        for recipe_id, origin, definition in held:
            if origin == "shipped":
                raise StoreError(
                    f"{shown(recipe.name)} is a model that ships ({recipe_id}): keep yours under "
                    "another name"
                )
            if recipe_id != recipe.recipe_id:
                raise StoreError(
                    f"{shown(recipe.name)} is what your model {recipe_id} is called: keep this one "
                    "under another name"
                )
            if definition != values["definition"] and not force:
                raise StoreError(
                    f"you have another model called {recipe_id}: replace it with --force, or keep "
                    "this one under another name"
                )
        _delete_model(connection, recipe.recipe_id)
        insert_missing(connection, "recipe", [{**values, "origin": "local"}])
        audit_local(connection, auditor_of(connection))
        predict_anew(connection)
        row = connection.execute(
            "SELECT count(*) FROM prediction WHERE recipe_id = ? AND status = 'ok' "
            "AND host_memory_gib = 0",
            [recipe.recipe_id],
        ).fetchone()
    return int(row[0]) if row else 0


def forget_model(connection: duckdb.DuckDBPyConnection, name: str, path: Path) -> int:
    """Forget a model of the user's own with its predictions; how many times measured for it stay.

    Raises StoreError where there is no such one.
    """
    wanted = " ".join(name.split()).casefold()
    with transaction(connection):
        rows = connection.execute(
            "SELECT recipe_id, lower(name), origin FROM recipe ORDER BY recipe_id"
        ).fetchall()
        own = [recipe_id for recipe_id, _, origin in rows if origin == "local"]
        found = next((row for row in rows if wanted in row[:2]), None)
        if found is None:
            known = f"yours are {', '.join(own)}" if own else "you have kept none"
            raise StoreError(f"no model in {path} is called {shown(name)}: {known}")
        recipe_id, _, origin = found
        if origin == "shipped":
            raise StoreError(f"{recipe_id} ships with the program, and stays")
        _delete_model(connection, recipe_id)
        audit_local(connection, auditor_of(connection))
        predict_anew(connection)
        row = connection.execute(
            "SELECT count(*) FROM measurement WHERE recipe_id = ? AND status = 'ok'", [recipe_id]
        ).fetchone()
    return int(row[0]) if row else 0


def _delete_model(connection: duckdb.DuckDBPyConnection, recipe_id: str) -> None:
    connection.execute("DELETE FROM recipe WHERE origin = 'local' AND recipe_id = ?", [recipe_id])
