"""A store from somebody else: rows are read, code is refused, nothing of ours is reached."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from advisor.cli.main import main
from advisor.store import Store, StoreError, check_store, own_rows
from advisor.store.merge import read_rows
from advisor.store.storage import connection, reject_untrusted_store
from advisor.store.storage.connection import created, opened
from tests.store_for_tests import look, record

SECRET = "a line of the user's own file"


def spoil(path: Path, *statements: str) -> None:
    """What somebody else did to a store of ours."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret.txt"
    file.write_text(SECRET)
    return file


def view_that_reads(table: str, file: Path) -> tuple[str, ...]:
    """The table gone, a view in its place that hands the file on in a row of the user's own."""
    return (
        f"ALTER TABLE {table} RENAME TO {table}_kept",
        f"CREATE VIEW {table} AS SELECT * FROM {table}_kept UNION ALL BY NAME SELECT "
        f"'stolen' AS source_id, content AS title, 'x' AS how_measured, 'local' AS origin"
        f" FROM read_text('{file}')",
    )


ENDLESS = (
    "CREATE OR REPLACE VIEW predicted_time AS WITH RECURSIVE more AS"
    " (SELECT 1 AS n UNION ALL SELECT n + 1 FROM more) SELECT n FROM more"
)
HOSTILE = {
    "a view of its own (quotes)": "CREATE VIEW quotes AS SELECT 1",
    "a view of its own (predicted_time)": ENDLESS,
    "an index of its own (i)": "CREATE INDEX i ON quote ((len(range(price_usd::BIGINT))))",
    "a macro of its own (sum)": "CREATE MACRO sum(x) AS 7",
    "a macro of its own (best_times)": "CREATE MACRO best_times() AS TABLE SELECT 1",
    "a table of its own (more)": (
        "CREATE TABLE more (a VARCHAR, b VARCHAR GENERATED ALWAYS AS (upper(a)))"
    ),
    "a table of its own (other)": (
        "CREATE TABLE other (a INTEGER DEFAULT (len(range(1000000000000))))"
    ),
}


@pytest.mark.parametrize("foreign", HOSTILE)
def test_a_store_with_code_of_its_own_is_refused(own_store: Path, foreign: str) -> None:
    spoil(own_store, HOSTILE[foreign])
    for attempt in (
        lambda: look(Store(own_store)).own_records(),
        lambda: Store(own_store).add(measurement=[record("m-1")]),
        lambda: check_store(own_store),
    ):
        with pytest.raises(StoreError) as caught:
            attempt()
        assert f"holds {foreign}, which may run as code" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_store_with_a_trigger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trigger.duckdb"
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS s (STORAGE_VERSION 'v2.0.0'); USE s")
        connection.execute("CREATE TABLE quote (a INTEGER); CREATE TABLE meta (a INTEGER)")
        connection.execute(
            "CREATE TRIGGER x AFTER INSERT ON quote FOR EACH STATEMENT INSERT INTO meta VALUES (1)"
        )
    with pytest.raises(StoreError, match=r"a trigger of its own \(x\), which may run as code"):
        look(Store(path)).models()


OWN = "origin = 'local' WHERE rowid = 0"


def changed(table: str, column: str, value: str) -> tuple[str, ...]:
    """The table made again as a query leaves it, without its checks, with this in a column."""
    return (
        f"CREATE TABLE q AS SELECT * REPLACE ({value} AS {column}) FROM {table}",
        f"DROP TABLE {table} CASCADE",
        f"ALTER TABLE q RENAME TO {table}",
    )


@pytest.mark.parametrize(
    ("odd", "statements"),
    [
        ("a table quote with other columns", changed("quote", "price_usd", "price_usd::VARCHAR")),
        ("a table quote with other columns", changed("quote", "quote_id", "[quote_id]")),
        ("a table gpu with other columns", changed("gpu", "memory_gib", "-1.0::DOUBLE")),
        (
            "a row that is none: quote",
            ("UPDATE quote SET quoted_on = '290000-01-01'::DATE, " + OWN,),
        ),
        ("a row that is none: quote", ("UPDATE quote SET quoted_on = 'infinity', " + OWN,)),
        ("a row that is none: quote", ("UPDATE quote SET quoted_on = '0001-01-01', " + OWN,)),
        ("a row that is none: gpu", ("UPDATE gpu SET memory_gib = 'nan', " + OWN,)),
    ],
)
def test_rows_that_cannot_be_ours_are_no_fault_of_this_program(
    own_store: Path, odd: str, statements: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(own_store, *statements)
    assert main(["--store", str(own_store), "prices", "list"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert f"holds {odd}" in told.err
    assert told.err.count("\n") == 1


def test_a_merge_never_copies_a_file_of_ours(
    own_store: Path, store_path: Path, secret: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = own_store.with_name("theirs.duckdb")
    shutil.copy(store_path, theirs)
    spoil(theirs, *view_that_reads("source", secret))
    before = own_store.read_bytes()
    assert main(["--store", str(own_store), "merge", str(theirs)]) == 2
    said = capsys.readouterr().err
    assert "a view of its own (source)" in said
    assert SECRET not in said
    assert own_store.read_bytes() == before


def test_no_file_setting_or_extension_can_be_reached_through_an_open_store(
    own_store: Path, secret: Path
) -> None:
    with opened(own_store, write=True, wait_s=5) as connection:
        for statement in (
            f"FROM read_text('{secret}')",
            f"COPY source TO '{secret}.csv'",
            f"ATTACH '{secret}.duckdb' AS more",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET autoinstall_known_extensions = true",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(statement)
    assert sorted(path.name for path in secret.parent.iterdir()) == [own_store.name, secret.name]


def test_a_store_is_looked_through_again_only_where_others_wrote_it(
    own_store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    looked: list[object] = []

    def counted(look_through: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *asked: (looked.append(asked), look_through(*asked))[1]

    for name in ("what_is_foreign", "check_whole"):
        monkeypatch.setattr(connection, name, counted(getattr(connection, name)))
    for n in range(3):
        for ask in (
            lambda n=n: Store(own_store).add(measurement=[record(f"w-{n}")]),
            lambda n=n: look(Store(own_store)).own_records(),
        ):
            monkeypatch.setattr(reject_untrusted_store, "_here", set())  # as in a new process
            ask()
    assert len(looked) == 2  # each once
    before = own_store.stat()
    spoil(own_store, "CREATE MACRO sum(x) AS 7")
    os.utime(own_store, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(StoreError, match="macro"):
        look(Store(own_store)).own_records()
    assert len(looked) == 3


@pytest.mark.parametrize("kind", ["pipe", "device", "sparse", "folder", "a file above", "foreign"])
def test_a_cache_that_is_none_of_ours_costs_only_time(
    own_store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    cache = tmp_path / "c" / "gpu-grant-advisor" / "known-stores"
    if kind == "a file above":
        (tmp_path / "c").write_bytes(b"\xff" * 99)
    else:
        cache.parent.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(cache)
    elif kind == "device":
        cache.symlink_to("/dev/zero")
    elif kind == "folder":
        cache.mkdir()
    elif kind == "sparse":
        with cache.open("wb") as file:
            file.truncate(30 * 2**30)
    for _ in range(2):
        monkeypatch.setattr(reject_untrusted_store, "_here", set())
        assert look(Store(own_store)).own_records() == []
    if kind == "foreign":
        monkeypatch.setattr(reject_untrusted_store, "_here", set())
        state, owner = reject_untrusted_store.state_of(own_store), os.geteuid()
        assert reject_untrusted_store.known("rows", own_store, state)
        monkeypatch.setattr(reject_untrusted_store, "_here", set())
        monkeypatch.setattr(reject_untrusted_store.os, "getuid", lambda: owner + 1)
        assert not reject_untrusted_store.known("rows", own_store, state)


def test_a_table_of_more_rows_than_anybody_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.duckdb"
    with created(path) as connection:
        connection.execute("CREATE TABLE quote AS SELECT 1 AS a FROM range(4000000)")
    assert path.stat().st_size < 5_000_000
    with (
        pytest.raises(
            StoreError, match="4,000,000 rows in the table quote, more than the 3,000,000"
        ),
        opened(path, write=False, wait_s=5),
    ):
        pass


def test_more_rows_than_memory_has_room_for_are_not_merged(
    store_path: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, other = (Path(shutil.copy(store_path, tmp_path / name)) for name in ("a.db", "b.db"))
    assert read_rows.MAX_MERGED == 500_000
    monkeypatch.setattr(read_rows, "MAX_MERGED", 500)
    spoil(
        other,
        "INSERT INTO quote SELECT q.* REPLACE ('q' || n AS quote_id, 'local' AS origin)"
        " FROM (FROM quote LIMIT 1) AS q, range(600) AS r(n)",
    )
    assert main(["--store", str(own), "merge", str(other)]) == 2
    said = capsys.readouterr().err
    assert "more than 500 rows to merge; nothing was added" in said and said.count("\n") == 1


def test_no_import_makes_a_store_larger_than_is_read(
    store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Path(shutil.copy(store_path, tmp_path / "a.db"))
    file = tmp_path / "q.csv"
    file.write_text("item,price,vendor,date,kind\nRTX 3090,900,Shop,2026-11-01,used\n")
    with Store(own).reading() as reader:
        held = len(reader.quotes())
    monkeypatch.setattr(own_rows, "MAX_ROWS", held)
    assert main(["--store", str(own), "prices", "import", str(file)]) == 2
    with Store(own).reading() as reader:
        assert len(reader.quotes()) == held
    monkeypatch.setattr(own_rows, "MAX_ROWS", held + 1)
    assert main(["--store", str(own), "prices", "import", str(file)]) == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (f"environment = '{'[' * 100_000}'", "nested too deeply"),
        ("environment = 'no JSON'", "Expecting value"),
        ("step_s = -1", "step_s"),
        ("pass_s = ['nan'::DOUBLE]", "pass_s"),
        ("method = 'magic'", "method"),
        ("lab = repeat('x', 100000)", "lab"),
    ],
)
def test_a_record_in_a_store_is_held_to_what_a_file_of_records_is(
    store_path: Path, tmp_path: Path, change: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own, other = (Path(shutil.copy(store_path, tmp_path / name)) for name in ("a.db", "b.db"))
    Store(other).add(measurement=[record("m-x")])
    spoil(other, f"UPDATE measurement SET {change} WHERE origin = 'local'")
    assert main(["--store", str(own), "merge", str(other)]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1
    assert "nothing was added" in said or "holds a row that is none: record 'm-x'" in said
    assert "\x1b" not in said and len(said) < 1000
    with Store(own).reading() as reader:
        assert not reader.times(origin="local")


@pytest.mark.parametrize("ending", [".wal", ".wal.checkpoint", ".wal.recovery"])
@pytest.mark.parametrize("what", ["link", "dangling link", "pipe"])
def test_a_log_that_leads_elsewhere_is_refused(
    own_store: Path, tmp_path: Path, ending: str, what: str
) -> None:
    """It would be written, emptied or made, or waited for, by whoever opens the store."""
    log, precious = own_store.with_name(own_store.name + ending), tmp_path / "precious"
    precious.write_text("precious")
    if what == "pipe":
        os.mkfifo(log)
    else:
        log.symlink_to(precious if what == "link" else tmp_path / "made")
    with pytest.raises(StoreError, match="no plain file"), Store(own_store).reading():
        pass
    with pytest.raises(StoreError, match="no plain file"):
        Store(own_store).remove("quote", "own:1")
    assert precious.read_text() == "precious"
    assert not (tmp_path / "made").exists()
