"""Brings a store to the newest schema, one named step a transaction, never back."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from advisor.store.storage.connection import transaction
from advisor.store.storage.engine import duckdb
from advisor.store.storage.reject_untrusted_store import VERSION_TABLE
from advisor.store.storage.store_error import StoreError

SCHEMA_FOLDER = Path(__file__).parents[1] / "schema"


class Migration(NamedTuple):
    """One step: ``003_add_something.sql`` is version 3."""

    version: int
    name: str
    path: Path


def migrations(folder: Path | None = None) -> list[Migration]:
    """The steps in order."""
    paths = sorted((folder or SCHEMA_FOLDER).glob("[0-9][0-9][0-9]_*.sql"))
    return [Migration(int(path.stem[:3]), path.stem, path) for path in paths]


def schema_version(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """The version that the open store has. Raises StoreError where it is no store of ours."""
    try:
        row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    except duckdb.CatalogException:
        row = None
    if row is None or row[0] is None:
        raise StoreError(
            f"{path} is a DuckDB database, but not a store of this program: "
            "name another with --store"
        )
    return int(row[0])


def check_known(version: int, path: Path, newest: int) -> None:
    """Raise StoreError where a newer program made the store."""
    if version > newest:
        raise StoreError(
            f"the store {path} is from a newer version of this program (schema {version}, "
            f"this one knows {newest}): update this program, or name another with --store"
        )


def migrate(connection: duckdb.DuckDBPyConnection, version: int, steps: list[Migration]) -> None:
    """Take the steps after ``version`` (0: none yet), each in one transaction, and record them."""
    for step in steps:
        if step.version <= version:
            continue
        with transaction(connection):
            connection.execute(VERSION_TABLE)
            connection.execute(step.path.read_text(encoding="utf-8"))
            connection.execute(
                "INSERT INTO schema_version VALUES (?, ?)", [step.version, step.name]
            )
