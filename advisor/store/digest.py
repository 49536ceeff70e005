"""What the shipped and derived rows of a store follow from, as one digest.

That is the shipped text, and the code that makes rows of it: which modules those are is computed,
by following the imports as they are written. Nothing is imported or parsed, so that every start
can afford it.
"""

from __future__ import annotations

import os
import re
from _blake2 import blake2b  # hashlib also loads OpenSSL: a fiftieth of a short answer
from functools import cache
from typing import TYPE_CHECKING

import advisor
import bench_runner
import price_catalog

if TYPE_CHECKING:
    from advisor.store.storage.engine import duckdb

_PACKAGES = {package.__name__: package for package in (advisor, bench_runner, price_catalog)}
DERIVING = ("advisor.store.shipped_rows", "advisor.store.rows", "advisor.store.predictions")
"""Where rows are made: from the text, with their audit, and by prediction."""
_FACTS = ("bench_runner", "price_catalog", "advisor.prediction")
"""The rooms whose text the code reads."""
_TEXT = (".csv", ".toml", ".jsonl", ".json")
NOT_MARKED = {"__pycache__", "benchmark", "planning", "answers", "tui", "cli"}
"""Rooms that come after the store: no row follows from them."""
_IMPORT = re.compile(
    rb"\n[ \t]*(?:from|import)[ \t]+((?:advisor|bench_runner|price_catalog)\b[\w.]*)"
    rb"(?:[ \t]+import[ \t]+(\([^)]*\)|[^\n]*))?"
)
_TYPES_ALONE = re.compile(rb"\nif TYPE_CHECKING:\n(?:[ \t][^\n]*\n|\n)+")
"""Both begin with a line's end, not with ``^``: that is ten times as fast."""


@cache
def shipped_digest() -> str:
    """A digest over the text, and over the code that the rows follow from."""
    digest = blake2b(digest_size=16)
    for name, content in sorted((_text() | deriving_code()).items()):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def files_mark() -> str:
    """What tells that no file of the packages has changed since it was asked last: their names,
    sizes and times. Reading none of them takes a quarter of the time of a digest."""
    mark = blake2b(digest_size=16)
    ahead = [str(package.__path__[0]) for package in _PACKAGES.values()]
    while ahead:
        folder = ahead.pop()
        mark.update(folder.encode("utf-8", "surrogateescape"))
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if not entry.is_dir():
                    known = entry.stat()
                    mark.update(f"{entry.name}\0{known.st_size}\0{known.st_mtime_ns}\0".encode())
                elif entry.name not in NOT_MARKED:
                    ahead.append(entry.path)
    return mark.hexdigest()


def stored_digest(connection: duckdb.DuckDBPyConnection) -> str | None:
    """The digest from which the shipped rows were made; None before the first time."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'shipped_digest'").fetchone()
    return str(row[0]) if row else None


def deriving_code() -> dict[str, bytes]:
    """The text of each module that the rows follow from, by its name.

    As Python would import them from `DERIVING` on, in functions too; what is imported for its
    types alone decides no row. A package's own module is among them where something is asked of it.
    """
    found: dict[str, bytes] = {}
    ahead = list(DERIVING)
    seen = set(ahead)
    while ahead:
        module = ahead.pop()
        content = _content(f"{_place(module)}.py")
        if content is None:
            content = _content(f"{_place(module)}/__init__.py")
        if content is None:
            continue  # the name of something in a module
        found[module] = content
        for source, names in _IMPORT.findall(_TYPES_ALONE.sub(b"\n", b"\n" + content)):
            package = source.decode()
            named = {package}
            if os.path.isdir(_place(package)):
                named |= {f"{package}.{name.decode()}" for name in re.findall(rb"\w+", names)}
            ahead += named - seen
            seen |= named
    return found


def _text() -> dict[str, bytes]:
    """Every file of text in the rooms of facts, by its name."""
    found = {}
    for facts in _FACTS:
        top = _place(facts)
        for folder, _, files in os.walk(top):
            inside = f"{facts}{folder[len(top) :]}".replace(os.sep, "/")
            for file in files:
                if file.endswith(_TEXT):
                    found[f"{inside}/{file}"] = _content(f"{folder}/{file}") or b""
    return found


def _place(module: str) -> str:
    """Where a module of one of the packages lies, without its ending."""
    package, *inside = module.split(".")
    return os.path.join(_PACKAGES[package].__path__[0], *inside)


def _content(path: str) -> bytes | None:
    """What a file holds; None where there is none. With other line ends it holds the same."""
    try:
        with open(path, "rb") as file:
            return file.read().replace(b"\r\n", b"\n")
    except FileNotFoundError:
        return None
