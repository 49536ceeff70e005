"""Building, migrating and finding a store: a user's own rows outlive them all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from advisor.files import private_folder
from advisor.store import Store, StoreError, build_store, check_store, find_store
from advisor.store.storage import migrate
from advisor.store.storage.connection import created
from tests.store.own_rows_for_tests import add_own_rows, contents, own_rows
from tests.store_for_tests import look


def test_rebuilding_over_a_store_does_not_make_it_larger(own_store: Path) -> None:
    size = own_store.stat().st_size
    for _ in range(2):
        build_store(own_store)
    assert own_store.stat().st_size < 1.2 * size
    with duckdb.connect(str(own_store)) as connection:
        connection.execute("UPDATE quote SET price_usd = 1 WHERE kind = 'used'")
        connection.execute("INSERT INTO gpu FROM gpu LIMIT 1")  # one key, twice
        connection.execute("DELETE FROM prediction WHERE gpu_count = 4")
    build_store(own_store)
    assert check_store(own_store) == []


def test_a_rebuild_keeps_a_users_own_rows_and_what_old_clients_read(own_store: Path) -> None:
    add_own_rows(own_store)
    before = own_rows(own_store)
    assert [len(rows) for rows in before] == [2, 1, 1]
    build_store(own_store)
    assert own_rows(own_store) == before
    assert check_store(own_store) == []
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{own_store}' AS store (READ_ONLY)")
        row = connection.execute(
            "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = 'store'"
        ).fetchone()
    assert row is not None and str(row[0]).startswith("v1.0.0")


def test_the_check_says_what_differs_and_changes_nothing(own_store: Path) -> None:
    with duckdb.connect(str(own_store)) as connection:
        connection.execute("UPDATE gpu SET memory_gib = 23 WHERE gpu_id = 'rtx-3090'")
        connection.execute("DELETE FROM quote WHERE quote_id = (SELECT min(quote_id) FROM quote)")
    before = own_store.read_bytes()
    lines = check_store(own_store)
    assert own_store.read_bytes() == before
    assert [line.partition(":")[0] for line in lines] == ["gpu", "quote"]
    assert "rtx-3090" in lines[0]
    assert "0 rows are not as in the text, 1 rows of the text are not there" in lines[1]
    build_store(own_store)
    assert check_store(own_store) == []


# Migrations.


def older_store(path: Path) -> None:
    """A store as the first schema had it, with rows of a user's own."""
    with created(path) as connection:
        migrate.take_step(connection, migrate.schema_steps()[0])
        connection.execute("INSERT INTO meta VALUES ('shipped_digest', 'older')")
        connection.execute(
            "INSERT INTO source VALUES ('own', 'Our lab', NULL, 'advisor bench', NULL,"
            " DATE '2026-11-20', 'local')"
        )
        for number, origin in ((1, "local"), (2, "shipped")):
            connection.execute(
                "INSERT INTO quote VALUES (?, 'gpu', 'rtx-3090', 899.99, 'used', 'a shop',"
                " DATE '2026-11-01', 'own', NULL, 'a note', NULL, ?)",
                [f"q-{number}", origin],
            )
        connection.execute(
            "INSERT INTO measurement BY NAME SELECT 'm-1' AS measurement_id, 'pythia-1b' AS"
            " recipe_id, 'RTX 3090' AS gpu, 4 AS gpu_count, 'optimal' AS method, 'ok' AS status,"
            " 130.0 AS training_days, 'synchronised' AS timing, 'own' AS source_id, [0.5] AS"
            " pass_s, [] AS sync_pass_s, [] AS update_s, [] AS first_pass_s, [] AS fetch_s,"
            " '{}' AS environment, 'local' AS origin"
        )


def check_migrated(path: Path) -> None:
    """The user's own rows of `older_store` are all there, and only those are not shipped ones."""
    with Store(path, note=lambda note: None).reading() as reader:
        (quote,) = (quote for quote in reader.quotes() if quote.origin == "local")
        (time,) = reader.times(origin="local")
        assert quote.quote_id == "q-1"
        assert (quote.price_usd, quote.currency, quote.note) == (
            Decimal("899.99"),
            "USD",
            "a note",
        )
        assert (time.measurement_id, time.gpu_id, time.verdict) == ("m-1", "rtx-3090", "plausible")
        assert reader.connection.execute(
            "SELECT version FROM schema_version ORDER BY version"
        ).fetchall() == [(n + 1,) for n in range(migrate.newest_version())]
    assert check_store(path) == []


def test_a_store_of_an_older_schema_is_migrated_and_keeps_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "older.duckdb"
    older_store(path)
    notes: list[str] = []
    look(Store(path, note=notes.append)).models()
    assert notes == [f"updated the shipped rows of {path}"]
    check_migrated(path)


def test_a_store_of_an_older_schema_is_merged_and_stays_as_it_is(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "older.duckdb"
    older_store(path)
    held, copy_file = path.read_bytes(), shutil.copyfile

    def copied(source: str, target: str) -> str:  # while nobody else can write
        write = f"import duckdb; duckdb.connect({str(path)!r})"
        assert subprocess.run([sys.executable, "-c", write], stderr=subprocess.DEVNULL).returncode
        return copy_file(source, target)

    monkeypatch.setattr(shutil, "copyfile", copied)
    assert Store(own_store).merge(path, mine=True).added == 3
    assert Store(own_store).merge(path, mine=True).added == 0
    check_migrated(own_store)
    assert path.read_bytes() == held


def test_a_broken_migration_changes_nothing(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_own_rows(own_store)
    before = contents(own_store)
    schema = tmp_path / "schema"
    shutil.copytree(migrate.SCHEMA_FOLDER, schema)
    (schema / "999_broken.sql").write_text("DROP TABLE quote; CREATE TABLE x AS FROM nowhere;")
    monkeypatch.setattr(migrate, "SCHEMA_FOLDER", schema)
    with pytest.raises(StoreError):
        look(Store(own_store)).models()
    assert contents(own_store) == before


# Which file is the store.


def test_where_the_store_is_looked_for(
    store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADVISOR_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    users_own = find_store(None)
    assert users_own.name == "results.duckdb"
    assert users_own.is_relative_to(tmp_path)
    assert not users_own.exists()

    users_own.parent.mkdir(parents=True, mode=0o755)
    draft = users_own.with_name(f".{users_own.name}-abcd1234")  # left by a kill
    draft.mkdir()
    os.utime(draft, (0, 0))
    notes: list[str] = []
    assert look(Store(users_own, note=notes.append)).models()
    assert notes == [f"made your store {users_own}"]
    assert check_store(users_own) == []
    users_own.chmod(0o644)  # as earlier versions left it
    assert find_store(None) == users_own and not draft.exists()
    modes = {path.stat().st_mode & 0o777 for path in (users_own, users_own.parent)}
    assert modes == {0o600, 0o700}

    shutil.copy(store_path, tmp_path / "results.duckdb")
    assert find_store(None) == Path("results.duckdb")
    monkeypatch.setenv("ADVISOR_STORE", str(tmp_path / "elsewhere"))
    assert find_store(None) == tmp_path / "elsewhere"
    assert find_store("named") == Path("named")
    with pytest.raises(StoreError, match="make one with: advisor rebuild --store"):
        look(Store(find_store(None))).models()
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_others_use_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, home, own = (tmp_path / name for name in ("shared", "home", "own"))
    for folder, mode in ((shared, 0o1777), (home, 0o755), (own, 0o755)):
        folder.mkdir()
        folder.chmod(mode)
    monkeypatch.setenv("HOME", str(home))
    for folder in (shared, home, own):
        private_folder(folder)
    assert [f.stat().st_mode & 0o7777 for f in (shared, home, own)] == [0o1777, 0o755, 0o700]
