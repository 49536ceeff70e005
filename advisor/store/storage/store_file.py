"""What can be known of a store's file before a database is opened."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from shlex import quote
from stat import S_ISDIR, S_ISFIFO, S_ISREG

from advisor.store.storage.store_error import StoreError, remedy

_MAGIC = b"DUCK"
_MAGIC_OFFSET = 8
HEADER_BYTES = 3 * 4096


def is_database(path: Path) -> bool:
    """Whether the file begins as a DuckDB database does. Raises OSError."""
    if not path.stat().st_size:
        return False  # one of /proc might be waited for
    with path.open("rb") as file:
        head = file.read(_MAGIC_OFFSET + len(_MAGIC))
    return holds_magic(head)


def holds_magic(head: bytes) -> bool:
    """Whether these first bytes are those of a DuckDB database."""
    return head[_MAGIC_OFFSET : _MAGIC_OFFSET + len(_MAGIC)] == _MAGIC


def can_write(path: Path) -> bool:
    """Whether the file and its folder (for DuckDB's log beside it) let us write."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)


def check_writable(path: Path) -> None:
    """Raise StoreError where the file, its folder or its disk is read-only."""
    with suppress(OSError, AttributeError):
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            raise StoreError(
                f"the store {path} lies on a disk that is read-only: copy it to another disk, and "
                "name the copy with --store"
            )
    if not os.access(path, os.W_OK):
        raise StoreError(
            f"the store {path} is read-only: make it writable (chmod u+w {quote(str(path))}), "
            "or name another with --store"
        )
    if not can_write(path):
        raise StoreError(
            f"the store {path} cannot be changed because its folder is read-only: "
            f"make {path.parent} writable, or name another store with --store"
        )


def check_name(path: Path) -> None:
    """Raise StoreError where DuckDB cannot open a file of this name."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise StoreError(
            "the store's name is not UTF-8, which DuckDB cannot open: rename it, or name another "
            "with --store"
        ) from None


def check_file(path: Path) -> None:
    """Raise StoreError where ``path`` is plainly no store, without opening a database."""
    check_name(path)
    remake = f"advisor rebuild --store {quote(str(path))}"
    head = b""
    try:
        found = path.stat()
        if S_ISFIFO(found.st_mode):
            raise StoreError(f"{path} is a pipe, not a store: name a file with --store")
        if not (S_ISREG(found.st_mode) or S_ISDIR(found.st_mode)):
            raise StoreError(f"{path} is a device, not a store: name a file with --store")
        # A file of /proc says that it is empty, and may be waited for.
        if found.st_size or S_ISDIR(found.st_mode):
            with path.open("rb") as file:
                head = file.read(HEADER_BYTES)
    except OSError as error:
        said = {
            FileNotFoundError: f"no store at {path}; make one with: {remake}",
            IsADirectoryError: f"{path} is a directory, not a store: name the file in it, such as "
            f"--store {quote(str(path / 'results.duckdb'))}",
            NotADirectoryError: f"no store at {path}: {path.parent} is not a directory; name "
            "another with --store",
            PermissionError: f"the store {path} may not be read by you: ask its owner, or name "
            "another with --store",
        }
        other = f"the store {path} cannot be read ({error.strerror}): name another with --store"
        raise StoreError(said.get(type(error), other)) from None
    _check_logs(path)
    if not head:
        raise StoreError(f"{path} is empty, not a store: move it away, then: {remake}")
    if not holds_magic(head):
        raise StoreError(f"{path} is not a store (no DuckDB file): name another with --store")
    if len(head) < HEADER_BYTES:
        raise StoreError(f"the store {path} is damaged (cut short): {remedy(path)}")


_LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
"""What DuckDB reads, writes and empties beside a database, whatever it leads to."""


def _check_logs(path: Path) -> None:
    """Raise StoreError where a log beside the store is a link to somewhere else, or a pipe."""
    for ending in _LOGS:
        log = path.with_name(path.name + ending)
        try:
            mode = log.lstat().st_mode
        except OSError:
            continue  # most often there is none
        if not S_ISREG(mode):
            raise StoreError(
                f"{log}, the log beside the store, is no plain file, and what it leads to could be "
                "overwritten: move it away"
            )
