"""Brings in what a file holds, and says which of its rows the store knows with other content."""

from __future__ import annotations

from dataclasses import dataclass, field

from advisor.store.merge.lab_records import SHARED
from advisor.store.merge.read_rows import ReadRows
from advisor.store.merge.refused_rows import judge
from advisor.store.own_rows import add_rows
from advisor.store.row_checks import ROW_WORDS
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
_MADE_ANEW = (
    "step_s",
    "training_days",
    "training_days_low",
    "training_days_high",
    "mfu",
    "source_id",
    "lab",
)
"""Of another's record: what follows here from its raw seconds and its file, whatever it says."""
_SAID_BY_MANY = ("source",)
"""Tables whose rows come along with others: an older store may describe a source otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What a merge did."""

    added: int
    rows: int = 0
    """How many the file holds, sources not counted."""
    replaced: int = 0
    held: tuple[str, ...] = ()
    """Rows of the user's own that the file says otherwise, and that stayed: ``record m-1``."""
    shipped: tuple[str, ...] = ()
    """The same of rows that ship with the program; they always stay."""
    refused: tuple[str, ...] = ()
    """Rows that did not come in, each with why."""
    fresh: Tables = field(repr=False)
    """The rows that came in."""


def merge_rows(
    connection: duckdb.DuckDBPyConnection,
    read: ReadRows,
    *,
    replace: bool = False,
    merged_from: str | None = None,
) -> Merged:
    """Add the rows that are not there yet, in the caller's transaction; with ``replace`` they stand
    in for those of the same id that are not shipped. ``merged_from``: whose file it is, None where
    the user's own. Raises StoreError."""
    fresh, held, shipped = _sorted_out(connection, read.tables, merged_from is not None)
    if replace:
        fresh = {table: rows + held.get(table, []) for table, rows in fresh.items()}
    kept, refused = judge(connection, fresh, merged_from)
    replaced = 0
    for table, rows in held.items() if replace else ():
        known = {_key(table, row) for row in rows}
        keys = [key for row in kept[table] if (key := _key(table, row)) in known]
        same = " AND ".join(f"{column} = ?" for column in KEYS[table])
        for key in keys:
            connection.execute(f"DELETE FROM {table} WHERE origin = 'local' AND {same}", key)
        replaced += len(keys)
    if any(row["source_id"] == SHARED.source_id for row in kept["measurement"]):
        insert_missing(connection, "source", [plain_values(SHARED)], "local")
    added = add_rows(connection, kept, merged=True)
    return Merged(
        added=added - replaced,
        rows=len(read.refused)
        + sum(len(rows) for table, rows in read.tables.items() if table not in _SAID_BY_MANY),
        replaced=replaced,
        held=() if replace else _named(held),
        shipped=_named(shipped),
        refused=(*read.refused, *refused),
        fresh=kept,
    )


def _key(table: str, row: Values) -> _Key:
    return tuple(str(row[column]) for column in KEYS[table])


def _named(tables: Tables) -> tuple[str, ...]:
    return tuple(
        f"{ROW_WORDS.get(table, table)} {row.get('name') or ' '.join(_key(table, row))}"
        for table, rows in tables.items()
        for row in rows
    )


def _sorted_out(
    connection: duckdb.DuckDBPyConnection, tables: Tables, foreign: bool
) -> tuple[Tables, Tables, Tables]:
    """The rows whose id is new; those that the store has with other content, its user's own and
    shipped. Those that it has as they are are none of these."""
    fresh: dict[str, list[Values]] = {}
    own: dict[str, list[Values]] = {}
    shipped: dict[str, list[Values]] = {}
    for table, rows in tables.items():
        names = ", ".join(KEYS[table])
        answer = connection.execute(f"SELECT {names}, origin FROM {table}").fetchall()
        held = {tuple(map(str, key)): origin for *key, origin in answer}
        fresh[table] = [row for row in rows if _key(table, row) not in held]
        if table in _SAID_BY_MANY:
            continue
        known = [row for row in rows if _key(table, row) in held]
        different: set[_Key] = set()
        for recomputed in (False, True):
            alike = [row for row in known if recomputed == _is_recomputed(row, foreign)]
            different |= _different(connection, table, alike, _MADE_ANEW if recomputed else ())
        for row in known:
            if (key := _key(table, row)) in different:
                (own if held[key] == "local" else shipped).setdefault(table, []).append(row)
    return fresh, own, shipped


def _is_recomputed(row: Values, foreign: bool) -> bool:
    return "lab" in row and (foreign or row["lab"] is not None)


def _different(
    connection: duckdb.DuckDBPyConnection, table: str, rows: list[Values], passed_over: _Key
) -> set[_Key]:
    """The keys of these rows that the store has with another value in any other column."""
    found: set[_Key] = set()
    for start in range(0, len(rows), BATCH_ROWS):
        batch = rows[start : start + BATCH_ROWS]
        columns = [name for name in batch[0] if name not in ("merged_from", *passed_over)]
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
