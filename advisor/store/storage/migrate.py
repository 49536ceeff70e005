"""Brings a store to the newest schema, one named step a transaction, never back."""

from __future__ import annotations

from pathlib import Path

from advisor.store.storage.engine import duckdb, transaction
from advisor.store.storage.store_error import StoreError

SCHEMA_FOLDER = Path(__file__).parents[1] / "schema"


def schema_steps() -> list[Path]:
    """The steps in order; ``003_add_something.sql`` is version 3."""
    return sorted(SCHEMA_FOLDER.glob("[0-9][0-9][0-9]_*.sql"))


def newest_version() -> int:
    """The version that this program knows."""
    return _version_of(schema_steps()[-1])


def schema_version(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """The version that the open store has. Raises StoreError where it is no store of ours, or of a
    newer program."""
    try:
        row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    except duckdb.CatalogException:
        row = None
    if row is None or row[0] is None:
        raise StoreError(
            f"{path} is a DuckDB database, but not a store of this program: "
            "name another with --store"
        )
    version, newest = int(row[0]), newest_version()
    if version > newest:
        raise StoreError(
            f"the store {path} is from a newer version of this program (schema {version}, "
            f"this one knows {newest}): update this program, or name another with --store"
        )
    return version


def migrate(connection: duckdb.DuckDBPyConnection, version: int) -> None:
    """Take the steps after ``version`` (0: none yet)."""
    for step in schema_steps():
        if _version_of(step) > version:
            take_step(connection, step)


def take_step(connection: duckdb.DuckDBPyConnection, step: Path) -> None:
    """Take one step, and record it, in one transaction."""
    with transaction(connection):
        connection.execute(step.read_text(encoding="utf-8"))
        connection.execute(
            "INSERT INTO schema_version VALUES (?, ?)", [_version_of(step), step.stem]
        )


def _version_of(step: Path) -> int:
    return int(step.name[:3])
