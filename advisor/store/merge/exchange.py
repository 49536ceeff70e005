"""Brings rows of a user's own in and out: records as JSON lines, quotes, another store."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from advisor.files import write_whole
from advisor.parse import shown
from advisor.store.engine import duckdb
from advisor.store.measurement_columns import AUDITED, settings_in
from advisor.store.merge.merge_checks import problem_of
from advisor.store.predictions import predict_anew
from advisor.store.rows import KEYS, Values, insert_missing, measurement_values, plain_values
from advisor.store.seed import audit_local, auditor_of
from advisor.store.storage.connection import created, opened, transaction
from advisor.store.storage.migrate import check_known, migrate, migrations, schema_version
from advisor.store.storage.store_error import StoreError
from advisor.store.storage.store_file import holds_magic, is_database
from advisor.wrong_file import what_it_is
from bench_runner.launch.leftovers import in_use, sweep
from bench_runner.records.journal import (
    MAX_FILE_BYTES,
    MAX_LINE_BYTES,
    SUFFIXES,
    from_json,
    records_in_output,
)
from bench_runner.records.measurement import Measurement
from bench_runner.untrusted_text import OutsideError, is_plain_file, json_outside, lines_outside
from price_catalog.builds import GPU_COUNTS
from price_catalog.model import Quote, Rental, Source

Tables = Mapping[str, list[Values]]
"""Rows without their origin, by table."""

_DERIVED = ("prediction",)
"""Tables that follow from the others: never handed on."""
_WITH_TABLE = KEYS.keys() - {"measurement", *_DERIVED}
_PRICES = {"quote": ("price_usd",), "rental": ("price_per_hour_usd",)}


def record_tables(records: Iterable[Measurement], sources: Iterable[Source]) -> Tables:
    """Measurements and their sources, checked. Raises StoreError."""
    checked = list(records)
    for record in checked:
        if problem := problem_of(record):
            raise StoreError(f"record '{record.measurement_id}': {problem}; nothing was added")
    return {
        "source": [plain_values(source) for source in sources],
        "measurement": [measurement_values(record) for record in checked],
    }


def quote_tables(quotes: Iterable[Quote], sources: Iterable[Source]) -> Tables:
    """Quotes and their sources, checked. Raises StoreError."""
    checked = list(quotes)
    for quote in checked:
        if not quote.price_usd.is_finite() or quote.price_usd <= 0:
            raise StoreError(
                f"quote '{quote.quote_id}': the price {quote.price_usd} is not above 0; "
                "nothing was added"
            )
    return {
        "source": [plain_values(source) for source in sources],
        "quote": [plain_values(quote) for quote in checked],
    }


def rental_tables(rentals: Iterable[Rental], sources: Iterable[Source]) -> Tables:
    """Hourly prices and their sources, checked. Raises StoreError."""
    checked = list(rentals)
    for rental in checked:
        price = rental.price_per_hour_usd
        if not price.is_finite() or price <= 0:
            raise StoreError(
                f"rental '{rental.rental_id}': the price {price} is not above 0; nothing was added"
            )
    return {
        "source": [plain_values(source) for source in sources],
        "rental": [plain_values(rental) for rental in checked],
    }


def add_local(connection: duckdb.DuckDBPyConnection, tables: Tables) -> int:
    """Add the rows that are not there yet, all in one transaction; how many those were."""
    with transaction(connection):
        return add_rows(connection, tables)


def add_rows(connection: duckdb.DuckDBPyConnection, tables: Tables, *, merged: bool = False) -> int:
    """The same inside a transaction that is open already.

    What is ``merged`` was written by others, so its prices must be for something known here.
    """
    from advisor.store.merge.merge_checks import check_items, check_room

    if merged:
        check_items(connection, tables)
    added = 0
    for table, rows in tables.items():
        if table != "measurement":
            added += _insert(connection, table, rows)
            check_room(connection, table)
    if tables.get("gpu") or tables.get("recipe"):
        audit_local(connection, auditor_of(connection))
    if measurements := tables.get("measurement"):
        if merged and any(row.get("lab") is not None for row in measurements):
            from advisor.store.merge.lab_records import with_lab_records_checked

            measurements = with_lab_records_checked(connection, measurements)
        auditor = auditor_of(connection)
        added += _insert(
            connection, "measurement", [{**row, **auditor.verdict(row)} for row in measurements]
        )
        check_room(connection, "measurement")
    new_evidence = merged and any(tables.get(name) for name in ("measurement", "gpu", "recipe"))
    if new_evidence or any(row.get("max_gpus") not in GPU_COUNTS for row in tables.get("host", ())):
        predict_anew(connection)
    return added


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: list[Values]) -> int:
    return insert_missing(connection, table, [{**row, "origin": "local"} for row in rows])


def read_tables(path: Path, *, wait_s: float) -> Tables:
    """The rows of another store that are a user's own, or those of a JSON-lines file."""
    try:
        database = is_plain_file(path) and is_database(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be merged ({error.strerror}): name a record file or another store"
        ) from None
    if not database and path.suffix in SUFFIXES:
        try:
            return record_tables(records_in_output(path), ())
        except ValueError as error:
            raise StoreError(str(error)) from None
    if not database:
        return _json_tables(path)
    from advisor.store.merge.merge_checks import check_number, check_words

    with _as_new_as_we(path, wait_s) as connection:
        check_number(_count_local(connection), path)
        tables = local_tables(connection)
    records = []
    for table, rows in tables.items():
        for row in rows:
            try:
                if table == "measurement":
                    records.append(_checked_record(row))
                else:
                    check_words(table, row)
            except (ValueError, TypeError, RecursionError) as error:
                named = " ".join(str(row[column]) for column in KEYS[table])
                said = "is nested too deeply" if isinstance(error, RecursionError) else error
                raise StoreError(
                    f"{path}: {table} {shown(named)}: {said}; mend it there; nothing was added"
                ) from None
    return {**tables, **record_tables(records, ())} | {"source": tables["source"]}


def _checked_record(row: Values) -> Measurement:
    """A record of somebody else's store, held to what a file of records is. Raises ValueError."""
    json_outside(row["environment"])  # one that names something twice is none
    return from_json(json.loads(json.dumps(_journal_record(row), default=_as_text)))


@contextmanager
def _as_new_as_we(path: Path, wait_s: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """Another store, open, with our schema; an older one as a migrated copy. It stays as it is."""
    steps = migrations()
    with opened(path, write=False, wait_s=wait_s) as connection:
        version = schema_version(connection, path)
        check_known(version, path, steps[-1].version)
        if version == steps[-1].version:
            yield connection
            return
    sweep(Path(tempfile.gettempdir()), r"advisor-\w{8}")
    with tempfile.TemporaryDirectory(prefix="advisor-") as folder, in_use(Path(folder)):
        copy = Path(folder, "copy.duckdb")
        with opened(path, write=False, wait_s=wait_s, beside={"copy": copy}) as connection:
            connection.execute("COPY FROM DATABASE store TO copy")
        with created(copy) as migrated:
            migrate(migrated, version, steps)
            yield migrated


def _count_local(connection: duckdb.DuckDBPyConnection) -> int:
    tables = KEYS.keys() - set(_DERIVED)
    counts = (f"(SELECT count(*) FROM {name} WHERE origin = 'local')" for name in sorted(tables))
    row = connection.execute(f"SELECT {' + '.join(counts)}").fetchone()
    return 0 if row is None else int(row[0])


def local_tables(connection: duckdb.DuckDBPyConnection) -> Tables:
    """The rows of an open store that are a user's own, with every source that they name."""
    tables: dict[str, list[Values]] = {}
    for table in KEYS:
        if table in _DERIVED:
            continue
        answer = connection.execute(
            f"SELECT * EXCLUDE (origin) FROM {table} WHERE origin = 'local' ORDER BY ALL"
        )
        names = [column[0] for column in answer.description or ()]
        tables[table] = [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
    for row in tables["measurement"]:
        for name in AUDITED:
            del row[name]
    named = {row["source_id"] for rows in tables.values() for row in rows if "source_id" in row}
    held = {row["source_id"] for row in tables["source"]}
    answer = connection.execute("SELECT * EXCLUDE (origin) FROM source ORDER BY source_id")
    names = [column[0] for column in answer.description or ()]
    for values in answer.fetchall():
        source = dict(zip(names, values, strict=True))
        if source["source_id"] in named - held:
            tables["source"].append(source)
    return tables


def write_tables(tables: Tables, path: Path) -> int:
    """Write rows as JSON lines, which `read_tables` reads; the file appears whole or not at all."""
    lines = []
    for table, rows in tables.items():
        for row in rows:
            record = _journal_record(row) if table == "measurement" else {"table": table, **row}
            lines.append(json.dumps(record, separators=(",", ":"), default=_as_text))
    return write_lines(lines, path)


def write_lines(lines: list[str], path: Path) -> int:
    """Write a new file whole or not at all; how many lines. Raises StoreError."""
    if path.exists() or path.is_symlink():
        raise StoreError(f"{path} exists already, and is left as it is: name a new file")
    try:
        write_whole(path, "".join(f"{line}\n" for line in lines), overwrite=False)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}): name a file in a folder of yours"
        ) from None
    return len(lines)


def _journal_record(row: Values) -> Values:
    """A measurement as bench_runner.records.journal writes it."""
    record = dict(row)
    settings = settings_in(record)
    record["settings"] = None if settings is None else asdict(settings)
    record["environment"] = json.loads(record["environment"])
    return record


def _as_text(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"{value!r} is not a value of the store")


def _check_row(table: str, row: Mapping[str, Any]) -> None:
    """Raise ValueError where DuckDB would only say that the row does not fit."""
    from advisor.store.merge.merge_checks import check_words

    for column in KEYS[table]:
        if not isinstance(row.get(column), (str, int)):
            raise ValueError(f"a row of {table} needs a {column}, in text or as a number")
    for column, value in row.items():
        if isinstance(value, dict) or (isinstance(value, list) and column.endswith("_id")):
            raise ValueError(f"{column} is {shown(str(value))}, not text or a number")
    for column in _PRICES.get(table, ()):
        if not _is_price(row.get(column)):
            raise ValueError(f"{column} is {row.get(column)!r}, not an amount above 0")
    check_words(table, row)


def _is_price(value: Any) -> bool:
    try:
        price = Decimal(str(value))
    except ArithmeticError:
        return False
    return price.is_finite() and 0 < price < 10**12


def _json_tables(path: Path) -> Tables:
    """The rows of a JSON-lines file; a StoreError names the line that cannot be read."""
    tables: dict[str, list[Values]] = {}
    records: list[Measurement] = []
    seen: dict[tuple[Any, ...], object] = {}
    number = 0
    from advisor.store.merge.merge_checks import check_number

    for number, raw in enumerate(_lines(path), start=1):
        if not raw.strip():
            continue
        check_number(number, path)
        try:
            row = json_outside(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
            if number == 1 and not (
                isinstance(row, dict) and {"measurement_id", "table"} & row.keys()
            ):
                _refuse_other_files(path)
            if not isinstance(row, dict):
                raise ValueError("not a JSON object")
            table = row.pop("table", None)
            if table is None:
                records.append(from_json(row))
                _check_once(("measurement", records[-1].measurement_id), records[-1], seen)
            elif isinstance(table, str) and table in _WITH_TABLE:
                _check_row(table, row)
                _check_once((table, *(row[column] for column in KEYS[table])), row, seen)
                tables.setdefault(table, []).append(row)
            else:
                raise ValueError(f"no table is called {table!r}")
        except StoreError:
            raise
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            no_json = isinstance(error, json.JSONDecodeError | RecursionError | UnicodeDecodeError)
            if no_json and not raw.endswith(b"\n") and number > 1:
                continue  # torn by a kill while it was written; the journal drops it as well
            if number == 1 and no_json:
                _refuse_other_files(path)
                raise StoreError(
                    f"{path} is neither a store nor JSON lines in UTF-8: name a record file"
                ) from None
            problem = "not a JSON line" if no_json else error
            raise StoreError(
                f"{path}:{number}: {problem}; mend the line or take it out; nothing was added"
            ) from None
    return {**tables, **record_tables(records, ())} | {"source": tables.get("source", [])}


def _check_once(key: tuple[Any, ...], row: object, seen: dict[tuple[Any, ...], object]) -> None:
    """Raise ValueError where an earlier line has this id and says something else."""
    if seen.setdefault(key, row) != row:
        named = " ".join(map(str, key[1:]))
        raise ValueError(f"an earlier line says something else of the id {shown(named)}")


def _refuse_other_files(path: Path) -> None:
    """StoreError where it is a file for another command."""
    if (found := what_it_is(path, "records")) is not None:
        raise StoreError(f"{path} {found}")


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file or pipe. Raises StoreError."""
    try:
        for line in lines_outside(path, MAX_FILE_BYTES, MAX_LINE_BYTES):
            if holds_magic(line):
                raise StoreError(f"{path} hands a store on through a pipe: name the file itself")
            yield line
    except OutsideError as error:
        raise StoreError(f"{path} {error}") from None
    except OSError as error:
        raise StoreError(
            f"{path} cannot be merged ({error.strerror}): name a record file or another store"
        ) from None
