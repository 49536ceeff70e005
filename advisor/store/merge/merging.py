"""Brings in what a file holds, and says which of its rows the store knows with other content."""

from __future__ import annotations

from dataclasses import dataclass, field

from advisor.store.merge.lab_records import SHARED
from advisor.store.merge.read_rows import ReadRows
from advisor.store.merge.refused_rows import judge
from advisor.store.own_rows import add_rows
from advisor.store.row_checks import row_words
from advisor.store.rows import (
    BATCH_ROWS,
    KEYS,
    Tables,
    Values,
    insert_missing,
    plain_values,
    unnested,
)
from advisor.store.storage.engine import duckdb

_Key = tuple[str, ...]
_RECOMPUTED = {
    *("step_s", "training_days", "training_days_low", "training_days_high", "mfu"),
    *("source_id", "lab"),
}
"""Of another's record: what follows here from its raw seconds and its file, whatever it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What a merge did."""

    added: int
    rows: int
    """How many the file holds, sources not counted."""
    held: tuple[str, ...]
    """Rows that the file says otherwise, and that stayed as they are: ``record 'm-1'``."""
    refused: tuple[str, ...]
    """Rows that did not come in, each with why."""
    fresh: Tables = field(repr=False)
    """The rows that came in."""


def merge_rows(
    connection: duckdb.DuckDBPyConnection, read: ReadRows, merged_from: str | None
) -> Merged:
    """Add the rows that are not there yet, in the caller's transaction. ``merged_from``: whose file
    it is, None where the user's own. Raises StoreError."""
    fresh: dict[str, list[Values]] = {}
    held: list[str] = []
    count = len(read.refused)
    for table, rows in read.tables.items():
        answer = connection.execute(f"SELECT {', '.join(KEYS[table])} FROM {table}").fetchall()
        keys = {tuple(map(str, key)) for key in answer}
        fresh[table] = [row for row in rows if _key(table, row) not in keys]
        if table == "source":  # comes along with others; an older store may describe it otherwise
            continue
        count += len(rows)
        known = [row for row in rows if _key(table, row) in keys]
        different: set[_Key] = set()
        for recomputed in (False, True):
            alike = [
                row
                for row in known
                if recomputed == ("lab" in row and (merged_from or row["lab"]) is not None)
            ]
            different |= _different(connection, table, alike, _RECOMPUTED if recomputed else set())
        held += [row_words(table, row) for row in known if _key(table, row) in different]
    kept, refused = judge(connection, fresh, merged_from)
    if any(row["source_id"] == SHARED.source_id for row in kept["measurement"]):
        insert_missing(connection, "source", [plain_values(SHARED)], "local")
    return Merged(
        added=add_rows(connection, kept, merged=True),
        rows=count,
        held=tuple(held),
        refused=(*read.refused, *refused),
        fresh=kept,
    )


def _key(table: str, row: Values) -> _Key:
    return tuple(str(row[column]) for column in KEYS[table])


def _different(
    connection: duckdb.DuckDBPyConnection, table: str, rows: list[Values], passed_over: set[str]
) -> set[_Key]:
    """The keys of these rows that the store has with another value in any other column."""
    found: set[_Key] = set()
    for start in range(0, len(rows), BATCH_ROWS):
        batch = rows[start : start + BATCH_ROWS]
        columns = [name for name in batch[0] if name not in {"merged_from", *passed_over}]
        names = ", ".join(f"held.{column}" for column in KEYS[table])
        same = " AND ".join(f"held.{column} = fresh.{column}" for column in KEYS[table])
        differs = " OR ".join(f"held.{name} IS DISTINCT FROM fresh.{name}" for name in columns)
        answer = connection.execute(
            f"SELECT {names} FROM {table} AS held, ({unnested(connection, table, columns)}) AS"
            f" fresh WHERE {same} AND ({differs})",
            {name: [row[name] for row in batch] for name in columns},
        )
        found |= {tuple(map(str, key)) for key in answer.fetchall()}
    return found
