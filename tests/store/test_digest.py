"""What makes a store's rows old: the shipped text, and all of the code that they follow from."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import grimp
import pytest

import advisor
import bench_runner
import price_catalog
from advisor.store import digest

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


fresh_digest, fresh_mark = digest.shipped_digest.__wrapped__, digest.files_mark.__wrapped__


DERIVING = ("advisor.store.shipped_rows", "advisor.store.rows", "advisor.store.predictions")
"""Where rows are made: from the text, with their audit, and by prediction."""


def changed_by(folder: Path, files: Iterable[Path], addition: str) -> set[str]:
    """The files where an addition alone changes the digest, and the mark of the files with it."""
    before, mark = fresh_digest(), fresh_mark()
    found = set()
    for file in files:
        held = file.read_bytes()
        file.write_bytes(held + addition.encode())
        changed = fresh_digest() != before
        assert changed == (fresh_mark() != mark)
        if changed:
            found.add(file.relative_to(folder).as_posix())
        file.write_bytes(held)
        mark = fresh_mark()
    assert fresh_digest() == before
    return found


def test_every_module_and_text_that_rows_follow_from_changes_the_digest(copied: Path) -> None:
    graph = grimp.build_graph(
        *(package.__name__ for package in PACKAGES),
        cache_dir=None,
        exclude_type_checking_imports=True,
    )
    modules = {*DERIVING}
    for root in DERIVING:
        modules |= graph.find_upstream_modules(root)
    assert "advisor.prediction.physics.memory" in modules and len(modules) > 80
    for name in modules:
        assert digest.NO_SOURCE.isdisjoint(name.split("."))
    place = copied / "advisor"
    tried = [place / "ranking/audit.py", place / "prediction/fitted.json"]
    tried += [*place.glob("prediction/**/*.py")]
    tried += [*copied.glob("price_catalog/**/*.csv"), *copied.glob("bench_runner/*/*.[ctj]*")]
    inside = {file.relative_to(copied).as_posix() for file in tried}
    outside = [*place.glob("planning/*.toml"), place / "cli/main.py", place / "tui/start.py"]
    assert len(inside) > 45
    assert changed_by(copied, [*tried, *outside], "\n") == inside
