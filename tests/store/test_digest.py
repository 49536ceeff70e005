"""What makes a store's rows old: the shipped text, and all of the code that they follow from."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import duckdb
import grimp
import pytest

import advisor
import bench_runner
import price_catalog
from advisor.store import Store, check_store, digest
from tests.store_for_tests import record

PACKAGES = (advisor, bench_runner, price_catalog)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a copy of the program, which the digest is then taken of."""
    for package in PACKAGES:
        name = package.__name__
        shutil.copytree(
            package.__path__[0], tmp_path / name, ignore=shutil.ignore_patterns("__pycache__")
        )
        monkeypatch.setattr(package, "__path__", [str(tmp_path / name)])
    return tmp_path


fresh_digest = digest.shipped_digest.__wrapped__


def changed_by(folder: Path, files: Iterable[Path], addition: str) -> set[str]:
    """The files where an addition alone changes the digest."""
    before = fresh_digest()
    found = set()
    for file in files:
        held = file.read_bytes()
        file.write_bytes(held + addition.encode())
        if fresh_digest() != before:
            found.add(file.relative_to(folder).as_posix())
        file.write_bytes(held)
    assert fresh_digest() == before
    return found


def test_every_module_that_rows_follow_from_changes_the_digest_and_no_other(copied: Path) -> None:
    graph = grimp.build_graph(
        *(package.__name__ for package in PACKAGES),
        cache_dir=None,
        exclude_type_checking_imports=True,
    )
    deriving = set()
    for root in digest.DERIVING:
        deriving |= {root, *graph.find_upstream_modules(root)}
    modules = set(digest.deriving_code())
    # Packages are left out: the graph has those that are imported by name, the digest all of them.
    files_of = (
        {name for name in names if (copied / f"{name.replace('.', '/')}.py").exists()}
        for names in (modules, deriving)
    )
    assert next(files_of) == next(files_of)
    # What the digest is made of changes it, and nothing else does: some of either are tried, since
    # each trial reads the whole program.
    files = sorted(copied.rglob("*.py"))
    of = {".".join(file.relative_to(copied).with_suffix("").parts): file for file in files}
    of = {name.removesuffix(".__init__"): file for name, file in of.items()}
    inside = [file for name, file in of.items() if name in modules][::10]
    outside = [file for name, file in of.items() if name not in modules][::20]
    assert len(inside) > 5 and len(outside) > 15
    changed = changed_by(copied, [*inside, *outside], "\n# changed\n")
    assert changed == {file.relative_to(copied).as_posix() for file in inside}
    # Some that were once forgotten, and some that no row follows from.
    assert {
        "advisor.prediction.physics.memory",
        "advisor.prediction.predict_many",
        "advisor.prediction.model.workload",
        "advisor.ranking.audit",
        "bench_runner.records.published",
        "price_catalog.load",
    } <= modules
    assert not {"advisor.cli.choose.rank_command", "bench_runner.settings.search"} & modules
    # Rooms whose changes nobody looks for.
    assert {part for name in modules for part in name.split(".")}.isdisjoint(digest.NOT_MARKED)


def test_all_shipped_text_changes_the_digest(copied: Path) -> None:
    files = {
        name
        for pattern in ("*.csv", "*.toml", "*.jsonl", "*.json")
        for name in changed_by(copied, copied.rglob(pattern), "\n")
    }
    assert "advisor/prediction/fitted.json" in files
    facts = [*copied.glob("price_catalog/**/*.csv"), *copied.glob("bench_runner/*/*.[ctj]*")]
    assert len(facts) > 20
    assert {file.relative_to(copied).as_posix() for file in facts} <= files
    assert not [name for name in files if name.startswith("advisor/planning/")]


def test_a_new_module_counts_as_soon_as_it_is_imported(copied: Path) -> None:
    before = fresh_digest()
    audit, new = copied / "advisor/ranking/audit.py", copied / "advisor/ranking/new.py"
    new.write_text("LIMIT = 1\n")
    assert fresh_digest() == before
    audit.write_text(audit.read_text() + "\nfrom advisor.ranking import new\n")
    imported = fresh_digest()
    new.write_text("LIMIT = 2\n")
    assert len({before, imported, fresh_digest()}) == 3


def test_a_store_with_an_older_digest_is_brought_up_to_date_at_the_next_start(
    own_store: Path,
) -> None:
    Store(own_store).append_measurements([record("m-1")])
    with duckdb.connect(str(own_store)) as connection:
        connection.execute("UPDATE meta SET value = 'older' WHERE key = 'shipped_digest'")
        connection.execute("UPDATE prediction SET training_days = 1 WHERE origin = 'shipped'")
        connection.execute("UPDATE measurement SET verdict = 'unchecked'")
    assert check_store(own_store)
    notes: list[str] = []
    with Store(own_store, note=notes.append).reading() as reader:
        (own,) = reader.times(origin="local")
    assert own.verdict == "plausible"
    assert notes == [f"updated the shipped rows of {own_store}"]
    assert check_store(own_store) == []
