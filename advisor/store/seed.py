"""Reads the shipped text and replaces the shipped rows of an open store; a user's own rows stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.store.counted_models import model_of
from advisor.store.digest import shipped_digest, stored_digest
from advisor.store.engine import duckdb
from advisor.store.measurement_columns import AUDITED
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
from advisor.store.storage.connection import transaction
from advisor.store.storage.migrate import check_known, migrate, migrations, schema_version
from advisor.store.storage.reject_untrusted_store import is_as_text, remember_as_text

if TYPE_CHECKING:
    from advisor.ranking.times import Model
    from bench_runner.records.measurement import Measurement
    from price_catalog.model import Gpu, Host, Quote, Rental, Source


class Shipped(NamedTuple):
    """Everything that the text tables say."""

    sources: tuple[Source, ...]
    gpus: tuple[Gpu, ...]
    hosts: tuple[Host, ...]
    quotes: tuple[Quote, ...]
    rentals: tuple[Rental, ...]
    models: tuple[Model, ...]
    measurements: tuple[Measurement, ...]
    predictions: tuple[dict[str, Any], ...]
    """Columns of the table prediction."""


def read_shipped() -> Shipped:
    """Parse the text tables. Slow beside everything else here: only for seeding.

    Raises StoreError where a table has a broken row: the store then stays as it is.
    """
    from advisor.store.storage.store_error import StoreError

    try:
        return _parse()
    except OSError as error:
        raise StoreError(
            f"the text tables cannot be read ({error.strerror}: {error.filename}): "
            "put the file back, or install this program again; no store was changed"
        ) from error
    except ValueError as error:
        raise StoreError(
            f"the text tables have a fault, and no store was changed: {error}"
        ) from error


def _parse() -> Shipped:
    from dataclasses import asdict

    from advisor.prediction.shipped_predictions import prediction_source, shipped_fit, shipped_rows
    from bench_runner import recipes
    from bench_runner.records import published
    from price_catalog.load import load_catalog
    from price_catalog.model import Source

    catalog = load_catalog()
    known = recipes.load_recipes()
    measurements = published.load_published()
    return Shipped(
        sources=(
            *catalog.sources,
            *(Source(**asdict(source)) for source in published.load_sources()),
            prediction_source(shipped_fit()),
        ),
        gpus=catalog.gpus,
        hosts=catalog.hosts,
        quotes=catalog.quotes,
        rentals=catalog.rentals,
        models=tuple(model_of(recipe) for recipe in known),
        measurements=measurements,
        predictions=tuple(shipped_rows(known, catalog.gpus, measurements)),
    )


def replace_shipped(connection: duckdb.DuckDBPyConnection, shipped: Shipped, digest: str) -> None:
    """Make the shipped rows those of the text, in one transaction; those that are stay, so that the
    file does not grow.

    A local row with the id of a shipped one stands in its place.
    """
    with transaction(connection):
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
            _replace(connection, table, rows)
        auditor = auditor_of(connection)
        measurements = [measurement_values(record) for record in shipped.measurements]
        rows = [{**row, **auditor.verdict(row)} for row in measurements]
        _replace(connection, "measurement", rows)
        audit_local(connection, auditor)
        predict_anew(connection)
        connection.execute("DELETE FROM meta WHERE key = 'shipped_digest'")
        connection.execute("INSERT INTO meta VALUES ('shipped_digest', ?)", [digest])


def _replace(connection: duckdb.DuckDBPyConnection, table: str, rows: list[Values]) -> None:
    """Make the shipped rows of a table these."""
    names = [name for name in column_types(connection, table) if name != "origin"]
    key = KEYS[table]
    answer = connection.execute(f"SELECT {', '.join(names)} FROM {table} WHERE origin = 'shipped'")
    stored = [tuple(map(_hashable, row)) for row in answer.fetchall()]
    wanted = {tuple(_hashable(row.get(name)) for name in names): row for row in rows}
    at = [names.index(column) for column in key]
    held = {tuple(row[i] for i in at): row for row in stored}
    # Of a key that is there twice, as in a store that somebody changed, both go.
    twice = len(stored) > len(held)
    gone = [k for k, row in held.items() if twice or row not in wanted]
    held = {k: row for k, row in held.items() if not twice and row in wanted}
    if gone:
        types = column_types(connection, table)
        unnested = ", ".join(f"unnest(?::{types[name]}[]) AS {name}" for name in key)
        same = " AND ".join(f"held.{name} = gone.{name}" for name in key)
        connection.execute(
            f"DELETE FROM {table} AS held USING (SELECT {unnested}) AS gone"
            f" WHERE held.origin = 'shipped' AND {same}",
            [list(column) for column in zip(*gone, strict=True)],
        )
    stay = set(held.values())
    fresh = [{**row, "origin": "shipped"} for values, row in wanted.items() if values not in stay]
    insert_missing(connection, table, fresh)


def auditor_of(connection: duckdb.DuckDBPyConnection) -> Auditor:
    """What times are held against, from the store itself: local GPUs and recipes count too."""
    reader = Reader(connection)
    return Auditor.of(reader.gpus(), reader.models())


def _is_local(connection: duckdb.DuckDBPyConnection, host_id: str) -> bool:
    # A host and its parts list stand or fall together.
    return (
        connection.execute(
            "SELECT 1 FROM host WHERE host_id = ? AND origin = 'local'", [host_id]
        ).fetchone()
        is not None
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
    if version < steps[-1].version:
        reject_own_rows(connection, path)
    digest = shipped_digest()
    if version == steps[-1].version and not force and says_text(connection, path):
        return False
    replace_shipped(connection, read_shipped(), digest)
    return True


def says_text(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """Whether the shipped rows of a store are those of the text, by their digest. Of one that was
    not seen as it is before, all but sources and predictions are compared one by one."""
    digest = shipped_digest()
    same = stored_digest(connection) == digest
    if same and is_as_text(path, digest):
        return True
    reject_own_rows(connection, path)
    if not same or _wrong_row(connection, "shipped") is not None:
        return False
    if any(_differs(connection, *each) for each in _text_rows()):
        return False
    remember_as_text(path, digest)
    return True


def reject_own_rows(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise StoreError where a row of the user's is none that a program of ours wrote."""
    from advisor.store.storage.store_error import StoreError

    if (wrong := _wrong_row(connection, "local")) is not None:
        raise StoreError(
            f"the store {path} holds a row that is none: {wrong}: use a store that this "
            "program made (advisor rebuild), and ask its owner for the rows"
        )


def _wrong_row(connection: duckdb.DuckDBPyConnection, origin: str) -> str | None:
    from advisor.store.row_checks import wrong_stored_row

    for table in KEYS:
        answer = connection.execute(f"FROM {table} WHERE origin = '{origin}'")
        names = [column[0] for column in answer.description or ()]
        while rows := answer.fetchmany(BATCH_ROWS):
            if (wrong := wrong_stored_row(table, names, rows)) is not None:
                return wrong
    return None


def _text_rows() -> Iterator[tuple[str, list[Values]]]:
    from bench_runner.recipes import load_recipes
    from bench_runner.records import published
    from price_catalog.load import load_catalog

    catalog = load_catalog()
    yield "recipe", [plain_values(model_of(recipe)) for recipe in load_recipes()]
    yield "gpu", [plain_values(gpu) for gpu in catalog.gpus]
    yield "host", [host_values(host) for host in catalog.hosts]
    yield "host_part", [part for host in catalog.hosts for part in part_values(host)]
    yield "quote", [plain_values(quote) for quote in catalog.quotes]
    yield "rental", [plain_values(rental) for rental in catalog.rentals]
    yield "measurement", [measurement_values(time) for time in published.load_published()]


def _differs(connection: duckdb.DuckDBPyConnection, table: str, rows: list[Values]) -> bool:
    names = [name for name in rows[0] if name != "origin"]

    def found(which: str, columns: Iterable[str]) -> set[tuple[Any, ...]]:
        answer = connection.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE {which}")
        return {tuple(map(_hashable, row)) for row in answer.fetchall()}

    own = found("origin = 'local'", KEYS[table][:1])
    expected = {
        tuple(_hashable(row[name]) for name in names)
        for row in rows
        if (row[KEYS[table][0]],) not in own
    }
    return found("origin = 'shipped'", names) != expected


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
