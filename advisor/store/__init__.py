"""The store: the only room that opens results.duckdb.

DuckDB lets either one writing program or many reading ones hold a file. So nobody holds it: each
call opens, does one thing in one transaction and closes, and waits while another program is in.

    path = find_store(None)              # --store, $ADVISOR_STORE, ./results.duckdb, user's own
    store = Store(path, wait_s=None, note=print)

    with store.reading() as reader:      # one opening, one snapshot, several questions
        reader.models()                  # -> tuple[Model, ...]
        reader.gpus()                    # -> tuple[Gpu, ...]
        reader.hosts()                   # -> tuple[Host, ...], each with its parts list
        reader.quotes()                  # -> tuple[Quote, ...]
        reader.rentals()                 # -> tuple[Rental, ...]
        reader.sources()                 # -> tuple[Source, ...]
        reader.best_times("pythia-1b", "sound")          # -> tuple[BestTime, ...]
        reader.times("pythia-1b", method="optimal", limit=50, offset=0)
                                         # -> tuple[TrainingTime, ...]
        reader.count_times("pythia-1b")  # -> int

    store.append_measurements(records, sources=())   # -> int: how many were new
    store.add_quotes(quotes, sources=())             # all of a call or, on an error, nothing
    store.add_rentals(rentals, sources=())
    store.add_recipes(models)                        # recipes of the user's own
    store.keep_model(model, force=False) # one of them with its predictions -> int: how many times
    store.forget_model(name)
    store.merge(path)                    # JSON lines, or another store's own rows
    store.export_local(path)             # the user's own rows as JSON lines
    store.change_token()                 # differs when another program wrote
    build_store(path)                    # make it, or replace its shipped rows
    check_store(path)                    # -> list[str]: how it differs from the text

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
