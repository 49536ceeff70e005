"""Opens the store for one moment, and waits while others hold it.

DuckDB's lock has no queue. So a writer that waits says that it uses the store's folder, and readers
hold back for a moment.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path

from advisor.store.storage.engine import duckdb
from advisor.store.storage.reject_untrusted_store import (
    Token,
    known,
    remember,
    state_of,
    what_is_foreign,
)
from advisor.store.storage.store_error import StoreError, error_words, is_held, remedy
from advisor.store.storage.store_file import HEADER_BYTES, check_file, check_writable
from bench_runner.launch.leftovers import in_use, is_in_use

DEFAULT_WAIT_S = 20.0
COURTESY_S = 1.0
"""How long a reader holds back for writers that wait."""
STORAGE_VERSION = "v1.0.0"
"""Files in this format open in every DuckDB since 1.1 (tried: 1.1.3, 1.2.2, 1.3.2, 1.5.6)."""
_CATALOG = "store"


@cache
def _process_lock(path: Path) -> threading.Lock:
    """One holder a process: DuckDB's file locks keep other processes out, not other threads."""
    return threading.Lock()


def wait_limit_s(wait_s: float | None = None) -> float:
    """How long to wait for a store that others hold: the argument, else $ADVISOR_STORE_WAIT."""
    if wait_s is not None:
        return wait_s
    text = os.environ.get("ADVISOR_STORE_WAIT", "")
    if not text:
        return DEFAULT_WAIT_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise StoreError(f"ADVISOR_STORE_WAIT is '{text}': write a number of seconds, such as 20")
    return seconds


@contextmanager
def opened(path: Path, *, write: bool, wait_s: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """The store at ``path``, which must exist, open until the block ends.

    Waits up to ``wait_s`` seconds while another program holds it. Nothing else can be reached
    through it. Raises StoreError, also where the store holds more than rows.
    """
    deadline = time.monotonic() + wait_s
    lock = _process_lock(Path(os.path.realpath(path)))  # resolve() raises on links in a ring
    if not lock.acquire(timeout=wait_s):
        raise StoreError(
            f"the store {path} is still in use by this program itself after {wait_s:g} s: try again"
        )
    try:
        check_file(path)
        if write:
            check_writable(path)
        state, written = state_of(path), None
        connection = _attach_when_free(path, write=write, deadline=deadline, wait_s=wait_s)
        try:
            _reject_untrusted(connection, path, state)
            if write and not known("whole", path, state):
                check_whole(connection, path)
            yield connection
            if write:
                written = _brought_to_file(connection, path)
        except duckdb.Error as error:
            raise StoreError(error_words(path, error, write=write)) from error
        except RuntimeError as error:
            if str(error) == "Query interrupted":  # how DuckDB passes Ctrl-C on
                raise KeyboardInterrupt from error
            raise
        finally:
            connection.close()
        if written is not None:
            # Rows of ours alone came to it: who writes next need not look through it again.
            remember("whole", path, written)
    finally:
        lock.release()


@contextmanager
def created(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A new, empty database at ``path``, in the storage format that old clients read."""
    connection = _connect()
    try:
        _attach(connection, path, f"STORAGE_VERSION '{STORAGE_VERSION}'")
        _close_off(connection)
        yield connection
    except duckdb.Error as error:
        raise StoreError(error_words(path, error, write=True)) from error
    finally:
        connection.close()


def _connect() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(
        ":memory:",
        config={
            # More cost more to start than our queries gain from them. And with more a query that
            # Ctrl-C ends on a busy machine may wait for ever for its other threads (DuckDB 2.0.0).
            "threads": 1,
            # A table that is not there must not turn into a Python variable of that name.
            "python_enable_replacements": False,
            # A store must not bring code along, or have it fetched.
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
        },
    )
    # It would draw over a screen, or stand in an answer, as soon as a query takes two seconds.
    connection.execute("SET enable_progress_bar = false")
    return connection


def _attach(connection: duckdb.DuckDBPyConnection, path: Path, options: str) -> None:
    # Absolute: DuckDB takes a name that begins like sqlite: or https: for something else.
    quoted = str(path.absolute()).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS {_CATALOG} ({options})")


def _close_off(connection: duckdb.DuckDBPyConnection) -> None:
    """From here on nothing in the store can reach a file, the network or a setting."""
    connection.execute(f"USE {_CATALOG}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _reject_untrusted(connection: duckdb.DuckDBPyConnection, path: Path, state: Token) -> None:
    """Raise StoreError where the store holds more than rows, and close it off."""
    if not (known("whole", path, state) or known("rows", path, state)):
        # Nothing of the store's own is bound meanwhile; only DuckDB's lists are read.
        if foreign := what_is_foreign(connection, _CATALOG):
            raise StoreError(
                f"the store {path} holds {foreign}: use a store that this program made "
                "(advisor rebuild), and ask its owner for the rows (advisor export)"
            )
        remember("rows", path, state)
    _close_off(connection)


def _brought_to_file(connection: duckdb.DuckDBPyConnection, path: Path) -> Token | None:
    """The state that closing leaves the file in: what was written is in it, not in a log beside.

    To be asked while nobody else can change it. None where the disk has no room for that, which
    loses nothing: the log stays.
    """
    try:
        connection.execute(f"CHECKPOINT {_CATALOG}")
    except duckdb.Error:
        return None
    return state_of(path)


def _attach_when_free(
    path: Path, *, write: bool, deadline: float, wait_s: float
) -> duckdb.DuckDBPyConnection:
    connection = _connect()
    pause_s = 0.002
    try:
        held = _try_attach(connection, path, write=write)
        while held is not None:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise StoreError(error_words(path, held, write=write, wait_s=wait_s)) from held
            from random import uniform  # most openings never wait

            # Full jitter keeps ten programs from coming back at the same moment.
            with in_use(path.parent) if write else nullcontext():
                time.sleep(min(left_s, uniform(0.001, pause_s)))
                held = _try_attach(connection, path, write=write)
            pause_s = min(pause_s * 2, 0.01 if write else 0.08)
    except BaseException:
        connection.close()
        raise
    return connection


def _try_attach(
    connection: duckdb.DuckDBPyConnection, path: Path, *, write: bool
) -> duckdb.Error | None:
    """What DuckDB said where another program holds the store; None where we have it."""
    until = time.monotonic() + COURTESY_S
    while not write and is_in_use(path.parent) and time.monotonic() < until:
        time.sleep(0.005)
    try:
        _attach(connection, path, "READ_WRITE" if write else "READ_ONLY")
    except duckdb.Error as error:
        if not is_held(error):
            raise StoreError(error_words(path, error, write=write)) from error
        return error
    return None


def check_whole(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise StoreError where blocks in use lie beyond the end of the file.

    DuckDB itself sees that a file is cut short only when it reads what is missing.
    """
    tables = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
    ).fetchall()
    used = "".join(
        " UNION ALL SELECT greatest(block_id, list_max(additional_block_ids)) AS block"
        f" FROM pragma_storage_info('{name}')"
        for (name,) in tables
    )
    row = connection.execute(
        f"SELECT max(block), any_value(size) FROM (FROM pragma_metadata_info()"
        f" SELECT block_id AS block{used}),"
        " (SELECT block_size AS size FROM pragma_database_size()"
        " WHERE database_name = current_database())"
    ).fetchone()
    if row is None or row[0] is None:
        return
    if path.stat().st_size < HEADER_BYTES + (row[0] + 1) * row[1]:
        raise StoreError(f"the store {path} is damaged (cut short): {remedy(path)}")
