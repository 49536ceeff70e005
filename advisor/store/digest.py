"""What the shipped and derived rows of a store follow from: the shipped text, and the code of the
rooms up to the store, which makes rows of it."""

from __future__ import annotations

import os
from _blake2 import blake2b  # hashlib also loads OpenSSL: a fiftieth of a short answer
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import advisor
import bench_runner
import price_catalog

if TYPE_CHECKING:
    from advisor.store.storage.engine import duckdb

_PACKAGES = (advisor, bench_runner, price_catalog)
NO_SOURCE = {"__pycache__", "worker", "benchmark", "planning", "answers", "tui", "cli"}
"""Folders from which no row follows: the rooms after the store, and the one with torch."""
_ENDINGS = (".py", ".csv", ".toml", ".jsonl", ".json")


@cache
def shipped_digest() -> str:
    """A digest over the contents of these files; line ends of another system are the same."""
    digest = blake2b(digest_size=16)
    for name, entry in _files():
        with open(entry, "rb") as file:
            content = file.read().replace(b"\r\n", b"\n")
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


@cache
def files_mark() -> str:
    """What tells that none of these files has changed since it was asked last: their paths, sizes
    and times. Reading none of them takes a quarter of the time of a digest."""
    mark = blake2b(digest_size=16)
    for _, entry in _files():
        known = entry.stat()
        mark.update(os.fsencode(f"{entry.path}\0{known.st_size}\0{known.st_mtime_ns}\0"))
    return mark.hexdigest()


def _files() -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The files, each with its name in the program, in one order everywhere."""
    ahead = [(package.__name__, package.__path__[0]) for package in _PACKAGES]
    while ahead:
        name, folder = ahead.pop()
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                inside = f"{name}/{entry.name}"
                if entry.name.endswith(_ENDINGS):
                    yield inside, entry
                elif entry.name not in NO_SOURCE and entry.is_dir():
                    ahead.append((inside, entry.path))


def stored_digest(connection: duckdb.DuckDBPyConnection) -> str | None:
    """The digest from which the shipped rows were made; None before the first time."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'shipped_digest'").fetchone()
    return str(row[0]) if row else None
