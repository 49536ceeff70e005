"""Migrations, new text, rebuilds, merging and exporting: a user's own rows outlive them all."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from advisor.ranking.times import TrainingTime
from advisor.store import (
    Store,
    StoreError,
    build_store,
    check_store,
    find_store,
    migrate,
)
from advisor.store.connection import created
from bench_runner import journal
from price_catalog.model import Quote, Source
from tests.store_for_tests import REPOSITORY, TUNED, look, program, record

OWN_SOURCE = Source(
    source_id="own",
    title="Our lab",
    url=None,
    how_measured="advisor bench",
    licence=None,
    published_on=date(2026, 11, 20),
)
OWN_QUOTE = Quote(
    quote_id="q-own",
    item_kind="gpu",
    item_id="rtx-3090",
    price_usd=Decimal("899.99"),
    kind="used",
    vendor='a shop; with "quotes" and ünïcode',
    quoted_on=date(2026, 11, 1),
    source_id="own",
    url=None,
    note=None,
    price_set=None,
    origin="local",
)


def add_own_rows(path: Path) -> None:
    """A few rows of a user's own."""
    store = Store(path)
    store.append_measurements(
        [record("m-1"), record("m-2", status="infeasible", reason="out of memory", settings=None)],
        [OWN_SOURCE],
    )
    store.add_quotes([OWN_QUOTE])


def own_rows(path: Path) -> tuple[tuple[TrainingTime, ...], list[Quote], list[Source]]:
    """What `add_own_rows` added."""
    with Store(path).reading() as reader:
        return (
            reader.times(origin="local"),
            [quote for quote in reader.quotes() if quote.quote_id == "q-own"],
            [source for source in reader.sources() if source.source_id == "own"],
        )


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = connection.execute(
            "SELECT table_name FROM duckdb_tables() ORDER BY table_name"
        ).fetchall()
        return {
            name: connection.execute(f"FROM {name} ORDER BY ALL").fetchall() for (name,) in tables
        }


def test_building_twice_gives_the_same_store(store_path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.duckdb"
    build_store(again)
    assert contents(again) == contents(store_path)
    build_store(again)
    assert contents(again) == contents(store_path)
    assert check_store(again) == []


def test_a_rebuild_keeps_a_users_own_rows(own_store: Path) -> None:
    add_own_rows(own_store)
    before = own_rows(own_store)
    assert [len(rows) for rows in before] == [2, 1, 1]
    build_store(own_store)
    assert own_rows(own_store) == before
    assert check_store(own_store) == []


def test_a_store_keeps_the_storage_version_that_old_clients_read(own_store: Path) -> None:
    add_own_rows(own_store)
    build_store(own_store)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{own_store}' AS store (READ_ONLY)")
        row = connection.execute(
            "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = 'store'"
        ).fetchone()
    assert row is not None
    assert str(row[0]).startswith("v1.0.0")


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


# New text: another program, which came with other text, run as one of its own.


class OtherProgram:
    """A copy of this program, whose text may be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "advisor").symlink_to(REPOSITORY / "advisor")
        for name in ("bench_runner", "price_catalog"):
            shutil.copytree(REPOSITORY / name, folder / name)

    def change(self, name: str, *changes: tuple[str, str], add: str = "") -> None:
        """Replace words of a text table, which must stand there once, and add lines."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path.write_text(text + add, encoding="utf-8")

    def run(self, *arguments: object) -> tuple[str, list[str]]:
        """What it prints, and its notes."""
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr.splitlines()

    def rank(self, path: Path) -> list[str]:
        """Ask a question of a store; the notes."""
        return self.run("-m", "advisor", "rank", "--model", "pythia-1b", "--store", path)[1]


@pytest.fixture
def other(tmp_path: Path) -> OtherProgram:
    return OtherProgram(tmp_path / "other")


LOOK = """
import json, sys
from advisor.store import Store
with Store(sys.argv[1]).reading() as reader:
    times = {
        time.measurement_id: (time.gpu_id, time.verdict) for time in reader.times(origin="local")
    }
    gpus = [gpu.gpu_id for gpu in reader.gpus()]
    models = [model.recipe_id for model in reader.models()]
    quotes = [quote.quote_id for quote in reader.quotes()]
print(json.dumps({"times": times, "gpus": gpus, "models": models, "quotes": quotes}))
"""


def test_new_text_replaces_shipped_rows_and_audits_own_ones(
    own_store: Path, other: OtherProgram
) -> None:
    add_own_rows(own_store)
    unknown = record("m-3", gpu="Future Card 1", recipe_id="future-model")
    Store(own_store).append_measurements([unknown])
    with Store(own_store).reading() as reader:
        gpu_ids = {gpu.gpu_id for gpu in reader.gpus()}
        quote_ids = {quote.quote_id for quote in reader.quotes()}
    (time,) = (time for time in own_rows(own_store)[0] if time.measurement_id == "m-1")
    assert time.verdict == "plausible"

    gpus = "price_catalog/gpus.csv"
    (line,) = (
        line
        for line in (other.folder / gpus).read_text(encoding="utf-8").splitlines()
        if line.startswith("rtx-3090,")
    )
    names = "rtx-3090,RTX 3090,NVIDIA GeForce RTX 3090; 3090,"
    future = line.replace(names, "future-1,Future,Future Card 1,")
    slower = line.replace(",35.6,71,71,", ",35.6,1,1,")
    assert len({line, future, slower}) == 3
    other.change(gpus, (line, slower), add=future + "\n")
    recipes = other.folder / "bench_runner" / "recipes"
    shutil.copy(recipes / "pythia-1b.toml", recipes / "future-model.toml")
    other.change(
        "bench_runner/recipes/future-model.toml",
        ('id = "pythia-1b"', 'id = "future-model"'),
        ('name = "Pythia 1B"', 'name = "Future"'),
    )
    gone = "paper-table5:rtx-3090,gpu,rtx-3090,1300,used,resale sites (e.g. eBay),2024-09-21"
    other.change("price_catalog/quotes/paper-2024-09.csv", (f"{gone},paper-table5,,,paper\n", ""))

    printed, notes = other.run("-c", LOOK, own_store)
    assert notes == [f"advisor: updated the shipped rows of {own_store}"]
    found = json.loads(printed)
    assert set(found["gpus"]) == {*gpu_ids, "future-1"}
    assert "future-model" in found["models"]
    assert set(found["quotes"]) == quote_ids - {"paper-table5:rtx-3090"}
    assert found["times"]["m-1"] == ["rtx-3090", "implausible"]
    gpu_id, verdict = found["times"]["m-3"]
    assert gpu_id == "future-1"
    assert verdict not in (None, "unchecked")


def test_new_text_is_taken_in_once(own_store: Path, other: OtherProgram) -> None:
    other.change("price_catalog/gpus.csv", (",35.6,71,71,", ",35.6,1,1,"))
    assert other.rank(own_store) == [f"advisor: updated the shipped rows of {own_store}"]
    held = own_store.read_bytes()
    assert other.rank(own_store) == []
    assert own_store.read_bytes() == held


def test_a_row_of_ones_own_stands_in_for_a_shipped_one(
    own_store: Path, other: OtherProgram
) -> None:
    Store(own_store).append_measurements([record("m-1")])
    before = contents(own_store)["measurement"]
    published = replace(record("m-1"), source_id="h100-2026-11")
    other.change(
        "bench_runner/published/h100-2026-11.jsonl",
        add=json.dumps(journal.to_json(published)) + "\n",
    )
    assert other.rank(own_store) == [f"advisor: updated the shipped rows of {own_store}"]
    assert contents(own_store)["measurement"] == before
    other.run("-m", "advisor", "rebuild", "--check", "--store", own_store)


def test_two_programs_with_different_text_do_not_rewrite_in_turns(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    store = Store(own_store, note=notes.append)
    look(store).models()
    with duckdb.connect(str(own_store)) as connection:
        connection.execute("UPDATE meta SET value = 'another program'")
    token = store.change_token()
    look(store).models()
    assert store.change_token() == token
    assert notes == []


def test_a_clock_before_the_newest_price_is_told(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wrong(date):
        @classmethod
        def today(cls) -> Wrong:
            return cls(2016, 11, 25)

    monkeypatch.setattr("advisor.store.store.date", Wrong)
    notes: list[str] = []
    store = Store(own_store, note=notes.append)
    look(store).models()
    look(store).models()
    (note,) = notes
    assert note.startswith("the clock of this machine says 2016-11-25, before the newest shipped")


def test_a_store_follows_the_text_and_not_its_line_ends(
    own_store: Path, other: OtherProgram
) -> None:
    assert other.rank(own_store) == []
    table = other.folder / "price_catalog" / "gpus.csv"
    text = table.read_bytes()
    table.write_bytes(text.replace(b"\n", b"\r\n"))
    assert other.rank(own_store) == []
    table.write_bytes(text.replace(b"RTX 3090,", b"RTX 3091,"))
    assert other.rank(own_store) == [f"advisor: updated the shipped rows of {own_store}"]


# Migrations.


def older_store(path: Path, schema: Path) -> None:
    """A store as the first schema had it, with rows of a user's own."""
    schema.mkdir()
    shutil.copy(migrate.SCHEMA_FOLDER / "001_tables.sql", schema)
    with created(path) as connection:
        migrate.migrate(connection, 0, migrate.migrations(schema))
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
        ).fetchall() == [(step.version,) for step in migrate.migrations()]
    assert check_store(path) == []


def test_a_store_of_an_older_schema_is_migrated_and_keeps_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "older.duckdb"
    older_store(path, tmp_path / "schema")
    notes: list[str] = []
    look(Store(path, note=notes.append)).models()
    assert notes == [f"updated the shipped rows of {path}"]
    check_migrated(path)


def test_a_store_of_an_older_schema_is_merged_and_stays_as_it_is(
    own_store: Path, tmp_path: Path
) -> None:
    path = tmp_path / "older.duckdb"
    older_store(path, tmp_path / "schema")
    held = path.read_bytes()
    assert Store(own_store).merge(path) == 3
    assert Store(own_store).merge(path) == 0
    check_migrated(own_store)
    assert path.read_bytes() == held


def test_an_append_to_a_store_of_an_older_schema_migrates_it_first(tmp_path: Path) -> None:
    path = tmp_path / "older.duckdb"
    older_store(path, tmp_path / "schema")
    assert Store(path, note=lambda note: None).add_quotes([OWN_QUOTE]) == 1
    assert {quote.quote_id for quote in look(Store(path)).quotes() if quote.origin == "local"} == {
        "q-1",
        "q-own",
    }


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


# Merging and exporting.


def test_merging_twice_is_merging_once(store_path: Path, own_store: Path, tmp_path: Path) -> None:
    add_own_rows(own_store)
    lines = tmp_path / "own.jsonl"
    assert Store(own_store).export_local(lines) == 4
    for source in (own_store, lines):
        target = Path(shutil.copy(store_path, tmp_path / f"target-{source.suffix[1:]}.duckdb"))
        store = Store(target)
        assert store.merge(source) == 4
        assert store.merge(source) == 0
        assert own_rows(target) == own_rows(own_store)
        again = tmp_path / f"again-{source.suffix[1:]}.jsonl"
        store.export_local(again)
        assert again.read_bytes() == lines.read_bytes()
        assert check_store(target) == []


def test_measured_power_is_that_of_timed_steps_that_the_host_does_not_hold_up(
    own_store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    offloaded = replace(TUNED, offloading=True)
    around = {"gpu_around": {"watts": 90.0, "samples": 2}}
    for count, settings, environment in (
        (1, TUNED, {"gpu": {"power_w": 340.0, "samples": 9}}),
        (2, TUNED, {"gpu": {"power_w": 320.0, "samples": 9}}),
        (4, offloaded, {"gpu": {"power_w": 110.0, "samples": 9}}),
        (8, TUNED, around),
    ):
        given = record("", gpu_count=count, settings=settings, environment=environment)
        journal.append(file, journal.with_id(given))
    store = Store(own_store)
    with store.reading() as reader:
        assert "rtx-3090" not in reader.measured_power_w()
    assert store.merge(file) == 4
    with store.reading() as reader:
        assert reader.measured_power_w()["rtx-3090"] == 330.0


def test_records_of_the_runner_are_merged_past_a_torn_last_line(
    own_store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    given = [journal.with_id(record("", gpu_count=n)) for n in (1, 2)]
    for measurement in given:
        journal.append(file, measurement)
    with file.open("a") as torn:
        torn.write('{"measurement_id": "torn", "reci')
    store = Store(own_store)
    assert store.merge(file) == 2
    assert store.merge(file) == 0
    assert {time.measurement_id for time in look(store).times(origin="local")} == {
        measurement.measurement_id for measurement in given
    }
    exported = tmp_path / "back.jsonl"
    store.export_local(exported)
    lines = [json.loads(line) for line in exported.read_text().splitlines()]
    back = [journal.from_json(line) for line in lines if "table" not in line]
    assert sorted(back, key=lambda m: m.gpu_count) == given


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not json\n", "neither a store nor JSON lines"),
        (json.dumps(journal.to_json(record("first"))) + "\nnot json\n", ":2: not a JSON line"),
        ("{}\n", ":1: "),
        ("[1]\n", ":1: not a JSON object"),
        ('{"table": "cats", "name": "Tom"}\n', "no table is called 'cats'"),
        ('{"table": "source", "source_id": "s", "colour": "red"}\n', "no column 'colour'"),
        ('{"table": "quote", "quote_id": "q"}\n', "price_usd is None"),
        ('{"table": "source", "source_id": "s"}\n', "does not take this"),
        ("\x00\x01\x02", "neither a store nor JSON lines"),
    ],
)
def test_a_broken_file_is_one_line_and_adds_nothing(
    own_store: Path, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "broken.jsonl"
    good = json.dumps(journal.to_json(record("good")))
    file.write_text(text + good + "\n")
    store = Store(own_store)
    with pytest.raises(StoreError) as caught:
        store.merge(file)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert look(store).times(origin="local") == ()


@pytest.mark.parametrize("price", ["-5", "0", "NaN", "a lot", "1e30"])
def test_a_price_that_is_none_is_refused(own_store: Path, tmp_path: Path, price: str) -> None:
    file = tmp_path / "prices.jsonl"
    add_own_rows(own_store)
    Store(own_store).export_local(file)
    file.write_text(file.read_text().replace('"899.99"', json.dumps(price)).replace("q-own", "q-2"))
    before = contents(own_store)
    with pytest.raises(StoreError) as caught:
        Store(own_store).merge(file)
    assert "\n" not in str(caught.value)
    assert contents(own_store) == before


def test_what_cannot_be_merged_says_so(own_store: Path, tmp_path: Path) -> None:
    store = Store(own_store)
    for other in (tmp_path / "missing", tmp_path, own_store):
        with pytest.raises(StoreError) as caught:
            store.merge(other)
        assert "\n" not in str(caught.value)


def test_an_export_appears_whole_or_not_at_all(own_store: Path, tmp_path: Path) -> None:
    add_own_rows(own_store)
    with pytest.raises(StoreError, match="cannot be written"):
        Store(own_store).export_local(tmp_path / "no" / "folder.jsonl")
    Store(own_store).export_local(tmp_path / "own.jsonl")
    assert {path.name for path in tmp_path.iterdir()} == {"own.jsonl", "results.duckdb"}


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

    notes: list[str] = []
    assert look(Store(users_own, note=notes.append)).models()
    assert notes == [f"made the store {users_own} from the shipped text"]
    assert check_store(users_own) == []

    shutil.copy(store_path, tmp_path / "results.duckdb")
    assert find_store(None) == Path("results.duckdb")
    monkeypatch.setenv("ADVISOR_STORE", str(tmp_path / "elsewhere"))
    assert find_store(None) == tmp_path / "elsewhere"
    assert find_store("named") == Path("named")
    with pytest.raises(StoreError, match="make one with: advisor rebuild --store"):
        look(Store(find_store(None))).models()
    assert not (tmp_path / "elsewhere").exists()


def test_reading_loads_nothing_that_is_slow(store_path: Path) -> None:
    code = """
import sys
import duckdb
before = set(sys.modules)
from advisor.store import Store, find_store
with Store(find_store(sys.argv[1])).reading() as reader:
    reader.models(), reader.gpus(), reader.hosts(), reader.quotes(), reader.sources()
    reader.best_times("pythia-1b", "sound")
print(" ".join(sorted(set(sys.modules) - before)))
"""
    out, err = program(code, store_path).communicate(timeout=60)
    assert err == ""
    slow = {"csv", "tomllib", "platformdirs", "importlib.resources", "numpy", "scipy", "textual"}
    slow |= {"tempfile", "difflib", "subprocess", "logging", "json", "asyncio"}
    assert not slow & set(out.split())
