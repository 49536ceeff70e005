"""Whether a store holds more than rows: what computes is code (views, macros, triggers, indexes).

A view in the place of a table may read any file of ours, or never end; a macro may stand in for a
function of DuckDB's own. So a store is looked through before the first question is put to it.
What was looked through is known until it changes: listing the functions costs more than a ranking.
"""

from __future__ import annotations

import os
from _blake2 import blake2b
from pathlib import Path
from stat import S_ISREG

from advisor.files import private_folder
from advisor.store.storage.engine import duckdb
from advisor.store.storage.migrate import schema_steps
from bench_runner.launch.leftovers import sweep

MAX_ROWS = 3_000_000
"""Of one table. A few kilobytes may stand for more rows than a machine has memory for."""
_KNOWN_LINES = 200
_LISTED = """
    SELECT 'a table' AS kind, table_name AS name, sql, estimated_size AS rows FROM duckdb_tables()
    WHERE database_name = $1 AND NOT internal
    UNION ALL SELECT 'a view', view_name, sql, 0 FROM duckdb_views()
    WHERE database_name = $1 AND NOT internal
    UNION ALL SELECT 'an index', index_name, sql, 0 FROM duckdb_indexes() WHERE database_name = $1
    UNION ALL SELECT 'a macro', function_name, '', 0 FROM duckdb_functions()
    WHERE database_name = $1 AND NOT internal
    UNION ALL SELECT 'a trigger', trigger_name, '', 0 FROM duckdb_triggers()
    WHERE database_name = $1 ORDER BY kind DESC, name
"""
Token = tuple[int, ...]


def state_of(path: Path) -> Token:
    """What the file and its log are now; another one where either has changed."""
    token: list[int] = []
    for each in (path, path.with_name(path.name + ".wal")):
        try:
            found = each.stat()
        except OSError:
            token += (0,)
        else:
            token += (found.st_dev, found.st_ino, found.st_size)
            token += (found.st_mtime_ns, found.st_ctime_ns)
    return tuple(token)


def known(kind: str, path: Path, state: Token | None = None) -> bool:
    """Whether a store was found to be of a kind in this state (None: as it is now), by this program
    or an earlier, and still is in it.

    ``rows``: it holds nothing else. ``whole``: a writer of ours left it so, who had found it whole.
    A `files_mark`: its shipped rows are those of these files.
    """
    now = state_of(path)
    return state in (None, now) and _known(_line(kind, os.path.realpath(path), *now))


def remember(kind: str, path: Path, state: Token | None = None) -> None:
    """Know that of a store that is still in this state (None: as it is now)."""
    now = state_of(path)
    if state in (None, now):
        _remember(_line(kind, os.path.realpath(path), *now))


def what_is_foreign(connection: duckdb.DuckDBPyConnection, catalog: str) -> str | None:
    """What is no row in an attached database, in words; None where all is as we make it.

    To be asked before the database is in use, or its macros would answer.
    """
    listed = connection.execute(_LISTED, [catalog]).fetchall()
    for _, name, _, rows in listed:
        if rows > MAX_ROWS:
            return f"{rows:,} rows in the table {name}, more than the {MAX_ROWS:,} that are read"
    found = [row[:3] for row in listed]
    steps = [step.read_text(encoding="utf-8") for step in schema_steps()]
    shape = _line("shape", duckdb.__version__, *steps, repr(found))
    if not _known(shape):
        ours = _made_by(steps)
        for kind, name, sql in found:
            if (kind, name, sql) in ours:
                continue
            if kind == "a table" and any(name == each for _, each, _ in ours):
                return f"a table {name} with other columns, types or checks than ours"
            return f"{kind} of its own ({name}), which may run as code"
        _remember(shape)
    return None


def _made_by(steps: list[str]) -> set[tuple[str, str, str]]:
    """The tables and views that any step of our schema leaves."""
    found: set[tuple[str, str, str]] = set()
    with duckdb.connect(":memory:", config={"threads": 1}) as scratch:
        for step in steps:
            scratch.execute(step)
            found |= {row[:3] for row in scratch.execute(_LISTED, ["memory"]).fetchall()}
    return found


# What is known, from one start of the program to the next


def _line(*parts: object) -> str:
    text = "\0".join(map(str, parts))
    return blake2b(os.fsencode(text), digest_size=16).hexdigest()


def _file() -> Path:
    # platformdirs would cost more than what this saves.
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(folder, "gpu-grant-advisor", "known-stores")


_here: set[str] = set()


def _known(line: str) -> bool:
    if line not in _here:
        # Read again each time: another program may have written the store a moment ago.
        _here.update(_kept(_file()))
    return line in _here


def _kept(path: Path) -> list[str]:
    """The lines of a file of our own; none of a pipe, a device, or somebody else's file."""
    try:
        found = path.stat()
        ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        if not (S_ISREG(found.st_mode) and ours):
            return []
        with path.open("rb") as file:
            return file.read(64 * _KNOWN_LINES).decode("ascii", "replace").split()
    except OSError:
        return []


def _remember(line: str) -> None:
    """A cache that cannot be written only costs time."""
    _here.add(line)
    path = _file()
    try:
        private_folder(path.parent)
        sweep(path.parent, r"\.known-\d+\.tmp")
        earlier = _kept(path)
        draft = path.with_name(f".known-{os.getpid()}.tmp")
        draft.write_text("\n".join([*(e for e in earlier if e != line), line][-_KNOWN_LINES:]))
        draft.replace(path)
    except OSError:
        pass
