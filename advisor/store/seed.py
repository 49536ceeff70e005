"""Replaces the shipped rows of an open store; a user's own rows stay, and are audited anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from advisor.store.connection import transaction
from advisor.store.digest import shipped_digest, stored_digest
from advisor.store.engine import duckdb
from advisor.store.measurement_columns import AUDITED
from advisor.store.migrate import check_known, migrate, migrations, schema_version
from advisor.store.predictions import predict_anew
from advisor.store.reader import Reader
from advisor.store.rows import (
    BATCH_ROWS,
    KEYS,
    Auditor,
    Values,
    column_types,
    host_values,
    insert_missing,
    measurement_values,
    part_values,
    plain_values,
)
from advisor.store.shipped_rows import Shipped, read_shipped


def replace_shipped(connection: duckdb.DuckDBPyConnection, shipped: Shipped, digest: str) -> None:
    """Make the shipped rows those of the text, in one transaction.

    A local row with the id of a shipped one stands in its place.
    """
    with transaction(connection):
        for table in KEYS:
            connection.execute(f"DELETE FROM {table} WHERE origin = 'shipped'")
        hosts = [host for host in shipped.hosts if not _is_local(connection, host.host_id)]
        tables: list[tuple[str, list[Values]]] = [
            ("source", [plain_values(source) for source in shipped.sources]),
            ("gpu", [plain_values(gpu) for gpu in shipped.gpus]),
            ("host", [host_values(host) for host in hosts]),
            ("host_part", [part for host in hosts for part in part_values(host)]),
            ("recipe", [plain_values(model) for model in shipped.models]),
            ("quote", [plain_values(quote) for quote in shipped.quotes]),
            ("rental", [plain_values(rental) for rental in shipped.rentals]),
            ("prediction", list(shipped.predictions)),
        ]
        for table, rows in tables:
            insert_missing(connection, table, [{**row, "origin": "shipped"} for row in rows])
        auditor = auditor_of(connection)
        measurements = [measurement_values(record) for record in shipped.measurements]
        insert_missing(
            connection,
            "measurement",
            [{**row, **auditor.verdict(row), "origin": "shipped"} for row in measurements],
        )
        audit_local(connection, auditor)
        predict_anew(connection)
        connection.execute("DELETE FROM meta WHERE key = 'shipped_digest'")
        connection.execute("INSERT INTO meta VALUES ('shipped_digest', ?)", [digest])


def auditor_of(connection: duckdb.DuckDBPyConnection) -> Auditor:
    """What times are held against, from the store itself: local GPUs and recipes count too."""
    reader = Reader(connection)
    return Auditor.of(reader.gpus(), reader.models())


def _is_local(connection: duckdb.DuckDBPyConnection, host_id: str) -> bool:
    # A host and its parts list stand or fall together.
    return (
        connection.execute("SELECT 1 FROM host WHERE host_id = ?", [host_id]).fetchone() is not None
    )


def audit_local(connection: duckdb.DuckDBPyConnection, auditor: Auditor) -> None:
    """Hold a user's own times against the GPUs and recipes as they are now."""
    answer = connection.execute(
        "SELECT measurement_id, gpu, gpu_count, recipe_id, method, free_lunch, status,"
        f" training_days, training_days_high, {', '.join(AUDITED)}"
        " FROM measurement WHERE origin = 'local'"
    )
    names = [column[0] for column in answer.description or ()]
    changed: list[tuple[Any, ...]] = []
    while rows := answer.fetchmany(BATCH_ROWS):
        for row in rows:
            held = dict(zip(names, row, strict=True))
            now = auditor.verdict(held)
            if any(now[name] != held[name] for name in AUDITED):
                changed.append((held["measurement_id"], *(now[name] for name in AUDITED)))
    types = column_types(connection, "measurement")
    for start in range(0, len(changed), BATCH_ROWS):
        columns = list(zip(*changed[start : start + BATCH_ROWS], strict=True))
        unnested = ", ".join(
            f"unnest(?::{types[name]}[]) AS {name}" for name in ("measurement_id", *AUDITED)
        )
        connection.execute(
            f"UPDATE measurement SET {', '.join(f'{name} = fresh.{name}' for name in AUDITED)}"
            f" FROM (SELECT {unnested}) AS fresh"
            " WHERE measurement.measurement_id = fresh.measurement_id"
            " AND measurement.origin = 'local'",
            [list(column) for column in columns],
        )


def update(connection: duckdb.DuckDBPyConnection, path: Path, *, force: bool = False) -> bool:
    """Migrate an open store and replace its shipped rows where they are old; whether it did."""
    steps = migrations()
    version = schema_version(connection, path)
    check_known(version, path, steps[-1].version)
    migrate(connection, version, steps)
    digest = shipped_digest()
    if version == steps[-1].version and not force and stored_digest(connection) == digest:
        return False
    replace_shipped(connection, read_shipped(), digest)
    return True
