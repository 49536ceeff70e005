"""The store as others see it: each call opens the file, does one thing and closes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from advisor.store.digest import files_mark
from advisor.store.reader import Reader
from advisor.store.storage.connection import check_whole, opened, wait_limit_s
from advisor.store.storage.engine import duckdb, transaction
from advisor.store.storage.locate import user_store
from advisor.store.storage.migrate import newest_version, schema_version
from advisor.store.storage.reject_untrusted_store import known, remember, state_of
from advisor.store.storage.store_error import StoreError
from advisor.store.storage.store_file import can_write
from advisor.typed_input import shown
from price_catalog.model import Host, Quote, Source

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel
    from advisor.prediction.own_training import OwnTraining
    from advisor.store.merge.merging import Merged
    from advisor.store.merge.read_rows import ReadRows
    from advisor.store.predictions import OwnDefinitions

T = TypeVar("T")


def to_stderr(note: str) -> None:
    """Where notes go unless the caller shows them elsewhere."""
    print(f"advisor: {note}", file=sys.stderr)


def file_mark(path: str | Path) -> str:
    """``lab.jsonl, 2026-11-28``: what marks the rows of somebody else's file."""
    return f"{shown(Path(path).name, 60)[1:-1]}, {date.today()}"


class Store:
    """One results.duckdb. Nothing is held between calls; threads may share one."""

    def __init__(
        self,
        path: str | Path,
        *,
        wait_s: float | None = None,
        note: Callable[[str], None] = to_stderr,
    ) -> None:
        self.path = Path(path)
        self._wait_s = wait_s
        self._note = note
        self._brought_up_to_date = False

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """One snapshot to ask several questions of. Raises StoreError.

        A store from older text or an older program is brought up to date first, where it can be
        written.
        """
        self._create_users_own()
        if not self._brought_up_to_date:
            with self._open(write=False) as connection:
                if not self._is_old(connection):
                    self._brought_up_to_date = True
                    yield Reader(connection)
                    return
            # Once only: two programs with different text must not rewrite the store in turns.
            self._brought_up_to_date = True
            with self._writing():
                pass
        with self._open(write=False) as connection:
            yield Reader(connection)

    def add(self, sources: Iterable[Source] = (), **records: Iterable[Any]) -> int:
        """Keep records as rows of the user's own, by their tables: ``measurement``, ``quote``,
        ``rental``, ``host``, ``recipe``; how many were new. All or, on StoreError, none."""
        from advisor.store.own_rows import add_rows, own_tables

        tables = own_tables(source=sources, **records)
        with self._writing() as connection:
            return add_rows(connection, tables)

    def update_predictions(self) -> None:
        """Bring the predictions in line with the user's own records, as a merge does by itself:
        once after many were added, since it takes about a second."""
        from advisor.store.predictions import update_predictions

        with self._writing() as connection:
            update_predictions(connection)

    def own_definitions(self) -> OwnDefinitions:
        """The models and timed trainings of the user's own."""
        with self.reading() as reader:
            return reader.own_definitions()

    def keep_model(self, own: OwnModel | OwnTraining, *, force: bool = False) -> int:
        """Keep a model of the user's own with predictions; how many. ``force`` replaces another.

        Takes about a second. Raises StoreError where the name is taken.
        """
        from advisor.store.own_rows import keep_model

        with self._writing() as connection:
            return keep_model(connection, own, force=force)

    def forget_model(self, name: str) -> int:
        """Forget a model of the user's own; how many times measured for it stay. Raises
        StoreError where there is no such one."""
        from advisor.store.own_rows import forget_model

        with self._writing() as connection:
            return forget_model(connection, name)

    def replace_machine(self, host: Host, quote: Quote, sources: Iterable[Source] = ()) -> bool:
        """Put a machine of the user's with its price in the place of the one with its id; whether
        there was such a one. All or, on StoreError, nothing."""
        from advisor.store.own_rows import add_rows, delete_own, own_tables
        from advisor.store.predictions import update_predictions

        tables = own_tables(source=sources, host=[host], quote=[quote])
        with self._writing() as connection:
            if not delete_own(connection, "host", host.host_id):
                return False
            add_rows(connection, tables)
            update_predictions(connection)
            return True

    def remove(self, table: Literal["host", "quote"], row_id: str) -> bool:
        """Delete a machine of the user's with its prices, or a quote; whether there was such a one.
        What a quote corrected counts again."""
        from advisor.store.own_rows import delete_own
        from advisor.store.predictions import update_predictions

        with self._writing() as connection:
            gone = delete_own(connection, table, row_id)
            if gone and table == "host":
                of_machine = "item_kind IN ('host', 'server') AND item_id"
                delete_own(connection, "quote", row_id, of_machine)
                update_predictions(connection)
            return gone

    def merge(self, path: str | Path, *, mine: bool = False) -> Merged:
        """Bring in a JSON-lines file or another store's own rows. Twice is the same as once.

        A row whose id is known with other content stays out. The rows are marked with the file and
        its day, unless it is ``mine``, the user's own. The other store is only read.
        """
        from advisor.store.merge.merging import merge_rows

        (read,) = self._read_files([path])
        with self._writing() as connection:
            return merge_rows(connection, read, None if mine else file_mark(path))

    def try_merge(
        self, paths: Sequence[str | Path], look: Callable[[Reader], T], *, mine: bool = False
    ) -> tuple[list[Merged], T | None, T | None]:
        """What a merge of these files would do, and what ``look`` sees before it and after all of
        them; None where they bring nothing. Nothing is kept."""
        from advisor.store.merge.merging import merge_rows

        files = self._read_files(paths)
        merged = []
        with self._writing(keep=False) as connection:
            for path, read in zip(paths, files, strict=True):
                merged.append(merge_rows(connection, read, None if mine else file_mark(path)))
            if not any(each.added for each in merged):
                return merged, None, None
            after = look(Reader(connection))
        with self.reading() as reader:
            return merged, look(reader), after

    def _read_files(self, paths: Sequence[str | Path]) -> list[ReadRows]:
        from advisor.store.merge.read_rows import read_rows

        found = []
        for path in map(Path, paths):
            if path.exists() and self.path.exists() and path.samefile(self.path):
                raise StoreError(f"{path} is this store itself: name another one to merge")
            read = read_rows(path, wait_s=wait_limit_s(self._wait_s))
            if read.refused and not any(read.tables.values()):
                raise StoreError(f"{path}: {read.refused[0]}; nothing was added")
            found.append(read)
        return found

    def export(self, path: str | Path, lab: str | None = None) -> tuple[int, int]:
        """Write the user's own rows as JSON lines, which `merge` reads; for other ``lab``s to read
        the times alone, without names or paths of this machine. How many, and how many records stay
        here. The file must not exist yet."""
        from advisor.store.merge.export_rows import (
            local_tables,
            own_lines,
            shared_lines,
            write_lines,
        )

        with self.reading() as reader:
            tables = local_tables(reader.connection)
        lines, left_out = (own_lines(tables), 0) if lab is None else shared_lines(tables, lab)
        if lines or lab is None:
            write_lines(lines, Path(path))
        return len(lines), left_out

    def check_whole(self) -> None:
        """Raise StoreError where the file is cut short, also where no question has met it yet."""
        with self._open(write=False) as connection:
            check_whole(connection, self.path)

    @contextmanager
    def _writing(self, *, keep: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
        """The store, open to change rows of the user's in one transaction, its shipped ones up to
        date."""
        from advisor.store.shipped_rows import update  # late: who only reads pays for none of it

        self._create_users_own()
        with self._open(write=True) as connection:
            if update(connection, self.path):
                self._note(f"updated the shipped rows of {self.path}")
            with transaction(connection, keep=keep):
                yield connection
        # What ships was not touched since: who reads next need not compare it.
        remember(files_mark(), self.path)

    def change_token(self) -> tuple[int, ...]:
        """Differs from an earlier one where the store may have changed since; costs two stats."""
        return state_of(self.path)

    @contextmanager
    def _open(self, *, write: bool) -> Iterator[duckdb.DuckDBPyConnection]:
        with opened(self.path, write=write, wait_s=wait_limit_s(self._wait_s)) as connection:
            yield connection

    def _create_users_own(self) -> None:
        if not self.path.exists() and self.path == user_store():
            from advisor.store.build import make_users_store

            make_users_store(self.path)
            self._note(f"made your store {self.path}")

    def _is_old(self, connection: duckdb.DuckDBPyConnection) -> bool:
        """Whether the store should be written before it is read."""
        old = schema_version(connection, self.path) < newest_version()
        if not old:
            if known(files_mark(), self.path):
                return False
            from advisor.store.shipped_rows import says_text  # late: most stores are known

            if says_text(connection, self.path):
                return False
        if can_write(self.path):
            return True
        if old:
            raise StoreError(
                f"the store {self.path} is from an older version of this program and read-only: "
                "make it and its folder writable once, or name another with --store"
            )
        from advisor.store.shipped_rows import reject_wrong_row

        reject_wrong_row(connection, self.path, "shipped")
        self._note(
            f"the store {self.path} is read-only and not from the shipped text as it is now: "
            "used as it is"
        )
        return False
