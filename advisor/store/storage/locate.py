"""Which file is the store."""

from __future__ import annotations

import os
import re
from pathlib import Path

from advisor.files import keep_private, typed_path
from bench_runner.launch.leftovers import sweep

STORE_NAME = "results.duckdb"


def find_store(explicit: str | Path | None) -> Path:
    """``explicit``, else $ADVISOR_STORE, else ./results.duckdb if there, else the user's own.

    The user's own is made on first use; only its owner may read it, and what a kill left of
    making it goes. Any other has to exist.
    """
    named = str(explicit or os.environ.get("ADVISOR_STORE", ""))
    if named.strip():
        return typed_path(named)
    here = Path(STORE_NAME)
    if here.exists():
        return here
    own = user_store()
    for path in (own.parent, own):
        keep_private(path)
    sweep(own.parent, draft_name(own))
    return own


def user_store() -> Path:
    """The store in the user's data folder, whether or not it exists."""
    from platformdirs import user_data_path  # costs time that most starts need not spend

    return user_data_path("gpu-grant-advisor") / STORE_NAME


def draft_name(path: Path) -> str:
    """What the folder in which a store is made is called, as a regular expression."""
    return re.escape(f".{path.name}-") + r"\w{8}"
