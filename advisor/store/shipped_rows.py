"""The shipped rows: read from the text, compared with those of an open store, put in their place.

A user's own rows stay, and one with the id of a shipped row stands in its place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from advisor.store.counted_models import model_of
from advisor.store.digest import files_mark, shipped_digest, stored_digest
from advisor.store.predictions import update_predictions
from advisor.store.reader import Reader
from advisor.store.rows import (
    AUDITED,
    BATCH_ROWS,
    KEYS,
    Auditor,
    Values,
    column_types,
    insert_missing,
    measurement_values,
    part_values,
    plain_values,
    unnested,
)
from advisor.store.storage.engine import duckdb, transaction
from advisor.store.storage.migrate import migrate, newest_version, schema_version
from advisor.store.storage.reject_untrusted_store import known, remember
from advisor.store.storage.store_error import StoreError


def text_tables(*, predicted: bool = True) -> dict[str, list[Values]]:
    """What the text says, by table. Sources and predictions, which take longest, only where
    ``predicted``. Raises StoreError where the text has a fault."""
    from bench_runner.recipes import load_recipes
    from bench_runner.records import published
    from price_catalog.load import load_catalog

    try:
        catalog, recipes, times = load_catalog(), load_recipes(), published.load_published()
        models = [model_of(recipe) for recipe in recipes]
        audit = Auditor.of(catalog.gpus, models).audited
        found = {
            "recipe": [plain_values(model) for model in models],
            "gpu": [plain_values(gpu) for gpu in catalog.gpus],
            "host": [plain_values(host) for host in catalog.hosts],
            "host_part": [part for host in catalog.hosts for part in part_values(host)],
            "quote": [plain_values(quote) for quote in catalog.quotes],
            "rental": [plain_values(rental) for rental in catalog.rentals],
            "measurement": [audit(measurement_values(time)) for time in times],
        }
        if predicted:
            from advisor.prediction import shipped_predictions as shipped  # late: it loads numpy

            said = (
                *catalog.sources,
                *published.load_sources(),
                shipped.prediction_source(shipped.shipped_fit()),
            )
            found["source"] = [plain_values(source) for source in said]
            found["prediction"] = shipped.shipped_rows(recipes, catalog.gpus, times)
    except OSError as error:
        raise StoreError(
            f"the text tables cannot be read ({error.strerror}: {error.filename}): "
            "put the file back, or install this program again; no store was changed"
        ) from error
    except ValueError as error:
        raise StoreError(
            f"the text tables have a fault, and no store was changed: {error}"
        ) from error
    return found


def differences(
    connection: duckdb.DuckDBPyConnection, table: str, rows: list[Values]
) -> tuple[list[tuple[Any, ...]], list[Values]]:
    """The keys of shipped rows that are not as in the text, and the rows of the text that are not
    there."""
    names = [name for name in column_types(connection, table) if name != "origin"]
    key = KEYS[table]
    # A host and its parts list stand or fall together.
    owner = "host" if table == "host_part" else table
    held = connection.execute(f"SELECT {', '.join(KEYS[owner])} FROM {owner} WHERE origin='local'")
    own = set(held.fetchall())
    answer = connection.execute(f"SELECT {', '.join(names)} FROM {table} WHERE origin = 'shipped'")
    stored = [tuple(map(_hashable, row)) for row in answer.fetchall()]
    wanted = {
        tuple(_hashable(row.get(name)) for name in names): row
        for row in rows
        if tuple(row[name] for name in KEYS[owner]) not in own
    }
    at = [names.index(column) for column in key]
    by_key = {tuple(row[i] for i in at): row for row in stored}
    # Of a key that is there twice, as in a store that somebody changed, both go.
    twice = len(stored) > len(by_key)
    gone = [k for k, row in by_key.items() if twice or row not in wanted]
    stay = set() if twice else {*stored}
    return gone, [row for values, row in wanted.items() if values not in stay]


def replace_shipped(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the shipped rows those of the text, in one transaction; those that are stay, so that the
    file does not grow. Raises StoreError."""
    tables = text_tables()
    with transaction(connection):
        for table, rows in tables.items():
            gone, fresh = differences(connection, table, rows)
            if gone:
                key = KEYS[table]
                same = " AND ".join(f"held.{name} = gone.{name}" for name in key)
                connection.execute(
                    f"DELETE FROM {table} AS held USING ({unnested(connection, table, key)}) AS"
                    f" gone WHERE held.origin = 'shipped' AND {same}",
                    dict(zip(key, map(list, zip(*gone, strict=True)), strict=True)),
                )
            insert_missing(connection, table, fresh, "shipped")
        audit_local(connection)
        update_predictions(connection)
        connection.execute("DELETE FROM meta WHERE key = 'shipped_digest'")
        connection.execute("INSERT INTO meta VALUES ('shipped_digest', ?)", [shipped_digest()])


def auditor_of(connection: duckdb.DuckDBPyConnection) -> Auditor:
    """What times are held against, from the store itself: local GPUs and recipes count too."""
    reader = Reader(connection)
    return Auditor.of(reader.gpus(), reader.models())


def audit_local(connection: duckdb.DuckDBPyConnection) -> None:
    """Hold a user's own times against the GPUs and recipes as they are now."""
    auditor, changed = auditor_of(connection), []
    answer = connection.execute(
        "SELECT measurement_id, gpu, gpu_count, recipe_id, method, free_lunch, status,"
        f" training_days, training_days_high, {', '.join(AUDITED)}"
        " FROM measurement WHERE origin = 'local'"
    )
    names = [column[0] for column in answer.description or ()]
    while rows := answer.fetchmany(BATCH_ROWS):
        for row in rows:
            held = dict(zip(names, row, strict=True))
            now = auditor.audited(held)
            if now != held:
                changed.append({name: now[name] for name in ("measurement_id", *AUDITED)})
    for start in range(0, len(changed), BATCH_ROWS):
        batch = changed[start : start + BATCH_ROWS]
        connection.execute(
            f"UPDATE measurement SET {', '.join(f'{name} = fresh.{name}' for name in AUDITED)}"
            f" FROM ({unnested(connection, 'measurement', batch[0])}) AS fresh"
            " WHERE measurement.measurement_id = fresh.measurement_id"
            " AND measurement.origin = 'local'",
            {name: [row[name] for row in batch] for name in batch[0]},
        )


def update(connection: duckdb.DuckDBPyConnection, path: Path, *, force: bool = False) -> bool:
    """Migrate an open store and replace its shipped rows where they are old; whether it did."""
    version = schema_version(connection, path)
    migrate(connection, version)
    if version < newest_version():
        reject_wrong_row(connection, path, "local")
    elif not force and says_text(connection, path):
        return False
    replace_shipped(connection)
    return True


def says_text(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """Whether the shipped rows of a store are those of the text, by their digest. Of one that was
    not seen as it is before, all but sources and predictions are compared one by one."""
    if known(files_mark(), path):
        return True
    reject_wrong_row(connection, path, "local")
    if stored_digest(connection) != shipped_digest():
        return False
    try:
        reject_wrong_row(connection, path, "shipped")
    except StoreError:
        return False
    tables = text_tables(predicted=False)
    if any(any(differences(connection, *each)) for each in tables.items()):
        return False
    remember(files_mark(), path)
    return True


def reject_wrong_row(connection: duckdb.DuckDBPyConnection, path: Path, origin: str) -> None:
    """Raise StoreError where a row of a store is none that a program of ours wrote."""
    from advisor.store.row_checks import wrong_stored_row

    for table in KEYS:
        answer = connection.execute(f"FROM {table} WHERE origin = '{origin}'")
        names = [column[0] for column in answer.description or ()]
        while rows := answer.fetchmany(BATCH_ROWS):
            if (wrong := wrong_stored_row(table, names, rows)) is not None:
                raise StoreError(
                    f"the store {path} holds a row that is none: {wrong}: use a store that this "
                    "program made (advisor rebuild), and ask its owner for the rows"
                )


def text_differences(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """How the shipped rows differ from the text, one line a table."""
    found = []
    for table, rows in text_tables().items():
        gone, missing = differences(connection, table, rows)
        if gone or missing:
            example = missing[0][KEYS[table][0]] if missing else gone[0][0]
            found.append(
                f"{table}: {len(gone)} rows are not as in the text, {len(missing)} rows of the text"
                f" are not there (such as {example})"
            )
    if not found and stored_digest(connection) != shipped_digest():
        found.append("meta: the digest of the text is not the stored one")
    return found


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
