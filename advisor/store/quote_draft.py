"""A file of quotes on its way into the store: any number of them in little memory.

They wait in a database of their own beside the store, which nobody else waits for. Once all of
them are known to be good they come in by one statement of one transaction.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from advisor.store.connection import created, opened, transaction
from advisor.store.engine import duckdb
from advisor.store.merge_checks import check_room
from advisor.store.rows import host_values, plain_values
from advisor.store.store_error import StoreError
from advisor.store.store_file import can_write
from bench_runner.launch.leftovers import in_use, sweep
from price_catalog.model import Host, Quote, Source

BATCH_ROWS = 2_000
_BUCKET_ROWS = 50_000
"""So many ids are held against each other at once."""
MEMORY_MIB = 256
"""What DuckDB may keep in memory of either database."""
_COLUMNS = tuple(name for name in Quote._fields if name != "origin")


class QuoteDraft:
    """Quotes that wait, each with the row of the file that it stands in."""

    def __init__(
        self, path: Path, types: Mapping[str, str], known: Callable[[list[str]], set[str]]
    ):
        self.path = path
        self.count = 0
        self._types = {"row": "BIGINT"} | {name: types[name] for name in _COLUMNS}
        self._known = known
        self._waiting: list[tuple[Any, ...]] = []
        self._open = ExitStack()
        self._connection = self._open.enter_context(created(path, memory_mib=MEMORY_MIB))
        columns = ", ".join(f'"{name}" {type_}' for name, type_ in self._types.items())
        self._connection.execute(f"CREATE TABLE quote ({columns})")

    def add(self, row: int, quote: Quote) -> None:
        """Hold a quote of this row of the file."""
        self._waiting.append((row, *(getattr(quote, name) for name in _COLUMNS)))
        self.count += 1
        if len(self._waiting) >= BATCH_ROWS:
            self._write()

    def repeated(self, limit: int) -> list[tuple[int, int]]:
        """Rows that say the same as an earlier one, with that one; not more than ``limit``."""
        self._write()
        found: list[tuple[int, int]] = []
        buckets = self.count // _BUCKET_ROWS + 1
        for bucket in range(buckets):
            found += self._connection.execute(
                'SELECT unnest(list_sort(list("row"))[2:]), min("row") FROM quote'
                " WHERE hash(quote_id) % $buckets = $bucket GROUP BY quote_id HAVING count(*) > 1"
                " LIMIT $limit",
                {"buckets": buckets, "bucket": bucket, "limit": limit - len(found)},
            ).fetchall()
            if len(found) >= limit:
                break
        return found

    def unknown_corrections(self, limit: int) -> list[tuple[int, str]]:
        """Rows that correct a quote which neither the store nor the file has, and its id."""
        self._write()
        answer = self._connection.execute(
            'SELECT "row", corrects FROM quote AS fresh WHERE corrects IS NOT NULL'
            " AND NOT EXISTS (FROM quote AS other WHERE other.quote_id = fresh.corrects)"
        )
        found: list[tuple[int, str]] = []
        while len(found) < limit and (rows := answer.fetchmany(BATCH_ROWS)):
            known = self._known([quote_id for _, quote_id in rows])
            found += [(row, quote_id) for row, quote_id in rows if quote_id not in known]
        return found[:limit]

    def quotes(self) -> Iterator[Quote]:
        """Them all, in the order of the file."""
        self._write()
        names = ", ".join(_COLUMNS)
        answer = self._connection.execute(f'SELECT {names} FROM quote ORDER BY "row"')
        while rows := answer.fetchmany(BATCH_ROWS):
            for row in rows:
                yield Quote(**dict(zip(_COLUMNS, row, strict=True)), origin="local")

    def close(self) -> None:
        """Nothing more can be added or asked."""
        if self._waiting:
            self._write()
        self._open.close()

    def _write(self) -> None:
        if not self._waiting:
            return
        lists = zip(*self._waiting, strict=True)
        unnested = ", ".join(f"unnest(${name}::{type_}[])" for name, type_ in self._types.items())
        self._connection.execute(
            f"INSERT INTO quote SELECT {unnested}",
            {name: list(cells) for name, cells in zip(self._types, lists, strict=True)},
        )
        self._waiting.clear()


@contextmanager
def quote_draft(
    store: Path, types: Mapping[str, str], known: Callable[[list[str]], set[str]]
) -> Iterator[QuoteDraft]:
    """An empty draft beside a store, until the block ends. Raises StoreError."""
    folder = store.parent if can_write(store) else Path(tempfile.gettempdir())
    sweep(folder, re.escape(f".{store.name}-") + r"\w{8}")
    try:
        scratch = tempfile.TemporaryDirectory(prefix=f".{store.name}-", dir=folder)
    except OSError as error:
        raise StoreError(
            f"quotes cannot be read in beside {store} ({error.strerror}): make {folder} a folder "
            "that you may write"
        ) from None
    with scratch as place, in_use(Path(place)):
        at = Path(place, "draft.duckdb")
        try:
            draft = QuoteDraft(at, types, known)
            try:
                yield draft
            finally:
                draft.close()
        except (StoreError, duckdb.Error) as error:
            said = " ".join(str(error).split())
            if isinstance(error, StoreError) and at.parent.name not in said:
                raise  # of the store itself
            full = "No space left" in said or "Could not write" in said
            why = "no space left" if full else said.replace(str(at), "a draft")[:200]
            raise StoreError(
                f"quotes cannot be read in beside {store} ({why}): free some space; nothing was "
                "added"
            ) from None


def add_draft(
    path: Path,
    draft: QuoteDraft,
    sources: Iterable[Source],
    hosts: Iterable[Host] = (),
    *,
    wait_s: float,
    update: Callable[[duckdb.DuckDBPyConnection], object],
) -> int:
    """Bring a draft into the store, all of it or, on StoreError, nothing; how many were new."""
    from advisor.store.exchange import add_rows

    draft.close()
    beside = {"draft": draft.path}
    with opened(
        path, write=True, wait_s=wait_s, beside=beside, memory_mib=MEMORY_MIB
    ) as connection:
        update(connection)
        names = ", ".join(_COLUMNS)
        with transaction(connection):
            rows = {
                "source": [plain_values(each) for each in sources],
                "host": [host_values(each) for each in hosts],
            }
            add_rows(connection, rows)
            row = connection.execute(
                f"INSERT INTO quote ({names}, origin) SELECT {names}, 'local'"
                " FROM draft.quote AS fresh"
                " WHERE NOT EXISTS (FROM quote AS held WHERE held.quote_id = fresh.quote_id)"
            ).fetchone()
            check_room(connection, "quote")
    return int(row[0]) if row else 0


def known_ids(connection: duckdb.DuckDBPyConnection, quote_ids: list[str]) -> set[str]:
    """Which of these quotes the store has."""
    rows = connection.execute(
        "SELECT quote_id FROM quote SEMI JOIN (SELECT unnest($ids::VARCHAR[]) AS quote_id)"
        " USING (quote_id)",
        {"ids": sorted(set(quote_ids))},
    ).fetchall()
    return {quote_id for (quote_id,) in rows}
