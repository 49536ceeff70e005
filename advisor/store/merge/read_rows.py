"""Reads the rows of a file of records or of another store; each is checked to its last field."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from advisor.store.merge.export_rows import journal_record, local_tables
from advisor.store.row_checks import check_row, row_words
from advisor.store.rows import DERIVED, KEYS, Tables, Values, measurement_values
from advisor.store.storage.connection import opened
from advisor.store.storage.engine import duckdb
from advisor.store.storage.migrate import migrate, newest_version, schema_version
from advisor.store.storage.store_error import StoreError
from advisor.store.storage.store_file import holds_magic, is_database
from advisor.typed_input import shown
from advisor.wrong_file import what_it_is
from bench_runner.launch.leftovers import in_use, sweep
from bench_runner.records.journal import (
    MAX_FILE_BYTES,
    MAX_LINE_BYTES,
    SUFFIXES,
    from_json,
    records_in_output,
    to_json,
)
from bench_runner.untrusted_text import OutsideError, is_plain_file, json_outside, lines_outside

MAX_MERGED = 500_000
"""Rows of one file or store; they take a gigabyte in memory."""
_TABLES = KEYS.keys() - {*DERIVED}


class ReadRows(NamedTuple):
    """What a file holds."""

    tables: Tables
    refused: tuple[str, ...]
    """Rows that are none, each with why: ``quote 'q-1': price_usd is missing``."""


def read_rows(path: Path, *, wait_s: float) -> ReadRows:
    """The rows of another store that are a user's own, or those of a JSON-lines file. Raises
    StoreError where it is no such file."""
    try:
        database = is_plain_file(path) and is_database(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be merged ({error.strerror}): name a record file or another store"
        ) from None
    if database:
        return _checked(_of_store(path, wait_s))
    if path.suffix in SUFFIXES:
        try:
            records = records_in_output(path)
        except ValueError as error:
            raise StoreError(str(error)) from None
        return _checked(("", to_json(record)) for record in records)
    return _checked(_of_lines(path))


def _checked(rows: Iterator[tuple[str, Any]]) -> ReadRows:
    """The rows by table, sources first; of those with one id the first. Each comes with where it
    is, as JSON has it or as what is wrong with it."""
    tables: dict[str, dict[tuple[object, ...], Values]] = {name: {} for name in KEYS}
    refused: list[str] = []
    for place, row in rows:
        named = place
        try:
            if isinstance(row, Exception):
                raise row
            if not isinstance(row, dict):
                raise ValueError("not a JSON object")
            table = str(row.pop("table", "measurement"))
            if table not in _TABLES:
                raise ValueError(f"no table is called {shown(table)}")
            if row.keys() >= {*KEYS[table]}:
                named = ", ".join(filter(None, (place, row_words(table, row))))
            if table == "measurement":
                row = measurement_values(from_json(row))
            values = check_row(table, row)
            key = tuple(values[column] for column in KEYS[table])
            if tables[table].setdefault(key, values) != values:
                raise ValueError("an earlier row says something else of this id")
        except RecursionError:
            refused.append(f"{named}: is nested too deeply")
        except (ValueError, TypeError, KeyError) as error:
            refused.append(f"{named}: {error}")
    return ReadRows({name: list(rows.values()) for name, rows in tables.items()}, tuple(refused))


def _of_store(path: Path, wait_s: float) -> Iterator[tuple[str, Any]]:
    with _as_new_as_we(path, wait_s) as connection:
        counts = (
            f"(SELECT count(*) FROM {name} WHERE origin = 'local')" for name in sorted(_TABLES)
        )
        (count,) = connection.execute(f"SELECT {' + '.join(counts)}").fetchone() or (0,)
        _check_number(int(count), path)
        tables = local_tables(connection)
    for table, rows in tables.items():
        for row in rows:
            try:
                if table == "measurement":
                    json_outside(row["environment"])  # one that names something twice is none
                    row = json.loads(json.dumps(journal_record(row), default=str))
                yield "", {"table": table, **row}
            except (ValueError, TypeError, RecursionError) as error:
                yield row_words(table, row), error


@contextmanager
def _as_new_as_we(path: Path, wait_s: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """Another store, open, with our schema; an older one as a migrated copy. It stays as it is."""
    sweep(Path(tempfile.gettempdir()), r"advisor-\w{8}")
    with tempfile.TemporaryDirectory(prefix="advisor-") as folder, in_use(Path(folder)):
        copy = Path(folder, "copy.duckdb")
        with opened(path, write=False, wait_s=wait_s) as connection:
            version = schema_version(connection, path)
            if version == newest_version():
                yield connection
                return
            # The log is there where its program was ended. It comes first: closing the file that
            # was copied gives up this process's lock on it.
            for ending in (".wal", ""):
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
        with opened(copy, write=True, wait_s=wait_s) as migrated:
            migrate(migrated, version)
            yield migrated


def _check_number(count: int, path: Path) -> None:
    """Raise StoreError where more rows are to be merged than memory should have to hold."""
    if count > MAX_MERGED:
        raise StoreError(
            f"{path} holds more than {MAX_MERGED:,} rows to merge; nothing was added: ask for "
            "fewer, or read prices in by advisor prices import"
        )


def _of_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """Each row with its line; a StoreError names the line that is no JSON."""
    for number, raw in enumerate(_lines(path), start=1):
        if not raw.strip():
            continue
        _check_number(number, path)
        try:
            row = json_outside(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
        except OutsideError as error:
            yield f"line {number}", error
            continue
        except (ValueError, RecursionError):
            if not raw.endswith(b"\n") and number > 1:
                continue  # torn by a kill while it was written; the journal drops it as well
            if number == 1:
                _refuse_other_files(path)
                raise StoreError(
                    f"{path} is neither a store nor JSON lines in UTF-8: name a record file"
                ) from None
            raise StoreError(
                f"{path}:{number}: not a JSON line; mend the line or take it out; nothing was added"
            ) from None
        named = isinstance(row, Mapping) and {"measurement_id", "table"} & row.keys()
        if number == 1 and not named:
            _refuse_other_files(path)
        yield f"line {number}", row


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
