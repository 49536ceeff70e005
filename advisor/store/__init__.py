"""The store: the only room that opens results.duckdb.

DuckDB lets either one writing program or many reading ones hold a file. So no program keeps it
open: each call opens, does one thing in one transaction and closes, and waits for others.

    store = Store(find_store(None))      # --store, $ADVISOR_STORE, ./results.duckdb, user's own
    with store.reading() as reader:      # one opening, one snapshot, several questions
        reader.best_times("pythia-1b", "sound")
    store.add(sources, quote=quotes)     # all of a call or, on an error, nothing
    store.merge(path)                    # JSON lines, or another store's own rows
    build_store(path)                    # make it, or replace its shipped rows
    check_store(path)                    # how it differs from the text

Everything that is wrong with a store is a StoreError of one line. A record whose GPU no catalogue
knows is kept and listed under its own name in ``gpu_id``; it is never ranked.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from advisor.store.storage.locate import find_store

if TYPE_CHECKING:
    from advisor.store.build import build_store, check_store
    from advisor.store.reader import Reader
    from advisor.store.storage.store_error import StoreError
    from advisor.store.store import Store

__all__ = ["Reader", "Store", "StoreError", "build_store", "check_store", "find_store"]

_ROOMS = {
    "Reader": "reader",
    "Store": "store",
    "StoreError": "storage.store_error",
    "build_store": "build",
    "check_store": "build",
}


def __getattr__(name: str) -> Any:
    # Loaded when first named: to ask where the store lies must not cost the import of DuckDB.
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value
