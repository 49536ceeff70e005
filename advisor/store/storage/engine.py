"""DuckDB's engine, without the package around it, and a transaction of it.

``import duckdb`` also makes its relational API and its types, and reads its version out of the
installed metadata: six times the import of the engine, and as long as the rest of a short answer.
The store needs connections and errors, which are the engine's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb
else:
    import _duckdb as duckdb

__all__ = ["duckdb", "transaction"]


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection, *, keep: bool = True) -> Iterator[None]:
    """All of the block or nothing; nothing in any case where it is not to ``keep``."""
    connection.begin()
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit() if keep else connection.rollback()
