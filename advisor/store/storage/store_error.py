"""What is wrong with a store, in one line that says how to mend it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from shlex import quote

from advisor.store.storage.engine import duckdb

_DAMAGE = (
    duckdb.IOException,
    duckdb.SerializationException,
    duckdb.FatalException,
    duckdb.InternalException,
    duckdb.CatalogException,
    duckdb.BinderException,
)
"""What DuckDB raises where the file is not what we wrote: cut, overwritten, tables gone."""


class StoreError(ValueError):
    """The store cannot be used; the message is one line that says what and how to mend it."""


def remedy(path: Path) -> str:
    """What to do with a store that is damaged."""
    return f"restore a copy, or move it away, then: advisor rebuild --store {quote(str(path))}"


_HELD = ("Conflicting lock is held", os.strerror(errno.EAGAIN), os.strerror(errno.EACCES))
"""How DuckDB's words of a lock that it did not get end where another has it."""


def is_held(error: duckdb.Error) -> bool:
    """Whether another program has the store."""
    text = str(error)
    if not isinstance(error, duckdb.IOException):
        return False
    refused = "Could not set lock" in text and any(words in text for words in _HELD)
    return refused or "being used by another process" in text


def error_words(path: Path, error: duckdb.Error, *, write: bool, wait_s: float = 0.0) -> str:
    """What DuckDB says, as one line with a way out."""
    text = " ".join(str(error).split())
    said = text[:200]
    if is_held(error):
        import re

        if "held in PID 0" in text:  # nobody whom this system knows
            return (
                f"the store {path} could not be locked within {wait_s:g} s: close the program that "
                "has it open in another container or on another machine; if there is none, its "
                "disk gives no locks: keep it on a disk of this machine, and name it with --store"
            )
        holder = re.search(r"held in (\S+) \(PID (\d+)\)", text)
        who = f"{holder[1]} (PID {holder[2]})" if holder else "another program"
        return (
            f"the store {path} is still held by {who} after {wait_s:g} s: close that program, "
            "or wait longer with ADVISOR_STORE_WAIT=60 (seconds)"
        )
    if "Could not set lock" in text:
        why = text.partition('": ')[2].partition(". See")[0].partition(", cannot")[0]
        return (
            f"the store {path} lies where files cannot be locked ({why or said}), so that two "
            "programs could spoil it: keep it on a disk of this machine, and name it with --store"
        )
    if "Could not get working directory" in text:
        return "the folder that you stand in is gone: change to another, as with cd"
    if "can only read version" in text or "newer version of DuckDB" in text:
        return f"the store {path} needs a newer DuckDB: pip install --upgrade duckdb"
    if "No space left" in text or "Could not write" in text or "Could not fsync" in text:
        return f"the store {path} could not be written, and is unchanged ({said}): free some space"
    if isinstance(error, duckdb.IOException) and "Permission denied" in text:
        return f"the store {path} may not be {'changed' if write else 'read'} by you ({said})"
    if isinstance(error, _DAMAGE) or "Corrupt database" in text:
        return f"the store {path} is damaged ({said}): {remedy(path)}"
    # What follows is the statement that the value stood in.
    value = said.partition(" LINE 1:")[0]
    return f"the store {path} does not take this, and is unchanged ({value})"
