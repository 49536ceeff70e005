"""Brings in what others wrote, and says which of its rows the store knows with other content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from advisor.store.engine import duckdb
from advisor.store.measurement_columns import RECORDED
from advisor.store.merge.exchange import Tables, add_rows
from advisor.store.merge.merge_checks import check_figures
from advisor.store.rows import BATCH_ROWS, KEYS, Values, column_types
from advisor.store.storage.connection import transaction

_Key = tuple[str, ...]
_Rows = dict[str, dict[_Key, str]]
"""By table the keys of rows, with what a person calls each."""
_MADE_ANEW = (
    "step_s",
    "training_days",
    "training_days_low",
    "training_days_high",
    "mfu",
    "source_id",
)
"""Of another lab's record: what follows here from its raw seconds, whatever its file says."""
_SAID_BY_MANY = ("source",)
"""Tables whose rows come along with others: an older store may describe a source otherwise."""
_WORDS = {"measurement": "record", "host": "machine", "host_part": "part", "recipe": "model"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What a merge did."""

    added: int
    replaced: int = 0
    held: tuple[str, ...] = ()
    """Rows of the user's own that the file says otherwise, and that stayed: ``record m-1``."""
    shipped: tuple[str, ...] = ()
    """The same of rows that ship with the program; they always stay."""


def merge_rows(
    connection: duckdb.DuckDBPyConnection, tables: Tables, *, replace: bool = False
) -> Merged:
    """Add the rows that are not there yet, all in one transaction; with ``replace`` they stand in
    for the user's own of the same id too. Raises StoreError."""
    with transaction(connection):
        check_figures(connection, tables.get("measurement", ()))
        own, shipped = known_otherwise(connection, tables)
        if replace:
            for table, keys in own.items():
                same = " AND ".join(f"{column} = ?" for column in KEYS[table])
                connection.executemany(
                    f"DELETE FROM {table} WHERE origin = 'local' AND {same}", list(keys)
                )
        added = add_rows(connection, tables, merged=True)
    replaced = sum(map(len, own.values())) if replace else 0
    return Merged(
        added=max(0, added - replaced),
        replaced=replaced,
        held=() if replace else tuple(_named(own)),
        shipped=tuple(_named(shipped)),
    )


def _named(rows: _Rows) -> Iterator[str]:
    for table, found in rows.items():
        for name in found.values():
            yield f"{_WORDS.get(table, table)} {name}"


def without_known(
    connection: duckdb.DuckDBPyConnection, records: list[Values]
) -> tuple[list[Values], tuple[str, ...]]:
    """The records but for those that a merge would leave out, and what these are called."""
    own, shipped = known_otherwise(connection, {"measurement": records})
    known = {key for found in (own, shipped) for key in found.get("measurement", ())}
    fresh = [row for row in records if (str(row["measurement_id"]),) not in known]
    return fresh, (*_named(own), *_named(shipped))


def known_otherwise(connection: duckdb.DuckDBPyConnection, tables: Tables) -> tuple[_Rows, _Rows]:
    """The rows whose id the store has with other content: its user's own, and shipped ones."""
    own: _Rows = {}
    shipped: _Rows = {}
    for table, rows in tables.items():
        if table in _SAID_BY_MANY or not rows:
            continue
        names = ", ".join(KEYS[table])
        held = {
            tuple(map(str, key)): origin
            for *key, origin in connection.execute(
                f"SELECT {names}, origin FROM {table}"
            ).fetchall()
        }
        # The first of a file counts, as it does where it is inserted.
        first: dict[_Key, Values] = {}
        for row in rows:
            first.setdefault(tuple(str(row.get(column)) for column in KEYS[table]), row)
        by_columns: dict[tuple[str, ...], list[Values]] = {}
        for key, row in first.items():
            if key in held:
                by_columns.setdefault(_compared(table, row), []).append(row)
        different: set[_Key] = set()
        for columns, known in by_columns.items():
            different |= _different(connection, table, columns, known)
        for key in (key for key in first if key in different):
            of = own if held[key] == "local" else shipped
            of.setdefault(table, {})[key] = str(first[key].get("name") or " ".join(key))
    return own, shipped


def _compared(table: str, row: Values) -> tuple[str, ...]:
    """The columns that a row says something in."""
    if table == "measurement":
        left_out = () if row.get("lab") is None else _MADE_ANEW
        return tuple(name for name in RECORDED if name not in left_out)
    return tuple(row)


def _different(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str], rows: list[Values]
) -> set[_Key]:
    types = column_types(connection, table)
    told = [name for name in columns if name in types]  # of another the insertion speaks
    names = ", ".join(f"held.{column}" for column in KEYS[table])
    unnested = ", ".join(f"unnest(${name}::{types[name]}[]) AS {name}" for name in told)
    same = " AND ".join(f"held.{column} = fresh.{column}" for column in KEYS[table])
    differs = " OR ".join(f"held.{name} IS DISTINCT FROM fresh.{name}" for name in told)
    found: set[_Key] = set()
    for start in range(0, len(rows), BATCH_ROWS):
        batch = rows[start : start + BATCH_ROWS]
        answer = connection.execute(
            f"SELECT {names} FROM {table} AS held, (SELECT {unnested}) AS fresh"
            f" WHERE {same} AND ({differs})",
            {name: [row.get(name) for row in batch] for name in told},
        )
        found |= {tuple(map(str, key)) for key in answer.fetchall()}
    return found
