"""Text that changed: programs take it in once, and a user's own rows outlive it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from advisor.store import Store, check_store, shipped_rows
from advisor.store.storage.connection import opened
from bench_runner.records import journal
from tests.store.own_rows_for_tests import add_own_rows, contents, own_rows
from tests.store_for_tests import REPOSITORY, record

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


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("price_catalog/quotes/paper-2024-09.csv", b"\xff\n"),
        ("bench_runner/recipes/pythia-1b.toml", b"[training\n"),
    ],
)
def test_a_broken_row_is_one_line_and_the_store_stays(
    own_store: Path, other: OtherProgram, name: str, broken: bytes
) -> None:
    file, store = other.folder / name, own_store.read_bytes()
    file.write_bytes(file.read_bytes() + broken)
    with pytest.raises(AssertionError, match="the text tables have a fault") as caught:
        other.rank(own_store)
    assert file.name in str(caught.value)
    assert own_store.read_bytes() == store


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
    Store(own_store).add(measurement=[unknown])
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


def test_a_row_of_ones_own_stands_in_for_a_shipped_one(
    own_store: Path, other: OtherProgram
) -> None:
    Store(own_store).add(measurement=[record("m-1")])
    before = contents(own_store)["measurement"]
    published = replace(record("m-1"), source_id="h100-2026-11")
    other.change(
        "bench_runner/published/h100-2026-11.jsonl",
        add=json.dumps(journal.to_json(published)) + "\n",
    )
    assert other.rank(own_store) == [f"advisor: updated the shipped rows of {own_store}"]
    assert contents(own_store)["measurement"] == before
    other.run("-m", "advisor", "rebuild", "--check", "--store", own_store)


def test_a_store_follows_the_text_and_not_its_line_ends(
    own_store: Path, other: OtherProgram
) -> None:
    table = other.folder / "price_catalog" / "gpus.csv"
    text = table.read_bytes()
    table.write_bytes(text.replace(b"\n", b"\r\n"))
    assert other.rank(own_store) == []
    table.write_bytes(text.replace(b"RTX 3090,", b"RTX 3091,"))
    assert other.rank(own_store) == [f"advisor: updated the shipped rows of {own_store}"]


CHANGES = (
    "UPDATE quote SET price_usd = 2 * price_usd WHERE kind = 'used'",
    "DELETE FROM rental WHERE kind = 'spot'",
    "UPDATE recipe SET flops_lowest = flops_lowest / 2",
    "UPDATE gpu SET fp16_tflops = 2 * fp16_tflops",
    "UPDATE measurement SET training_days = 1 WHERE training_days IS NOT NULL",
    "INSERT INTO quote SELECT * REPLACE ('forged' AS quote_id) FROM quote LIMIT 1",
)


def test_shipped_rows_that_somebody_changed_are_noticed_and_put_right(own_store: Path) -> None:
    with opened(own_store, write=True, wait_s=5) as connection:
        for change in CHANGES:  # each alone
            connection.begin()
            assert not shipped_rows.text_differences(connection)
            connection.execute(change)
            assert shipped_rows.text_differences(connection), change
            connection.rollback()
    with duckdb.connect(str(own_store)) as connection:
        for change in CHANGES:
            connection.execute(change)
    notes: list[str] = []
    with Store(own_store, note=notes.append).reading():
        pass
    assert notes == [f"updated the shipped rows of {own_store}"]
    assert check_store(own_store) == []
