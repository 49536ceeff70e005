"""Builds a store from the shipped text, and compares one with that text."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote

from advisor.files import keep_private, place, private_folder
from advisor.store.digest import files_mark
from advisor.store.shipped_rows import replace_shipped, text_differences, update
from advisor.store.storage.connection import created, opened, wait_limit_s
from advisor.store.storage.locate import draft_name
from advisor.store.storage.migrate import migrate, newest_version, schema_version
from advisor.store.storage.reject_untrusted_store import remember
from advisor.store.storage.store_error import StoreError
from advisor.store.storage.store_file import check_name
from bench_runner.launch.leftovers import in_use, sweep

SHIPPED_STORE = Path(__file__).parents[1] / "results.duckdb"
"""The store that a wheel carries; a checkout has none here and builds its own."""


def make_users_store(path: Path) -> None:
    """Make the user's own store at ``path``, where none is yet: a copy of the shipped one, or
    built from the text in a checkout. Raises StoreError."""
    with suppress(OSError):  # said when the store is made
        private_folder(path.parent)
    if SHIPPED_STORE.exists():
        with _draft(path) as fresh:
            try:
                shutil.copyfile(SHIPPED_STORE, fresh)
            except OSError as error:
                raise StoreError(
                    f"no store can be made at {path} ({error.strerror}): make room or name "
                    "another place with --store"
                ) from None
    else:
        build_store(path)


def build_store(path: str | Path) -> None:
    """Make the store at ``path``, or replace the shipped rows of the one that is there.

    A user's own rows stay. Raises StoreError, and then has changed nothing.
    """
    path = Path(path)
    if path.exists():
        with opened(path, write=True, wait_s=wait_limit_s()) as connection:
            update(connection, path, force=True)
        return
    with _draft(path) as fresh:
        try:
            with created(fresh) as connection:
                migrate(connection, 0)
                replace_shipped(connection)
        except StoreError as error:
            # The draft's name says nothing to anybody, and nothing of it is left.
            said = str(error).replace(str(fresh.absolute()), str(path.absolute()))
            raise StoreError(said.replace(str(fresh), str(path))) from None


@contextmanager
def _draft(path: Path) -> Iterator[Path]:
    """Where to write a store that gets the name ``path`` once it is whole. Raises StoreError."""
    check_name(path)
    if path.is_symlink():
        raise StoreError(
            f"{path} is a link to {os.readlink(path)}, where nothing is: remove the link, or name "
            "another place with --store"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent, draft_name(path))
        scratch = tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent)
    except OSError as error:
        raise StoreError(
            f"no store can be made at {path} ({error.strerror}): make {path.parent} a folder that "
            "you may write, or name another place with --store"
        ) from None
    with scratch as folder, in_use(Path(folder)):
        fresh = Path(folder, path.name)
        yield fresh
        keep_private(fresh)
        try:
            place(fresh, path)
        except FileExistsError:
            return  # another program was quicker: its store stays
    for kind in ("rows", files_mark()):
        remember(kind, path)


def check_store(path: str | Path) -> list[str]:
    """How the shipped rows differ from what the text says now: one line a table, [] if nowhere.

    Changes nothing. Rows that a local one stands in for are passed over.
    """
    path = Path(path)
    with opened(path, write=False, wait_s=wait_limit_s()) as connection:
        version = schema_version(connection, path)
        if version < newest_version():
            return [
                f"schema: is at version {version}, not {newest_version()}: advisor rebuild"
                f" --store {quote(str(path))}"
            ]
        return text_differences(connection)
